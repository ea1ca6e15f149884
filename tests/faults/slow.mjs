// 200 slowhttptest connections: a well-behaved client is served, memory is bounded, and slow connections are
// closed. Run by make check-slow; SLOW=ranges selects attacks with "ranges" in their names. make bench-http
// HTTP_BENCHES=slow measures how quickly the client is served.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { withDaemon } from '../http/daemon.mjs';
import { patience, scratch } from '../http/program.mjs';
import { memoryOf } from './faults.mjs';

const HOT = '/default/gray/11/900/1.png';
const CONNECTIONS = 200;
const SECONDS = 15;

const ATTACKS = [
    { name: 'slow headers', args: ['-H', '-i', '2'], target: '/healthz', closed: true },
    { name: 'slow bodies', args: ['-B', '-i', '2', '-t', 'GET'], target: HOT, closed: true },
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

/* Request HOT again and again during WORK: its result, and the number of responses. */
async function served(daemon, work) {
    let going = true, count = 0;
    const all = (async () => {
        for (; going; count++)
            await daemon.bytes(HOT);
    })();
    const result = await work().finally(() => { going = false; });
    await all;
    return { result, count };
}

describe('under attack', { timeout: patience(150000) }, () => {
    for (const each of ATTACKS.filter(({ name }) => name.includes(process.env.SLOW ?? '')))
        it(each.name, (t) => withDaemon(async (daemon) => {
            await daemon.bytes(HOT);
            await daemon.bytes('/default/height/11/900/900@2x.f32');
            const before = memoryOf(daemon.pid);
            const { result: rows, count } = await served(daemon, () => attack(each, daemon));
            const grown = memoryOf(daemon.pid) - before;
            const total = await daemon.metric('farlands_connections_total');
            t.diagnostic(`${total} connections, ${count} responses meanwhile, ${(grown / 1048576).toFixed(1)} MiB more`);
            assert.ok(total > CONNECTIONS, `no attack: ${total} connections`);
            assert.ok(rows.every(({ available }) => available), `not available: ${JSON.stringify(rows)}`);
            assert.ok(grown < 32 << 20, `${grown} bytes more`);
            // The limits are 10 s for a head and 2 s for a body. The attack takes 15 s, or ends with its last connection.
            const { seconds, connected } = rows.at(-1);
            assert.ok(!each.closed || connected === 0 || seconds < SECONDS - 1, `still open: ${JSON.stringify(rows)}`);
        }, { config: 'limits: { connections_per_client: 0 }\n' }));
});
