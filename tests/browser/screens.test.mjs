/* The viewer on phones, on dense screens, in the dark, and without a mouse. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FIELDS, LIMIT, assertHeight, assertPictured, breakConfiguration, daemonArguments, keepScreenshot, painted,
    readout, visit } from './harness.mjs';

daemonArguments.push('--config', FIELDS);

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

/* Runs in the page: what is wrong with the panels and controls that are displayed. Panels must be inside the window and
 * apart from each other, and the middle of each control must be its own, unless it is scrolled out of its panel. */
function misplaced() {
    const shown = (one) => one.checkVisibility({ visibilityProperty: true }) && one.getBoundingClientRect().width > 1;
    const name = (one) => one.id || one.className || one.getAttribute('aria-label');
    const panels = [...document.querySelectorAll('.panel')].filter(shown)
        .map((one) => ({ name: name(one), box: one.getBoundingClientRect() }));
    const wrong = panels.filter(({ box }) => box.left < 0 || box.top < 0 || box.right > innerWidth || box.bottom > innerHeight)
        .map((panel) => `${panel.name} leaves the window`);
    for (const [i, a] of panels.entries())
        for (const b of panels.slice(0, i))
            if (a.box.left < b.box.right && b.box.left < a.box.right && a.box.top < b.box.bottom && b.box.top < a.box.bottom)
                wrong.push(`${a.name} overlaps ${b.name}`);
    for (const control of [...document.querySelectorAll('.panel :is(button, input, select, summary, [role=slider])')].filter(shown)) {
        const box = control.getBoundingClientRect();
        const panel = control.closest('.panel').getBoundingClientRect();
        const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
        const scrolled = x > panel.right || y > panel.bottom || y < panel.top;
        const top = document.elementFromPoint(x, y);
        if (!scrolled && !control.contains(top) && top?.closest('label') !== control.closest('label'))
            wrong.push(`${name(control)} is below ${top && name(top)}`);
        if (!scrolled && (box.left < panel.left || (box.right > panel.right + 0.5 && !control.closest('.segments'))))
            wrong.push(`${name(control)} leaves its panel`);
    }
    return wrong;
}

/* Runs in the page: the items of the menu ID that are not inside of it, or of the window, nor scrolled to. */
function leaves(id) {
    const menu = document.getElementById(id).getBoundingClientRect();
    const inWindow = menu.left >= 0 && menu.top >= 0 && menu.right <= innerWidth && menu.bottom <= innerHeight;
    const outside = [...document.querySelectorAll(`#${id} [role^=menuitem]`)].filter((item) => item.checkVisibility()).filter((item) => {
        item.scrollIntoView({ block: 'nearest' });
        const { left, right, top, bottom } = item.getBoundingClientRect();
        return left < menu.left || right > menu.right || top < menu.top || bottom > menu.bottom;
    });
    return [...(inWindow ? [] : [id]), ...outside.map(({ textContent }) => textContent)];
}

const setDeep = (page, deep) => page.evaluate((on) => {
    document.body.classList.toggle('deep', on);
    for (const id of ['north', 'heights'])
        document.getElementById(id).hidden = !on;
    document.getElementById('heights-factor').textContent = '×200';
}, deep);

const WINDOWS = [[320, 256], [320, 480], [360, 350], [360, 640], [390, 844], [568, 320], [640, 360], [700, 500], [768, 1024],
    [844, 390], [1000, 600], [1280, 720]];

for (const [width, height] of WINDOWS)
    for (const touch of width < 900 ? [false, true] : [false])
        test(`no controls overlap at ${width} x ${height}${touch ? ' by touch' : ''}`, LIMIT, async () => {
            const { page } = await visit('#default/relief/12/-4503599620000000/4503599620000000',
                { viewport: { width, height }, hasTouch: touch, isMobile: touch });
            await readout(page);
            const assertPlaced = async (state) => assert.deepEqual(await page.evaluate(misplaced), [], state);
            for (const deep of [false, true])
                for (const open of [false, true])
                    for (const said of ['', 'Paris']) {
                        await setDeep(page, deep);
                        await page.locator('#legend').evaluate((legend, on) => { legend.open = on; }, open);
                        await page.locator('#place').fill(said);
                        if (said)
                            await page.locator('#place').press('Enter');
                        await assertPlaced(`${deep ? '3' : '2'} dimensions, the legend ${open ? 'open' : 'closed'}, ${said ? 'a' : 'no'} message`);
                    }
            await page.locator('#place').fill('');
            await page.locator('#journey-button').click();
            assert.deepEqual(await page.evaluate(leaves, 'journey'), [], 'the menu of places to go to');
            await page.keyboard.press('Escape');
            await page.locator('#world').click();
            assert.deepEqual(await page.evaluate(leaves, 'worlds'), [], 'the menu of worlds');
            await page.keyboard.press('Escape');
            await setDeep(page, false);
            await page.locator('#profile-button').click();
            await assertPlaced('a profile');
            await page.keyboard.press('Escape');
            await breakConfiguration(page);
            await assertPlaced('a broken configuration');
            await page.evaluate(() => {
                document.getElementById('broken').hidden = true;
                location.hash = '#graph/field.a_field_that_says_in_its_name_all_that_its_designer_thought_of/12/-4503599620000000/4503599620000000';
            });
            await page.locator('#field-box').waitFor({ state: 'attached' });
            await page.waitForFunction(() => document.getElementById('field').value !== '');
            for (const deep of [false, true])
                for (const open of [false, true]) {
                    await setDeep(page, deep);
                    await page.locator('#legend').evaluate((legend, on) => { legend.open = on; }, open);
                    await assertPlaced(`a field in ${deep ? '3' : '2'} dimensions, the legend ${open ? 'open' : 'closed'}`);
                }
            await keepScreenshot(page, `viewer-field-${width}-${height}.png`);
            await page.evaluate(() => { location.hash = '#climate/relief/9/0/0'; });
            await page.locator('#legend-biomes').waitFor({ state: 'attached' });
            for (const deep of [false, true])
                for (const open of [false, true]) {
                    await setDeep(page, deep);
                    await page.locator('#legend').evaluate((legend, on) => { legend.open = on; }, open);
                    await assertPlaced(`a climate in ${deep ? '3' : '2'} dimensions, the legend ${open ? 'open' : 'closed'}`);
                }
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

/* WCAG's contrast ratio of two colors, given as rgb(). */
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
        const texts = await page.evaluate(() => [...document.querySelectorAll('#world-name, #seed, dt, data, #more, #layers span, summary, li, #legend-note')]
            .map((one) => ({ what: one.textContent, color: getComputedStyle(one).color, on: getComputedStyle(one).backgroundColor })));
        const panel = await page.locator('.title').evaluate((one) => getComputedStyle(one).backgroundColor);
        for (const { what, color, on } of texts)
            assert.ok(contrast(color, on.startsWith('rgba(0, 0, 0, 0)') ? panel : on) >= 4.5, `${what}: ${color} on ${on}`);
        await keepScreenshot(page, `viewer-${colorScheme}.png`);
    });

/* The colors of what SELECTOR matches, without a background that is nearly transparent. */
const colorsOf = (page, selector) => page.locator(selector).evaluate((one) => {
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
            const [color, on] = await colorsOf(page, selector);
            assert.ok(contrast(color, on) >= 4.5, `${selector}: ${color} on ${on}`);
        }
        await page.locator('#layers label').first().click();
        await page.locator('#layers label').first().hover();
        const [color, on] = await colorsOf(page, '#layers input:checked + span');
        assert.ok(contrast(color, on) >= 4.5, `a layer: ${color} on ${on}`);
    });

test('a tap leaves no hover behind, and phones do not zoom into fields', LIMIT, async () => {
    const { page } = await visit('#default/relief/6/0/0', { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
    const background = (id) => page.locator(id).evaluate((one) => getComputedStyle(one).backgroundColor);
    const before = await background('#link');
    await page.locator('#zoom-in').tap();
    assert.equal(await background('#zoom-in'), before);
    await page.locator('#profile-button').tap();
    const [color, on] = await colorsOf(page, '#profile-button');
    assert.ok(contrast(color, on) >= 4.5, `${color} on ${on}`);
    const small = await page.locator('input:not([type=range], [type=radio]), select, textarea').evaluateAll((fields) =>
        fields.filter((field) => parseFloat(getComputedStyle(field).fontSize) < 16).map(({ id }) => id));
    assert.deepEqual(small, []);
});
