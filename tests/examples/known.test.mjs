// The table of known faults: its rows have tests, and such a test is noticed when it passes.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { KNOWN, fails } from '../known.mjs';

describe('known faults', () => {
    it('have a test each', () => {
        for (const { file, test } of KNOWN)
            assert.ok(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').includes(`known('${test}'`),
                `no known('${test}' in ${file}`);
        assert.equal(new Set(KNOWN.map(({ test }) => test)).size, KNOWN.length, 'two rows have the same test');
    });

    const row = { happens: /status 404/, expected: 'a tile' };
    const failing = (message) => async () => assert.fail(message);

    it('are listed while they fail as the table says', async () =>
        assert.equal(await fails(row, failing('GET /x: status 404')), 'known: status 404; expected: a tile'));
    it('fail the suite if they pass', () => assert.rejects(fails(row, async () => {}), /passes now: remove its row/));
    it('fail the suite if they fail in another way', () => assert.rejects(fails(row, failing('status 500')), /status 500/));
});
