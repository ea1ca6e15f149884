// Runs the program under test and always ends it. Not a test.
// FARLANDS names the binary; build/farlands is the default.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const BINARY = process.env.FARLANDS
    ? path.resolve(process.env.FARLANDS)
    : fileURLToPath(new URL('../../build/farlands', import.meta.url));

const children = new Set();
const folders = new Set();

process.on('exit', () => {
    for (const child of children)
        child.kill('SIGKILL');
    for (const folder of folders)
        fs.rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => process.exit(1));

/* A fresh folder that is gone when the tests are. */
export function scratch() {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'farlands-http-'));
    folders.add(folder);
    return folder;
}

/* A fresh file with this text; its path. */
export function scratchFile(name, text) {
    const file = path.join(scratch(), name);
    fs.writeFileSync(file, text);
    return file;
}

/** MS for a plain build; PATIENCE times as long for one slowed down by sanitizers. */
export const patience = (ms) => ms * (Number(process.env.PATIENCE) || 1);

/** COUNT renders for a plain build; as many as one slowed down by sanitizers gets done in that time. */
export const fewer = (count) => Math.ceil(count / patience(1));

/* Ask until answer() is true, more and more seldom; false if it is not within LIMIT ms. */
export async function eventually(answer, limit = 3000) {
    const end = Date.now() + patience(limit);
    for (let pause = 1; !await answer(); pause = Math.min(2 * pause, 20)) {
        if (Date.now() > end)
            return false;
        await sleep(pause);
    }
    return true;
}

/*
 * Start `farlands ARGS...`, or another BINARY; end() waits for it. Its home is a fresh folder.
 * fds: open files that it inherits, as 3, 4, ...
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

/* { code, signal, error, late, stdout, stderr }; late when LIMIT ms were not enough. */
export async function end(program, limit) {
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

/*
 * Run `farlands ARGS...` to its end: { code, signal, stdout, stderr, late },
 * late when it had to be killed after LIMIT ms.
 */
export async function run(args, { limit = 10000, env } = {}) {
    const result = await end(launch(args, env), limit);
    if (result.error)
        throw new Error(`cannot run ${BINARY}: ${result.error.message}`);
    return result;
}
