// Heights are exact: a point, a raw tile, a finer zoom and a double-density tile
// have the same float at the same block, anywhere.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HALVES, MALFORMED, ROUNDED, THOUSANDS } from './boxes.mjs';
import { useDaemon } from './daemon.mjs';
import { LIMIT, NATIVE_ZOOM, decimal, floats, sameFloat, unitsAt, words } from './grid.mjs';
import { decodePng } from './png.mjs';
import { assertError, assertStatus, eachRow } from './table.mjs';
import { TIMEOUT } from './program.mjs';

const FAR = 2n ** 44n;
const EXACT = 10;       // zoom: tiles of coarser ones are filtered

/* Tiles all over the plane: [z, x, y]. */
const PLACES = [
    [16, 32768, 32768],             // its first sample is block 0, 0
    [16, 32767, 32767],             // blocks just below zero
    [16, 0, 0], [16, -1, -1], [16, -70000, 123456],
    [10, 512, 511], [10, -3, 700], [3, 4, 3], [0, 0, 0], [-1, 0, -1], [-12, 1, -2], [-26, -3, 3],
    [17, 65536, 65535], [20, 524288, 524287], [26, 33554432, 33554431],
    [16, FAR, -FAR + 32769n], [26, FAR * 1024n, -FAR * 1023n],
];
/* Those that a region can have: samples are up to 2^20 blocks apart. */
const NEAR = PLACES.filter(([z]) => z >= -4);

const POINTS = [
    // x, y
    ['0', '0'], ['1', '-1'], ['0.5', '0.5'], ['-0.5', '0.25'], ['-3.0009765625', '3.0009765625'],
    ['0.0009765625', '-0.0009765625'], ['123456789.125', '-987654321.0625'],
    ['4503599627370496', '-4503599627370496'], ['-4503599627370496', '4503599627370496'],
    ['4503599627370495.5', '-4503599627370495.5'], ['-8388608', '8388607'],
];

describe('/height', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon();

    it('returns the block and its height', () => eachRow(POINTS, async ([x, y]) => {
        const { range: [min, max] } = await daemon.json('/default.json');
        const answer = await daemon.get(`/default/height?x=${x}&y=${y}`);
        assertStatus(answer, 200);
        assert.match(answer.headers['content-type'], /^application\/json\b/);
        assert.equal(answer.headers['access-control-allow-origin'], '*');
        const point = JSON.parse(answer.body);
        assert.deepEqual(Object.keys(point).sort(), ['height', 'normal', 'slope', 'surface', 'x', 'y']);
        assert.deepEqual([point.x, point.y], [Number(x), Number(y)]);
        assert.ok(point.height >= min && point.height <= max, `height ${point.height}`);
        assert.deepEqual(await daemon.bytes(`/default/height?y=${y}&x=${x}`), answer.body,
            'with y first');
    }));

    it('resolves 1/1024 block near the limit', async () => {
        // Points so close that a double cannot distinguish their coordinates.
        const heights = [];
        for (let i = 0n; i < 64n; i++) {
            const x = decimal((LIMIT - 1n) * 1024n + i * 16n);
            heights.push((await daemon.json(`/default/height?x=${x}&y=12345.5`)).height);
        }
        assert.ok(new Set(heights).size > 32, `${new Set(heights).size} heights for 64 points`);
    });

    it('accepts every spelling of a number', () => eachRow(
        [...THOUSANDS.map((text) => [text, '1000']), ...HALVES.map((text) => [text, '0.5']), ['-0', '0'], ['+0.0', '0'], ['0e999', '0'],
            ['4.503599627370496e15', '4503599627370496'], ['-45035996273704959990234375e-10', '-4503599627370495.9990234375']],
        async ([text, plain]) => {
            const [one, other] = [await daemon.get(`/default/height?x=${text}&y=-3`), await daemon.get(`/default/height?x=${plain}&y=-3`)];
            assertStatus(one, 200);
            assert.deepEqual(one.body.toString(), other.body.toString());
            assert.equal(one.headers.etag, other.headers.etag);
        }));

    it('rounds places to 1/1024 block, and returns those', () => eachRow(
        ROUNDED.flatMap(([text, nearest]) => [[`x=${text}&y=7`, `x=${nearest}&y=7`], [`x=7&y=${text}`, `x=7&y=${nearest}`]]),
        async ([text, nearest]) => {
            const [one, other] = [await daemon.get(`/default/height?${text}`), await daemon.get(`/default/height?${nearest}`)];
            assertStatus(one, 200);
            const [, x, y] = /^\{"x":([^,]*),"y":([^,]*),/.exec(one.body.toString());
            assert.equal(`x=${x}&y=${y}`, nearest);
            assert.deepEqual(one.body.toString(), other.body.toString());
            assert.equal(one.headers.etag, other.headers.etag);
        }));

    it('rejects unknown keys, and names the nearest', () => eachRow([
        ['X=1&y=1', /^'X' is not a parameter of height; did you mean 'x'\?$/],
        ['x=1&y=1&z=1', /^'z' is not a parameter of height; expected x, y, fields$/],
        ['x=1&y=1&_=17', /^'_' is not a parameter of height; expected x, y, fields$/],
        ['x=1&amp;y=1', /^'amp;y' is not a parameter of height; expected x, y, fields$/],
    ], async ([query, message]) => assertError(await daemon.get(`/default/height?${query}`), 400, message)));

    const bad = [...MALFORMED, '0,5', '0.5f', '5%', '1%20000'];
    it('rejects malformed decimals', () => eachRow(
        [...bad.map((text) => ['x', text]), ...bad.map((text) => ['y', text])],
        async ([key, text]) => {
            const query = key === 'x' ? `x=${text}&y=0` : `x=0&y=${text}`;
            assertError(await daemon.get(`/default/height?${query}`), 400,
                new RegExp(text.includes('%') ? '%|percent|\\b[xy]\\b' : `\\b${key}\\b`));
        }));

    it('requires x and y exactly once', () => eachRow([
        '', '?', '?x=1', '?y=1', '?x=1&y', '?x&y', '?x=1&x=1&y=1', '?x=1&y=1&y=2', '?X=1&Y=1',
        '?x=1;y=1', '?at=1,1',
    ], async (query) => {
        assertError(await daemon.get(`/default/height${query}`), 400, /\b[xy]\b/);
    }));

    it('rejects coordinates beyond the limit', () => eachRow([
        ['x', '4503599627370497', [404]],
        ['x', '-4503599627370497', [404]],
        ['x', '4503599627370496.5', [404]],
        ['x', '-4503599627370496.0009765625', [404]],
        ['x', '9223372036854775807', [404]],
        ['x', '18014398509481984', [404]],
        // 2^64 blocks overflow an int64, and a wrapped value would be 0.
        ['x', '18446744073709551616', [400, 404]],
        ['x', '99999999999999999999999', [400, 404]],
        ['x', '1e400', [404]],
        ['x', '-1e99999999999999999999', [404]],
        ['y', '4503599627370496.0005', [404]],
        ['y', `1${'0'.repeat(7000)}`, [404]],
        ['y', '4503599627370497', [404]],
        ['y', '-9007199254740992', [404]],
        ['y', '-9223372036854775808', [404]],
    ], async ([key, text, status]) => {
        const query = key === 'x' ? `x=${text}&y=0` : `x=0&y=${text}`;
        assertError(await daemon.get(`/default/height?${query}`), status, /\b[xy]\b|limit|coordinate/);
    }));
});

describe('raw heights', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon();
    const tile = async (z, x, y, form = '.f32') =>
        floats(await daemon.bytes(`/default/height/${z}/${x}/${y}${form}`));
    /* The exact heights of a tile, where samples are more than 64 blocks apart as a region. */
    const exact = async (z, x, y, form = '.f32') => {
        const dense = form.startsWith('@2x') ? 1 : 0, side = 256 << dense;
        if (z + dense >= EXACT)
            return tile(z, x, y, form);
        const [east, south] = [unitsAt(z, x, 0), unitsAt(z, y, 0)].map(decimal);
        return floats(await daemon.bytes(`/default/region.f32?x=${east}&y=${south}&width=${side}&height=${side}` +
            `&step=${2n ** BigInt(NATIVE_ZOOM - z - dense)}`));
    };

    it('equal /height at the same block', () => eachRow(NEAR, async ([z, x, y]) => {
        const samples = await exact(z, x, y);
        for (const [i, j] of [[0, 0], [1, 0], [0, 1], [255, 0], [0, 255], [255, 255], [100, 37]]) {
            const at = `x=${decimal(unitsAt(z, x, i))}&y=${decimal(unitsAt(z, y, j))}`;
            const { height } = await daemon.json(`/default/height?${at}`);
            assert.ok(sameFloat(height, samples[256 * j + i]),
                `sample ${i}, ${j} is ${samples[256 * j + i]}, /height?${at} is ${height}`);
        }
    }));

    it('vary and stay in the range everywhere', () => eachRow(NEAR, async ([z, x, y]) => {
        const { range: [min, max] } = await daemon.json('/default.json');
        const samples = await exact(z, x, y);
        assert.ok(samples.every((h) => h >= min && h <= max), 'outside the range');
        const distinct = new Set(samples).size;
        // A tile of zoom 26 is a quarter of a block wide, so floats repeat.
        assert.ok(distinct > (z <= 17 ? 20000 : 8), `only ${distinct} heights`);
        for (let row = 1; row < 256; row++)
            assert.notDeepEqual(samples.subarray(256 * row, 256 * row + 256), samples.subarray(0, 256),
                `row ${row} repeats row 0`);
    }));

    it('include every sample of the previous zoom', () => eachRow(
        NEAR.filter(([z]) => z < 26), async ([z, x, y]) => {
            const coarse = await exact(z, x, y);
            for (const [right, down] of [[0n, 0n], [1n, 0n], [0n, 1n], [1n, 1n]]) {
                const fine = await exact(z + 1, 2n * BigInt(x) + right, 2n * BigInt(y) + down);
                for (let j = 0; j < 128; j++)
                    for (let i = 0; i < 128; i++) {
                        const parent = coarse[256 * (j + 128 * Number(down)) + i + 128 * Number(right)];
                        assert.ok(sameFloat(fine[512 * j + 2 * i], parent),
                            `child ${right}, ${down}: sample ${2 * i}, ${2 * j}`);
                    }
            }
        }));

    it('at double density include every sample of the plain tile', () => eachRow(
        NEAR.filter(([z]) => z < 26), async ([z, x, y]) => {
            const plain = await exact(z, x, y);
            const dense = await exact(z, x, y, '@2x.f32');
            for (let j = 0; j < 256; j++)
                for (let i = 0; i < 256; i++)
                    assert.ok(sameFloat(dense[1024 * j + 2 * i], plain[256 * j + i]), `sample ${i}, ${j}`);
        }));

    it('share no column with their neighbors', async () => {
        const [left, right] = [await tile(16, 32767, 5), await tile(16, 32768, 5)];
        const last = left.filter((_, i) => i % 256 === 255);
        const first = right.filter((_, i) => i % 256 === 0);
        assert.notDeepEqual(last, first);
    });

    it('agree with the 16-bit files and pictures', () => eachRow(
        PLACES.flatMap((place) => [[...place, ''], [...place, '@2x']])
            .filter(([z, , , density]) => z < 26 || density === ''), async ([z, x, y, density]) => {
            const { range: [min, max] } = await daemon.json('/default.json');
            const heights = await tile(z, x, y, `${density}.f32`);
            const coded = words(await daemon.bytes(`/default/height/${z}/${x}/${y}${density}.r16`));
            const image = decodePng(await daemon.bytes(`/default/height/${z}/${x}/${y}${density}.png`));
            assert.equal(image.depth, 16);
            assert.deepEqual(image.samples, coded, 'height.png and height.r16');
            heights.forEach((h, i) => {
                const expected = Math.round((h - min) / (max - min) * 65535);
                assert.ok(Math.abs(coded[i] - expected) <= 1,
                    `sample ${i}: ${h} m is ${coded[i]}, expected ${expected}`);
            });
        }));

    it('agree with the gray layer at zooms where no octave is filtered', () => eachRow(
        [[16, 32768, 32768], [16, -1, -1], [20, 524288, 524287]], async ([z, x, y]) => {
            const { range: [min, max] } = await daemon.json('/default.json');
            const heights = await tile(z, x, y);
            const { samples } = decodePng(await daemon.bytes(`/default/gray/${z}/${x}/${y}.png`));
            heights.forEach((h, i) => {
                const expected = (h - min) / (max - min) * 255;
                assert.ok(Math.abs(samples[i] - expected) <= 1.01,
                    `sample ${i}: ${h} m is ${samples[i]}, expected ${expected}`);
            });
        }));

    it('have headers that describe them', () => eachRow(
        PLACES.flatMap(([z, x, y]) => ['.f32', '.r16', '@2x.f32', '@2x.r16'].map((form) => [z, x, y, form]))
            .filter(([z, , , form]) => z < 26 || !form.includes('@')), async ([z, x, y, form]) => {
            const world = await daemon.json('/default.json');
            const { headers, status } = await daemon.get(`/default/height/${z}/${x}/${y}${form}`);
            assert.equal(status, 200);
            const size = form.includes('@') ? 512 : 256;
            assert.equal(headers['content-type'], 'application/octet-stream');
            assert.equal(headers['farlands-width'], String(size));
            assert.equal(headers['farlands-height'], String(size));
            assert.equal(headers['farlands-origin'],
                `${decimal(unitsAt(z, x, 0))} ${decimal(unitsAt(z, y, 0))}`);
            const step = 2n ** BigInt(NATIVE_ZOOM - z + 10) / (size === 512 ? 2n : 1n);
            assert.equal(headers['farlands-step'], decimal(step));
            assert.deepEqual(headers['farlands-range'].split(' ').map(Number), world.range);
            assert.equal(headers['farlands-fingerprint'], world.layers.find(({ name }) => name === 'height').fingerprint);
        }));
});
