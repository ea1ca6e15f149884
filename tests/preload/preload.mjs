// The test's side of preload.h: it moves the clocks of a program and makes its system calls fail. Not a test.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { BINARY, eventually, scratch } from '../http/program.mjs';

/* A disk that is busy would stop programs that write to a file they share. */
const MEMORY = fs.existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir();
const LIBRARY = path.join(path.dirname(BINARY), 'tests/preload/preload.so');

/* As in preload.h: struct shared, the kinds of calls, in order, and the fields of a rule. */
const EDITION = 64, TURNS = 124, LATEST = 128, RULES = 192;
const CALLS = ['write', 'read', 'open', 'create', 'rename', 'unlink', 'mkdir', 'accept', 'forget', 'allocate', 'encode'];
const FIELDS = ['error', 'every', 'amount', 'cap', 'least', 'most', 'seed', 'calls', 'hits'];
const RULE = 64, SLEEPER = 64, SLEEPERS = 256;
const PLACES = RULES + CALLS.length * RULE;

const NS_PER_MS = 1000000n;
const ns = (seconds) => BigInt(Math.round(1000 * seconds)) * NS_PER_MS;
const later = (a, b) => (a > b ? a : b);

/** The clocks of a program that is started with `env`. */
export class Clocks {
    #edition = 0;
    #clocks = { wall: 0n, steady: 0n, frozen: 0n, least: 0n };

    constructor() {
        assert.ok(fs.existsSync(LIBRARY), `${LIBRARY} is missing: make builds it`);
        const file = path.join(scratch(MEMORY), 'preload');
        fs.writeFileSync(file, Buffer.alloc(PLACES + SLEEPERS * SLEEPER));
        this.shared = fs.openSync(file, 'r+');
        const sanitizer = [process.env.ASAN_OPTIONS, 'verify_asan_link_order=0'].filter(Boolean);
        this.env = { LD_PRELOAD: LIBRARY, PRELOAD_FILE: file, ASAN_OPTIONS: sanitizer.join(':') };
    }

    read(at, size) {
        const bytes = Buffer.alloc(size);
        fs.readSync(this.shared, bytes, 0, size, at);
        return bytes;
    }

    /* A new edition of the clocks. */
    #publish(change = {}) {
        Object.assign(this.#clocks, change);
        const bytes = Buffer.alloc(32);
        Object.values(this.#clocks).forEach((value, i) => bytes.writeBigInt64LE(value, 8 * i));
        this.#edition = (this.#edition + 1) % 256;
        fs.writeSync(this.shared, bytes, 0, 32, 32 * (this.#edition % 2));
        fs.writeSync(this.shared, Buffer.of(this.#edition), 0, 1, EDITION);
    }

    /* Set a clock, 'wall' or 'steady', SECONDS further ahead, or back. Does not wait: see pass(). */
    advance(clock, seconds) {
        this.#publish({ [clock]: this.#clocks[clock] + ns(seconds) });
    }

    /* How often a thread has been woken, by whatever it waits for. */
    get turns() {
        return this.read(TURNS, 4).readUInt32LE();
    }

    /* True if every thread has slept through the latest edition. */
    #isSleeping() {
        const places = this.read(PLACES, SLEEPERS * SLEEPER);
        for (let at = 0; at < places.length; at += SLEEPER)
            if (places.readInt32LE(at) && places.readUInt32LE(at + 8) !== this.#edition + 1 &&
                fs.existsSync(`/proc/${places.readInt32LE(at)}/task/${places.readInt32LE(at + 4)}`))
                return false;
        return true;
    }

    /*
     * Wait until the program is at rest: its threads have seen the time, done what is due, and have read
     * all that the test has sent. Delayed calls wait on, as they do for the time. Not while something
     * sends requests all the time, nor for signals: they arrive when the system likes.
     */
    async settled() {
        assert.ok(await eventually(async () => {
            const before = this.turns;
            for (let round = 0; round < 2; round++) {
                this.#publish();
                if (!await eventually(() => this.#isSleeping(), 30000))
                    return false;
            }
            return this.turns === before;
        }, 30000), 'the program does not come to rest');
    }

    /* Stop the steady clock: from now on it moves only by pass() and advance(). */
    stand() {
        this.#publish({ frozen: 1n, least: process.hrtime.bigint() });
    }

    async freeze() {
        this.stand();
        await this.settled();
    }

    /* Let the steady clock run on. */
    thaw() {
        if (!this.#clocks.frozen)
            return;
        const { steady, least } = this.#clocks;
        const stood = later(this.read(LATEST, 8).readBigInt64LE(), least) + steady;
        this.#publish({ frozen: 0n, steady: stood + NS_PER_MS - process.hrtime.bigint() });
    }

    /* SECONDS pass on the frozen clock, in steps of STEP, each until the program is at rest. */
    async pass(seconds, step = seconds) {
        for (let left = Math.round(1000 * seconds); left > 0; left -= Math.round(1000 * step)) {
            this.advance('steady', Math.min(left / 1000, step));
            await this.settled();
        }
    }
}

/** Clocks, and faults of file operations in DIRECTORY and of other calls. */
export class Faults extends Clocks {
    constructor(directory) {
        super();
        this.env.PRELOAD_DIRECTORY = fs.realpathSync(directory);
    }

    static #place(call, field) {
        return RULES + CALLS.indexOf(call) * RULE + 4 * FIELDS.indexOf(field);
    }

    #write(call, field, value) {
        const bytes = Buffer.alloc(4);
        bytes.writeInt32LE(value);
        fs.writeSync(this.shared, bytes, 0, 4, Faults.#place(call, field));
    }

    /*
     * From now on every EVERY-th call of this kind fails with ERROR after AMOUNT ms of the steady clock.
     * Without ERROR it succeeds after AMOUNT ms; with every: 0 calls are only counted.
     */
    set(call, { error, every = 1, amount = 0, cap = 0, least = 0, most = 0, seed = 0 } = {}) {
        this.#write(call, 'every', 0);
        const values = { error: error ? os.constants.errno[error] : 0, amount, cap, least, most, seed };
        for (const [field, value] of Object.entries(values))
            this.#write(call, field, value);
        for (const field of ['calls', 'hits'])
            this.#write(call, field, 0);
        this.#write(call, 'every', every);
    }

    /* Calls of this kind wait until clear(). */
    hold(call) {
        this.set(call, { amount: 0x7fffffff });
    }

    /* Delayed calls stay delayed; no further call is hit. */
    noMore(call) {
        this.#write(call, 'every', 0x7fffffff);
    }

    /* End all faults. Delayed calls continue at once. */
    clear() {
        for (const call of CALLS)
            this.set(call, { every: 0 });
    }

    calls(call) {
        return this.read(Faults.#place(call, 'calls'), 4).readUInt32LE();
    }

    hits(call) {
        return this.read(Faults.#place(call, 'hits'), 4).readUInt32LE();
    }
}
