/* Pictures are WebP, numbers are PNG, and a first view is small. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../http/program.mjs';
import { LIMIT, assertHeight, daemonArguments, painted, visit } from './harness.mjs';

daemonArguments.push('--config', '/dev/null');

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 3 };
const BUDGET = 500_000;           // bytes, with all headers

/* Count in BYTES what PAGE receives. */
async function count(page, bytes) {
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    session.on('Network.loadingFinished', ({ encodedDataLength }) => { bytes.total += encodedDataLength; });
}

const formatsOf = (tiles, layer) => [...new Set(tiles().filter((tile) => tile.layer === layer).map(({ format }) => format))];

test('a first view on a phone takes at most half a megabyte', LIMIT, async () => {
    const bytes = { total: 0 };
    const { page, seen, tiles } = await visit('', PHONE, (fresh) => count(fresh, bytes));
    await painted(page);
    await assertHeight(page);
    await page.waitForLoadState('networkidle');
    assert.ok(bytes.total > 100_000 && bytes.total <= BUDGET, `${bytes.total} bytes`);
    assert.deepEqual(formatsOf(tiles, 'relief'), ['webp']);
    assert.ok(!seen.urls.some((url) => url.endsWith('.wasm')), 'places so far apart are requested');
});

test('the module is loaded once places are near', LIMIT, async () => {
    const { page, seen } = await visit('#default/relief/16/1000/2000');
    await assertHeight(page);
    const isLoaded = () => seen.urls.some((url) => url.endsWith('.wasm'));
    let x = 300;
    assert.ok(await eventually(async () => {
        await page.mouse.move(300 + (x += 3) % 90, 300);
        await page.waitForTimeout(150);
        return isLoaded();
    }));
    await assertHeight(page);
    assert.equal(seen.urls.filter((url) => url.endsWith('.wasm')).length, 1);
});

test('layers with numbers in their pixels stay PNG', LIMIT, async () => {
    const { page, tiles } = await visit('#default/normal/6/0/0');
    await painted(page);
    assert.deepEqual(formatsOf(tiles, 'normal'), ['png']);
    await page.locator('#layers label', { hasText: /^Hillshade$/ }).click();
    await painted(page, { layer: 'hillshade' });
    assert.deepEqual(formatsOf(tiles, 'hillshade'), ['webp']);
});

test('in three dimensions pictures are WebP over exact heights', LIMIT, async () => {
    const { tiles } = await visit('#default/relief/8/0/0/3d/60/0');
    assert.deepEqual(formatsOf(tiles, 'relief'), ['webp']);
    assert.deepEqual(formatsOf(tiles, 'terrarium-water'), ['png']);
});
