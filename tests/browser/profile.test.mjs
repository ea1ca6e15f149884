/* The height profile: drawn by mouse and by keyboard, its extremes, axes, and the table. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { LIMIT, base, keepScreenshot, placeBecomes, visit } from './harness.mjs';

const WIDE = { viewport: { width: 1000, height: 700 } };
const TOGETHER = 200;             // places per request of this test

/* Wait until LENGTH is measured. */
const measured = (page, length) => page.waitForFunction((expected) =>
    document.getElementById('profile-chart').ariaBusy === 'false'
    && document.getElementById('profile-length').textContent === expected, length);
const factsOf = (page) => page.evaluate(() => ['profile-low', 'profile-high'].map((id) => Number(document.getElementById(id).value)));
const note = (page) => page.locator('#profile-note').textContent();
const number = (text) => Number(text.replace('\u2212', '-').replace(/\u202f|m$/g, ''));

async function draw(page, ...points) {
    await page.locator('#profile-button').click();
    for (const [x, y] of points)
        await page.mouse.click(x, y);
}

/* The heights of all blocks from A to B, as the server computes them. */
async function heightsBetween(a, b) {
    const count = Math.max(Math.abs(b[0] - a[0]), Math.abs(b[1] - a[1]));
    const places = Array.from({ length: count + 1 }, (_, n) => a.map((from, i) => from + Math.round((b[i] - from) * n / count)));
    const heights = [];
    for (let i = 0; i < places.length; i += TOGETHER) {
        const at = places.slice(i, i + TOGETHER).map((place) => place.join()).join(';');
        heights.push(...(await (await fetch(new URL(`default/heights?at=${at}`, base))).json()).heights);
    }
    return heights;
}

for (const [zoom, x, y, points, length] of [
    [13, 0, 0, [[250, 200], [761, 350]], '4.26\u202fk blocks'],
    [13, -70000, 31008, [[300, 150], [750, 160]], '3.6\u202fk blocks'],
    [14, 123456, -7654320, [[700, 120], [200, 420]], '2.33\u202fk blocks'],
    [16, 5000000000, -3, [[500, 100], [501, 430]], '330 blocks'],
])
    test(`the lowest and the highest are the line's: zoom ${zoom} at ${x}, ${y}`, LIMIT, async () => {
        const { page } = await visit(`#default/relief/${zoom}/${x}/${y}`, WIDE);
        await draw(page, ...points);
        await measured(page, length);
        const ends = points.map(([px, py]) => [x + (px - 500) * 2 ** (16 - zoom), y + (py - 350) * 2 ** (16 - zoom)]);
        const heights = await heightsBetween(...ends);
        assert.deepEqual(await factsOf(page), [Math.min(...heights), Math.max(...heights)]);
        assert.match(await note(page), /^Lowest and highest of all [\d\u202f]+ blocks$/);
        assert.equal(number((await note(page)).match(/[\d\u202f]+/)[0]), heights.length);
    });

test('a profile follows the clicked line', LIMIT, async () => {
    const { page } = await visit('#default/relief/6/0/0', WIDE);
    await page.locator('#profile-button').click();
    assert.match(await page.locator('#profile-hint').textContent(), /Click two/);
    await page.mouse.click(300, 200);
    await page.mouse.click(700, 250);
    await measured(page, '413\u202fk blocks');
    assert.match(await note(page), /of 31\u202f509 places, 13 blocks apart, then refined$/);
    /* At least as low and as high as every hundredth block, and as what the buttons lead to. */
    const heights = [];
    for (let n = 0; n <= 4096; n++)
        heights.push([-204800 + 100 * n, Math.round(-153600 + 12.5 * n)]);
    const [low, high] = await factsOf(page);
    const seen = await page.evaluate((places) => Promise.all(Array.from({ length: Math.ceil(places.length / 200) }, (_, i) =>
        fetch(`default/heights?at=${places.slice(200 * i, 200 * i + 200).map((one) => one.join()).join(';')}`)
            .then((response) => response.json()))).then((all) => all.flatMap((one) => one.heights)), heights);
    assert.ok(low <= Math.min(...seen) && Math.max(...seen) <= high, `${low} to ${high}, not ${Math.min(...seen)} to ${Math.max(...seen)}`);
    /* Pointing at the chart marks the place on the map. */
    const box = await page.locator('#profile-chart').boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 20);
    assert.match(await page.locator('#profile-value').textContent(), /m at 20[67]\u202fk blocks$/);
    const dots = await page.locator('#plane path.leaflet-interactive, #plane svg path').evaluateAll((paths) =>
        paths.map((path) => path.getBoundingClientRect()).map(({ x, y, width, height }) => [x + width / 2, y + height / 2]));
    assert.ok(dots.some(([x, y]) => Math.hypot(x - 500, y - 225) < 6), `no mark in the middle of the line: ${dots}`);
    await page.locator('#profile-high').click();
    const text = await page.locator('#profile-high').textContent();
    assert.ok((await page.locator('#profile-value').textContent()).startsWith(`${text} at `));
    assert.equal(await page.locator('#profile-cursor').isVisible(), true);
    await keepScreenshot(page, 'viewer-profile.png');
    await page.keyboard.press('Escape');
    assert.ok(await page.locator('#profile').isHidden());
    assert.equal(await page.locator('#plane svg path').count(), 0);
});

/* The ticks of an axis: values, and where they are drawn, as parts of the chart. */
async function ticksOf(page, id, side) {
    const chart = await page.locator('#profile-chart').boundingBox();
    const items = page.locator(`${id} li`);
    const values = (await items.allTextContents()).map((text) => number(text.replace(/\u202fk$/, '000')));
    const boxes = await items.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON()));
    const shares = boxes.map((box) => (side === 'x' ? (box.x + box.width / 2 - chart.x) / chart.width
        : (chart.y + chart.height - box.y - box.height / 2) / chart.height));
    return { values, shares, boxes };
}

test('axes have round numbers at the right places', LIMIT, async () => {
    for (const [zoom, length] of [[16, '260 blocks'], [6, '266\u202fk blocks'], [20, '25.6 blocks']]) {
        const { page } = await visit(`#default/relief/${zoom}/0/0`, WIDE);
        await draw(page, [300, 200], [zoom === 20 ? 300 + 409 : 400, 200], ...(zoom === 20 ? [] : [[400, 360]]));
        await measured(page, length);
        const far = await ticksOf(page, '#profile-distances', 'x');
        assert.ok(far.values.length >= 4 && far.values[0] === 0, far.values.join());
        const whole = zoom === 20 ? 409 / 16 : 260 * 2 ** (16 - zoom);
        for (const [i, share] of far.shares.entries())
            assert.ok(Math.abs(share - far.values[i] / whole) < 0.01, `${far.values[i]} at ${share}`);
        const high = await ticksOf(page, '#profile-heights', 'y');
        const [low, top] = await factsOf(page);
        const room = 0.12 * (top - low);
        assert.ok(high.values.length >= 2, high.values.join());
        for (const [i, share] of high.shares.entries())
            assert.ok(Math.abs(share - (high.values[i] - low + room) / (top - low + 2 * room)) < 0.03, `${high.values[i]} m at ${share}`);
        for (const { boxes } of [far, high])
            for (const [i, box] of boxes.entries())
                assert.ok(!boxes.slice(0, i).some((one) => one.x < box.right && box.x < one.right && one.y < box.bottom && box.y < one.bottom),
                    'labels overlap');
        assert.match(await page.locator('#profile-chart').getAttribute('aria-label'), /^Heights along .* blocks, from .*m to .*m: arrow keys/);
        await keepScreenshot(page, `viewer-profile-${zoom}.png`);
    }
});

test('the heights can be saved as a table', LIMIT, async () => {
    const { page } = await visit('#default:42/relief/15/1000/-2000', WIDE);
    await draw(page, [300, 200], [500, 300]);
    await measured(page, '447 blocks');
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#profile-save').click()]);
    assert.equal(download.suggestedFilename(), 'default-42-profile.csv');
    const [head, ...rows] = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n');
    assert.equal(head, 'x,y,distance,height');
    assert.equal(rows.length, 401);
    const table = rows.map((row) => row.split(',').map(Number));
    assert.deepEqual(table[0].slice(0, 3), [600, -2300, 0]);
    assert.deepEqual(table.at(-1).slice(0, 2), [1000, -2100]);
    assert.ok(table.every(([x, y, far], n) => x === 600 + n && y === Math.round(-2300 + n / 2) && Math.abs(far - n * Math.sqrt(1.25)) < 1e-3));
    for (const [x, y, , height] of [table[0], table[123], table.at(-1)])
        assert.equal(height, (await (await fetch(new URL(`./default:42/height?x=${x}&y=${y}`, base))).json()).height);
});

test('without WebAssembly the server computes the profile, and failed requests are repeated', LIMIT, async () => {
    let failures = 1;
    const { page, seen } = await visit('#default/relief/14/0/0', WIDE, async (fresh) => {
        await fresh.route(/farlands\.wasm$/, (route) => route.fulfill({ status: 200, body: 'no module' }));
        await fresh.route(/\/heights\?/, (route) => (failures-- > 0 ? route.abort() : route.continue()));
    });
    await draw(page, [300, 200], [499, 200]);
    await measured(page, '796 blocks');
    const heights = await heightsBetween([-800, -600], [-4, -600]);
    assert.deepEqual(await factsOf(page), [Math.min(...heights), Math.max(...heights)]);
    assert.ok(seen.urls.filter((url) => url.includes('/heights?')).length <= 9, 'a request per place');
    assert.equal(await page.locator('#status').textContent(), '');
    seen.trouble = seen.trouble.filter((line) => !/ERR_FAILED/.test(line));
});

test('a profile can be drawn with the keyboard', LIMIT, async () => {
    const { page } = await visit('#default/relief/8/0/0');
    await page.locator('#plane').focus();
    await page.keyboard.press('p');
    await page.keyboard.press('Enter');
    for (let i = 0; i < 3; i++)
        await page.keyboard.press('ArrowRight');
    await placeBecomes(page, /^#default\/relief\/8\/[1-9]/);
    await page.waitForTimeout(400);
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.getElementById('profile-chart').ariaBusy === 'false');
    await page.locator('#profile-chart').focus();
    await page.keyboard.press('End');
    const last = await page.locator('#profile-value').textContent();
    assert.match(last, /m at \d+(\.\d)?\u202fk blocks$/);
    const { now, most } = await page.locator('#profile-chart').evaluate((one) => ({ now: one.ariaValueNow, most: one.ariaValueMax }));
    assert.equal(now, most);
    await page.keyboard.press('ArrowLeft');
    assert.notEqual(await page.locator('#profile-value').textContent(), last);
    const before = Number(await page.locator('#profile-chart').getAttribute('aria-valuenow'));
    assert.ok(before < most && before > most * 0.99, `${before} of ${most}`);
    await page.keyboard.press('PageDown');
    assert.ok(Number(await page.locator('#profile-chart').getAttribute('aria-valuenow')) < before * 0.95);
    await page.keyboard.press('Escape');
    assert.ok(await page.locator('#profile').isHidden());
    assert.ok(await page.evaluate(() => document.activeElement.id === 'plane'), 'the focus is not back on the map');
});
