// Previews of links to the viewer: title and picture of the place, for programs that run no scripts.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { useDaemon } from './daemon.mjs';
import { decodePng } from './png.mjs';
import { TIMEOUT } from './program.mjs';
import { assertStatus, eachRow } from './table.mjs';

const CONFIG = `worlds:
  - name: first
    like: default
    seeds: any
  - name: small
    native_zoom: 4
    seeds: fixed
    layers: [hillshade, height]
`;
const SIDES = [640, 336];
const LIMIT = 2 ** 52;

/* { property: content } of a page. */
function properties(page) {
    const found = [...String(page).matchAll(/<meta (?:property|name)="([^"]+)" content="([^"]*)">/g)];
    return Object.fromEntries(found.map(([, name, content]) => [name, content.replaceAll('&amp;', '&')]));
}

const title = (page) => /<title>(.*)<\/title>/.exec(String(page))[1];

describe('previews of links', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG });
    const pictureOf = (page) => new URL(properties(page)['og:image']);

    async function assertPicture(url, { world, layer, middle, step }) {
        assert.match(url.href, /^http:\/\/127\.0\.0\.1:\d+\//);
        assert.equal(url.pathname, `/${world}/region.png`);
        const { x, y, ...rest } = Object.fromEntries(url.searchParams);
        const { v, ...sizes } = rest;
        assert.deepEqual(sizes, { width: String(SIDES[0]), height: String(SIDES[1]), step: String(step), layer });
        for (const [first, side, at] of [[x, SIDES[0], middle[0]], [y, SIDES[1], middle[1]]])
            assert.ok(Math.abs(Number(first) + side * step / 2 - at) <= step, `${first} for ${at}`);
        assert.equal(v, world.includes(':') ? undefined : layer === 'height' ? (await daemon.json(`/${world}.json`)).fingerprint :
            await daemon.fingerprintOf(`/${world}/${layer}`));
        const answer = await daemon.get(url.pathname + url.search);
        assertStatus(answer, 200);
        const { width, height } = decodePng(answer.body);
        assert.deepEqual([width, height], SIDES);
        assert.ok(answer.body.length < 600000, `${answer.body.length} bytes`);
        assert.ok(Number(answer.headers['content-length']) > 0);
        assertStatus(await daemon.get(url.pathname + url.search, { 'If-None-Match': answer.headers.etag }), 304);
    }

    it('show the place in the link', () => eachRow([
        ['first/relief/16/100/-200', 'first at 100, -200', { world: 'first', layer: 'relief', middle: [100, -200], step: 2 }],
        ['first:42/gray/10/0.5/7', 'first:42 at 0.5, 7', { world: 'first:42', layer: 'gray', middle: [0.5, 7], step: 128 }],
        ['first/relief/13.4/100/-200/3d/60/12.5/4', 'first at 100, -200', { world: 'first', layer: 'relief', middle: [100, -200], step: 16 }],
        ['first%3A42%2Fgray%2F10%2F-5%2F7', 'first:42 at -5, 7', { world: 'first:42', layer: 'gray', middle: [-5, 7], step: 128 }],
        ['first/nolayer/16/3/4', 'first at 3, 4', { world: 'first', layer: 'relief', middle: [3, 4], step: 2 }],
        ['small/relief/4/3/4', 'small at 3, 4', { world: 'small', layer: 'hillshade', middle: [3, 4], step: 2 }],
        ['small/height/4/3/4', 'small at 3, 4', { world: 'small', layer: 'height', middle: [3, 4], step: 2 }],
        ['first/relief/40/3/4', 'first at 3, 4', { world: 'first', layer: 'relief', middle: [3, 4], step: 2 ** -10 }],
        ['first/relief/-26/0/0', 'first at 0, 0', { world: 'first', layer: 'relief', middle: [0, 0], step: 2 ** 19 }],
    ], async ([place, name, picture]) => {
        const page = await daemon.bytes(`/?place=${place}`);
        assert.equal(title(page), `Farlands: ${name}`);
        const { 'og:title': shown, 'twitter:card': card, 'og:image:width': width, 'og:image:height': height } = properties(page);
        assert.deepEqual([shown, card, Number(width), Number(height)], [title(page), 'summary_large_image', ...SIDES]);
        await assertPicture(pictureOf(page), picture);
    }));

    it('show the first view of a world if there is no place', () => eachRow([
        ['', 'first', 8192], ['?place=', 'first', 8192], ['?place=nowhere/relief/3/4/5', 'first', 8192],
        ['?place=first', 'first', 8192], ['?place=first:42', 'first:42', 8192], ['?a=b&place=first/gray', 'first', 8192, 'gray'],
        ['?place=first/relief/x/1/2', 'first', 8192], ['?place=first/relief/1/1e300/2', 'first', 8192],
        ['?place=first/relief/inf/1/2', 'first', 8192], ['?place=first/relief/6/1', 'first', 8192],
        [`?place=first/relief/6/${2 * LIMIT}/0`, 'first', 8192], [`?place=first/relief/6/0/-${LIMIT}5`, 'first', 8192],
        ['?place=first:', 'first', 8192], ['?place=small:3/relief/3/0/0', 'first', 8192],
        ['?place=%22%3E%3Cscript%3E/%3Cb%3E/1/2/3', 'first', 8192], ['?xplace=small&place=first', 'first', 8192],
        [`?place=${'a'.repeat(1000)}`, 'first', 8192], [`?place=first/${'a'.repeat(2000)}`, 'first', 8192],
        ['?place=first/relief/6/%ff%00/1', 'first', 8192], ['?place=//////', 'first', 8192], ['?place=%', 'first', 8192],
        ['?place=small', 'small', null, 'hillshade'],
    ], async ([query, world, step, layer = 'relief']) => {
        const page = await daemon.bytes(`/${query}`);
        assert.equal(title(page), `Farlands: ${world}`);
        const picture = pictureOf(page);
        await assertPicture(picture, { world, layer, middle: [0, 0], step: step ?? Number(picture.searchParams.get('step')) });
    }));

    it('show a place at the edge of the world', () => eachRow([[LIMIT, -LIMIT], [-LIMIT, LIMIT]], async ([x, y]) => {
        const url = pictureOf(await daemon.bytes(`/?place=first/relief/10/${x}/${y}`));
        assertStatus(await daemon.get(url.pathname + url.search), 200);
    }));

    it('have absolute URLs if the server knows its address', async () => {
        const { body: page } = await daemon.get('/?place=first/relief/16/0/0', { Host: 'maps.example.org:81' });
        assert.equal(pictureOf(page).host, 'maps.example.org:81');
        const { answers: [old] } = await daemon.raw('GET /?place=first/relief/16/0/0 HTTP/1.0\r\n\r\n');
        assert.match(String(old.body), /og:image" content="\.\/first\/region\.png\?x=/);
    });

    it('have an ETag for each link and encoding', async () => {
        const [a, b] = ['/?place=first/relief/16/0/0', '/?place=first/relief/16/0/9'];
        const answers = await Promise.all([daemon.get(a), daemon.get(b), daemon.get(a, { 'Accept-Encoding': 'gzip' })]);
        assert.equal(new Set(answers.map(({ headers }) => headers.etag)).size, 3);
        assert.deepEqual(gunzipSync(answers[2].body), answers[0].body);
        assert.match(answers[0].headers.vary, /\bHost\b/);
        for (const { headers } of answers) {
            assert.equal(headers['cache-control'], 'no-cache');
            assert.match(headers['content-security-policy'], /^default-src 'none';/);
        }
        assertStatus(await daemon.get(a, { 'Accept-Encoding': 'gzip', 'If-None-Match': answers[2].headers.etag }), 304);
        assertStatus(await daemon.get(a, { 'Accept-Encoding': 'gzip', 'If-None-Match': answers[1].headers.etag }), 200);
    });
});

describe('previews behind a proxy', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ builtIn: true, config: 'public_url: https://tiles.example.org/x\nbase_path: /a\n' });

    it('have its address', async () => {
        const page = await daemon.bytes('/a/?place=default/relief/16/0/0');
        assert.match(properties(page)['og:image'], /^https:\/\/tiles\.example\.org\/x\/default\/region\.png\?x=-640&/);
    });
});
