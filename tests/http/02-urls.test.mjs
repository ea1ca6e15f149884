// Tile URLs: valid, malformed (400), or well-formed but not found (404). Every error
// names the wrong part.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seedOf } from '../../server/viewer/seed.js';
import { useDaemon, withDaemon } from './daemon.mjs';
import { assertError, assertStatus, eachRow } from './table.mjs';
import { TIMEOUT } from './program.mjs';

const EDGE = 2n ** 44n;     // tiles of 256 blocks in 2^52 blocks
const SHIFT = 2n ** 15n;    // tiles between the origin and block 0

const LIMITS = [
    // tile, status
    ['height/26/0/0.f32', 200],
    ['height/27/0/0.f32', 404],
    ['height/-26/0/0.f32', 200],
    ['height/-27/0/0.f32', 404],
    ['height/25/0/0@2x.f32', 200],
    ['height/26/0/0@2x.f32', 404],
    ['height/-26/0/0@2x.f32', 200],
    ['height/-27/0/0@2x.f32', 404],
    ['relief/26/0/0.png', 200],
    ['relief/26/0/0@2x.png', 404],
    ['relief/9223372036854775807/0/0.png', 404],
    ['relief/-9223372036854775808/0/0.png', 404],
    // The plane is bounded by the coordinate limit only.
    ['relief/0/-1/1.png', 200],
    ['relief/16/-5000000/5000000.png', 200],
    [`height/16/${EDGE + SHIFT - 1n}/0.f32`, 200],
    [`height/16/${EDGE + SHIFT + 1n}/0.f32`, 404],
    [`height/16/0/${EDGE + SHIFT - 1n}.f32`, 200],
    [`height/16/0/${EDGE + SHIFT + 1n}.f32`, 404],
    [`height/16/${-EDGE + SHIFT}/0.f32`, 200],
    [`height/16/${-EDGE + SHIFT - 1n}/0.f32`, 404],
    [`height/16/0/${-EDGE + SHIFT}.f32`, 200],
    [`height/16/0/${-EDGE + SHIFT - 1n}.f32`, 404],
    [`relief/16/${EDGE + SHIFT - 1n}/${-EDGE + SHIFT}.png`, 200],
    [`relief/16/${EDGE + SHIFT + 1n}/0.png`, 404],
    [`gray/26/${(EDGE + SHIFT) * 1024n - 1n}/${(-EDGE + SHIFT) * 1024n}.png`, 200],
    [`gray/26/${(EDGE + SHIFT) * 1024n + 1n}/0.png`, 404],
    // At zoom -26 a tile is 2^50 blocks wide; the origin is at block -2^23.
    ['height/-26/3/3.f32', 200],
    ['height/-26/-3/-3.f32', 200],
    ['height/-26/4/0.f32', 404],
    ['height/-26/-4/0.f32', 404],
    ['height/-26/0/-4.f32', 404],
    ['height/-26/0/4.f32', 404],
    ['height/16/9223372036854775807/0.f32', 404],
    ['height/16/-9223372036854775808/0.f32', 404],
    ['height/-26/9223372036854775807/9223372036854775807.f32', 404],
    ['height/26/0/-9223372036854775808.png', 404],
];

const INTEGERS = ['-0', '+1', '01', '-01', '00', '1e3', '0x1', '1.0', '1.', '.5', '--1', '-', 'a',
    '1a', '1_000', '1,5', 'NaN', '9223372036854775808', '-9223372036854775809',
    '99999999999999999999999999999999', '18446744073709551616'];

const MALFORMED = [
    // path, what the message must name
    ['/default:.json', /^seed: "" is blank; expected a whole number from -2\^63 to 2\^64-1, or any other text$/],
    ['/default:/relief/10/512/512.png', /^seed: "" is blank/],
    ['/default/relief/10/512/.png', /y|empty/],
    ['/default/relief/10/512/512@3x.png', /512@3x|@3x|y/],
    ['/default/relief/10/512/512@2x@2x.png', /@2x|y/],
    ['/default/relief/10/512/@2x.png', /y|empty/],
    ['/default%253A7.json', /%25: no name or number/],
    ['/default%2Frelief/10/512/512.png', /%2F: no name or number/],
    ['/default/relief/10/512/512.png%3Fv=1', /%3F: no name or number/],
    ['/default/relief/10/512/512.png%00', /%00: no name or number/],
    ['/default/relief/%2b10/512/512.png', /^z: "\+10"/],
    ['/default/height?x=1%26y=2', /%26: no name or number/],
    ['/default/height?x=1&y=%202', /%20: no name or number/],
    ['/default/height?x=%zz&y=2', /%zz: expected % and two hexadecimal digits/],
    ['/default/height?x=%31&y=2%4', /%4: expected/],
    ['/%', /%: expected/],
    ['/%2e%2e/worlds.json', /\.\./],
    ['/..', /\.\./],
    ['/../worlds.json', /\.\./],
    ['/default/../worlds.json', /\.\./],
    ['/default/relief/10/512/../512.png', /\.\./],
    ['/default/relief/10/512/..', /\.\./],
    ['//', /\/\/|empty/],
    ['//worlds.json', /\/\/|empty/],
    ['/default//relief.json', /\/\/|empty/],
    ['/default/relief//512/512.png', /\/\/|empty/],
    ['/default/relief/10//512.png', /\/\/|empty/],
    ['/default/relief/10/512//512.png', /\/\/|empty/],
    ['/default/relief/10/512/512"x.png', /./],
    ['/default/relief/10/512/512\\.png', /./],
];

const ABSENT = [
    // path, what the message must name
    ['/nowhere', /nowhere|URL|path/],
    ['/nowhere.json', /nowhere/],
    ['/nowhere/relief.json', /nowhere/],
    ['/nowhere/relief/10/512/512.png', /nowhere/],
    ['/nowhere/height?x=0&y=0', /nowhere/],
    ['/Default.json', /Default/],
    ['/nowhere:7.json', /nowhere/],
    ['/default/nothing.json', /nothing/],
    ['/nowhere/wmts.xml', /nowhere/],
    ['/default/nothing.xml', /nothing/],
    ['/default/nothing/10/512/512.png', /nothing/],
    ['/default/Relief/10/512/512.png', /Relief/],
    ['/default/relief/10/512/512.gif', /gif/],
    ['/default/relief/10/512/512.PNG', /PNG/],
    ['/default/relief/10/512/512.pngx', /pngx/],
    ['/default/relief/10/512/512.f32', /f32/],
    ['/default/relief/10/512/512.r16', /r16/],
    ['/default/gray/10/512/512.f32', /f32/],
    ['/default/height/10/512/512.jpg', /jpg/],
    ['/default/relief/10/512/512.json', /json/],
    ['/default/rivers/10/512/512.png', /rivers/],
    ['/default', /./],
    ['/default/relief', /./],
    ['/default/relief/10', /./],
    ['/default/relief/10/512', /./],
    ['/default/relief/10/512/512.png/1', /./],
    ['/favicon.svg', /URL|path/],
];

const OPEN = [
    // The contract leaves the choice between 400 and 404.
    '/default/', '/default/relief/', '/default/relief/10/512/', '/default/relief/10/512/512',
    '/default/relief/10/512/512.', '/default/relief/10/512/512.png/', '/.json',
    '/default/.json', '/.', '/./worlds.json', '/healthz/', '/worlds.json/',
];

describe('URLs', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ builtIn: true });

    it('are valid up to the limits', () => eachRow(LIMITS, async ([tile, status]) => {
        const answer = await daemon.get(`/default/${tile}`);
        if (status === 200)
            assertStatus(answer, 200);
        else
            assertError(answer, status, /zoom|\bz\b|\bx\b|\by\b|coordinate|limit|beyond/i);
    }));

    /* The viewer, a configuration and a URL have the same. */
    it('have seeds that are numbers or other text', () => eachRow(
        [...INTEGERS, '0', '42', 'hello', '-9223372036854775808', '18446744073709551615', 'a:b', '(~)', '007.json', 'x'.repeat(1000)],
        async (text) => {
            const { seed, name } = await daemon.json(`/default:${text}.json`);
            assert.equal(seed, seedOf(text));
            assert.equal(name, `default:${seed}`);
            const [written, exact] = await Promise.all([text, seed].map((one) => daemon.get(`/default:${one}/relief/10/512/512.png`)));
            assertStatus(written, 200);
            assert.equal(written.headers.etag, exact.headers.etag);
            assert.deepEqual(written.body, exact.body);
        }));

    it('accept canonical integers only', () => eachRow(
        INTEGERS.flatMap((text) => [
            [text, 'z', `/default/relief/${text}/512/512.png`],
            [text, 'x', `/default/relief/10/${text}/512.png`],
            // A dot in the last part would start the extension.
            ...(text.includes('.') ? [] : [[text, 'y', `/default/relief/10/512/${text}.png`]]),
        ]),
        async ([text, part, path]) => {
            const answer = await daemon.get(path);
            assertError(answer, 400);
            const { error } = JSON.parse(answer.body);
            assert.ok(error.includes(text) || new RegExp(`\\b${part}\\b`, 'i').test(error),
                `the message names neither ${part} nor ${text}: ${error}`);
        }));

    it('are rejected if malformed', () => eachRow(MALFORMED, async ([path, names]) => {
        assertError(await daemon.get(path), 400, names);
    }));

    // As URLSearchParams, encodeURIComponent, curl --data-urlencode and Python's urlencode write them.
    it('mean the same if percent-encoded', () => eachRow([
        [`/${encodeURIComponent('default:42')}.json`, '/default:42.json'],
        ['/%64efault%2ejson', '/default.json'],
        ['/default%3a42/relief.json', '/default:42/relief.json'],
        ['/default%3A42/relief/10/512/512%402x.png?%76=%31', '/default:42/relief/10/512/512@2x.png?v=1'],
        ['/default/%72elief/%31%30/512/512%2Epng', '/default/relief/10/512/512.png'],
        [`/default/heights?${new URLSearchParams({ at: '1,2;-3.5,4' })}`, '/default/heights?at=1,2;-3.5,4'],
        ['/default/height?%78=%2D12.5&y=%33', '/default/height?x=-12.5&y=3'],
        ['/default%3A7/region%2Ef32?x=0&y=0&width=%32&height=2', '/default:7/region.f32?x=0&y=0&width=2&height=2'],
        ['/viewer/viewer%2Ejs', '/viewer/viewer.js'],
    ], async ([encoded, plain]) => {
        const [first, second] = [await daemon.get(encoded), await daemon.get(plain)];
        assertStatus(first, 200);
        assert.deepEqual(first.body, second.body);
        const { date: _, ...headers } = first.headers;
        assert.deepEqual({ ...headers, date: second.headers.date }, second.headers);
        assertStatus(await daemon.get(encoded, { 'If-None-Match': second.headers.etag }), 304);
    }));

    it('are the same tile in the cache if percent-encoded', () => withDaemon(async (fresh) => {
        const forms = ['/default%3A42/relief/9/5/5.png', '/default:42/relief/9/5/5.png', '/default:42/%72elief/9/%35/5%2Epng'];
        for (const form of [...forms, ...forms])
            assertStatus(await fresh.get(form), 200);
        const metrics = (await fresh.bytes('/metrics')).toString();
        assert.match(metrics, /^farlands_tiles_rendered_total\{layer="relief",format="png"\} 1$/m);
        assert.match(metrics, /^farlands_cache_hits_total\{tier="memory"\} 5$/m);
    }));

    // A plus sign is no space, whoever wrote it.
    it('keep a plus sign', async () => {
        for (const plus of ['+', '%2B'])
            assertError(await daemon.get(`/default/spawn?x=${plus}a&y=0`), 400, /^x: "\+a"/);
    });

    // Proxies look for their plain names.
    it('do not lead to probes and metrics if percent-encoded', () => eachRow(
        ['/metric%73', '/%6detrics', '/healthz%2e', '/%68ealthz', '/readyz?%61', '/read%79z'],
        async (path) => assertError(await daemon.get(path), 404)));

    it('are not found if unknown', () => eachRow(ABSENT, async ([path, names]) => {
        assertError(await daemon.get(path), 404, names);
    }));

    it('are errors if incomplete', () => eachRow(OPEN, async (path) => {
        assertError(await daemon.get(path), [400, 404]);
    }));

    it('are rejected in forms that clients must not send', () => eachRow([
        ['an absolute URI of another scheme', 'https://farlands.test/worlds.json'],
        ['an encoded NUL', '/default.json%00'],
        ['no leading slash', 'worlds.json'],
        ['a control byte', '/worlds.json\x01'],
        ['a byte over 127', '/world\xffs.json'],
    ], async ([, target]) => {
        const { answers: [answer] } = await daemon.raw(
            Buffer.from(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`, 'latin1'));
        assertStatus(answer, 400);
    }));

    it('may have unknown query keys', () => eachRow([
        '', '?', '?_=1700000000', '?v', '?v=', '?a=b&c=d', '?x=01&y=-0', '?token=a.b-c_d~e', '?&&', '?at=1+2', '?name=a%20b', '?=', '?a=b?c=/d:e@f,g;h!$()*',
        '?retina=true&v=0000000000000000',
    ], async (query) => {
        const answer = await daemon.get(`/default/gray/10/512/512.png${query}`);
        assertStatus(answer, 200);
        assert.deepEqual(answer.body, await daemon.bytes('/default/gray/10/512/512.png'));
    }));

    it('with unknown query keys are the same tiles in the caches', async () => {
        const rendered = async () => (await daemon.metrics()).get('farlands_cache_misses_total');
        const { headers } = await daemon.get('/default/gray/9/255/255.png');
        const before = await rendered();
        for (let i = 0; i < 20; i++) {
            const answer = await daemon.get(`/default/gray/9/255/255.png?_=${i}`);
            assertStatus(answer, 200);
            assert.deepEqual(answer.headers, { ...headers, date: answer.headers.date });
            assertStatus(await daemon.get(`/default/gray/9/255/255.png?_=${i}`, { 'If-None-Match': headers.etag }), 304);
        }
        assert.equal(await rendered(), before);
    });

    it('are rejected with a repeated parameter', async () =>
        assertError(await daemon.get('/default/gray/9/255/255.png?v=1&v=2'), 400, /^v: given twice; expected once$/));

    it('are rejected with a misspelt parameter', () => eachRow(['boder', 'borders', 'Border', 'brodre'], async (key) =>
        assertError(await daemon.get(`/default/height/9/255/255.f32?${key}=1`), 400,
            new RegExp(`^'${key}' is not a parameter of a tile; did you mean 'border'\\?$`))));

    it('without parameters of their own ignore queries', () => eachRow([
        '/', '/worlds.json', '/default.json', '/default/relief.json', '/viewer/viewer.js', '/healthz', '/readyz', '/metrics',
    ], async (path) => assertStatus(await daemon.get(`${path}?_=1&v=1&v=2&width=x&`), 200)));

});
