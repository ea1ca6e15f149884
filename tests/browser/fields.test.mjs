/* The readout and the legend of layers that show a field. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { LIMIT, base, daemonArguments, painted, visit } from './harness.mjs';

const directory = mkdtempSync(path.join(tmpdir(), 'farlands-fields-'));
const file = path.join(directory, 'fields.yaml');
writeFileSync(file, `worlds:
  - name: fields
    fields:
      coast: { noise: { wavelength: 4096, octaves: 5 } }
      share: { multiply: [coast, 100], unit: "%" }
      same: 0.25
      height: { multiply: [coast, 900] }
`);
daemonArguments.push('--config', file);
after(() => rmSync(directory, { recursive: true, force: true }));

const AT = { x: 1000, y: -2000 };

const number = (text) => Number(text.replace('\u2212', '-').replace(/[^\d.-]/g, ''));
const shown = (page, id) => page.locator(`#${id}`).textContent();
const labels = async (page) => (await page.locator('#legend-labels li').allTextContents());

async function open(layer) {
    const { page } = await visit(`#fields/${layer}/12/${AT.x}/${AT.y}`);
    await painted(page);
    await page.waitForFunction(() => document.getElementById('height').value && !('stale' in document.getElementById('height').dataset));
    return page;
}

async function values() {
    return (await fetch(new URL(`fields/height?x=${AT.x}&y=${AT.y}&fields=coast,share,same`, base))).json();
}

test('a field has its value and its range', LIMIT, async () => {
    const { ranges } = await (await fetch(new URL('fields.json', base))).json();
    const { fields } = await values();
    for (const [field, ending] of [['coast', /\d$/], ['share', /\d\u202f%$/]]) {
        const page = await open(`field.${field}`);
        const value = await shown(page, 'height');
        assert.equal(await shown(page, 'height-name'), 'Field');
        assert.match(value, ending);
        assert.equal(Number(await page.locator('#height').getAttribute('value')), fields[field]);
        assert.ok(Math.abs(number(value) - fields[field]) <= 1e-3 * Math.abs(fields[field]), `${value} for ${fields[field]}`);
        const found = await labels(page);
        const [low, high] = [found.map(number).reduce((a, b) => Math.min(a, b)), found.map(number).reduce((a, b) => Math.max(a, b))];
        const near = (a, b) => Math.abs(a - b) <= 1e-3 * Math.abs(b);
        assert.ok(near(low, ranges[field][0]) && near(high, ranges[field][1]), `${found} for ${ranges[field]}`);
        assert.ok(!found.includes('sea level'));
    }
});

test('values of fields come from the server, too', LIMIT, async () => {
    const { page, seen } = await visit(`#fields/field.coast/12/${AT.x}/${AT.y}`, {},
        (context) => context.route('**/farlands.wasm', (route) => route.abort()));
    await page.waitForFunction(() => document.getElementById('height').value !== '');
    assert.equal(Number(await page.locator('#height').getAttribute('value')), (await values()).fields.coast);
    assert.ok(seen.trouble.length > 0);
    seen.trouble.length = 0;
});

test('a field of one value has labels', LIMIT, async () => {
    const page = await open('field.same');
    assert.match(await shown(page, 'height'), /^0\.25/);
    assert.ok((await labels(page)).every((label) => Math.abs(number(label) - 0.25) <= 1), String(await labels(page)));
    assert.ok(await page.locator('#legend-mark').evaluate((mark) => /^[\d.]+%$/.test(mark.style.getPropertyValue('--at'))));
});

test('other layers have heights again', LIMIT, async () => {
    const page = await open('field.share');
    await page.locator('#layers label', { hasText: /^Relief$/ }).click();
    await page.waitForFunction(() => document.getElementById('height-name').textContent === 'Height');
    await page.waitForFunction(() => /\u202fm$/.test(document.getElementById('height').textContent));
    assert.ok((await labels(page)).includes('sea level'));
    assert.equal(await shown(page, 'legend-name'), 'Height');
});
