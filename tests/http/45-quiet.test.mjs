// A daemon without anything to do does not wake up: not more than once a second, all of its threads together.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Daemon, withDaemon } from './daemon.mjs';
import { patience, scratchFile } from './program.mjs';
import { request } from './wire.mjs';

const SECONDS = 6;
const MOST = SECONDS + 2; /* at the end of what came before, a timer may still be due */

/* How often the threads of PID have given up or lost their core since they began. */
function switches(pid) {
    let sum = 0;
    for (const thread of fs.readdirSync(`/proc/${pid}/task`))
        for (const [, count] of fs.readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8').matchAll(/ctxt_switches:\s+(\d+)/g))
            sum += Number(count);
    return sum;
}

async function assertQuiet(daemon) {
    await sleep(patience(1500)); /* tiles are stored after they were sent */
    const before = switches(daemon.pid);
    await sleep(1000 * SECONDS);
    const count = switches(daemon.pid) - before;
    assert.ok(count <= MOST, `${count} switches in ${SECONDS} s`);
}

/* What clients do: tiles from a render, the memory and the disk, a region, a stream, an error, a closed connection. */
async function visit(daemon) {
    const targets = ['/default/relief/8/3/4.png', '/default/relief/8/3/4.png', '/default.json', '/default/nothing',
        '/default/region.f32?x=0&y=0&width=17&height=17', '/default/region.f32?x=0&y=0&width=1025&height=1025'];
    for (const target of targets)
        await daemon.get(target);
    const leaving = await daemon.connect();
    leaving.send(request('GET', '/default/relief/12/5/5.png'));
    leaving.close();
}

const ROWS = [
    ['after its start', async () => {}],
    ['after clients have come and gone', async (daemon) => {
        await visit(daemon);
        daemon.agent.destroy();
    }],
    ['with idle connections', async (daemon) => {
        await visit(daemon);
        await Promise.all(Array.from({ length: 100 }, async () => {
            const connection = await daemon.connect();
            connection.send(request('GET', '/healthz'));
            await connection.answer();
        }));
    }],
];

/* The thread sanitizer has a thread of its own, which wakes up ten times a second. */
const skip = patience(1) > 1 && 'sanitized programs wake up';

describe('an idle daemon sleeps', { concurrency: true, skip }, () => {
    for (const [when, prepare] of ROWS)
        it(when, () => withDaemon(async (daemon) => {
            await prepare(daemon);
            await assertQuiet(daemon);
        }));
    it('with many event loops and an access log', () => withDaemon(async (daemon) => {
        await visit(daemon);
        await assertQuiet(daemon);
    }, { config: `shards: 16\naccess_log: ${scratchFile('access', '')}\n` }));
});
