/* The layers of gray shades, stretched to the heights in view. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../http/program.mjs';
import { LIMIT, base, drag, keepScreenshot, painted, pixels, readout, settled,
    staged, visit } from './harness.mjs';
import { WINDOW, assertShades, rangeOf, shadesAt, spots } from './shades.mjs';

/* A world whose places have the relief that these tests need, whatever the seed of `default` is. */
const SEED = 'default:554';

for (const [layer, zoom, center] of [['gray', 4, [0, 0]], ['height', 8, [-512000, 102400]], ['gray', 12, [6000, 2000]],
    ['gray', 14, [70000, -3200]], ['height', 16, [1e9, 512]], ['gray', 20, [6000, 2000]]])
    test(`${layer} shows the relief at zoom ${zoom}`, LIMIT, async () => {
        const { page } = await visit(`#${SEED}/${layer}/${zoom}/${center.join('/')}`, WINDOW);
        await settled(page);
        assert.ok(new Set(await pixels(page)).size >= 60, 'too few shades');
        assert.equal(await assertShades(page, zoom, center, 2, { world: SEED }), 0, 'places beyond the range');
        await keepScreenshot(page, `viewer-${layer}-${zoom}.png`);
    });

test('shades stay during a short pan and change with the view', LIMIT, async () => {
    const { page } = await visit(`#${SEED}/gray/12/6000/2000`, WINDOW);
    await settled(page);
    const first = await rangeOf(page);
    await drag(page, 6, 4);
    await settled(page);
    assert.deepEqual(await rangeOf(page), first);
    for (const zoom of [13, 14]) {
        await page.locator('#zoom-in').click();
        await page.waitForFunction((wanted) => document.getElementById('zoom').value === wanted, String(zoom));
        await painted(page);
    }
    await settled(page);
    const [low, high] = await rangeOf(page);
    assert.ok(high - low < (first[1] - first[0]) * 0.7 && low >= first[0] && high <= first[1], `${low} to ${high} in ${first}`);
    /* The mark of the height in the readout follows the range. */
    const { height } = await readout(page);
    const bar = await page.locator('#legend-bar').boundingBox();
    const mark = await page.locator('#legend-mark').boundingBox();
    const share = (bar.y + bar.height - mark.y - mark.height / 2) / bar.height;
    assert.ok(Math.abs(share - (Number(height.value) - low) / (high - low)) < 0.03, `the mark is at ${share}`);
});

test('the world\'s shades can be chosen', LIMIT, async () => {
    const { page, tiles } = await visit(`#${SEED}/gray/13/64512/-13312`, WINDOW);
    await settled(page);
    assert.ok(tiles().every(({ layer }) => layer === 'terrarium'));
    assert.ok(await page.locator('#stretch').isChecked());
    await page.getByLabel('Fit to view').uncheck();
    await painted(page, { layer: 'gray' });
    await settled(page);
    const { range } = await (await fetch(new URL('default.json', base))).json();
    assert.deepEqual(await rangeOf(page), range.map(Math.round));
    assert.ok(new Set(await shadesAt(page, spots(13, [64512, -13312]).map(({ at }) => at))).size < 5);
    await page.getByLabel('Fit to view').check();
    await painted(page, { layer: 'terrarium' });
    await settled(page);
    assert.ok(new Set(await pixels(page)).size >= 60);
    /* Other layers have no such choice. */
    await page.locator('#layers label', { hasText: /^Relief$/ }).click();
    assert.ok(await page.locator('#legend').isVisible() && await page.locator('#stretch-choice').isHidden());
});

test('a world without encoded heights has its own shades', LIMIT, async () => {
    const { page, tiles } = await visit('#default/gray/10/0/0', WINDOW, (fresh) => fresh.route(/\/default\.json$/, async (route) => {
        const world = await (await fetch(new URL('default.json', base))).json();
        await route.fulfill({ json: { ...world, layers: world.layers.filter(({ name }) => !name.startsWith('terra')) } });
    }));
    assert.ok(tiles().every(({ layer }) => layer === 'gray'));
    assert.ok(await page.locator('#legend').isVisible() && await page.locator('#stretch-choice').isHidden());
});

test('a failed tile is requested again', LIMIT, async () => {
    let failures = 3;
    const { page, seen } = await visit('#default/gray/14/0/0', WINDOW, (fresh) =>
        fresh.route(/\/terrarium\//, (route) => (failures-- > 0 ? route.abort() : route.continue())));
    await painted(page);
    assert.equal(await page.locator('#status').textContent(), '');
    assert.ok(seen.trouble.length >= 3);
    seen.trouble.length = 0;
});

test('three dimensions have the same shades', LIMIT, async () => {
    const { page } = await visit(`#${SEED}/gray/12/89088/-3072/3d/0/0/1`, WINDOW);
    assert.ok(await assertShades(page, 12, [89088, -3072], 6, { world: SEED }) <= 3, 'the range misses the view');
    const first = await rangeOf(page);
    const labels = await page.locator('#legend-labels').textContent();
    await page.locator('#place').fill('45056 -46080');
    await page.locator('#place').press('Enter');
    await page.waitForFunction((before) => document.getElementById('legend-labels').textContent !== before, labels);
    await staged(page);
    assert.notDeepEqual(await rangeOf(page), first);
    assert.ok(await assertShades(page, 12, [45056, -46080], 6, { world: SEED }) <= 3, 'the range misses the view');
    await page.getByLabel('Fit to view').uncheck();
    const { range } = await (await fetch(new URL('default.json', base))).json();
    assert.ok(await eventually(async () => String(await rangeOf(page)) === String(range.map(Math.round))), `${await rangeOf(page)} is not ${range}`);
    await staged(page);
    assert.equal(await assertShades(page, 12, [45056, -46080], 6, { world: SEED }), 0);
    assert.ok(new Set(await shadesAt(page, spots(12, [45056, -46080]).map(({ at }) => at))).size < 8);
});
