// nginx with the configurations of docker/nginx, on a free loopback port. Not a test.

import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Clocks } from '../preload/preload.mjs';
import { Front } from './front.mjs';

const FILES = fileURLToPath(new URL('../../docker/nginx', import.meta.url));
/* FARLANDS_TRUSTED if clients connect directly. */
export const NOBODY = '0.0.0.0/32';

/* A listening socket on PORT, or on a free one, for nginx to inherit. */
async function listening(port = 0) {
    const server = net.createServer().listen(port, '127.0.0.1', 4096);
    await once(server, 'listening');
    return { server, fd: server._handle.fd, port: server.address().port };
}

/* A template after the image's envsubst: VALUES are filled in, every other $ stays. */
export function fill(template, values) {
    const text = fs.readFileSync(path.join(FILES, template), 'utf8')
        .replace(/\$\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
    const left = /\$\{(FARLANDS_\w+)\}/.exec(text.replace(/^#.*$/gm, ''));
    if (left)
        throw new Error(`${template}: ${left[1]} has no value`);
    return text;
}

/* The main configuration, which includes such a file: as in Debian and the image, with paths of the test. */
function mainFile(directory) {
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((kind) => `${kind}_temp_path ${directory}/${kind};`).join(' ');
    return `daemon off; worker_processes 2;
        ${process.getuid() === 0 ? 'user root;' : ''}
        pid ${directory}/pid; error_log ${directory}/error info;
        events { worker_connections 4096; }
        http {
            ${temporary} types { text/html html; image/png png; } default_type application/octet-stream;
            sendfile on; tcp_nopush on; keepalive_timeout 65; gzip on; types_hash_max_size 2048;
            log_format main '$remote_addr "$request" $status'; access_log ${directory}/main main;
            include conf.d/*.conf;
        }\n`;
}

/*
 * template: a file of docker/nginx. values: its variables except FARLANDS_LISTEN and FARLANDS_ACCESS_LOG.
 * clock: use a wall clock that later() sets ahead, in seconds.
 */
export class Nginx extends Front {
    constructor(template, values, { clock = false } = {}) {
        super();
        Object.assign(this, { template, values });
        this.log = path.join(this.directory, 'access');
        this.clock = clock ? new Clocks() : null;
        fs.mkdirSync(path.join(this.directory, 'conf.d'));
        fs.cpSync(path.join(FILES, 'farlands'), path.join(this.directory, 'farlands'), { recursive: true });
        fs.writeFileSync(path.join(this.directory, 'nginx.conf'), mainFile(this.directory));
    }

    later(seconds) {
        this.clock.advance('wall', seconds);
    }

    /* Replace the text of the included file by CHANGE of it. */
    rewrite(change) {
        const file = path.join(this.directory, 'conf.d', path.basename(this.template, '.template'));
        fs.writeFileSync(file, change(fs.readFileSync(file, 'utf8')));
    }

    configure() {
        const values = {
            FARLANDS_LISTEN: `127.0.0.1:${this.port}`, FARLANDS_ACCESS_LOG: this.log, FARLANDS_TRUSTED: NOBODY,
            ...this.values,
        };
        const file = path.basename(this.template, '.template');
        fs.writeFileSync(path.join(this.directory, 'conf.d', file), fill(this.template, values));
    }

    async start() {
        const socket = await listening(this.port);
        this.port = socket.port;
        this.configure();
        const started = this.launch(
            ['nginx', '-p', this.directory, '-e', path.join(this.directory, 'error'),
                '-c', path.join(this.directory, 'nginx.conf')],
            { env: { NGINX: '3;', ...this.clock?.env }, fds: [socket.fd] });
        socket.server.close(); /* nginx has inherited it; this process has accepted no connection */
        return started;
    }

    /* The entries of the access log so far. nginx may be writing the last line. */
    lines() {
        return fs.readFileSync(this.log, 'utf8').split('\n').slice(0, -1).map((line) => JSON.parse(line));
    }

    /* The lines of the error log above level info. */
    complaints() {
        return fs.readFileSync(path.join(this.directory, 'error'), 'utf8').split('\n')
            .filter((line) => /\[(warn|error|crit|alert|emerg)\]/.test(line));
    }
}
