// Runs a daemon with injected faults: failing system calls (inject.c), small and broken file
// systems, limits; and measures the daemon. Not a test.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Daemon } from '../http/daemon.mjs';
import { BINARY, patience, scratch } from '../http/program.mjs';

const INJECT = path.join(path.dirname(BINARY), 'tests/faults/inject.so');

/* As in inject.c: the kinds of calls, in order, and the fields of a rule. */
const CALLS = ['write', 'read', 'open', 'create', 'rename', 'unlink', 'mkdir', 'accept', 'forget', 'allocate',
    'encode', 'wall', 'steady'];
const FIELDS = ['error', 'every', 'amount', 'cap', 'least', 'most', 'seed', 'calls', 'hits'];
const RULE = 64;

/** Faults for a daemon started with `env`. File operations fail only in DIRECTORY. */
export class Faults {
    constructor(directory) {
        const file = path.join(scratch(), 'rules');
        fs.writeFileSync(file, Buffer.alloc(CALLS.length * RULE));
        this.rules = fs.openSync(file, 'r+');
        const sanitizer = [process.env.ASAN_OPTIONS, 'verify_asan_link_order=0'].filter(Boolean);
        this.env = {
            LD_PRELOAD: INJECT, FAULTS_RULES: file, FAULTS_DIRECTORY: fs.realpathSync(directory),
            ASAN_OPTIONS: sanitizer.join(':'),
        };
    }

    #write(call, field, value) {
        const bytes = Buffer.alloc(4);
        bytes.writeInt32LE(value);
        fs.writeSync(this.rules, bytes, 0, 4, CALLS.indexOf(call) * RULE + 4 * FIELDS.indexOf(field));
    }

    #read(call, field) {
        const bytes = Buffer.alloc(4);
        fs.readSync(this.rules, bytes, 0, 4, CALLS.indexOf(call) * RULE + 4 * FIELDS.indexOf(field));
        return bytes.readUInt32LE();
    }

    /*
     * From now on every EVERY-th call of this kind fails with ERROR after AMOUNT ms. Without ERROR it
     * succeeds after AMOUNT ms; with every: 0 calls are only counted.
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

    /* Delayed calls stay delayed; no further call is hit. */
    noMore(call) {
        this.#write(call, 'every', 0x7fffffff);
    }

    /* End all faults. Delayed calls continue at once. */
    clear() {
        for (const call of CALLS)
            if (!['wall', 'steady'].includes(call))
                this.set(call, { every: 0 });
    }

    /* Set a clock, 'wall' or 'steady', SECONDS ahead of the real one. */
    jump(clock, seconds) {
        this.#write(clock, 'amount', seconds);
    }

    /* Set a clock SECONDS further ahead. */
    advance(clock, seconds) {
        this.jump(clock, this.#read(clock, 'amount') + seconds);
    }

    calls(call) {
        return this.#read(call, 'calls');
    }

    hits(call) {
        return this.#read(call, 'hits');
    }
}

/*
 * Start a daemon, run CHECK with it and its faults, and stop it. It must exit with 0: some damage
 * shows only then. Options are those of Daemon, and `faults` of an earlier daemon.
 */
export async function serving(check, { cache = scratch(), faults = new Faults(cache), ...options } = {}) {
    const daemon = new Daemon({ cache, env: faults.env, ...options });
    try {
        await daemon.start();
        await check(daemon, faults);
    } catch (error) {
        daemon.program?.child.kill('SIGKILL');
        await daemon.stop();
        error.message += `\n--- stderr:\n${daemon.stderr.slice(-3000)}`;
        throw error;
    }
    faults.clear();
    if (daemon.program.running)
        await daemon.quit();
}

/* --- Files ------------------------------------------------------------------- */

/* Every file below DIRECTORY, except files that are removed meanwhile. */
export function filesBelow(directory) {
    let entries = [];
    try {
        entries = fs.readdirSync(directory, { withFileTypes: true });
    } catch (error) {
        if (error.code !== 'ENOENT')
            throw error;
    }
    return entries.flatMap((entry) => {
        const name = path.join(directory, entry.name);
        return entry.isDirectory() ? filesBelow(name) : [name];
    });
}

const isTile = (cache, file) =>
    /^[0-9a-f]{16}\/[a-z-]+\/-?\d+\/-?\d+\/-?\d+(@2x)?\.png$/.test(path.relative(cache, file));

export function tilesBelow(cache) {
    return filesBelow(cache).filter((file) => isTile(cache, file));
}

/* Files in a cache that are neither tiles nor the quota ledger. */
export function strays(cache) {
    return filesBelow(cache).filter((file) => !isTile(cache, file) && path.relative(cache, file) !== '.usage');
}

/* Disk usage of a directory, including itself: { bytes, files }; directories count as files. */
export function diskUse(directory) {
    const sum = { bytes: 0, files: 0 };
    const add = (name) => {
        const status = fs.lstatSync(name, { throwIfNoEntry: false });
        sum.bytes += 512 * (status?.blocks ?? 0);
        sum.files += status ? 1 : 0;
        return status?.isDirectory();
    };
    const walk = (name) => {
        if (!add(name))
            return;
        try {
            for (const entry of fs.readdirSync(name))
                walk(path.join(name, entry));
        } catch (error) {
            if (error.code !== 'ENOENT')        // removed meanwhile
                throw error;
        }
    };
    walk(directory);
    return sum;
}

/* Why tests that mount file systems are skipped; false if they can run. */
export const noMounts = process.env.PRIVATE_MOUNTS ? false
    : 'needs a mount namespace: run make check-faults as root';

/* Run a check with a tmpfs, mounted with OPTIONS such as 'size=1m'. */
export async function withTmpfs(options, check) {
    const directory = scratch();
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'farlands-test', directory]);
    try {
        await check(directory);
    } finally {
        execFileSync('umount', ['--lazy', directory]);
    }
}

export function remount(directory, option) {
    execFileSync('mount', ['-o', `remount,${option}`, directory]);
}

/* --- Processes ----------------------------------------------------------------- */

/* CPU time used by a process, in seconds. */
export function cpuSeconds(pid) {
    const fields = fs.readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) /s, '').split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
}

/* Resident memory in bytes; 0 under sanitizers, which keep freed memory. */
export function memoryOf(pid) {
    if (patience(1) > 1)
        return 0;
    return 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'latin1'))[1]);
}

export function openFiles(pid) {
    return fs.readdirSync(`/proc/${pid}/fd`).map(Number);
}

/* Keep a process from opening further files. Returns a function that restores its limit. */
export function runOutOfFiles(pid) {
    const open = new Set(openFiles(pid));
    let first = 0;
    while (open.has(first))
        first++;
    const limits = execFileSync('prlimit', ['--pid', pid, '--nofile', '--raw', '--noheadings', '-o', 'SOFT,HARD']);
    const [soft] = limits.toString().trim().split(/\s+/);
    const set = (limit) => execFileSync('prlimit', ['--pid', pid, `--nofile=${limit}:`]);
    set(first);
    return () => set(soft);
}

/* Concurrent tests. */
export const CONCURRENCY = patience(1) > 1 ? 2 : 6;

/* For tests of other subjects: no request is shed because of a long queue. */
export const NO_SHEDDING = 'limits: { wait: 60000 }\n';

/* --- Requests ------------------------------------------------------------------- */

/* The outcome of a promise, { answer } or { error }, which may reject while others are awaited. */
export const settled = (promise) => promise.then((answer) => ({ answer }), (error) => ({ error }));

/* The quantile P of VALUES. */
export function quantile(values, p) {
    return [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(p * values.length))];
}

/* Request TARGET repeatedly until the returned function is called, which returns the times in ms. */
export function probing(daemon, target, pause = 20) {
    let going = true;
    const times = [];
    const all = (async () => {
        while (going) {
            const start = performance.now();
            const answer = await daemon.get(target);
            if (answer.status !== 200)
                throw new Error(`GET ${target}: ${answer.status}`);
            times.push(performance.now() - start);
            await new Promise((resolve) => { setTimeout(resolve, pause); });
        }
        return times;
    })();
    all.catch(() => {});
    return () => {
        going = false;
        return all;
    };
}

/* The lines of the log that match WHICH. */
export function logLines(daemon, which = / (warning|error) /) {
    return daemon.stderr.split('\n').filter((line) => which.test(line));
}
