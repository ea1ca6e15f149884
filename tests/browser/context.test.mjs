/* The menu for a place: by mouse, keyboard and touch; the menu's copies, links and downloads. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { regionOf } from '../../server/viewer/context.js';
import { LIMIT, base, daemonArguments, hears, keepScreenshot, place, placeBecomes, readout, stopClock, visit,
    withClock } from './harness.mjs';

/* The default world, and one so broad that a window of it is too wide for a region. */
const folder = mkdtempSync(path.join(tmpdir(), 'farlands-context-'));
const file = path.join(folder, 'worlds.yaml');
writeFileSync(file, 'worlds:\n  - { like: default }\n  - { name: vast, noise: { wavelength: 1099511627776, octaves: 30 } }\n');
daemonArguments.push('--config', file);
after(() => rmSync(folder, { recursive: true }));

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const FIRST_POINT = 2;           // paths: the point, and the line that begins there
const CLIPBOARD = { permissions: ['clipboard-read', 'clipboard-write'] };
const menu = (page) => page.locator('#context');
const item = (page, name) => page.getByRole('menuitem', { name });
const copied = (page) => page.evaluate(() => navigator.clipboard.readText());
const focused = (page) => page.evaluate(() => document.activeElement.id || document.activeElement.textContent);

async function bytesAt(url) {
    const response = await fetch(url);
    assert.equal(response.status, 200, url);
    return { headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

async function copies(page, name) {
    await page.mouse.click(200, 300, { button: 'right' });
    await item(page, name).click();
    await hears(page, /copied/);
    assert.ok(await menu(page).isHidden());
    return copied(page);
}

test('a right click copies the place and the links to its height and to the view', LIMIT, async () => {
    const { page } = await visit('#default/relief/14/1000/-3', CLIPBOARD);
    await page.mouse.move(200, 300);
    const { x, y, height } = await readout(page);
    assert.equal(await copies(page, 'Copy this place'), `${x.value} ${y.value}`);
    const link = await copies(page, 'Copy link to its height');
    assert.equal(link, new URL(`default/height?x=${x.value}&y=${y.value}`, base).href);
    assert.equal(JSON.parse((await bytesAt(link)).bytes).height, Number(height.value));
    assert.equal(await copies(page, 'Copy link to this view'), page.url().replace('#', '?place='));
    await page.mouse.click(200, 300, { button: 'right' });
    assert.equal(await item(page, 'Open its height').getAttribute('href'), link);
    await keepScreenshot(page, 'viewer-menu.png');
    await page.mouse.click(500, 100);
    assert.ok(await menu(page).isHidden(), 'a click elsewhere closes it');
    assert.equal(await place(page), '#default/relief/14/1000/-3');
});

test('the region that the window shows is downloaded as programs would', LIMIT, async () => {
    const { page } = await visit('#default/relief/14/1000/-3', { acceptDownloads: true });
    const edges = { x: 1000 - 400 * 4, y: -3 - 300 * 4 };
    await page.mouse.click(200, 300, { button: 'right' });
    assert.match(await page.locator('#context-region').textContent(), /80[012] × 60[012] samples, 4 blocks apart/);
    for (const [extension, size] of [['f32', 4], ['r16', 2], ['png, below', 0], ['png, relief', 0]]) {
        const link = await item(page, new RegExp(extension)).getAttribute('href');
        const { headers, bytes } = await bytesAt(link);
        const samples = Number(headers.get('farlands-width')) * Number(headers.get('farlands-height'));
        const [x, y] = headers.get('farlands-origin').split(' ').map(Number);
        assert.equal(headers.get('farlands-step'), '4');
        assert.match(headers.get('cache-control'), /immutable/);
        assert.ok(x <= edges.x && x > edges.x - 4 && y <= edges.y && y > edges.y - 4, `begins at ${x}, ${y}`);
        if (size) {
            assert.equal(bytes.length, samples * size);
            assert.equal(await item(page, new RegExp(extension)).locator('span').textContent(),
                `${extension}, ${samples * size < 1e6 ? `${Math.round(samples * size / 1e3)}\u202fkB` : `${(samples * size / 1e6).toFixed(1)}\u202fMB`}`);
        }
    }
    const saved = page.waitForEvent('download');
    await item(page, /r16/).click();
    const download = await saved;
    assert.match(download.suggestedFilename(), /^default_-60\d_-120[34]_80[012]x60[012]\.r16$/);
    const { bytes } = await bytesAt(download.url());
    assert.deepEqual(await readFile(await download.path()), bytes);
});

test('the keyboard opens the menu, moves in it and leaves it', LIMIT, async () => {
    const { page } = await visit('#default:7/relief/6/0/0', CLIPBOARD);
    for (const key of ['Shift+F10', 'ContextMenu']) {
        await page.locator('#plane').focus();
        await page.keyboard.press(key);
        assert.equal(await focused(page), 'context-place');
        await page.keyboard.press('ArrowDown');
        assert.equal(await focused(page), 'context-height-link');
        await page.keyboard.press('ArrowUp');
        await page.keyboard.press('ArrowUp');
        assert.match(await focused(page), /^Picturepng, relief/);
        await page.keyboard.press('ArrowDown');
        assert.equal(await focused(page), 'context-place');
        await page.keyboard.press('End');
        assert.match(await focused(page), /^Picturepng, relief/);
        await page.keyboard.press('Home');
        await page.keyboard.press('3');          // no key of the page
        await page.keyboard.press('Escape');
        assert.ok(await menu(page).isHidden());
        assert.equal(await focused(page), 'plane');
    }
    await page.keyboard.press('Shift+F10');
    const snapshot = await menu(page).ariaSnapshot();
    for (const line of ['menu "0, 0"', 'menuitem "Copy this place"', 'group "Download this region', 'menuitem "Float metres f32'])
        assert.ok(snapshot.includes(line), `${line} in\n${snapshot}`);
    await page.keyboard.press('Enter');
    await hears(page, /copied/);
    assert.equal(await copied(page), '0 0');
    assert.equal(await focused(page), 'plane');
    await page.keyboard.press('Shift+F10');
    await page.keyboard.press('Tab');
    assert.ok(await menu(page).isHidden());
    assert.equal(await place(page), '#default:7/relief/6/0/0');
});

test('in three dimensions the right button turns the scene, and opens the menu if it does not move', LIMIT, async () => {
    const { page } = await visit('#default/relief/10/0/0/3d/50/0', CLIPBOARD);
    await page.mouse.move(400, 350);
    await page.mouse.down({ button: 'right' });
    assert.ok(await menu(page).isHidden(), 'not before the release');
    await page.mouse.move(520, 350, { steps: 6 });
    await page.mouse.up({ button: 'right' });
    assert.ok(await menu(page).isHidden(), 'not after a turn');
    await placeBecomes(page, /3d\/[\d.]+\/-?[1-9]/);
    await page.mouse.move(400, 350);
    const { x, y } = await readout(page);
    await page.mouse.click(400, 350, { button: 'right' });
    assert.ok(await menu(page).isVisible());
    await keepScreenshot(page, 'viewer-menu-3d.png');
    await item(page, 'Copy this place').click();
    await hears(page, /copied/);
    assert.equal(await copied(page), `${x.value} ${y.value}`);
    assert.ok(await page.evaluate(() => document.activeElement.matches('#scene canvas')), 'the focus returns to the scene');
    await page.keyboard.press('Shift+F10');
    assert.ok(await menu(page).isVisible());
    await page.keyboard.press('Escape');
});

test('the button may also ask for the menu when it goes up, as on Windows', LIMIT, async () => {
    const { page } = await visit('#default/relief/6/0/0');
    const send = (type, x) => page.locator('#plane').dispatchEvent(type,
        { button: 2, clientX: x, clientY: 300, isPrimary: true, pointerType: 'mouse', bubbles: true, cancelable: true });
    for (const [to, opens] of [[300, true], [340, false]]) {
        await send('pointerdown', 300);
        await send('pointermove', to);
        await send('pointerup', to);
        await send('contextmenu', to);
        assert.equal(await menu(page).isVisible(), opens, `moved from 300 to ${to}`);
        await page.mouse.click(700, 100);
    }
});

test('a long press opens the menu; a tap, a drag and two fingers do not', LIMIT, async () => {
    const { page } = await visit('#default/relief/6/0/0', PHONE, withClock);
    const fingers = await page.context().newCDPSession(page);
    const touch = (type, ...points) => fingers.send('Input.dispatchTouchEvent',
        { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
    const rows = [
        { name: 'a tap', moves: [], wait: 100, opens: false },
        { name: 'a drag', moves: [[[150, 330]]], wait: 800, opens: false },
        { name: 'two fingers', moves: [[[150, 300], [250, 400]]], wait: 800, opens: false },
        { name: 'a long press of an unsteady finger', moves: [[[153, 303]]], wait: 800, opens: true },
    ];
    await page.locator('#profile-button').tap();
    await stopClock(page);
    for (const { name, moves, wait, opens } of rows) {
        await touch('touchStart', [150, 300]);
        for (const points of moves)
            await touch(points.length > 1 ? 'touchStart' : 'touchMove', ...points);
        await page.clock.runFor(wait);
        assert.equal(await menu(page).isVisible(), opens, name);
        if (opens)
            await touch('touchMove', [190, 340]);
        await touch('touchEnd');
        await page.clock.runFor(150);
        assert.equal(await menu(page).isVisible(), opens, `${name}, after its end`);
    }
    await page.clock.resume();
    await keepScreenshot(page, 'viewer-menu-phone.png');
    assert.equal(await page.evaluate(() => String(getSelection())), '');
    const points = () => page.locator('#plane svg path').count();
    const before = await points();
    const box = await menu(page).boundingBox();
    assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= 390 && box.y + box.height <= 844, JSON.stringify(box));
    await page.touchscreen.tap(200, 200);
    assert.ok(await menu(page).isHidden());
    assert.equal(await points(), before, 'closing the menu adds no point to the profile');
    assert.equal(before, FIRST_POINT, 'the tap added one, the long press none');
    await page.touchscreen.tap(200, 200);
    assert.ok(await points() > before);
});

test('pages without a clipboard copy by the older command, or show the text', LIMIT, async () => {
    const lacking = (page) => page.addInitScript(() => {
        Object.defineProperty(navigator, 'clipboard', { value: undefined });
        const real = document.execCommand.bind(document);
        window.answers = [];
        document.execCommand = (command) => {
            window.answers.push(String(document.activeElement.value));
            return window.denied ? false : real(command);
        };
    });
    const { page } = await visit('#default/relief/16/1000/-3', {}, lacking);
    await page.locator('#plane').focus();
    for (const [denied, message] of [[false, /^Place copied$/], [true, /^The browser denied access to the clipboard: 1000 -3/]]) {
        await page.evaluate((value) => { window.denied = value; }, denied);
        await page.keyboard.press('Shift+F10');
        await page.keyboard.press('Enter');
        await hears(page, message);
        assert.equal(await page.evaluate(() => window.answers.pop()), '1000 -3');
        assert.equal(await focused(page), 'plane');
    }
});

test('a window too wide for one region says so, and beyond the world there is no place', LIMIT, async () => {
    const { page } = await visit('#vast/relief/-10/0/0');
    await page.evaluate(() => { location.hash = '#vast/relief/-20/4503599620000000/0'; });
    await page.waitForFunction(() => document.getElementById('zoom').value === '-20');
    await page.mouse.click(600, 300, { button: 'right' });
    assert.equal(await page.locator('#context-title').textContent(), 'Outside of the world');
    assert.deepEqual(await page.getByRole('menuitem').allTextContents(), ['Copy link to this view']);
    assert.match(await page.locator('#context-region').textContent(), /Too large/);
    await page.keyboard.press('Escape');
});

test('regions cover the window within the limits of the server', LIMIT, async () => {
    const world = await (await fetch(new URL('default.json', base))).json();
    const { side, coordinate } = world.limits;
    const sizes = [[320, 256], [1440, 900], [3840, 2160], [4096, 4096], [7680, 4320]];
    for (const [width, height] of sizes)
        for (let zoom = -26; zoom <= 26; zoom += 0.5)
            for (const [x, y] of [[0, 0], [-8388608.5, 12.25], [1e9 + 0.5, -1e9], [coordinate, -coordinate]]) {
                const what = `${width} x ${height} at zoom ${zoom}, ${x}, ${y}`;
                const region = regionOf(world, { x, y, zoom }, { width, height });
                const pixel = 2 ** (world.native_zoom - zoom);
                if (!region) {
                    assert.ok(Math.max(width, height) * pixel / 2 ** 20 > side - 3, `${what}: no region`);
                    continue;
                }
                const { step } = region;
                assert.ok(Number.isInteger(Math.log2(step)) && step >= 2 ** -10 && step <= 2 ** 20, `${what}: step ${step}`);
                assert.ok(region.width <= side && region.height <= side && region.width >= 1, what);
                assert.ok(step <= Math.max(1.5 * pixel, 2 ** -10, 2 * pixel * Math.max(width, height) / (side - 2)), `${what}: step ${step}`);
                for (const [first, count, center, pixels] of [[region.x, region.width, x, width], [region.y, region.height, y, height]]) {
                    const last = first + (count - 1) * step;
                    const reach = (blocks) => Math.min(Math.max(blocks, -coordinate), coordinate);
                    assert.ok(Math.abs(first) <= coordinate && last <= coordinate && first % step === 0, what);
                    assert.ok(first <= reach(center - pixels * pixel / 2) + step && last >= reach(center + pixels * pixel / 2) - step, `${what}: ${first} to ${last}`);
                }
            }
});
