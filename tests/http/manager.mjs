// Daemons started by a service manager (manager.c), which holds their sockets and receives
// their notifications. Not a test.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { BINARY, WAIT, eventually, fractal, patience, scratch } from './program.mjs';

export const MANAGER = path.join(path.dirname(BINARY), 'tests/http/manager');

export class Manager {
    /*
     * sockets: arguments of manager.c, such as ['tcp 127.0.0.1 0']. args: arguments of `serve`
     * in addition to --cache, and to --config FRACTAL if they have none; all daemons share one cache.
     */
    constructor(sockets, { args = [], env = {} } = {}) {
        const home = scratch();
        this.services = new Map();
        this.ports = [];
        this.log = '';          // stdout and stderr of the daemons
        this.child = spawn(MANAGER, [...sockets.flatMap((socket) => socket.split(' ')), '--', BINARY,
            ...fractal('serve', '--cache', path.join(home, 'cache'), ...args)],
        { cwd: home, env: { ...process.env, HOME: home, XDG_CACHE_HOME: home, ...env }, stdio: 'pipe' });
        this.closed = new Promise((resolve) => { this.child.on('close', resolve); });
        this.child.stderr.on('data', (bytes) => { this.log += bytes; });
        this.#readLines();
    }

    #readLines() {
        let rest = '';
        this.child.stdout.on('data', (bytes) => {
            const lines = (rest + bytes).split('\n');
            rest = lines.pop();
            for (const line of lines)
                this.#handle(...line.split(' '));
        });
    }

    #handle(event, number, ...words) {
        if (event === 'socket')
            this.ports.push(Number(number));
        else if (event === 'started')
            this.latest = this.#service(number);
        else if (event === 'notified')
            this.#service(number).notifications.push(words.join(' '));
        else if (event === 'ended')
            this.#service(number).ended = words.join(' ');
    }

    #service(pid) {
        if (!this.services.has(pid))
            this.services.set(pid, { pid: Number(pid), notifications: [], ended: null });
        return this.services.get(pid);
    }

    /* The first socket's address. */
    get address() {
        return { host: '127.0.0.1', port: this.ports[0] };
    }

    /* A daemon: { pid, notifications: all so far, ended: null or 'exit 0' }. */
    async start() {
        this.latest = null;
        this.child.stdin.write('start\n');
        assert.ok(await eventually(() => this.latest), `not started: ${this.log}`);
        return this.latest;
    }

    async startReady() {
        const service = await this.start();
        assert.ok(await eventually(() => service.notifications.includes('READY=1') || service.ended), 'never ready');
        assert.equal(service.ended, null, this.log);
        return service;
    }

    /* Wait until the log matches TEXT: it comes through another pipe than the notifications. */
    async assertLogged(text) {
        assert.ok(await eventually(() => text.test(this.log)), `${text} is not in the log: ${this.log.slice(-2000)}`);
    }

    async end(service) {
        assert.ok(await eventually(() => service.ended, WAIT), `${service.pid} does not end: ${this.log.slice(-2000)}`);
        return service.ended;
    }

    /* Tell it to end; it must exit with 0. */
    async stop(service) {
        process.kill(service.pid, 'SIGTERM');
        assert.equal(await this.end(service), 'exit 0', this.log.slice(-2000));
    }

    close() {
        this.child.stdin.end();
        const timer = setTimeout(() => this.child.kill('SIGKILL'), patience(3000));
        return this.closed.finally(() => clearTimeout(timer));
    }
}

/* A manager for one check; its daemons are killed at the end. */
export async function withManager(sockets, check, options) {
    const manager = new Manager(sockets, options);
    try {
        assert.ok(await eventually(() => manager.ports.length === sockets.length || manager.child.exitCode !== null));
        assert.equal(manager.child.exitCode, null, manager.log);
        await check(manager);
    } finally {
        await manager.close();
    }
}
