// Responses that are read in parts or not at all, and their cost for the daemon. Not a test.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { WAIT, eventually, patience } from './program.mjs';

class Stream {
    constructor(request, answer) {
        this.request = request;
        this.answer = answer;
        this.status = answer.statusCode;
        this.headers = answer.headers;
        this.received = 0;
        this.wanted = 0;
        this.hash = createHash('sha1');
        this.done = false;
        this.error = null;
        answer.on('data', (bytes) => {
            this.received += bytes.length;
            this.hash.update(bytes);
            if (this.received >= this.wanted)
                answer.pause();
        });
        answer.on('end', () => { this.done = true; });
        for (const half of [request, answer])
            half.on('error', (error) => { this.error ??= error; });
        answer.pause();
    }

    /* Read until COUNT bytes have arrived, or all; then pause, like a slow reader. */
    async read(count, limit = WAIT) {
        this.wanted = count;
        this.answer.resume();
        const ready = () => this.received >= count || this.done || this.error;
        if (!await eventually(ready, limit))
            throw new Error(`${this.received} of ${count} bytes within ${limit} ms`);
        if (this.error)
            throw new Error(`cut after ${this.received} bytes: ${this.error.message}`);
        return this;
    }

    /* Read on, without waiting for the end. */
    flow() {
        this.wanted = Infinity;
        this.answer.resume();
        return this;
    }

    /* Read to the end: { length, digest }; throws if the response is cut off. */
    async rest(limit) {
        await this.read(Infinity, limit);
        return { length: this.received, digest: this.hash.digest('hex') };
    }

    leave() {
        this.request.destroy();
    }
}

/*
 * Assert that the responses to requests of REQUESTS, { what: () => target }, arrive before STREAMS progress by PIECES MiB
 * together, which is a small part of the whole on a machine of any speed.
 */
export async function assertNotDelayed(daemon, streams, requests, pieces) {
    assert.ok(streams.every(({ status }) => status === 200), 'a stream was refused');
    const received = () => streams.reduce((sum, stream) => sum + stream.received, 0);
    for (const [what, next] of Object.entries(requests))
        for (let i = 0; i < 3; i++) {
            const before = received();
            await daemon.bytes(next());
            const meanwhile = (received() - before) / (1 << 20);
            assert.ok(meanwhile <= pieces, `${what} waited for ${meanwhile.toFixed(1)} MiB`);
            assert.ok(streams.every(({ done, error }) => !done && !error), `${what} waited for the end of a stream`);
        }
}

/* GET on a new connection, by the Unix socket if there is one, up to the response's head; the body is not read. */
export function open(daemon, target, headers = {}, limit = WAIT) {
    return new Promise((resolve, reject) => {
        const request = http.request({
            host: daemon.host, port: daemon.port, socketPath: daemon.socketPath, path: target, headers, agent: false,
        });
        const alarm = setTimeout(() => {
            request.destroy(new Error(`GET ${target}: no response within ${limit} ms`));
        }, patience(limit));
        request.on('error', (error) => { clearTimeout(alarm); reject(error); });
        request.on('response', (answer) => { clearTimeout(alarm); resolve(new Stream(request, answer)); });
        request.end();
    });
}

/* Call WORK with streams of all TARGETS; they are closed even if it throws. */
export async function withStreams(daemon, targets, work, headers) {
    const streams = await Promise.all(targets.map((target) => open(daemon, target, headers)));
    try {
        return await work(streams);
    } finally {
        for (const stream of streams)
            stream.leave();
    }
}

/* The CPU time of its threads so far, in ms. */
export function processorTime(pid) {
    const fields = fs.readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1).split(' ');
    const TICK = 10;
    return (Number(fields[11]) + Number(fields[12])) * TICK;
}

/* The same in seconds. */
export const cpuSeconds = (pid) => processorTime(pid) / 1000;

/* The CPU time that it takes for WORK, in ms. */
export async function processorTimeOf(pid, work) {
    const before = processorTime(pid);
    await work();
    return processorTime(pid) - before;
}

/* Whether one of its threads runs, or would if a core were free. */
const isRunning = (pid) => fs.readdirSync(`/proc/${pid}/task`).some((thread) => {
    try {
        return /\) R /.test(fs.readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1'));
    } catch {
        return false;       // it has ended meanwhile
    }
});

/* Whether it becomes idle: its threads sleep whenever it is looked at, and take next to no CPU time. */
export function rests(pid, limit) {
    return eventually(async () => {
        const before = processorTime(pid);
        for (let looks = 0; looks < 10; looks++) {
            if (isRunning(pid))
                return false;
            await sleep(25);
        }
        return processorTime(pid) - before <= 20;
    }, limit);
}

const status = (pid, field) => 1024 * Number(
    new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(fs.readFileSync(`/proc/${pid}/status`, 'latin1'))[1]);

/* The increase of its peak memory during WORK, in bytes. */
export async function peakGrowth(pid, work) {
    const before = status(pid, 'VmRSS');
    const RESET_PEAK = '5';     // proc(5)
    fs.writeFileSync(`/proc/${pid}/clear_refs`, RESET_PEAK);
    await work();
    return status(pid, 'VmHWM') - before;
}
