/* Unit tests of survey.js: a line's blocks, and its lowest and highest place. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lineOf, makeSurvey } from '../../server/viewer/survey.js';

const numbers = (line) => Array.from({ length: line.last + 1 }, (_, n) => line.at(n));
const at = (x, y) => ({ x, y });

/* Blocks from A to B, both included: one for each step along the longer axis. */
function blocks(a, b) {
    const count = Math.max(Math.abs(b.x - a.x), Math.abs(b.y - a.y));
    return Array.from({ length: count + 1 }, (_, n) =>
        [a.x + Math.round((b.x - a.x) * n / count), a.y + Math.round((b.y - a.y) * n / count)]);
}

/* Rough ground, as fractal noise is. */
function height({ x, y }) {
    let [sum, amplitude] = [0, 1000];
    for (let wave = 3e5; wave > 2; wave /= 2.1, amplitude *= 0.6)
        sum += amplitude * Math.sin(x / wave + amplitude) * Math.cos(y / wave - 3 * amplitude);
    return sum;
}

async function measured(line, { heightOf = height } = {}) {
    let [asked, most] = [0, 0];
    const survey = makeSurvey(line, async (places) => {
        asked += places.length;
        most = Math.max(most, places.length);
        return places.map(heightOf);
    }, () => {});
    await survey.run();
    return { survey, asked, most };
}

for (const [name, points] of Object.entries({
    east: [at(-5, 3), at(20, 3)],
    north: [at(7, 4), at(7, -90)],
    diagonal: [at(0, 0), at(-64, 64)],
    flat: [at(10, 10), at(4010, 813)],
    steep: [at(-3, 2), at(-777, -4094)],
    'one block': [at(0, 0), at(1, 0)],
    'far out': [at(2 ** 52 - 100, -(2 ** 52)), at(2 ** 52, -(2 ** 52) + 37)],
})) {
    test(`every block of a line: ${name}`, async () => {
        const line = lineOf(points, 1);
        assert.deepEqual(numbers(line).map(({ x, y }) => [x, y]), blocks(...points));
        assert.ok(Math.abs(line.length - Math.hypot(points[1].x - points[0].x, points[1].y - points[0].y)) < 1e-6);
        const { survey, asked, most } = await measured(line);
        const heights = blocks(...points).map(([x, y]) => height({ x, y }));
        assert.equal(survey.stride, 1);
        assert.equal(survey.lowest.height, Math.min(...heights));
        assert.equal(survey.highest.height, Math.max(...heights));
        assert.equal(asked, heights.length);
        assert.ok(most <= 128, `${most} places in a request`);
        assert.ok(survey.done);
    });
}

test('a line with a bend, and one finer than blocks', () => {
    const bent = lineOf([at(0, 0), at(30, 40), at(30, 0)], 1);
    assert.deepEqual([bent.last, bent.length], [80, 90]);
    assert.deepEqual(bent.at(40), { n: 40, x: 30, y: 40, far: 50 });
    assert.deepEqual(bent.at(80), { n: 80, x: 30, y: 0, far: 90 });
    assert.equal(bent.near(25), 20);
    assert.equal(bent.near(80), 70);
    assert.equal(bent.near(90), 80);
    const fine = lineOf([at(0.125, 0), at(1, -0.5)], 0.125);
    assert.deepEqual(numbers(fine).map(({ x }) => x), [0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1]);
    assert.ok(numbers(fine).every(({ y }) => Number.isInteger(y * 8)));
});

test('the extremes of a long line are followed to the block', async () => {
    for (const [a, b] of [[at(-99000, 5000), at(80000, 41000)], [at(0, 0), at(3, 400000)], [at(123456, -7), at(-123456, 250000)]]) {
        const line = lineOf([a, b], 1);
        const heights = blocks(a, b).map(([x, y]) => height({ x, y }));
        const { survey, asked } = await measured(line);
        assert.ok(survey.stride > 1 && survey.count <= 32769, `${survey.count} places`);
        assert.ok(asked < 40000, `${asked} heights`);
        const least = heights.reduce((best, one) => Math.min(best, one));
        const most = heights.reduce((best, one) => Math.max(best, one));
        assert.deepEqual([survey.lowest.height, survey.highest.height], [least, most]);
    }
});

test('a peak of one block beside the best place is found, a hidden one far off is not', async () => {
    const line = lineOf([at(0, 0), at(1e6, 0)], 1);
    const hill = ({ x }) => -Math.abs(x - 400003) / 1e4;
    const spike = (where) => (place) => (place.x === where ? 5 : hill(place));
    const near = await measured(line, { heightOf: spike(400100) });
    assert.equal(near.survey.highest.x, 400100);
    const far = await measured(line, { heightOf: spike(700001) });
    assert.equal(far.survey.highest.x, 400003);
});

test('a superseded survey stops', async () => {
    let asked = 0;
    const survey = makeSurvey(lineOf([at(0, 0), at(30000, 0)], 1), async () => {
        asked++;
        return null;
    }, () => assert.fail('it has no heights'));
    await survey.run();
    assert.ok(asked <= 4 && !survey.done);
});
