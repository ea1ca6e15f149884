/* The viewer on phones, on dense screens, in the dark, and without a mouse. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMIT, assertHeight, assertPictured, keepScreenshot, painted, visit } from './harness.mjs';

test('dense screens get @2x tiles', LIMIT, async () => {
    const { page, tiles } = await visit('', { deviceScaleFactor: 2 });
    await painted(page);
    assert.ok(await page.evaluate(() => [...document.querySelectorAll('img.leaflet-tile')]
        .every(({ naturalWidth }) => naturalWidth === 512)));
    assert.ok(tiles().length > 0 && tiles().every(({ dense }) => dense));
    await assertPictured(page);
});

test('a phone shows the map and its height', LIMIT, async () => {
    const viewport = { width: 390, height: 844 };
    const { page } = await visit('', { viewport, isMobile: true, hasTouch: true, deviceScaleFactor: 2 });
    await assertHeight(page);
    await assertPictured(page);
    await keepScreenshot(page, 'viewer-phone.png');
});

const WHOLE = ['#goto', '#layers', '#mode', '#profile-button', '#link', '#zoom-in', '#zoom-out', '#home', '#readout', '#legend'];

/* Assert that each is inside the screen, and that no two overlap. */
async function assertApart(page, ids) {
    const { width, height } = page.viewportSize();
    const boxes = [];
    for (const id of ids) {
        const box = await page.locator(id).boundingBox();
        assert.ok(box && box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height,
            `${id} is at ${JSON.stringify(box)}`);
        const over = boxes.find(([, other]) => box.x < other.x + other.width && other.x < box.x + box.width
            && box.y < other.y + other.height && other.y < box.y + box.height);
        assert.ok(!over, `${id} overlaps ${over?.[0]}`);
        boxes.push([id, box]);
    }
}

for (const viewport of [{ width: 360, height: 640 }, { width: 640, height: 360 }, { width: 1000, height: 600 }])
    test(`no panels overlap at ${viewport.width} x ${viewport.height}`, LIMIT, async () => {
        const { page } = await visit('#default/relief/12/-4503599620000000/4503599620000000', { viewport, hasTouch: viewport.width < 700, isMobile: viewport.width < 700 });
        await assertApart(page, WHOLE);
        await page.evaluate(() => {
            document.body.classList.add('deep');
            for (const id of ['north', 'heights'])
                document.getElementById(id).hidden = false;
        });
        await assertApart(page, [...WHOLE, '#north', '#heights']);
    });

test('a profile can be drawn by touch', LIMIT, async () => {
    const { page } = await visit('#default/relief/6/0/0', { viewport: { width: 360, height: 640 }, isMobile: true, hasTouch: true });
    await page.locator('#profile-button').tap();
    await page.touchscreen.tap(100, 200);
    await page.touchscreen.tap(250, 240);
    await page.waitForFunction(() => document.getElementById('profile-chart').ariaBusy === 'false');
    const box = await page.locator('#profile-chart').boundingBox();
    await page.touchscreen.tap(box.x + box.width / 2, box.y + 30);
    assert.match(await page.locator('#profile-value').textContent(), /blocks$/);
    await page.locator('#profile-close').tap();
    assert.ok(await page.locator('#mode').isVisible());
});

/* WCAG's contrast ratio of two colours, given as rgb(). */
function contrast(a, b) {
    const luminance = (rgb) => rgb.match(/[\d.]+/g).slice(0, 3).map((n) => n / 255)
        .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
}

for (const colorScheme of ['light', 'dark'])
    test(`text has enough contrast in the ${colorScheme} scheme`, LIMIT, async () => {
        const { page } = await visit('#default/relief/6/0/0', { colorScheme });
        const texts = await page.evaluate(() => [...document.querySelectorAll('#world-name, #seed, dt, data, #more, #layers span, summary, li')]
            .map((one) => ({ what: one.textContent, colour: getComputedStyle(one).color, on: getComputedStyle(one).backgroundColor })));
        const panel = await page.locator('.title').evaluate((one) => getComputedStyle(one).backgroundColor);
        for (const { what, colour, on } of texts)
            assert.ok(contrast(colour, on.startsWith('rgba(0, 0, 0, 0)') ? panel : on) >= 4.5, `${what}: ${colour} on ${on}`);
        await keepScreenshot(page, `viewer-${colorScheme}.png`);
    });

/* The colours of what SELECTOR matches, without a background that is nearly transparent. */
const coloursOf = (page, selector) => page.locator(selector).evaluate((one) => {
    const { color, backgroundColor } = getComputedStyle(one);
    const panel = getComputedStyle(one.closest('.panel')).backgroundColor;
    return [color, /, 0(\.[0-4]\d*)?\)$/.test(backgroundColor) ? panel : backgroundColor];
});

for (const colorScheme of ['light', 'dark'])
    test(`what is pressed or chosen stays legible under the pointer in the ${colorScheme} scheme`, LIMIT, async () => {
        const { page } = await visit('#default/terrarium/6/0/0', { colorScheme });
        await page.locator('#profile-button').click();
        for (const selector of ['#profile-button', '#more', '#mode', '#seed-input']) {
            await page.locator(selector).hover();
            const [colour, on] = await coloursOf(page, selector);
            assert.ok(contrast(colour, on) >= 4.5, `${selector}: ${colour} on ${on}`);
        }
        await page.locator('#layers label').first().click();
        await page.locator('#layers label').first().hover();
        const [colour, on] = await coloursOf(page, '#layers input:checked + span');
        assert.ok(contrast(colour, on) >= 4.5, `a layer: ${colour} on ${on}`);
    });

test('a tap leaves no hover behind, and phones do not zoom into fields', LIMIT, async () => {
    const { page } = await visit('#default/relief/6/0/0', { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
    const background = (id) => page.locator(id).evaluate((one) => getComputedStyle(one).backgroundColor);
    const before = await background('#link');
    await page.locator('#zoom-in').tap();
    assert.equal(await background('#zoom-in'), before);
    await page.locator('#profile-button').tap();
    const [colour, on] = await coloursOf(page, '#profile-button');
    assert.ok(contrast(colour, on) >= 4.5, `${colour} on ${on}`);
    const small = await page.locator('input:not([type=range], [type=radio]), select, textarea').evaluateAll((fields) =>
        fields.filter((field) => parseFloat(getComputedStyle(field).fontSize) < 16).map(({ id }) => id));
    assert.deepEqual(small, []);
});
