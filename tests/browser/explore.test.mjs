/* Unit tests of explore.js, on grounds whose coasts, peaks and biomes are known. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REACH, findBiome, findCoast, findPeak, randomPlace } from '../../server/viewer/explore.js';

const MOST = 200000;              // bytes of a search
const anything = () => true;

/* A `sample` of the ground VALUE, a function of x and y, that counts what it sends. */
function ground(value) {
    const sample = async ({ x, y, step, width, height }) => {
        assert.ok(Number.isInteger(Math.log2(step)) && step >= 1 && step <= 2 ** 20, `step ${step}`);
        assert.ok(x % step === 0 && y % step === 0 || Math.min(width, height) === 1, 'samples lie on multiples of the step');
        sample.requests++;
        sample.bytes += 4 * width * height;
        return Float32Array.from({ length: width * height }, (_, i) => value(x + step * (i % width), y + step * Math.floor(i / width)));
    };
    return Object.assign(sample, { requests: 0, bytes: 0 });
}

const far = (a, b) => Math.hypot(a.x - b.x, a.y - b.y);
const cone = (at, top, slope) => (x, y) => top - slope * Math.hypot(x - at.x, y - at.y);
const highest = (...hills) => (x, y) => Math.max(...hills.map((hill) => hill(x, y)));

for (const [name, value, from, distance] of [
    ['to the east', (x) => 100 - x, { x: 0, y: 0 }, 100],
    ['to the west, from the water', (x) => -1000 - x, { x: 5000, y: 70 }, 6000],
    ['to the south', (_, y) => 300001 - y, { x: 0, y: 7 }, 299994],
    ['around an island', cone({ x: 40000, y: -9000 }, 300, 0.1), { x: 40100, y: -9000 }, 2900],
    ['around a far island', cone({ x: 0, y: 0 }, 30000, 0.1), { x: 1e6, y: 1e6 }, 1e6 * Math.SQRT2 - 300000],
])
    test(`a coast ${name}`, async () => {
        const sample = ground(value);
        const found = await findCoast(sample, from, anything);
        const step = 2 * Math.max(256, distance / 8);      // of the box that reaches it
        assert.ok(Math.abs(far(from, found) - distance) < step, `${far(from, found)} instead of ${distance}`);
        assert.ok(value(found.x, found.y) >= 0, 'it is land');
        assert.ok([[8, 0], [-8, 0], [0, 8], [0, -8]].some(([dx, dy]) => value(found.x + dx, found.y + dy) < 0), 'at the water');
        assert.ok(sample.bytes < MOST && sample.requests <= 8, `${sample.bytes} bytes`);
    });

test('ponds and rocks have no coast, and neither has land without end', async () => {
    const pond = ground((x, y) => Math.hypot(x - 3000, y) - 120);
    assert.equal(await findCoast(pond, { x: 0, y: 0 }, anything), null);
    const land = ground(() => 1);
    assert.equal(await findCoast(land, { x: 0, y: 0 }, anything), null);
    assert.ok(land.bytes < MOST);
    assert.equal(await findCoast(ground((x) => x + 2 * REACH.coast), { x: 0, y: 0 }, anything), null);
});

test('a coast that was shown is not shown again', async () => {
    const sample = ground((x) => Math.min(500 - x, x + 9000));
    const [a, b] = [await findCoast(sample, { x: 0, y: 0 }, anything), await findCoast(sample, { x: 0, y: 0 }, ({ x }) => x < -5000)];
    assert.ok(Math.abs(a.x - 500) <= 8 && Math.abs(b.x + 9000) <= 8, `${a.x}, ${b.x}`);
});

test('the peak of the nearest box that has one, to the block', async () => {
    const [near, high, distant] = [{ x: 1234, y: -2345 }, { x: -3001, y: 77 }, { x: 90001, y: 5 }];
    const value = highest(cone(near, 700, 1), cone(high, 900, 1), cone(distant, 5000, 1), () => 10);
    const sample = ground(value);
    const found = await findPeak(sample, { x: 0, y: 0 }, anything);
    assert.deepEqual(found, { ...high, height: 900, wide: 1536, hill: false });
    assert.ok(sample.bytes < MOST, `${sample.bytes} bytes`);
    const next = await findPeak(sample, { x: 0, y: 0 }, (place) => far(place, high) > 2000);
    assert.deepEqual(next, { ...near, height: 700, wide: 1536, hill: false });
    const last = await findPeak(sample, { x: 0, y: 0 }, (place) => far(place, high) > 2000 && far(place, near) > 2000);
    assert.deepEqual(last, { ...distant, height: 5000, wide: 98304, hill: false });
});

test('the highest hill of flat country, and no peak in the sea', async () => {
    const hill = { x: 4000, y: 4000 };
    const sample = ground(highest(cone(hill, 60, 0.02), () => 1));
    const found = await findPeak(sample, { x: 0, y: 0 }, anything);
    assert.deepEqual(found, { ...hill, height: 60, wide: 6144, hill: true });
    assert.ok(sample.bytes < MOST, `${sample.bytes} bytes`);
    assert.equal(await findPeak(ground((x, y) => -50 + 10 * Math.sin(x / 900) * Math.cos(y / 700)), { x: 0, y: 0 }, anything), null);
});

test('the nearest patch of another biome, none of which is a mere border', async () => {
    const bands = ground((x) => (x < 3000 ? 4 : x < 3050 ? 9 : x < 20000 ? 5 : 6));
    const found = await findBiome(bands, { x: 0, y: 0 }, anything);
    assert.equal(found.id, 5);
    assert.ok(found.x > 3050 && found.x < 6000 && found.wide >= 256, `${found.x}, ${found.wide} wide`);
    const next = await findBiome(bands, { x: 0, y: 0 }, (id) => id !== 5);
    assert.equal(next.id, 6);
    assert.ok(next.x >= 20000 && next.x < 40000);
    assert.ok(bands.bytes < MOST);
    assert.equal(await findBiome(ground(() => 3), { x: 0, y: 0 }, anything), null);
});

/* Repeatable numbers from 0 to 1. */
function dice() {
    let state = 1;
    return () => {
        state = state * 16807 % 2147483647;
        return state / 2147483647;
    };
}

test('a random place is land if there is any, and rough rather than flat', async () => {
    const asked = [];
    const heights = (value) => async (places) => {
        asked.push(places.length);
        return places.map(({ x, y }) => value(x, y));
    };
    const random = dice();
    for (let i = 0; i < 20; i++) {
        const { x } = await randomPlace(heights((east) => (east < 0 ? -5000 * Math.random() : 5)), 4096, random);
        assert.ok(x > 0, 'land');
        const rough = await randomPlace(heights((_, y) => (y > 0 ? 300 + y % 100 : 300)), 4096, random);
        assert.ok(rough.y > 0 && Number.isInteger(rough.y), 'relief');
        assert.ok(await randomPlace(heights(() => -1), 4096, random), 'there is only water');
    }
    assert.ok(asked.every((count) => count <= 128), 'one request each');
});
