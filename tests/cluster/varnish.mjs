// Varnish with docker/varnish/default.vcl, on a free loopback port. Not a test.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SBIN } from './cluster.mjs';
import { Clocks } from '../preload/preload.mjs';
import { Front } from './front.mjs';

const VCL = fileURLToPath(new URL('../../docker/varnish/default.vcl', import.meta.url));

/* The port of the Varnish with the working directory WORK, or 0 if it has none yet. */
function listensAt(work) {
    const shown = spawnSync('varnishadm', ['-n', work, '-t', '5', 'debug.listen_address'],
        { encoding: 'utf8', env: { ...process.env, ...SBIN } });
    return Number(/ 127\.0\.0\.1 (\d+)/.exec(shown.stdout)?.[1] ?? 0);
}

/* Its backend is ORIGIN. later() sets its clock ahead. */
export class Varnish extends Front {
    constructor(origin) {
        super();
        this.clock = new Clocks();
        const vcl = fs.readFileSync(VCL, 'utf8').replace('.host = "farlands"', `.host = "${origin.host}"`)
            .replace('.port = "8080"', `.port = "${origin.port}"`);
        fs.writeFileSync(path.join(this.directory, 'default.vcl'), vcl);
        fs.chmodSync(this.directory, 0o755);
    }

    /* Varnish measures the idle times of connections by this clock, so open ones would be closed. */
    later(seconds) {
        this.agent.destroy();
        this.clock.advance('wall', seconds);
    }

    start() {
        const work = path.join(this.directory, 'work');
        return this.launch(['varnishd', '-F', '-n', work, '-j', 'none', '-a', '127.0.0.1:0', '-s', 'malloc,200m',
            '-s', 'Transient=malloc,100m', '-p', 'http_gzip_support=off', '-f', path.join(this.directory, 'default.vcl')],
        { env: this.clock.env, find: () => listensAt(work) });
    }

    complaints() {
        return this.output.split('\n').filter((line) => /panic|assert|died/i.test(line));
    }
}
