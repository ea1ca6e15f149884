/* Layers of exact numbers in a world with rivers begin at a zoom: farther out the page says so, and requests no tiles of them. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { LIMIT, daemonArguments, painted, settled, staged, visit } from './harness.mjs';
import { WINDOW } from './shades.mjs';

daemonArguments.push('--config', path.join(path.dirname(fileURLToPath(import.meta.url)), '../worlds/rivers.yaml'));

const FIRST = 10;       // zoom
const says = (page, text) => page.waitForFunction((wanted) => document.getElementById('status').textContent === wanted, text);

async function zoomTo(page, zoom) {
    const now = await page.locator('#zoom').evaluate(({ value }) => Number(value));
    await page.locator(zoom < now ? '#zoom-out' : '#zoom-in').click();
    await page.waitForFunction((wanted) => document.getElementById('zoom').value === wanted, String(zoom));
}

test('a field is shown from its first zoom on', LIMIT, async () => {
    const { page, tiles } = await visit(`#rivers/field.ground/${FIRST}/0/0`, WINDOW);
    await says(page, '');
    await zoomTo(page, FIRST - 1);
    await says(page, `ground is shown from zoom ${FIRST} on.`);
    await settled(page);
    assert.ok(tiles().every(({ z }) => z >= FIRST));
    await page.locator('#layers label', { hasText: /^Relief$/ }).click();
    await says(page, '');
    await painted(page, { layer: 'relief' });
    await page.locator('#more').selectOption({ label: 'ground' });
    await says(page, `ground is shown from zoom ${FIRST} on.`);
    await zoomTo(page, FIRST);
    await says(page, '');
    await painted(page, { layer: 'field.ground' });
});

test('heights fit to the view are pictures, so they have all zooms', LIMIT, async () => {
    const { page, tiles } = await visit(`#rivers/height/${FIRST - 1}/0/0`, WINDOW);
    await says(page, '');
    assert.ok(tiles().every(({ layer }) => layer === 'terrarium'));
    await page.getByLabel('Fit to view').uncheck();
    await says(page, `Height is shown from zoom ${FIRST} on.`);
    assert.ok(tiles().every(({ layer }) => layer !== 'height'));
});

test('three dimensions have no tiles of a field far out, either', LIMIT, async () => {
    const { page, tiles } = await visit(`#rivers/field.ground/${FIRST - 2}/0/0/3d/0/0`, WINDOW);
    await staged(page);
    await says(page, `ground is shown from zoom ${FIRST} on.`);
    assert.ok(tiles().some(({ layer }) => layer === 'terrarium'));
    assert.ok(tiles().every(({ layer, z }) => layer !== 'field.ground' || z >= FIRST));
});
