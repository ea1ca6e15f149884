// Worlds that are graphs of fields: tiles, regions and points have the same heights, for any seed.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { useDaemon } from './daemon.mjs';
import { floats, sameFloat } from './grid.mjs';
import { TIMEOUT } from './program.mjs';
import { eachRow } from './table.mjs';

const SAMPLE = readFileSync(new URL('../../config/worlds/continents.yaml', import.meta.url), 'utf8')
    .replace('name: continents', 'name: continents\n    seeds: any');

/* Every kind of node, in a world that wraps. */
const CONFIG = `${SAMPLE}
  - name: all
    wrap: true
    fields:
      broad: { noise: { wavelength: 65536, octaves: 5, elevation: [[-1, -1], [1, 1]] }, lattice: 256 }
      moved: { noise: { wavelength: 4096, octaves: 4, basis: value, move: { x: broad, y: 0.5, by: 3000 } } }
      sharp: { damped: { wavelength: 8192, octaves: 6 } }
      one: { smooth_min: { of: [{ abs: broad }, { smooth_max: { of: [moved, sharp], width: 0.1 } }], width: 0.2 } }
      two: { mix: { from: one, to: { min: [moved, { max: [sharp, 0] }] }, by: { step: { of: broad, from: 0, to: 0.2 } } } }
      three: { terrace: { of: { clamp: { of: two, from: -0.5, to: 0.5 } }, height: 0.1, slope: 0.4 } }
      four: { spline: { of: { subtract: [three, moved] }, knots: [[-1, -900], [0, 0], [1, 2000]], cubic: false } }
      slope: { slope_x: { of: four, lattice: 64 } }
      ridges: { multiply: [{ ridge: { of: broad, width: 0.3 } }, { slope_y: { of: four, lattice: 128 } }, 10] }
      height: { erode: { of: { add: [four, slope, ridges] }, wavelength: 512, octaves: 4, lattice: 64 }, unit: m }
`;

const NAMES = ['continents', 'continents:12345', 'all'];

describe('worlds of fields', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG });

    it('have the same heights in tiles, regions and at points', () => eachRow(
        NAMES.flatMap((name) => [[name, 16], [name, 12], [name, 19]]), async ([name, zoom]) => {
            const step = 2 ** (16 - zoom), middle = 2 ** (zoom - 1);
            const tile = floats(await daemon.bytes(`/${name}/height/${zoom}/${middle}/${middle}.f32`));
            const region = floats(await daemon.bytes(
                `/${name}/region.f32?x=${step}&y=${2 * step}&width=200&height=9&step=${step}`));
            for (let j = 0; j < 9; j++)
                for (let i = 0; i < 200; i++)
                    assert.ok(sameFloat(region[j * 200 + i], tile[(j + 2) * 256 + i + 1]), `${i}, ${j}`);
            const { height } = await daemon.json(`/${name}/height?x=${7 * step}&y=${5 * step}`);
            assert.ok(sameFloat(Math.fround(height), tile[5 * 256 + 7]), `${height}`);
            assert.ok(new Set(tile).size > 1000, 'a flat world');
        }));

    it('differ between seeds', async () => {
        const region = (name) => daemon.bytes(`/${name}/region.f32?x=0&y=0&width=9&height=9&step=4096`);
        assert.notDeepEqual(await region('continents'), await region('continents:12345'));
        assert.deepEqual(await region('continents'), await region('continents:8'));
    });

    it('repeat if they wrap', async () => {
        const side = 2 ** 24;
        const region = (x) => daemon.bytes(`/all/region.f32?x=${x}&y=-77&width=65&height=20&step=2`);
        assert.deepEqual(await region(-5), await region(side - 5));
        assert.deepEqual(await region(-5), await region(-3 * side - 5));
    });

    it('have documents with their fields, which pin every salt', async () => {
        const world = await daemon.json('/continents.json');
        assert.equal(world.generator, 3);
        assert.ok(!('noise' in world) && !('elevation' in world));
        assert.deepEqual(Object.keys(world.ranges), Object.keys(world.fields));
        assert.deepEqual(world.ranges.height, world.range);
        assert.equal(world.fields.height.unit, 'm');
        assert.ok(Number.isInteger(world.fields.bend_x.noise.salt));
        assert.notEqual(world.fields.bend_x.noise.salt, world.fields.bend_y.noise.salt);
        const seeded = await daemon.json('/continents:12345.json');
        assert.deepEqual(seeded.fields, world.fields);
        assert.notEqual(seeded.fingerprint, world.fingerprint);
    });
});
