// Tiles of numbers are exact from samples 64 blocks apart on, in worlds with and without rivers. Coarser ones are filtered.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { useDaemon } from './daemon.mjs';
import { floats, sameFloat } from './grid.mjs';
import { decodePng } from './png.mjs';
import { TIMEOUT, run } from './program.mjs';
import { assertStatus, eachRow } from './table.mjs';
import { assertTileJson } from './tilejson.mjs';

const FILE = fileURLToPath(new URL('../worlds/rivers.yaml', import.meta.url));
const CONFIG = `${readFileSync(FILE, 'utf8')}  - name: dry
    noise: { wavelength: 65536 }
  - name: dear
    fields:
      ground: { noise: { basis: cellular, wavelength: 65536, octaves: 60, lacunarity: 1.1, warp: { amplitude: 10, wavelength: 1000 } } }
      other: { drain: { of: { multiply: [ground, 2] }, spacing: 262144, levels: 5 } }
      third: { drain: { of: { multiply: [ground, 3] }, spacing: 262144, levels: 5 } }
      height: { max: [{ drain: { of: ground, spacing: 262144, levels: 5 } }, other, third] }
`;
/* Regions of the built-in worlds that would take minutes. */
const DEAR = [['biome', 'biome', 'u8', 32768], ['height', 'height', 'r16', 32768], ['surface', 'height', 'f32', 1048576],
    ['temperature', 'field.temperature', 'u8', 32768]];

const EXACT = 10;       // zoom
const NUMBERS = ['height', 'field.ground', 'field.valleys', 'field.surface'];

describe('worlds with rivers', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG });
    const layersOf = async (world) => (await daemon.json(`/${world}.json`)).layers;
    const span = async (world) => {
        const { range: [least, most] } = await daemon.json(`/${world}.json`);
        return most - least;
    };

    it('have tiles of filtered numbers where samples are far apart', () => eachRow(
        ['rivers', 'rivers:7', 'dry'].flatMap((world) => [['', -26], ['', 0], ['', EXACT - 1], ['@2x', EXACT - 2]].map((place) => [world, ...place])),
        async ([world, form, z]) => {
            const [x, y] = z > 0 ? [2 ** z / 2, 2 ** z / 2] : [0, -1], tile = `${z}/${x}/${y}${form}`;
            const { range: [least, most] } = await daemon.json(`/${world}.json`);
            const get = async (layer, ending) => {
                const answer = await daemon.get(`/${world}/${layer}/${tile}.${ending}`);
                assertStatus(answer, 200);
                assert.equal(answer.headers['farlands-filtered'], layer === 'terrarium' ? undefined : 'true');
                return answer.body;
            };
            const heights = floats(await get('height', 'f32'));
            const { samples } = decodePng(await get('terrarium', 'png'));
            heights.forEach((height, i) => assert.equal(Math.round((height + 32768) * 256),
                (samples[3 * i] << 16) + (samples[3 * i + 1] << 8) + samples[3 * i + 2], `sample ${i}`));
            const words = await get('height', 'r16');
            heights.forEach((height, i) => assert.ok(Math.abs(words.readUInt16LE(2 * i) -
                (height - least) / (most - least) * 65535) < 0.51, `sample ${i}`));
            if (world !== 'dry')
                assert.deepEqual(floats(await get('field.surface', 'f32')), heights);
        }));

    it('have tiles of exact numbers nearer', () => eachRow(
        NUMBERS.flatMap((layer) => [['', EXACT], ['@2x', EXACT - 1], ['', EXACT + 3]].map((place) => [layer, ...place])), async ([layer, form, z]) => {
            const middle = 2 ** z / 2, step = 2 ** (16 - z) / (form ? 2 : 1), [side, field] = [form ? 512 : 256, layer.replace(/^field\./, '')];
            const { headers, body } = await daemon.get(`/rivers/${layer}/${z}/${middle}/${middle}${form}.f32`);
            assert.equal(headers['farlands-filtered'], undefined);
            const region = await daemon.bytes(`/rivers/region.f32?x=0&y=0&width=16&height=2&step=${step}&field=${field}`);
            for (let row = 0; row < 2; row++)
                assert.ok(body.subarray(4 * side * row, 4 * side * row + 64).equals(region.subarray(64 * row, 64 * row + 64)), `row ${row}`);
        }));

    it('have exact numbers at any distance in regions and at points', async () => {
        const [x, y, step] = [-81920, 16384, 8192];
        const region = floats(await daemon.bytes(`/rivers/region.f32?x=${x}&y=${y}&width=5&height=3&step=${step}`));
        const places = Array.from({ length: 15 }, (_, i) => `${x + i % 5 * step},${y + Math.floor(i / 5) * step}`);
        const { heights } = await daemon.json(`/rivers/heights?at=${places.join(';')}`);
        heights.forEach((height, i) => assert.ok(sameFloat(height, region[i]), `${height}, ${region[i]}`));
    });

    it('say so in documents', () => eachRow(['rivers', 'dry'], async (world) => {
        for (const { name, minzoom, exact_from: from } of await layersOf(world)) {
            assert.equal(minzoom, undefined);
            assert.equal(from, NUMBERS.includes(name) ? EXACT : undefined, name);
            const tilejson = await daemon.json(`/${world}/${name}.json`);
            assertTileJson(tilejson);
            assert.equal(tilejson.minzoom, 0);
            assert.equal(tilejson.exact_from, NUMBERS.includes(name) ? EXACT : undefined, name);
            assert.doesNotMatch(String(await daemon.bytes(`/${world}/${name}.xml`)), /OverviewCount/);
        }
        assert.doesNotMatch(String(await daemon.bytes('/wmts.xml')), /TileMatrixSetLimits/);
    }));

    it('name the finest zoom whose steps between heights are small', async () => eachRow([
        ['terrarium', 18], ['terrain-rgb', 14], ['relief', 25], ['gray', 25], ['field.valleys', 25],
        ['height', Math.floor(16 - Math.log2(40 * await span('rivers') / 65535))], ['field.ground', 25],
    ], async ([layer, zoom]) => assert.equal((await daemon.json(`/rivers/${layer}.json`)).maxzoom, zoom)));

    it('have previews of no coarser numbers', () => eachRow([
        ['height', 4, 64], ['field.ground', 4, 64], ['relief', 4, 8192], ['height', 13, 16],
    ], async ([layer, zoom, step]) => {
        const page = String(await daemon.bytes(`/?place=rivers/${layer}/${zoom}/0/0`));
        assert.match(page, new RegExp(`/rivers/region\\.png\\?[^"]*step=${step}&amp;layer=${layer}&`));
    }));

    it('are refused in lists of places that could take more than a minute', async () => {
        const list = (count, far) => `/dear/heights?at=${Array.from({ length: count }, (_, i) => `${i * far},0`).join(';')}`;
        const { status, body } = await daemon.get(list(800, 2000));
        assert.equal(status, 413);
        const [, fit] = /^at: 800 places, 800 of them far from the others, take up to \d+ s; at most (\d+) far ones fit$/
            .exec(JSON.parse(body).error);
        assertStatus(await daemon.get(list(Number(fit) + 1, 2000)), 413);
        assertStatus(await daemon.get(list(Number(fit), 2000)), 200);
        assertStatus(await daemon.get(list(900, 50)), 200);
        assertStatus(await daemon.get(list(800, 2000).replace('dear', 'rivers')), 200);
    });

    it('are refused in surfaces and volumes of too many samples, whatever the ground', () => eachRow([
        ['/dry/region.f32?x=0&y=0&width=4097&height=4097&step=8&field=surface', 'exact samples 8', ''],
        ['/rivers/volume.f32?x=0&y=0&z=0&width=256&height=256&depth=256&step=4096', 'exact samples 4096',
            '(, or a step up to 64)?; tiles of "height" are filtered'],
    ], async ([target, samples, others]) => {
        const { status, body } = await daemon.get(target);
        assert.equal(status, 413);
        const [, side] = new RegExp(`^step: \\d+ x \\d+ ${samples} blocks apart take some \\d+ s; at most (\\d+) x \\1 fit${others}$`).exec(
            JSON.parse(body).error);
        assertStatus(await daemon.head(target.replace(/width=\d+&height=\d+/, `width=${side}&height=${side}`)), 200);
    }));

    it('are pre-rendered at every zoom', async () => {
        const { code, stdout, stderr } = await run(['render', '--config', FILE, '--world', 'rivers', '--layer', 'relief,height', '--zoom', '8-9',
            '--bbox', '0,0,16384,16384', '--list']);
        assert.equal(code, 0, stderr);
        assert.deepEqual(String(stdout).trim().split('\n').sort(), ['height/8/128/128', 'height/9/256/256', 'relief/8/128/128',
            'relief/9/256/256'].map((tile) => `rivers/${tile}.png`));
    });
});

describe('regions of exact numbers far apart in worlds with rivers', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ builtIn: true });
    const region = (field, ending, step, side) =>
        `/default/region.${ending}?x=0&y=0&width=${side}&height=${side}&step=${step}&field=${field}`;

    it('are refused if they would take minutes, with the size that fits and the layer that has them', () => eachRow(
        DEAR, async ([field, layer, ending, step]) => {
            const { status, body } = await daemon.get(region(field, ending, step, 257));
            const { error } = JSON.parse(body);
            assert.equal(status, 413, error);
            const [, side, tiles] = new RegExp('^step: 257 x 257 exact samples ' + step +
                ' blocks apart take some \\d+ s; at most (\\d+) x \\1 fit, or a step up to 64; tiles of "(.*)" are filtered$').exec(error);
            assert.equal(tiles, layer);
            assertStatus(await daemon.head(region(field, ending, step, 257)), 413);
            assertStatus(await daemon.head(region(field, ending, step, side)), 200);
            assertStatus(await daemon.get(`/default/${tiles}/4/8/8.png`), 200);
        }));

    it('are refused in volumes, too', async () => {
        const volume = (side) => `/default/volume.f32?x=0&y=0&z=0&width=${side}&height=${side}&depth=2&step=32768`;
        const { status, body } = await daemon.get(volume(129));
        assert.equal(status, 413);
        const [, side] = /^step: 129 x 129 exact samples 32768 .* at most (\d+) x \1 fit.*tiles of "height" are filtered$/.exec(
            JSON.parse(body).error);
        assertStatus(await daemon.head(volume(side)), 200);
    });

    it('are answered if they are few or near, and pictures always', () => eachRow([
        region('height', 'f32', 64, 257), region('height', 'f32', 256, 257), region('height', 'f32', 32768, 9),
        '/default/region.png?x=0&y=0&width=257&height=257&step=32768&layer=relief',
        '/default/volume.f32?x=0&y=0&z=0&width=4&height=4&depth=9&step=32768',
    ], async (target) => assertStatus(await daemon.head(target), 200)));
});
