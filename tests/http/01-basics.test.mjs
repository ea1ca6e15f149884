// A daemon without configuration: its documents, a tile of each format, and the
// pages for operators.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useDaemon } from './daemon.mjs';
import { ALL, LAYERS } from './layers.mjs';
import { decodePng } from './png.mjs';
import { assertStatus, eachRow } from './table.mjs';
import { TIMEOUT } from './program.mjs';

const HEX16 = /^[0-9a-f]{16}$/;

function assertJson(answer) {
    assert.equal(answer.status, 200, answer.body.toString());
    assert.match(answer.headers['content-type'], /^application\/json\b/);
    assert.equal(answer.headers['access-control-allow-origin'], '*');
    return JSON.parse(answer.body);
}

describe('the basics', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ builtIn: true });

    it('prints the "serving" line on stdout only', () => {
        assert.match(daemon.stdout, /^farlands: serving http:\/\/127\.0\.0\.1:[1-9]\d*\/[^\n]*\n$/);
        assert.doesNotMatch(daemon.stderr, /farlands: serving/);
    });

    it('lists its worlds', async () => {
        const catalogue = assertJson(await daemon.get('/worlds.json'));
        assert.equal(catalogue.farlands, '0.1.0');
        assert.deepEqual(catalogue.worlds.map(({ name }) => name), ['default', 'archipelago', 'alps']);
        await eachRow(catalogue.worlds, async (world) => {
            assert.match(world.fingerprint, HEX16);
            assert.equal(world.url, `${world.name}.json`);
            const url = new URL(world.url, 'http://farlands.test/worlds.json');
            assert.equal((await daemon.json(url.pathname)).fingerprint, world.fingerprint);
        });
    });

    it('describes a world', async () => {
        const world = assertJson(await daemon.get('/default.json'));
        assert.equal(world.name, 'default');
        assert.match(world.seed, /^\d+$/);
        assert.match(world.fingerprint, HEX16);
        assert.equal(world.native_zoom, 16);
        assert.deepEqual(world.origin, [-8388608, -8388608]);
        assert.equal(world.tile_size, 256);
        assert.deepEqual(world.limits,
            { coordinate: 4503599627370496, zoom: [-26, 26], zoom_2x: [-26, 25], first: 4, overview: -2, side: 4097, volume: 2 ** 24 });
        const [min, max] = world.range;
        assert.ok(min < 0 && max > 0 && min > -10000 && max < 10000, `range ${world.range}`);
        assert.ok(['height', 'water', 'temperature', 'biome'].every((name) => name in world.fields));
        const steps = (points) => points.slice(1).map(([x], i) => x - points[i][0]);
        // Two colors at one height form a sharp edge, such as a coast.
        assert.ok(world.palette.length >= 2 && steps(world.palette).every((step) => step >= 0));
        for (const [, color] of world.palette)
            assert.match(color, /^#[0-9a-fA-F]{6}$/);
    });

    it('lists URL templates that resolve', async () => {
        const { urls, fingerprint, layers } = await daemon.json('/default.json');
        const values = { x: 3, y: -4, z: 5, min: -9000, max: 9000, slope: 100, width: 2, height: 3, depth: 4, step: 2,
            limit: 9, ext: 'u8', field: 'height', layer: 'relief' };
        // Each endpoint that the error lists has one; downstream only in worlds with rivers.
        const { error } = JSON.parse((await daemon.get('/default/nothing')).body);
        const endpoints = error.split(' has ')[1].split(', ').filter((name) => !/^\{|^downstream$/.test(name)).map((name) => name.split('.')[0]);
        const forms = [...endpoints, 'region_field', 'region_layer'];
        assert.deepEqual(Object.keys(urls).filter((name) => name !== 'downstream').sort(), [...new Set(forms)].sort());
        await eachRow(Object.entries(urls), async ([name, url]) => {
            const answer = await daemon.get(`/${url.replaceAll(/\{(\w+)\}/g, (_, key) => values[key])}`);
            assertStatus(answer, 200);
            const own = { volume: url.split('v=')[1], region_layer: layers[0].fingerprint };
            assert.equal(answer.headers['farlands-fingerprint'], own[name] ?? fingerprint);
            if (/v=\w/.test(url))
                assert.match(answer.headers['cache-control'], /immutable/);
        });
    });

    it('lists all layers with URLs that resolve', async () => {
        const world = await daemon.json('/default.json');
        const listed = world.layers.map(({ name, extensions }) => [name, [...extensions].sort()]);
        const [fields, others] = [true, false].map((are) => listed.filter(([name]) => name.startsWith('field.') === are));
        assert.deepEqual(Object.fromEntries(others), ALL);
        const names = fields.map(([name]) => name.slice('field.'.length));
        assert.deepEqual(Object.keys(world.fields).filter((name) => name !== 'height' && !names.includes(name)), []);
        fields.forEach(([name, extensions]) => assert.deepEqual(extensions, LAYERS.height, name));
        await eachRow(world.layers, async ({ name, fingerprint, tilejson, gdal, tiles }) => {
            assert.match(fingerprint, HEX16);
            assert.equal(tilejson, `default/${name}.json`);
            assert.equal(tiles, `default/${name}/{z}/{x}/{y}.png?v=${fingerprint}`);
            assertJson(await daemon.get(`/${tilejson}`));
            assert.equal(gdal, `default/${name}.xml`);
            assertStatus(await daemon.get(`/${gdal}`), 200);
            const tile = `/${tiles}`.replace('{z}', 5).replace('{x}', 16).replace('{y}', 15);
            const answer = await daemon.get(tile);
            assert.equal(answer.status, 200);
            assert.match(answer.headers['cache-control'], /immutable/);
        });
    });

    it('serves TileJSON 3.0.0', () => eachRow(Object.keys(LAYERS), async (layer) => {
        const { layers } = await daemon.json('/default.json');
        const { fingerprint } = layers.find(({ name }) => name === layer);
        const doc = assertJson(await daemon.get(`/default/${layer}.json`));
        assert.equal(doc.tilejson, '3.0.0');
        assert.deepEqual(doc.tiles, [
            `http://${daemon.authority}/default/${layer}/{z}/{x}/{y}.png?v=${fingerprint}`]);
        assert.ok(Number.isInteger(doc.minzoom) && Number.isInteger(doc.maxzoom));
        assert.ok(0 <= doc.minzoom && doc.minzoom < doc.maxzoom && doc.maxzoom <= 25);
        const [west, south, east, north] = doc.bounds;
        assert.equal(doc.bounds.length, 4);
        assert.ok(-180 <= west && west < east && east <= 180, `bounds ${doc.bounds}`);
        assert.ok(-90 <= south && south < north && north <= 90, `bounds ${doc.bounds}`);
        assert.equal(doc.vector_layers, undefined);
        assert.equal(doc.tileSize, 256);
        assert.equal(doc.scheme, 'xyz');
        assert.equal(typeof doc.name, 'string');
        for (const z of [doc.minzoom, doc.maxzoom]) {
            const last = 2 ** z - 1;
            await daemon.bytes(`/default/${layer}/${z}/0/0.png`);
            await daemon.bytes(`/default/${layer}/${z}/${last}/${last}.png`);
        }
    }));

    it('uses the request\'s Host in TileJSON', async () => {
        const { answers: [answer] } = await daemon.raw(
            'GET /default/relief.json HTTP/1.1\r\nHost: tiles.farlands.test:8443\r\n\r\n');
        assert.match(assertJson(answer).tiles[0],
            /^http:\/\/tiles\.farlands\.test:8443\/default\/relief\/\{z\}\/\{x\}\/\{y\}\.png\?v=/);
    });

    it('never echoes a Host that could break out of the document', () => eachRow(
        ['a"b', 'a<script>', 'a b', 'a/b', 'user@a', 'a\\b', "a'b"],
        async (host) => {
            const { answers: [answer] } = await daemon.raw(
                `GET /default/relief.json HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
            if (answer.status === 200)
                assert.ok(!JSON.parse(answer.body).tiles[0].includes(host));
            else
                assert.equal(answer.status, 400);
        }));

    it('serves the layers in all formats and densities', () => eachRow([
        ['relief/10/512/512.png', 256, 8, ['rgb', 'palette']],
        ['relief/10/512/512@2x.png', 512, 8, ['rgb', 'palette']],
        ['gray/6/31/32.png', 256, 8, ['gray']],
        ['gray/6/31/32@2x.png', 512, 8, ['gray']],
        ['height/10/512/512.png', 256, 16, ['gray']],
        ['height/10/512/512@2x.png', 512, 16, ['gray']],
        ['height/10/512/512.r16', 256, 16],
        ['height/10/512/512@2x.r16', 512, 16],
        ['height/10/512/512.f32', 256, 32],
        ['height/10/512/512@2x.f32', 512, 32],
        ['relief/10/512/512.png?border=1', 257, 8, ['rgb', 'palette']],
        ['hillshade/10/512/512@2x.png?border=1', 513, 8, ['gray']],
        ['height/10/512/512.r16?border=1', 257, 16],
        ['height/10/512/512@2x.f32?border=1', 513, 32],
        ['height/10/512/512@2x.f32?border=0', 512, 32],
        ['relief/0/0/0.png', 256, 8, ['rgb', 'palette']],
        ['relief/-3/-1/0.png', 256, 8, ['rgb', 'palette']],
        ['relief/20/-7/1048577.png', 256, 8, ['rgb', 'palette']],
    ], async ([tile, size, depth, colors]) => {
        const answer = await daemon.get(`/default/${tile}`);
        assert.equal(answer.status, 200, answer.body.toString());
        assert.equal(Number(answer.headers['content-length']), answer.body.length);
        if (!colors) {
            assert.equal(answer.headers['content-type'], 'application/octet-stream');
            assert.equal(answer.body.length, size * size * depth / 8);
            return;
        }
        assert.equal(answer.headers['content-type'], 'image/png');
        const image = decodePng(answer.body);
        assert.deepEqual([image.width, image.height, image.depth], [size, size, depth]);
        assert.ok(colors.includes(image.color), image.color);
        // At low zooms every octave is finer than a pixel, so pictures are flat.
        if (!/^\w+\/(0|-\d+)\//.test(tile))
            assert.ok(new Set(image.samples).size > 3, 'the tile has a single color');
    }));

    it('reports that it is alive and ready', () => eachRow(['/healthz', '/readyz'], async (page) => {
        const answer = await daemon.get(page);
        assertJson(answer);
        assert.equal(answer.headers['cache-control'], 'no-store');
    }));

    it('exports Prometheus metrics', async () => {
        const answer = await daemon.get('/metrics');
        assert.equal(answer.status, 200);
        assert.match(answer.headers['content-type'], /^text\/plain\b/);
        assert.equal(answer.headers['access-control-allow-origin'], '*');
        const text = answer.body.toString();
        assert.ok(text.endsWith('\n'), 'the format requires a final line feed');
        await eachRow(['tiles_rendered_total', 'cache_hits_total', 'cache_misses_total',
            'coalesced_total', 'requests_total'], (name) => {
            assert.match(text, new RegExp(`^# TYPE farlands_${name} counter$`, 'm'));
        });
        await eachRow(text.trimEnd().split('\n'), (line) => assert.match(line,
            /^(#.*|[a-zA-Z_:][\w:]*(\{(\w+="[^"\\]*",?)*\})? [-+]?(\d[\d.eE+-]*|Inf|NaN))$/));
        const before = await daemon.metric('farlands_requests_total', 'code="404"');
        await daemon.get('/nowhere');
        assert.equal(await daemon.metric('farlands_requests_total', 'code="404"'), before + 1);
    });

    it('counts one render per cold tile, by layer', () => eachRow(Object.keys(LAYERS), async (layer) => {
        const count = () => daemon.metric('farlands_tiles_rendered_total', `layer="${layer}",format="png"`);
        const before = await count();
        await daemon.bytes(`/default/${layer}/9/3/4.png`);
        assert.equal(await count(), before + 1, 'cold');
        await daemon.bytes(`/default/${layer}/9/3/4.png`);
        assert.equal(await count(), before + 1, 'hot');
    }));

    it('serves the viewer', async () => {
        const answer = await daemon.get('/');
        assert.equal(answer.status, 200);
        assert.match(answer.headers['content-type'], /^text\/html\b/);
        assert.match(answer.body.toString(), /<!doctype html>/i);
    });
});

describe('what programs look for at the root', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ builtIn: true });
    const get = async (path, type) => {
        const answer = await daemon.get(path);
        assertStatus(answer, 200);
        assert.equal(answer.headers['content-type'], type);
        return answer.body;
    };

    it('is robots.txt, which allows the page and none of its tiles', async () => {
        const lines = (await get('/robots.txt', 'text/plain; charset=utf-8')).toString().split('\n');
        assert.deepEqual(lines.slice(lines.indexOf('User-agent: *')).slice(0, 4),
            ['User-agent: *', 'Allow: /$', 'Allow: /viewer/', 'Disallow: /']);
        for (const line of lines)
            assert.match(line, /^$|^#|^(User-agent|Allow|Disallow): \S+$/);
    });

    it('are icons, as pictures', async () => {
        const icon = await get('/favicon.ico', 'image/x-icon');
        assert.deepEqual([...icon.subarray(0, 6)], [0, 0, 1, 0, 2, 0]);
        for (const [i, side] of [16, 32].entries()) {
            const entry = icon.subarray(6 + 16 * i);
            const at = entry.readUInt32LE(12), length = entry.readUInt32LE(8);
            assert.deepEqual([entry[0], entry[1]], [side, side]);
            assert.equal(icon.toString('latin1', at + 1, at + 4), 'PNG');
            assert.deepEqual([icon.readUInt32BE(at + 16), icon.readUInt32BE(at + 20)], [side, side]);
            assert.ok(at + length <= icon.length);
        }
        const touch = await get('/apple-touch-icon.png', 'image/png');
        assert.deepEqual([touch.readUInt32BE(16), touch.readUInt32BE(20)], [180, 180]);
        assert.equal(touch[25], 2, 'without transparency, which iOS shows black');
        assert.match((await daemon.bytes('/')).toString(), /rel="apple-touch-icon" href="viewer\/apple-touch-icon\.png"/);
    });

    it('is not compressed if that makes it longer', () => eachRow([
        ['/favicon.ico', undefined], ['/viewer/icon.svg', 'gzip'],
    ], async ([path, coding]) => {
        const { headers } = await daemon.get(path, { 'Accept-Encoding': 'gzip' });
        assert.equal(headers['content-encoding'], coding);
        assert.equal(headers.vary, coding && 'Accept-Encoding');
    }));
});
