/* The viewer's start view; make check runs only this browser test. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMIT, POSTER, assertHeight, assertPictured, placeBecomes, visit } from './harness.mjs';

test('the start view is painted', LIMIT, async () => {
    const { page, seen, tiles } = await visit('', { viewport: POSTER });
    assert.match(await page.title(), /Farlands/);
    await assertPictured(page);
    assert.ok(tiles().length >= 20, 'tiles were requested');
    assert.ok(tiles().every(({ world, layer, dense }) => world === 'default' && layer === 'relief' && !dense));
    await assertHeight(page);
    await placeBecomes(page, /^#default\/relief\/\d+\/-?\d+\/-?\d+$/);
    assert.deepEqual(seen.urls.filter((url) => url.includes('changes')), [], 'the configuration is not watched');
});
