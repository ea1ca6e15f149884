// The tests' own PNG reader. The other tests depend on it, so it is tested first.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import zlib from 'node:zlib';
import { crc32, decodePng, pngFile } from './png.mjs';
import { eachRow } from './table.mjs';

const WIDTH = 7;
const HEIGHT = 10;

/* Encoder filters as in section 9 of the PNG specification. */
function filterRow(filter, row, above, bpp) {
    const out = Buffer.alloc(row.length + 1);
    out[0] = filter;
    for (let i = 0; i < row.length; i++) {
        const a = row[i - bpp] ?? 0;
        const b = above?.[i] ?? 0;
        const c = above?.[i - bpp] ?? 0;
        const p = a + b - c;
        const near = [a, b, c].reduce((best, v) => (Math.abs(p - v) < Math.abs(p - best) ? v : best));
        out[i + 1] = row[i] - [0, a, b, (a + b) >> 1, near][filter];
    }
    return out;
}

function encode(pixels, depth, type, bpp, { filter = 0, extra = [], palette, stride = WIDTH * bpp } = {}) {
    const rows = [];
    for (let y = 0; y < HEIGHT; y++) {
        const row = pixels.subarray(y * stride, (y + 1) * stride);
        const above = y > 0 ? pixels.subarray((y - 1) * stride, y * stride) : null;
        rows.push(filterRow(filter === 'all' ? y % 5 : filter, row, above, bpp));
    }
    const head = Buffer.alloc(13);
    head.writeUInt32BE(WIDTH, 0);
    head.writeUInt32BE(HEIGHT, 4);
    head[8] = depth;
    head[9] = type;
    const packed = zlib.deflateSync(Buffer.concat(rows));
    const chunk = (name, body) => ({ type: name, body });
    return pngFile([
        chunk('IHDR', head), ...extra, ...(palette ? [chunk('PLTE', palette)] : []),
        chunk('IDAT', packed.subarray(0, 20)), chunk('IDAT', packed.subarray(20)),
        chunk('IEND', Buffer.alloc(0)),
    ]);
}

function noise(length, below = 256) {
    let state = 12345;
    return Buffer.from(Uint8Array.from({ length }, () => {
        state = (state * 1103515245 + 12345) & 0x7fffffff;
        return (state >> 8) % below;
    }));
}

describe('the PNG reader', () => {
    it('computes the CRC of "IEND"', () => {
        assert.equal(crc32(Buffer.from('IEND')), 0xae426082);
    });

    it('reads every format with every filter', () => eachRow(
        [[8, 0, 1], [16, 0, 2], [8, 2, 3]].flatMap((format) =>
            [0, 1, 2, 3, 4, 'all'].map((filter) => [...format, filter])),
        ([depth, type, bpp, filter]) => {
            const pixels = noise(WIDTH * HEIGHT * bpp);
            const image = decodePng(encode(pixels, depth, type, bpp, { filter }));
            assert.deepEqual([image.width, image.height, image.depth], [WIDTH, HEIGHT, depth]);
            const expected = depth === 8 ? [...pixels]
                : Array.from({ length: WIDTH * HEIGHT }, (_, i) => pixels.readUInt16BE(2 * i));
            assert.deepEqual([...image.samples], expected);
        }));

    it('unpacks indices of less than a byte', () => eachRow([1, 2, 4], (depth) => {
        const palette = noise(3 << depth);
        const indices = noise(WIDTH * HEIGHT, 1 << depth);
        const stride = Math.ceil(WIDTH * depth / 8);
        const rows = Buffer.alloc(HEIGHT * stride);
        indices.forEach((index, i) => {
            const bit = (i % WIDTH) * depth;
            rows[Math.floor(i / WIDTH) * stride + (bit >> 3)] |= index << (8 - depth - (bit & 7));
        });
        const image = decodePng(encode(rows, depth, 3, 1, { palette, stride }));
        assert.deepEqual([image.color, image.depth, ...image.indices], ['palette', 8, ...indices]);
        assert.deepEqual([...image.samples], [...indices].flatMap((index) => [...palette.subarray(3 * index, 3 * index + 3)]));
    }));

    it('resolves a palette', () => {
        const palette = noise(9);
        const pixels = noise(WIDTH * HEIGHT, 3);
        const image = decodePng(encode(pixels, 8, 3, 1, { palette, filter: 'all' }));
        assert.equal(image.channels, 3);
        assert.deepEqual([...image.samples],
            [...pixels].flatMap((index) => [...palette.subarray(3 * index, 3 * index + 3)]));
    });

    const valid = encode(noise(WIDTH * HEIGHT), 8, 0, 1);
    const flipped = (at) => {
        const file = Buffer.from(valid);
        file[at] ^= 1;
        return file;
    };
    it('rejects truncated, corrupt and unexpected data', () => eachRow([
        ['empty', Buffer.alloc(0), /signature/],
        ['signature only', valid.subarray(0, 8), /signature|IHDR/],
        ['no IEND', valid.subarray(0, -12), /IEND/],
        ['one byte short', valid.subarray(0, -1), /truncated/],
        ['one byte too long', Buffer.concat([valid, Buffer.alloc(1)]), /after IEND/],
        ['a flipped bit in the signature', flipped(1), /signature/],
        ['a flipped bit in IHDR', flipped(20), /CRC of IHDR/],
        ['a flipped bit in IDAT', flipped(45), /CRC of IDAT/],
        ['a flipped bit in a CRC', flipped(valid.length - 1), /CRC of IEND/],
        ['gAMA', encode(noise(70), 8, 0, 1, { extra: [{ type: 'gAMA', body: Buffer.alloc(4) }] }), /only IHDR/],
        ['tEXt', encode(noise(70), 8, 0, 1, { extra: [{ type: 'tEXt', body: Buffer.from('a\0b') }] }), /only IHDR/],
        ['RGBA', encode(noise(280), 8, 6, 4), /color type 6/],
        ['a palette image without a palette', encode(noise(70, 3), 8, 3, 1), /without PLTE/],
    ], ([, file, message]) => assert.throws(() => decodePng(file), message)));
});
