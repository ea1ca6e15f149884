// Regions over HTTP: headers, ranges, conditional requests, and rejected requests.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BLOCK, FAR, HALVES, MALFORMED, ROUNDED, THOUSANDS, TOO_FINE, assertSameBytes, blocks, naming, target } from './boxes.mjs';
import { useDaemon } from './daemon.mjs';
import { decimal } from './grid.mjs';
import { decodePng } from './png.mjs';
import { SLOWEST_WORLD, TIMEOUT } from './program.mjs';
import { processorTimeOf } from './streams.mjs';
import { assertError, assertStatus, eachRow, lasting } from './table.mjs';
import { request } from './wire.mjs';

/* quick: for large regions. */
const CONFIG = `worlds:
  - name: default
  - name: quick
    noise: { octaves: 3, wavelength: 4096 }
  - ${SLOWEST_WORLD}
`;

const FORMS = ['f32', 'r16', 'png'];

describe('ranges of regions', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG });
    const at = [-blocks(100), blocks(3) + 1n];
    const options = { world: 'quick' };
    const part = (path, range, headers) => daemon.get(path, { Range: range, ...headers });
    const WHOLE = [[[17, 13], 'f32'], [[17, 13], 'r16'], [[1025, 513], 'f32'], [[511, 1033], 'r16']];

    it('equal the parts of the whole', () => eachRow(WHOLE, async ([sides, form]) => {
        const path = target(at, sides, { ...options, form });
        const whole = await daemon.get(path);
        const size = whole.body.length;
        assert.equal(whole.headers['accept-ranges'], 'bytes');
        const random = Array.from({ length: 24 }, (_, i) => {
            const first = (i * 0x9e3779b1 >>> 0) % size;
            const end = Math.min(size, first + 1 + (i * 7919 << i % 7) % 300000);
            return [`bytes=${first}-${end - 1}`, first, end];
        });
        await eachRow([
            ['bytes=0-0', 0, 1], ['bytes=0-', 0, size], [`bytes=${size - 1}-`, size - 1, size], ['bytes=-4', size - 4, size],
            [`bytes=-${size}`, 0, size], ['bytes=-99999999', 0, size], ['bytes=5-99999999999999999999', 5, size],
            ['bytes=1-2', 1, 3], ['bytes=67-68', 67, 69], [`bytes=1-${size - 2}`, 1, size - 1], ...random,
        ], async ([range, first, end]) => {
            const answer = await part(path, range);
            assertStatus(answer, 206);
            assert.equal(answer.headers['content-range'], `bytes ${first}-${end - 1}/${size}`);
            assert.equal(Number(answer.headers['content-length']), end - first);
            assertSameBytes(answer.body, whole.body.subarray(first, end), range);
            for (const name of ['etag', 'content-type', 'cache-control', 'accept-ranges', 'farlands-width',
                'farlands-height', 'farlands-origin', 'farlands-step', 'farlands-range', 'farlands-fingerprint',
                'access-control-allow-origin'])
                assert.equal(answer.headers[name], whole.headers[name], name);
        });
    }));

    it('compute only what they return', async () => {
        const [side, world, count] = [4097, 'slow', 16];
        const path = target(at, [side, side], { world });
        const size = side * side * 4;
        const rows = [[side - 1, side - 1, 1], [0, 0, count], [17, 4000, count], [4000, 2048, count], [2000, 63, count],
            [2000, 64, count], [5, 1000, count], [4097 - count, 3333, count]];
        const expected = await Promise.all(rows.map(([i, j, width]) =>
            daemon.bytes(target([at[0] + blocks(i), at[1] + blocks(j)], [width, 1], { world }))));
        const eachOften = async (work) => {       // because the clock ticks every 10 ms
            for (let times = 0; times < 8; times++)
                for (const [n, row] of rows.entries())
                    await work(row, n);
        };
        const took = await processorTimeOf(daemon.pid, () => eachOften(async ([i, j, width], n) => {
            const first = (j * side + i) * 4, last = first + 4 * width - 1;
            const answer = await part(path, `bytes=${first}-${last}`);
            assertStatus(answer, 206);
            assert.equal(answer.headers['content-range'], `bytes ${first}-${last}/${size}`);
            assertSameBytes(answer.body, expected[n], `${i}, ${j}`);
        }));
        // A part costs what a region of its size does: much less than its row.
        const whole = await processorTimeOf(daemon.pid, () => eachOften(([, j]) =>
            daemon.bytes(target([at[0], at[1] + blocks(j)], [side, 1], { world }))));
        assert.ok(took < whole / 4, `${took} ms of processor time for parts of rows that take ${whole} ms`);
    });

    it('requested concurrently make up the whole', async () => {
        const path = target(at, [1025, 1025], options);
        const size = 1025 * 1025 * 4, count = 25;
        const parts = await Promise.all(Array.from({ length: count }, (_, i) =>
            part(path, `bytes=${i * size / count}-${(i + 1) * size / count - 1}`)));
        assert.ok(parts.every(({ status }) => status === 206));
        assertSameBytes(Buffer.concat(parts.map(({ body }) => body)), await daemon.bytes(path), 'the parts');
    });

    it('beyond the end return 416 with the length', () => eachRow(
        [[[17, 13], 884], [[4097, 4097], 67141636]].flatMap(([sides, size]) =>
            [`bytes=${size}-`, `bytes=${size}-${size + 1}`, 'bytes=99999999999999999999-', 'bytes=-0']
                .map((range) => [sides, size, range])),
        async ([sides, size, range]) => {
            const answer = await part(target(at, sides, { world: 'slow' }), range);
            assertError(answer, 416, new RegExp(`\\b${size}\\b`));
            assert.equal(answer.headers['content-range'], `bytes */${size}`);
        }));

    it('are ignored if several, malformed or in another unit', () => eachRow(
        ['bytes=0-1,4-5', 'bytes=5-4', 'bytes=', 'bytes=-', 'bytes 0-1', 'items=0-1', 'bytes=0-1-2'], async (range) => {
            const answer = await part(target(at, [17, 13], options), range);
            assertStatus(answer, 200);
            assert.equal(answer.headers['content-range'], undefined);
            assert.equal(answer.body.length, 17 * 13 * 4);
        }));

    it('depend on If-Range, and are evaluated after If-None-Match', () => eachRow(
        [[17, 13], [1025, 513]], async (sides) => {
            const path = target(at, sides, options);
            const { headers: { etag } } = await daemon.head(path);
            const size = sides[0] * sides[1] * 4;
            for (const [value, status] of [[etag, 206], [`W/${etag}`, 200], ['"other"', 200]]) {
                const answer = await part(path, 'bytes=0-9', { 'If-Range': value });
                assertStatus(answer, status);
                assert.equal(answer.body.length, status === 206 ? 10 : size);
            }
            assertStatus(await part(path, 'bytes=0-9', { 'If-None-Match': etag }), 304);
            assertStatus(await part(path, `bytes=${size}-`, { 'If-None-Match': etag }), 304);
        }));

    it('apply to GET only, and not to pictures', async () => {
        for (const range of ['bytes=0-9', 'bytes=99999999-', 'bytes=-0']) {
            const head = await daemon.head(target(at, [17, 13], options), { Range: range });
            assertStatus(head, 200);
            assert.equal(Number(head.headers['content-length']), 17 * 13 * 4);
            await eachRow([[17, 13], [1025, 513]], async (sides) => {
                const picture = target(at, sides, { ...options, form: 'png' });
                const answer = await part(picture, range);
                assertStatus(answer, 200);
                assert.equal(answer.headers['content-range'], undefined);
                assert.ok(['none', undefined].includes(answer.headers['accept-ranges']));
                decodePng(answer.body);
            });
        }
    });
});

const HOUR = 'public, max-age=3600';
const YEAR = 'public, max-age=31536000, immutable';

/* [at, sides, step]; some are computed at once and some in bands. */
const REGIONS = [
    [[0n, 0n], [1, 1], undefined], [[-blocks(3), blocks(7) + 512n], [5, 3], BLOCK], [[-1n, 1n], [33, 2], 1n],
    [[FAR, -FAR], [1, 1], BLOCK], [[-FAR + 1n, 0n], [4, 4], blocks(2 ** 20)], [[1n, 1n], [1025, 257], 256n],
];

describe('the headers of regions', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG });
    const rows = REGIONS.flatMap(([at, sides, step]) => FORMS.map((form) => [at, sides, { step, form, world: 'quick' }]));

    it('describe them', () => eachRow(rows, async ([at, sides, options]) => {
        const world = await daemon.json('/quick.json');
        const path = target(at, sides, options);
        const { status, headers, body } = await daemon.get(path, { Origin: 'https://game.farlands.test' });
        assert.equal(status, 200);
        assert.match(headers.etag, /^"[\x21\x23-\x7e]+"$/);
        assert.equal(headers['cache-control'], HOUR);
        assert.equal(headers['access-control-allow-origin'], '*');
        const exposed = headers['access-control-expose-headers'].toLowerCase().split(/ *, */);
        for (const name of ['etag', 'content-range', 'farlands-width', 'farlands-height', 'farlands-origin',
            'farlands-step', 'farlands-field', 'farlands-range', 'farlands-scale', 'farlands-offset', 'farlands-fingerprint', 'retry-after'])
            assert.ok(exposed.includes(name), `${name} is not in ${exposed}`);
        if (options.form === 'png') {
            assert.equal(headers['content-type'], 'image/png');
            return;
        }
        assert.equal(headers['content-type'], 'application/octet-stream');
        assert.equal(Number(headers['content-length']), body.length);
        assert.equal(headers['farlands-width'], String(sides[0]));
        assert.equal(headers['farlands-height'], String(sides[1]));
        assert.equal(headers['farlands-origin'], at.map(decimal).join(' '));
        assert.equal(headers['farlands-step'], decimal(options.step ?? BLOCK));
        assert.deepEqual(headers['farlands-range'].split(' ').map(Number), world.range);
        assert.equal(headers['farlands-fingerprint'], world.fingerprint);
    }));

    it('are the same for HEAD and 304', () => eachRow(rows, async (row) => {
        const path = target(...row);
        const get = await daemon.get(path);
        const head = await daemon.head(path);
        assert.deepEqual([get.status, head.status, head.body.length], [200, 200, 0]);
        assert.deepEqual(lasting(head.headers), lasting(get.headers));
        if (!path.includes('.png'))
            assert.equal(Number(head.headers['content-length']), get.body.length);
        for (const value of [get.headers.etag, `W/${get.headers.etag}`, '*', `"other", ${get.headers.etag}`]) {
            const answer = await daemon.get(path, { 'If-None-Match': value });
            assertStatus(answer, 304);
            assert.equal(answer.body.length, 0);
            for (const name of ['etag', 'cache-control', 'access-control-allow-origin'])
                assert.equal(answer.headers[name], get.headers[name], name);
        }
        assertStatus(await daemon.get(path, { 'If-None-Match': '"other"' }), 200);
        assertError(await daemon.get(path, { 'If-Match': '"other"' }), 412, /If-Match/);
    }));

    it('need no computation, for any size', () => eachRow(FORMS, async (form) => {
        const path = target([0n, 0n], [4097, 4097], { world: 'slow', form });
        const before = await daemon.computed();
        const { headers: { etag, ...headers } } = await daemon.head(path);
        assert.equal('content-length' in headers, form !== 'png');
        assertStatus(await daemon.get(path, { 'If-None-Match': etag }), 304);
        assertStatus(await daemon.get(path, { 'If-Match': '"other"' }), 412);
        assert.equal(await daemon.computed(), before);
    }));

    it('include a unique ETag', async () => {
        const seen = new Map();
        const variants = [
            [[0n, 0n], [5, 7]], [[0n, 0n], [7, 5]], [[1n, 0n], [5, 7]], [[0n, 1n], [5, 7]], [[-1n, 0n], [5, 7]],
            [[blocks(1), 0n], [5, 7]], [[blocks(11), blocks(1)], [5, 7]], [[blocks(1), blocks(11)], [5, 7]],
            [[0n, 0n], [57, 1]], [[0n, 0n], [35, 1]], [[FAR - blocks(10), 0n], [5, 7]], [[-FAR, 0n], [5, 7]],
        ];
        await eachRow(variants.flatMap(([at, sides]) => [512n, 1024n, 2048n].flatMap((step) => FORMS.flatMap((form) =>
            ['default', 'quick'].map((world) => target(at, sides, { step, form, world }))))), async (path) => {
            const { headers: { etag } } = await daemon.head(path);
            assert.ok(!seen.has(etag), `the same ETag as ${seen.get(etag)}`);
            seen.set(etag, path);
        });
        // The default step and an explicit one give the same ETag.
        const { headers: { etag } } = await daemon.head(target([0n, 0n], [5, 7], { world: 'quick' }));
        assert.equal(seen.get(etag), target([0n, 0n], [5, 7], { step: BLOCK, world: 'quick' }));
    });

    it('set Cache-Control according to v', async () => {
        const { fingerprint } = await daemon.json('/quick.json');
        const stale = fingerprint.replace(/./g, (c) => (c === '0' ? '1' : '0'));
        await eachRow(rows, async (row) => {
            const path = target(...row);
            const { headers: { etag } } = await daemon.head(path);
            await eachRow([['', HOUR], [`&v=${fingerprint}`, YEAR], [`&v=${stale}`, 'no-cache'], ['&v=1', 'no-cache']],
                async ([query, expected]) => {
                    for (const [method, headers, status] of [
                        ['GET', {}, 200], ['HEAD', {}, 200], ['GET', { 'If-None-Match': etag }, 304]]) {
                        const answer = await daemon.request(method, path + query, headers);
                        assertStatus(answer, status);
                        assert.equal(answer.headers['cache-control'], expected, `${method} ${query}`);
                        assert.equal(answer.headers.etag, etag, `${method} ${query}`);
                    }
                });
            const first = path.replace('?', `?v=${fingerprint}&`);
            assert.equal((await daemon.head(first)).headers['cache-control'], YEAR);
        });
    });
});

/* Beyond the limit, including values that overflow 64 bits. */
const BEYOND = ['4503599627370497', '4503599627370496.0009765625', '9007199254740992', '18014398509481984',
    '9223372036854775807', '4503599627370496.0005', '1e400'];

const whole = { x: '0', y: '0', width: '4', height: '4', step: '1' };
const query = (change = {}) => Object.entries({ ...whole, ...change })
    .filter(([, value]) => value !== null).map(([key, value]) => `${key}=${value}`).join('&');

describe('region requests', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG });
    const get = (changed, form = 'f32') => daemon.get(`/default/region.${form}?${query(changed)}`);

    it('with missing or repeated parameters are rejected', () => eachRow(
        FORMS.flatMap((form) => Object.keys(whole).map((key) => [form, key])), async ([form, key]) => {
            if (key !== 'step')
                assertError(await get({ [key]: null }, form), 400, naming(key));
            for (const twice of [`${query()}&${key}=${whole[key]}`, `${key}=${whole[key]}&${query()}`, `${query()}&${key}=`])
                assertError(await daemon.get(`/default/region.${form}?${twice}`), 400, naming(key));
        }));

    it('without parameters are rejected', () => eachRow(['', '?', '?x', '?x=0', '?X=0&Y=0&WIDTH=4&HEIGHT=4',
        '?x=0;y=0;width=4;height=4'], async (text) => {
        for (const form of FORMS)
            assertError(await daemon.get(`/default/region.${form}${text}`), 400, /\b(x|y|width|height)\b/);
    }));

    it('with malformed numbers are rejected', () => eachRow([
        ...['x', 'y'].flatMap((key) => MALFORMED.map((value) => [key, value])),
        ...[...MALFORMED, ...TOO_FINE].map((value) => ['step', value]),
        ...['width', 'height'].flatMap((key) => [...MALFORMED, ...TOO_FINE, '0', '-1', '-4097', '-9223372036854775808',
            '1.5', '0.5', '-1e400', '15e-1'].map((value) => [key, value])),
    ], async ([key, value]) => {
        assertError(await get({ [key]: value }), 400, naming(key, value));
    }));

    it('are rejected if the step is no power of two or out of range', () => eachRow(
        ['0', '-1', '-0.5', '3', '0.75', '1.5', '0.0029296875', '1048575', '1048577', '2097152', '4503599627370496',
            '9223372036854775807', '0.00048828125', '1.0009765625'], async (step) => {
            assertError(await get({ step }), 400, naming('step'));
        }));

    it('accept every spelling of a number', () => eachRow([
        ...THOUSANDS.flatMap((text) => [[{ x: text }, { x: '1000' }], [{ width: text }, { width: '1000' }], [{ height: text }, { height: '1000' }]]),
        ...HALVES.flatMap((text) => [[{ y: text }, { y: '0.5' }], [{ step: text }, { step: '0.5' }]]),
        [{ width: '+5.0', step: '16e0' }, { width: '5', step: '16' }],
    ], async ([changed, plain]) => {
        for (const form of FORMS) {
            const [one, other] = [await get(changed, form), await get(plain, form)];
            assertStatus(one, 200);
            assert.equal(one.headers.etag, other.headers.etag);
            assertSameBytes(one.body, other.body, form);
        }
    }));

    it('have places rounded to 1/1024 block, and a header with those', () => eachRow(ROUNDED, async ([text, nearest]) => {
        for (const form of FORMS) {
            const [one, other] = [await get({ x: text, y: text }, form), await get({ x: nearest, y: nearest }, form)];
            assertStatus(one, 200);
            assert.equal(one.headers['farlands-origin'], `${nearest} ${nearest}`);
            assert.equal(one.headers.etag, other.headers.etag);
            assertSameBytes(one.body, other.body, form);
            assertStatus(await daemon.get(`/default/region.${form}?${query({ x: nearest, y: text })}`,
                { 'If-None-Match': one.headers.etag }), 304);
        }
    }));

    it('with unknown keys are rejected, with the nearest known one', () => eachRow([
        ['stp=4', "'stp' is not a parameter of region; did you mean 'step'?"],
        ['Width=4', "'Width' is not a parameter of region; did you mean 'width'?"],
        ['hieght=4', "'hieght' is not a parameter of region; did you mean 'height'?"],
        ['z=4', "'z' is not a parameter of region; expected x, y, width, height, step, layer, field, range, v"],
        ['_=17', "'_' is not a parameter of region; expected x, y, width, height, step, layer, field, range, v"],
        ['=', "'' is not a parameter of region; expected x, y, width, height, step, layer, field, range, v"],
    ], async ([more, message]) => {
        for (const text of [`${query()}&${more}`, `${more}&${query()}`]) {
            const answer = await daemon.get(`/default/region.f32?${text}`);
            assertError(answer, 400);
            assert.equal(JSON.parse(answer.body).error, message);
        }
    }));

    it('beyond the limit are rejected', () => eachRow(['x', 'y'].flatMap((key) => [
        ...BEYOND.flatMap((value) => [{ [key]: value }, { [key]: `-${value}` }]),
        { [key]: '-9223372036854775808' },
        // The last sample would be beyond the limit.
        { [key]: '4503599627370496', width: '2', height: '2' },
        { [key]: '4503599627370493.0009765625' },
        { [key]: '4503599627370496', width: '2', height: '2', step: '0.0009765625' },
        { [key]: '4503595332403200.0009765625', width: '4097', height: '4097', step: '1048576' },
        { [key]: '4503599627370496', width: '4097', height: '4097', step: '1048576' },
    ].map((changed) => [key, changed])), async ([key, changed]) => {
        for (const form of FORMS) {
            const answer = await get(changed, form);
            assertError(answer, 404, /2\^52/);
            assert.match(JSON.parse(answer.body).error, naming(key));
        }
    }));

    it('just within the limit succeed', () => eachRow([
        { x: '4503599627370496', y: '-4503599627370496', width: '1', height: '4' },
        { x: '-4503599627370496', y: '4503599627370496', width: '4', height: '1' },
        { x: '4503599627370493' }, { y: '4503599627370493' },
        { x: '4503595332403200', y: '-4503599627370496', width: '4097', height: '2', step: '1048576' },
    ], async (changed) => assertStatus(await get(changed), 200)));

    it('with another name are not found', () => eachRow(['region.tif', 'region.F32', 'region.PNG', 'region.raw', 'region', 'region.',
        'region.f32.gz', 'regions.f32', 'Region.f32', 'region@2x.f32', 'region.json', 'region.r16.png'],
    async (name) => {
        assertError(await daemon.get(`/default/${name}?${query()}`), 404);
    }));

    it('for unknown worlds are not found', () => eachRow(['nowhere', 'Default', 'defaul', 'default2'], async (world) => {
        assertError(await daemon.get(`/${world}/region.f32?${query()}`), 404, new RegExp(`world|${world}`));
    }));

    it('with other methods are rejected', () => eachRow(['POST', 'PUT', 'DELETE', 'PATCH'], async (method) => {
        for (const form of FORMS) {
            const { answers: [answer] } = await daemon.raw(request(method, `/default/region.${form}?${query()}`));
            assertError(answer, 405);
            assert.equal(answer.headers.allow, 'GET, HEAD, OPTIONS');
        }
        const { answers: [answer] } = await daemon.raw(`${method} /default/region.f32?${query()} HTTP/1.1\r\nHost: a\r\n` +
            'Content-Length: 5\r\n\r\nhello');
        assertStatus(answer, [400, 405, 413]);
    }));

    it('are rejected for HEAD and If-None-Match, too', () => eachRow([
        [{ width: '4098' }, 413], [{ width: '0' }, 400], [{ x: BEYOND[0] }, 404], [{ step: '3' }, 400],
    ], async ([changed, status]) => {
        const head = await daemon.head(`/default/region.f32?${query(changed)}`);
        assert.deepEqual([head.status, head.body.length], [status, 0]);
        assertError(await daemon.get(`/default/region.f32?${query(changed)}`, { 'If-None-Match': '*' }), status);
    }));
});
