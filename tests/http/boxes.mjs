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

/* Spellings that no number in a URL may have. */
export const MALFORMED = ['', '+1', '-0', '01', '-01', '1e3', '1E3', '0x10', 'NaN', 'Infinity', 'inf', 'abc', '1,5', '--1', '-',
    '.5', '5.', '-.5', '00.5', '1.5.5', '1_0', '1%20', '%2531', '1+', '-0.0'];
/* More than 10 fractional bits. */
export const TOO_FINE = ['0.1', '0.00048828125', '1.00000000001', '0.33333333333333'];

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
