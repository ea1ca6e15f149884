/* Layers of fields: their list, legend and shades, the value under the pointer, and links to them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../http/program.mjs';
import { FIELDS, LIMIT, base, daemonArguments, hears, keepScreenshot, painted, pixels, place, placeBecomes, readout,
    settled, staged, visit } from './harness.mjs';
import { WINDOW, assertShades, rangeOf } from './shades.mjs';

daemonArguments.push('--config', FIELDS);

const graph = async () => (await fetch(new URL('graph.json', base))).json();
const legend = (page) => page.locator('#legend').innerText();
const ALL = /Possible: 2\u202f073 to 2\u202f427\u202fmm/;

/* The value in the readout, and the server's at the same place. */
async function valueOf(page, field = 'rain') {
    const { x, y } = await readout(page);
    const { fields } = await (await fetch(new URL(`graph/height?x=${x.value}&y=${y.value}&fields=${field}`, base))).json();
    const shown = await page.locator('#field').evaluate(({ value, textContent }) => ({ value, text: textContent }));
    return { ...shown, at: [Number(x.value), Number(y.value)], truth: fields[field] };
}

async function assertValue(page, at) {
    const { value, text, truth, at: shownAt } = await valueOf(page);
    assert.deepEqual(shownAt, at);
    assert.equal(Number(value), truth);
    assert.match(text, /^2\u202f\d{3}\.\d{3}\u202fmm$/);
    assert.ok(Math.abs(Number(text.replace(/\u202f(mm)?/g, '')) - truth) <= 0.00051, `${text} for ${truth}`);
}

test('fields have a group of their own in the list, if there are any', LIMIT, async () => {
    const { page } = await visit('#graph/relief/8/0/0', WINDOW);
    const { layers } = await graph();
    const names = layers.map(({ name }) => name).filter((name) => name.startsWith('field.'));
    const group = page.locator('#more optgroup');
    assert.equal(await group.getAttribute('label'), 'Fields');
    assert.deepEqual(await group.locator('option').evaluateAll((all) => all.map(({ value }) => value)), names);
    assert.deepEqual(await group.locator('option').allTextContents(), names.map((name) => name.slice('field.'.length)));
    assert.equal(await page.locator('#more > :last-child').getAttribute('label'), 'Fields');
    await page.locator('#more').selectOption({ label: 'rain' });
    await painted(page, { layer: 'field.rain' });
    await placeBecomes(page, /^#graph\/field\.rain\/8\/0\/0$/);
    await page.locator('#world').click();
    await page.getByRole('menuitemradio', { name: 'plain', exact: true }).click();
    await page.waitForFunction(() => location.hash.startsWith('#plain'));
    assert.equal(await group.count(), 0);
});

test('the readout has the exact value of the field', LIMIT, async () => {
    const { page, seen } = await visit('#graph/field.rain/12/1600/-3200', WINDOW);
    assert.equal(await page.locator('#field-name').textContent(), 'rain');
    await assertValue(page, [1600, -3200]);
    await page.mouse.move(400, 300, { steps: 10 });
    await assertValue(page, [1600 - 100 * 16, -3200 - 50 * 16]);
    assert.deepEqual(seen.urls.filter((url) => url.includes('/height?')), [], 'computed in the page');
    /* By keyboard the place is the middle of the map. */
    await page.locator('#plane').focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => document.getElementById('readout').getAttribute('aria-label') === 'At the center');
    await settled(page);
    const { value, truth } = await valueOf(page);
    assert.equal(Number(value), truth);
    await page.locator('#layers label', { hasText: /^Gray$/ }).click();
    assert.ok(await page.locator('#field-box').isHidden());
});

test('without WebAssembly the page requests values from the server', LIMIT, async () => {
    const { page, seen } = await visit('#graph/field.rain/12/1600/-3200', WINDOW,
        (fresh) => fresh.addInitScript(() => { delete globalThis.WebAssembly; }));
    await page.mouse.move(400, 300, { steps: 5 });
    await page.waitForFunction(() => document.getElementById('x').value === '0');
    await assertValue(page, [0, -3200 - 50 * 16]);
    assert.ok(seen.urls.some((url) => /\/height\?.*&fields=rain$/.test(url)));
});

for (const [zoom, center, colorScheme] of [[5, [0, 0], 'light'], [12, [0, 0], 'dark'], [16, [1e9, 512], 'light']])
    test(`shades fit the values in view at zoom ${zoom}`, LIMIT, async () => {
        const { page, tiles } = await visit(`#graph/field.rain/${zoom}/${center.join('/')}`, { ...WINDOW, colorScheme });
        await settled(page);
        assert.ok(new Set(await pixels(page)).size >= 60, 'too few shades');
        const world = { world: 'graph', field: 'rain', rounded: 0.02 };
        assert.equal(await assertShades(page, zoom, center, 3, world), 0, 'places beyond the range');
        assert.ok(tiles().every(({ layer }) => layer === 'field.rain'));
        assert.match(await legend(page), /^rain\n/);
        assert.match(await legend(page), ALL);
        /* The mark follows the value, not the height. */
        const [low, high] = await rangeOf(page);
        const { truth } = await valueOf(page);
        const bar = await page.locator('#legend-bar').boundingBox();
        const mark = await page.locator('#legend-mark').boundingBox();
        const share = (bar.y + bar.height - mark.y - mark.height / 2) / bar.height;
        assert.ok(Math.abs(share - (truth - low) / (high - low)) < 0.03, `the mark is at ${share}`);
        await keepScreenshot(page, `viewer-field-${zoom}.png`);
    });

test('all possible values can be chosen, and the layers of heights fit on their own', LIMIT, async () => {
    const { page } = await visit('#graph/field.rain/12/0/0', WINDOW);
    await settled(page);
    const [low, high] = await rangeOf(page);
    await page.getByLabel('Fit to view').uncheck();
    await painted(page, { layer: 'field.rain' });
    await settled(page);
    const [least, most] = await rangeOf(page);
    assert.ok(least === 2073 && most === 2427 && least < low && high < most, `${low} to ${high} in ${least} to ${most}`);
    assert.equal(await page.locator('canvas.leaflet-tile').count(), 0, 'the pictures of the server');
    assert.equal(await assertShades(page, 12, [0, 0], 2, { world: 'graph', field: 'rain', rounded: 0.5 }), 0);
    await page.getByLabel('Fit to view').check();
    await page.locator('#layers label', { hasText: /^Gray$/ }).click();
    await painted(page, { layer: 'terrarium' });
    await settled(page);
    assert.equal(await assertShades(page, 12, [0, 0], 2, { world: 'graph' }), 0);
    assert.match(await legend(page), /^Height\n/);
    assert.ok(await page.locator('#legend-note').isHidden());
});

test('a field of one value has a legend', LIMIT, async () => {
    const { page } = await visit('#graph/field.constant/12/0/0', WINDOW);
    await settled(page);
    assert.equal((await valueOf(page, 'constant')).value, '7');
    assert.ok((await rangeOf(page)).every((label) => Math.abs(label - 7) <= 1), await legend(page));
    assert.match(await page.locator('#legend-mark').evaluate((mark) => mark.style.getPropertyValue('--at')), /^[\d.]+%$/);
    await page.locator('#layers label', { hasText: /^Relief$/ }).click();
    assert.match(await legend(page), /^Height\n[^]*sea level/);
});

test('three dimensions have the shades of fields', LIMIT, async () => {
    const { page, tiles } = await visit('#graph/field.rain/10/0/0/3d/0/0/1', { viewport: { width: 1000, height: 700 } });
    const world = { world: 'graph', field: 'rain', rounded: 0.02 };
    assert.ok(await assertShades(page, 10, [0, 0], 8, world) <= 3, 'the range misses the view');
    assert.ok(tiles().some(({ layer }) => layer === 'field.rain') && tiles().some(({ layer }) => layer === 'terrarium'));
    await page.getByLabel('Fit to view').uncheck();
    assert.ok(await eventually(async () => /2\u202f427\u202fmm\n/.test(await legend(page))), await legend(page));
    await staged(page);
    assert.equal(await assertShades(page, 10, [0, 0], 2, { ...world, rounded: 0.5 }), 0);
});

test('a link to a field that the world does not have shows the relief, says so, and keeps the field', LIMIT, async () => {
    const { page } = await visit('#graph/field.snow/8/0/0', WINDOW);
    await painted(page, { layer: 'relief' });
    await hears(page, /^“graph” has no field “snow”; showing Relief\.$/);
    assert.equal(await place(page), '#graph/field.snow/8/0/0');
    await page.locator('#layers label', { hasText: /^Gray$/ }).click();
    await placeBecomes(page, /^#graph\/gray\/8\/0\/0$/);
});
