// A strict PNG reader for the tests: the formats of the layers, all five filters and all CRCs;
// it refuses chunks that a map client could misread. Not a test.

import assert from 'node:assert/strict';
import zlib from 'node:zlib';

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
const ORDER = /^IHDR(,PLTE(,tRNS)?)?(,IDAT)+(,flKY)?,IEND$/;

const CRC_TABLE = Int32Array.from({ length: 256 }, (_, n) => {
    for (let bit = 0; bit < 8; bit++)
        n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
    return n;
});

export function crc32(bytes) {
    let crc = -1;
    for (let i = 0; i < bytes.length; i++)
        crc = CRC_TABLE[(crc ^ bytes[i]) & 255] ^ (crc >>> 8);
    return ~crc >>> 0;
}

/* [{ type, body }] of a complete, valid file; throws otherwise. */
export function pngChunks(file) {
    assert.ok(file.length > 8 && SIGNATURE.equals(file.subarray(0, 8)), 'no PNG signature');
    const chunks = [];
    let at = 8;
    while (at < file.length) {
        assert.ok(at + 12 <= file.length, `truncated at byte ${at}: incomplete chunk`);
        const length = file.readUInt32BE(at);
        const type = file.toString('latin1', at + 4, at + 8);
        assert.ok(at + 12 + length <= file.length, `truncated at byte ${at}: ${type} has ${length} bytes`);
        const stored = file.readUInt32BE(at + 8 + length);
        assert.equal(crc32(file.subarray(at + 4, at + 8 + length)), stored, `CRC of ${type} at ${at}`);
        chunks.push({ type, body: file.subarray(at + 8, at + 8 + length) });
        at += 12 + length;
        if (type === 'IEND')
            break;
    }
    assert.equal(at, file.length, 'bytes after IEND');
    return chunks;
}

/* The inverse of pngChunks: a file of these chunks, with their CRCs. */
export function pngFile(chunks) {
    return Buffer.concat([SIGNATURE, ...chunks.map(({ type, body }) => {
        const out = Buffer.alloc(12 + body.length);
        out.writeUInt32BE(body.length, 0);
        out.write(type, 4, 'latin1');
        body.copy(out, 8);
        out.writeUInt32BE(crc32(out.subarray(4, 8 + body.length)), 8 + body.length);
        return out;
    })]);
}

function paeth(a, b, c) {
    const p = a + b - c;
    const pa = Math.abs(p - a);
    const pb = Math.abs(p - b);
    const pc = Math.abs(p - c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

const PREDICT = [
    () => 0,
    (a) => a,
    (a, b) => b,
    (a, b) => (a + b) >> 1,
    paeth,
];

function unfilter(raw, stride, height, bpp) {
    const out = new Uint8Array(stride * height);
    for (let y = 0; y < height; y++) {
        const filter = raw[y * (stride + 1)];
        assert.ok(filter <= 4, `filter ${filter} in row ${y}`);
        const predict = PREDICT[filter];
        const from = y * (stride + 1) + 1;
        const to = y * stride;
        for (let i = 0; i < stride; i++) {
            const a = i >= bpp ? out[to + i - bpp] : 0;
            const b = y > 0 ? out[to + i - stride] : 0;
            const c = i >= bpp && y > 0 ? out[to + i - bpp - stride] : 0;
            out[to + i] = raw[from + i] + predict(a, b, c);
        }
    }
    return out;
}

/* Values of less than a byte, the leftmost in the highest bits. */
function unpack(bytes, stride, width, height, depth) {
    return Uint8Array.from({ length: width * height }, (_, i) => {
        const bit = (i % width) * depth;
        const byte = bytes[Math.floor(i / width) * stride + (bit >> 3)];
        return (byte >> (8 - depth - (bit & 7))) & ((1 << depth) - 1);
    });
}

/*
 * { width, height, depth, color, channels, samples }: samples row by row,
 * channels interleaved, of depth bits; palettes resolved to RGB, beside the `indices` and the `palette`, three bytes a color.
 * color: 'gray', 'rgb', 'palette'.
 */
export function decodePng(file) {
    const chunks = pngChunks(file);
    const order = chunks.map(({ type }) => type).join(',');
    assert.match(order, ORDER, 'only IHDR, PLTE, IDAT, flKY and IEND, in this order');
    const head = chunks[0].body;
    assert.equal(head.length, 13, 'length of IHDR');
    const width = head.readUInt32BE(0);
    const height = head.readUInt32BE(4);
    const [depth, type, compression, filter, interlace] = head.subarray(8);
    assert.deepEqual([compression, filter, interlace], [0, 0, 0], 'compression, filter, interlace');
    const kind = { '8/0': ['gray', 1], '16/0': ['gray', 1], '8/2': ['rgb', 3],
        '1/3': ['palette', 1], '2/3': ['palette', 1], '4/3': ['palette', 1], '8/3': ['palette', 1] };
    assert.ok(`${depth}/${type}` in kind, `bit depth ${depth} with color type ${type}`);
    const [color, perPixel] = kind[`${depth}/${type}`];
    const bpp = Math.max(perPixel * depth / 8, 1);
    const stride = Math.ceil(width * perPixel * depth / 8);
    const packed = Buffer.concat(chunks.filter((c) => c.type === 'IDAT').map((c) => c.body));
    const raw = zlib.inflateSync(packed);
    assert.equal(raw.length, (stride + 1) * height, 'length of the image data');
    const bytes = unfilter(raw, stride, height, bpp);
    if (depth === 16) {
        const view = Buffer.from(bytes.buffer);
        const samples = Uint16Array.from({ length: width * height }, (_, i) => view.readUInt16BE(2 * i));
        return { width, height, depth, color, channels: 1, samples };
    }
    if (color !== 'palette')
        return { width, height, depth, color, channels: perPixel, samples: bytes };
    const palette = chunks.find((c) => c.type === 'PLTE')?.body;
    assert.ok(palette, 'a palette image without PLTE');
    const samples = new Uint8Array(width * height * 3);
    const indices = depth === 8 ? bytes : unpack(bytes, stride, width, height, depth);
    indices.forEach((index, i) => {
        assert.ok(3 * index + 2 < palette.length, `palette index ${index}`);
        samples.set(palette.subarray(3 * index, 3 * index + 3), 3 * i);
    });
    return { width, height, depth: 8, color, channels: 3, samples, indices, palette };
}

/* The same pixels; the compressed bytes may differ. */
export function assertSamePixels(actual, expected, message = 'pixels') {
    const a = decodePng(actual);
    const b = decodePng(expected);
    for (const key of ['width', 'height', 'depth', 'channels'])
        assert.equal(a[key], b[key], `${message}: ${key}`);
    const at = a.samples.findIndex((value, i) => value !== b.samples[i]);
    assert.ok(at < 0, `${message}: sample ${at} is ${a.samples[at]}, not ${b.samples[at]}`);
}

/* What palettes of two pictures for eyes may differ by, of a channel's 255 levels. */
const MOST = 44;
const MEAN = 4;

/*
 * The WIDTH x HEIGHT pixels of image A from column I, row J on are those of image B from column K, row L on. If one
 * of them has a palette, which is its own, they only look like them.
 */
export function assertSamePart([a, i, j], [b, k, l], width, height, what = 'pixels') {
    assert.deepEqual([a.depth, a.channels], [b.depth, b.channels]);
    const most = a.color === 'palette' || b.color === 'palette' ? MOST : 0;
    const { channels } = a;
    let sum = 0;
    for (let y = 0; y < height; y++)
        for (let x = 0; x < width * channels; x++) {
            const one = a.samples[((j + y) * a.width + i) * channels + x];
            const other = b.samples[((l + y) * b.width + k) * channels + x];
            if (Math.abs(one - other) > most)
                assert.fail(`${what}: sample ${x} of row ${y} is ${one} and ${other}`);
            sum += Math.abs(one - other);
        }
    const mean = sum / (width * height * channels);
    assert.ok(mean <= MEAN, `${what}: samples differ by ${mean.toFixed(2)} on average`);
}
