// nginx and Caddy with the files in docker/ for a daemon below a site's path. Not a test.

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SBIN } from './cluster.mjs';
import { Front } from './front.mjs';
import { Nginx } from './nginx.mjs';

/* The path in these files. */
export const BASE = '/terrain';

const read = (file) => fs.readFileSync(fileURLToPath(new URL(`../../docker/${file}`, import.meta.url)), 'utf8');

class PathNginx extends Nginx {
    constructor(origin) {
        super('path.conf', {});
        this.origin = origin;
    }

    configure() {
        fs.writeFileSync(path.join(this.directory, 'conf.d/path.conf'), read('nginx/path.conf')
            .replace('listen 80;', `listen 127.0.0.1:${this.port};`).replace('server 127.0.0.1:8080;', `server ${this.origin.authority};`));
    }
}

class Caddy extends Front {
    constructor(origin) {
        super();
        this.origin = origin;
    }

    async start() {
        const server = net.createServer().listen(0, '127.0.0.1');
        await once(server, 'listening');
        this.port = server.address().port;
        server.close();
        const file = path.join(this.directory, 'Caddyfile');
        fs.writeFileSync(file, `{\n\tadmin off\n}\n${read('caddy/Caddyfile').replace('\nexample.org {', `\nhttp://:${this.port} {\n\tbind 127.0.0.1`)
            .replace('reverse_proxy 127.0.0.1:8080', `reverse_proxy ${this.origin.authority}`)}`);
        return this.launch(['caddy', 'run', '--config', file, '--adapter', 'caddyfile'],
            { env: { HOME: this.directory, XDG_DATA_HOME: this.directory, XDG_CONFIG_HOME: this.directory } });
    }
}

const installed = (program) => !spawnSync(program, ['version'], { env: { ...process.env, ...SBIN } }).error;

/* make(origin) returns such a proxy, not started yet. missing: why it cannot run here, or false. */
export const PATHS = {
    'nginx below a path': { missing: false, make: (origin) => new PathNginx(origin) },
    'Caddy below a path': { missing: !installed('caddy') && 'caddy is not installed', make: (origin) => new Caddy(origin) },
};
