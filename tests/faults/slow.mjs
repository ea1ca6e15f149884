// 200 connections of slowhttptest must not affect a well-behaved client. Run by make check-slow;
// SLOW=ranges selects the attacks whose names contain it.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { withDaemon } from '../http/daemon.mjs';
import { patience, scratch } from '../http/program.mjs';
import { memoryOf, probing, quantile } from './faults.mjs';

const HOT = '/default/gray/11/900/1.png';
const CONNECTIONS = 200;
const SECONDS = 15;

const ATTACKS = [
    { name: 'slow headers', args: ['-H', '-i', '2'], target: '/healthz', closed: 11 },
    { name: 'slow bodies', args: ['-B', '-i', '2', '-t', 'GET'], target: HOT, closed: 3 },
    { name: 'slow read', args: ['-X', '-w', '1', '-y', '64', '-n', '1', '-z', '8', '-k', '10'],
        target: '/default/height/11/900/900@2x.f32' },
    { name: 'ranges', args: ['-R', '-a', '5', '-b', '1500', '-t', 'GET'], target: '/default/height/11/900/900@2x.f32' },
];

/* slowhttptest's own counts, one row per second: { seconds, connected, available }. */
async function attack({ args, target }, daemon) {
    const prefix = path.join(scratch(), 'report');
    const child = spawn('slowhttptest', [...args, '-c', String(CONNECTIONS), '-r', String(CONNECTIONS),
        '-l', String(SECONDS), '-p', '3', '-g', '-o', prefix, '-u', `http://${daemon.authority}${target}`],
    { stdio: 'ignore' });
    const timer = setTimeout(() => child.kill('SIGKILL'), 1000 * (SECONDS + 20));
    await once(child, 'exit');
    clearTimeout(timer);
    return fs.readFileSync(`${prefix}.csv`, 'latin1').trim().split('\n').slice(1).map((line) => {
        const [seconds, , , connected, available] = line.split(',').map(Number);
        return { seconds, connected, available };
    });
}

/* The 99th percentile in ms of a cache hit's latency during WORK. */
async function healthy(daemon, work) {
    const stop = probing(daemon, HOT, 5);
    const result = await work();
    return { p99: quantile(await stop(), 0.99), result };
}

describe('under attack', { timeout: patience(150000) }, () => {
    for (const each of ATTACKS.filter(({ name }) => name.includes(process.env.SLOW ?? '')))
        it(each.name, (t) => withDaemon(async (daemon) => {
            await daemon.bytes(HOT);
            await daemon.bytes('/default/height/11/900/900@2x.f32');
            const calm = await healthy(daemon, () => new Promise((resolve) => { setTimeout(resolve, 2000); }));
            const before = memoryOf(daemon.pid);
            const { p99, result: rows } = await healthy(daemon, () => attack(each, daemon));
            const grown = memoryOf(daemon.pid) - before;
            const total = await daemon.metric('farlands_connections_total');
            t.diagnostic(`p99 ${p99.toFixed(1)} ms, before ${calm.p99.toFixed(1)} ms; ` +
                `${total} connections, ${(grown / 1048576).toFixed(1)} MiB more`);
            assert.ok(total > CONNECTIONS, `no attack: ${total} connections`);
            assert.ok(rows.every(({ available }) => available), `not available: ${JSON.stringify(rows)}`);
            assert.ok(p99 < patience(50), `p99 ${p99} ms, ${calm.p99} ms without the attack`);
            assert.ok(grown < 32 << 20, `${grown} bytes more`);
            if (each.closed)
                for (const row of rows.filter(({ seconds }) => seconds > each.closed))
                    assert.equal(row.connected, 0, `still open after ${row.seconds} s: ${JSON.stringify(rows)}`);
        }, { config: 'limits: { connections_per_client: 0 }\n' }));
});
