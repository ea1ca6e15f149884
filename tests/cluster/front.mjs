// A program of others in front of daemons, which starts programs of its own. Not a test.

import { spawn } from 'node:child_process';
import { Daemon } from '../http/daemon.mjs';
import { eventually, patience, scratch } from '../http/program.mjs';
import { SBIN } from './cluster.mjs';

const running = new Set();
process.on('exit', () => {
    for (const child of running)
        child.kill('SIGTERM'); /* what it has started ends with it */
});

/* As a Daemon where clients are concerned: request(), get(), head(), bytes(), json(). */
export class Front extends Daemon {
    constructor() {
        super({ cache: false });
        Object.assign(this, { folder: scratch(), host: '127.0.0.1', said: '' });
    }

    /* Start COMMAND, which inherits FDS from 3 on, and wait until it answers at this.port, which FIND tells, or 0 before it is known. */
    async launch([name, ...args], { env = {}, fds = [], find = () => this.port }) {
        const child = spawn(name, args, {
            env: { ...process.env, ...SBIN, ...env }, stdio: ['ignore', 'pipe', 'pipe', ...fds],
        });
        for (const stream of [child.stdout, child.stderr])
            stream.setEncoding('utf8').on('data', (text) => { this.said += text; });
        running.add(child);
        /* Whoever forgets to stop it, for a test that failed, is not held up: it ends with this process. */
        for (const held of [child, child.stdout, child.stderr])
            held.unref();
        this.child = child;
        this.pid = child.pid;
        this.over = new Promise((resolve) => {
            child.on('error', (error) => { this.said += error.message; resolve(); });
            child.on('close', resolve);
        }).finally(() => running.delete(child));
        const ended = () => child.exitCode !== null || !running.has(child);
        const up = async () => {
            this.port = find();
            return this.port > 0 && this.get('/healthz', {}, { agent: false }).then(() => true, () => false);
        };
        if (!await eventually(async () => ended() || up(), 15000) || ended())
            throw new Error(`${name} does not start: ${this.said}`);
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
}
