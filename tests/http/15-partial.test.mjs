// Range requests for tiles, and access for pages of other origins.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useDaemon } from './daemon.mjs';
import { TIMEOUT } from './program.mjs';
import { assertError, assertStatus, eachRow } from './table.mjs';
import { request } from './wire.mjs';

const RAW = ['/default/height/12/7/9.f32', '/default/height/12/7/9.r16', '/default/height/12/7/9@2x.r16',
    '/default/height/12/7/9.f32?border=1'];
const PICTURES = ['/default/relief/12/7/9.png', '/default/terrarium/12/7/9.png?border=1',
    '/default/height/12/7/9.png', '/default/gray/12/7/9@2x.png'];

describe('ranges', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ builtIn: true });
    let column = 0;
    const cold = () => `/default/height/11/${++column}/3.r16`;
    const part = (path, range, headers) => daemon.get(path, { Range: range, ...headers });

    it('return parts of tiles', () => eachRow([...RAW, ...PICTURES], async (path) => {
        const whole = await daemon.get(path);
        const size = whole.body.length;
        await eachRow([
            ['bytes=0-0', 0, 1], ['bytes=0-', 0, size], ['bytes=100-199', 100, 200], [`bytes=${size - 1}-`, size - 1, size],
            ['bytes=-4', size - 4, size], [`bytes=-${size}`, 0, size], ['bytes=-99999999', 0, size],
            ['bytes=5-99999999999999999999', 5, size], ['Bytes=1-2,', 1, 3],
        ], async ([range, first, end]) => {
            const answer = await part(path, range);
            assertStatus(answer, 206);
            assert.equal(answer.headers['content-range'], `bytes ${first}-${end - 1}/${size}`);
            assert.equal(Number(answer.headers['content-length']), end - first);
            assert.deepEqual(answer.body, whole.body.subarray(first, end));
            for (const name of ['etag', 'content-type', 'cache-control', 'accept-ranges', 'farlands-width',
                'farlands-origin', 'farlands-fingerprint', 'access-control-allow-origin'])
                assert.equal(answer.headers[name], whole.headers[name], name);
        });
        assert.deepEqual(await daemon.bytes(path), whole.body, 'afterwards');
    }));

    it('return parts of cold tiles', async () => {
        const path = cold();
        const answer = await part(path, 'bytes=1000-1009');
        assertStatus(answer, 206);
        assert.deepEqual(answer.body, (await daemon.bytes(path)).subarray(1000, 1010));
    });

    it('requested concurrently make up the whole', async () => {
        const path = cold();
        const size = 256 * 256 * 2;
        const parts = await Promise.all(Array.from({ length: 16 }, (_, i) =>
            part(path, `bytes=${i * size / 16}-${(i + 1) * size / 16 - 1}`)));
        assert.ok(parts.every(({ status }) => status === 206));
        assert.deepEqual(Buffer.concat(parts.map(({ body }) => body)), await daemon.bytes(path));
    });

    it('beyond the end return 416 with the length, without rendering', () => eachRow(
        ['bytes=131072-', 'bytes=131072-131073', 'bytes=99999999999999999999-', 'bytes=-0'], async (range) => {
            const before = await daemon.rendered();
            const answer = await part(cold(), range);
            assertError(answer, 416, /131072/);
            assert.equal(answer.headers['content-range'], 'bytes */131072');
            assert.equal(await daemon.rendered(), before);
        }));

    it('of a cold picture wait for its length', async () => {
        const path = `/default/relief/11/${++column}/3.png`;
        const answer = await part(path, 'bytes=8-15');
        assertStatus(answer, 206);
        assert.deepEqual(answer.body, (await daemon.bytes(path)).subarray(8, 16));
        assertError(await part(`/default/relief/11/${++column}/3.png`, 'bytes=9999999-'), 416, /bytes/);
    });

    it('are ignored if several, malformed or in another unit', () => eachRow(
        ['bytes=0-1,4-5', 'bytes=0-1, -1', 'bytes=5-4', 'bytes=', 'bytes=-', 'bytes=a-b', 'bytes 0-1', 'bytes=0 -1',
            'items=0-1', '0-1', 'bytes=0-1-2'],
        async (range) => {
            const answer = await part(RAW[1], range);
            assertStatus(answer, 200);
            assert.equal(answer.headers['content-range'], undefined);
            assert.equal(answer.body.length, 131072);
        }));

    it('are ignored if If-Range does not match', async () => {
        const { headers: { etag } } = await daemon.head(RAW[1]);
        await eachRow([
            [etag, 206], [` ${etag} `, 206], [`W/${etag}`, 200], ['"other"', 200], ['*', 200], [`${etag}, "other"`, 200],
            [etag.slice(1, -1), 200], ['Sat, 29 Oct 1994 19:43:31 GMT', 200], [new Date().toUTCString(), 200],
        ], async ([value, status]) => {
            const answer = await part(RAW[1], 'bytes=0-9', { 'If-Range': value });
            assertStatus(answer, status);
            assert.equal(answer.body.length, status === 206 ? 10 : 131072);
            // An ignored range cannot be unsatisfiable.
            assertStatus(await part(RAW[1], 'bytes=131072-', { 'If-Range': value }), status === 206 ? 416 : 200);
        });
    });

    it('are evaluated after If-None-Match', async () => {
        const { headers: { etag } } = await daemon.head(RAW[0]);
        for (const range of ['bytes=0-9', 'bytes=99999999-']) {
            assertStatus(await part(RAW[0], range, { 'If-None-Match': etag }), 304);
            assertStatus(await part(RAW[0], range, { 'If-None-Match': etag, 'If-Range': '"other"' }), 304);
        }
        assertStatus(await part(RAW[0], 'bytes=0-9', { 'If-None-Match': '"other"' }), 206);
    });

    it('apply to GET only', () => eachRow(['bytes=0-9', 'bytes=99999999-', 'bytes=-0'], async (range) => {
        const answer = await daemon.head(RAW[0], { Range: range });
        assertStatus(answer, 200);
        assert.equal(Number(answer.headers['content-length']), 262144);
        assert.equal(answer.headers['content-range'], undefined);
        assert.equal(answer.headers['accept-ranges'], 'bytes');
    }));

    it('are announced by Accept-Ranges', async () => {
        await eachRow([...RAW, ...PICTURES], async (path) => {
            const { headers } = await daemon.get(path);
            assert.equal(headers['accept-ranges'], 'bytes');
            assert.equal((await daemon.head(path)).headers['accept-ranges'], 'bytes');
            assert.equal((await daemon.get(path, { 'If-None-Match': headers.etag })).headers['accept-ranges'], 'bytes');
        });
    });

    it('of documents are ignored', () => eachRow(['/worlds.json', '/', '/healthz'],
        async (path) => {
            const whole = await daemon.bytes(path);
            for (const range of ['bytes=0-9', 'bytes=99999999-']) {
                const answer = await part(path, range);
                assertStatus(answer, 200);
                assert.deepEqual(answer.body, whole);
            }
        }));

    it('keep the connection usable', async () => {
        const connection = await daemon.connect();
        try {
            for (const [range, status] of [['bytes=0-9', 206], ['bytes=131072-', 416], ['bytes=-1', 206], ['x', 200]]) {
                connection.send(request('GET', RAW[1], { Host: 'a', Range: range }));
                assertStatus(await connection.answer(), status);
                assert.equal(connection.buffer.length, 0);
            }
        } finally {
            connection.close();
        }
    });

    it('are counted', async () => {
        await eachRow([['bytes=0-9', 206], ['bytes=131072-', 416], ['x', 412]], async ([range, status]) => {
            const before = await daemon.metric('farlands_requests_total', `code="${status}"`);
            await part(RAW[1], range, status === 412 && { 'If-Match': '"other"' });
            assert.equal(await daemon.metric('farlands_requests_total', `code="${status}"`), before + 1);
        });
    });
});

describe('other origins', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ builtIn: true });
    const listed = (value) => (value ?? '').toLowerCase().split(/ *, */);

    const HEADERS = 'authorization,cache-control,content-type,if-match,if-modified-since,if-none-match,if-range,pragma,' +
        'priority,range,x-requested-with';
    const long = (length) => `x-${'a'.repeat(length - 2)}`;

    /* What they are told if they ask for what cannot be repeated, or for nothing. */
    it('may send any header', () => eachRow([
        [HEADERS, HEADERS], ['Priority, X-My_Header', 'Priority, X-My_Header'], [long(1024), long(1024)],
        [long(1025), '*, Authorization'], ['', '*, Authorization'], [undefined, '*, Authorization'],
        ['a"b', '*, Authorization'], ['a;b', '*, Authorization'], ['a:b', '*, Authorization'], ['a/b', '*, Authorization'],
    ], async ([wanted, allowed]) => {
        const { answers: [answer] } = await daemon.raw(request('OPTIONS', '/worlds.json', {
            Host: 'a', Origin: 'https://map.farlands.test', 'Access-Control-Request-Method': 'GET',
            ...wanted === undefined ? {} : { 'Access-Control-Request-Headers': wanted },
        }), { methods: ['OPTIONS'] });
        assertStatus(answer, 204);
        assert.equal(answer.headers['access-control-allow-headers'], allowed);
        assert.equal(answer.headers.vary, 'Access-Control-Request-Headers');
        // With credentials: 'include' the browser refuses *, so that no page can use a user's cookies or passwords.
        assert.equal(answer.headers['access-control-allow-origin'], '*');
        assert.equal(answer.headers['access-control-allow-credentials'], undefined);
    }));

    it('may send conditions and ranges', () => eachRow([PICTURES[0], RAW[0], '/worlds.json', '/nowhere', '*'],
        async (target) => {
            const { answers: [answer], rest } = await daemon.raw(request('OPTIONS', target, {
                Host: 'a',
                Origin: 'https://map.farlands.test',
                'Access-Control-Request-Method': 'GET',
                'Access-Control-Request-Headers': 'cache-control,if-match,if-none-match,if-range,range',
            }), { methods: ['OPTIONS'] });
            assertStatus(answer, 204);
            const allowed = listed(answer.headers['access-control-allow-headers']);
            for (const name of ['range', 'if-match', 'if-none-match', 'if-range', 'cache-control'])
                assert.ok(allowed.includes(name), `${name} is not in ${allowed}`);
            assert.deepEqual(listed(answer.headers['access-control-allow-methods']), ['get', 'head', 'options']);
            assert.ok(Number(answer.headers['access-control-max-age']) > 0);
            assert.equal(rest.length, 0);
        }));

    it('may read the headers that describe a response', () => eachRow(
        [[RAW[0], 200, {}], [RAW[0], 206, { Range: 'bytes=0-9' }], [RAW[0], 416, { Range: 'bytes=-0' }],
            [PICTURES[0], 200, {}], ['/nowhere', 404, {}]],
        async ([path, status, headers]) => {
            const answer = await daemon.get(path, headers);
            assertStatus(answer, status);
            const exposed = listed(answer.headers['access-control-expose-headers']);
            for (const name of ['content-range', 'accept-ranges', 'etag', 'content-length', 'retry-after', 'farlands-width',
                'farlands-height', 'farlands-origin', 'farlands-step', 'farlands-range', 'farlands-fingerprint'])
                assert.ok(exposed.includes(name), `${name} is not in ${exposed}`);
        }));

    it('may embed and time every response', () => eachRow([
        ...[...PICTURES, ...RAW, '/default/region.f32?x=0&y=0&width=2&height=2', '/', '/viewer/viewer.js', '/viewer/farlands.wasm',
            '/worlds.json', '/default.json', '/default:42.json', '/default/relief.json', '/default/height?x=0&y=0',
            '/default/heights?at=0,0'].flatMap((path) => [[path, 200], [path, 304, { 'If-None-Match': '*' }]]),
        [RAW[0], 206, { Range: 'bytes=0-9' }], [RAW[0], 416, { Range: 'bytes=-0' }], [RAW[0], 412, { 'If-Match': '"other"' }],
        ['/healthz', 200], ['/readyz', 200], ['/metrics', 200], ['/nowhere', 404], ['/default/relief/x/0/0.png', 400],
        ['/', 417, { Expect: 'a' }],
    ], async ([path, status, headers = {}]) => {
        const answer = await daemon.get(path, headers);
        assertStatus(answer, status);
        assert.equal(answer.headers['access-control-allow-origin'], '*');
        assert.equal(answer.headers['cross-origin-resource-policy'], 'cross-origin');
        assert.equal(answer.headers['timing-allow-origin'], '*');
    }));
});
