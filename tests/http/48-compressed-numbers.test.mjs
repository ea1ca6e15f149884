// Tiles of numbers, compressed for clients that accept it: the same bytes, with an ETag of their own.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { gunzipSync } from 'node:zlib';
import { describe, it } from 'node:test';
import { useDaemon } from './daemon.mjs';
import { TIMEOUT } from './program.mjs';
import { assertStatus, eachRow } from './table.mjs';

const GZIP = { 'Accept-Encoding': 'gzip' };
/* Node's zlib knows zstd from 22 on. */
const UNPACK = { gzip: gunzipSync, zstd: (input) => execFileSync('zstd', ['-dc'], { input, maxBuffer: 1 << 24 }) };
const CODINGS = Object.keys(UNPACK);
const FORMS = ['.f32', '.r16', '.u8', '@2x.r16', '.r16?border=1'];

describe('tiles of numbers', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ builtIn: true });
    let column = 0;
    /* A tile that was never requested. */
    const cold = (form = '.r16') => `/default/height/11/${++column}/7${form}`;

    it('are compressed for clients that accept it, from every source', () => eachRow(FORMS.flatMap((form) => CODINGS.map((coding) => [form, coding])), async ([form, coding]) => {
        const accepted = { 'Accept-Encoding': coding };
        for (const plainFirst of [true, false]) {
            const tile = cold(form);
            let before;
            for (let i = 0; i < 3 && plainFirst; i++)       // the last one is prepared
                before = await daemon.get(tile);
            const packed = [await daemon.get(tile, accepted), await daemon.get(tile, accepted), await daemon.get(tile, accepted)];
            const plain = before ?? await daemon.get(tile);
            assertStatus(plain, 200);
            assert.equal(plain.headers['content-encoding'], undefined);
            assert.equal(plain.headers.vary, 'Accept-Encoding');
            for (const answer of packed) {
                assertStatus(answer, 200);
                assert.equal(answer.headers['content-encoding'], coding);
                assert.equal(answer.headers.vary, 'Accept-Encoding');
                assert.equal(Number(answer.headers['content-length']), answer.body.length);
                assert.equal(answer.headers.etag, plain.headers.etag.replace(/"$/, `.${coding}"`));
                assert.deepEqual(UNPACK[coding](answer.body), plain.body);
                for (const name of ['content-type', 'cache-control', 'farlands-width', 'farlands-origin', 'farlands-scale', 'farlands-range'])
                    assert.equal(answer.headers[name], plain.headers[name]);
            }
            if (!form.includes('f32'))
                assert.ok(packed[0].body.length < plain.body.length, `${packed[0].body.length} bytes of ${plain.body.length}`);
        }
    }));

    it('follow Accept-Encoding', () => eachRow([
        [undefined], [''], ['identity'], ['gzip;q=0'], ['gzip;q=0, *'], ['*;q=0'], ['xgzip'], ['zstd;q=0'], ['identity, gzip;q=0.9'],
        ['gzip', 'gzip'], ['GZIP', 'gzip'], ['x-gzip', 'gzip'], ['*', 'gzip'], ['br, gzip;q=0.1', 'gzip'], ['gzip, zstd;q=0.9', 'gzip'],
        ['gzip, zstd;q=0', 'gzip'], ['br, zstd', 'zstd'], ['gzip, deflate, br, zstd', 'zstd'], ['gzip;q=0.5, zstd;q=0.8', 'zstd'],
        ['*;q=0, zstd', 'zstd'], [['gzip', 'zstd'], 'zstd'], [['zstd', 'br'], 'zstd'], [['zstd;q=0.5', 'gzip'], 'gzip'],
    ], async ([accepted, coding]) => {
        const tile = cold();
        for (let i = 0; i < 3; i++) {
            const { headers } = await daemon.get(tile, accepted === undefined ? {} : { 'Accept-Encoding': accepted });
            assert.equal(headers['content-encoding'], coding);
            assert.equal(headers.vary, 'Accept-Encoding');
        }
    }));

    it('revalidate in either form without a render', async () => {
        const tile = cold(), other = cold();
        const plain = (await daemon.head(tile)).headers.etag, packed = plain.replace(/"$/, '.gzip"'), zstd = plain.replace(/"$/, '.zstd"');
        const before = await daemon.rendered();
        await eachRow([
            [{ 'If-None-Match': plain }, 304, plain], [{ ...GZIP, 'If-None-Match': plain }, 304, plain],
            [{ ...GZIP, 'If-None-Match': packed }, 304, packed], [{ ...GZIP, 'If-None-Match': `${plain}, ${packed}` }, 304, packed],
            [{ ...GZIP, 'If-None-Match': '*' }, 304, packed],
            [{ 'Accept-Encoding': 'gzip, zstd', 'If-None-Match': zstd }, 304, zstd], [{ 'Accept-Encoding': 'zstd', 'If-None-Match': '*' }, 304, zstd],
            [{ 'Accept-Encoding': 'zstd', 'If-None-Match': ['"other"', zstd, '"last"'] }, 304, zstd], [{ ...GZIP, 'If-Match': '"other"' }, 412, packed],
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
            [{ 'If-None-Match': packed }, undefined], [{ 'Accept-Encoding': 'gzip, zstd', 'If-None-Match': packed }, 'zstd'], [{ ...GZIP, 'If-None-Match': '"other"' }, 'gzip'],
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

describe('regions and volumes', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon();
    const FROM = '/default/region';
    const WHOLE = [`${FROM}.f32?x=1&y=2&width=64&height=65`, `${FROM}.r16?x=1&y=2&width=300&height=300`, `${FROM}.u8?x=1&y=2&width=512&height=512`,
        `${FROM}.f32?x=1&y=2&width=16&height=16`, '/default/volume.f32?x=0&y=0&z=0&width=17&height=17&depth=17'];

    it('are compressed if they are made as a whole', () => eachRow(WHOLE.flatMap((url) => CODINGS.map((coding) => [url, coding])), async ([url, coding]) => {
        const accepted = { 'Accept-Encoding': `br, ${coding}` };
        const [plain, packed, head] = [await daemon.get(url), await daemon.get(url, accepted), await daemon.head(url, accepted)];
        assertStatus(packed, 200);
        assert.equal(plain.headers['content-encoding'], undefined);
        assert.equal(packed.headers['content-encoding'], coding);
        assert.deepEqual(UNPACK[coding](packed.body), plain.body);
        assert.deepEqual([plain, packed, head].map(({ headers }) => headers.vary), Array(3).fill('Accept-Encoding'));
        assert.equal(packed.headers.etag, plain.headers.etag.replace(/"$/, `.${coding}"`));
        assert.equal(head.headers.etag, packed.headers.etag);
        /* Ranges are those of the plain bytes. */
        assert.deepEqual([plain, packed].map(({ headers }) => headers['accept-ranges']), ['bytes', 'none']);
        const part = await daemon.get(url, { ...accepted, Range: 'bytes=4-11' });
        assertStatus(part, 206);
        assert.equal(part.headers['content-encoding'], undefined);
        assert.equal(part.headers.etag, plain.headers.etag);
        assert.deepEqual(part.body, plain.body.subarray(4, 12));
        const other = await daemon.get(url, { ...accepted, Range: 'bytes=4-11', 'If-Range': packed.headers.etag });
        assertStatus(other, 200);
        assert.deepEqual(other.body, plain.body);
        await eachRow([plain, packed].map(({ headers }) => headers.etag), async (etag) => {
            const same = await daemon.get(url, { ...accepted, 'If-None-Match': etag });
            assertStatus(same, 304);
            assert.equal(same.headers.etag, etag);
        });
    }));

    it('are plain if they are streams, small, or pictures', () => eachRow([
        `${FROM}.f32?x=1&y=2&width=513&height=512`, `${FROM}.r16?x=1&y=2&width=1000&height=1000`, `${FROM}.f32?x=1&y=2&width=15&height=17`,
        `${FROM}.png?x=1&y=2&width=64&height=64`, '/default/volume.f32?x=0&y=0&z=0&width=65&height=64&depth=64',
    ], async (url) => {
        const answer = await daemon.get(url, { 'Accept-Encoding': 'gzip, zstd' });
        assertStatus(answer, 200);
        assert.deepEqual([answer.headers['content-encoding'], answer.headers.vary], [undefined, undefined]);
        assert.equal(answer.headers['accept-ranges'], url.includes('.png') ? 'none' : 'bytes');
    }));
});
