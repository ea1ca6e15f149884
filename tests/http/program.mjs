// Runs the program under test and always ends it: the program that FARLANDS names, or
// build/farlands. Not a test.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const BINARY = process.env.FARLANDS
    ? path.resolve(process.env.FARLANDS)
    : fileURLToPath(new URL('../../build/farlands', import.meta.url));

/* A configuration with the world `default` of one noise, for tests of bytes and speed: see there. */
export const FRACTAL = fileURLToPath(new URL('../worlds/fractal.yaml', import.meta.url));

/* YAML, which gets the worlds of FRACTAL if it has none. */
export const withFractal = (yaml = '') =>
    (/^worlds:/m.test(yaml) ? yaml : `${yaml}${yaml && '\n'}${fs.readFileSync(FRACTAL)}`);

/* A world `slow`: a tile takes some tenths of a second, the largest region minutes, a search for a place to spawn still longer.
 * A response that comes sooner has not waited for them. */
const SLOWEST_NOISE = 'basis: cellular, octaves: 60, lacunarity: 1.1, warp: { amplitude: 1000, wavelength: 4096 }';
export const SLOWEST_WORLD = `{ name: slow, fields: { height: { multiply: [1000, { add: [${Array.from({ length: 4 },
    (_, i) => `{ noise: { wavelength: ${4096 + i}, ${SLOWEST_NOISE} } }`).join(', ')}] }] } } }`;

/* The worlds that are served without a configuration. */
export const BUILT_IN = ['default', 'archipelago', 'alps'];

/* ARGS of a command, with FRACTAL as its configuration if they name none. */
export const fractal = (...args) => (args.includes('--config') ? args : [args[0], '--config', FRACTAL, ...args.slice(1)]);

const children = new Set();
const directories = new Set();

process.on('exit', () => {
    for (const child of children)
        child.kill('SIGKILL');
    for (const directory of directories)
        fs.rmSync(directory, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => process.exit(1));

/* A test that timed out may wait for its daemon, or a timer, forever: after the last test the process ends. */
if (process.env.NODE_TEST_CONTEXT)
    after(() => {
        for (const child of children)
            child.kill('SIGKILL');
        setTimeout(() => process.exit(), 10000).unref();
    });

/* A new directory in PARENT that is removed when the tests end. */
export function scratch(parent = os.tmpdir()) {
    const directory = fs.mkdtempSync(path.join(parent, 'farlands-http-'));
    directories.add(directory);
    return directory;
}

/* The paths of all files in DIRECTORY and below it. */
export function filesBelow(directory) {
    return fs.readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
        const name = path.join(directory, entry.name);
        return entry.isDirectory() ? filesBelow(name) : [name];
    });
}

/* The path of a new file with this text. */
export function scratchFile(name, text) {
    const file = path.join(scratch(), name);
    fs.writeFileSync(file, text);
    return file;
}

/* No wait is longer than this, in ms, so that a test that hangs fails by its name before its step of tests/check.sh ends. */
const LONGEST = 600000;

/** MS for a plain build, PATIENCE times as long for a slower one. */
export const patience = (ms) => Math.min(ms * (Number(process.env.PATIENCE) || 1), Math.max(ms, LONGEST));

/* How long to wait for what must happen, in ms. These limits only end a run that hangs: a test that succeeds does not wait
 * for them. TIMEOUT is that of a whole test. */
export const WAIT = 180000;
export const TIMEOUT = 1500000;

/** COUNT for a plain build, fewer for a slower one, which does as many in the same time. */
export const fewer = (count) => Math.ceil(count / patience(1));

/* Poll condition() at growing intervals of at most 20 ms. False if it is not true within LIMIT ms. */
export async function eventually(condition, limit = 30000) {
    const end = Date.now() + patience(limit);
    for (let pause = 1; !await condition(); pause = Math.min(2 * pause, 20)) {
        if (Date.now() > end)
            return false;
        await sleep(pause);
    }
    return true;
}

/*
 * Start `farlands ARGS...`, or another BINARY, with a new directory as its home; end() waits for it.
 * fds: open files that it inherits as 3, 4, ...
 */
export function launch(args, env = {}, { binary = BINARY, fds = [] } = {}) {
    const home = scratch();
    const child = spawn(binary, args, {
        cwd: home,
        env: { ...process.env, HOME: home, XDG_CACHE_HOME: home, ...env },
        stdio: ['ignore', 'pipe', 'pipe', ...fds],
    });
    const program = { child, stdout: [], stderr: [], home, running: true };
    child.stdout.on('data', (bytes) => program.stdout.push(bytes));
    child.stderr.on('data', (bytes) => program.stderr.push(bytes));
    children.add(child);
    program.ended = new Promise((resolve) => {
        child.on('error', (error) => {
            children.delete(child);
            program.running = false;
            resolve({ code: null, signal: null, error });
        });
        child.on('close', (code, signal) => {
            children.delete(child);
            program.running = false;
            resolve({ code, signal });
        });
    });
    return program;
}

/* { code, signal, error, late, stdout, stderr }; late if it had to be killed after LIMIT ms. */
export async function end(program, limit = WAIT) {
    const alarm = new AbortController();
    const result = await Promise.race([
        program.ended,
        sleep(patience(limit), { late: true }, { signal: alarm.signal }).catch(() => {}),
    ]);
    alarm.abort();
    if (result.late) {
        program.child.kill('SIGKILL');
        await program.ended;
    }
    const { code, signal, error, late = false } = result;
    return {
        code, signal, error, late,
        stdout: Buffer.concat(program.stdout),
        stderr: Buffer.concat(program.stderr).toString(),
    };
}

/* Run `farlands ARGS...` to its end and return what end() does. */
export async function run(args, { limit, env } = {}) {
    const result = await end(launch(args, env), limit);
    if (result.error)
        throw new Error(`cannot run ${BINARY}: ${result.error.message}`);
    return result;
}
