/* Starts a daemon and Chromium, drives the viewer as a user does, and has assertions about a page. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, afterEach, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { eventually, patience } from '../http/program.mjs';
import { watch } from './watch.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const binary = process.env.FARLANDS || path.join(here, '../../build/farlands');
const executablePath = process.env.CHROMIUM || '/usr/bin/chromium';
export const screenshots = process.env.SCREENSHOTS;

const WAIT = patience(180000);       // ms for a single wait, which ends a run that hangs
export const WINDOW = { width: 800, height: 600 };
export const POSTER = { width: 1600, height: 900 };
export const LIMIT = { timeout: 5 * WAIT };
export const ORIGIN = -8388608;      // the block where tile (0, 0) of every zoom begins

/* More arguments for the daemon, to be added before the first test begins. Without --config it serves the built-in worlds. */
export const daemonArguments = [];

/* A configuration with worlds of noise, and one with a graph of fields, beside the built-in default world. */
export const BROAD = path.join(here, 'broad.yaml');
export const FIELDS = path.join(here, 'fields.yaml');

let daemon;
let exited;
let cache;
export let base;
let browser;
let open = [];
const pending = new WeakMap();       // of a page: its requests that have no response yet

before(async () => {
    cache = await mkdtemp(path.join(tmpdir(), 'farlands-browser-'));
    daemon = spawn(binary, ['serve', '--listen', '127.0.0.1:0', '--cache', cache, ...await unlimited(daemonArguments)],
        { stdio: ['ignore', 'pipe', 'inherit'] });
    exited = once(daemon, 'exit');
    base = await within(firstUrl(daemon.stdout), 'the URL that the daemon serves');
    browser = await chromium.launch({
        executablePath,
        timeout: WAIT,
        args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
            '--disable-gpu-compositing', '--disable-gpu-rasterization', '--disable-quic', '--no-first-run',
            '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    });
}, { timeout: 3 * WAIT });

after(async () => {
    try {
        if (browser)
            await within(browser.close(), 'the browser to close').catch(() => {});
        if (daemon && daemon.pid)
            await endDaemon();
    } finally {
        await rm(cache, { recursive: true, force: true });
    }
}, { timeout: 3 * WAIT });

/* These arguments with a configuration that refuses no tile on a busy machine. A watched one has that already. */
async function unlimited(given) {
    if (given.includes('--watch'))
        return given;
    const at = given.indexOf('--config');
    const file = path.join(cache, 'farlands.yaml');
    await writeFile(file, `limits: { wait: 60000 }\n${at < 0 ? '' : await readFile(given[at + 1])}`);
    return [...given.filter((_, i) => at < 0 || i < at || i > at + 1), '--config', file];
}

async function endDaemon() {
    daemon.kill('SIGTERM');
    const [code, signal] = await within(exited, 'the daemon to exit').catch((error) => {
        daemon.kill('SIGKILL');
        throw error;
    });
    assert.deepEqual({ code, signal }, { code: 0, signal: null }, 'exit status after SIGTERM');
}

/* Assert that no page of the test had errors. */
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
    throw new Error('the daemon exited without serving');
}

/* PREPARE may change the page before it loads. */
export async function visit(hash = '', options = {}, prepare = async () => {}) {
    const context = await browser.newContext({ viewport: WINDOW, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT);
    const seen = { context, trouble: [], urls: [] };
    const isTile = (url) => /\d(@2x)?\.(png|webp)/.test(url);
    open.push(seen);
    watch(page, seen);
    pending.set(page, new Set());
    page.on('request', (request) => pending.get(page).add(request));
    for (const end of ['requestfinished', 'requestfailed'])
        page.on(end, (request) => pending.get(page).delete(request));
    /* On a busy machine a region may take longer than the page waits. */
    await page.addInitScript(() => { AbortSignal.timeout = () => new AbortController().signal; });
    /* Nor may a message be gone before it is seen. */
    await page.addInitScript(() => {
        window.messages = [];
        new MutationObserver((changes) => {
            const status = document.getElementById('status');
            if (changes.some(({ target }) => status?.contains(target)))
                window.messages.push(status.textContent);
        }).observe(document, { childList: true, subtree: true, characterData: true });
    });
    await prepare(page);
    await page.goto(base + hash);
    await (hash.includes('/3d') ? staged(page) : painted(page));
    return { page, seen, tiles: () => seen.urls.filter(isTile).map(tileOf) };
}

/* Wait until the page says what PATTERN matches, or has said so since it was last heard: messages vanish. */
export async function hears(page, pattern) {
    await page.waitForFunction(({ source, flags }) => {
        const heard = (text) => new RegExp(source, flags).test(text);
        return window.messages.some(heard) || heard(document.getElementById('status').textContent);
    }, { source: pattern.source, flags: pattern.flags });
    await page.evaluate(() => { window.messages.length = 0; });
}

function tileOf(url) {
    const match = /\/([^/]+)\/([^/]+)\/(-?\d+)\/(-?\d+)\/(-?\d+)(@2x)?\.(png|webp)/.exec(new URL(url).pathname);
    assert.ok(match, `a tile URL: ${url}`);
    const [, world, layer, z, x, y, dense, format] = match;
    return { world, layer, z: Number(z), x: Number(x), y: Number(y), dense: Boolean(dense), format };
}

/* Wait until loaded tiles of the displayed zoom cover the view, all faded in. */
export async function painted(page, { layer = null } = {}) {
    let missing;
    const isPainted = async () => {
        missing = await page.evaluate(whatIsMissing, layer);
        return !missing.length;
    };
    assert.ok(await eventually(isPainted, 120000), `not painted within the limit:\n${missing?.join('\n')}`);
}

/* Wait until the 3D scene is visible, painted and still. */
export async function staged(page) {
    await page.waitForFunction(() => document.body.classList.contains('deep')
        && !document.getElementById('mode').hasAttribute('aria-busy')
        && document.querySelectorAll('.stage').length === 1, null);
    await settled(page);
}

/* Wait until all requests have their responses, which may take the daemon long, and the screen no longer changes. */
export async function settled(page) {
    let last = '';
    const isStill = async () => {
        const shot = (await page.screenshot({ type: 'jpeg', quality: 40 })).toString('base64');
        const same = shot === last && !pending.get(page)?.size;
        last = shot;
        await page.waitForTimeout(250);
        return same;
    };
    assert.ok(await eventually(isStill, 120000), 'the view keeps changing');
}

/* Stop the clock of a page that was visited with `withClock`: it moves only by page.clock.runFor(ms). */
export const withClock = (page) => page.clock.install();
export const stopClock = async (page) => page.clock.pauseAt(await page.evaluate(() => Date.now()) + 1000);

/* Runs in the page: the reasons why the view is not painted, one per line. */
function whatIsMissing(layer) {
    const zoom = document.getElementById('zoom').value;
    const size = devicePixelRatio > 1 ? 512 : 256;
    const images = [...document.querySelectorAll('img.leaflet-tile, canvas.leaflet-tile')];
    const missing = document.querySelector('.leaflet-zoom-anim') ? ['the zoom is still moving'] : [];
    for (const image of images) {
        const { src = image.dataset.src, complete = true, naturalWidth = image.width, classList } = image;
        const { opacity } = getComputedStyle(image);
        const shown = complete && naturalWidth === size && opacity === '1' && classList.contains('leaflet-tile-loaded');
        const wanted = new RegExp(`/${layer || '[^/]+'}/${zoom}/-?\\d+/-?\\d+(@2x)?\\.(png|webp)`).test(src);
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

/* The pixels of the middle of the screen, which has no panels: RGBA as numbers. */
export async function pixels(page, side = 256) {
    const { width, height } = page.viewportSize();
    const clip = { x: (width - side) / 2, y: (height - side) / 2, width: side, height: side };
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
        return [...new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer)];
    }, png);
}

/* Mean difference of the pixels of two screenshots, of 255. */
export function difference(a, b) {
    let sum = 0;
    for (let i = 0; i < a.length; i++)
        for (const shift of [0, 8, 16])
            sum += Math.abs((a[i] >> shift & 255) - (b[i] >> shift & 255));
    return sum / (3 * a.length);
}

export async function assertPictured(page) {
    const count = new Set(await pixels(page)).size;
    assert.ok(count >= 16, `${count} distinct colors on the screen`);
}

export async function readout(page) {
    await page.waitForFunction(() => {
        const height = document.getElementById('height');
        return height.value !== '' && !('stale' in height.dataset);
    });
    return page.evaluate(() => Object.fromEntries(['x', 'y', 'height', 'zoom'].map((id) => {
        const { value, textContent } = document.getElementById(id);
        return [id, { value, text: textContent.replace('\u2212', '-').replace(/\u202f/g, '') }];
    })));
}

export async function assertHeight(page, expectedAt, world = 'default') {
    const { x, y, height } = await readout(page);
    assert.equal(x.text, x.value);
    assert.equal(y.text, y.value);
    if (expectedAt)
        assert.deepEqual([Number(x.value), Number(y.value)], expectedAt);
    const response = await fetch(new URL(`./${world}/height?x=${x.value}&y=${y.value}`, base));
    assert.equal(response.status, 200);
    const truth = await response.json();
    assert.equal(truth.x, Number(x.value));
    assert.equal(truth.y, Number(y.value));
    assert.equal(Number(height.value), truth.height);
    const digits = /\.(\d+)m$/.exec(height.text)[1].length;
    assert.ok(Math.abs(parseFloat(height.text) - truth.height) <= 0.51 * 10 ** -digits,
        `${height.text} for ${truth.height}`);
}

export async function drag(page, dx, dy) {
    const { width, height } = page.viewportSize();
    const [x, y] = [width / 2, height / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + dx / 2, y + dy / 2, { steps: 4 });
    await page.mouse.move(x + dx, y + dy, { steps: 4 });
    await page.waitForTimeout(120);      // a pause before letting go: no inertia
    await page.mouse.up();
}

/* Show the panel of `serve --watch` with a long error. */
export const breakConfiguration = (page) => page.evaluate(() => {
    document.getElementById('broken-why').textContent = 'a-world-of-mine.yaml:12: worlds[0].noise.warp: unknown key "amplitud"; '
        + 'expected one of name, seed, seeds, native_zoom, origin, wrap, noise, elevation, volume, palette, layers';
    document.getElementById('broken').hidden = false;
});

export const place = (page) => page.evaluate(() => location.hash);

export async function placeBecomes(page, pattern) {
    await page.waitForFunction((source) => new RegExp(source).test(location.hash), pattern.source);
}

export async function keepScreenshot(page, name) {
    if (!screenshots)
        return;
    await mkdir(screenshots, { recursive: true });
    await page.screenshot({ path: path.join(screenshots, name), ...(name.endsWith('.jpg') && { quality: 82 }) });
}
