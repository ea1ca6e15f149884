// XML by which geographic information systems add layers: the WMTS document and GDAL's.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useDaemon } from './daemon.mjs';
import { NAMES, RIVERS } from './layers.mjs';
import { TIMEOUT } from './program.mjs';
import { assertError, assertStatus, eachRow } from './table.mjs';
import { assertWmts, fill, layersOf, one, parseXml, textOf } from './wmts.mjs';
import { request } from './wire.mjs';

const ALL = NAMES.length + RIVERS.length + 1;      // of the default world, with `biome`
const WORLDS = `
proxies: [127.0.0.1]
worlds:
  - name: default
    like: default
    seeds: any
  - name: near
    native_zoom: 2
    noise: { wavelength: 64, octaves: 3 }
    layers: [height, relief]
`;

describe('documents for maps', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: WORLDS });

    const home = () => `http://${daemon.authority}/`;

    async function xml(path, headers) {
        const { answers: [answer] } = await daemon.raw(request('GET', path, { Host: daemon.authority, ...headers }));
        assertStatus(answer, 200);
        assert.equal(answer.headers['content-type'], 'application/xml');
        return parseXml(answer.body.toString());
    }

    it('list all layers that the worlds serve', async () => {
        const { worlds } = await daemon.json('/worlds.json');
        const document = await xml('/wmts.xml');
        assertWmts(document);
        assert.deepEqual(layersOf(document).map(({ name, set }) => [name, set]),
            worlds.flatMap(({ name, layers, limits }) => layers.map((layer) =>
                [`${name}:${layer.name}`, `GoogleMapsCompatible_Level${Math.min(limits.zoom[1], 25)}`])));
    });

    it('list the layers of one world, of any seed', () => eachRow(
        [['default', ALL], ['near', 2], ['default:7', ALL], ['default:18446744073709551615', ALL]],
        async ([world, count]) => {
            const document = await xml(`/${world}/wmts.xml`);
            assertWmts(document);
            const layers = layersOf(document);
            assert.equal(layers.length, count);
            const listed = (await daemon.json(`/${world}.json`)).layers.filter(({ name }) => !name.startsWith('field.'));
            assert.deepEqual(layers.map(({ name, template }) => [name, fill(template, '{z}', '{x}', '{y}')]),
                listed.map(({ name, tiles }) => [`${world}:${name}`, home() + tiles.replace(/^\.\//, '')]));
        }));

    it('have the tiles that they name', async () => {
        await eachRow(layersOf(await xml('/wmts.xml')), async ({ name, set, template }) => {
            const zoom = Number(/\d+$/.exec(set)[0]);
            for (const tile of [[0, 0, 0], [zoom, 2 ** zoom - 1, 2 ** zoom - 1]]) {
                const { pathname, search } = new URL(fill(template, ...tile));
                const answer = await daemon.head(pathname + search);
                assertStatus(answer, 200);
                assert.equal(answer.headers['content-type'], 'image/png', name);
                assert.match(answer.headers['cache-control'], /immutable/);
            }
        });
    });

    it('describe a layer for GDAL', () => eachRow([
        ['default', 'relief', '3', 'Byte', '16'], ['default:7', 'height', '1', 'UInt16', '16'],
        ['near', 'height', '1', 'UInt16', '2'],
    ], async ([world, layer, bands, type, level]) => {
        const [file, { origin, layers }] =
            [await xml(`/${world}/${layer}.xml`), await daemon.json(`/${world}.json`)];
        // Heights are in a VRT, which has the other file as text.
        const document = layer === 'height'
            ? parseXml(textOf(file, 'VRTRasterBand', 'SimpleSource', 'SourceFilename').replaceAll('&lt;', '<')) : file;
        assert.equal(document.name, 'GDAL_WMS');
        assert.equal(textOf(document, 'Service', 'ServerUrl').replaceAll('${', '{'),
            home() + layers.find(({ name }) => name === layer).tiles.replace(/^\.\//, ''));
        assert.deepEqual(['BandsCount', 'DataType'].map((name) => textOf(document, name)), [bands, type]);
        const window = one(document, 'DataWindow');
        assert.equal(textOf(window, 'TileLevel'), level);
        const side = 256 * 2 ** level;
        assert.deepEqual(['UpperLeftX', 'UpperLeftY', 'LowerRightX', 'LowerRightY'].map((name) =>
            Number(textOf(window, name))), [origin[0], -origin[1], origin[0] + side, -origin[1] - side]);
    }));

    it('answer the keys that clients append', () => eachRow(
        ['?', '?SERVICE=WMTS&REQUEST=GetCapabilities', '?service=wmts&request=getcapabilities&version=1.0.0',
            '?SERVICE=WMS&REQUEST=GetCapabilities', '?REQUEST=GetCapabilities&token=x'], async (query) => {
            for (const path of ['/wmts.xml', '/default/wmts.xml']) {
                const { etag } = (await daemon.get(path)).headers;
                const answer = await daemon.get(path + query);
                assertStatus(answer, 200);
                assert.equal(answer.headers.etag, etag);
                assertStatus(await daemon.get(path + query, { 'If-None-Match': etag }), 304);
                assertStatus(await daemon.head(path + query), 200);
            }
        }));

    it('refuse other requests', () => eachRow(
        ['/wmts.xml?SERVICE=WMTS&REQUEST=GetTile', '/near/wmts.xml?request='], async (path) =>
            assertError(await daemon.get(path), 400, /request: ".*" is not GetCapabilities/)));

    it('have the address that the client requested', () => eachRow([
        [{}, () => `http://${daemon.authority}`],
        [{ Host: 'a.b:8080' }, () => 'http://a.b:8080'],
        [{ 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'outer', 'X-Forwarded-Prefix': '/p' },
            () => 'https://outer/p'],
    ], async ([headers, base]) => {
        const url = textOf(await xml('/default:3/relief.xml', headers), 'Service', 'ServerUrl');
        assert.ok(url.startsWith(`${base()}/default:3/relief/$`), url);
        for (const path of ['/wmts.xml', '/near/wmts.xml']) {
            const document = await xml(path, headers);
            assert.equal(one(document, 'ServiceMetadataURL').attributes['xlink:href'], base() + path);
            for (const { template } of layersOf(document))
                assert.ok(template.startsWith(`${base()}/`), template);
        }
    }));

    it('need a Host', () => eachRow(['/wmts.xml', '/near/wmts.xml', '/near/relief.xml'], async (path) => {
        const { answers: [answer] } = await daemon.raw(request('GET', path, { Host: 'a/b' }));
        assertError(answer, 400, /Host/);
    }));
});
