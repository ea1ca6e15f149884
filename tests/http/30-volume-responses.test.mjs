// Volumes over HTTP: headers, ranges, conditional requests, and rejected requests.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BLOCK, FAR, MALFORMED, ROUNDED, TOO_FINE, assertSameBytes, blocks, naming, target } from './boxes.mjs';
import { useDaemon } from './daemon.mjs';
import { decimal } from './grid.mjs';
import { SLOWEST_WORLD, TIMEOUT } from './program.mjs';
import { processorTimeOf } from './streams.mjs';
import { assertError, assertStatus, eachRow, lasting } from './table.mjs';
import { request } from './wire.mjs';

/* About bytes and requests; 29-volumes asks for volumes of the default world. */
const CONFIG = `worlds:
  - name: default
  - name: other
    seed: 77
  - ${SLOWEST_WORLD}
`;

const box = (daemon, at, sides, options) => daemon.bytes(target(at, sides, options));
const moved = (at, by, step) => at.map((value, axis) => value + BigInt(by[axis]) * step);

describe('ranges of volumes', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG });
    const at = [-blocks(100), blocks(3) + 1n, -blocks(60)];
    const part = (path, range, headers) => daemon.get(path, { Range: range, ...headers });

    it('equal the parts of the whole', () => eachRow([[7, 5, 9], [65, 65, 65], [97, 31, 101]], async (sides) => {
        const path = target(at, sides);
        const whole = await daemon.get(path);
        const size = whole.body.length;
        const random = Array.from({ length: 16 }, (_, i) => {
            const first = (i * 0x9e3779b1 >>> 0) % size;
            const end = Math.min(size, first + 1 + (i * 7919 << i % 7) % 300000);
            return [`bytes=${first}-${end - 1}`, first, end];
        });
        await eachRow([
            ['bytes=0-0', 0, 1], ['bytes=0-', 0, size], [`bytes=${size - 1}-`, size - 1, size], ['bytes=-4', size - 4, size],
            ['bytes=-99999999999', 0, size], [`bytes=1-${size - 2}`, 1, size - 1], ...random,
        ], async ([range, first, end]) => {
            const answer = await part(path, range);
            assertStatus(answer, 206);
            assert.equal(answer.headers['content-range'], `bytes ${first}-${end - 1}/${size}`);
            assert.equal(Number(answer.headers['content-length']), end - first);
            assertSameBytes(answer.body, whole.body.subarray(first, end), range);
            for (const name of ['etag', 'content-type', 'farlands-depth', 'farlands-origin', 'farlands-fingerprint'])
                assert.equal(answer.headers[name], whole.headers[name], name);
        });
    }));

    it('may begin and end in any piece of a layer', async () => {
        const path = target(at, [1025, 513, 3]);
        const row = 1025 * 4, layer = row * 513;
        const whole = await daemon.bytes(path);
        await eachRow([
            [layer - 1, layer], [layer - 4, layer + 3], [500 * row, layer + 3 * row], [300 * row + 2, 2 * layer + 400 * row],
            [255 * row - 1, layer + 255 * row], [255 * row, layer + 255 * row - 1], [510 * row, layer + 510 * row + 1],
            [0, layer], [1, 2 * layer - 1], [layer - row, 2 * layer + row - 1], [2, 3 * layer - 3],
        ], async ([first, last]) => {
            const answer = await part(path, `bytes=${first}-${last}`);
            assertStatus(answer, 206);
            assertSameBytes(answer.body, whole.subarray(first, last + 1), `${first}-${last}`);
        });
    });

    it('compute only what they return', async () => {
        const sides = [256, 256, 256], size = 2 ** 26;
        const path = target(at, sides, { world: 'slow' });
        const took = await processorTimeOf(daemon.pid, () => eachRow([[255, 255, 255], [0, 0, 128], [0, 255, 0]], async (by) => {
            const first = ((by[2] * 256 + by[1]) * 256 + by[0]) * 4;
            const answer = await part(path, `bytes=${first}-${first + 3}`);
            assertStatus(answer, 206);
            assert.equal(answer.headers['content-range'], `bytes ${first}-${first + 3}/${size}`);
            assertSameBytes(answer.body, await box(daemon, moved(at, by, BLOCK), [1, 1, 1], { world: 'slow' }), `${by}`);
        }));
        // Samples cost what volumes of their size do: much less than a few layers of the whole.
        const layers = await processorTimeOf(daemon.pid, () => box(daemon, at, [1024, 256, 1], { world: 'slow' }));
        assert.ok(took < layers / 4, `${took} ms of processor time for samples, ${layers} ms for four layers`);
    });

    it('beyond the end return 416 with the length', () => eachRow([[[7, 5, 9], 1260], [[256, 256, 256], 67108864]],
        async ([sides, size]) => {
            for (const range of [`bytes=${size}-`, 'bytes=-0']) {
                const answer = await part(target(at, sides, { world: 'slow' }), range);
                assertError(answer, 416, new RegExp(`\\b${size}\\b`));
                assert.equal(answer.headers['content-range'], `bytes */${size}`);
            }
        }));
});

const HOUR = 'public, max-age=3600';
const YEAR = 'public, max-age=31536000, immutable';

describe('the headers of volumes', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG });
    const rows = [
        [[0n, 0n, 0n], [1, 1, 1], undefined], [[-blocks(3), blocks(7) + 512n, -1n], [5, 3, 2], BLOCK],
        [[-1n, 1n, 5n], [33, 2, 7], 1n], [[FAR, -FAR, FAR], [1, 1, 1], BLOCK],
        [[-FAR + 1n, 0n, 0n], [4, 4, 3], blocks(2 ** 20)], [[1n, 1n, -blocks(40)], [65, 64, 65], 256n],
    ].map(([at, sides, step]) => [at, sides, { step }]);

    it('describe them for GET, HEAD and 304', () => eachRow(rows, async ([at, sides, options]) => {
        const { urls } = await daemon.json('/default.json');
        const version = new URLSearchParams(urls.volume.split('?')[1]).get('v');
        const path = target(at, sides, options);
        const get = await daemon.get(path, { Origin: 'https://game.farlands.test' });
        const { headers } = get;
        assertStatus(get, 200);
        assert.equal(get.body.length, sides.reduce((a, b) => a * b) * 4);
        assert.match(headers.etag, /^"[\x21\x23-\x7e]+"$/);
        const expected = {
            'content-type': 'application/octet-stream',
            'content-length': String(get.body.length),
            'cache-control': HOUR,
            'accept-ranges': 'bytes',
            'access-control-allow-origin': '*',
            'farlands-width': String(sides[0]),
            'farlands-height': String(sides[1]),
            'farlands-depth': String(sides[2]),
            'farlands-origin': at.map(decimal).join(' '),
            'farlands-step': decimal(options.step ?? BLOCK),
            'farlands-fingerprint': version,
            'farlands-range': undefined,
        };
        for (const [name, value] of Object.entries(expected))
            assert.equal(headers[name], value, name);
        assert.ok(headers['access-control-expose-headers'].toLowerCase().split(/ *, */).includes('farlands-depth'));
        const head = await daemon.head(path);
        assert.deepEqual([head.status, head.body.length], [200, 0]);
        assert.equal(Number(head.headers['content-length']), get.body.length);
        assert.deepEqual(lasting(head.headers), lasting(headers));
        const same = await daemon.get(path, { 'If-None-Match': headers.etag });
        assertStatus(same, 304);
        assert.equal(same.headers.etag, headers.etag);
        assert.equal((await daemon.get(`${path}&v=${version}`)).headers['cache-control'], YEAR);
        assert.equal((await daemon.get(`${path}&v=1`)).headers['cache-control'], 'no-cache');
    }));

    it('need no computation, for any size', async () => {
        const before = await daemon.computed();
        await eachRow([[256, 256, 256], [4096, 4096, 1], [4096, 1, 4096], [1, 4096, 4096], [4097, 4095, 1]], async (sides) => {
            const path = target([0n, 0n, 0n], sides, { world: 'slow' });
            const { status, headers } = await daemon.head(path);
            assert.equal(status, 200);
            assert.equal(Number(headers['content-length']), sides.reduce((a, b) => a * b) * 4);
            assertStatus(await daemon.get(path, { 'If-None-Match': headers.etag }), 304);
        });
        assert.equal(await daemon.computed(), before);
    });

    it('include a unique ETag', async () => {
        const seen = new Map();
        await eachRow([
            [[0n, 0n, 0n], [5, 7, 9]], [[0n, 0n, 0n], [7, 5, 9]], [[0n, 0n, 0n], [9, 7, 5]], [[0n, 0n, 0n], [5, 9, 7]],
            [[1n, 0n, 0n], [5, 7, 9]], [[0n, 1n, 0n], [5, 7, 9]], [[0n, 0n, 1n], [5, 7, 9]], [[0n, 0n, -1n], [5, 7, 9]],
            [[0n, 0n, blocks(1)], [5, 7, 9]], [[0n, blocks(1), 0n], [5, 7, 9]], [[blocks(1), 0n, 0n], [5, 7, 9]],
            [[0n, 0n, 0n], [315, 1, 1]], [[0n, 0n, FAR - blocks(99)], [5, 7, 9]],
        ].flatMap(([at, sides]) =>
            [512n, 1024n].flatMap((step) => ['default', 'other'].map((world) => target(at, sides, { step, world })))),
        async (path) => {
            const { headers: { etag } } = await daemon.head(path);
            assert.ok(!seen.has(etag), `the same ETag as ${seen.get(etag)}`);
            seen.set(etag, path);
        });
        const flat = await daemon.head(target([0n, 0n], [5, 7]));
        assert.ok(!seen.has(flat.headers.etag), 'the ETag of a region');
    });
});

const whole = { x: '0', y: '0', z: '0', width: '4', height: '4', depth: '4', step: '1' };
const query = (change = {}) => Object.entries({ ...whole, ...change })
    .filter(([, value]) => value !== null).map(([key, value]) => `${key}=${value}`).join('&');

describe('volume requests', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG });
    const get = (changed) => daemon.get(`/default/volume.f32?${query(changed)}`);

    it('with missing or repeated parameters are rejected', () => eachRow(Object.keys(whole), async (key) => {
        if (key !== 'step')
            assertError(await get({ [key]: null }), 400, naming(key));
        assertError(await daemon.get(`/default/volume.f32?${query()}&${key}=${whole[key]}`), 400, naming(key));
    }));

    it('with malformed numbers are rejected', () => eachRow([
        ...['x', 'y', 'z'].flatMap((key) => MALFORMED.map((value) => [key, value])),
        ...[...MALFORMED, ...TOO_FINE].map((value) => ['step', value]),
        ...['width', 'height', 'depth'].flatMap((key) => [...MALFORMED, '0', '-1', '1.5'].map((value) => [key, value])),
        ...['0', '3', '-1', '0.75', '2097152'].map((value) => ['step', value]),
    ], async ([key, value]) => assertError(await get({ [key]: value }), 400, naming(key, value))));

    it('have places rounded to 1/1024 block, and a header with those', () => eachRow(ROUNDED, async ([text, nearest]) => {
        const [one, other] = [await get({ x: '+1e0', z: text, depth: '4.0' }), await get({ x: '1', z: nearest })];
        assertStatus(one, 200);
        assert.equal(one.headers['farlands-origin'], `1 0 ${nearest}`);
        assert.equal(one.headers.etag, other.headers.etag);
        assertSameBytes(one.body, other.body, nearest);
    }));

    it('with unknown keys are rejected, with the nearest known one', () => eachRow([
        ['deph=4', /^'deph' is not a parameter of volume; did you mean 'depth'\?$/],
        ['scale=4', /^'scale' is not a parameter of volume; expected x, y, z, width, height, depth, step, v$/],
    ], async ([more, message]) => assertError(await daemon.get(`/default/volume.f32?${query()}&${more}`), 400, message)));

    it('beyond the limit are rejected', () => eachRow(['x', 'y', 'z'].flatMap((key) => [
        { [key]: '4503599627370497' }, { [key]: '-4503599627370497' }, { [key]: '18014398509481984' },
        { [key]: '9223372036854775807' }, { [key]: '-9223372036854775808' }, { [key]: '-1e400' }, { [key]: '4503599627370493.0009765625' },
        { [key]: '4503599627370496', width: '2', height: '2', depth: '2', step: '0.0009765625' },
    ].map((changed) => [key, changed])), async ([key, changed]) => {
        const answer = await get(changed);
        assertError(answer, 404, /2\^52/);
        assert.match(JSON.parse(answer.body).error, naming(key));
    }));

    it('just within the limit succeed', () => eachRow([
        { x: '4503599627370493', y: '-4503599627370496', z: '4503599627370493' },
        { x: '-4503599627370496', y: '4503599627370493', z: '-4503599627370496' },
    ], async (changed) => assertStatus(await get(changed), 200)));

    it('for volumes that are too large are rejected', () => eachRow([
        ...['width', 'height', 'depth'].flatMap((key) => ['4098', '65537', '4294967297', '9223372036854775807']
            .map((value) => [{ [key]: value }, '4097'])),
        [{ width: '257', height: '256', depth: '256' }, '2^24'], [{ width: '256', height: '256', depth: '257' }, '2^24'],
        [{ width: '4097', height: '4097', depth: '1' }, '2^24'], [{ width: '4096', height: '1', depth: '4097' }, '2^24'],
        // 2^36 samples, which overflow 32 bits.
        [{ width: '4096', height: '4096', depth: '4096' }, '2^24'], [{ width: '4097', height: '4097', depth: '4097' }, '2^24'],
    ], async ([changed, limit]) => {
        const answer = await get(changed);
        assertError(answer, 413);
        assert.ok(JSON.parse(answer.body).error.includes(limit), `${answer.body}`);
    }));

    it('with another name are not found', () => eachRow(['volume', 'volume.r16', 'volume.png', 'volume.F32', 'volumes.f32', 'volume.f32.gz'],
        async (name) => assertError(await daemon.get(`/default/${name}?${query()}`), 404)));

    it('for unknown worlds are not found', async () => {
        assertError(await daemon.get(`/nowhere/volume.f32?${query()}`), 404, /world|nowhere/);
    });

    it('with POST are rejected', async () => {
        const { answers: [answer] } = await daemon.raw(request('POST', `/default/volume.f32?${query()}`));
        assertError(answer, 405);
    });
});
