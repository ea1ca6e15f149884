// Rectangles and boxes of samples in exact numbers: URLs of regions and volumes, and parts of
// their responses. Not a test.

import assert from 'node:assert/strict';
import { LIMIT, decimal } from './grid.mjs';

/* All lengths are in 1/1024 blocks. */
export const BLOCK = 1024n;
export const FAR = LIMIT * BLOCK;

/* All steps: 2^-10 to 2^20 blocks. */
export const STEPS = Array.from({ length: 31 }, (_, i) => 2n ** BigInt(i));

export const blocks = (count) => BigInt(count) * BLOCK;

/* The URL of a region or volume whose first sample is at AT; SIDES has its 2 or 3 sizes in samples. */
export function target(at, sides, { step, world = 'default', form = 'f32' } = {}) {
    const place = ['x', 'y', 'z'].slice(0, at.length).map((axis, i) => `${axis}=${decimal(at[i])}`);
    const size = ['width', 'height', 'depth'].slice(0, sides.length).map((side, i) => `${side}=${sides[i]}`);
    const spacing = step === undefined ? [] : [`step=${decimal(step)}`];
    const kind = sides.length === 3 ? 'volume' : 'region';
    return `/${world}/${kind}.${form}?${[...place, ...size, ...spacing].join('&')}`;
}

/*
 * A part of a box of SIDES samples of SIZE bytes each, x fastest: from sample FROM on, COUNT
 * samples per side, each EVERY-th.
 */
export function cut(bytes, sides, from, count, { every = 1, size = 4 } = {}) {
    const [width, height, depth = 1] = sides;
    const [i, j, k = 0] = from;
    const [across, down, up = 1] = count;
    assert.equal(bytes.length, width * height * depth * size, `bytes of ${sides} samples`);
    const out = Buffer.alloc(across * down * up * size);
    let to = 0;
    for (let c = 0; c < up; c++)
        for (let b = 0; b < down; b++) {
            const row = ((k + c * every) * height + j + b * every) * width + i;
            if (every === 1) {
                to += bytes.copy(out, to, row * size, (row + across) * size);
                continue;
            }
            for (let a = 0; a < across; a++)
                to += bytes.copy(out, to, (row + a * every) * size, (row + a * every + 1) * size);
        }
    assert.equal(to, out.length, `${count} samples from ${from} of ${sides}`);
    return out;
}

/* What is no number in a query. */
export const MALFORMED = ['', '0x10', 'NaN', 'Infinity', 'inf', 'abc', '1,5', '--1', '+-1', '-', '+', '.', '1.5.5', '1_0', '1%20', '%2531',
    '1+', '1e', 'e3', '1e+', '1e3.5', '1f'];
/* More than 10 fractional bits: places are rounded, but neither steps nor numbers of samples. */
export const TOO_FINE = ['0.1', '0.00048828125', '1.00000000001', '0.33333333333333', '1e-1', '2.0000000000000000000000001'];

/* Spellings of 1000 and of 0.5. */
export const THOUSANDS = ['1e3', '1E3', '1.0e+3', '+1000', '1000.0', '1000.', '01000', '1000000e-3', `${'0'.repeat(999)}1e3`];
export const HALVES = ['.5', '+.5', '00.50', '5e-1', `0.5${'0'.repeat(999)}`, '.00005E4'];

/* Places between units of 1/1024 block: the text, and the nearest place. Ties go up. */
export const ROUNDED = [
    ['0.1', '0.099609375'], ['-0.1', '-0.099609375'], ['1e-1', '0.099609375'], ['0.3333333333333333', '0.3330078125'],
    ['123456.789012', '123456.7890625'], ['-123456.789012', '-123456.7890625'], ['1.9999', '2'], ['-1.9999', '-2'],
    ['0.00048828125', '0.0009765625'], ['-0.00048828125', '0'], ['0.00146484375', '0.001953125'],
    ['-0.00146484375', '-0.0009765625'], ['-0.00048828126', '-0.0009765625'], ['-0.0001', '0'], ['1e-400', '0'],
    // Doubles cannot distinguish these.
    ['4503599627370000.0003', '4503599627370000'], ['4503599627370000.0005', '4503599627370000.0009765625'],
    ['-4503599627370000.3337', '-4503599627370000.333984375'], ['4503599627370000.33333333333333333333', '4503599627370000.3330078125'],
];

/* The error message for parameter KEY with this VALUE. */
export const naming = (key, value = '') => new RegExp(value.includes('%') ? `%|percent|\\b${key}\\b` : `\\b${key}\\b`);

/* Without a dump of the difference, which may be 64 MiB. */
export function assertSameBytes(actual, expected, what) {
    if (actual.equals(expected))
        return;
    assert.equal(actual.length, expected.length, `${what}: bytes`);
    const at = actual.findIndex((byte, i) => byte !== expected[i]);
    assert.fail(`${what}: byte ${at} of ${actual.length} is ${actual[at]}, not ${expected[at]}`);
}
