/* The viewer in three dimensions. It is rendered in software here, so the windows are small. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BROAD, LIMIT, ORIGIN, assertHeight, assertPictured, base, daemonArguments, difference, drag, hears,
    keepScreenshot, painted, pixels, place, placeBecomes, readout, settled, staged, visit } from './harness.mjs';

daemonArguments.push('--config', BROAD);

const HEIGHTS = 'terrarium-water';      // the layer of heights that the scene takes
const SMALL = { viewport: { width: 640, height: 400 } };
const CALM = { ...SMALL, reducedMotion: 'reduce' };

test('one click opens the scene at the same place, and one click closes it', LIMIT, async () => {
    const { page, seen } = await visit('#default/relief/9/140000/-60000', CALM);
    const library = () => seen.urls.filter((url) => url.includes('maplibre')).length;
    assert.equal(library(), 0, 'the library is loaded before it is needed');
    await page.locator('#mode').click();
    await staged(page);
    assert.equal(library(), 3);
    await assertPictured(page);
    await assertHeight(page, [140000, -60000]);
    assert.equal(await page.locator('#mode').getAttribute('aria-pressed'), 'true');
    await placeBecomes(page, /^#default\/relief\/9\/140000\/-60000\/3d\/[1-9][\d.]*\/0$/);
    await page.locator('#mode').click();
    await page.waitForFunction(() => !document.body.classList.contains('deep'));
    await painted(page);
    await placeBecomes(page, /^#default\/relief\/9\/140000\/-60000$/);
    await page.goBack();
    await staged(page);
    await placeBecomes(page, /^#default\/relief\/9\/140000\/-60000\/3d\//);
    await page.goBack();
    await page.waitForFunction(() => !document.body.classList.contains('deep'));
    await placeBecomes(page, /^#default\/relief\/9\/140000\/-60000$/);
});

test('seen from above, the scene shows the plane at the same scale', LIMIT, async () => {
    const { page } = await visit('#default/relief/7/-300000/-30720', CALM);
    const side = 88;              // above the readout
    const flat = await pixels(page, side);
    await page.evaluate(() => { location.hash = '#default/relief/7/-300000/-30720/3d/0/0/1'; });
    await staged(page);
    const deep = await pixels(page, side);
    const moved = [...flat.slice(6 * side + 6), ...flat.slice(0, 6 * side + 6)];
    assert.ok(difference(flat, deep) < 6, `they differ by ${difference(flat, deep)} of 255`);
    assert.ok(difference(moved, deep) > 1.5 * difference(flat, deep), 'a shift by six pixels would not be detected');
    for (const [x, y] of [[180, 130], [500, 230]]) {
        await page.mouse.move(x, y);
        const { x: east, y: south } = await readout(page);
        const off = [Number(east.value) + 300000 - (x - 320) * 512, Number(south.value) + 30720 - (y - 200) * 512];
        assert.ok(Math.hypot(...off) < 4 * 512, `${off} blocks off at ${x}, ${y}`);
    }
});

test('the address bar has pitch, bearing and exaggeration', LIMIT, async () => {
    /* The sea: the camera would turn away from mountains that are exaggerated 200 times. */
    const hash = '#default/hillshade/8/1000000/-2000000/3d/40/-30/15';
    const { page, tiles } = await visit(hash, CALM);
    await page.waitForTimeout(200);
    assert.equal(await place(page), hash);
    assert.equal(await page.locator('#heights-factor').textContent(), '×15');
    assert.ok(tiles().some(({ layer }) => layer === 'hillshade') && tiles().some(({ layer }) => layer === HEIGHTS));
    assert.ok(tiles().every(({ layer, dense }) => layer !== HEIGHTS || !dense));
    await page.locator('#heights-auto').click();
    await placeBecomes(page, /\/3d\/40\/-30$/);
    await page.locator('#heights-range').focus();
    await page.keyboard.press('End');
    await placeBecomes(page, /\/3d\/40\/-30\/200$/);
    await page.locator('#north').click();
    await placeBecomes(page, /\/3d\/40\/0\/200$/);
    await page.locator('#layers label', { hasText: /^Relief$/ }).click();
    await placeBecomes(page, /^#default\/relief\/8\/1000000\/-2000000\/3d\//);
    await page.waitForFunction(() => document.querySelectorAll('.stage').length === 1);
});

test('heights are exaggerated half as much as in shading', LIMIT, async () => {
    const { page } = await visit('#default/relief/10/0/0/3d/40/0', CALM);
    const factor = (text) => page.waitForFunction((wanted) => document.getElementById('heights-factor').textContent === wanted, text);
    await factor('\u00d72.2');
    assert.equal(await page.locator('#legend-shading').textContent(), 'Shading \u00d7\u202f4.5');
    await page.evaluate(() => { location.hash = '#default/gray/4/0/0/3d/40/0'; });
    await factor('\u00d716');
});

test('dragging crosses the origin of the grid into negative tiles in 3D, too', LIMIT, async () => {
    const { page, tiles } = await visit(`#default/relief/12/${ORIGIN + 1000}/${ORIGIN + 1000}/3d/30/0`, CALM);
    await drag(page, 180, 140);
    await settled(page);
    assert.ok(tiles().some(({ x, y, layer }) => x < 0 && y < 0 && layer === HEIGHTS), 'no heights of negative tiles');
    assert.ok(tiles().some(({ x, y, layer }) => x < 0 && y < 0 && layer === 'relief'), 'no images of negative tiles');
    const [x, y] = (await place(page)).split('/').slice(3, 5).map(Number);
    assert.ok(x < ORIGIN && y < ORIGIN, `at ${x}, ${y}`);
    await assertPictured(page);
});

test('far from the anchor another one takes over, at the same place', LIMIT, async () => {
    const { page, tiles } = await visit('#default/relief/9/100000/50000/3d/30/0/10', CALM);
    const stage = () => page.evaluate(() => document.querySelector('.stage').dataset.number);
    const first = await stage();
    await page.locator('#scene canvas').focus();
    for (let zoom = 8; zoom >= 5; zoom--) {
        await page.keyboard.press('-');
        await page.waitForFunction((z) => Math.abs(document.getElementById('zoom').value - z) < 0.2, zoom);
    }
    await page.waitForFunction((old) => {
        const stages = [...document.querySelectorAll('.stage')];
        return stages.length === 1 && stages[0].dataset.number !== old;
    }, first);
    await settled(page);
    const { zoom, x, y } = await readout(page);
    assert.ok(Math.abs(Number(zoom.value) - 5) < 0.3, `zoom ${zoom.value}`);
    assert.ok(Math.hypot(Number(x.value) - 100000, Number(y.value) - 50000) < 40000, `${x.value}, ${y.value}`);
    assert.ok(tiles().some(({ z }) => z === 5));
    assert.ok(await page.evaluate(() => document.activeElement.matches('.stage canvas')), 'the scene has lost the focus');
    await assertPictured(page);
});

/* The heights of a world with rivers have the water; the sea of the other is levelled in the page. */
for (const [world, sea, land] of [['default', '-23552/-14336', '6000/9000'], ['plain', '-189000/-359000', '-300000/0']])
    test(`the sea of ${world} is flat, the land is not`, LIMIT, async () => {
        const hash = (at, factor) => `#${world}/relief/12/${at}/3d/40/0/${factor}`;
        const { page } = await visit(hash(sea, 1), CALM);
        const goTo = async (at, factor) => {
            await page.evaluate((next) => { location.hash = next; }, hash(at, factor));
            await page.waitForFunction((text) => document.getElementById('heights-factor').textContent === text, `×${factor}`);
            await settled(page);
            return pixels(page, 160);
        };
        const change = async (at) => difference(await goTo(at, 1), await goTo(at, 200));
        assert.ok(await change(sea) < 0.5, 'the sea');
        assert.ok(await change(land) > 5, 'the land');
    });

test('the scene works near the limit, and ends there', LIMIT, async () => {
    const far = 2 ** 52;
    const { page, tiles } = await visit(`#default/relief/12/${far - 3000}/${-far + 3000}/3d/50/45`, CALM);
    await assertHeight(page, [far - 3000, -far + 3000]);
    await assertPictured(page);
    assert.ok(tiles().every(({ x, y }) => Number.isSafeInteger(x) && Number.isSafeInteger(y)));
});

/* Over the highest land, from which the lowlands are far below: pixels of the view that the scene leaves empty. */
const HIGH = [[7, 75, 0], [8, 60, 300], [9, 75, 0], [10, 65, 120], [11, 75, 200], [13, 70, 60], [14, 75, 330], [16, 75, 90]];

test('the ground reaches the horizon, and what is beyond is haze', LIMIT, async () => {
    const hashOf = ([zoom, pitch, bearing]) => `#default/relief/${zoom}/2726208/-2582208/3d/${pitch}/${bearing}`;
    const { page } = await visit(hashOf(HIGH[0]), { viewport: { width: 320, height: 320 }, reducedMotion: 'reduce' });
    await page.addStyleTag({ content: '.panel, #crosshair { visibility: hidden !important }' });
    for (const view of HIGH) {
        await page.evaluate((hash) => { location.hash = hash; }, hashOf(view));
        await placeBecomes(page, new RegExp(`/relief/${view[0]}/`));
        await staged(page);
        const haze = await page.locator('.stage').evaluate((stage) => {
            const { backgroundColor } = getComputedStyle(stage);
            stage.style.backgroundColor = '#ff00ff';
            return backgroundColor;
        });
        assert.equal(haze, 'rgb(219, 232, 242)');
        const empty = (await pixels(page, 320)).filter((rgba) => (rgba & 0xffffff) === 0xff00ff).length;
        await page.locator('.stage').evaluate((stage, color) => { stage.style.backgroundColor = color; }, haze);
        assert.ok(empty <= 320, `zoom, pitch, bearing ${view}: ${empty} pixels are empty, more than a row`);
    }
});

/* Assert that the button is disabled and says WHY, and that the view stays flat. */
async function assertFlatOnly(page, why) {
    const button = page.locator('#mode');
    assert.equal(await button.getAttribute('aria-disabled'), 'true');
    assert.match(await button.getAttribute('title'), why);
    await page.keyboard.press('3');
    await hears(page, why);
    await page.evaluate(() => { location.hash = '#default/relief/6/5/5/3d/40/0'; });
    await placeBecomes(page, /^#default\/relief\/6\/5\/5$/);
    await painted(page);
    await hears(page, new RegExp(`${why.source}.*; showing two dimensions\\.$`, 's'));
}

test('the scene shows a world of another seed', LIMIT, async () => {
    const name = 'default:18446744073709551615';
    const { page, tiles } = await visit(`#${name}/relief/7/1000/-2000/3d/50/0`, CALM);
    assert.deepEqual([...new Set(tiles().map(({ world }) => world))], [name]);
    assert.ok(['relief', HEIGHTS].every((wanted) => tiles().some(({ layer }) => layer === wanted)));
    await assertPictured(page);
    await keepScreenshot(page, 'seed-3d.png');
});

test('without WebGL 2 the button is disabled and says so', LIMIT, async () => {
    const { page } = await visit('#default/relief/6/0/0', SMALL, (fresh) => fresh.addInitScript(() => {
        const own = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
            return kind === 'webgl2' ? null : own.call(this, kind, ...rest);
        };
    }));
    await assertFlatOnly(page, /WebGL 2/);
});

test('without a layer of encoded heights the button is disabled and says so', LIMIT, async () => {
    const { page } = await visit('#default/relief/6/0/0', SMALL, async (fresh) => {
        const stock = await (await fetch(new URL('default.json', base))).json();
        const layers = stock.layers.filter(({ name }) => !/^terra/.test(name));
        await fresh.route('**/default.json', (route) => route.fulfill({ json: { ...stock, layers } }));
    });
    await assertFlatOnly(page, /terrarium or terrain-rgb/);
});
