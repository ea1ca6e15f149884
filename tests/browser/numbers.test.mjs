/* Layers of numbers, fields and heights, are shown at every zoom of the built-in worlds, in two and in three dimensions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMIT, painted, settled, staged, visit } from './harness.mjs';
import { WINDOW } from './shades.mjs';

const FAR = 4;      // zoom: samples are 4 km apart

test('layers of numbers are shown far out', LIMIT, async () => {
    const { page, tiles } = await visit(`#default/field.temperature/${FAR}/0/0`, WINDOW);
    await painted(page, { layer: 'field.temperature' });
    await page.locator('#more').selectOption('height');
    await page.getByLabel('Fit to view').uncheck();
    await painted(page, { layer: 'height' });
    await settled(page);
    assert.ok(tiles().some(({ layer, z }) => layer === 'height' && z <= FAR));
    assert.equal(await page.locator('#status').textContent(), '');
});

test('three dimensions show fields far out', LIMIT, async () => {
    const { page, tiles } = await visit(`#default/field.temperature/${FAR}/0/0/3d/0/0`, WINDOW);
    await staged(page);
    assert.ok(tiles().some(({ layer, z }) => layer === 'field.temperature' && z <= FAR));
    assert.equal(await page.locator('#status').textContent(), '');
});
