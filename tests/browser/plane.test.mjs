/* The viewer in two dimensions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BROAD, LIMIT, ORIGIN, POSTER, assertHeight, assertPictured, base, daemonArguments, drag, keepScreenshot, painted, place, placeBecomes, readout, screenshots, visit } from './harness.mjs';

daemonArguments.push('--config', BROAD);

test('dragging crosses the origin of the grid into negative tiles', LIMIT, async () => {
    const { page, tiles } = await visit(`#default:28/relief/12/${ORIGIN + 24000}/${ORIGIN + 24000}`);
    assert.ok(tiles().every(({ x, y }) => x >= 0 && y >= 0), 'the first view has negative tiles');
    for (let i = 0; i < 5; i++)
        await drag(page, 340, 260);
    await painted(page);
    assert.ok(tiles().some(({ x, y }) => x < 0 && y < 0), 'no tiles with negative x and y');
    assert.ok(tiles().some(({ x, y }) => x < 0 && y >= 0), 'no tiles with only x negative');
    await assertPictured(page);
    await page.mouse.move(400, 450);
    await assertHeight(page, null, 'default:28');
});

test('zooms out below 0 and back in', LIMIT, async () => {
    const { page, tiles } = await visit('#broad/relief/2/0/0');
    await page.mouse.move(400, 300);
    for (let zoom = 1; zoom >= -1; zoom--) {
        await page.mouse.wheel(0, 60);
        await page.waitForFunction((z) => document.getElementById('zoom').value === String(z), zoom);
        await painted(page);
    }
    assert.ok(tiles().some(({ z }) => z === -1), 'no tiles of zoom -1');
    await placeBecomes(page, /^#broad\/relief\/-1\//);
    await page.locator('#zoom-in').click();
    await page.waitForFunction(() => document.getElementById('zoom').value === '0');
    await painted(page);
    await page.locator('#plane').focus();
    await page.keyboard.press('+');
    await page.waitForFunction(() => document.getElementById('zoom').value === '1');
    await painted(page);
    await assertHeight(page, null, 'broad');
});

test('both ends of the zoom range are painted', LIMIT, async () => {
    const { page } = await visit('#default/relief/26/12.5/-3.25');
    await page.waitForFunction(() => document.getElementById('zoom-in').disabled);
    await assertHeight(page, [12.5, -3.25]);
    await page.evaluate(() => { location.hash = '#default/relief/-26/0/0'; });
    await page.waitForFunction(() => document.getElementById('zoom-out').disabled);
    await page.waitForFunction(() => [...document.querySelectorAll('img.leaflet-tile')]
        .every(({ naturalWidth }) => naturalWidth === 256));
    await assertHeight(page, [0, 0]);
});

test('the view near the limit is exact', LIMIT, async () => {
    const far = 2 ** 52 - 2 ** 21;
    const { page, tiles } = await visit(`#default/relief/26/${far}/${-far}`);
    const { zoom } = await readout(page);
    assert.equal(zoom.value, '16', 'not the deepest zoom that doubles can represent');
    await assertHeight(page, [far, -far]);
    assert.ok(tiles().every(({ x, y }) => Number.isSafeInteger(x) && Number.isSafeInteger(y)));
    await drag(page, -150, 90);
    await painted(page);
    await placeBecomes(page, new RegExp(`/16/${far + 150}/${-far - 90}$`));
});

test('the layer switch changes the tiles', LIMIT, async () => {
    const { page, tiles } = await visit();
    const before = tiles().length;
    await page.locator('#layers label', { hasText: /^Hillshade$/ }).click();
    await painted(page, { layer: 'hillshade' });
    assert.ok(tiles().slice(before).length >= 6);
    assert.ok(tiles().slice(before).every(({ layer }) => layer === 'hillshade'));
    assert.ok(await page.locator('#layers input[value=hillshade]').isChecked());
    await placeBecomes(page, /^#default\/hillshade\//);
    await assertPictured(page);
});

test('the read-out follows the mouse with the true height', LIMIT, async () => {
    const { page } = await visit('#default/relief/12/1600/-3200');
    await assertHeight(page, [1600, -3200]);
    for (const [x, y] of [[200, 250], [700, 450], [401, 300]]) {
        await page.mouse.move(x, y, { steps: 5 });
        await assertHeight(page, [1600 + (x - 400) * 16, -3200 + (y - 300) * 16]);
    }
    await page.evaluate(() => { location.hash = '#default/relief/20/-7.0625/3'; });
    await painted(page);
    await page.mouse.move(408, 299);
    await assertHeight(page, [-6.5625, 2.9375]);
    await keepScreenshot(page, 'viewer-near.png');
});

const askedHeights = (seen) => seen.urls.filter((url) => url.includes('/height?'));

test('heights of a world without rivers are computed in the page, without a request', LIMIT, async () => {
    const { page, seen } = await visit('#plain/relief/12/1600/-3200');
    assert.ok(seen.urls.some((url) => url.endsWith('/viewer/farlands.wasm')));
    for (const [x, y] of [[200, 250], [700, 450], [401, 300], [333, 222]]) {
        await page.mouse.move(x, y, { steps: 20 });
        /* The read-out is current at once. */
        const stale = await page.evaluate(() => document.getElementById('height').dataset.stale);
        assert.equal(stale, undefined);
        await assertHeight(page, [1600 + (x - 400) * 16, -3200 + (y - 300) * 16], 'plain');
    }
    await page.mouse.wheel(0, -60);
    await page.waitForFunction(() => document.getElementById('zoom').value === '13');
    await assertHeight(page, null, 'plain');
    assert.deepEqual(askedHeights(seen), []);
});

test('without WebAssembly the page requests heights from the server', LIMIT, async () => {
    const { page, seen } = await visit('#default/relief/12/1600/-3200', {},
        (fresh) => fresh.addInitScript(() => { delete globalThis.WebAssembly; }));
    await page.mouse.move(200, 250, { steps: 5 });
    await assertHeight(page, [1600 - 200 * 16, -3200 - 50 * 16]);
    assert.ok(askedHeights(seen).length > 0);
});

test('the page notices a changed world although it computes heights itself', LIMIT, async () => {
    let changed = false;
    const { page } = await visit('#plain/relief/12/1600/-3200', {}, (fresh) => fresh.route(/\/plain\.json$/, async (route) => {
        const world = await (await route.fetch()).json();
        const other = { ...world, seed: '77', fingerprint: '0123456789abcdef' };
        await route.fulfill({ json: changed ? other : world });
    }));
    await assertHeight(page, [1600, -3200], 'plain');
    changed = true;
    await page.evaluate(() => {
        const now = performance.now.bind(performance);
        performance.now = () => now() + 60000;
    });
    await page.mouse.move(200, 250, { steps: 3 });
    await page.waitForFunction(() => document.getElementById('seed').textContent.includes('77')
        || document.getElementById('seed-input').value === '77');
    const { height } = await readout(page);
    const { x, y } = await readout(page);
    const old = await (await fetch(new URL(`plain/height?x=${x.value}&y=${y.value}`, base))).json();
    assert.notEqual(Number(height.value), old.height, 'the height is still of the old seed');
});

test('reloading restores the view from the address bar', LIMIT, async () => {
    const { page } = await visit('#default/hillshade/9/5000/-7000');
    await drag(page, -137, 61);
    await placeBecomes(page, /^#default\/hillshade\/9\/(?!5000\/)/);
    await painted(page, { layer: 'hillshade' });
    await assertHeight(page);
    const left = await place(page);
    await page.reload();
    await painted(page, { layer: 'hillshade' });
    await page.waitForTimeout(300);
    assert.equal(await place(page), left);
    const { x, y, zoom } = await readout(page);
    assert.equal(`#default/hillshade/${zoom.value}/${x.value}/${y.value}`, left);
});

test('typed coordinates move the view there', LIMIT, async () => {
    const { page } = await visit();
    await page.locator('#place').fill('-123456, 654321');
    await page.locator('#place').press('Enter');
    await placeBecomes(page, /\/-123456\/654321$/);
    await painted(page);
    await assertHeight(page, [-123456, 654321]);
    await page.locator('#place').fill('north');
    await page.locator('#place').press('Enter');
    assert.equal(await page.locator('#place').getAttribute('aria-invalid'), 'true');
    assert.match(await page.locator('#status').textContent(), /“north” is not a number/);
    await page.locator('#place').fill(`${base}#default/hillshade/7/1000/-2000`);
    await page.locator('#place').press('Enter');
    await placeBecomes(page, /^#default\/hillshade\/7\/1000\/-2000$/);
    await painted(page, { layer: 'hillshade' });
    assert.ok(await page.locator('#status').isHidden());
    await page.goBack();
    await placeBecomes(page, /\/-123456\/654321$/);
    await painted(page, { layer: 'relief' });
});

test('a low zoom is painted', LIMIT, async () => {
    const { page } = await visit('#default/relief/4/0/0', screenshots ? { viewport: POSTER } : {});
    await assertPictured(page);
    await keepScreenshot(page, 'viewer-far.png');
});
