// Tiles with a border: one more column and row, which equal the first ones in the next tiles. So neighboring meshes
// meet without cracks.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { Daemon, useDaemon } from './daemon.mjs';
import { decimal, floats, sameFloat, unitsAt } from './grid.mjs';
import { NAMES } from './layers.mjs';
import { assertSamePart, decodePng } from './png.mjs';
import { TIMEOUT, scratch } from './program.mjs';
import { assertError, assertStatus, eachRow } from './table.mjs';

/* An image, or a raw tile as if it were one whose channels are bytes. */
function imageOf(bytes, tile) {
    if (tile.includes('.png'))
        return decodePng(bytes);
    const channels = tile.includes('.f32') ? 4 : 2;
    return { width: Math.sqrt(bytes.length / channels), channels, samples: bytes };
}

describe('borders', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ builtIn: true });
    const image = async (tile) => imageOf(await daemon.bytes(`/default/${tile}`), tile);

    const forms = [...NAMES.flatMap((name) => [`${name}/%.png`, `${name}/%@2x.png`]),
        'height/%.r16', 'height/%.f32', 'height/%@2x.f32'];
    // Corners, one pixel each, lie away from shores, where colors are rare and palettes change them most.
    for (const form of forms)
        it(`repeat the neighbors' first samples and change no other: ${form}`, () => eachRow(
            [[10, 510, 511], [16, -1, 32768]], async ([z, x, y]) => {
                const tile = (right, down) => form.replace('%', `${z}/${x + right}/${y + down}`);
                const bordered = await image(`${tile(0, 0)}?border=1`);
                const size = form.includes('@2x') ? 512 : 256;
                assert.equal(bordered.width, size + 1);
                for (const [right, down] of [[0, 0], [1, 0], [0, 1], [1, 1]]) {
                    const plain = await image(tile(right, down));
                    assertSamePart([bordered, right * size, down * size], [plain, 0, 0],
                        right ? 1 : size, down ? 1 : size, `${right}, ${down}`);
                }
            }));

    it('lie where the grid says', () => eachRow([[16, 32768, 32767], [20, -3, 7], [10, 0, -1]], async ([z, x, y]) => {
        const tile = await daemon.get(`/default/height/${z}/${x}/${y}.f32?border=1`);
        const heights = floats(tile.body);
        assert.equal(tile.headers['farlands-width'], '257');
        assert.equal(tile.headers['farlands-height'], '257');
        for (const [i, j] of [[0, 0], [256, 0], [0, 256], [256, 256], [255, 256]]) {
            const { height } = await daemon.json(
                `/default/height?x=${decimal(unitsAt(z, x, i))}&y=${decimal(unitsAt(z, y, j))}`);
            assert.ok(sameFloat(heights[257 * j + i], height), `${i}, ${j}: ${heights[257 * j + i]}, not ${height}`);
        }
    }));

    it('have ETags and freshness of their own', async () => {
        await eachRow(forms.map((form) => `/default/${form.replace('%', '9/8/7')}`), async (tile) => {
            const fingerprint = await daemon.fingerprintOf(tile);
            const [plain, bordered] = [await daemon.get(tile), await daemon.get(`${tile}?border=1`)];
            assert.notEqual(bordered.headers.etag, plain.headers.etag);
            for (const query of ['?border=1', `?border=1&v=${fingerprint}`, `?v=${fingerprint}&border=1`]) {
                const same = await daemon.get(tile + query, { 'If-None-Match': bordered.headers.etag });
                assertStatus(same, 304);
                assert.equal(same.headers['cache-control'],
                    query.includes('v=') ? 'public, max-age=31536000, immutable' : 'public, max-age=3600');
                assertStatus(await daemon.get(tile + query, { 'If-None-Match': plain.headers.etag }), 200);
            }
            assert.equal((await daemon.head(`${tile}?border=0`)).headers.etag, plain.headers.etag);
        });
    });

    it('are refused if they are neither 0 nor 1', () => eachRow(['2', '', '-1', '1.0', 'true', '1&border=1'],
        async (value) => assertError(await daemon.get(`/default/height/9/8/7.f32?border=${value}`), 400, /border/)));

    it('stay on disk as files of their own', async () => {
        const cache = scratch();
        const tiles = ['terrarium/9/8/7', 'relief/9/8/7@2x'];
        const kept = [];
        for (const renders of [2 * tiles.length, 0]) {
            const own = await new Daemon({ builtIn: true, cache }).start();
            for (const tile of tiles)
                for (const query of ['', '?border=1']) {
                    const bytes = await own.bytes(`/default/${tile}.png${query}`);
                    if (renders)
                        kept.push(bytes);
                    else
                        assert.deepEqual(bytes, kept.shift(), tile + query);
                }
            assert.equal(await own.rendered(), renders);
            const fingerprints = await Promise.all(tiles.map((tile) => own.fingerprintOf(`/default/${tile}`)));
            await own.quit();
            for (const [i, tile] of tiles.entries())
                for (const border of ['', '+border'])
                    assert.ok(fs.existsSync(path.join(cache, fingerprints[i], `${tile}${border}.png`)), tile + border);
        }
    });
});
