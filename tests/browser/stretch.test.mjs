/* Unit tests of stretch.js: ranges of values for shades of gray. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extentOf, makeStretch, nextRange, rangeAround, readValues, shade } from '../../server/viewer/stretch.js';

const UNIT = 1 / 256;
const near = (a, b) => a.every((one, i) => Math.abs(one - b[i]) < 1e-9);

test('a range is round and holds the heights in view', () => {
    for (const [extent, range] of [
        [[276.3, 282.7], [276, 283]],
        [[-5893, 3790], [-6000, 4000]],
        [[0, 100], [0, 100]],
        [[279.12, 280.04], [279.1, 280.1]],
        [[-0.5, 0.5], [-0.6, 0.6]],
    ])
        assert.ok(near(rangeAround(extent, UNIT), range), `${extent}: ${rangeAround(extent, UNIT)}`);
    for (const height of [0, -3800, 279.78125, 5999.9]) {
        const [low, high] = rangeAround([height, height], UNIT);
        assert.ok(low <= height && height <= high && high - low >= 16 * UNIT && high - low < 40 * UNIT, `${low} to ${high}`);
    }
});

test('a range is stable', () => {
    const first = nextRange(null, [100, 200], UNIT, true);
    assert.deepEqual(first, [100, 200]);
    assert.equal(nextRange(first, [110, 190], UNIT, true), first, 'a little less');
    assert.equal(nextRange(first, [140, 141], UNIT, false), first, 'further heights may follow');
    assert.deepEqual(nextRange(first, [140, 141], UNIT, true), [140, 141]);
    assert.deepEqual(nextRange(first, [150, 230], UNIT, false), [100, 240]);
    assert.deepEqual(nextRange(first, [150, 230], UNIT, true), [150, 230]);
    /* The range of a view suits that view. */
    for (let k = 0; k < 2000; k++) {
        const [low, span] = [6000 * Math.sin(k), 10 ** (5 * Math.cos(k * k))];
        const range = rangeAround([low, low + span], UNIT);
        assert.equal(nextRange(range, [low, low + span], UNIT, true), range, `${low} + ${span}: ${range}`);
    }
});

test('heights are read, searched and shaded', () => {
    const data = new Uint8ClampedArray(4 * 16);
    for (let i = 0; i < 16; i++)
        data.set([128, i, 64, 255], 4 * i);
    const heights = readValues({ data }, { unit: UNIT, offset: 32768 });
    assert.deepEqual([...heights], Array.from({ length: 16 }, (_, i) => i + 0.25));
    assert.deepEqual(extentOf(heights, [0, 0, 1, 1]), [0.25, 15.25]);
    assert.deepEqual(extentOf(heights, [-3, 0.5, 0.5, 9]), [8.25, 13.25]);
    assert.deepEqual(extentOf(heights, [2, 0, 3, 1]), [Infinity, -Infinity]);
    shade(heights, { data }, [5.25, 10.25]);
    assert.deepEqual([...data.filter((_, i) => i % 4 === 1)], [0, 0, 0, 0, 0, 0, 51, 102, 153, 204, 255, 255, 255, 255, 255, 255]);
    assert.ok(data.every((value, i) => (i % 4 === 3 ? value === 255 : value === data[i - i % 4])));
});

const gray = { name: 'gray' };
const rain = { name: 'field.rain', range: [-10, 300] };
const heights = { name: 'terrarium', encoding: 'terrarium' };

test('layers of shades are stretched if numbers are behind them', () => {
    const stretch = makeStretch(() => {});
    const encoded = { layers: [heights], range: [-50, 500] };
    const plain = { layers: [], range: [-50, 500] };
    for (const [world, layer, stretched] of [[encoded, gray, true], [encoded, { name: 'height' }, true], [encoded, rain, true],
        [encoded, { name: 'relief' }, false], [plain, gray, false], [plain, rain, true]]) {
        assert.deepEqual([stretch.possible(world, layer), stretch.applies(world, layer)], [stretched, stretched], layer.name);
        stretch.on = false;
        assert.deepEqual([stretch.possible(world, layer), stretch.applies(world, layer)], [stretched, false], layer.name);
        stretch.on = true;
    }
});

test('a range belongs to one field or to the heights, and holds nothing impossible', () => {
    const changes = [];
    const stretch = makeStretch((range) => changes.push(range));
    const world = { layers: [heights], range: [-50, 500] };
    assert.deepEqual(stretch.rangeOf(world, gray), [-50, 500], 'nothing is seen yet');
    assert.deepEqual(stretch.see(world, gray, [0, 100], true), [0, 100]);
    stretch.see(world, gray, [5, 95], true);
    assert.deepEqual(changes, [[0, 100]]);
    assert.deepEqual(stretch.rangeOf(world, { name: 'height' }), [0, 100]);
    assert.deepEqual(stretch.rangeOf(world, rain), [-10, 300]);
    assert.deepEqual(stretch.see(world, rain, [20, 60], false), [20, 60], 'the heights before do not count');
    assert.deepEqual(stretch.rangeOf(world, gray), [-50, 500]);
    assert.deepEqual(stretch.see(world, rain, [-10.0001, 300], true), [-10, 300]);
    const range = stretch.see(world, rain, [-10.0001, 300.0001], true);
    assert.equal(stretch.see(world, rain, [-10.0001, 299], true), range);
    stretch.on = false;
    assert.deepEqual(stretch.rangeOf(world, rain), [-10, 300]);
});
