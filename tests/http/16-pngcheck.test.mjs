// An independent check of the PNGs, by pngcheck.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { useDaemon } from './daemon.mjs';
import { TIMEOUT, scratch } from './program.mjs';
import { eachRow } from './table.mjs';

// All over the range of zooms, near the origin and far away.
const PLACES = ['-26/0/0', '0/0/0', '6/31/32', '10/512/512', '16/32768/32768', '16/-5000000/5000000',
    '20/524288/524288', '25/16777216/16777216'];

function pngcheck(files) {
    const { error, status, stdout, stderr } = spawnSync('pngcheck', ['-q', ...files]);
    if (error)
        throw error;
    // Debian 13's was built with an older zlib than it runs with, which it says each time.
    const output = `${stdout}${stderr}`.replace(/^zlib warning: +different version .*\n+/m, '');
    return { status, output };
}

describe('pngcheck', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon();
    const directory = scratch();
    let layers;

    before(async () => {
        ({ layers } = await daemon.json('/default.json'));
        layers = layers.filter(({ extensions }) => extensions.includes('png'));
    });

    it('accepts every tile', () => eachRow(
        layers.flatMap(({ name }) => PLACES.flatMap((place) =>
            ['', '@2x'].map((scale) => `${name}/${place}${scale}.png`))),
        async (tile) => {
            const file = path.join(directory, tile.replaceAll('/', '_'));
            fs.writeFileSync(file, await daemon.bytes(`/default/${tile}`));
            assert.deepEqual(pngcheck([file]), { status: 0, output: '' });
        }));

    it('rejects a damaged tile', async () => {
        const png = await daemon.bytes('/default/relief/6/31/32.png');
        const file = path.join(directory, 'damaged.png');
        png[png.length >> 1] ^= 1;
        fs.writeFileSync(file, png);
        assert.notEqual(pngcheck([file]).status, 0);
    });
});
