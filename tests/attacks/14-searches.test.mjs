// Attack 14: searches and place lists that take a core for seconds.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BUILT_IN, TIMEOUT } from '../http/program.mjs';
import { assertError, assertStatus, eachRow } from '../http/table.mjs';
import { HOPELESS, rowsOf } from './rows.mjs';
import { Meter, fromOneAndFour, withDaemon } from './scene.mjs';

/* [world, query, expected statuses]: a search takes the work of a second at most. */
const SEARCHES = [
    ...BUILT_IN.map((world) => [world, `x=12345&y=-777&${HOPELESS}`, [404]]),
    ...BUILT_IN.map((world) => [world, 'x=12345&y=-777&min=150&max=151&slope=0&near_water=2', [404]]),
    ['default', 'x=1&y=1&slope=0&biome=7&min=200&near_water=1', [404]],
    ['alps', 'x=938051.9&y=1&min=1&max=50', [200]],
    ['default', 'x=5000000&y=5000000&min=5000&near_water=1', [404]],
    ['default', 'x=1&y=-1&slope=0&under_water=1&min=3000&count=64', [404]],
];

describe('attack 14: searches and lists', { timeout: TIMEOUT }, () => {
    rowsOf('14').forEach((row) => fromOneAndFour(...row));

    /* A core renders some 40 tiles a second. */
    it('14c a search takes a second of a core at most, and says what was searched', (t) => withDaemon({ builtIn: true }, async (daemon) => {
        const meter = await Meter.of(daemon);
        await eachRow(SEARCHES, async ([world, query, statuses]) => {
            const work = await meter.during(() => daemon.get(`/${world}/spawn?${query}`));
            const answer = work.result, tiles = meter.tiles(work);
            t.diagnostic(`14c: ${world} ${query}: ${answer.status}, the work of ${tiles} tiles`);
            assertStatus(answer, statuses);
            assert.ok(tiles <= 100, `the work of ${tiles} tiles, at most 100 expected`);
            if (answer.status === 404)
                assertError(answer, 404, /within \d+ blocks/);
        });
    }));

    /*
     * The bound counts what a search does, and not time: players who ask at once stand at the same place. Nor does it do its work
     * again because another world has had the thread: all of it takes twice the work at most.
     */
    it('14d a search finds the same beside others, and does the same work', (t) => withDaemon({ builtIn: true }, async (daemon) => {
        const meter = await Meter.of(daemon);
        const targets = SEARCHES.slice(-3).map(([world, query]) => `/${world}/spawn?${query}`);
        const ask = async (target) => (await daemon.get(target)).body.toString();
        const alone = await meter.during(async () => {
            const answers = [];
            for (const target of targets)
                answers.push(await ask(target));
            return answers;
        });
        const beside = await meter.during(() => Promise.all(targets.map(ask)));
        t.diagnostic(`14d: the work of ${meter.tiles(alone)} tiles one after another, of ${meter.tiles(beside)} at once`);
        assert.deepEqual(beside.result, alone.result);
        assert.ok(beside.rest <= 2 * alone.rest, `${(beside.rest / alone.rest).toFixed(1)} times the work, at most twice expected`);
    }));

    /* The same for lists of places, of which each client has its own world. */
    it('14e lists of two worlds at once take the work of one after the other', (t) => withDaemon({ builtIn: true }, async (daemon) => {
        const meter = await Meter.of(daemon);
        const lists = (x) => ['default', 'alps'].map((world) =>
            `/${world}/heights?at=${Array.from({ length: 500 }, (_, i) => `${x + 200 * i},${90 * i}`).join(';')}`);
        const [one, other] = lists(100000), both = lists(900000);
        const alone = await meter.during(async () => [await daemon.bytes(one), await daemon.bytes(other)]);
        const beside = await meter.during(() => Promise.all(both.map((target) => daemon.bytes(target))));
        t.diagnostic(`14e: the work of ${meter.tiles(alone)} tiles one after the other, of ${meter.tiles(beside)} at once`);
        assert.ok(beside.rest <= 2 * alone.rest, `${(beside.rest / alone.rest).toFixed(1)} times the work, at most twice expected`);
    }));
});
