/* The menu of worlds: pictures of their first views, by mouse, keyboard and touch. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FIELDS, LIMIT, daemonArguments, keepScreenshot, painted, placeBecomes, visit } from './harness.mjs';

daemonArguments.push('--config', FIELDS);

const item = (page, name) => page.getByRole('menuitemradio', { name });
const pictures = (page) => page.locator('#worlds img');

const shownPictures = (page) => page.waitForFunction(() => [...document.querySelectorAll('#worlds img')]
    .every(({ complete, naturalWidth }) => complete && naturalWidth === 168));

test('each world has a picture of its first view, which is where it opens', LIMIT, async () => {
    const { page, seen } = await visit('#default/relief/9/1000/-2000');
    const before = seen.urls.length;
    assert.deepEqual(seen.urls.filter((url) => /region\.png.*layer=relief/.test(url)), [], 'nothing is downloaded before the menu opens');
    await page.locator('#world').click();
    await shownPictures(page);
    assert.equal(await pictures(page).count(), 4);
    assert.match(await pictures(page).first().getAttribute('src'), /default\/region\.png\?x=-1376256&y=-851968&width=168&height=105&step=16384&v=[0-9a-f]{16}&layer=relief$/);
    assert.equal(await item(page, 'default').getAttribute('aria-checked'), 'true');
    assert.match(await page.locator('#worlds').textContent(), /A graph of fields, for tests/);
    assert.ok(seen.urls.slice(before).length <= 8, seen.urls.slice(before).join());
    await keepScreenshot(page, 'viewer-worlds.png');
    await item(page, 'graph').click();
    await placeBecomes(page, /^#graph\/relief\/10\/0\/0$/);
    await painted(page);
    assert.equal(await page.locator('#world').textContent().then((text) => text.replace(/\s+/g, ' ').trim()), 'World: graph');
    await page.goBack();
    await placeBecomes(page, /^#default\/relief\/9\/1000\/-2000$/);
});

test('the keyboard chooses a world; pictures are loaded once', LIMIT, async () => {
    const { page, seen } = await visit('#graph/relief/9/1000/-2000');
    await page.locator('#world').focus();
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.dataset.name), 'graph');
    await shownPictures(page);
    const asked = () => seen.urls.filter((url) => url.includes('region.png')).length;
    const once = asked();
    await page.keyboard.press('Escape');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'world');
    await page.keyboard.press('Enter');
    await shownPictures(page);
    assert.equal(asked(), once);
    await page.keyboard.press('ArrowLeft');
    assert.equal(await page.evaluate(() => document.activeElement.dataset.name), 'default');
    await page.keyboard.press('Enter');
    await placeBecomes(page, /^#default\/relief\/4\/0\/0$/);
    await painted(page);
});

test('a phone shows the worlds, and those that fail by name', LIMIT, async () => {
    const { page, seen } = await visit('#default/relief/9/1000/-2000', { viewport: { width: 320, height: 480 }, isMobile: true, hasTouch: true },
        (fresh) => fresh.route(/graph\.json$/, (route) => route.fulfill({ status: 503, json: { error: 'too busy' } })));
    await page.locator('#world').tap();
    await item(page, 'graph').waitFor();
    await page.waitForFunction(() => document.querySelector('#worlds img').naturalWidth === 168);
    await keepScreenshot(page, 'viewer-worlds-phone.png');
    await page.unroute(/graph\.json$/);
    await item(page, 'graph').tap();
    await placeBecomes(page, /^#graph\/relief\/10\/0\/0$/);
    seen.trouble.length = 0;
});
