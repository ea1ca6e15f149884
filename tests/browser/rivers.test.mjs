/* Worlds with rivers: the water under the cursor, and the layer of water. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { LIMIT, base, daemonArguments, difference, hears, keepScreenshot, painted, pixels, readout, settled,
    visit } from './harness.mjs';

daemonArguments.push('--config', path.join(path.dirname(fileURLToPath(import.meta.url)), 'rivers.yaml'));

const WIDE = { viewport: { width: 1000, height: 600 } };
const CALM = { viewport: { width: 640, height: 400 }, reducedMotion: 'reduce' };
const withoutWasm = (fresh) => fresh.addInitScript(() => { delete globalThis.WebAssembly; });

/* The fields around 0, 0, 64 blocks apart, a place of each kind of water, and one amid a lake. */
const SIDE = 400, STEP = 64;
const field = async (name) => new Float32Array(await (await fetch(new URL(
    `./rivers/region.f32?x=${-SIDE / 2 * STEP}&y=${-SIDE / 2 * STEP}&width=${SIDE}&height=${SIDE}&step=${STEP}&field=${name}`, base))).arrayBuffer());

async function places() {
    const [height, water, river] = await Promise.all(['height', 'water', 'river'].map(field));
    const find = (test) => {
        const k = height.findIndex((_, i) => test(height[i], water[i], river[i], i));
        assert.ok(k >= 0, 'no such place');
        return [(k % SIDE - SIDE / 2) * STEP, (Math.floor(k / SIDE) - SIDE / 2) * STEP];
    };
    const isLake = (k) => river[k] === 0 && water[k] > height[k];
    const kinds = {
        River: find((h, w, r) => r > 0 && w > h),
        Lake: find((h, w, r) => r === 0 && w > h + 1),
        Sea: find((h, w) => h < -5 && w < -1000),
        '–': find((h, w) => h > 5 && w < -1000),
    };
    const around = [-1, 0, 1].flatMap((i) => [i - SIDE, i, i + SIDE]);
    const wide = find((h, w, r, k) => around.every((off) => isLake(k + off)) && h > 1 && w > h + 3 && Math.abs(height[k + 1] - h) > 2);
    return { kinds, wide };
}

for (const [how, prepare] of [['computed in the page', undefined], ['of the server', withoutWasm]])
    test(`the readout has the water under the cursor, ${how}`, LIMIT, async () => {
        for (const [kind, [x, y]] of Object.entries((await places()).kinds)) {
            const { page } = await visit(`#rivers/relief/16/${x}/${y}`, WIDE, prepare);
            await readout(page);
            const text = await page.locator('#water').textContent();
            assert.ok(text.startsWith(kind), `${text} at ${x}, ${y}: expected ${kind}`);
            const { water, depth, river, width } = await (await fetch(new URL(`./rivers/height?x=${x}&y=${y}`, base))).json();
            const metres = (value, digits) => `${value.toFixed(digits)}\u202fm`;
            if (kind === 'River')
                assert.equal(text, `River, ${metres(width, width < 10 ? 1 : 0)} wide, ${metres(depth, 1)} deep, of order ${river.toFixed(0)}, at ${metres(water, 0)}`);
            if (kind === 'Lake')
                assert.equal(text, `Lake at ${metres(water, 0)}, ${metres(depth, 0)} deep`);
        }
    });

test('lakes are level in three dimensions', LIMIT, async () => {
    const [x, y] = (await places()).wide;
    const { page, tiles } = await visit(`#rivers/hillshade/17/${x}/${y}/3d/40/0/1`, CALM);
    const low = await pixels(page, 160);
    await page.evaluate((hash) => { location.hash = hash; }, `#rivers/hillshade/17/${x}/${y}/3d/40/0/20`);
    await page.waitForFunction(() => document.getElementById('heights-factor').textContent === '×20');
    await settled(page);
    const [change, contrast] = [difference(low, await pixels(page, 160)), new Set(low).size];
    assert.ok(contrast > 8, `${contrast} colors of the bed`);
    assert.ok(change < 0.5, `heights change the picture by ${change} of 255`);
    assert.ok(tiles().some(({ layer }) => layer === 'terrarium-water') && tiles().every(({ layer }) => layer !== 'terrarium'));
});

test('the layer of water is in the list', LIMIT, async () => {
    const { page } = await visit('#rivers/water/10/0/0', WIDE);
    await painted(page, { layer: 'water' });
    await keepScreenshot(page, 'viewer-water.png');
});

test('the menu of a place follows its water', LIMIT, async () => {
    const { kinds: { River: [x, y] } } = await places();
    const { page } = await visit(`#rivers/relief/12/${x}/${y}`, WIDE);
    const line = page.locator('#plane path.profile-line');
    await page.mouse.click(500, 300, { button: 'right' });
    await page.getByRole('menuitem', { name: 'Follow its water' }).click();
    await hears(page, /blocks to (the sea|a lake without an outlet)\.$/);
    assert.match(await line.getAttribute('d'), /^M.+L.+/);
    const { left, right, top, bottom } = await line.evaluate((path) => path.getBoundingClientRect().toJSON());
    assert.ok(left < 502 && right > 498 && top < 302 && bottom > 298, 'it begins at the place');
    await keepScreenshot(page, 'viewer-course.png');
    await page.keyboard.press('Escape');
    assert.equal(await line.count(), 0);
});

test('worlds without rivers have no box for water', LIMIT, async () => {
    const { page } = await visit('#dry/relief/9/0/0', WIDE);
    await readout(page);
    assert.ok(await page.locator('#water-box').isHidden());
});
