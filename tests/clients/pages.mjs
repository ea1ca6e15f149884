// Pages for clients that run in a browser: users' pages, opened as files, and tests' pages, served from another origin than
// the daemon's. Not a test.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import path from 'node:path';
import { after, afterEach, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { watch } from '../browser/watch.mjs';
import { patience, scratch } from '../http/program.mjs';

const WAIT = 60000;
const WINDOW = { width: 512, height: 512 };

/* For the daemon: a browser does not ask again for what a busy machine refuses. */
export const PATIENT = 'limits: { wait: 60000 }';

/* The server has the files of this directory, and those of the packages by their names. */
const TYPES = { html: 'text/html', css: 'text/css', js: 'text/javascript', mjs: 'text/javascript', json: 'application/json',
    wasm: 'application/wasm', jpg: 'image/jpeg', png: 'image/png', svg: 'image/svg+xml' };
const fileOf = (name) => fileURLToPath(new URL(name.includes('/') ? `node_modules/${name}` : name, import.meta.url));

/* The file of a package that unpkg.com has at URL, or undefined: the installed version is the requested one. */
function packaged(url) {
    const [, name, version, file] = /^\/([^@]+)@([\d.]+)\/([^?]+)/.exec(url) ?? [];
    const directory = [name, `${name}-${version?.split('.')[0]}`].find((one) => {
        const about = fileOf(`${one}/package.json`);
        return existsSync(about) && JSON.parse(readFileSync(about, 'utf8')).version === version;
    });
    return directory && fileOf(`${directory}/${file}`);
}

async function send(response, file, headers) {
    const type = TYPES[file?.split('.').pop()];
    if (file?.endsWith('/favicon.ico'))
        return response.writeHead(204).end();
    const body = type && !file.includes('..') && await readFile(file).catch(() => null);
    if (body)
        return response.writeHead(200, { 'Content-Type': type.startsWith('text/') ? `${type}; charset=utf-8` : type, ...headers }).end(body);
    return response.writeHead(404, headers).end();
}
const serve = ({ url }, response) => send(response, url.startsWith('/users') ? url.slice(6) : fileOf(url.slice(1).replace(/\?.*/, '')));
const serveUnpkg = ({ url }, response) => send(response, packaged(url), { 'Access-Control-Allow-Origin': '*' });

/* A certificate of unpkg.com's for a server of this test. */
function certificate() {
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => path.join(scratch(), name));
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=unpkg.com', '-days', '9',
        '-keyout', key, '-out', cert], { stdio: 'ignore' });
    return { key: readFileSync(key), cert: readFileSync(cert) };
}

/*
 * Launch a browser for the tests of a file. Returns visit(NAME, { viewport, deviceScaleFactor }), which
 * opens a page of this directory, and visit.file(TEXT, { hash, viewport }), which opens a user's. Both
 * return { page, urls }, with all URLs that the page requests. Errors on the console and failed
 * requests fail the test, unless FORGIVEN.
 */
export function useBrowser(args) {
    const server = http.createServer(serve), unpkg = https.createServer(certificate(), serveUnpkg);
    let browser;
    let open = [];

    before(async () => {
        for (const one of [server, unpkg])
            await new Promise((resolve) => one.listen(0, '127.0.0.1', resolve));
        browser = await chromium.launch({
            executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
            timeout: patience(WAIT),
            args: ['--no-sandbox', '--no-first-run', '--disable-background-networking', '--disable-component-update',
                '--disable-sync', '--force-color-profile=srgb', '--ignore-certificate-errors',
                `--host-resolver-rules=MAP unpkg.com:443 127.0.0.1:${unpkg.address().port}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`, ...args],
        });
    });

    after(async () => {
        await browser?.close();
        for (const one of [server, unpkg]) {
            one.closeAllConnections();
            one.close();
        }
    });

    afterEach(async () => {
        const pages = open;
        open = [];
        const trouble = pages.flatMap((seen) => seen.trouble);      // closing a page cancels requests
        for (const { context } of pages)
            await context.close();
        assert.deepEqual(trouble, []);
    });

    /* Visit a page: { name } of this directory, or { text } in a file of its own, which may be SERVED, after #HASH. */
    async function visitPage({ name, text, hash = '', served }, { forgiven = false, ...options }) {
        const context = await browser.newContext({ viewport: WINDOW, ...options });
        const page = await context.newPage();
        page.setDefaultTimeout(patience(WAIT));
        const seen = { context, trouble: [], urls: [] };
        open.push(forgiven ? { context, trouble: [] } : seen);
        watch(page, seen);
        const file = text !== undefined && path.join(scratch(), 'page.html');
        if (file)
            writeFileSync(file, text);
        const base = `http://127.0.0.1:${server.address().port}`;
        await page.goto(!file ? `${base}/${name}` : `${served ? `${base}/users` : 'file://'}${file}${hash}`);
        return { page, urls: seen.urls };
    }

    return Object.assign((name, options = {}) => visitPage({ name }, options), {
        /* Open TEXT, a whole page, as a user opens a file, or from a web server. What it loads from unpkg.com is in node_modules. */
        file: (text, { hash, served, ...options } = {}) => visitPage({ text, hash, served }, options),
    });
}

/* A page of tests/examples/pages, for the daemon at BASE. */
export const userPage = (name, base) =>
    readFileSync(new URL(`../examples/pages/${name}.html`, import.meta.url), 'utf8').replaceAll('http://127.0.0.1:8080', base);

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
