// Tile URLs: valid, malformed (400), or well-formed but not found (404). Every error
// names the wrong part.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useDaemon } from './daemon.mjs';
import { assertError, assertStatus, eachRow } from './table.mjs';
import { patience } from './program.mjs';

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
    ['/default:x.json', /seed.*"x".*from 0 to 18446744073709551615/],
    ['/default:07/relief/10/512/512.png', /seed.*"07"/],
    ['/default%3A7.json', /%|percent/],
    ['/default/relief/10/512/.png', /y|empty/],
    ['/default/relief/10/512/512@3x.png', /512@3x|@3x|y/],
    ['/default/relief/10/512/512@2x@2x.png', /@2x|y/],
    ['/default/relief/10/512/@2x.png', /y|empty/],
    ['/default/relief/10/512/512%2epng', /%|percent/],
    ['/default/relief/%31/512/512.png', /%|percent/],
    ['/default/relief/10/512/512.png%00', /%|percent/],
    ['/%64efault.json', /%|percent/],
    ['/%', /%|percent/],
    ['/%2e%2e/worlds.json', /%|percent/],
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
    ['/favicon.ico', /favicon\.ico|URL|path/],
];

const OPEN = [
    // The contract leaves the choice between 400 and 404.
    '/default/', '/default/relief/', '/default/relief/10/512/', '/default/relief/10/512/512',
    '/default/relief/10/512/512.', '/default/relief/10/512/512.png/', '/.json',
    '/default/.json', '/.', '/./worlds.json', '/healthz/', '/worlds.json/',
];

describe('URLs', { timeout: patience(60000) }, () => {
    const daemon = useDaemon();

    it('are valid up to the limits', () => eachRow(LIMITS, async ([tile, status]) => {
        const answer = await daemon.get(`/default/${tile}`);
        if (status === 200)
            assertStatus(answer, 200);
        else
            assertError(answer, status, /zoom|\bz\b|\bx\b|\by\b|coordinate|limit|beyond/i);
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
});
