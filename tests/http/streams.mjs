// Answers read as they come, or not, and what they cost the daemon. Not a test.

import { createHash } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, patience } from './program.mjs';

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

    /* Go on until COUNT bytes have come, or all; then rest, as a slow reader does. */
    async read(count, limit = 15000) {
        this.wanted = count;
        this.answer.resume();
        const there = () => this.received >= count || this.done || this.error;
        if (!await eventually(there, limit))
            throw new Error(`${this.received} of ${count} bytes within ${limit} ms`);
        if (this.error)
            throw new Error(`cut after ${this.received} bytes: ${this.error.message}`);
        return this;
    }

    /* Read all that comes, without waiting for it. */
    flow() {
        this.wanted = Infinity;
        this.answer.resume();
        return this;
    }

    /* To the end: { length, digest }; throws where that does not come. */
    async rest(limit = 15000) {
        await this.read(Infinity, limit);
        return { length: this.received, digest: this.hash.digest('hex') };
    }

    leave() {
        this.request.destroy();
    }
}

/* GET on a connection of its own, up to the answer's head; nothing is read of its body. */
export function open(daemon, target, headers = {}, limit = 15000) {
    return new Promise((resolve, reject) => {
        const request = http.request({
            host: daemon.host, port: daemon.port, path: target, headers, agent: false,
        });
        const alarm = setTimeout(() => {
            request.destroy(new Error(`GET ${target}: no answer within ${limit} ms`));
        }, patience(limit));
        request.on('error', (error) => { clearTimeout(alarm); reject(error); });
        request.on('response', (answer) => { clearTimeout(alarm); resolve(new Stream(request, answer)); });
        request.end();
    });
}

/* Have WORK done with streams of all TARGETS, which are left behind it even when it throws. */
export async function withStreams(daemon, targets, work, headers) {
    const streams = await Promise.all(targets.map((target) => open(daemon, target, headers)));
    try {
        return await work(streams);
    } finally {
        for (const stream of streams)
            stream.leave();
    }
}

/* What its threads have computed so far, in ms. */
export function processorTime(pid) {
    const fields = fs.readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1).split(' ');
    const TICK = 10;
    return (Number(fields[11]) + Number(fields[12])) * TICK;
}

/* Whether they rest, within LIMIT ms: nothing to speak of in a quarter of a second. */
export function rests(pid, limit) {
    return eventually(async () => {
        const before = processorTime(pid);
        await sleep(250);
        return processorTime(pid) - before <= 20;
    }, limit);
}

const status = (pid, field) => 1024 * Number(
    new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(fs.readFileSync(`/proc/${pid}/status`, 'latin1'))[1]);

/* How much more memory it had at most during WORK than before, in bytes. */
export async function peakGrowth(pid, work) {
    const before = status(pid, 'VmRSS');
    const RESET_PEAK = '5';     // proc(5)
    fs.writeFileSync(`/proc/${pid}/clear_refs`, RESET_PEAK);
    await work();
    return status(pid, 'VmHWM') - before;
}
