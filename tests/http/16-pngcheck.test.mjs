// PNGs as a program knows them that had no part in making them: pngcheck.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { useDaemon } from './daemon.mjs';
import { patience, scratch } from './program.mjs';
import { eachRow } from './table.mjs';

// Over the whole range of zooms, in the middle and far out.
const PLACES = ['-26/0/0', '0/0/0', '6/31/32', '10/512/512', '16/32768/32768', '16/-5000000/5000000',
    '20/524288/524288', '25/16777216/16777216'];

function pngcheck(files) {
    const { error, status, stdout, stderr } = spawnSync('pngcheck', ['-q', ...files]);
    if (error)
        throw error;
    return { status, said: `${stdout}${stderr}` };
}

describe('pngcheck', { timeout: patience(60000) }, () => {
    const daemon = useDaemon();
    const folder = scratch();
    let layers;

    before(async () => {
        ({ layers } = await daemon.json('/default.json'));
        layers = layers.filter(({ extensions }) => extensions.includes('png'));
    });

    it('has nothing to say of any tile', () => eachRow(
        layers.flatMap(({ name }) => PLACES.flatMap((place) =>
            ['', '@2x'].map((scale) => `${name}/${place}${scale}.png`))),
        async (tile) => {
            const file = path.join(folder, tile.replaceAll('/', '_'));
            fs.writeFileSync(file, await daemon.bytes(`/default/${tile}`));
            assert.deepEqual(pngcheck([file]), { status: 0, said: '' });
        }));

    it('has something to say of a damaged one', async () => {
        const png = await daemon.bytes('/default/relief/6/31/32.png');
        const file = path.join(folder, 'damaged.png');
        png[png.length >> 1] ^= 1;
        fs.writeFileSync(file, png);
        assert.notEqual(pngcheck([file]).status, 0);
    });
});
