// Load from open_loop, a process of its own, while a test goes on. Not a test.

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { eventually, launch, scratchFile } from '../http/program.mjs';

const OPEN_LOOP = process.env.OPEN_LOOP ?? fileURLToPath(new URL('../../build/tests/load/open_loop', import.meta.url));
/* Until stop(). */
export const ENDLESS = ['--seconds', 3600];

/*
 * open_loop with ARGS at { host, port } or { socketPath }; PREFIX is a command that runs it, such as nice. progress():
 * sums so far, { opened, sent, answered, bytes }. report(): waits for its end, and returns its report, with streams by
 * name. stop() ends it, and returns the same.
 */
export function startLoad({ host = '127.0.0.1', port, socketPath }, args, { prefix = [] } = {}) {
    const target = socketPath ? `unix:${socketPath}` : `${host.includes(':') ? `[${host}]` : host}:${port}`;
    const [binary, ...words] = [...prefix, OPEN_LOOP, '--json', '-', '--progress', ...args.map(String), target];
    const program = launch(words, {}, { binary });
    const text = () => Buffer.concat(program.stdout).toString();
    let last = { opened: 0, sent: 0, answered: 0, bytes: 0 };
    program.child.stdout.on('data', () => {
        const line = /^\{"progress".*\}$/.exec(String(program.stdout.at(-1)).trim().split('\n').at(-1));
        if (line)
            last = JSON.parse(line[0]);
    });
    const load = {
        progress: () => last,
        running: () => program.running,
        async report() {
            const { code, signal, error } = await program.ended;
            assert.equal(code, 0, `open_loop: ${error ?? signal} ${Buffer.concat(program.stderr)}`);
            const report = JSON.parse(text().slice(text().indexOf('{"target"')));
            return { ...report, stream: Object.fromEntries(report.streams.map((one) => [one.name, one])) };
        },
        stop() {
            program.child.kill('SIGTERM');
            return load.report();
        },
        /* Whether CONDITION of progress() becomes true while it runs. */
        until: async (condition) => await eventually(() => condition(last) || !program.running, 120000) && condition(last),
    };
    return load;
}

export const runLoad = (...args) => startLoad(...args).report();

/*
 * COUNT clients, each of which requests a target when it has its last response and PAUSE ms have passed: NEXT is a list
 * of open_loop's patterns, or a function of which the first 20,000 values are requested in turn. stop() returns { asked,
 * answers, failures }: failures are texts, one per kind. A response is a failure unless its status is one of STATUSES,
 * and a 503 without Retry-After; so is a request without a response LIMIT ms after stop(). HEADERS are lines.
 */
export function load(address, next, count, { statuses = [200], headers = [], pause = 0, limit = 20000 } = {}) {
    const urls = typeof next === 'function' ? Array.from({ length: 20000 }, (_, i) => next(i)) : next;
    const client = startLoad(address, [...ENDLESS, '--grace', limit / 1000, '--closed', '--pause', pause, '--connections', count,
        ...typeof next === 'function' ? ['--in-order'] : [], '--urls', scratchFile('urls', urls.join('\n')),
        ...headers.flatMap((line) => ['--header', line]), ...address.localAddress ? ['--source', address.localAddress] : []]);
    let result = null;
    return {
        state: {
            get asked() { return client.progress().sent; },
            get answers() { return client.progress().answered; },
        },
        stop: () => result ??= client.stop().then(({ stream: { load: { sent, answered, status, errors } } }) => ({
            asked: sent,
            answers: answered,
            failures: [...Object.entries(errors).filter(([kind, number]) => number && kind !== 'unsent'),
                ...Object.entries(status).map(([code, one]) =>
                    [`with ${code}`, one.count - (statuses.includes(Number(code)) ? code === '503' ? one.retry_after : one.count : 0)])]
                .filter(([, number]) => number > 0).map(([kind, number]) => `${number} ${kind}`),
        })),
    };
}

/* Call WORK with the clients of a load(), which end even if it throws. WORK itself calls stop(). */
export async function underLoad(clients, work) {
    try {
        return await work(clients);
    } finally {
        await clients.stop();
    }
}
