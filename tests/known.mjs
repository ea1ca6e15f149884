// Known faults that users meet in the built-in worlds, each with a test for the right result. Such a test is written as
// any other, by known() instead of it(). As long as it fails as its row says, it counts as passed, and the summary lists
// it as TODO; if it fails in another way, or passes, it has failed. Remove the row when you mend a fault: without a row
// known() is it(). Not a test.

import assert from 'node:assert/strict';
import { it } from 'node:test';

/* FILE and TEST: where the test is, and its title. HAPPENS: what it fails with today. EXPECTED: what users should get. */
export const KNOWN = [
    { file: 'tests/http/50-water.test.mjs', test: 'has the level that a course says where blocks of built ground meet',
        happens: /^point 55: 629\.\d+ m, but 629\.\d+ m of water/, expected: 'one level, where blocks disagree about a river' },
    { file: 'tests/http/29-volumes.test.mjs', test: 'have no piece of ground that floats',
        happens: /^1 of 1 rows failed[^]* 2 blocks float/, expected: 'ground that is connected to the rest' },
];

/* Run CHECK, the test in ROW, which must fail as ROW says. Returns the text to print. */
export async function fails({ happens, expected }, check) {
    let failure = null;
    try {
        await check();
    } catch (error) {
        failure = error;
    }
    assert.ok(failure, 'passes now: remove its row from tests/known.mjs');
    if (!happens.test(failure.message))
        throw failure;
    return `known: ${happens.source}; expected: ${expected}`;
}

export function known(title, ...rest) {
    const row = KNOWN.find(({ test }) => test === title);
    const check = rest.pop();
    it(title, ...rest, row ? async (t) => t.todo(await fails(row, () => check(t))) : check);
}
