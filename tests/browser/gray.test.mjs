/* The layers of gray shades, stretched to the heights in view. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMIT, base, drag, keepScreenshot, painted, pixels, readout, settled, staged, visit } from './harness.mjs';

const WINDOW = { viewport: { width: 1000, height: 700 } };
const OPEN = { x: 300, y: 130, width: 600, height: 240 };         // a part of the window without panels

const number = (text) => Number(text.replace('sea level', '0').replace('\u2212', '-').replace(/\u202f|m$/g, ''));
const rangeOf = async (page) => {
    const labels = (await page.locator('#legend-labels li').allTextContents()).map(number);
    return [Math.min(...labels), Math.max(...labels)];
};

async function heightsAt(places, name = 'default') {
    const at = places.map(([x, y]) => `${x},${y}`).join(';');
    return (await (await fetch(new URL(`./${name}/heights?at=${at}`, base))).json()).heights;
}

/* The shade at positions of the screen, 0 to 255. */
async function shadesAt(page, positions) {
    const png = (await page.screenshot()).toString('base64');
    return page.evaluate(async ([encoded, wanted]) => {
        const image = new Image();
        image.src = `data:image/png;base64,${encoded}`;
        await image.decode();
        const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
        context.drawImage(image, 0, 0);
        return wanted.map(([x, y]) => context.getImageData(x, y, 1, 1).data[0]);
    }, [png, positions]);
}

/* Places all over the open part of the window, on the screen and in blocks. */
function spots(zoom, [x, y], across = 10, down = 6) {
    const step = 2 ** (16 - zoom);
    return Array.from({ length: across * down }, (_, i) => {
        const at = [OPEN.x + Math.floor(OPEN.width * (i % across) / across), OPEN.y + Math.floor(OPEN.height * Math.floor(i / across) / down)];
        return { at, blocks: [x + (at[0] - 500) * step, y + (at[1] - 350) * step] };
    });
}

/* Shades follow the legend everywhere: no seams between tiles. */
async function assertShades(page, zoom, centre, tolerance) {
    const [low, high] = await rangeOf(page);
    const seen = spots(zoom, centre);
    const shades = await shadesAt(page, seen.map(({ at }) => at));
    const heights = await heightsAt(seen.map(({ blocks }) => blocks));
    const error = tolerance + 255 * 0.01 / (high - low);         // labels and encoding are rounded
    for (const [i, height] of heights.entries())
        assert.ok(Math.abs(shades[i] - 255 * Math.min(Math.max((height - low) / (high - low), 0), 1)) <= error,
            `${shades[i]} at ${seen[i].at} for ${height} in ${low} to ${high}`);
    return heights.filter((height) => height < low || height > high).length;
}

for (const [layer, zoom, centre] of [['gray', 4, [0, 0]], ['height', 8, [-512000, 102400]], ['gray', 12, [0, 0]], ['gray', 14, [70000, -3200]],
    ['height', 16, [1e9, 512]], ['gray', 20, [0, 0]]])
    test(`${layer} shows the relief at zoom ${zoom}`, LIMIT, async () => {
        const { page } = await visit(`#default/${layer}/${zoom}/${centre.join('/')}`, WINDOW);
        await settled(page);
        assert.ok(new Set(await pixels(page)).size >= 60, 'too few shades');
        assert.equal(await assertShades(page, zoom, centre, 2), 0, 'places beyond the range');
        await keepScreenshot(page, `viewer-${layer}-${zoom}.png`);
    });

test('shades stay during a short pan and change with the view', LIMIT, async () => {
    const { page } = await visit('#default/gray/12/0/0', WINDOW);
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
    const { page, tiles } = await visit('#default/gray/13/0/0', WINDOW);
    await settled(page);
    assert.ok(tiles().every(({ layer }) => layer === 'terrarium'));
    assert.ok(await page.locator('#stretch').isChecked());
    await page.getByLabel('Fit to view').uncheck();
    await painted(page, { layer: 'gray' });
    await settled(page);
    const { range } = await (await fetch(new URL('default.json', base))).json();
    assert.deepEqual(await rangeOf(page), range);
    assert.ok(new Set(await shadesAt(page, spots(13, [0, 0]).map(({ at }) => at))).size < 5);
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
    const { page } = await visit('#default/gray/12/0/0/3d/0/0/1', WINDOW);
    assert.ok(await assertShades(page, 12, [0, 0], 6) <= 3, 'the range misses the view');
    const first = await rangeOf(page);
    const labels = await page.locator('#legend-labels').textContent();
    await page.locator('#place').fill('200000 5000');
    await page.locator('#place').press('Enter');
    await page.waitForFunction((before) => document.getElementById('legend-labels').textContent !== before, labels);
    await staged(page);
    assert.notDeepEqual(await rangeOf(page), first);
    assert.ok(await assertShades(page, 12, [200000, 5000], 6) <= 3, 'the range misses the view');
    await page.getByLabel('Fit to view').uncheck();
    await page.waitForTimeout(500);
    await staged(page);
    const { range } = await (await fetch(new URL('default.json', base))).json();
    assert.deepEqual(await rangeOf(page), range);
    assert.equal(await assertShades(page, 12, [200000, 5000], 6), 0);
    assert.ok(new Set(await shadesAt(page, spots(12, [0, 0]).map(({ at }) => at))).size < 8);
});
