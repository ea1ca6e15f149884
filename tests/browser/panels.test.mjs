/* The panels: legend, profile, link, layers, seeds, messages; by mouse and by keyboard. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BROAD, LIMIT, assertHeight, assertPictured, base, daemonArguments, hears, keepScreenshot, painted, place,
    placeBecomes, readout, visit } from './harness.mjs';

daemonArguments.push('--config', BROAD);

const world = async (name = 'default') => (await fetch(new URL(`${name}.json`, base))).json();
const number = (text) => Number(text.replace('\u2212', '-').replace(/\u202f|m$/g, ''));

test('the legend shows the palette of the relief', LIMIT, async () => {
    const { page } = await visit('#plain/relief/6/0/0');
    const { palette, range } = await world('plain');
    assert.ok(await page.locator('#legend-bar').isVisible());
    const gradient = await page.locator('#legend-bar').evaluate((bar) => bar.style.backgroundImage);
    const colors = gradient.match(/rgb\([^)]+\)/g).map((rgb) => `#${rgb.match(/\d+/g).map((n) => Number(n).toString(16).padStart(2, '0')).join('')}`);
    const inside = palette.filter(([height]) => height > range[0] && height < range[1]).map(([, color]) => color);
    assert.deepEqual(colors.slice(1, -1), inside);
    const labels = await page.locator('#legend-labels li').allTextContents();
    assert.ok(labels.includes('sea level'), labels.join());
    assert.deepEqual([...labels.map((text) => (text === 'sea level' ? 0 : number(text)))].filter((h) => range.includes(h)).sort((a, b) => a - b), range);
    const edges = gradient.match(/[\d.]+%/g);
    assert.ok(edges.some((at, i) => at === edges[i + 1]), 'the gradient has a hard edge at sea level');
    /* The mark is between the labels next below and above the height. */
    await assertHeight(page, [0, 0], 'plain');
    const middle = (locator) => locator.boundingBox().then(({ y, height }) => y + height / 2);
    const mark = await middle(page.locator('#legend-mark'));
    assert.ok(mark < await middle(page.locator('#legend-labels li', { hasText: 'sea level' })), 'the mark is below sea level');
    assert.ok(mark > await middle(page.locator('#legend-labels li', { hasText: /^6/ })));
    await page.locator('#layers label', { hasText: /^Hillshade$/ }).click();
    assert.ok(await page.locator('#legend-scale').isHidden());
    await page.locator('#more').selectOption('normal');
    assert.ok(await page.locator('#legend').isHidden());
});

test('the legend has the exaggeration of the zoom in view', LIMIT, async () => {
    const { page } = await visit('#default/relief/4/0/0');
    const text = page.locator('#legend-shading');
    assert.equal(await text.textContent(), 'Shading \u00d7\u202f32');
    await page.evaluate(() => { location.hash = '#default/hillshade/10/0/0'; });
    await page.waitForFunction(() => document.getElementById('legend-shading').textContent === 'Shading \u00d7\u202f4.5');
    assert.ok(await text.isVisible());
    await page.locator('#layers label', { hasText: /^Gray$/ }).click();
    assert.ok(await text.isHidden());
});

test('the copied link leads to the current view', LIMIT, async () => {
    const { page } = await visit('#default/gray/9/5000/-7000', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.locator('#link').click();
    await hears(page, /^Link copied$/);
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `${base}?place=default/gray/9/5000/-7000`);
    await page.waitForFunction(() => document.getElementById('status').hidden);
});

test('a link with a query opens its place, and the address bar has only the view', LIMIT, async () => {
    for (const [link, hash] of [
        ['?place=default/gray/9/5000/-7000', '#default/gray/9/5000/-7000'],
        ['?place=default%3A7%2Frelief%2F8%2F-1%2F2&utm_source=x', '#default:7/relief/8/-1/2'],
        ['?place=default/gray/9/5000/-7000#default/relief/8/1/2', '#default/relief/8/1/2'],
    ]) {
        const { page } = await visit(link);
        assert.equal(page.url(), `${base}${hash}`, link);
    }
});

test('every layer can be selected, image layers first', LIMIT, async () => {
    const { page } = await visit('#default/terrarium/6/0/0');
    const { layers } = await world();
    const first = await page.locator('#layers input').evaluateAll((inputs) => inputs.map(({ value }) => value));
    const more = await page.locator('#more option').evaluateAll((options) => options.map(({ value }) => value).filter(Boolean));
    assert.deepEqual(first, ['relief', 'hillshade', 'gray']);
    assert.deepEqual([...first, ...more].sort(), layers.map(({ name }) => name).sort());
    assert.equal(await page.locator('#more').inputValue(), 'terrarium');
    await page.locator('#more').selectOption('normal');
    await painted(page, { layer: 'normal' });
    await placeBecomes(page, /^#default\/normal\//);
    await page.goBack();
    await painted(page, { layer: 'terrarium' });
    assert.equal(await page.locator('#more').inputValue(), 'terrarium');
});

/* The worlds of the displayed tiles. */
const shown = (page) => page.evaluate(() => [...new Set([...document.querySelectorAll('img.leaflet-tile')]
    .map(({ src }) => new URL(src).pathname.split('/')[1]))]);
const worldsOf = (tiles) => [...new Set(tiles().map(({ world: name }) => decodeURIComponent(name)))];

test('a seed can be typed if the world allows any seed', LIMIT, async () => {
    const { page, tiles, seen } = await visit('#default/relief/6/0/0');
    assert.ok(await page.locator('#seed').isHidden());
    assert.equal(await page.locator('#seed-input').inputValue(), (await world()).seed);
    await page.locator('#seed-input').fill('  ');
    await page.locator('#seed-input').press('Enter');
    assert.match(await page.locator('#status').textContent(), /^Enter a seed: a number, or any other text/);
    assert.equal(await page.locator('#seed-input').getAttribute('aria-invalid'), 'true');
    assert.deepEqual(worldsOf(tiles), ['default']);
    seen.urls.length = 0;
    await page.locator('#seed-input').fill('0042');
    await page.locator('#seed-input').press('Enter');
    await placeBecomes(page, /^#default:42\/relief\/6\/0\/0$/);
    await painted(page);
    assert.deepEqual(worldsOf(tiles), ['default:42']);
    assert.deepEqual(await shown(page), ['default:42']);
    assert.equal(await page.title(), 'Farlands: default:42');
    assert.equal(await page.locator('#seed-input').inputValue(), '42');
    assert.equal(await page.locator('#status').textContent(), '');
    await page.waitForFunction(() => !('stale' in document.getElementById('height').dataset));
    const { height } = await (await fetch(new URL('./default:42/height?x=0&y=0', base))).json();
    assert.equal((await readout(page)).height.value, String(height));
    await assertPictured(page);
    await keepScreenshot(page, 'seed-42.png');
    await page.goBack();
    await placeBecomes(page, /^#default\/relief\//);
    await page.waitForFunction(() => document.title === 'Farlands: default');
    await painted(page);
    assert.deepEqual(await shown(page), ['default']);
});

const typeSeed = async (page, seed) => {
    await page.locator('#seed-input').fill(seed);
    await page.locator('#seed-input').press('Enter');
};

test('a seed can be text: the link has its number, the field keeps the text', LIMIT, async () => {
    const { page, tiles } = await visit('#default/relief/6/0/0');
    const shows = (text) => page.waitForFunction((value) => document.getElementById('seed-input').value === value, text);
    await typeSeed(page, ' Rivers & towers ');
    await placeBecomes(page, /^#default:10180851224283138830\/relief\/6\/0\/0$/);
    await shows('Rivers & towers');
    await painted(page);
    assert.deepEqual(worldsOf(tiles), ['default', 'default:10180851224283138830']);
    await typeSeed(page, '007');
    await placeBecomes(page, /^#default:7\/relief\/6\/0\/0$/);
    await shows('7');
    await page.goBack();
    await shows('Rivers & towers');
    await page.reload();
    await shows('10180851224283138830');
});

test('a seed typed while the server is away opens when it is back', LIMIT, async () => {
    const { page, tiles, seen } = await visit('#default/relief/6/0/0');
    await page.route('**/*', (route) => route.abort());
    await typeSeed(page, '41');
    await page.waitForFunction(() => /unreachable, “default:41” opens when/.test(document.getElementById('status').textContent));
    await typeSeed(page, '42');
    await page.waitForFunction(() => /unreachable, “default:42” opens when/.test(document.getElementById('status').textContent));
    assert.equal(await page.locator('#seed-input').inputValue(), '42');
    await page.unroute('**/*');
    await placeBecomes(page, /^#default:42\/relief\/6\/0\/0$/);
    await painted(page);
    assert.ok(await page.locator('#status').isHidden());
    await page.waitForTimeout(3500);         // longer than the pause before the first world's next request
    assert.deepEqual(worldsOf(tiles), ['default', 'default:42']);
    assert.ok(seen.trouble.every((line) => /ERR_FAILED/.test(line)), seen.trouble.join());
    seen.trouble.length = 0;
    await page.route('**/*', (route) => route.abort());
    await page.goBack();
    await page.waitForFunction(() => /unreachable, “default” opens when/.test(document.getElementById('status').textContent));
    await page.goForward();                  // to the world on the screen: nothing is awaited any more
    await page.locator('#status').waitFor({ state: 'hidden' });
    await page.unroute('**/*');
    await page.waitForTimeout(3500);
    assert.match(await place(page), /^#default:42\//);
    seen.trouble.length = 0;
});

test('a link with a seed opens that world', LIMIT, async () => {
    const most = '18446744073709551615';
    const { page, tiles } = await visit(`#default:${most}/relief/7/1000/-2000`, { permissions: ['clipboard-read', 'clipboard-write'] });
    assert.deepEqual(worldsOf(tiles), [`default:${most}`]);
    assert.equal(await page.locator('#seed-input').inputValue(), most);
    await page.locator('#link').click();
    await hears(page, /^Link copied$/);
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `${base}?place=default:${most}/relief/7/1000/-2000`);
});

test('shows the seed if the world has only one', LIMIT, async () => {
    const { page } = await visit('', {}, (fresh) => fresh.route(/\/default\.json$/, async (route) =>
        route.fulfill({ json: { ...await world(), seeds: 'fixed' } })));
    assert.ok(await page.locator('#seed-form').isHidden());
    assert.equal(await page.locator('#seed').textContent(), `seed ${(await world()).seed}`);
});

test('shows the first world, and says so, if there is none of the name', LIMIT, async () => {
    const { page, seen } = await visit('#nowhere:5/relief/6/0/0');
    await hears(page, /^No world “nowhere:5”; showing “default”\.$/);
    await placeBecomes(page, /^#default\/relief\/6\/0\/0$/);
    assert.ok(seen.trouble.every((line) => /404/.test(line)), seen.trouble.join());
    seen.trouble.length = 0;
});

test('ends its zooms at the least one at which something is left to see', LIMIT, async () => {
    const { limits: { overview } } = await world();
    const { page } = await visit('#default/relief/-20/0/0');
    await placeBecomes(page, new RegExp(`^#default/relief/${overview}/0/0$`));
    await page.locator('#zoom-out:disabled').waitFor();
    await page.locator('#plane').focus();
    await page.keyboard.press('-');
    await page.keyboard.press('+');
    await placeBecomes(page, new RegExp(`^#default/relief/${overview + 1}/0/0$`));
});

test('Tab reaches every control and shows the focus', LIMIT, async () => {
    const { page } = await visit('#default/relief/6/0/0');
    const reached = new Set();
    for (let i = 0; i < 24; i++) {
        await page.keyboard.press('Tab');
        const { id, outline } = await page.evaluate(() => {
            const { activeElement: active } = document;
            const shown = active.matches('.segments input') ? active.nextElementSibling : active;
            const name = active.name === 'layer' ? 'layer' : active.id || active.title || active.tagName;
            const boxed = active.closest('#goto') ? active.closest('#goto') : shown;
            const { outlineStyle, borderColor } = getComputedStyle(boxed);
            return { id: name, outline: outlineStyle !== 'none' || borderColor !== '' };
        });
        reached.add(id);
        assert.ok(outline, `${id} does not show its focus`);
    }
    for (const id of ['plane', 'place', 'Go', 'layer', 'more', 'mode', 'profile-button', 'link', 'zoom-in', 'zoom-out', 'home'])
        assert.ok(reached.has(id), `${id} is not among ${[...reached]}`);
    assert.ok(!reached.has('north') && !reached.has('heights-range'), 'Tab reaches hidden controls of the scene');
    const unnamed = await page.locator('button, input, select').evaluateAll((all) => all.filter((one) =>
        !(one.getAttribute('aria-label') || one.textContent.trim() || one.labels?.length)).map(({ outerHTML }) => outerHTML));
    assert.deepEqual(unnamed, []);
    assert.equal(await place(page), '#default/relief/6/0/0');
});
