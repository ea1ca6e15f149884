// The rules for clients in server/CLIENTS.md: strips cost less than chunks, and which responses are streams.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import http from 'node:http';
import { describe, it } from 'node:test';
import { useDaemon } from '../http/daemon.mjs';
import { eventually, patience } from '../http/program.mjs';
import { eachRow } from '../http/table.mjs';

const CHUNKS = 17;

describe('rules for clients', { timeout: patience(300000) }, () => {
    const daemon = useDaemon({ builtIn: true, config: 'limits: { streams_per_client: 16, wait: 60000 }' });

    /* CPU time of the daemon's threads in seconds. */
    function cpu() {
        const tasks = `/proc/${daemon.pid}/task`;
        return readdirSync(tasks).reduce((sum, task) =>
            sum + Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e9, 0);
    }
    const region = (x, y, width, height) =>
        daemon.bytes(`/default/region.f32?x=${x}&y=${y}&width=${width}&height=${height}`);

    it('a strip has the bytes of its chunks, one after the other', () => eachRow([17, 33], async (side) => {
        const strip = await region(0, 0, side, CHUNKS * (side - 1) + 1);
        for (let i = 0; i < CHUNKS; i++) {
            const from = 4 * side * (side - 1) * i;
            assert.ok(strip.subarray(from, from + 4 * side ** 2).equals(await region(0, i * (side - 1), side, side)));
        }
    }));

    it('a strip costs much less than its chunks', () => eachRow([17, 33], async (side) => {
        let chunks = 0, strips = 0;
        for (let round = 1; round <= 40; round++) {
            const begun = cpu();
            for (let i = 0; i < CHUNKS; i++)
                await region(8192 * round, i * (side - 1), side, side);
            const between = cpu();
            await region(-8192 * round, 0, side, CHUNKS * (side - 1) + 1);
            chunks += between - begun;
            strips += cpu() - between;
        }
        assert.ok(strips < 0.75 * chunks, `${strips} s of CPU, and ${chunks} s for chunks`);
    }));

    it('a known tile with its border costs much less than its region', async (t) => {
        const spent = { 'a region': 0, 'a new tile': 0, 'a known tile': 0 };
        for (let i = 0; i < 96; i++) {
            const [x, y] = [i % 12, Math.floor(i / 12)];
            const tile = `/default/height/16/${32768 + x}/${32768 + y}.f32?border=1`;
            for (const [kind, target] of [['a region', `/default/region.f32?x=${256 * x}&y=${256 * y}&width=257&height=257`],
                ['a new tile', tile], ['a known tile', tile]]) {
                const begun = cpu();
                await daemon.bytes(target);
                spent[kind] += cpu() - begun;
            }
        }
        t.diagnostic(Object.entries(spent).map(([kind, s]) => `${kind}: ${(1000 * s / 96).toFixed(2)} ms of CPU`).join(', '));
        assert.ok(spent['a known tile'] < spent['a region'] / 4, 'known tiles cost more than a quarter');
    });

    /* Statuses of 20 responses that are not read, all at once. */
    async function twenty(target) {
        const agent = new http.Agent();
        const statuses = await Promise.all(Array.from({ length: 20 }, (_, i) => new Promise((resolve, reject) => {
            http.get({ host: daemon.host, port: daemon.port, agent, path: `${target}&x=${i * 4096}` },
                (response) => resolve(response.statusCode)).on('error', reject);
        })));
        agent.destroy();
        return statuses.sort().join(' ');
    }

    it('more than 2^18 samples are a stream', () => eachRow([
        ['region.f32?y=0&width=512&height=512', 20], ['volume.f32?y=0&z=0&width=64&height=64&depth=64', 20],
        ['region.f32?y=0&width=513&height=512', 16], ['volume.f32?y=0&z=0&width=65&height=65&depth=65', 16],
    ], async ([target, served]) => {
        assert.equal(await twenty(`/default/${target}`), [...Array(served).fill(200), ...Array(20 - served).fill(503)].join(' '));
        assert.ok(await eventually(async () => /^farlands_response_bytes 0$/m.test(await daemon.bytes('/metrics'))));
    }));
});
