// Pages for clients that run in a browser, served from another origin than the daemon's. Not a test.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import { after, afterEach, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { watch } from '../browser/watch.mjs';
import { patience } from '../http/program.mjs';

const WAIT = 60000;
const WINDOW = { width: 512, height: 512 };

/* The server has the files of this directory, and those of the packages by their names. */
const TYPES = { html: 'text/html', css: 'text/css', js: 'text/javascript', mjs: 'text/javascript', json: 'application/json',
    wasm: 'application/wasm', jpg: 'image/jpeg', png: 'image/png', svg: 'image/svg+xml' };
const fileOf = (name) => fileURLToPath(new URL(name.includes('/') ? `node_modules/${name}` : name, import.meta.url));

async function serve(request, response) {
    const name = request.url.slice(1).replace(/\?.*/, '');
    const type = TYPES[name.split('.').pop()];
    const body = type && !name.includes('..') && await readFile(fileOf(name)).catch(() => null);
    if (body)
        response.writeHead(200, { 'Content-Type': type.startsWith('text/') ? `${type}; charset=utf-8` : type }).end(body);
    else
        response.writeHead(404).end();
}

/*
 * Launch a browser for the tests of a file. Returns visit(NAME, { viewport, deviceScaleFactor }), which
 * opens a page of this directory and returns { page, urls }, with all URLs that the page requests.
 * Errors on the console and failed requests fail the test, unless FORGIVEN.
 */
export function useBrowser(args) {
    const server = http.createServer(serve);
    let browser;
    let open = [];

    before(async () => {
        await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
        browser = await chromium.launch({
            executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
            timeout: patience(WAIT),
            args: ['--no-sandbox', '--no-first-run', '--disable-background-networking', '--disable-component-update',
                '--disable-sync', '--force-color-profile=srgb', ...args],
        });
    });

    after(async () => {
        await browser?.close();
        server.closeAllConnections();
        server.close();
    });

    afterEach(async () => {
        const pages = open;
        open = [];
        const trouble = pages.flatMap((seen) => seen.trouble);      // closing a page cancels requests
        for (const { context } of pages)
            await context.close();
        assert.deepEqual(trouble, []);
    });

    return async (name, { forgiven = false, ...options } = {}) => {
        const context = await browser.newContext({ viewport: WINDOW, ...options });
        const page = await context.newPage();
        page.setDefaultTimeout(patience(WAIT));
        const seen = { context, trouble: [], urls: [] };
        open.push(forgiven ? { context, trouble: [] } : seen);
        watch(page, seen, () => true);     // tiles that have left the view
        await page.goto(`http://127.0.0.1:${server.address().port}/${name}`);
        return { page, urls: seen.urls };
    };
}

/*
 * Assert that screenshot VIEW shows TILE with its corner at (LEFT, TOP), pixel by pixel, as far as the
 * tile is in the view. Both are decoded PNGs. Returns the number of pixels compared.
 */
export function assertShows(view, tile, left, top, name) {
    assert.deepEqual([view.channels, tile.channels], [3, 3], name);
    const [west, east] = [Math.max(left, 0), Math.min(left + tile.width, view.width)];
    const [north, south] = [Math.max(top, 0), Math.min(top + tile.height, view.height)];
    if (west >= east || north >= south)
        return 0;
    const pixels = ({ samples, width }, x, y, n) => samples.subarray(3 * (y * width + x), 3 * (y * width + x + n));
    for (let y = north; y < south; y++) {
        const shown = pixels(view, west, y, east - west);
        const sent = pixels(tile, west - left, y - top, east - west);
        if (Buffer.compare(shown, sent) !== 0) {
            const at = shown.findIndex((value, i) => value !== sent[i]);
            assert.fail(`${name}: at (${west + Math.floor(at / 3)}, ${y}) of the view: ${shown[at]}, not ${sent[at]}`);
        }
    }
    return (east - west) * (south - north);
}
