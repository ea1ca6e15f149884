// Runs the commands for game engines in server/CLIENTS.md, and checks the scales that it states.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { example } from '../clients/readme.mjs';
import { useDaemon } from '../http/daemon.mjs';
import { floats } from '../http/grid.mjs';
import { decodePng } from '../http/png.mjs';
import { patience, scratch } from '../http/program.mjs';
import { eachRow } from '../http/table.mjs';

describe('engines', { timeout: patience(600000) }, () => {
    const daemon = useDaemon({ builtIn: true });
    const directory = scratch();

    /* Run the example that contains FEATURE, after a CHANGE; returns its output. */
    async function run(feature, change = (commands) => commands) {
        const commands = change(example(feature, `http://${daemon.authority}`));
        const { stdout } = await promisify(execFile)('sh', ['-ec', commands],
            { cwd: directory, timeout: patience(300000), env: { ...process.env, no_proxy: '*' } });
        /* It may have taken so long that the daemon is about to close idle connections. */
        daemon.agent.destroy();
        return stdout;
    }

    const file = (name) => readFileSync(path.join(directory, name));
    const words = (bytes) => Uint16Array.from({ length: bytes.length / 2 }, (_, i) => bytes.readUInt16LE(2 * i));

    /* The heights of a row in metres. */
    const metres = async (x, y, width) =>
        floats(await daemon.bytes(`/default/region.f32?x=${x}&y=${y}&width=${width}&height=1`));
    /* Assert that 16-bit samples, scaled by the world's range, are near the heights. */
    async function assertNear(grays, heights, scale) {
        assert.equal(grays.length, heights.length);
        const { range: [min, max] } = await daemon.json('/default.json');
        const half = (max - min) / 65535 / 2;
        grays.forEach((gray, i) => {
            const height = scale(gray, min, max);
            assert.ok(Math.abs(height - heights[i]) < 1.01 * half, `sample ${i}: ${height}, not ${heights[i]}`);
        });
    }

    it('Unity', async () => {
        await run('ground.raw');
        const [ground, east] = [words(file('ground.raw')), words(file('east.raw'))];
        assert.equal(ground.length, 4097 ** 2);
        assert.equal(east.length, 4097 ** 2);
        for (let row = 0; row < 4097; row++)
            assert.equal(ground[row * 4097 + 4096], east[row * 4097], `row ${row}: the edges differ`);
        // Unity places a value at value / 65536 of the terrain's height, above the terrain's position.
        await assertNear(ground.subarray(100 * 4097, 101 * 4097), await metres(0, 100, 4097),
            (gray, min, max) => min + gray / 65536 * ((max - min) * 65536 / 65535));
    });

    it('Unreal', async () => {
        await run('large.r16');
        const large = words(file('large.r16')), { width, height, samples } = decodePng(file('ground.png'));
        assert.equal(large.length, 8129 ** 2);
        assert.deepEqual([width, height], [4033, 4033]);
        for (const row of [0, 1, 2017, 4032])
            assert.deepEqual([...large.subarray(row * 8129, row * 8129 + 4033)],
                [...samples.subarray(row * 4033, (row + 1) * 4033)]);
        // Unreal places a value at (value - 32768) / 128 of the Z scale, in cm.
        const scale = (min, max) => (max - min) * 12800 / 65535;
        const location = (min, max) => 100 * min + (max - min) * 3276800 / 65535;
        for (const [x, y, count] of [[0, 8128, 4097], [4032, 4097, 4097]])
            await assertNear(large.subarray(y * 8129 + x, y * 8129 + x + count), await metres(x, y, count),
                (gray, min, max) => ((gray - 32768) / 128 * scale(min, max) + location(min, max)) / 100);
        const range = [-6500, 6000];
        assert.equal(scale(...range).toFixed(4), '2441.4435');
        assert.equal(location(...range).toFixed(2), '-24990.46');
    });

    it('Terrain3D', async () => {
        const output = await run('terrain3d.r16');
        const [, ...numbers] = /^farlands-width: (.*)\s+farlands-height: (.*)\s+farlands-range: (.*) (.*)\s*$/i.exec(output);
        assert.deepEqual(numbers.map((text) => Math.fround(Number(text))),
            [2048, 2048, ...(await daemon.json('/default.json')).range.map(Math.fround)]);
        assert.equal(file('terrain3d.r16').length, 2 * 2048 ** 2);
    });

    it('Luanti', () => eachRow([['x=0&y=0'], ['x=-5000&y=-9000']], async ([place]) => {
        await run('luanti.raw', (commands) => commands.replace('x=0&y=0', place));
        const nodes = file('luanti.raw'), heights = floats(await daemon.bytes(`/default/region.f32?${place}&width=80&height=80`));
        assert.equal(nodes.length, 2 * 80 ** 2);
        heights.forEach((height, i) => assert.equal(nodes.readInt16LE(2 * i), Math.floor(height), `sample ${i}: ${height} m`));
        assert.ok(place === 'x=0&y=0' || Math.max(...heights) < 0, 'not below the sea');
    }));

    it('voxels', async () => {
        const feature = `chunk.f32 "http://${daemon.authority}/default/volume`;
        await run(feature);
        const [, x, rest] = /volume\.f32\?x=(-?\d+)(&[^"]*)/.exec(example(feature, `http://${daemon.authority}`));
        const density = floats(file('chunk.f32'));
        assert.equal(density.length, 17 ** 3);
        const next = floats(await daemon.bytes(`/default/volume.f32?x=${Number(x) + 16}${rest}`));
        for (let row = 0; row < 17 ** 2; row++)
            assert.equal(density[17 * row + 16], next[17 * row]);
        assert.ok(density[0] > 0 && density[17 ** 3 - 1] < 0, 'not ground below and air above');
    });
});
