// Rivers and lakes in pictures: relief, and the layer water.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useDaemon } from './daemon.mjs';
import { floats } from './grid.mjs';
import { decodePng } from './png.mjs';
import { TIMEOUT } from './program.mjs';
import { assertError, eachRow } from './table.mjs';

const CONFIG = `worlds:
  - name: wet
    seed: 5
    fields:
      ground: { multiply: [{ add: [{ noise: { wavelength: 32768, octaves: 9 } }, 0.15] }, 900] }
      valleys: { drain: { of: ground } }
      height: { channel: { of: valleys, drain: valleys } }
      water: { water: { of: height, drain: valleys } }
      river: { river: valleys }
      bank: { bank: valleys }
  - name: dry
    seed: 5
    fields:
      height: { multiply: [{ noise: { wavelength: 65536, octaves: 9 } }, 900] }
      water: { noise: { wavelength: 4096, octaves: 3 } }
      river: 1
      bank: 2
  - name: plain
    noise: { octaves: 5 }
`;

describe('rivers in pictures', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG });
    const SIDE = 400;
    const box = (step) => `x=${-200 * step}&y=${-200 * step}&width=${SIDE}&height=${SIDE}&step=${step}`;
    const field = async (name, step) => floats(await daemon.bytes(`/wet/region.f32?${box(step)}&field=${name}`));

    it('the layer water is opaque in rivers, lakes and the sea, and clear on land', async () => {
        const step = 32;
        const [height, water, river, bank] = await Promise.all(['height', 'water', 'river', 'bank'].map((name) => field(name, step)));
        const { indices } = decodePng(await daemon.bytes(`/wet/region.png?${box(step)}&layer=water`));
        const wet = [...indices.keys()].filter((k) => bank[k] < -step && water[k] > height[k] && river[k] > 5);
        const lakes = [...indices.keys()].filter((k) => bank[k] > step && water[k] > height[k] + 3);
        const sea = [...indices.keys()].filter((k) => height[k] < -20 && water[k] < -1000);
        const land = [...indices.keys()].filter((k) => height[k] > 20 && bank[k] > 3 * step && water[k] < -1000);
        assert.ok(lakes.length + sea.length + wet.length > 100 && land.length > 1000, `${[wet, lakes, sea, land].map(({ length }) => length)}`);
        const share = (all, test) => all.filter((k) => test(indices[k])).length / Math.max(all.length, 1);
        for (const all of [wet, lakes, sea])
            assert.ok(all.length === 0 || share(all, (index) => index >= 240) > 0.95, 'opaque');
        assert.ok(share(land, (index) => index === 0) > 0.98, 'clear');
    });

    it('lines of rivers have soft edges', async () => {
        const { indices } = decodePng(await daemon.bytes(`/wet/region.png?${box(32)}&layer=water`));
        assert.ok(indices.some((index) => index >= 16 && index < 240));
    });

    it('relief shows them', async () => {
        const [{ indices }, relief] = await Promise.all(['water', 'relief'].map(async (layer) =>
            decodePng(await daemon.bytes(`/wet/region.png?${box(32)}&layer=${layer}`))));
        assert.equal(indices.length, SIDE * SIDE);
        assert.ok(relief.width === SIDE && relief.height === SIDE);
    });

    it('water has opacities in its palette', async () => {
        const tile = await daemon.bytes('/wet/water/10/512/512.png');
        assert.ok(tile.includes('tRNS') && tile.indexOf('tRNS') > tile.indexOf('PLTE'));
        assert.equal(tile.readUInt32BE(tile.indexOf('tRNS') - 4), 256);
    });

    it('terrarium-water has the level of water, and the ground on land', async () => {
        const step = 16;
        const [height, water] = await Promise.all(['height', 'water'].map((name) => field(name, step)));
        const { samples } = decodePng(await daemon.bytes(`/wet/region.png?${box(step)}&layer=terrarium-water`));
        let raised = 0;
        height.forEach((ground, k) => {
            const seen = 256 * samples[3 * k] + samples[3 * k + 1] + samples[3 * k + 2] / 256 - 32768, expected = Math.max(ground, water[k], 0);
            assert.ok(Math.abs(seen - expected) <= 1 / 512, `sample ${k}: ${seen}, not ${expected}`);
            raised += water[k] > Math.max(ground, 0);
        });
        assert.ok(raised > 100 && raised < height.length / 2, `${raised} samples of rivers and lakes`);
    });

    it('water is listed by worlds with rivers alone', async () => {
        for (const name of ['wet', 'dry', 'plain']) {
            const { layers } = await daemon.json(`/${name}.json`);
            for (const layer of ['water', 'terrarium-water'])
                assert.equal(layers.some((listed) => listed.name === layer), name === 'wet');
        }
        assert.match((await daemon.bytes('/wet/wmts.xml')).toString(), /<ows:Identifier>wet:water</);
        await eachRow(['dry', 'plain'].flatMap((world) => [`/${world}/water/3/4/4.png`, `/${world}/water.json`,
            `/${world}/region.png?x=0&y=0&width=3&height=3&layer=water`]), async (url) => {
            assertError(await daemon.get(url), 404, /layer: this world has no rivers; "water" needs the fields/);
        });
    });
});
