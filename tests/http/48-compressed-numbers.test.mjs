// Tiles of numbers, compressed for clients that accept it: the same bytes, with an ETag of their own.

import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import { describe, it } from 'node:test';
import { useDaemon } from './daemon.mjs';
import { TIMEOUT } from './program.mjs';
import { assertStatus, eachRow } from './table.mjs';

const GZIP = { 'Accept-Encoding': 'gzip' };
const FORMS = ['.f32', '.r16', '.u8', '@2x.r16', '.r16?border=1'];

describe('tiles of numbers', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ builtIn: true });
    let column = 0;
    /* A tile that was never requested. */
    const cold = (form = '.r16') => `/default/height/11/${++column}/7${form}`;

    it('are compressed for clients that accept gzip, from every source', () => eachRow(FORMS, async (form) => {
        for (const plainFirst of [true, false]) {
            const tile = cold(form);
            let before;
            for (let i = 0; i < 3 && plainFirst; i++)       // the last one is prepared
                before = await daemon.get(tile);
            const packed = [await daemon.get(tile, GZIP), await daemon.get(tile, GZIP), await daemon.get(tile, GZIP)];
            const plain = before ?? await daemon.get(tile);
            assertStatus(plain, 200);
            assert.equal(plain.headers['content-encoding'], undefined);
            assert.equal(plain.headers.vary, 'Accept-Encoding');
            for (const answer of packed) {
                assertStatus(answer, 200);
                assert.equal(answer.headers['content-encoding'], 'gzip');
                assert.equal(answer.headers.vary, 'Accept-Encoding');
                assert.equal(Number(answer.headers['content-length']), answer.body.length);
                assert.equal(answer.headers.etag, plain.headers.etag.replace(/"$/, '.gz"'));
                assert.deepEqual(gunzipSync(answer.body), plain.body);
                for (const name of ['content-type', 'cache-control', 'farlands-width', 'farlands-origin', 'farlands-scale', 'farlands-range'])
                    assert.equal(answer.headers[name], plain.headers[name]);
            }
            if (!form.includes('f32'))
                assert.ok(packed[0].body.length < plain.body.length, `${packed[0].body.length} bytes of ${plain.body.length}`);
        }
    }));

    it('follow Accept-Encoding', () => eachRow([
        [undefined, false], ['', false], ['identity', false], ['br, zstd', false], ['gzip;q=0', false], ['gzip;q=0, *', false],
        ['*;q=0', false], ['xgzip', false], ['gzip', true], ['GZIP', true], ['x-gzip', true], ['*', true], ['br, gzip;q=0.1', true],
        ['gzip, deflate, br, zstd', true],
    ], async ([accepted, packed]) => {
        const tile = cold();
        for (let i = 0; i < 3; i++) {
            const { headers } = await daemon.get(tile, accepted === undefined ? {} : { 'Accept-Encoding': accepted });
            assert.equal(headers['content-encoding'], packed ? 'gzip' : undefined);
            assert.equal(headers.vary, 'Accept-Encoding');
        }
    }));

    it('revalidate in either form without a render', async () => {
        const tile = cold(), other = cold();
        const plain = (await daemon.head(tile)).headers.etag, packed = plain.replace(/"$/, '.gz"');
        const before = await daemon.rendered();
        await eachRow([
            [{ 'If-None-Match': plain }, 304, plain], [{ ...GZIP, 'If-None-Match': plain }, 304, plain],
            [{ ...GZIP, 'If-None-Match': packed }, 304, packed], [{ ...GZIP, 'If-None-Match': `${plain}, ${packed}` }, 304, packed],
            [{ ...GZIP, 'If-None-Match': '*' }, 304, packed], [{ ...GZIP, 'If-Match': '"other"' }, 412, packed],
        ], async ([headers, status, etag]) => {
            for (let i = 0; i < 2; i++) {
                const answer = await daemon.get(tile, headers);
                assertStatus(answer, status);
                assert.equal(answer.headers.etag, etag);
                assert.equal(answer.headers['content-encoding'], undefined);
            }
        });
        assert.equal(await daemon.rendered(), before);
        await eachRow([
            [{ 'If-None-Match': packed }, undefined], [{ ...GZIP, 'If-None-Match': '"other"' }, 'gzip'],
            [{ ...GZIP, 'If-Match': plain }, undefined], [{ ...GZIP, 'If-Match': packed }, 'gzip'],
        ], async ([headers, coding]) => {
            const answer = await daemon.get(tile, headers);
            assertStatus(answer, 200);
            assert.equal(answer.headers['content-encoding'], coding);
        });
        assertStatus(await daemon.get(other, { ...GZIP, 'If-None-Match': plain }), 200);
    });

    it('are plain in parts', async () => {
        const tile = cold('.f32');
        const whole = await daemon.bytes(tile);
        for (const headers of [{}, GZIP]) {
            const answer = await daemon.get(tile, { ...headers, Range: 'bytes=4-11' });
            assertStatus(answer, 206);
            assert.equal(answer.headers['content-encoding'], undefined);
            assert.deepEqual(answer.body, whole.subarray(4, 12));
        }
        const { etag } = (await daemon.get(tile, GZIP)).headers;
        const answer = await daemon.get(tile, { ...GZIP, Range: 'bytes=4-11', 'If-Range': etag });
        assertStatus(answer, 200);
        assert.deepEqual(answer.body, whole);
    });

    it('are rendered once for many clients', async () => {
        const tile = cold(), before = await daemon.rendered();
        const answers = await Promise.all(Array.from({ length: 30 }, () => daemon.get(tile, GZIP, { agent: false })));
        for (const { body } of answers)
            assert.deepEqual(body, answers[0].body);
        assert.equal(await daemon.rendered(), before + 1);
    });

    it('tell the same in response to HEAD', () => eachRow(FORMS, async (form) => {
        const tile = cold(form);
        await daemon.get(tile, GZIP);
        const [head, get] = [await daemon.head(tile, GZIP), await daemon.get(tile, GZIP)];
        for (const name of ['content-encoding', 'content-length', 'etag', 'vary'])
            assert.equal(head.headers[name], get.headers[name]);
    }));

    it('are apart from pictures, which are compressed anyway', async () => {
        const { headers } = await daemon.get('/default/relief/11/3/7.png', GZIP);
        assert.deepEqual([headers['content-encoding'], headers.vary], [undefined, undefined]);
    });
});
