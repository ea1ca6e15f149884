// Runs a daemon with injected faults: failing system calls and clocks (preload.mjs), small and broken
// file systems, limits. Not a test.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { Daemon } from '../http/daemon.mjs';
import { eventually, patience, scratch } from '../http/program.mjs';
import { Faults } from '../preload/preload.mjs';

export { Faults };

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
    faults.thaw();
    faults.clear();
    if (daemon.program.running)
        await daemon.quit();
}

/* The same with a steady clock that stands: it moves only by faults.pass(). */
export const frozen = (check, options) => serving(async (daemon, faults) => {
    await faults.freeze();
    await check(daemon, faults);
}, options);

/* Send SIGTERM and wait until the daemon drains: signals arrive when the system likes. */
export async function draining(daemon) {
    daemon.kill();
    assert.ok(await eventually(() => /: draining/.test(daemon.stderr)), 'not draining');
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
export const NO_SHEDDING = 'limits: { wait: 60000, drain: 600 }\n';

/* --- Requests ------------------------------------------------------------------- */

/* The outcome of a promise, { answer } or { error }, which may reject while others are awaited. */
export const settled = (promise) => promise.then((answer) => ({ answer }), (error) => ({ error }));

/* The lines of the log that match WHICH. */
export function logLines(daemon, which = / (warning|error) /) {
    return daemon.stderr.split('\n').filter((line) => which.test(line));
}
