// Varnish with docker/varnish/default.vcl, on a free port of loopback. Not a test.

import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Daemon } from '../http/daemon.mjs';
import { eventually, patience, scratch } from '../http/program.mjs';
import { Clock } from './clock.mjs';
import { SBIN } from './cluster.mjs';

const VCL = fileURLToPath(new URL('../../docker/varnish/default.vcl', import.meta.url));

const running = new Set();
process.on('exit', () => {
    for (const child of running)
        child.kill('SIGTERM'); /* the manager's child ends with it */
});

/* The port of the Varnish whose working folder WORK is, or 0 while there is none. */
function listensAt(work) {
    const asked = spawnSync('varnishadm', ['-n', work, '-t', '5', 'debug.listen_address'],
        { encoding: 'utf8', env: { ...process.env, ...SBIN } });
    return Number(/ 127\.0\.0\.1 (\d+)/.exec(asked.stdout)?.[1] ?? 0);
}

/* As a Daemon where clients are concerned; it asks ORIGIN. later() puts its clock forward. */
export class Varnish extends Daemon {
    constructor(origin) {
        super({ cache: false });
        this.folder = scratch();
        this.clock = new Clock(this.folder);
        const vcl = fs.readFileSync(VCL, 'utf8').replace('.host = "farlands"', `.host = "${origin.host}"`)
            .replace('.port = "8080"', `.port = "${origin.port}"`);
        fs.writeFileSync(path.join(this.folder, 'default.vcl'), vcl);
        fs.chmodSync(this.folder, 0o755);
    }

    /* It measures by that clock for how long connections are idle. */
    later(seconds) {
        this.agent.destroy();
        this.clock.later(seconds);
    }

    async start() {
        const work = path.join(this.folder, 'work');
        this.child = spawn('varnishd', ['-F', '-n', work, '-j', 'none', '-a', '127.0.0.1:0', '-s', 'malloc,200m',
            '-s', 'Transient=malloc,100m', '-p', 'http_gzip_support=off', '-f', path.join(this.folder, 'default.vcl')],
        { env: { ...process.env, ...SBIN, ...this.clock.env }, stdio: ['ignore', 'pipe', 'pipe'] });
        const { child } = this;
        this.said = '';
        for (const stream of [child.stdout, child.stderr])
            stream.setEncoding('utf8').on('data', (text) => { this.said += text; });
        running.add(child);
        /* Whoever forgets to stop it, for a test that failed, is not held up: it ends with this process. */
        for (const held of [child, child.stdout, child.stderr])
            held.unref();
        this.over = new Promise((resolve) => {
            child.on('error', (error) => { this.said += error.message; resolve(); });
            child.on('close', resolve);
        }).finally(() => running.delete(child));
        this.host = '127.0.0.1';
        const up = async () => {
            this.port = listensAt(work);
            return this.port > 0 && this.get('/healthz').then(() => true, () => false);
        };
        if (!await eventually(async () => !running.has(child) || await up(), 15000) || !running.has(child))
            throw new Error(`Varnish does not start: ${this.said}`);
        this.authority = `${this.host}:${this.port}`;
        return this;
    }

    async stop() {
        this.agent.destroy();
        const late = setTimeout(() => this.child.kill('SIGKILL'), patience(5000));
        this.child.kill('SIGTERM');
        await this.over;
        clearTimeout(late);
    }

    complaints() {
        return this.said.split('\n').filter((line) => /panic|assert|died/i.test(line));
    }
}
