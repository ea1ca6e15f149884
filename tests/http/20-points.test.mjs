// What a game server asks about single places.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useDaemon } from './daemon.mjs';
import { LIMIT, decimal } from './grid.mjs';
import { assertStatus, eachRow } from './table.mjs';
import { patience } from './program.mjs';

const UNIT = 1024n;

/* In units. */
const PLACES = [
    [0n, 0n], [12n * UNIT + 512n, -3n * UNIT], [-1n, 1n], [123456789n * UNIT, -987654321n * UNIT],
    [(LIMIT - 2n) * UNIT + 1n, (1n - LIMIT) * UNIT + 7n],
];

describe('the ground at a place', { timeout: patience(60000) }, () => {
    const daemon = useDaemon();
    const ground = (x, y) => daemon.json(`/default/height?x=${decimal(x)}&y=${decimal(y)}`);

    // To the bit, once the text is the float again that it stands for.
    it('is as steep as the heights a block away say, and faces away from the rise', () => eachRow(
        PLACES, async ([x, y]) => {
            const { slope, normal } = await ground(x, y);
            const height = async (dx, dy) =>
                Math.fround((await ground(x + dx * UNIT, y + dy * UNIT)).height);
            const east = (await height(1n, 0n) - await height(-1n, 0n)) / 2;
            const south = (await height(0n, 1n) - await height(0n, -1n)) / 2;
            assert.equal(Math.fround(slope), Math.fround(Math.sqrt(east * east + south * south)));
            const length = Math.sqrt(east * east + south * south + 1);
            assert.equal(normal.length, 3);
            [-east / length, -south / length, 1 / length].forEach((expected, axis) =>
                assert.ok(Math.abs(normal[axis] - expected) <= 1e-7, `normal[${axis}]`));
        }));

    it('is there at the very limit', () => eachRow(
        [[1n, 1n], [-1n, 1n], [1n, -1n], [-1n, -1n]], async ([east, south]) => {
            const answer = await daemon.get(
                `/default/height?x=${east * LIMIT}&y=${south * LIMIT}`);
            assertStatus(answer, 200);
            const { slope, normal } = JSON.parse(answer.body);
            assert.ok(slope > 0 && slope < 10, `slope ${slope}`);
            assert.ok(Math.abs(Math.hypot(...normal) - 1) < 1e-6, `normal ${normal}`);
        }));
});
