// XML by which geographic information systems add layers: the WMTS document and GDAL's.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useDaemon } from './daemon.mjs';
import { ALL } from './layers.mjs';
import { TIMEOUT } from './program.mjs';
import { assertError, assertStatus, eachRow } from './table.mjs';
import { assertWmts, fill, kvpOf, layersOf, one, parseXml, textOf } from './wmts.mjs';
import { request } from './wire.mjs';

const COUNT = Object.keys(ALL).length;      // of the default world
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
        [['default', COUNT], ['near', 2], ['default:7', COUNT], ['default:18446744073709551615', COUNT]],
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

    const SET = 'GoogleMapsCompatible_Level';
    const keys = (layer, [z, x, y], more) => new URLSearchParams({
        SERVICE: 'WMTS', REQUEST: 'GetTile', VERSION: '1.0.0', LAYER: layer, STYLE: 'default', FORMAT: 'image/png',
        TILEMATRIXSET: `${SET}${layer.startsWith('near') ? 12 : 25}`, TILEMATRIX: z, TILEROW: y, TILECOL: x, ...more,
    });

    /* A report by the schema of OGC 06-121r3: its code, locator and text. */
    function exceptionOf(answer, status) {
        assertStatus(answer, status);
        assert.equal(answer.headers['content-type'], 'application/xml');
        assert.equal(answer.headers['cache-control'], 'no-store');
        assert.equal(answer.headers['access-control-allow-origin'], '*');
        const report = parseXml(answer.body.toString());
        assert.equal(report.name, 'ows:ExceptionReport');
        assert.equal(report.attributes.version, '1.1.0');
        assert.equal(report.attributes['xmlns:ows'], 'http://www.opengis.net/ows/1.1');
        const exception = one(report, 'ows:Exception');
        return [exception.attributes.exceptionCode, exception.attributes.locator, textOf(exception, 'ows:ExceptionText')];
    }

    it('are the same by keys and values', () => eachRow([['', '/wmts'], ['/default:7', '/default:7/wmts']], async ([world, path]) => {
        const { headers: { etag } } = await daemon.get(`${world}/wmts.xml`);
        for (const query of ['', '?', '?SERVICE=WMTS&REQUEST=GetCapabilities', '?service=WMS&request=GETCAPABILITIES&a=b']) {
            const answer = await daemon.get(path + query);
            assertStatus(answer, 200);
            assert.equal(answer.headers.etag, etag);
        }
        const document = parseXml((await daemon.get(path)).body.toString());
        for (const operation of ['GetCapabilities', 'GetTile'])
            assert.equal(kvpOf(document, operation), `${home().slice(0, -1)}${path}?`);
    }));

    it('have tiles by keys and values, those of URLs', () => eachRow([
        ['default:relief', [3, 2, 5]], ['default:7:height', [0, 0, 0]], ['near:height', [12, 4095, 0]],
        ['default:-1:relief', [3, 2, 5], '/default:18446744073709551615'],
    ], async ([layer, tile, base = '']) => {
        const [world, name] = [layer.slice(0, layer.lastIndexOf(':')), layer.slice(layer.lastIndexOf(':') + 1)];
        const plain = await daemon.get(`/${world}/${name}/${tile.join('/')}.png`);
        assertStatus(plain, 200);
        const queries = [keys(layer, tile), keys(layer, tile, { STYLE: '', token: 'a b', TRANSPARENT: 'TRUE' }),
            String(keys(layer, tile)).toLowerCase().replace('googlemapscompatible_level', SET), decodeURIComponent(keys(layer, tile))];
        for (const query of queries)
            for (const path of ['/wmts', '/wmts.xml', `${base || `/${world}`}/wmts`]) {
                const answer = await daemon.get(`${path}?${query}`);
                assertStatus(answer, 200);
                assert.deepEqual(answer.body, plain.body);
                for (const header of ['content-type', 'etag', 'cache-control', 'last-modified'])
                    assert.equal(answer.headers[header], plain.headers[header], header);
                assertStatus(await daemon.get(`${path}?${query}`, { 'If-None-Match': plain.headers.etag }), 304);
                assertStatus(await daemon.head(`${path}?${query}`), 200);
            }
        assert.equal((await daemon.get(`/wmts?${keys(layer, tile)}`, { Range: 'bytes=0-7' })).status, 206);
    }));

    it('render a tile once for both', async () => {
        const rendered = async () => [...await daemon.metrics()].reduce((sum, [name, value]) =>
            sum + (name.startsWith('farlands_tiles_rendered_total') ? value : 0), 0);
        assertStatus(await daemon.get('/default/relief/9/33/44.png'), 200);
        const before = await rendered();
        for (let i = 0; i < 3; i++)
            assertStatus(await daemon.get(`/wmts?${keys('default:relief', [9, 33, 44])}`), 200);
        assert.equal(await rendered(), before);
    });

    it('report what is wrong', () => eachRow([
        ['/wmts?SERVICE=WMTS', 400, 'MissingParameterValue', 'request', /GetCapabilities or GetTile/],
        ['/near/wmts.xml?request=', 400, 'MissingParameterValue', 'request', /missing/],
        ['/wmts.xml?SERVICE=WMTS&REQUEST=GetTile', 400, 'MissingParameterValue', 'version', /1\.0\.0/],
        ['/wmts?SERVICE=WMTS&REQUEST=GetFeatureInfo', 501, 'OperationNotSupported', 'GetFeatureInfo', /GetTile/],
        ['/wmts?SERVICE=WMTS&REQUEST=%3Ca%3E%26', 501, 'OperationNotSupported', '&#60;a&#62;&#38;', /GetTile/],
        [['nowhere:relief'], 400, 'InvalidParameterValue', 'layer', /no world.*nowhere/],
        [['near:7:relief'], 400, 'InvalidParameterValue', 'layer', /seed/],
        [['near:normal'], 400, 'InvalidParameterValue', 'layer', /normal/],
        [['default:field.height'], 400, 'InvalidParameterValue', 'layer', /field/],
        [['default:relief', [1, 0, 0], { TILEMATRIXSET: `${SET}12` }], 400, 'InvalidParameterValue', 'tilematrixset', /_Level25/],
        [['near:relief', [13, 0, 0]], 400, 'InvalidParameterValue', 'tilematrix', /0 to 12/],
        [['near:relief', [-1, 0, 0]], 400, 'InvalidParameterValue', 'tilematrix', /0 to 12/],
        [['default:relief', [2, 4, 0]], 400, 'TileOutOfRange', 'tilecol', /0 to 3/],
        [['default:relief', [2, 0, -1]], 400, 'TileOutOfRange', 'tilerow', /0 to 3/],
        [['default:relief', [2, 0, '99999999999999999999']], 400, 'TileOutOfRange', 'tilerow', /0 to 3/],
        [['default:relief', [2, 0, 0], { FORMAT: 'image/webp' }], 400, 'InvalidParameterValue', 'format', /image\/png/],
    ], async ([request, status, code, locator, why]) => {
        const path = typeof request === 'string' ? request : `/wmts?${keys(request[0], request[1] ?? [0, 0, 0], request[2])}`;
        const [gotCode, gotLocator, text] = exceptionOf(await daemon.get(path), status);
        assert.deepEqual([gotCode, gotLocator], [code, locator], text);
        assert.match(text, why);
    }));

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
