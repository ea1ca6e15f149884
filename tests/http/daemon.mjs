// The daemon under test, on a free loopback port, with its own cache. Not a test.

import assert from 'node:assert/strict';
import http from 'node:http';
import path from 'node:path';
import { after, before } from 'node:test';
import { MANAGER } from './manager.mjs';
import { BINARY, WAIT, end, eventually, launch, patience, run, scratch, scratchFile, withFractal } from './program.mjs';
import { assertStatus } from './table.mjs';
import { connect, exchange, request } from './wire.mjs';

/* One request to { host, port, agent }. */
function requestOnce(to, method, target, headers = {}, { agent = to.agent, limit = WAIT } = {}) {
    return new Promise((resolve, reject) => {
        const what = `${method} ${target}`;
        const request = http.request({
            host: to.host, port: to.port, path: target, method, headers, agent,
        });
        const alarm = setTimeout(() => {
            request.destroy(new Error(`${what}: no response within ${limit} ms`));
        }, patience(limit));
        const fail = (error) => {
            clearTimeout(alarm);
            reject(new Error(`${what}: ${error.message}`, { cause: error }));
        };
        request.on('error', fail);
        request.on('response', (answer) => {
            const parts = [];
            answer.on('data', (bytes) => parts.push(bytes));
            answer.on('error', fail);
            answer.on('end', () => {
                clearTimeout(alarm);
                const body = Buffer.concat(parts);
                resolve({ status: answer.statusCode, headers: answer.headers, body });
            });
        });
        request.end();
    });
}

export class Daemon {
    /*
     * config: YAML text; without worlds it gets that of FRACTAL, unless ARGS name a file.
     * builtIn: without worlds it serves the built-in ones. cache: a directory, if a later daemon is to use it again, or false
     * for no --cache. listen: false for no --listen. unix: it listens on a Unix socket, too, at
     * socketPath. binary: another program than the one under test. retries: a request whose render timed out is sent again,
     * as the render goes on: on a busy machine it may take longer than the daemon's limit.
     */
    constructor({ config, builtIn = false, cache, listen = '127.0.0.1:0', args = [], env, unix = false,
        binary = BINARY, retries = false } = {}) {
        this.binary = binary;
        this.retries = retries;
        this.socketPath = unix ? path.join(scratch(), 'socket') : undefined;
        this.cache = cache === undefined ? scratch() : cache;
        this.args = ['serve'];
        if (listen)
            this.args.push('--listen', listen);
        if (this.cache)
            this.args.push('--cache', this.cache);
        if (!args.includes('--config') && !args.includes('--world') && !(builtIn && config === undefined))
            this.args.push('--config', scratchFile('farlands.yaml', builtIn ? config : withFractal(config)));
        this.args.push(...args);
        this.env = env;
        this.agent = new http.Agent({ keepAlive: true, maxSockets: 16 });
    }

    async start(limit = WAIT) {
        const sockets = ['tcp', '127.0.0.1', '0', 'unix', this.socketPath];
        this.program = this.socketPath
            ? launch(['--become', ...sockets, '--', this.binary, ...this.args], this.env, { binary: MANAGER })
            : launch(this.args, this.env, { binary: this.binary });
        const { child } = this.program;
        const line = () => /^farlands: serving http:\/\/([^/]+):(\d+)\/.*\n/m
            .exec(Buffer.concat(this.program.stdout).toString());
        await eventually(() => line() || !this.program.running, limit);
        if (!line()) {
            const result = await end(this.program, 0);
            throw new Error(`no "serving" line from ${this.binary} ${this.args.join(' ')}\n` +
                `${result.error ?? `exit code ${result.code} ${result.signal ?? ''}`}\n` +
                `stdout: ${result.stdout}\nstderr: ${result.stderr}`);
        }
        this.readyLine = line()[0];
        this.host = line()[1];
        this.port = Number(line()[2]);
        this.authority = `${this.host}:${this.port}`;
        this.home = this.program.home;
        this.pid = child.pid;
        return this;
    }

    /* The version of the library that parses requests: what it refuses itself differs. */
    get libmicrohttpd() {
        return /libmicrohttpd ([\d.]+)/.exec(this.readyLine)[1];
    }

    get stderr() {
        return Buffer.concat(this.program.stderr).toString();
    }

    get stdout() {
        return Buffer.concat(this.program.stdout).toString();
    }

    /* { status, headers, body }; TARGET is sent unchanged. */
    async request(method, target, headers, options) {
        for (;;) {
            const answer = await requestOnce(this, method, target, headers, options);
            if (!this.retries || answer.status !== 503 || !answer.body.includes('render timed out'))
                return answer;
        }
    }

    get(target, headers, options) {
        return this.request('GET', target, headers, options);
    }

    head(target, headers, options) {
        return this.request('HEAD', target, headers, options);
    }

    /* The body of a 200. */
    async bytes(target) {
        const answer = await this.get(target);
        assert.equal(answer.status, 200, `GET ${target}: ${answer.body.subarray(0, 300)}`);
        return answer.body;
    }

    async json(target) {
        return JSON.parse(await this.bytes(target));
    }

    /* The fingerprint of the layer that TILE is of, such as "/default/gray/1/2/3.png" or "default/gray". */
    async fingerprintOf(tile) {
        const [world, layer] = tile.replace(/^\//, '').split('/');
        return (await this.json(`/${world}/${layer}.json`)).fingerprint;
    }

    /* Bytes over a plain socket; see exchange() in wire.mjs. */
    raw(bytes, options) {
        return exchange(this, bytes, options);
    }

    connect() {
        return connect(this);
    }

    /* Every sample of /metrics, as a map from `name{labels}` to its number. */
    async metrics() {
        const text = (await this.bytes('/metrics')).toString();
        const samples = text.split('\n').filter((line) => line && !line.startsWith('#'));
        return new Map(samples.map((line) => {
            const space = line.lastIndexOf(' ');
            return [line.slice(0, space), Number(line.slice(space + 1))];
        }));
    }

    /* The sum of a metric over all labels, or its value for LABELS. */
    async metric(name, labels = '') {
        let sum = 0;
        for (const [key, value] of await this.metrics())
            if (labels ? key === `${name}{${labels}}` : key.split('{')[0] === name)
                sum += value;
        return sum;
    }

    reloads(result = 'ok') {
        return this.metric('farlands_reloads_total', `result="${result}"`);
    }

    /* Reload its configuration with the RESULT ok or refused; TICK is called while it does. */
    async reload(result = 'ok', tick = () => {}) {
        const before = await this.reloads(result);
        this.kill('SIGHUP');
        assert.ok(await eventually(async () => {
            tick();
            return await this.reloads(result) > before;
        }), `not ${result}:\n${this.stderr}`);
    }

    rendered() {
        return this.metric('farlands_tiles_rendered_total');
    }

    /* The number of requests that needed a computation so far: tiles, and what is not cached. */
    async computed() {
        return await this.rendered() + await this.metric('farlands_calculations_total');
    }

    /* GET each of TARGETS on a connection of its own, and wait until more than half of the renders are queued. */
    async queue(targets) {
        const connections = await Promise.all(targets.map(() => this.connect()));
        const answers = connections.map((connection, i) => connection.send(request('GET', targets[i])).answer());
        answers.forEach((answer) => answer.catch(() => {}));
        assert.ok(await eventually(async () => await this.metric('farlands_queue_length') > targets.length / 2), 'no request is pending');
        return { connections, answers };
    }

    kill(signal = 'SIGTERM') {
        return this.program.child.kill(signal);
    }

    /* Wait for the end after a signal: { code, signal, stdout, stderr, late }. */
    ended(limit) {
        this.agent.destroy();
        return end(this.program, limit);
    }

    /* Send SIGNAL and wait for the end. */
    async stop(signal = 'SIGTERM', limit) {
        if (!this.program)
            return null;
        if (this.program.running)
            this.kill(signal);
        return this.ended(limit);
    }

    /* Stop it; it must exit with 0 and without a complaint of a sanitizer. */
    async quit() {
        const result = await this.stop();
        if (result)
            assertPeace(result);
        return result;
    }
}

export function assertPeace({ code, signal, late, stderr }) {
    const log = `stderr: ${stderr.slice(-4000)}`;
    assert.equal(late, false, `did not exit in time after SIGTERM; ${log}`);
    assert.equal(signal, null, `killed by ${signal}; ${log}`);
    assert.equal(code, 0, `exit code ${code}; ${log}`);
    assert.doesNotMatch(stderr, /Sanitizer|runtime error:|libmicrohttpd.*(abort|panic)/i);
}

/* Whether it has logged that it drains. */
export const draining = (daemon) => eventually(() => /: draining\n/.test(daemon.stderr));

/* A second daemon on the port of DAEMON ends with a message and does not disturb the first. */
export async function assertKeepsPort(daemon) {
    const { code, stdout, stderr, late } = await run(
        ['serve', '--listen', daemon.authority, '--cache', scratch()]);
    assert.equal(late, false, 'it serves or waits');
    assert.equal(code, 1, stderr);
    assert.ok(stderr.includes(daemon.authority), stderr);
    assert.match(stderr, /in use/i);
    assert.equal(stdout.length, 0, `stdout: ${stdout}`);
    assertStatus(await daemon.get('/healthz'), 200);
}

/* In a describe(): one daemon for all its tests. */
export function useDaemon(options) {
    const daemon = new Daemon({ retries: true, ...options });
    before(() => daemon.start());
    after(() => daemon.quit());
    return daemon;
}

/* A daemon for one check, which ends even if the check throws. */
export async function withDaemon(check, options) {
    const daemon = await new Daemon({ retries: true, ...options }).start();
    try {
        await check(daemon);
    } finally {
        daemon.kill('SIGKILL');
        await daemon.stop();
    }
}
