// Regions as pictures of any layer: the same pixels as the tiles, at any place and size.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { blocks, target } from './boxes.mjs';
import { useDaemon } from './daemon.mjs';
import { NATIVE_ZOOM, unitsAt } from './grid.mjs';
import { LAYERS, NAMES } from './layers.mjs';
import { assertSamePart, decodePng } from './png.mjs';
import { TIMEOUT } from './program.mjs';
import { assertError, assertStatus, eachRow } from './table.mjs';

const CONFIG = `worlds:
  - name: default
  - name: few
    layers: [relief]
`;
const stepAt = (z) => 2n ** BigInt(NATIVE_ZOOM - z + 10);
const ofLayer = (layer, at, sides, step, world) => `${target(at, sides, { step, world, form: 'png' })}&layer=${layer}`;

describe('regions of a layer', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG });

    /* At zoom 26 slopes reach 64 samples, so that bands have several blocks. */
    it('have the pixels of the tiles', () => eachRow(
        NAMES.flatMap((layer) => [[6, 31, 32], [16, 32767, 32767], [26, 33554431, 33554432], [-4, 0, -1]].map((at) => [layer, ...at]))
            .filter(([layer, z]) => layer !== 'height' || z >= 10),         // coarser tiles are filtered, regions exact
        async ([layer, z, x, y]) => {
            const tile = decodePng(await daemon.bytes(`/default/${layer}/${z}/${x}/${y}.png`));
            for (const { sides: [width, height], left, top } of [
                { sides: [256, 256], left: 0, top: 0 },
                { sides: [1201, 300], left: 700, top: 13 },          // several bands
                { sides: [257, 1300], left: 1, top: 900 },           // more rows than a block
            ]) {
                const step = stepAt(z);
                const at = [unitsAt(z, x, 0) - BigInt(left) * step, unitsAt(z, y, 0) - BigInt(top) * step];
                const picture = decodePng(await daemon.bytes(ofLayer(layer, at, [width, height], step)));
                assert.deepEqual([picture.width, picture.height, picture.depth, picture.channels],
                    [width, height, tile.depth, tile.channels]);
                assertSamePart([picture, left, top], [tile, 0, 0], 256, 256, `${layer}, ${width} x ${height}`);
            }
        }));

    it('are as wide and as high as any', () => eachRow(
        [[1, 1], [4097, 1], [1, 4097], [4097, 70], [70, 4097]].flatMap((sides) => [0, 10, 30].map((bits) => [sides, 2n ** BigInt(bits)])),
        async ([sides, step]) => {
            const { width, height } = decodePng(await daemon.bytes(ofLayer('relief', [0n, 0n], sides, step)));
            assert.deepEqual([width, height], sides);
        }));

    it('have an ETag of their own, and the headers of regions', async () => {
        const at = [-blocks(5), blocks(3)];
        const plain = await daemon.get(target(at, [9, 7], { form: 'png' }));
        const answers = await Promise.all(NAMES.map((layer) => daemon.get(ofLayer(layer, at, [9, 7]))));
        assert.equal(new Set(answers.map(({ headers }) => headers.etag)).size, NAMES.length);
        const height = answers[NAMES.indexOf('height')];
        assert.equal(height.headers.etag, plain.headers.etag);
        assert.deepEqual(height.body, plain.body);
        for (const { status, headers } of answers) {
            assert.equal(status, 200);
            assert.deepEqual([headers['content-type'], headers['farlands-width'], headers['farlands-height'], headers['farlands-origin']],
                ['image/png', '9', '7', '-5 3']);
        }
        const { etag } = answers[0].headers;
        assertStatus(await daemon.get(ofLayer(NAMES[0], at, [9, 7]), { 'If-None-Match': etag }), 304);
        const raw = await daemon.get(`${target(at, [9, 7])}&layer=height`);
        assert.deepEqual(raw.body, await daemon.bytes(target(at, [9, 7])));
    });

    it('have the fingerprint of their layer', async () => {
        const { fingerprint, layers } = await daemon.json('/default.json');
        await eachRow(NAMES, async (name) => {
            const own = name === 'height' ? fingerprint : layers.find((layer) => layer.name === name).fingerprint;
            const path = ofLayer(name, [0n, 0n], [9, 7]);
            const { headers } = await daemon.get(`${path}&v=${own}`);
            assert.equal(headers['farlands-fingerprint'], own);
            assert.match(headers['cache-control'], /immutable/);
            assert.ok(headers.etag.startsWith(`"${own}/`), headers.etag);
            const other = name === 'height' ? layers[0].fingerprint : fingerprint;
            assert.equal((await daemon.get(`${path}&v=${other}`)).headers['cache-control'], 'no-cache');
        });
    });

    it('are refused if there is no such layer or format', () => eachRow([
        ['/default/region.png', 'reief', /layer.*reief/],
        ['/default/region.png', 'x'.repeat(70), /layer/],
        ['/few/region.png', 'gray', /layer.*gray/],
        ...NAMES.filter((name) => !LAYERS[name].includes('f32')).map((name) => ['/default/region.f32', name, new RegExp(`extension.*${name}`)]),
        ['/default/region.jpg', 'relief', /extension/],
    ], async ([path, layer, why]) => {
        assertError(await daemon.get(`${path}?x=0&y=0&width=3&height=3&layer=${layer}`), 404, why);
    }));
});
