// A proxy in front of daemons, which has child processes. Not a test.

import { spawn } from 'node:child_process';
import { Daemon } from '../http/daemon.mjs';
import { eventually, patience, scratch } from '../http/program.mjs';
import { SBIN } from './cluster.mjs';

const running = new Set();
process.on('exit', () => {
    for (const child of running)
        child.kill('SIGTERM'); /* its child processes exit with it */
});

/* Has the request methods of Daemon: request(), get(), head(), bytes(), json(). */
export class Front extends Daemon {
    constructor() {
        super({ cache: false });
        Object.assign(this, { directory: scratch(), host: '127.0.0.1', output: '' });
    }

    /* Start COMMAND, which inherits FDS from 3 on, and wait until it responds at this.port. FIND returns the port, or 0 if unknown. */
    async launch([name, ...args], { env = {}, fds = [], find = () => this.port }) {
        const child = spawn(name, args, {
            env: { ...process.env, ...SBIN, ...env }, stdio: ['ignore', 'pipe', 'pipe', ...fds],
        });
        for (const stream of [child.stdout, child.stderr])
            stream.setEncoding('utf8').on('data', (text) => { this.output += text; });
        running.add(child);
        /* If a failed test does not stop it, it exits with this process. */
        for (const held of [child, child.stdout, child.stderr])
            held.unref();
        this.child = child;
        this.pid = child.pid;
        this.over = new Promise((resolve) => {
            child.on('error', (error) => { this.output += error.message; resolve(); });
            child.on('close', resolve);
        }).finally(() => running.delete(child));
        const ended = () => child.exitCode !== null || !running.has(child);
        const up = async () => {
            this.port = find();
            return this.port > 0 && this.get('/healthz', {}, { agent: false }).then(() => true, () => false);
        };
        if (!await eventually(async () => ended() || up(), 60000) || ended())
            throw new Error(`${name} does not start: ${this.output}`);
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
