// Attack 15: texts, headers and documents that take long, and readers that keep a daemon from ending.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, it } from 'node:test';
import { draining, frozen } from '../faults/faults.mjs';
import { TIMEOUT, eventually, scratchFile } from '../http/program.mjs';
import { cpuSeconds, open } from '../http/streams.mjs';
import { TAGS, rowsOf } from './rows.mjs';
import { DAEMON_CORES, HOT, Meter, fromOneAndFour, peakMemory, sparesLoops, withDaemon, workUntil } from './scene.mjs';

const MIB = 1 << 20;
const THREADS = `shards: ${DAEMON_CORES}\nthreads: ${DAEMON_CORES}\n`;
const LIKE = `${THREADS}worlds:\n  - like: default\n`;
/* 31 KB. */
const LIKES = `${LIKE}${Array.from({ length: 1000 }, (_, i) => `  - { name: w${i}, like: alps }\n`).join('')}`;

describe('attack 15: requests and texts', { timeout: TIMEOUT }, () => {
    rowsOf('15').forEach((row) => fromOneAndFour(...row));

    /* Beside a header of as many bytes that means nothing, and a document of all worlds, which has 40 KB. */
    it('15c event loops do little for 500 tags and for /wmts.xml', (t) => sparesLoops(t, [
        ['500 tags', 3, 300, ['--header', `If-None-Match: ${TAGS}`, '--url', HOT], ['--header', `X-None-Match: ${TAGS}`, '--url', HOT]],
        ['/wmts.xml', 10, 300, ['--url', '/wmts.xml']],
    ]));

    /* A second; a core renders some 40 tiles then. A reload has the old worlds beside the new ones for a while. */
    it('15d a reload of 1,000 worlds that are like another, and a start with them', (t) => {
        const file = scratchFile('likes.yaml', LIKE);
        const options = { config: false, args: ['--config', file] };
        const assertSmall = (what, tiles, memory, most) => {
            t.diagnostic(`15d: ${what}: the work of ${tiles} tiles, ${memory} MiB more`);
            assert.ok(tiles <= 100, `${what} does the work of ${tiles} tiles, at most 100 expected`);
            assert.ok(memory <= most, `${what} takes ${memory} MiB more, at most ${most} expected`);
        };
        return withDaemon(options, async (daemon) => {
            const meter = await Meter.of(daemon);
            const before = peakMemory(daemon.pid);
            fs.writeFileSync(file, LIKES);
            await withDaemon(options, ({ pid }) =>
                assertSmall('a start', Math.round(1000 * cpuSeconds(pid) / meter.tile), peakMemory(pid) - before, 128));
            const tiles = await workUntil(daemon, meter, 1000, () => daemon.kill('SIGHUP'), async () =>
                await daemon.reloads() === 1);
            assertSmall('a reload', tiles, peakMemory(daemon.pid) - before, 192);
        });
    });

    /* It reads more than the slowest pace that is allowed, so that nothing but the end of the daemon cuts it off. */
    it('15e SIGTERM ends a daemon within 6 s of its clock although a client reads a stream slowly', () => frozen(async (daemon, faults) => {
        const stream = await open(daemon, '/default/region.f32?x=0&y=0&width=4097&height=4097');
        await stream.read(MIB);
        await draining(daemon);
        for (let halves = 0; halves < 12 && daemon.program.running; halves++) {
            await faults.pass(0.5);
            await stream.read(stream.received + 64 * 1024).catch(() => {});
        }
        assert.ok(await eventually(() => !daemon.program.running), 'it drains on');
        assert.equal((await daemon.ended()).code, 0);
    }));
});
