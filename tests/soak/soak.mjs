// What the soaks share: how long, and how it ends. Not a soak.

import fs from 'node:fs';

export const short = process.env.SOAK === 'short';

/* How often or how long: the first argument, or else by SOAK. */
export const extent = (full, brief) => Number(process.argv[2]) || (short ? brief : full);

export const numbers = (count) => Array.from({ length: count }, (_, i) => i);

/* Sanitizers keep what is freed: of memory nothing can be said under them. */
export const sanitized = Number(process.env.PATIENCE ?? 1) > 1;

/* At least LOW, below HIGH. */
export const between = (low, high) => low + Math.random() * (high - low);

/* What the system says of a process. */
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
 * Run a soak: WORK gets two functions, one that notes a problem, and one that says of the
 * whole what is worth a line. A problem, or an exception, is exit code 1.
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
