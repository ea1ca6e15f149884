// Attack 10: disk cache files with other contents than their names say.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, it } from 'node:test';
import zlib from 'node:zlib';
import { tilesBelow } from '../faults/faults.mjs';
import { crc32, pngChunks } from '../http/png.mjs';
import { eventually, patience, scratch } from '../http/program.mjs';
import { eachRow } from '../http/table.mjs';
import { startDaemon } from './scene.mjs';

const COUNT = 60;
const tile = (i) => `/default/relief/12/5/${1000 + i}.png`;

function chunk(type, body) {
    const named = Buffer.concat([Buffer.from(type), body]);
    const [length, crc] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(body.length);
    crc.writeUInt32BE(crc32(named));
    return Buffer.concat([length, named, crc]);
}

/* FILE with its chunks replaced by EACH(chunk), and with valid CRCs. */
const rewrite = (file, each) =>
    Buffer.concat([file.subarray(0, 8), ...pngChunks(file).map((one) => chunk(one.type, each(one)))]);
const inIdat = (change) => (file) => rewrite(file, ({ type, body }) => (type === 'IDAT' ? change(body) : body));

/* [what, contents of a file from its own and from the next tile's] */
const ROWS = [
    ['another tile\'s file', (own, other) => other],
    ['garbage with valid CRCs', inIdat((body) => Buffer.from(body.map((_, i) => (i * 37 + 11) & 255)))],
    ['a stream of another picture', inIdat(() => zlib.deflateSync(Buffer.alloc(256 * 769)))],
    ['one byte changed, with valid CRCs', inIdat((body) => {
        const changed = Buffer.from(body);
        changed[changed.length >> 1] ^= 1;
        return changed;
    })],
    ['its own picture below another tile\'s head', (own, other) => {
        const bodies = pngChunks(own).filter(({ type }) => type === 'IDAT');
        return rewrite(other, ({ type, body }) => (type === 'IDAT' ? bodies.shift()?.body ?? Buffer.alloc(0) : body));
    }],
];

describe('attack 10: cache files', { timeout: patience(120000) }, () => {
    it('10a none of them is served', (t) => eachRow(ROWS, async ([what, forge]) => {
        const cache = scratch();
        const numbers = Array.from({ length: COUNT }, (_, i) => i);
        const first = await startDaemon({ cache });
        const good = await Promise.all(numbers.map((i) => first.bytes(tile(i))));
        await eventually(() => tilesBelow(cache).length === COUNT);
        await first.stop();
        const files = tilesBelow(cache).sort();
        assert.equal(files.length, COUNT);
        const contents = files.map((file) => fs.readFileSync(file));
        files.forEach((file, i) => fs.writeFileSync(file, forge(contents[i], contents[(i + 1) % COUNT])));
        const daemon = await startDaemon({ cache });
        try {
            const served = await Promise.all(numbers.map((i) => daemon.bytes(tile(i))));
            const wrong = served.filter((bytes, i) => !bytes.equals(good[i])).length;
            t.diagnostic(`10a: ${what}: ${wrong} of ${COUNT} served`);
            assert.equal(wrong, 0, 'of the forged files are served');
        } finally {
            daemon.kill('SIGKILL');
            await daemon.stop();
        }
    }));
});
