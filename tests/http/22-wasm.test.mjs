// Heights computed in WebAssembly equal the daemon's bit for bit: in every sample world, for tiles and
// points, near and far, on blocks and between them.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { compile, loadTerrain, units } from '../../server/viewer/farlands.js';
import { HALVES, ROUNDED, THOUSANDS } from './boxes.mjs';
import { useDaemon } from './daemon.mjs';
import { LIMIT, decimal, floats, sameFloat } from './grid.mjs';
import { TIMEOUT } from './program.mjs';
import { assertStatus, eachRow } from './table.mjs';

const DIRECTORY = new URL('../../config/worlds/', import.meta.url);
const SAMPLES = readdirSync(DIRECTORY).filter((name) => name.endsWith('.yaml'))
    .map((name) => readFileSync(new URL(name, DIRECTORY), 'utf8').replace(/^worlds:$/m, ''));

/* Further worlds: seeds beyond a double, overflow and underflow, features that no sample uses. */
const OTHERS = `
  - { name: last-seed, seed: 18446744073709551615, native_zoom: 32, origin: [-0.0009765625, 7] }
  - { name: faint, noise: { persistence: 1e-300, octaves: 9 } }
  - { name: fading, noise: { persistence: 1e-9, octaves: 60, wavelength: 1099511627776, lacunarity: 1.5 } }
  - { name: joined, native_zoom: 0, wrap: true, noise: { wavelength: 256, octaves: 3, lacunarity: 4, hash: permutation } }
  - { name: hybrid, noise: { fractal: hybrid, offset: 0.7, basis: value, fade: cubic }, elevation: [[0, 0], [2, 4000]] }
  - { name: triangles, noise: { basis: simplex, fractal: billow, warp: { amplitude: 333.5, wavelength: 12345.5 } } }
  - { name: points, noise: { basis: cellular, fractal: ridged, gain: 1.5, warp: { amplitude: 70000000, wavelength: 500000000 } } }
  - name: climate
    fields:
      height: { multiply: [{ noise: { wavelength: 20000, octaves: 9 } }, 2000] }
      temperature: { multiply: [{ noise: { wavelength: 900, octaves: 3 } }, 60] }
      biome:
        biome:
          temperature: temperature
          height: height
          slope: { abs: { slope_x: { of: height, lattice: 16 } } }
          table:
            - { id: 255, name: 'sea "deep"', color: "#0000ff", height: [-.inf, 0] }
            - { id: 7, name: Wüste, color: "#ffff00", height: [0, .inf], temperature: [12, .inf] }
            - { id: 0, name: rock, color: "#808080", height: [10, .inf], slope: [0.3, .inf] }
            - { id: 12, name: grass, color: "#00ff00", height: [0, .inf], slope: [0, 0.2] }
  - name: rivers
    fields:
      ground: { add: [40, { multiply: [{ noise: { wavelength: 30000, octaves: 9 } }, 900] }] }
      valleys: { drain: { of: ground, spacing: 8192, levels: 3, from: 1.5, width: 4 } }
      height: { channel: { of: { erode: { of: { of: valleys, lattice: 4 }, wavelength: 256 } }, drain: valleys } }
      bank: { bank: valleys }
      water: { water: { of: height, drain: valleys } }
      river: { river: valleys }
`;
const CONFIG = `worlds:\n  - name: fractal\n${SAMPLES.join('\n')}${OTHERS}`;
const NAMES = [...CONFIG.matchAll(/^ {2}- (?:\{ )?name: ([\w-]+)/gm)].map(([, name]) => name);

const FILE = process.env.WASM ? pathToFileURL(process.env.WASM)
    : new URL('farlands.wasm', pathToFileURL(process.env.FARLANDS ?? `${process.cwd()}/build/farlands`));
const module = () => compile(readFileSync(FILE));

function assertSame(got, expected, where) {
    assert.equal(got.length, expected.length, where);
    const bits = [got, expected].map(({ buffer, byteOffset, length }) => new Uint32Array(buffer, byteOffset, length));
    const i = bits[0].findIndex((word, at) => word !== bits[1][at]);
    assert.ok(i < 0, `${where}: sample ${i} is ${got[i]}, the daemon has ${expected[i]}`);
}

/* Tiles of a world: [z, x, y]. */
function tilesOf({ native_zoom: native, origin, limits }) {
    const middle = (z, axis) => -units(origin[axis]) / (256n * (1n << BigInt(native - z + 10)));
    const near = (z) => [z, middle(z, 0), middle(z, 1) - 1n];
    const last = (z, axis) => ((LIMIT << 10n) - units(origin[axis])) / (256n * (1n << BigInt(native - z + 10))) - 1n;
    const first = (z, axis) => -(((LIMIT << 10n) + units(origin[axis])) / (256n * (1n << BigInt(native - z + 10))));
    return [
        near(native), near(limits.zoom[1]), near(native + 3), near(native - 6), near(native - 12), near(limits.zoom[0] + 2),
        [native, last(native, 0), first(native, 1)], [native - 4, first(native - 4, 0), 5n],
        [limits.zoom[1], -123456789n, last(limits.zoom[1], 1)],
    ];
}

describe('heights in WebAssembly', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG });
    const terrainOf = async (name) => loadTerrain(await module(), (await daemon.bytes(`/${name}.json`)).toString());

    it('come from a module that the daemon serves with its wrapper', async () => {
        const answer = await daemon.get('/viewer/farlands.wasm');
        assertStatus(answer, 200);
        assert.equal(answer.headers['content-type'], 'application/wasm');
        assert.equal(answer.headers['access-control-allow-origin'], '*');
        // As browsers load it, the module has 121 KiB; clang 19's is 1 % larger than clang 14's.
        const packed = await daemon.get('/viewer/farlands.wasm', { 'Accept-Encoding': 'gzip' });
        assert.ok(packed.body.length < 122 << 10, `${packed.body.length} bytes`);
        const response = fetch(`http://${daemon.authority}/viewer/farlands.wasm`);
        const world = await daemon.json('/fractal.json');
        const terrain = await loadTerrain(response, world);
        const { height } = await daemon.json('/fractal/height?x=12.5&y=-3');
        assert.ok(sameFloat(terrain.height(units('12.5'), units(-3)), height));
        assert.match((await daemon.bytes('/viewer/farlands.js')).toString(), /export async function loadTerrain/);
        const served = `http://${daemon.authority}/viewer/farlands.wasm`, bytes = readFileSync(FILE);
        await eachRow([served, new URL(served), fetch(served), Promise.resolve(served), FILE, FILE.href, Promise.resolve(FILE),
            FILE.href.replace('file:', 'FILE:'), bytes, new Uint8Array(bytes).buffer, Promise.resolve(bytes), compile(bytes)], async (wasm) => {
            const loaded = await loadTerrain(wasm, world);
            assert.ok(sameFloat(loaded.height(units('12.5'), units(-3)), height));
        });
        await assert.rejects(compile(new URL('none.wasm', FILE)), /ENOENT.*none\.wasm/);
        await assert.rejects(compile(`${served}x`), /wasmx: 404/);
        const page = await daemon.get('/');
        assert.match(page.headers['content-security-policy'], /script-src 'self' 'wasm-unsafe-eval';/);
    });

    for (const name of NAMES) {
        it(`equal the tiles of ${name}`, async () => {
            const world = await daemon.json(`/${name}.json`);
            const terrain = await terrainOf(name);
            /* Graphs take ten times as long: fewer rows and points. */
            const [rows, apart] = world.fields ? [24, 1327] : [104, 331];
            for (const [z, x, y] of tilesOf(world)) {
                const answer = await daemon.get(`/${name}/height/${z}/${x}/${y}.f32`);
                assertStatus(answer, 200);
                const expected = floats(answer.body);
                const [east, south] = answer.headers['farlands-origin'].split(' ').map(units);
                const step = units(answer.headers['farlands-step']);
                const where = `${name}/${z}/${x}/${y}`, bandLimit = z < world.native_zoom - 6;
                assert.equal(answer.headers['farlands-filtered'], bandLimit ? 'true' : undefined, where);
                assertSame(terrain.heights({ x: east, y: south, step, width: 256, height: rows, bandLimit }),
                    expected.subarray(0, 256 * rows), where);
                /* A part of another shape, and points. */
                const part = terrain.heights({ x: east + 7n * step, y: south + 100n * step, step, width: 17, height: 3, bandLimit });
                assertSame(part, Float32Array.from({ length: 51 }, (_, i) =>
                    expected[256 * (100 + Math.floor(i / 17)) + 7 + i % 17]), `part of ${where}`);
                for (let i = 0; i < 65536 && !bandLimit; i += apart) {
                    const height = terrain.height(east + BigInt(i % 256) * step, south + BigInt(i >> 8) * step);
                    assert.ok(sameFloat(height, expected[i]), `${where}: sample ${i} is ${height}, the daemon has ${expected[i]}`);
                }
            }
        });

        it(`equal /${name}/height`, async () => {
            const terrain = await terrainOf(name);
            const edge = LIMIT << 10n;
            const places = [[0n, 0n], [-1n, 1n], [1023n, -1025n], [edge, -edge], [-edge, edge], [edge - 1n, 1n - edge],
                [987654321987654321n, -123456789123456789n]];
            for (const [x, y] of places) {
                const { height, surface } = await daemon.json(`/${name}/height?x=${decimal(x)}&y=${decimal(y)}`);
                assert.ok(sameFloat(terrain.height(x, y), height), `${x}, ${y}: ${terrain.height(x, y)}, not ${height}`);
                assert.ok(sameFloat(terrain.height(units(decimal(x)), units(decimal(y))), height));
                assert.ok(sameFloat(terrain.surface(x, y), surface), `${x}, ${y}: ${terrain.surface(x, y)}, not ${surface}`);
            }
        });
    }

    const FIELDS = [['continents', []], ['rivers', []], ['climate', [{ id: 0, name: 'rock' }, { id: 7, name: 'Wüste' },
        { id: 12, name: 'grass' }, { id: 255, name: 'sea "deep"' }]]];

    it('and all fields equal regions', () => eachRow(FIELDS, async ([world, biomes]) => {
        const { fields: documented } = await daemon.json(`/${world}.json`);
        const terrain = await terrainOf(world);
        assert.deepEqual(terrain.biomes, biomes);
        assert.deepEqual(terrain.fields.map(({ name }) => name), Object.keys(documented));
        const [x, y, step] = [units(123456), units(-7890.5), units(16)];
        for (const { name, unit, range } of terrain.fields) {
            const region = `/${world}/region.f32?x=123456&y=-7890.5&step=16&width=33&height=17&field=${name}`;
            const expected = floats(await daemon.bytes(region));
            const got = terrain.values(name, { x, y, step, width: 33, height: 17 });
            assertSame(got, expected, name);
            assert.ok(sameFloat(terrain.value(name, x + 32n * step, y + 16n * step), expected.at(-1)), name);
            assert.ok(got.every((value) => value >= range[0] && value <= range[1]), name);
            assert.equal(typeof unit, 'string');
        }
        assert.throws(() => terrain.value('heigth', 0n, 0n), new RegExp(
            `^RangeError: field: got "heigth"; expected one of ${Object.keys(documented).join(', ')}$`));
    }));

    it('come with the water of places', async () => {
        const terrain = await terrainOf('rivers');
        const places = [[100, 200], [-7e5, 3e5], [0.5, -90000]];
        for (const [x, y] of [[100, 200], [-20000, 12345.5]]) {
            const { geometry, properties } = await daemon.json(`/rivers/downstream?x=${x}&y=${y}&limit=4000`);
            console.log(properties.kind.join(' '));
            places.push(...geometry.coordinates.filter((_, i) => properties.kind[i] !== 'land' && i % 5 === 0).map(([east, south]) => [east, south]));
        }
        const kinds = new Set();
        for (const [x, y] of places) {
            const { water, depth, river, width, kind } = await daemon.json(`/rivers/height?x=${x}&y=${y}`);
            const got = terrain.water(units(x), units(y));
            assert.equal(got.kind, kind);
            for (const [name, expected] of Object.entries({ water, depth, river, width }))
                assert.ok(expected === null ? got[name] === null : sameFloat(got[name], expected), `${name} at ${x}, ${y}: ${got[name]}, not ${expected}`);
            kinds.add(kind);
        }
        assert.ok(kinds.has('river') && kinds.has(null), [...kinds].join());
        assert.equal(terrain.water(2n ** 64n, 0n), null);
        assert.equal((await terrainOf('continents')).water(0n, 0n), null);
        assert.throws(() => terrain.water(0n, 1), /^TypeError: y: /);
    });

    it('come with courses of water', async () => {
        const terrain = await terrainOf('rivers');
        for (const [x, y] of [[100, 200], [-20000, 12345.5], [-7e8, 3e9]]) {
            const { geometry: { coordinates: line }, properties } = await daemon.json(`/rivers/downstream?x=${x}&y=${y}&limit=4000`);
            const points = [...terrain.downstream(units(x), units(y))];
            if (points.length === 1)        // a line of GeoJSON has two
                points.push(points[0]);
            assert.deepEqual(points.map((point) => point.kind), properties.kind);
            assert.equal(points.at(-1).kind, properties.end);
            for (const [i, point] of points.entries()) {
                assert.deepEqual([point.x, point.y], [units(line[i][0]), units(line[i][1])]);
                for (const name of ['level', 'bed', 'width', 'order'])
                    assert.ok(sameFloat(point[name], properties[name][i]), `${name} of point ${i}: ${point[name]}, not ${properties[name][i]}`);
            }
        }
        /* Several at once, each as long as it is read. */
        const [one, other] = [terrain.downstream(units(100), units(200)), terrain.downstream(units(-20000), units(12345.5))];
        const mixed = Array.from({ length: 70 }, () => [one.next().value, other.next().value]);
        for (const [i, [x, y]] of [[100, 200], [-20000, 12345.5]].entries()) {
            const alone = [...terrain.downstream(units(x), units(y))].slice(0, 70);
            assert.deepEqual(mixed.map((pair) => pair[i]).slice(0, alone.length), alone);
        }
        assert.throws(() => terrain.downstream(2n ** 64n, 0n), /^RangeError: downstream: no course/);
        const dry = await terrainOf('continents');
        assert.throws(() => dry.downstream(0n, 0n), /^RangeError: downstream: .* no rivers in it/);
        assert.throws(() => terrain.downstream(0, 0n), /^TypeError: x: /);
    });

    it('have derivatives', async () => {
        const terrain = await terrainOf('continents');
        const grid = { x: units(-4000), y: units(2500), step: units(0.25), width: 5, height: 5 };
        const { values, dx, dy } = terrain.gradients('base', grid);
        assertSame(values, terrain.values('base', grid), 'base');
        const close = (slope, gap, places) => assert.ok(Math.abs(slope - gap) < 0.01 * Math.abs(gap) + 0.01, `${places}: ${slope}, ${gap}`);
        close(dx[12], (values[14] - values[10]) / 1, 'x');
        close(dy[12], (values[22] - values[2]) / 1, 'y');
        assert.throws(() => terrain.gradients('base', { ...grid, width: 2.5 }), /^RangeError: width: got 2.5/);
    });

    it('reject arguments that are not integers, by name', async () => {
        const terrain = await terrainOf('fractal');
        const grid = { x: 0n, y: 0n, width: 3, height: 3 }, box = { ...grid, z: 0n, depth: 3 };
        const sizes = [1.5, 2.999, 0.5, 0, -1, -0.5, NaN, Infinity, -Infinity, 2 ** 31, 2 ** 32 + 3, 2 ** 53, '3', 3n, null, undefined,
            true, [3], { valueOf: () => 3 }, Symbol('3')];
        for (const [compute, whole, names] of [[terrain.heights, grid, ['width', 'height']],
            [terrain.densities, box, ['width', 'height', 'depth']]]) {
            for (const name of names)
                for (const size of sizes)
                    assert.throws(() => compute({ ...whole, [name]: size }),
                        new RegExp(`^RangeError: ${name}: got .*; expected an integer from 1 `), `${name}: ${String(size)}`);
            for (const step of [0n, -1n, -(2n ** 64n)])
                assert.throws(() => compute({ ...whole, step }), /^RangeError: step: got -?\d+; expected at least 1/);
            for (const name of ['x', 'y', 'step'])
                for (const place of [0.5, 1, '1', true, null, NaN])
                    assert.throws(() => compute({ ...whole, [name]: place }), new RegExp(`^TypeError: ${name}: .*BigInt`));
            assert.throws(() => compute({ ...whole, width: 2 ** 15, height: 2 ** 15 + 1 }), /^RangeError: .*memory/);
            assert.equal(compute(whole).length, whole.depth ? 27 : 9);
        }
        assert.throws(() => terrain.densities({ ...box, z: '1' }), /^TypeError: z: /);
        for (const place of [0.5, '1', undefined]) {
            assert.throws(() => terrain.height(0n, place), /^TypeError: y: /);
            assert.throws(() => terrain.density(0n, 0n, place), /^TypeError: z: /);
        }
        for (const bandLimit of [0, '', null, 1, 'yes', {}])
            assert.deepEqual(terrain.heights({ ...grid, bandLimit }), terrain.heights({ ...grid, bandLimit: Boolean(bandLimit) }));
    });

    it('end at the coordinate limit', async () => {
        const terrain = await terrainOf('fractal');
        const beyond = 2n ** 62n + 2n ** 52n + 1n;
        for (const place of [beyond, -beyond, 2n ** 64n, -(2n ** 80n)]) {
            assert.ok(Number.isNaN(terrain.height(place, 0n)) && Number.isNaN(terrain.height(0n, place)));
            assert.ok(Number.isNaN(terrain.surface(place, 0n)) && Number.isNaN(terrain.density(0n, 0n, place)));
        }
        assert.throws(() => terrain.height(0.5, 0n), TypeError);
        assert.throws(() => terrain.heights({ x: 2n ** 64n, y: 0n, width: 1, height: 1 }), /outside the world/);
        assert.throws(() => terrain.heights({ x: 0n, y: 0n, step: 2n ** 64n + 1n, width: 1, height: 1 }), RangeError);
        const box = { x: 0n, y: 0n, z: 0n, width: 1, height: 1, depth: 1 };
        assert.throws(() => terrain.densities({ ...box, z: beyond }), /outside the world/);
        assert.throws(() => terrain.densities({ ...box, depth: 0 }), RangeError);
        assert.throws(() => terrain.densities({ ...box, width: 2 ** 31 - 1, height: 2, depth: 2 ** 30 }), /memory/);
        assert.throws(() => terrain.heights({ x: beyond, y: 0n, width: 1, height: 1 }), /outside the world/);
        assert.throws(() => terrain.heights({ x: 0n, y: 0n, step: 0n, width: 1, height: 1 }), RangeError);
        assert.throws(() => terrain.heights({ x: 0n, y: 0n, width: 0, height: 1 }), RangeError);
        assert.throws(() => terrain.heights({ x: 0n, y: 0n, width: 2 ** 16, height: 2 ** 15 }), /memory/);
        /* The module still works, and later calls do not change earlier results. */
        const small = terrain.heights({ x: 5n, y: 6n, width: 2, height: 2 });
        const kept = [...small];
        for (let i = 1; i < 200; i++)
            assert.ok(sameFloat(terrain.heights({ x: 5n, y: 6n, width: i, height: 10 })[0], small[0]));
        assert.deepEqual([...small], kept);
        assert.ok(sameFloat(terrain.height(5n, 6n), small[0]));
    });

    for (const name of NAMES) {
        it(`come with densities that equal the volumes of ${name}`, async () => {
            const terrain = await terrainOf(name);
            const size = { width: 19, height: 17, depth: 23 };
            const query = Object.entries(size).map(([key, value]) => `${key}=${value}`).join('&');
            for (const [x, y, step] of [[0n, -5n, 1024n], [-333333333n, 77n << 40n, 16n], [12345n << 20n, -1n, 1n << 17n]]) {
                const z = units(Math.floor(terrain.height(x, y))) - 11n * step;
                const box = { x, y, z, step, ...size };
                const got = terrain.densities(box);
                const place = ['x', 'y', 'z', 'step'].map((key) => `${key}=${decimal(box[key])}`).join('&');
                assertSame(got, floats(await daemon.bytes(`/${name}/volume.f32?${place}&${query}`)), `${name}, ${place}`);
                for (let i = 0; i < got.length; i += 97) {
                    const [east, south, up] = [i % 19, Math.floor(i / 19) % 17, Math.floor(i / 19 / 17)].map(BigInt);
                    assert.ok(sameFloat(terrain.density(x + east * step, y + south * step, z + up * step), got[i]));
                }
            }
        });
    }

    it('can be band-limited for pictures', async () => {
        const terrain = await terrainOf('fractal');
        const grid = { x: 0n, y: 0n, step: 2n ** 26n, width: 64, height: 64 };
        assert.notDeepEqual(terrain.heights({ ...grid, bandLimit: true }), terrain.heights(grid));
    });

    it('take defaults for what the document lacks', async () => {
        const { generator, noise } = await daemon.json('/fractal.json');
        const compiled = await module();
        const { height } = await daemon.json('/fractal/height?x=1&y=2');
        const whole = await daemon.json('/fractal.json');
        const shorter = [{ generator, noise: {} }, { generator, noise: { warp: {} }, volume: {} }, { generator, noise, volume: { caverns: {} } }];
        for (const object of [whole, whole.noise, whole.noise.warp, whole.volume, whole.volume.caverns, whole.volume.caverns])
            for (const key of Object.keys(object).filter((one) => one !== 'generator' && one !== 'noise')) {
                const { [key]: value, ...rest } = object;
                delete object[key];
                shorter.push(structuredClone(whole));
                Object.assign(object, { ...rest, [key]: value });
            }
        assert.ok(shorter.length > 40);
        for (const world of shorter) {
            const terrain = await loadTerrain(compiled, world);
            assert.ok(sameFloat(terrain.height(units(1), units(2)), height), JSON.stringify(world));
        }
        const ridges = { ...whole, noise: { ...noise, octaves: 3 } };
        delete ridges.volume;
        const terrain = await loadTerrain(compiled, ridges);
        assert.ok(!sameFloat(terrain.height(units(1), units(2)), height));
    });

    it('need a document of this generator, without unknown keys', async () => {
        const whole = await daemon.json('/fractal.json');
        const compiled = await module();
        const refused = (change, pattern) => {
            const world = structuredClone(whole);
            change(world);
            return assert.rejects(loadTerrain(compiled, world), pattern);
        };
        await refused((world) => { world.generator = 4; }, /^RangeError: generator: document was made by generator 4; expected 2 or 3/);
        await refused((world) => { delete world.generator; }, /generator: missing; expected the complete document/);
        await refused((world) => { delete world.noise; }, /noise: missing; expected the complete document/);
        await refused((world) => { world.noise = 1; }, /noise: not a mapping; expected the keys basis, /);
        await refused((world) => { world.noise.warp = []; }, /noise\.warp: not a mapping; expected the keys amplitude, wavelength/);
        await refused((world) => { world.elevation = []; }, /elevation: got a list of 0; expected 2 to 32/);
        await refused((world) => { world.elevation = [[0, 0]]; }, /elevation: got a list of 1; expected 2 to 32/);
        await refused((world) => { world.elevation = [[0, 0], ['a', 2]]; }, /elevation\[1\]/);
        await refused((world) => { world.elevation = Array.from({ length: 33 }, (_, i) => [i, i]); }, /elevation: got a list of 33/);
        await refused((world) => { world.noise.erosion = 1; }, /noise\.erosion: unknown/);
        await refused((world) => { world.noise.warp.twist = 1; }, /noise\.warp\.twist: unknown/);
        await refused((world) => { world.fields = {}; }, /fields: unknown to generator 2; expected generator 3/);
        await refused((world) => { world['x'.repeat(5000)] = 1; }, /x: unknown key, which may change the heights/);
        await refused((world) => { world.noise.octaves = 65; }, /noise\.octaves: got "65"; expected a whole number from 1 to 64/);
        await refused((world) => { world.noise.octaves = 40; }, /octaves: invalid value; too many: each octave needs/);
        await refused((world) => { world.noise.basis = 'marble'; }, /noise\.basis: got "marble"; expected perlin, simplex, cellular or value/);
        await refused((world) => { world.noise.persistence = 'e'; }, /noise\.persistence: got "e"; expected a number above 0/);
        await refused((world) => { world.seed = ' '; }, /seed: got " "; expected a whole number/);
        await refused((world) => { world.seed = 'x'.repeat(1 << 20); }, /too long; expected at most 1 MiB/);
        await refused((world) => { world.noise.fade = null; }, /noise\.fade: got "null"; expected linear, cubic or quintic/);
        await assert.rejects(loadTerrain(compiled, '{'), SyntaxError);
        await assert.rejects(loadTerrain(compiled, { error: 'no world' }), /generator: missing/);
        await assert.rejects(loadTerrain(compiled, (await daemon.json('/worlds.json')).worlds[0]), /url: unknown key/);
        /* Keys that do not affect the terrain may have any value. */
        const loaded = await loadTerrain(compiled, { ...whole, layers: null, urls: { later: 1 }, limits: [] });
        const { height } = await daemon.json('/fractal/height?x=1&y=2');
        assert.ok(sameFloat(loaded.height(units(1), units(2)), height));
    });
});

describe('units of blocks', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon();

    it('are exact', () => {
        const rows = [['0', 0n], ['12.5', 12800n], ['-0.0009765625', -1n], ['4503599627370496', 2n ** 62n],
            ['-4503599627370495.9990234375', 1n - 2n ** 62n], ['1.50000000000000', 1536n], [3, 3072n], [-0.25, -256n],
            [2 ** 52, 2n ** 62n], [-(2 ** 41) - 0.0009765625, -(2n ** 51n) - 1n], [-0, 0n], [7n, 7168n]];
        for (const [blocks, expected] of rows)
            assert.equal(units(blocks), expected, String(blocks));
    });

    it('are those of the daemon for every spelling', () => eachRow(
        [...THOUSANDS, ...HALVES, ...ROUNDED.map(([text]) => text), '-0', '0e9999', '-0.00048828125000000000001'], async (text) => {
            const body = String(await daemon.bytes(`/default/height?x=${text}&y=0`));
            assert.equal(units(text), units(/"x":([^,]*)/.exec(body)[1]));
        }));

    it('are the nearest', () => {
        const rows = [['0.1', 102n], ['-0.1', -102n], ['0.00048828125', 1n], ['-0.00048828125', 0n], ['-0.00048828126', -1n],
            ['1e-9999', 0n], [0.1, 102n], [-0.00048828125, 0n], [0.00048828125, 1n], [0.00048828125 * (1 - 2 ** -53), 0n],
            [1e-7, 0n], [-1e-30, 0n], [2 ** 43 + 0.0625, 2n ** 53n + 64n], [2199023255552.00048828125, 2n ** 51n + 1n],
            [-2199023255552.00048828125, -(2n ** 51n)], [1e300, BigInt(1e300) << 10n]];
        for (const [blocks, expected] of rows)
            assert.equal(units(blocks), expected, String(blocks));
    });

    it('are rejected if malformed', () => {
        for (const blocks of ['', ' 1', '0x10', '.', '-', '--1', '1,5', '1e', 'e3', '1e99999', '1.5.5', NaN, Infinity, undefined])
            assert.throws(() => units(blocks), RangeError, String(blocks));
    });
});
