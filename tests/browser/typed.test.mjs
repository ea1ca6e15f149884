/* Unit tests of typed.js: texts that the viewer's field for places accepts, and why it refuses others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTyped } from '../../server/viewer/typed.js';

const WORLD = { limits: { coordinate: 2 ** 52 } };
const HOME = 'http://example.org:8080/maps/#default/relief/6/0/0';

const PLACES = [
    ['100 200', 100, 200],
    ['100,200', 100, 200],
    ['100, 200', 100, 200],
    [' 100 , 200 ', 100, 200],
    ['100;200', 100, 200],
    ['100\t-200', 100, -200],
    ['\u2212100 +200.5', -100, 200.5],
    ['1e15 0', 1e15, 0],
    ['-1.5E3, 2e+2', -1500, 200],
    ['0042 0', 42, 0],
    ['(100, 200)', 100, 200],
    ['[100 200]', 100, 200],
    ['x=100 y=200', 100, 200],
    ['x: 100, y: -200', 100, -200],
    ['Y = 200; X = 100', 100, 200],
    ['?x=100&y=200', 100, 200],
    ['{"x": 100, "y": 200}', 100, 200],
    ['X\n\u2212262\u202f144\nY\n1\u202f000', -262144, 1000],
    ['x=1,000 y=2,000', 1000, 2000],
    ['1,000 2,000', 1000, 2000],
    ['1,000, 2,000', 1000, 2000],
    ['1,000;2,000', 1000, 2000],
    ['1,000,2,000', 1000, 2000],
    ['1,000,000 -5', 1e6, -5],
    ['1,234.5 2', 1234.5, 2],
    ['1 000, 2 000', 1000, 2000],
    ['1 000 2 000', 1000, 2000],
    ['1\'000 2\'000', 1000, 2000],
    ['12,345', 12, 345],
    ['4503599627370496 -4503599627370496', 2 ** 52, -(2 ** 52)],
];

test('accepts places in every unambiguous notation', () => {
    for (const [text, x, y] of PLACES)
        assert.deepEqual(parseTyped(text, WORLD, HOME), { x, y }, text);
});

const LINKS = [
    ['http://example.org:8080/maps/#default:42/relief/7/1/2', '#default:42/relief/7/1/2'],
    ['  https://example.org:8080/maps/#default ', '#default'],
    ['example.org:8080/maps/#default/gray/9/5/-7/3d/40/30', '#default/gray/9/5/-7/3d/40/30'],
    ['#default/relief/6/0/0', '#default/relief/6/0/0'],
    ['http://example.org:8080/maps/?place=default:42/relief/7/1/2', '#default:42/relief/7/1/2'],
    ['example.org:8080/maps/?place=default%2Frelief%2F7%2F1%2F2', '#default/relief/7/1/2'],
    ['?place=default/gray/9/5/-7/3d/40/30', '#default/gray/9/5/-7/3d/40/30'],
];

test('accepts links to the viewer', () => {
    for (const [text, hash] of LINKS)
        assert.deepEqual(parseTyped(text, WORLD, HOME), { hash }, text);
});

const REFUSED = [
    ['', /^Enter x, y in blocks/],
    ['Paris', /^“Paris” is not a number/],
    ['100 abc', /^“abc” is not a number/],
    ['0x10 3', /^“0x10” is not a number/],
    ['100', /only one number/],
    ['x=100', /^“100” is only one number/],
    ['1,000', /^“1,000” is only one number/],
    ['1 000', /only one number/],
    ['1,5 2,5', /a point, not a comma: 1\.5 2\.5/],
    ['x=1,5 y=2,5', /a point, not a comma/],
    ['100 64 200', /Put a semicolon/],
    ['1,000,200', /Put a semicolon/],
    ['1,100,200,300,400', /Put a semicolon/],
    ['1e16 0', /outside the world, which ends at ±4\u202f503\u202f599/],
    ['0 1e999', /outside the world/],
    ['http://other.org/#default/relief/6/0/0', /leads to other\.org, and this viewer is at example\.org:8080/],
    ['http://example.org:8080/maps/default.json', /leads to no place/],
    ['http://example.org:8080/maps/#/relief', /leads to no place/],
    ['javascript:alert(1)#default', /this viewer is at/],
    ['http://[#', /leads to nowhere/],
];

test('refuses everything else with the reason', () => {
    for (const [text, reason] of REFUSED)
        assert.match(parseTyped(text, WORLD, HOME).why ?? 'accepted', reason, text);
});
