// Climate and biomes: the layer biome, its legend, and the values at places.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { blocks, target } from './boxes.mjs';
import { useDaemon } from './daemon.mjs';
import { floats } from './grid.mjs';
import { decodePng } from './png.mjs';
import { TIMEOUT, run, scratchFile } from './program.mjs';
import { assertError, assertStatus, eachRow } from './table.mjs';

const FIELDS = `    fields:
      height: { multiply: [{ noise: { wavelength: 1024, octaves: 9 } }, 900] }
      temperature: { multiply: [{ noise: { wavelength: 2048, octaves: 3 } }, 40], unit: degrees C }
      humidity: { clamp: { of: { add: [{ noise: { wavelength: 1500, octaves: 4 } }, 0.5] }, from: 0, to: 1 } }
      biome:
        biome:
          temperature: temperature
          humidity: humidity
          height: height
          table:
            - { id: 0, name: sea, color: "#2a5b8c", height: [-.inf, 0] }
            - { id: 7, name: snow, color: "#ffffff", height: [0, .inf], temperature: [-.inf, -2] }
            - { id: 200, name: forêt, color: "#3c7a3c", height: [0, .inf], humidity: [0.5, 1] }
            - { id: 4, name: 'steppe "dry"', color: "#b8b070", height: [0, .inf], humidity: [0, 0.5] }
`;
const CONFIG = `worlds:
  - name: bio
    seed: 5
    seeds: any
${FIELDS}
  - name: few
    layers: [relief]
${FIELDS}
  - name: bare
    fields:
      height: { multiply: [{ noise: { wavelength: 1024, octaves: 9 } }, 900] }
  - name: plain
    noise: { octaves: 5 }
`;
const BIOMES = [
    { id: 0, name: 'sea', color: '#2a5b8c' }, { id: 7, name: 'snow', color: '#ffffff' },
    { id: 200, name: 'forêt', color: '#3c7a3c' }, { id: 4, name: 'steppe "dry"', color: '#b8b070' },
];

describe('the layer biome', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG });
    const picture = async (url) => decodePng(await daemon.bytes(url));
    const indices = async (url) => (await picture(url)).indices;

    it('has the ids as indices, those of regions and places', () => eachRow([
        ['bio', 32768, 32768], ['bio', 32765, 32771], ['bio:77', -1, 40000],
    ], async ([world, x, y]) => {
        const ids = await indices(`/${world}/biome/16/${x}/${y}.png`);
        const at = [blocks(256 * (x - 32768)), blocks(256 * (y - 32768))];
        const bytes = await daemon.bytes(`${target(at, [256, 256], { world, form: 'u8' })}&field=biome`);
        assert.deepEqual(Buffer.from(ids), bytes);
        const values = floats(await daemon.bytes(`${target(at, [256, 256], { world })}&field=biome`));
        assert.deepEqual(Uint8Array.from(values), ids);
        assert.deepEqual([...new Set(values)].filter((id) => !BIOMES.some((biome) => biome.id === id)), []);
    }));

    it('shows several biomes', async () => {
        const ids = new Set(await indices('/bio/biome/13/4096/4096.png'));
        assert.deepEqual([...ids].sort((a, b) => a - b), [0, 4, 7, 200]);
    });

    it('has a palette of the colors of the table; other ids are black', () => eachRow([
        '/bio/biome/13/4096/4096.png', '/bio/biome/13/4096/4096@2x.png?border=1', '/bio/region.png?x=0&y=0&width=9&height=9&layer=biome',
        '/bio/region.png?x=0&y=0&width=1500&height=700&layer=biome',
    ], async (url) => {
        const { palette, depth, color } = await picture(url);
        const colors = Array.from({ length: palette.length / 3 }, (_, id) => `#${palette.subarray(3 * id, 3 * id + 3).toString('hex')}`);
        assert.deepEqual([depth, color, colors.length], [8, 'palette', 201]);
        assert.deepEqual(colors, colors.map((_, id) => BIOMES.find((biome) => biome.id === id)?.color ?? '#000000'));
    }));

    it('has no seams, with borders and @2x', () => eachRow([[16, 32768, 32767], [11, 1024, 1024], [20, -3, 7]], async ([z, x, y]) => {
        const bordered = await indices(`/bio/biome/${z}/${x}/${y}.png?border=1`);
        const plain = await indices(`/bio/biome/${z}/${x}/${y}.png`);
        const east = await indices(`/bio/biome/${z}/${x + 1}/${y}.png`);
        const twice = await indices(`/bio/biome/${z}/${x}/${y}@2x.png`);
        const quarter = await indices(`/bio/biome/${z + 1}/${2 * x + 1}/${2 * y}.png`);
        for (let j = 0; j < 256; j++) {
            assert.deepEqual(bordered.subarray(257 * j, 257 * j + 256), plain.subarray(256 * j, 256 * j + 256));
            assert.equal(bordered[257 * j + 256], east[256 * j]);
            assert.deepEqual(twice.subarray(512 * j + 256, 512 * j + 512), quarter.subarray(256 * j, 256 * j + 256));
        }
    }));

    it('is the same in regions, also in several bands', () => eachRow([[12, 2048, 2048], [16, 32767, 32768]], async ([z, x, y]) => {
        const tile = await indices(`/bio/biome/${z}/${x}/${y}.png`);
        const step = 2n ** BigInt(26 - z), side = 256n * step;
        const at = [BigInt(x - 2 ** (z - 1)) * side - 600n * step, BigInt(y - 2 ** (z - 1)) * side - 300n * step];
        const region = await indices(`${target(at, [1100, 700], { step, world: 'bio', form: 'png' })}&layer=biome`);
        for (let j = 0; j < 256; j++)
            assert.deepEqual(region.subarray(1100 * (300 + j) + 600, 1100 * (300 + j) + 856), tile.subarray(256 * j, 256 * j + 256));
    }));

    it('is listed with its legend', async () => {
        const [world, tilejson, { worlds }] = await Promise.all(['/bio.json', '/bio/biome.json', '/worlds.json'].map((url) => daemon.json(url)));
        assert.deepEqual([world.biomes, tilejson.farlands.biomes], [BIOMES, BIOMES]);
        assert.ok(world.layers.some(({ name, extensions }) => name === 'biome' && extensions.join() === 'png'));
        assert.ok(worlds[0].layers.some(({ name }) => name === 'biome'));
        assert.deepEqual(world.layers.find(({ name }) => name === 'field.biome').range, [0, 255]);
        assert.match((await daemon.bytes('/bio/wmts.xml')).toString(), /<ows:Identifier>bio:biome</);
        assert.match((await daemon.bytes('/bio/biome.xml')).toString(), /<BandsCount>1<.*<DataType>Byte</);
        assert.equal((await daemon.json('/bio/relief.json')).farlands.biomes, undefined);
    });

    it('is refused by worlds without biomes, which do not list it', async () => {
        await eachRow(['bare', 'plain'].flatMap((world) => [`/${world}/biome/3/4/4.png`, `/${world}/biome.json`, `/${world}/biome.xml`,
            `/${world}/region.png?x=0&y=0&width=3&height=3&layer=biome`]), async (url) => {
            assertError(await daemon.get(url), 404, /layer: this world has no biomes/);
        });
        assertError(await daemon.get('/few/biome/3/4/4.png'), 404, /does not serve "biome"/);
        assertError(await daemon.get('/bio/biome/3/4/4.f32'), 404, /extension: layer biome has no "f32"/);
        for (const name of ['bare', 'plain']) {
            const world = await daemon.json(`/${name}.json`);
            assert.equal(world.biomes, undefined);
            assert.ok(!world.layers.some((layer) => layer.name === 'biome'));
        }
    });

    it('is refused in the list of layers of a world without biomes', async () => {
        const file = scratchFile('farlands.yaml', 'worlds:\n  - name: a\n    layers: [relief, biome]\n    noise: { octaves: 5 }\n');
        const { code, stderr } = await run(['check-config', file]);
        assert.notEqual(code, 0);
        assert.match(stderr.toString(), /:3: worlds\[0\]\.layers\[1\]: world "a" has no biomes to show; expected a field "biome"/);
    });

    it('is cached by its fingerprint', async () => {
        const { headers } = await daemon.get('/bio/biome/6/31/31.png');
        assertStatus(await daemon.get('/bio/biome/6/31/31.png', { 'If-None-Match': headers.etag }), 304);
    });
});

describe('the climate of a place', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG });
    const nameOf = (value) => BIOMES.find(({ id }) => id === value).name;
    const PLACES = [[0, 0], [12.5, -3], [-700, 900], [5000.25, 123], [1e12, -7], [-4000, -4000]];

    /* The fields of a place, from regions of one sample. */
    const fieldsAt = async ([x, y], world) => Object.fromEntries(await Promise.all(['height', 'biome', 'temperature', 'humidity'].map(async (field) =>
        [field, floats(await daemon.bytes(`/${world}/region.f32?x=${x}&y=${y}&width=1&height=1&field=${field}`))[0]])));

    it('is told with its height, as regions have it', () => eachRow(['bio', 'bio:9', 'few'].flatMap((world) => PLACES.map((at) => [world, at])),
        async ([world, [x, y]]) => {
            const { height, biome, temperature, humidity } = await fieldsAt([x, y], world);
            const place = await daemon.json(`/${world}/height?x=${x}&y=${y}`);
            assert.deepEqual(Object.keys(place), ['x', 'y', 'height', 'surface', 'slope', 'normal', 'biome', 'temperature', 'humidity']);
            assert.deepEqual(place.biome, { id: biome, name: nameOf(biome) });
            assert.deepEqual([place.height, place.temperature, place.humidity].map(Math.fround), [height, temperature, humidity]);
        }));

    it('is told of lists', async () => {
        const list = await daemon.json(`/bio/heights?at=${PLACES.map((at) => at.join()).join(';')}&fields=humidity,height`);
        assert.deepEqual(Object.keys(list), ['heights', 'at', 'biome', 'temperature', 'humidity', 'fields']);
        const each = await Promise.all(PLACES.map(([x, y]) => daemon.json(`/bio/height?x=${x}&y=${y}`)));
        assert.deepEqual(list.heights, each.map(({ height }) => height));
        assert.deepEqual(list.biome, each.map(({ biome }) => biome.id));
        assert.deepEqual(list.temperature, each.map(({ temperature }) => temperature));
        assert.deepEqual([list.humidity, list.fields.humidity], [each, each].map((all) => all.map(({ humidity }) => humidity)));
        assert.deepEqual(list.fields.height, list.heights);
    });

    it('is told of spawn points', async () => {
        const spawn = await daemon.json('/bio/spawn?x=300&y=-200&min=20');
        const { distance, from, ...place } = spawn;
        assert.ok(distance >= 0 && from.join() === '300,-200');
        assert.deepEqual(place, await daemon.json(`/bio/height?x=${spawn.x}&y=${spawn.y}`));
        assert.ok(place.biome.name);
    });

    it('is left out by worlds without biomes', () => eachRow(['bare', 'plain'], async (world) => {
        assert.deepEqual(Object.keys(await daemon.json(`/${world}/height?x=1&y=2&fields=height`)), ['x', 'y', 'height', 'surface', 'slope', 'normal', 'fields']);
        assert.deepEqual(Object.keys(await daemon.json(`/${world}/heights?at=1,2;3,4`)), ['heights', 'at']);
    }));
});
