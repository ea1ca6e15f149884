/* Drives the viewer of a freshly started daemon in Chromium, as a reader would. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, afterEach, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const here = path.dirname(fileURLToPath(import.meta.url));
const binary = process.env.FARLANDS || path.join(here, '../../build/farlands');
const executablePath = process.env.CHROMIUM || '/usr/bin/chromium';
const screenshots = process.env.SCREENSHOTS;

const SLOW = Number(process.env.PATIENCE) || 1;   // for builds slowed down by sanitizers
const WAIT = 10000 * SLOW;           // ms for any one thing
const ALTOGETHER = 48000 * SLOW;     // ms, after which nothing is waited for any more
const WINDOW = { width: 800, height: 600 };
const POSTER = { width: 1600, height: 900 };
const ORIGIN = -8388608;      // the block where tile (0, 0) of every zoom begins

const started = Date.now();
const patience = () => Math.max(1, Math.min(WAIT, started + ALTOGETHER - Date.now()));

let daemon;
let exited;
let cache;
let base;
let browser;
let open = [];

before(async () => {
    cache = await mkdtemp(path.join(tmpdir(), 'farlands-browser-'));
    daemon = spawn(binary, ['serve', '--listen', '127.0.0.1:0', '--cache', cache],
        { stdio: ['ignore', 'pipe', 'inherit'] });
    exited = once(daemon, 'exit');
    base = await within(firstUrl(daemon.stdout), 'the daemon to say where it serves');
    browser = await chromium.launch({
        executablePath,
        timeout: WAIT,
        args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
            '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    });
}, { timeout: 20000 * SLOW });

after(async () => {
    try {
        if (browser)
            await within(browser.close(), 'the browser to close').catch(() => {});
        if (daemon && daemon.pid)
            await endDaemon();
    } finally {
        await rm(cache, { recursive: true, force: true });
    }
}, { timeout: 25000 * SLOW });

async function endDaemon() {
    daemon.kill('SIGTERM');
    const [code, signal] = await within(exited, 'the daemon to end').catch((error) => {
        daemon.kill('SIGKILL');
        throw error;
    });
    assert.deepEqual({ code, signal }, { code: 0, signal: null }, 'exit status after SIGTERM');
}

/* Every page of a test is checked for trouble when the test is over. */
afterEach(async () => {
    const pages = open;
    open = [];
    const trouble = pages.flatMap((seen) => seen.trouble);      // closing a page adds cancelled requests
    for (const { context } of pages)
        await context.close();
    assert.deepEqual(trouble, []);
});

async function within(promise, what, ms = WAIT) {
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`waited ${ms} ms for ${what}`)), ms);
    });
    try {
        return await Promise.race([promise, late]);
    } finally {
        clearTimeout(timer);
    }
}

async function firstUrl(stream) {
    for await (const line of createInterface({ input: stream })) {
        const match = /^farlands: serving (http:\/\/\S+)/.exec(line);
        if (match)
            return match[1];
    }
    throw new Error('the daemon ended without serving');
}

async function visit(hash = '', options = {}) {
    const context = await browser.newContext({ viewport: WINDOW, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(patience());
    const seen = { context, trouble: [], urls: [] };
    const isTile = (url) => url.includes('.png');
    open.push(seen);
    page.on('console', (message) => {
        if (message.type() === 'error')
            seen.trouble.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => seen.trouble.push(`page: ${error}`));
    page.on('request', (request) => seen.urls.push(request.url()));
    page.on('response', (response) => {
        if (response.status() >= 400)
            seen.trouble.push(`${response.status()}: ${response.url()}`);
    });
    page.on('requestfailed', (request) => {
        const reason = request.failure().errorText;
        /* Panning cancels tiles, reloading cancels the favicon ("other"). */
        const cancelled = reason === 'net::ERR_ABORTED' && ['image', 'other'].includes(request.resourceType());
        if (!cancelled)
            seen.trouble.push(`${reason}: ${request.url()}`);
    });
    await page.goto(base + hash);
    await painted(page);
    return { page, seen, tiles: () => seen.urls.filter(isTile).map(tileOf) };
}

function tileOf(url) {
    const match = /\/([^/]+)\/([^/]+)\/(-?\d+)\/(-?\d+)\/(-?\d+)(@2x)?\.png/.exec(new URL(url).pathname);
    assert.ok(match, `a tile URL: ${url}`);
    const [, world, layer, z, x, y, dense] = match;
    return { world, layer, z: Number(z), x: Number(x), y: Number(y), dense: Boolean(dense) };
}

/* The view is covered with loaded tiles of the zoom that the read-out shows, all faded in. */
async function painted(page, { layer = null } = {}) {
    const deadline = Date.now() + patience();
    for (;;) {
        const missing = await page.evaluate(whatIsMissing, layer);
        if (!missing.length)
            return;
        assert.ok(Date.now() < deadline, `not painted in time:\n${missing.join('\n')}`);
        await page.waitForTimeout(40);
    }
}

/* Runs in the page: what keeps the view from being painted, a line each. */
function whatIsMissing(layer) {
    const zoom = document.getElementById('zoom').value;
    const size = devicePixelRatio > 1 ? 512 : 256;
    const images = [...document.querySelectorAll('img.leaflet-tile')];
    const missing = document.querySelector('.leaflet-zoom-anim') ? ['the zoom is still moving'] : [];
    for (const image of images) {
        const { src, complete, naturalWidth, classList } = image;
        const { opacity } = getComputedStyle(image);
        const shown = complete && naturalWidth === size && opacity === '1' && classList.contains('leaflet-tile-loaded');
        const wanted = new RegExp(`/${layer || '[^/]+'}/${zoom}/-?\\d+/-?\\d+(@2x)?\\.png`).test(src);
        if (!shown || !wanted)
            missing.push(`${src}: ${naturalWidth} wide, opacity ${opacity}, zoom ${zoom}`);
    }
    const [right, bottom] = [innerWidth - 2, innerHeight - 2];
    for (const [x, y] of [[1, 1], [right, 1], [1, bottom], [right, bottom], [right / 2, bottom / 2]]) {
        const covered = images.some((image) => {
            const box = image.getBoundingClientRect();
            return box.left <= x && x < box.right && box.top <= y && y < box.bottom;
        });
        if (!covered)
            missing.push(`no tile at ${x},${y}`);
    }
    return missing;
}

/* Distinct colours of what is on the screen, panels left out. */
async function colours(page) {
    const { width, height } = page.viewportSize();
    const clip = { x: width / 2 - 128, y: height / 2 - 128, width: 256, height: 256 };
    const png = (await page.screenshot({ clip })).toString('base64');
    return page.evaluate(async (encoded) => {
        const image = new Image();
        image.src = `data:image/png;base64,${encoded}`;
        await image.decode();
        const canvas = document.createElement('canvas');
        canvas.width = image.naturalWidth;
        canvas.height = image.naturalHeight;
        const context = canvas.getContext('2d');
        context.drawImage(image, 0, 0);
        const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size;
    }, png);
}

async function assertPictured(page) {
    const count = await colours(page);
    assert.ok(count >= 16, `${count} distinct colours on the screen`);
}

async function readout(page) {
    await page.waitForFunction(() => {
        const height = document.getElementById('height');
        return height.value !== '' && !('stale' in height.dataset);
    });
    return page.evaluate(() => Object.fromEntries(['x', 'y', 'height', 'zoom'].map((id) => {
        const { value, textContent } = document.getElementById(id);
        return [id, { value, text: textContent.replace('\u2212', '-').replace(/\u202f/g, '') }];
    })));
}

async function assertHeight(page, expectedAt) {
    const { x, y, height } = await readout(page);
    assert.equal(x.text, x.value);
    assert.equal(y.text, y.value);
    if (expectedAt)
        assert.deepEqual([Number(x.value), Number(y.value)], expectedAt);
    const response = await fetch(new URL(`default/height?x=${x.value}&y=${y.value}`, base));
    assert.equal(response.status, 200);
    const truth = await response.json();
    assert.equal(truth.x, Number(x.value));
    assert.equal(truth.y, Number(y.value));
    assert.equal(Number(height.value), truth.height);
    const digits = /\.(\d+) m$/.exec(height.text)[1].length;
    assert.ok(Math.abs(parseFloat(height.text) - truth.height) <= 0.51 * 10 ** -digits,
        `${height.text} for ${truth.height}`);
}

async function drag(page, dx, dy) {
    const { width, height } = page.viewportSize();
    const [x, y] = [width / 2, height / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + dx / 2, y + dy / 2, { steps: 4 });
    await page.mouse.move(x + dx, y + dy, { steps: 4 });
    await page.waitForTimeout(120);      // a pause before letting go: no inertia
    await page.mouse.up();
}

const place = (page) => page.evaluate(() => location.hash);

async function placeBecomes(page, pattern) {
    await page.waitForFunction((source) => new RegExp(source).test(location.hash), pattern.source);
}

async function keepScreenshot(page, name) {
    if (!screenshots)
        return;
    await mkdir(screenshots, { recursive: true });
    await page.screenshot({ path: path.join(screenshots, name) });
}

test('the start view is painted', { timeout: 20000 * SLOW }, async () => {
    const { page, tiles } = await visit('', { viewport: POSTER });
    assert.match(await page.title(), /Farlands/);
    await assertPictured(page);
    assert.ok(tiles().length >= 20, 'tiles were requested');
    assert.ok(tiles().every(({ world, layer, dense }) => world === 'default' && layer === 'relief' && !dense));
    await assertHeight(page);
    await placeBecomes(page, /^#default\/relief\/\d+\/-?\d+\/-?\d+$/);
    await keepScreenshot(page, 'viewer.jpg');
});

test('dragging crosses the origin of the grid into negative tiles', { timeout: 20000 * SLOW }, async () => {
    const { page, tiles } = await visit(`#default/relief/12/${ORIGIN + 24000}/${ORIGIN + 24000}`);
    assert.ok(tiles().every(({ x, y }) => x >= 0 && y >= 0), 'the first view lies on the positive side');
    for (let i = 0; i < 5; i++)
        await drag(page, 340, 260);
    await painted(page);
    assert.ok(tiles().some(({ x, y }) => x < 0 && y < 0), 'tiles with negative x and y');
    assert.ok(tiles().some(({ x, y }) => x < 0 && y >= 0), 'tiles with negative x alone');
    await assertPictured(page);
    await page.mouse.move(400, 450);
    await assertHeight(page);
});

test('zooming goes below 0 and back in', { timeout: 20000 * SLOW }, async () => {
    const { page, tiles } = await visit('#default/relief/2/0/0');
    await page.mouse.move(400, 300);
    for (let zoom = 1; zoom >= -2; zoom--) {
        await page.mouse.wheel(0, 60);
        await page.waitForFunction((z) => document.getElementById('zoom').value === String(z), zoom);
        await painted(page);
    }
    assert.ok(tiles().some(({ z }) => z === -2), 'tiles of zoom -2');
    await placeBecomes(page, /^#default\/relief\/-2\//);
    await page.locator('#zoom-in').click();
    await page.waitForFunction(() => document.getElementById('zoom').value === '-1');
    await page.locator('#map').focus();
    await page.keyboard.press('+');
    await page.waitForFunction(() => document.getElementById('zoom').value === '0');
    await painted(page);
    await assertHeight(page);
});

test('both ends of the zoom range are painted', { timeout: 20000 * SLOW }, async () => {
    const { page } = await visit('#default/relief/26/12.5/-3.25');
    await page.waitForFunction(() => document.getElementById('zoom-in').disabled);
    await assertHeight(page, [12.5, -3.25]);
    await page.evaluate(() => { location.hash = '#default/relief/-26/0/0'; });
    await page.waitForFunction(() => document.getElementById('zoom-out').disabled);
    await page.waitForFunction(() => [...document.querySelectorAll('img.leaflet-tile')]
        .every(({ naturalWidth }) => naturalWidth === 256));
    await assertHeight(page, [0, 0]);
});

test('the far lands do not tear', { timeout: 20000 * SLOW }, async () => {
    const far = 2 ** 52 - 2 ** 21;
    const { page, tiles } = await visit(`#default/relief/26/${far}/${-far}`);
    const { zoom } = await readout(page);
    assert.equal(zoom.value, '16', 'the deepest zoom that doubles can place');
    await assertHeight(page, [far, -far]);
    assert.ok(tiles().every(({ x, y }) => Number.isSafeInteger(x) && Number.isSafeInteger(y)));
    await drag(page, -150, 90);
    await painted(page);
    await placeBecomes(page, new RegExp(`/16/${far + 150}/${-far - 90}$`));
});

test('the layer switch changes the tiles', { timeout: 20000 * SLOW }, async () => {
    const { page, tiles } = await visit();
    const before = tiles().length;
    await page.locator('#layers label', { hasText: /^Gray$/ }).click();
    await painted(page, { layer: 'gray' });
    assert.ok(tiles().slice(before).length >= 6);
    assert.ok(tiles().slice(before).every(({ layer }) => layer === 'gray'));
    assert.ok(await page.locator('#layers input[value=gray]').isChecked());
    await placeBecomes(page, /^#default\/gray\//);
    await assertPictured(page);
});

test('the read-out follows the mouse with the true height', { timeout: 20000 * SLOW }, async () => {
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

test('the address bar brings the reader back', { timeout: 20000 * SLOW }, async () => {
    const { page } = await visit('#default/gray/9/5000/-7000');
    await drag(page, -137, 61);
    await placeBecomes(page, /^#default\/gray\/9\/(?!5000\/)/);
    await painted(page, { layer: 'gray' });
    await assertHeight(page);
    const left = await place(page);
    await page.reload();
    await painted(page, { layer: 'gray' });
    await page.waitForTimeout(300);
    assert.equal(await place(page), left);
    const { x, y, zoom } = await readout(page);
    assert.equal(`#default/gray/${zoom.value}/${x.value}/${y.value}`, left);
});

test('typed coordinates are gone to', { timeout: 20000 * SLOW }, async () => {
    const { page } = await visit();
    await page.locator('#place').fill('-123456, 654321');
    await page.locator('#place').press('Enter');
    await placeBecomes(page, /\/-123456\/654321$/);
    await painted(page);
    await assertHeight(page, [-123456, 654321]);
    await page.locator('#place').fill('north');
    await page.locator('#place').press('Enter');
    assert.equal(await page.locator('#place').getAttribute('aria-invalid'), 'true');
    assert.ok(await page.locator('#status').isVisible());
});

test('dense screens get @2x tiles', { timeout: 20000 * SLOW }, async () => {
    const { page, tiles } = await visit('', { deviceScaleFactor: 2 });
    await painted(page);
    assert.ok(await page.evaluate(() => [...document.querySelectorAll('img.leaflet-tile')]
        .every(({ naturalWidth }) => naturalWidth === 512)));
    assert.ok(tiles().length > 0 && tiles().every(({ dense }) => dense));
    await assertPictured(page);
});

test('a phone shows every control inside the screen', { timeout: 20000 * SLOW }, async () => {
    const viewport = { width: 390, height: 844 };
    const { page } = await visit('', { viewport, isMobile: true, hasTouch: true, deviceScaleFactor: 2 });
    for (const id of ['#place', '#layers', '#zoom-in', '#zoom-out', '#home', '#readout']) {
        const box = await page.locator(id).boundingBox();
        assert.ok(box && box.x >= 0 && box.y >= 0 && box.x + box.width <= viewport.width
            && box.y + box.height <= viewport.height, `${id} lies at ${JSON.stringify(box)}`);
    }
    await assertHeight(page);
    await assertPictured(page);
    await keepScreenshot(page, 'viewer-phone.png');
});

test('the far view is painted', { timeout: 20000 * SLOW }, async () => {
    const { page } = await visit('#default/relief/4/0/0', screenshots ? { viewport: POSTER } : {});
    await assertPictured(page);
    await keepScreenshot(page, 'viewer-far.png');
});
