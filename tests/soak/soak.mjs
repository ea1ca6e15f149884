// Shared by the soaks: their duration and their report. Not a soak.

import fs from 'node:fs';

export const short = process.env.SOAK === 'short';

/* The number of rounds or seconds: the first argument, or a default that depends on SOAK. */
export const extent = (full, brief) => Number(process.argv[2]) || (short ? brief : full);

export const numbers = (count) => Array.from({ length: count }, (_, i) => i);

/* Sanitizers keep freed memory, so memory is not measured under them. */
export const sanitized = Number(process.env.PATIENCE ?? 1) > 1;

/* At least LOW, below HIGH. */
export const between = (low, high) => low + Math.random() * (high - low);

/* The resource usage of a process. */
export function measure(pid) {
    const status = fs.readFileSync(`/proc/${pid}/status`, 'latin1');
    const field = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)[1]);
    return {
        mebibytes: field('VmRSS') / 1024,
        threads: field('Threads'),
        files: fs.readdirSync(`/proc/${pid}/fd`).length,
    };
}

/*
 * Run a soak: WORK gets two functions, one that adds a problem and one that sets the summary. The exit
 * code is 1 if there is a problem or an exception.
 */
export async function soak(name, work) {
    const problems = [];
    const started = Date.now();
    let summary = '';
    try {
        await work((text) => problems.push(text), (text) => { summary = text; });
    } catch (error) {
        problems.push(error.stack);
    }
    const seconds = Math.round((Date.now() - started) / 1000);
    for (const problem of problems.slice(0, 20))
        console.error(`${name}: ${problem.trim()}`);
    console.log(`${name}: ${problems.length ? `${problems.length} PROBLEMS` : 'ok'} in ${seconds} s` +
        `${summary ? `: ${summary}` : ''}`);
    process.exit(problems.length ? 1 : 0);
}
