/* Worlds with a climate: the biome, temperature and humidity under the cursor, the legends, and other biomes to go to. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FIELDS, LIMIT, base, daemonArguments, keepScreenshot, painted, placeBecomes, readout, settled, visit } from './harness.mjs';
import { WINDOW, shadesAt, spots, valuesAt } from './shades.mjs';

daemonArguments.push('--config', FIELDS);

const NAMES = { 1: 'sea', 3: 'tundra', 4: 'desert', 250: 'forests of giant trees beneath which nobody has seen the sun' };
const COLORS = { 1: 'rgb(42, 91, 140)', 3: 'rgb(170, 176, 160)', 4: 'rgb(224, 200, 136)', 250: 'rgb(32, 80, 44)' };
const WIDE = { viewport: { width: 1000, height: 600 } };
const withoutWasm = (fresh) => fresh.addInitScript(() => { delete globalThis.WebAssembly; });

const fieldsAt = async (x, y) =>
    (await (await fetch(new URL(`./climate/height?x=${x}&y=${y}&fields=biome,temperature,humidity`, base))).json()).fields;

async function assertClimate(page) {
    const { x, y } = await readout(page);
    const { biome, temperature, humidity } = await fieldsAt(x.value, y.value);
    assert.equal(await page.locator('#biome').getAttribute('value'), String(biome));
    assert.equal(await page.locator('#biome').textContent(), NAMES[biome]);
    assert.equal(await page.locator('#biome .chip').evaluate((chip) => getComputedStyle(chip).backgroundColor), COLORS[biome]);
    assert.equal(await page.locator('#climate').getAttribute('value').then((value) => value.replace(/\u202f/g, ' ').replace('\u2212', '-')),
        `${temperature.toFixed(0).replace(/^-0$/, '0')} °C ${(100 * humidity).toFixed(0)} %`);
    return biome;
}

for (const [how, prepare] of [['computed in the page', undefined], ['of the server', withoutWasm]])
    test(`the readout has the climate under the cursor, ${how}`, LIMIT, async () => {
        const { page, seen } = await visit('#climate/relief/12/1600/-3200', WIDE, prepare);
        const found = new Set();
        for (const [x, y] of [[500, 300], [200, 200], [350, 420], [600, 150], [700, 500], [820, 330]]) {
            await page.mouse.move(x, y);
            found.add(await assertClimate(page));
        }
        assert.ok(found.size > 1, 'one biome only');
        assert.equal(seen.urls.some((url) => url.includes('/height?')), Boolean(prepare));
        await keepScreenshot(page, 'viewer-climate.png');
    });

for (const [how, prepare] of [['computed in the page', undefined], ['of the server', withoutWasm]])
    test(`the readout has the surface of worlds with caves, ${how}`, LIMIT, async () => {
        const { page } = await visit('#climate/relief/16/120/-3158', { viewport: { width: 1200, height: 600 } }, prepare);
        let moved = 0;
        for (let i = 0; i < 12; i++) {
            await page.mouse.move(300 + 50 * i, 150 + 20 * i);
            const { x, y } = await readout(page);
            const { height, surface } = await (await fetch(new URL(`./climate/height?x=${x.value}&y=${y.value}`, base))).json();
            assert.equal(await page.locator('#surface').getAttribute('value'), String(surface));
            moved += height !== surface;
        }
        assert.ok(moved > 0, 'only heights');
        await page.evaluate(() => { location.hash = '#graph/relief/12/0/0'; });
        await page.waitForFunction(() => document.getElementById('surface-box').hidden);
    });

test('worlds without a climate have no boxes for it', LIMIT, async () => {
    const { page } = await visit('#graph/relief/9/0/0', WIDE);
    await readout(page);
    assert.ok(await page.locator('#biome-box').isHidden() && await page.locator('#climate-box').isHidden());
    assert.ok(await page.locator('#legend-biomes').isHidden());
});

/* The names in the legend of a view 1000 x 600 around (X, Y) in blocks of STEP, by the region of its biomes. */
async function biomesIn(x, y, step) {
    const region = `./climate/region.f32?x=${x - 500 * step}&y=${y - 300 * step}&width=1000&height=600&step=${step}&field=biome`;
    const ids = new Float32Array(await (await fetch(new URL(region, base))).arrayBuffer());
    return [...new Set(ids)].map((id) => [NAMES[id], ids.filter((one) => one === id).length / ids.length]);
}

test('the legend of the relief lists the biomes in view', LIMIT, async () => {
    const { page } = await visit('#climate/relief/11/0/0', WIDE);
    const listed = () => page.locator('#legend-biomes li').allTextContents();
    const matches = async (x, y, step) => {
        const truth = (await biomesIn(x, y, step));
        await page.waitForFunction((count) => document.querySelectorAll('#legend-biomes li').length < count, Object.keys(NAMES).length + 1);
        const names = await listed();
        for (const [name, share] of truth)
            assert.ok(share < 0.05 || names.includes(name), `${name} covers ${share}: ${names}`);
        assert.ok(names.every((name) => truth.some(([one]) => one === name)), names.join());
    };
    assert.equal(await page.locator('#legend-title').textContent(), 'Biomes');
    await settled(page);
    await matches(0, 0, 32);
    await page.evaluate(() => { location.hash = '#climate/relief/18/0/0'; });
    await page.waitForFunction(() => document.querySelectorAll('#legend-biomes li').length === 1);
    assert.deepEqual(await listed(), [NAMES[(await fieldsAt(0, 0)).biome]]);
    assert.ok(await page.locator('#legend-scale').isHidden());
});

test('the layer of biomes has the colors of its legend', LIMIT, async () => {
    const { page } = await visit('#climate/biome/11/0/0', WINDOW);
    await painted(page);
    assert.equal(await page.locator('#legend-title').textContent(), 'Biomes');
    assert.ok(await page.locator('#legend-scale').isHidden());
    await settled(page);
    const chips = await page.locator('#legend-biomes li').evaluateAll((items) => items.map((item) =>
        [item.textContent, getComputedStyle(item.querySelector('.chip')).backgroundColor]));
    assert.ok(chips.length > 1, chips.join());
    for (const [name, color] of chips)
        assert.equal(color, COLORS[Object.keys(NAMES).find((id) => NAMES[id] === name)], name);
    const seen = spots(11, [0, 0]);
    const reds = await shadesAt(page, seen.map(({ at }) => at));      // no two biomes have the same
    const ids = await valuesAt(seen.map(({ blocks }) => blocks), 11, 'climate', 'biome');
    assert.ok(new Set(ids).size > 1, 'one biome only');
    const wrong = ids.filter((id, i) => reds[i] !== Number(/\d+/.exec(COLORS[id])[0]));
    assert.ok(wrong.length < seen.length / 20, `${wrong.length} of ${seen.length} places have another color`);
});

test('slopes have a legend in degrees', LIMIT, async () => {
    const { page } = await visit('#default/slope/11/0/0', WIDE);
    assert.equal(await page.locator('#legend-title').textContent(), 'Slope');
    const labels = await page.locator('#legend-labels li').allTextContents();
    assert.equal(labels[0], '0°');
    assert.ok(labels.includes('90°') && labels.includes('30°'), labels.join());
    assert.ok(await page.locator('#legend-mark').isHidden());
});

test('directions have a legend in degrees', LIMIT, async () => {
    const { page } = await visit('#default/aspect/11/0/0', WIDE);
    assert.equal(await page.locator('#legend-title').textContent(), 'Aspect');
    const labels = await page.locator('#legend-labels li').allTextContents();
    assert.equal(labels[0], '0°');
    assert.ok(labels.includes('360°'), labels.join());
});

test('another biome is one that is not here, and each time another', LIMIT, async () => {
    const { page } = await visit('#climate/relief/12/1600/-3200', { ...WIDE, reducedMotion: 'reduce' });
    let here = (await fieldsAt(1600, -3200)).biome;
    const seen = [];
    for (let i = 0; i < 2; i++) {
        const before = await page.evaluate(() => location.hash);
        await page.locator('#journey-button').click();
        await page.getByRole('menuitem', { name: 'Another biome' }).click();
        await page.waitForFunction((hash) => location.hash !== hash && !document.getElementById('journey-button').hasAttribute('aria-busy'), before);
        await placeBecomes(page, /^#climate\/relief\/(9|1[0-4])\//);
        const [x, y] = await page.evaluate(() => location.hash.split('/').slice(3));
        const { biome } = await fieldsAt(x, y);
        assert.notEqual(biome, here);
        assert.ok(!seen.includes(biome));
        const said = await page.locator('#status').textContent();
        assert.ok(said.toLowerCase().startsWith(`${NAMES[biome]}, `), said);
        here = biome;
        seen.push(biome);
        await painted(page);
    }
});
