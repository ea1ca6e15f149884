// Regions, any rectangle of samples, for game servers: chunks and levels of detail join
// exactly, at any size, anywhere.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BLOCK, FAR, STEPS, assertSameBytes, blocks, cut, target } from './boxes.mjs';
import { Daemon, useDaemon } from './daemon.mjs';
import { NATIVE_ZOOM, decimal, floats, sameFloat, unitsAt, words } from './grid.mjs';
import { decodePng } from './png.mjs';
import { TIMEOUT } from './program.mjs';
import { assertError, assertStatus, eachRow } from './table.mjs';

/* quick: for large regions if only their layout matters. */
const CONFIG = `worlds:
  - name: default
  - name: quick
    noise: { octaves: 3, wavelength: 4096 }
  - name: slow
    noise: { octaves: 64, lacunarity: 1.0625, warp: { amplitude: 300, wavelength: 4096 } }
`;

const FORMS = ['f32', 'r16', 'png'];
const RAW = ['f32', 'r16'];

/* Corners shared by four regions, in 1/1024 blocks: [x, y]. */
const CROSSINGS = [
    [0n, 0n], [1n, -1n], [-blocks(7), blocks(1000003) + 513n],
    [FAR / 4n + 3n, -FAR / 4n + 1n],
];

describe('regions', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG });
    const region = (at, sides, options) => daemon.bytes(target(at, sides, options));

    it('share their edges with their neighbors, at every step', () => eachRow(
        STEPS.flatMap((step) => CROSSINGS.map((at) => [step, at])), async ([step, [x, y]]) => {
            // Different sizes, so that an error that depends on the size shows.
            const [west, east, north, south] = [17, 9, 12, 20];
            const [left, top] = [x - BigInt(west - 1) * step, y - BigInt(north - 1) * step];
            const [nw, ne, sw, se] = await Promise.all([
                region([left, top], [west, north], { step }), region([x, top], [east, north], { step }),
                region([left, y], [west, south], { step }), region([x, y], [east, south], { step }),
            ]);
            assertSameBytes(cut(nw, [west, north], [west - 1, 0], [1, north]),
                cut(ne, [east, north], [0, 0], [1, north]), 'the northern two');
            assertSameBytes(cut(sw, [west, south], [west - 1, 0], [1, south]),
                cut(se, [east, south], [0, 0], [1, south]), 'the southern two');
            assertSameBytes(cut(nw, [west, north], [0, north - 1], [west, 1]),
                cut(sw, [west, south], [0, 0], [west, 1]), 'the western two');
            assertSameBytes(cut(ne, [east, north], [0, north - 1], [east, 1]),
                cut(se, [east, south], [0, 0], [east, 1]), 'the eastern two');
        }));

    it('share their edges up to the coordinate limit', () => eachRow(STEPS.flatMap((step) => [
        [step, FAR, FAR], [step, FAR, -FAR], [step, -FAR, FAR], [step, -FAR, -FAR],
    ]), async ([step, x, y]) => {
        // A region at the corner of the world, and four quarters of it that share its middle.
        const side = 33, half = 17n;
        const from = (edge) => (edge > 0n ? edge - BigInt(side - 1) * step : edge);
        const [left, top] = [from(x), from(y)];
        const whole = await region([left, top], [side, side], { step });
        await eachRow([[0n, 0n], [half - 1n, 0n], [0n, half - 1n], [half - 1n, half - 1n]], async ([i, j]) => {
            const quarter = await region([left + i * step, top + j * step], [17, 17], { step });
            assertSameBytes(quarter, cut(whole, [side, side], [Number(i), Number(j)], [17, 17]), `from ${i}, ${j}`);
        });
    }));

    it('have every other sample of regions with half the step', () => eachRow(
        STEPS.slice(1).flatMap((step) => [...CROSSINGS, [FAR - 16n * step, -FAR]].map((at) => [step, at])),
        async ([step, at]) => {
            const coarse = await region(at, [17, 13], { step });
            const fine = await region(at, [33, 25], { step: step / 2n });
            assertSameBytes(coarse, cut(fine, [33, 25], [0, 0], [17, 13], { every: 2 }), 'coarse and fine');
        }));

    it('equal the tiles bit for bit', () => eachRow([
        [16, 32768, 32768], [16, 32767, 32767], [16, -1, -70000], [10, 512, 511], [11, 4, -3], [12, 0, -1],
        [20, 524288, 524287], [26, 33554432, 33554431], [16, 2n ** 43n, -(2n ** 43n)],
        [26, 2n ** 53n, -(2n ** 53n) + 1n],
    ], async ([z, x, y]) => {
        const at = [unitsAt(z, x, 0), unitsAt(z, y, 0)];
        const step = 2n ** BigInt(NATIVE_ZOOM - z + 10);
        for (const form of RAW)
            assertSameBytes(await region(at, [256, 256], { step, form }),
                await daemon.bytes(`/default/height/${z}/${x}/${y}.${form}`), form);
        const [a, b] = [await region(at, [256, 256], { step, form: 'png' }),
            await daemon.bytes(`/default/height/${z}/${x}/${y}.png`)].map(decodePng);
        assert.deepEqual([a.depth, a.color, a.width, a.height], [16, 'gray', 256, 256]);
        assert.deepEqual(a.samples, b.samples, 'pixels');
    }));

    it('equal /height bit for bit', () => eachRow(
        STEPS.filter((_, i) => i % 3 === 0).flatMap((step) =>
            [...CROSSINGS, [-FAR, FAR - 8n * step]].map((at) => [step, at])),
        async ([step, [x, y]]) => {
            const samples = floats(await region([x, y], [11, 9], { step }));
            for (const [i, j] of [[0, 0], [10, 0], [0, 8], [10, 8], [4, 7]]) {
                const at = `x=${decimal(x + BigInt(i) * step)}&y=${decimal(y + BigInt(j) * step)}`;
                const { height } = await daemon.json(`/default/height?${at}`);
                assert.ok(sameFloat(height, samples[11 * j + i]),
                    `sample ${i}, ${j} is ${samples[11 * j + i]}, /height?${at} is ${height}`);
            }
        }));

    it('resolve 1/1024 block at the limit', async () => {
        // Samples 4/1024 block apart, which a double cannot distinguish here.
        const samples = floats(await region([FAR - 252n, FAR], [64, 1], { step: 4n }));
        assert.ok(new Set(samples).size > 16, `${new Set(samples).size} heights for 64 places`);
    });

    it('have a default step of one block', async () => {
        const at = [-blocks(5) + 1n, 3n];
        assertSameBytes(await region(at, [9, 7]), await region(at, [9, 7], { step: BLOCK }), 'step=1');
    });

    it('accept parameters in any order', async () => {
        const one = await daemon.get('/default/region.f32?x=-3&y=7.5&width=5&height=6&step=0.5');
        const other = await daemon.get('/default/region.f32?step=0.5&height=6&width=5&y=7.5&x=-3');
        assert.deepEqual([one.status, other.status], [200, 200]);
        assert.deepEqual(one.body, other.body);
        assert.equal(one.headers.etag, other.headers.etag);
    });

    it('agree with the 16-bit files and pictures', () => eachRow([
        ['default', [0n, 0n], [129, 127], BLOCK], ['default', [-FAR, FAR - blocks(40)], [33, 21], BLOCK],
        ['default', [-blocks(2 ** 30), 0n], [127, 65], blocks(2 ** 20)], ['quick', [1n, -1n], [1009, 505], 512n],
        ['default', [5n, 5n], [1, 1], 1n], ['default', [5n, 5n], [4097, 1], 1n], ['default', [5n, 5n], [1, 4097], 1n],
    ], async ([world, at, sides, step]) => {
        const { range: [min, max] } = await daemon.json(`/${world}.json`);
        const heights = floats(await region(at, sides, { step, world }));
        const coded = words(await region(at, sides, { step, world, form: 'r16' }));
        const image = decodePng(await region(at, sides, { step, world, form: 'png' }));
        assert.deepEqual([image.depth, image.color, image.width, image.height], [16, 'gray', ...sides]);
        assert.deepEqual(image.samples, coded, 'png and r16');
        heights.forEach((h, i) => {
            const exact = (h - min) / (max - min) * 65535;
            // The nearest code, up to float rounding.
            assert.ok(Math.abs(coded[i] - exact) < 0.51, `sample ${i}: ${h} m is ${coded[i]}, expected ${exact}`);
        });
    }));
});

/* Sizes that Unity (2^n + 1) and Unreal use, and the smallest. */
const SQUARES = [1, 2, 17, 33, 65, 127, 129, 253, 257, 505, 513, 1009, 1025];
const LARGE = [2017, 2049, 4033, 4097];

describe('regions of any size', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG });
    const region = (at, sides, options) => daemon.bytes(target(at, sides, options));
    const at = [-blocks(700) + 3n, -blocks(40)];
    const world = 'quick';

    /* Assert that rows and columns of WHOLE equal the regions of these rows and columns. */
    async function assertParts(whole, sides, rows, columns, options, size) {
        const [width, height] = sides;
        const { step = BLOCK } = options;
        const part = (i, j, count) => region([at[0] + BigInt(i) * step, at[1] + BigInt(j) * step], count, options);
        for (const j of rows)
            assertSameBytes(cut(whole, sides, [0, j], [width, 1], { size }), await part(0, j, [width, 1]), `row ${j}`);
        for (const i of columns)
            assertSameBytes(cut(whole, sides, [i, 0], [1, height], { size }), await part(i, 0, [1, height]), `column ${i}`);
    }

    /* COUNT indices below SIDE, including the first and the last. */
    const some = (side, count) => [...new Set(Array.from({ length: count }, (_, i) =>
        Math.round(i * (side - 1) / (count - 1))))];

    it('equal their rows and columns', () => eachRow([
        ...SQUARES.map((side) => [side, side]),
        [1, 4097], [4097, 1], [2, 4097], [4097, 2], [4097, 63], [65, 4097], [3, 1000], [1000, 3],
        // Around the size from which regions are streamed, 2^18 samples.
        [512, 512], [513, 511], [513, 512], [512, 513], [4096, 64], [4096, 65], [64, 4096], [64, 4097],
    ], async (sides) => {
        const [width, height] = sides;
        for (const [form, size] of [['f32', 4], ['r16', 2]]) {
            const options = { world, form };
            const whole = await region(at, sides, options);
            assert.equal(whole.length, width * height * size);
            await assertParts(whole, sides, some(height, 9), some(width, 4), options, size);
        }
    }));

    // These take so long that they are made in slices, between which other requests have their turn.
    it('equal their rows and columns in a slow world', () => eachRow([[300, 200], [1, 4097], [4097, 30], [601, 433]], async (sides) => {
        const [width, height] = sides;
        for (const [form, size] of [['f32', 4], ['r16', 2]]) {
            const options = { world: 'slow', form };
            const whole = await region(at, sides, options);
            assert.equal(whole.length, width * height * size);
            await assertParts(whole, sides, some(height, 7), some(width, 2), options, size);
        }
    }));

    it('can be large r16 squares for Unity and Unreal', () => eachRow([2017, 2049], async (side) => {
        const sides = [side, side], options = { world, form: 'r16' };
        const whole = await region(at, sides, options);
        await assertParts(whole, sides, some(side, 33), some(side, 5), options, 2);
        // All rows differ, so a repeated or missing band shows.
        const rows = new Set(Array.from({ length: side }, (_, j) =>
            whole.toString('latin1', j * side * 2, (j + 1) * side * 2)));
        assert.equal(rows.size, side, 'distinct rows');
    }));

    it('can have up to 4097 x 4097 samples', async () => {
        const side = 4097, sides = [side, side];
        const options = { step: 2048n };
        const whole = await region(at, sides, options);
        assert.equal(whole.length, side * side * 4);
        // Bands may begin at any row: test evenly spaced rows and those around powers of two.
        const rows = [...some(side, 48), ...[64, 128, 256, 512, 1024, 2048].flatMap((j) => [j - 1, j, j + 1])];
        await assertParts(whole, sides, rows, some(side, 9), options, 4);
    });

    it('can be large pictures', () => eachRow([[1025, 1025], [4097, 129]], async (sides) => {
        const { samples } = decodePng(await region(at, sides, { world, form: 'png' }));
        assert.deepEqual(samples, words(await region(at, sides, { world, form: 'r16' })));
    }));

    it('have a known length before they are computed', () => eachRow(
        [...SQUARES, ...LARGE].flatMap((side) => RAW.map((form) => [side, form])), async ([side, form]) => {
            const before = await daemon.computed();
            const { status, headers, body } = await daemon.head(target(at, [side, side], { world: 'slow', form }));
            assert.equal(status, 200);
            assert.equal(body.length, 0);
            assert.equal(Number(headers['content-length']), side * side * (form === 'f32' ? 4 : 2));
            assert.equal(await daemon.computed(), before);
        }));

    it('cannot be larger', () => eachRow(
        ['4098', '8129', '8193', '65537', '4294967297', '9223372036854775807'].flatMap((side) =>
            FORMS.flatMap((form) => ['width', 'height'].map((name) => [name, side, form]))),
        async ([name, side, form]) => {
            const other = name === 'width' ? 'height' : 'width';
            for (const query of [`${name}=${side}&${other}=1`, `${name}=${side}&${other}=4097`])
                assertError(await daemon.get(`/default/region.${form}?x=0&y=0&${query}`), 413,
                    new RegExp(`\\b${name}\\b.*\\b4097\\b`));
            assertError(await daemon.get(`/default/region.${form}?x=0&y=0&width=${side}&height=${side}`), 413, /4097/);
        }));
});

describe('regions of seeds', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: 'worlds:\n  - name: default\n    seeds: any\n  - name: fixed\n    seeds: fixed\n' });
    const at = [-blocks(100), -blocks(7) + 1n];

    it('equal those of a world configured with that seed', () => eachRow(['0', '42', '18446744073709551615'], async (seed) => {
        const alone = await new Daemon({ config: `worlds:\n  - name: seeded\n    seed: ${seed}\n` }).start();
        try {
            for (const sides of [[33, 17], [1025, 513]])
                for (const form of FORMS) {
                    const [here, there] = [await daemon.get(target(at, sides, { form, world: `default:${seed}` })),
                        await alone.get(target(at, sides, { form, world: 'seeded' }))];
                    assertStatus(here, 200);
                    assertSameBytes(here.body, there.body, form);
                    assert.equal(here.headers['farlands-fingerprint'], there.headers['farlands-fingerprint']);
                    assert.notDeepEqual(here.body, await daemon.bytes(target(at, sides, { form })));
                }
        } finally {
            await alone.quit();
        }
    }));

    it('have different ETags', async () => {
        const etags = await Promise.all(['default', 'default:3', 'default:4', 'default:34'].map(async (world) =>
            (await daemon.head(target(at, [9, 9], { world }))).headers.etag));
        assert.equal(new Set(etags).size, etags.length);
        assert.ok(etags.every(Boolean));
    });

    it('do not exist if the seed is fixed', async () => {
        assertError(await daemon.get(target(at, [9, 9], { world: 'fixed:42' })), 404);
        for (const seed of ['-1', 'abc'])
            assertError(await daemon.get(target(at, [9, 9], { world: `fixed:${seed}` })), 404);
        assertError(await daemon.get(target(at, [9, 9], { world: 'default:' })), 400, /seed: "" is blank/);
    });
});
