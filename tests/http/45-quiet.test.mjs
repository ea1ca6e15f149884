// An idle daemon does not wake up: all threads together at most once a second.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { frozen } from '../faults/faults.mjs';
import { patience, scratchFile } from './program.mjs';
import { request } from './wire.mjs';

const SECONDS = 6, STEP = 0.05;
const MOST = SECONDS + 2; /* at the end of what came before, a timer may still be due */

/* It is frozen: the count is of the daemon's seconds, and does not depend on the machine. */
async function assertQuiet(faults) {
    await faults.pass(1.5, STEP);
    const before = faults.turns;
    await faults.pass(SECONDS, STEP);
    const count = faults.turns - before;
    assert.ok(count <= MOST, `woken ${count} times in ${SECONDS} s`);
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

describe('an idle daemon sleeps', { timeout: patience(90000), concurrency: true }, () => {
    for (const [when, prepare] of ROWS)
        it(when, () => frozen(async (daemon, faults) => {
            await prepare(daemon);
            await assertQuiet(faults);
        }));
    it('with many event loops and an access log', () => frozen(async (daemon, faults) => {
        await visit(daemon);
        await assertQuiet(faults);
    }, { config: `shards: 16\naccess_log: ${scratchFile('access', '')}\n` }));
});
