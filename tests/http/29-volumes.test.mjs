// Volumes of density, for voxel worlds: positive is ground, negative is air, and
// neighbors share their faces byte for byte.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BLOCK, FAR, STEPS, assertSameBytes, blocks, cut, target } from './boxes.mjs';
import { Daemon, useDaemon } from './daemon.mjs';
import { decimal, floats, sameFloat } from './grid.mjs';
import { known } from '../known.mjs';
import { BUILT_IN, SLOWEST_WORLD, TIMEOUT, patience } from './program.mjs';
import { assertNotDelayed, open, peakGrowth, rests, withStreams } from './streams.mjs';
import { assertError, assertStatus, eachRow } from './table.mjs';

const MEBIBYTE = 1 << 20;
/* Sanitizers keep freed memory, so memory limits are not tested with them. */
const sanitized = patience(1) > 1;

/* Of one noise each, since the tests of shared faces ask for hundreds of volumes. bare: without caves and overhangs. */
const CONFIG = `cache: { memory: 1M }
worlds:
  - name: default
  - name: other
    seed: 77
  - name: bare
    volume: { overhangs: { amplitude: 0 }, caverns: { size: 0 }, tunnels: { radius: 0 } }
  - ${SLOWEST_WORLD}
`;

/* Corners shared by eight volumes, in 1/1024 blocks: [x, y, z]. */
const CROSSINGS = [
    [0n, 0n, 0n], [1n, -1n, 1n], [-blocks(7), blocks(1000003) + 513n, -blocks(100) + 3n],
    [FAR / 4n + 3n, -FAR / 4n + 1n, blocks(700)], [blocks(12), blocks(-5000), FAR / 4n + 5n],
];

const box = (daemon, at, sides, options) => daemon.bytes(target(at, sides, options));
const moved = (at, by, step) => at.map((value, axis) => value + BigInt(by[axis]) * step);

describe('volumes', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG });
    const volume = (at, sides, options) => box(daemon, at, sides, options);

    it('share their faces with their neighbors, at every step', () => eachRow(
        STEPS.flatMap((step) => CROSSINGS.map((at) => [step, at])), async ([step, meeting]) => {
            // Different sizes, so that an error that depends on the size shows.
            const low = [5, 7, 4], high = [6, 3, 8];
            const corners = Array.from({ length: 8 }, (_, n) => [n & 1, n >> 1 & 1, n >> 2]);
            const sidesOf = (corner) => corner.map((side, axis) => (side ? high : low)[axis]);
            const boxes = await Promise.all(corners.map((corner) => volume(
                moved(meeting, corner.map((side, axis) => (side ? 0 : 1 - low[axis])), step), sidesOf(corner), { step })));
            for (const [n, corner] of corners.entries())
                for (const axis of [0, 1, 2].filter((one) => !corner[one])) {
                    const sides = sidesOf(corner);
                    const beyond = n + (1 << axis);
                    const flat = sides.map((side, one) => (one === axis ? 1 : side));
                    const last = sides.map((side, one) => (one === axis ? side - 1 : 0));
                    assertSameBytes(cut(boxes[n], sides, last, flat),
                        cut(boxes[beyond], sidesOf(corners[beyond]), [0, 0, 0], flat), `${'xyz'[axis]} at ${corner}`);
                }
        }));

    it('share their faces up to the coordinate limit', () => eachRow(STEPS.flatMap((step) => [
        [step, [FAR, FAR, FAR]], [step, [-FAR, -FAR, -FAR]], [step, [FAR, -FAR, 0n]], [step, [0n, FAR, -FAR]],
        [step, [-FAR, 0n, FAR]],
    ]), async ([step, corner]) => {
        const sides = [9, 9, 9];
        const from = corner.map((edge) => (edge > 0n ? edge - 8n * step : edge));
        const whole = await volume(from, sides, { step });
        for (const by of [[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4], [4, 4, 4]])
            assertSameBytes(await volume(moved(from, by, step), [5, 5, 5], { step }),
                cut(whole, sides, by, [5, 5, 5]), `from ${by}`);
    }));

    it('have every other sample of volumes with half the step', () => eachRow(
        STEPS.slice(1).flatMap((step) => CROSSINGS.map((at) => [step, at])), async ([step, at]) => {
            const coarse = await volume(at, [5, 4, 6], { step });
            const fine = await volume(at, [9, 7, 11], { step: step / 2n });
            assertSameBytes(coarse, cut(fine, [9, 7, 11], [0, 0, 0], [5, 4, 6], { every: 2 }), 'coarse and fine');
        }));

    it('are ordered by z, then y, then x, with x fastest', async () => {
        const at = [blocks(30), blocks(-20), blocks(-64)], sides = [19, 23, 29];
        const whole = await volume(at, sides);
        const row = [19, 1, 1], column = [1, 23, 1], pillar = [1, 1, 29];
        await eachRow([[row, [0, 5, 7]], [row, [0, 22, 28]], [column, [18, 0, 3]], [column, [4, 0, 28]],
            [pillar, [18, 0, 0]], [pillar, [2, 21, 0]], [[1, 1, 1], [7, 11, 13]], [[1, 1, 1], [18, 22, 28]]],
        async ([part, by]) => {
            assertSameBytes(await volume(moved(at, by, BLOCK), part), cut(whole, sides, by, part), `${part} from ${by}`);
        });
        // With few distinct samples, any order would pass.
        assert.ok(new Set(floats(whole)).size > whole.length / 4 / 10, 'too few distinct samples');
    });

    it('have a default step of one block', async () => {
        const at = [-blocks(5) + 1n, 3n, blocks(2)];
        assertSameBytes(await volume(at, [9, 7, 5]), await volume(at, [9, 7, 5], { step: BLOCK }), 'step=1');
    });

    it('equal their slices, at any size', () => eachRow([
        [1, 1, 1], [16, 16, 16], [17, 17, 17], [33, 33, 33], [65, 65, 65], [2, 3, 5], [4097, 1, 1], [1, 4097, 1],
        [1, 1, 4097], [257, 257, 1], [257, 1, 257], [1, 257, 257], [4097, 2, 3], [3, 2, 4097], [2, 4097, 3],
        // Around the size from which volumes are streamed, 2^18 samples.
        [64, 64, 64], [64, 64, 65], [65, 64, 64], [100, 100, 27], [513, 3, 171],
        // Narrow, deep in the ground, and in a slow world: made in slices.
        [1, 63, 4097], [5, 200, 250], [100, 90, 20, 'slow'], [1, 63, 400, 'slow'], [200, 300, 9, 'slow'],
    ], async ([width, height, depth, world]) => {
        const sides = [width, height, depth], options = { world };
        const at = [-blocks(20) + 1n, blocks(500), -blocks(3800)];
        const whole = await volume(at, sides, options);
        assert.equal(whole.length, sides.reduce((a, b) => a * b) * 4);
        for (let axis = 0; axis < 3; axis++)
            for (const i of new Set([0, 1, sides[axis] >> 1, sides[axis] - 2, sides[axis] - 1])) {
                if (i < 0 || i >= sides[axis])
                    continue;
                const flat = sides.map((side, one) => (one === axis ? 1 : side));
                const by = sides.map((_, one) => (one === axis ? i : 0));
                assertSameBytes(await volume(moved(at, by, BLOCK), flat, options), cut(whole, sides, by, flat),
                    `${'xyz'[axis]} = ${i}`);
            }
    }));
});

/* How many blocks of a volume's ground are connected to none of its sides. */
function floatingBlocks(density, [width, height, depth]) {
    const isGround = density.map((value) => (value > 0 ? 1 : 0)), slice = width * height;
    const stack = [];
    const reach = (at) => {
        if (isGround[at] === 1) {
            isGround[at] = 2;
            stack.push(at);
        }
    };
    const sides = (at) => [at % width, Math.floor(at / width) % height, Math.floor(at / slice)];
    isGround.forEach((ground, at) => {
        if (ground && sides(at).some((i, axis) => i === 0 || i === [width, height, depth][axis] - 1))
            reach(at);
    });
    while (stack.length) {
        const at = stack.pop();
        for (const to of [at - 1, at + 1, at - width, at + width, at - slice, at + slice])
            reach(to);      // those on the sides are reached already
    }
    return isGround.filter((ground) => ground === 1).length;
}

describe('volumes of the built-in worlds', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ builtIn: true });

    it('share their faces', () => eachRow(BUILT_IN.flatMap((world) => [[world, BLOCK], [world, blocks(4)]]), async ([world, step]) => {
        const at = [blocks(100), -blocks(300), -blocks(40)], sides = [9, 9, 9];
        const whole = await box(daemon, at, sides, { world, step });
        for (const by of [[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]])
            assertSameBytes(await box(daemon, moved(at, by, step), [5, 5, 5], { world, step }),
                cut(whole, sides, by, [5, 5, 5]), `from ${by}`);
    }));

    it('end near the height of the maps', () => eachRow(BUILT_IN, async (world) => {
        const { height, surface } = await daemon.json(`/${world}/height?x=1000&y=2000`);
        const low = Math.floor(Math.min(height, surface)) - 64;
        const column = floats(await box(daemon, [blocks(1000), blocks(2000), blocks(low)], [1, 1, 257], { world }));
        assert.ok(column.every(Number.isFinite));
        assert.ok(column[256] < 0, 'ground far above the surface');
        const top = column.length - 1 - [...column].reverse().findIndex((density) => density > 0);
        assert.ok(Math.abs(low + top - surface) <= 1, `ground up to ${low + top}, the surface is at ${surface}`);
    }));

    // Two blocks at a cliff.
    known('have no piece of ground that floats', () => eachRow([['alps', -1004141, 256651, 1168]], async ([world, ...at]) => {
        const sides = [64, 64, 64];
        const count = floatingBlocks(floats(await box(daemon, at.map(blocks), sides, { world })), sides);
        assert.ok(count === 0, `${count} blocks float`);
    }));
});

describe('the ground', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG });
    /* Positions all over the plane: [x, y]. */
    const places = [[0n, 0n], [blocks(54321), -blocks(12345)], [-blocks(2 ** 30), blocks(2 ** 31)], [FAR - blocks(40), -FAR]];

    it('is below the air', () => eachRow(places, async ([x, y]) => {
        const { range: [min, max] } = await daemon.json('/default.json');
        // 2000 m clear the highest overhangs; deep down there may be caves.
        const high = floats(await box(daemon, [x, y, blocks(Math.ceil(max)) + blocks(2000)], [33, 33, 9]));
        assert.ok(high.every((density) => density < 0), 'ground far above the range');
        const deep = floats(await box(daemon, [x, y, blocks(Math.floor(min)) - blocks(2000)], [33, 33, 9]));
        const solid = deep.filter((density) => density > 0).length / deep.length;
        assert.ok(solid > 0.6, `only ${(100 * solid).toFixed(0)} % of the deep is ground`);
    }));

    it('ends near the height of the maps', () => eachRow(places, async ([x, y]) => {
        const { height } = await daemon.json(`/default/height?x=${decimal(x)}&y=${decimal(y)}`);
        const surface = BigInt(Math.round(height));
        const side = 257, half = 128n;
        const column = floats(await box(daemon, [x, y, (surface - half) * BLOCK], [1, 1, side]));
        assert.ok(column.every(Number.isFinite));
        assert.ok(column[side - 1] < 0, 'ground 128 m above the surface');
        assert.ok(column.some((density) => density > 0), 'no ground in 128 m below the surface');
        const above = floats(await box(daemon, [x, y, FAR], [5, 5, 1]));
        assert.ok(above.every((density) => density < 0), 'ground at the top of the world');
    }));

    it('has density height - z without caves and overhangs', () => eachRow(
        [...CROSSINGS, [FAR, -FAR, FAR], [-FAR, FAR, -FAR]].flatMap((at) => [1n, 512n, BLOCK].map((step) => [at, step])),
        async ([meeting, step]) => {
            const sides = [3, 2, 5];
            const at = meeting.map((value, axis) => (value > 0n ? value - BigInt(sides[axis] - 1) * step : value));
            const density = floats(await box(daemon, at, sides, { step, world: 'bare' }));
            for (let j = 0; j < 2; j++)
                for (let i = 0; i < 3; i++) {
                    const [x, y] = moved(at.slice(0, 2), [i, j], step);
                    const { height } = await daemon.json(`/bare/height?x=${decimal(x)}&y=${decimal(y)}`);
                    for (let k = 0; k < 5; k++) {
                        const z = Number(at[2] + BigInt(k) * step) / 1024;
                        const here = density[(k * 2 + j) * 3 + i];
                        assert.ok(sameFloat(here, Math.fround(height) - z), `${i}, ${j}, ${k}: ${here}, ${height} m at ${z}`);
                    }
                }
        }));

    it('depends on the seed', async () => {
        const [a, b] = await Promise.all(['default', 'other'].map((world) =>
            box(daemon, [0n, 0n, blocks(-100)], [17, 17, 17], { world })));
        assert.ok(!a.equals(b));
    });
});

describe('large volumes', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: `limits: { wait: 60000 }\n${CONFIG}` });
    let column = 0;
    const large = (world = 'default', sides = [256, 256, 256]) =>
        target([blocks(512 * ++column), 0n, -blocks(100)], sides, { world });

    it('are not held completely in memory', async () => {
        await daemon.bytes(large('default', [65, 65, 65]));
        const growth = await peakGrowth(daemon.pid, () => withStreams(daemon, [large(), large(), large()],
            async ([first, second]) => {
                await Promise.all([first.rest(), second.read(1000000)]);
                assert.equal(first.received, 2 ** 26);
            }));
        if (!sanitized)
            assert.ok(growth < 16 * MEBIBYTE, `grown by ${(growth / MEBIBYTE).toFixed(1)} MiB`);
    });

    it('are cancelled when the client disconnects', async () => {
        const stream = await open(daemon, large('slow'));
        await stream.read(100000);
        stream.leave();
        assert.ok(await rests(daemon.pid), 'the computation goes on');
    });

    it('do not delay other requests', () => withStreams(daemon, [large('slow'), large('slow'), large('slow')], async (streams) => {
        await assertNotDelayed(daemon, streams.map((stream) => stream.flow()), {
            'a tile': () => `/default/height/12/${++column}/7.f32`,
            'a volume': () => target([0n, 0n, blocks(++column)], [17, 17, 17]),
            '/healthz': () => '/healthz',
        }, 8);
    }));

    it('count towards the limit of streams', async () => {
        const narrow = await new Daemon({ config: `shards: 1\nlimits: { streams: 1 }\n${CONFIG}` }).start();
        try {
            await withStreams(narrow, [large()], async () => {
                const answer = await narrow.get(large());
                assertError(answer, 503);
                assert.match(answer.headers['retry-after'], /^[1-9]\d*$/);
                assertStatus(await narrow.get(target([0n, 0n], [1025, 1025])), 503);
                assertStatus(await narrow.get(target([0n, 0n, 0n], [16, 16, 16])), 200);
            });
        } finally {
            await narrow.quit();
        }
    });
});

describe('volumes of seeds', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: 'worlds:\n  - name: default\n    seeds: any\n' });

    it('equal those of a world configured with that seed', () => eachRow(['42', '18446744073709551615'], async (seed) => {
        const alone = await new Daemon({ config: `worlds:\n  - name: seeded\n    seed: ${seed}\n` }).start();
        try {
            const box = [[-blocks(9), blocks(3), -blocks(50)], [33, 17, 65]];
            const [here, there] = [await daemon.get(target(...box, { world: `default:${seed}` })),
                await alone.get(target(...box, { world: 'seeded' }))];
            assertStatus(here, 200);
            assertSameBytes(here.body, there.body, 'density');
            assert.equal(here.headers['farlands-fingerprint'], there.headers['farlands-fingerprint']);
            assert.ok(!here.body.equals(await daemon.bytes(target(...box))), 'the same for all seeds');
        } finally {
            await alone.quit();
        }
    }));
});
