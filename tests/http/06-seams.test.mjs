// Pictures join without seams: pixels at a border are those of any other tiling, and
// change across the border no more than inside a tile.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useDaemon } from './daemon.mjs';
import { NATIVE_ZOOM, ORIGIN, decimal } from './grid.mjs';
import { NAMES } from './layers.mjs';
import { assertSamePart, decodePng } from './png.mjs';
import { eachRow } from './table.mjs';
import { TIMEOUT } from './program.mjs';

const REACH = 24;       // columns compared on each side of a border
const NEAR = 3;         // pairs of columns this close to the border must not stand out
const SLACK = 1.35;     // tolerated ratio; inner columns vary by a factor below 1.2
const LEVEL = 0.3;      // of 255: tolerated rounding in nearly flat pictures

/*
 * Mean absolute difference of columns i and i + 1, over all rows and channels, for pairs
 * from -REACH to REACH around the border between two adjacent images. Element REACH is
 * the border itself.
 */
function profile(left, right, vertical) {
    const size = left.width;
    const { channels } = left;
    const column = (i) => (i < 0 ? [left, size + i] : [right, i]);
    const sample = ([image, i], j, c) =>
        image.samples[(vertical ? i * size + j : j * size + i) * channels + c];
    const means = [];
    for (let i = -REACH - 1; i < REACH; i++) {
        const [a, b] = [column(i), column(i + 1)];
        let sum = 0;
        for (let j = 0; j < size; j++)
            for (let c = 0; c < channels; c++)
                sum += Math.abs(sample(a, j, c) - sample(b, j, c));
        means.push(sum / size / channels);
    }
    return means;
}

function assertNoSeam(profiles) {
    const mean = profiles[0].map((_, i) => profiles.reduce((sum, p) => sum + p[i], 0) / profiles.length);
    const inner = mean.filter((_, i) => Math.abs(i - REACH) > NEAR).sort((a, b) => b - a);
    const allowed = inner[2] * SLACK + LEVEL;
    mean.forEach((value, i) => {
        if (Math.abs(i - REACH) <= NEAR)
            assert.ok(value <= allowed, `${i - REACH} columns from the border neighbors differ by ` +
                `${value.toFixed(3)}; inside by at most ${inner[0].toFixed(3)}`);
    });
    // A border that is too smooth means a repeated column.
    assert.ok(mean[REACH] >= inner.at(-1) / SLACK - LEVEL,
        `the border's neighbors differ by only ${mean[REACH].toFixed(3)}; ` +
        `inside by at least ${inner.at(-1).toFixed(3)}`);
}

/* The default world with its grid shifted half a tile to the south-east, for one zoom each. */
const SHIFTED = [-26, 2, 10, 16, 26];
const origin = (z) => decimal(ORIGIN * 1024n + 2n ** BigInt(7 + NATIVE_ZOOM - z + 10));
const CONFIG = `worlds:\n  - name: default\n${SHIFTED.map((z) =>
    `  - name: half_${z}\n    origin: [${origin(z)}, ${origin(z)}]\n`).join('')}`;

/* A world whose relief is colored by climate, and its shifted grids. */
const CLIMATE = `
    fields:
      height: { add: [{ multiply: [{ noise: { wavelength: 8192, octaves: 12 } }, 4000] }, 300] }
      temperature:
        subtract: [{ add: [12, { multiply: [{ noise: { wavelength: 20000, octaves: 4 } }, 60] }] }, { multiply: [height, 0.0065] }]
      humidity: { clamp: { of: { add: [{ noise: { wavelength: 9000, octaves: 5 } }, 0.5] }, from: 0, to: 1 } }
      biome:
        biome:
          temperature: temperature
          humidity: humidity
          height: height
          slope: 0
          table:
            - { id: 0, name: sea, color: "#203070", height: [-.inf, 0] }
            - { id: 1, name: beach, color: "#e0d8a8", height: [0, 9] }
            - { id: 2, name: snow, color: "#f8f8ff", temperature: [-.inf, 2] }
            - { id: 3, name: forest, color: "#307030", temperature: [5, .inf], humidity: [0.5, 1] }
            - { id: 4, name: desert, color: "#d0b070", temperature: [5, .inf], humidity: [0, 0.4] }
            - { id: 5, name: rock, color: "#908880", slope: [0.7, .inf] }
`;
const CLIMATES = `  - name: climate${CLIMATE}${[6, 10, 16].map((z) =>
    `  - name: climate_${z}\n    origin: [${origin(z)}, ${origin(z)}]${CLIMATE}`).join('')}`;

/* As assertSamePart, for squares. */
const assertSame = (a, b, size, what) => assertSamePart(a, b, size, size, what);

const QUARTERS = [[0, 0], [1, 0], [0, 1], [1, 1]];

describe('seams', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG + CLIMATES });
    const images = new Map();

    async function image(tile) {
        if (!images.has(tile))
            images.set(tile, decodePng(await daemon.bytes(`/default/${tile}.png`)));
        return images.get(tile);
    }

    /* Average four adjacent borders, so that one unusual tile does not decide. */
    async function assertJoins(layer, z, border, along, vertical, density = '') {
        const profiles = [];
        for (let i = -2; i < 2; i++) {
            const name = (across) => (vertical
                ? `${layer}/${z}/${along + i}/${across}${density}`
                : `${layer}/${z}/${across}/${along + i}${density}`);
            profiles.push(profile(await image(name(border - 1)), await image(name(border)), vertical));
        }
        assertNoSeam(profiles);
    }

    const zooms = [2, 6, 10, 13, 16, 19];
    const middle = (z) => 2 ** (z - 1);     // where block 0 lies
    for (const layer of ['relief', 'gray'])
        for (const [direction, vertical] of [['vertical', false], ['horizontal', true]])
            it(`are invisible in ${layer}, ${direction} borders`, () => eachRow(zooms.flatMap((z) => [
                [z, middle(z), middle(z)],          // at block 0
                [z, 0, middle(z)],                  // between tiles -1 and 0
                [z, middle(z) + 3, -5],
            ]), ([z, border, along]) => assertJoins(layer, z, border, along, vertical)));

    it('are invisible at double density', () => eachRow(
        [[4, false], [4, true], [10, false], [10, true], [15, false], [15, true]],
        ([z, vertical]) => assertJoins('relief', z, middle(z), middle(z), vertical, '@2x')));

    it('are invisible far from the origin', () => eachRow(
        [[10, 2 ** 37], [16, 2 ** 43], [16, -(2 ** 43)]],
        ([z, border]) => assertJoins('relief', z, border, -border, false)));

    const picture = async (tile) => decodePng(await daemon.bytes(`/${tile}.png`));

    // A double-density tile covers four tiles of the next zoom, so it has their
    // borders in its interior.
    for (const layer of NAMES)
        it(`are absent from the double-density tile that covers four: ${layer}`, () => eachRow(
            [[4, 8, 7], [9, 256, 255], [13, -1, 0], [15, 16384, 16383], [25, -3, 16777215]],
            async ([z, x, y]) => {
                const dense = await picture(`default/${layer}/${z}/${x}/${y}@2x`);
                assert.equal(dense.width, 512);
                for (const [right, down] of QUARTERS)
                    assertSame([await picture(`default/${layer}/${z + 1}/${2 * x + right}/${2 * y + down}`), 0, 0],
                        [dense, 256 * right, 256 * down], 256, `quarter ${right}, ${down}`);
            }));

    // A grid that is shifted by half a tile has the borders of any tiles in its
    // interior; four tiles meet in the middle of each shifted tile.
    const CORNERS = SHIFTED.flatMap((z) => [[z, -1, -1], ...(z < 2 ? [] : [
        [z, 2 ** (z - 1) - 1, 2 ** (z - 1) - 1],    // block 0
        [z, -9, 2 ** (z - 2)],
    ])]).concat([
        [16, 2 ** 43 - 1, -(2 ** 43)],
        [26, -(2 ** 53), 2 ** 53 - 1],
    ]).map((corner) => [...corner, '']).concat([[2, 1, 1, '@2x'], [16, -1, 32767, '@2x']]);
    for (const layer of NAMES)
        it(`are absent from a grid shifted by half a tile: ${layer}`, () => eachRow(CORNERS,
            async ([z, x, y, density]) => {
                const across = await picture(`half_${z}/${layer}/${z}/${x}/${y}${density}`);
                const half = across.width / 2;
                for (const [right, down] of QUARTERS)
                    assertSame([across, half * right, half * down],
                        [await picture(`default/${layer}/${z}/${x + right}/${y + down}${density}`),
                            half * (1 - right), half * (1 - down)],
                        half, `quarter ${right}, ${down}`);
            }));

    it('are absent from relief by climate', () => eachRow([[6, 31, 31], [10, 511, 511], [16, 32767, 32770]], async ([z, x, y]) => {
        const across = await picture(`climate_${z}/relief/${z}/${x}/${y}`);
        const dense = await picture(`climate/relief/${z - 1}/${Math.floor(x / 2)}/${Math.floor(y / 2)}@2x`);
        for (const [right, down] of QUARTERS) {
            const tile = await picture(`climate/relief/${z}/${x + right}/${y + down}`);
            assert.ok(new Set(tile.samples).size > 50, 'many colors');
            assertSame([across, 128 * right, 128 * down], [tile, 128 * (1 - right), 128 * (1 - down)], 128, `shifted ${right}, ${down}`);
            const [i, j] = [x + right - 2 * Math.floor(x / 2), y + down - 2 * Math.floor(y / 2)];
            if (i < 2 && j < 2)
                assertSame([tile, 0, 0], [dense, 256 * i, 256 * j], 256, `dense ${i}, ${j}`);
        }
        const step = 2 ** (NATIVE_ZOOM - z);
        const [left, top] = [x, y].map((n) => Number(ORIGIN) + 256 * n * step);
        const region = decodePng(await daemon.bytes(`/climate/region.png?x=${left - 3 * step}&y=${top - 5 * step}&width=700&height=300&step=${step}&layer=relief`));
        assertSame([await picture(`climate/relief/${z}/${x}/${y}`), 0, 0], [region, 3, 5], 256, 'the region');
    }));

    it('stay in place at double density, which is the same picture, finer', () => eachRow(
        [[4, 8, 8], [10, 512, 511], [13, -1, 4096], [16, 32768, 32768], [19, 262144, 262143]],
        async ([z, x, y]) => {
            const plain = await image(`relief/${z}/${x}/${y}`);
            const dense = await image(`relief/${z}/${x}/${y}@2x`);
            const other = await image(`relief/${z}/${x + 9}/${y + 9}`);
            const { channels } = plain;
            const at = (i, j, c) => dense.samples[(j * 512 + i) * channels + c];
            let [apart, unlike, plainSum, denseSum] = [0, 0, 0, 0];
            for (let j = 0; j < 256; j++)
                for (let i = 0; i < 256; i++)
                    for (let c = 0; c < channels; c++) {
                        const mean = (at(2 * i, 2 * j, c) + at(2 * i + 1, 2 * j, c) +
                            at(2 * i, 2 * j + 1, c) + at(2 * i + 1, 2 * j + 1, c)) / 4;
                        const index = (j * 256 + i) * channels + c;
                        apart += Math.abs(mean - plain.samples[index]);
                        unlike += Math.abs(mean - other.samples[index]);
                        plainSum += plain.samples[index];
                        denseSum += mean;
                    }
            const count = 65536 * channels;
            assert.ok(apart / count < 18, `pixels differ by ${(apart / count).toFixed(2)} on average`);
            assert.ok(Math.abs(plainSum - denseSum) / count < 3,
                `mean ${(plainSum / count).toFixed(2)}, at double density ${(denseSum / count).toFixed(2)}`);
            assert.ok(apart < unlike / 2,
                `as unlike (${(apart / count).toFixed(2)}) as another tile (${(unlike / count).toFixed(2)})`);
        }));
});
