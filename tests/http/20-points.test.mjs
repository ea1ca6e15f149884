// Endpoints for single points: /height, /heights and /spawn.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ROUNDED } from './boxes.mjs';
import { useDaemon } from './daemon.mjs';
import { LIMIT, NATIVE_ZOOM, decimal, floats, sameFloat } from './grid.mjs';
import { assertError, assertStatus, eachRow } from './table.mjs';
import { BUILT_IN, TIMEOUT, eventually } from './program.mjs';
import { processorTimeOf } from './streams.mjs';
import { request } from './wire.mjs';

const UNIT = 1024n;

/* In 1/1024 blocks. */
const PLACES = [
    [0n, 0n], [12n * UNIT + 512n, -3n * UNIT], [-1n, 1n], [123456789n * UNIT, -987654321n * UNIT],
    [(LIMIT - 2n) * UNIT + 1n, (1n - LIMIT) * UNIT + 7n],
];

describe('the ground at a place', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ builtIn: true });
    const ground = (x, y) => daemon.json(`/default/height?x=${decimal(x)}&y=${decimal(y)}`);

    // Exact, after the JSON numbers are converted back to floats.
    it('has the slope and normal of the heights one block away', () => eachRow(
        PLACES, async ([x, y]) => {
            const { slope, normal } = await ground(x, y);
            const height = async (dx, dy) =>
                Math.fround((await ground(x + dx * UNIT, y + dy * UNIT)).height);
            const east = (await height(1n, 0n) - await height(-1n, 0n)) / 2;
            const south = (await height(0n, 1n) - await height(0n, -1n)) / 2;
            assert.equal(Math.fround(slope), Math.fround(Math.sqrt(east * east + south * south)));
            const length = Math.sqrt(east * east + south * south + 1);
            assert.equal(normal.length, 3);
            [-east / length, -south / length, 1 / length].forEach((expected, axis) =>
                assert.ok(Math.abs(normal[axis] - expected) <= 1e-7, `normal[${axis}]`));
        }));

    it('is defined at the coordinate limit', () => eachRow(
        [[1n, 1n], [-1n, 1n], [1n, -1n], [-1n, -1n]], async ([east, south]) => {
            const answer = await daemon.get(
                `/default/height?x=${east * LIMIT}&y=${south * LIMIT}`);
            assertStatus(answer, 200);
            const { slope, normal } = JSON.parse(answer.body);
            assert.ok(slope > 0 && slope < 10, `slope ${slope}`);
            assert.ok(Math.abs(Math.hypot(...normal) - 1) < 1e-6, `normal ${normal}`);
        }));
});

describe('the surface', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ builtIn: true });

    /* Densities at whole altitudes: the highest that is above 0, and the one above it. */
    async function surfaceOf(x, y, height) {
        const depth = 129, low = Math.floor(height) - 64;
        const density = floats(await daemon.bytes(
            `/default/volume.f32?x=${x}&y=${y}&z=${low}&width=1&height=1&depth=${depth}`));
        const k = density.findLastIndex === undefined
            ? depth - 1 - [...density].reverse().findIndex((one) => one > 0)
            : density.findLastIndex((one) => one > 0);
        return Math.fround(low + k + density[k] / (density[k] - density[k + 1]));
    }

    it('is where the densities of a volume pass 0, from above', async () => {
        // In mountains, which have overhangs.
        const places = Array.from({ length: 300 }, (_, i) => [i * 9.25 - 599999.5, i * 101 % 977 + i / 4 + 800000]);
        const { heights, fields } = await daemon.json(
            `/default/heights?at=${places.join(';')}&fields=surface,height`);
        let moved = 0;
        for (const [i, [x, y]] of places.entries()) {
            assert.ok(sameFloat(fields.surface[i], await surfaceOf(x, y, heights[i])), `${x}, ${y}`);
            moved += fields.surface[i] !== heights[i];
        }
        assert.ok(moved > 3 && moved < places.length, `${moved} surfaces are not the height`);
        assert.deepEqual(fields.height, heights);
    });

    it('is part of /height, and a field that is asked for once', async () => {
        const at = 'x=-3&y=4.5';
        const { surface, fields } = await daemon.json(`/default/height?${at}&fields=surface`);
        assert.equal(surface, fields.surface);
        assertError(await daemon.get(`/default/height?${at}&fields=surface,surface`), 400, /"surface" is given twice/);
    });
});

/* Assert the headers and conditional requests that all computed responses share. */
async function assertComputedResponse(daemon, target) {
    const { fingerprint } = await daemon.json('/default.json');
    const first = await daemon.get(target);
    assertStatus(first, 200);
    assert.match(first.headers['content-type'], /^application\/json\b/);
    assert.equal(first.headers['cache-control'], 'public, max-age=3600');
    assert.equal(first.headers['access-control-allow-origin'], '*');
    assert.equal(first.headers['farlands-fingerprint'], fingerprint);
    assert.match(first.headers.etag, /^"[^"]+"$/);
    const again = await daemon.get(target);
    assert.deepEqual(again.body, first.body);
    assert.equal(again.headers.etag, first.headers.etag);
    const had = await daemon.get(target, { 'If-None-Match': first.headers.etag });
    assertStatus(had, 304);
    assert.equal(had.body.length, 0);
    assert.equal(had.headers.etag, first.headers.etag);
    const head = await daemon.head(target);
    assertStatus(head, 200);
    assert.equal(head.body.length, 0);
    assert.equal(head.headers['content-length'], String(first.body.length));
    assert.equal(head.headers.etag, first.headers.etag);
}

describe('/heights', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ builtIn: true });
    const list = (places) => places.map(([x, y]) => `${decimal(x)},${decimal(y)}`).join(';');

    it('returns the heights of /height in the requested order', async () => {
        const places = [...PLACES, PLACES[0], [LIMIT * UNIT, -LIMIT * UNIT]];
        const { heights } = await daemon.json(`/default/heights?at=${list(places)}`);
        assert.equal(heights.length, places.length);
        for (const [i, [x, y]] of places.entries()) {
            const { height } = await daemon.json(`/default/height?x=${decimal(x)}&y=${decimal(y)}`);
            assert.equal(heights[i], height, `place ${i}`);
        }
        const one = await daemon.json('/default/heights?at=0,0');
        assert.deepEqual([one.heights, one.at], [heights.slice(0, 1), [[0, 0]]]);
    });

    it('accepts as many points as fit into 8 KiB of URL', async () => {
        const samples = floats(await daemon.bytes('/default/height/16/32768/32768.f32'));
        const places = [];
        let target = '/default/heights?at=0,0';
        for (let i = 1; target.length < 8180; i++) {
            places.push([i % 10, Math.trunc(i / 10) % 10]);
            target += `;${places.at(-1)}`;
        }
        const { heights } = await daemon.json(target);
        assert.equal(heights.length, places.length + 1);
        assert.ok(heights.length > 2000, `${heights.length} heights`);
        places.forEach(([x, y], i) =>
            assert.ok(sameFloat(heights[i + 1], samples[256 * y + x]), `place ${i + 1}`));
        assertError(await daemon.get(`${target}${';0,0'.repeat(40)}`), 414);
    });

    it('rounds places to 1/1024 block, and returns those', async () => {
        const [rough, exact] = await Promise.all([0, 1].map((which) =>
            daemon.get(`/default/heights?at=${ROUNDED.map((row) => `${row[which]},1e3`).join(';')}`)));
        assertStatus(rough, 200);
        assert.equal(rough.body.toString(), exact.body.toString());
        assert.equal(rough.headers.etag, exact.headers.etag);
        assert.equal(/"at":(\[\[[^"]*\]\])/.exec(rough.body.toString())[1], `[${ROUNDED.map(([, place]) => `[${place},1000]`)}]`);
        const { heights } = JSON.parse(rough.body);
        await eachRow(ROUNDED.map(([place], i) => [place, heights[i]]), async ([place, height]) =>
            assert.equal((await daemon.json(`/default/height?x=${place}&y=1000`)).height, height));
    });

    it('has a validator', () => assertComputedResponse(daemon, '/default/heights?at=1,2;3,4.5'));

    it('refuses an empty place, and says which one', () => eachRow([
        ['', 1], [';', 1], [';;', 1], [';1,2', 1], ['1,2;', 2], ['1,2;;3,4', 2], ['1,2;3,4;', 3],
        ['1,2;3,4;;', 3], [`${'0,0;'.repeat(1999)}`, 2000], [`${'0,0;'.repeat(999)};${'0,0;'.repeat(99)}0,0`, 1000],
    ], async ([places, number]) => {
        for (const target of [`at=${places}`, `at=${places}&fields=height`, `at=${places}&`]) {
            const answer = await daemon.get(`/default/heights?${target}`);
            assertError(answer, 400);
            assert.equal(JSON.parse(answer.body).error, `at: place ${number}: empty`);
        }
    }));

    it('names the invalid point', () => eachRow([
        ['', /\bat\b/], ['?', /\bat\b/], ['?at', /^at: place 1: empty$/], ['?x=1&y=1', /\bat\b/],
        ['?at=1,1&at=2,2', /\bat\b/], ['?at=1', /place 1: y/], ['?at=1,2%3B', /^at: place 2: empty$/],
        ['?at=1,2;3,4;x,6', /place 3: x/], ['?at=1,2;3,1e', /place 2: y/],
        ['?at=1,2&att=1', /'att' is not a parameter of heights; did you mean 'at'\?/], ['?at=0,nan', /place 1: y/],
        ['?at=1,2,3', /place 1/], ['?at=1%2C2%2C3', /place 1/],
    ], async ([query, names]) => {
        assertError(await daemon.get(`/default/heights${query}`), 400, names);
    }));
});

describe('places beyond the limit', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ builtIn: true });

    it('are not found, whatever is requested', () => eachRow(
        ['4503599627370497', '-4503599627370496.5', '1e400', '9007199254740993'].flatMap((x) => [
            `height?x=${x}&y=0`, `heights?at=0,0;0,${x}`, `spawn?x=0&y=${x}`, `downstream?x=${x}&y=0`,
            `region.f32?x=${x}&y=0&width=1&height=1`, `volume.f32?x=0&y=0&z=${x}&width=1&height=1&depth=1`,
        ]).concat('region.f32?x=0&y=4503599627370496&width=1&height=2').map((target) => [target]),
        async ([target]) => assertError(await daemon.get(`/default/${target}`), 404, /beyond the limit of 2\^52 blocks/)));
});

describe('the values of a list', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: 'worlds: [{ name: plain }, { name: rivers, like: default }]' });
    const OF_RIVERS = ['biome', 'temperature', 'humidity', 'water', 'depth', 'river', 'width', 'kind'];

    it('are as many as its places', () => eachRow(
        [1, 2, 3, 63, 64, 65, 300].flatMap((count) => [[count, 'plain', []], [count, 'rivers', OF_RIVERS]]),
        async ([count, world, more]) => {
            const places = Array.from({ length: count }, (_, i) => [i * 37 - 500, i * 11 + 0.5]);
            const { fields, ...document } =
                await daemon.json(`/${world}/heights?at=${places.join(';')}&fields=height,surface`);
            assert.deepEqual(Object.keys(document).sort(), ['heights', 'at', ...more].sort());
            assert.deepEqual(Object.keys(fields), ['height', 'surface']);
            for (const [key, values] of Object.entries({ ...document, ...fields }))
                assert.equal(values.length, count, key);
            assert.deepEqual(document.at, places);
            assert.deepEqual(fields.height, document.heights);
        }));
});

describe('/spawn in the built-in worlds', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ builtIn: true });
    const rows = BUILT_IN.flatMap((world) => [0, 1, 2, 3, 4, 5].map((i) => [world, i * 40961 - 100000, i * 70001 - 200000]));

    /* Assert that a player who stands at PLACE stands on dry land. */
    function assertDry({ x, y, height, water }) {
        assert.ok(height >= Math.max(water ?? 0, 0), `${height} m at ${x}, ${y}, under water`);
    }

    it('finds land if min is 0', () => eachRow(rows, async ([world, x, y]) => {
        const { distance, from, ...place } = await daemon.json(`/${world}/spawn?x=${x}&y=${y}&min=0&slope=1`);
        assert.deepEqual(from, [x, y]);
        assert.ok(Math.abs(distance - Math.hypot(place.x - x, place.y - y)) < 1e-9 * distance + 1e-9, `${distance}`);
        assert.ok(place.height >= 0 && place.slope <= 1, `${place.height} m, slope ${place.slope}`);
        assert.deepEqual(place, await daemon.json(`/${world}/height?x=${place.x}&y=${place.y}`));
    }));

    it('puts players on land', () => eachRow(rows, async ([world, x, y]) => {
        assertDry(await daemon.json(`/${world}/spawn?x=${x}&y=${y}`));
        assertDry(await daemon.json(`/${world}/spawn?x=${x}&y=${y}&max=2500`));
    }));

    it('puts them under water if that is wanted', async () => {
        const sea = async (query) => (await daemon.json(`/archipelago/spawn?x=-100000&y=50000&${query}`)).height;
        assert.ok(await sea('under_water=1') < 0);
        assert.ok(await sea('min=-1e4&max=-50') <= -50);
        assert.ok(await sea('max=-50') <= -50, 'a greatest height below 0');
        assert.ok(await sea('min=-1e4&max=5&slope=0.01') < 0, 'a least height below 0');
        assert.ok(await sea('under_water=0') >= 0);
    });

    it('says that the sea is left out', async () => {
        assertError(await daemon.get('/default/spawn?x=0&y=0&biome=deep_sea'), 404,
            /no ground found .* has min 0 \(by default; under_water=1 lifts it\), and such a biome$/);
        const { biome } = await daemon.json('/default/spawn?x=0&y=0&biome=deep_sea&under_water=1');
        assert.equal(biome.name, 'deep sea');
    });

    it('finds the biomes that are named', () => eachRow([
        // Beaches are narrow: a search finds those nearby.
        ['default', 'beach', ['beach'], 'x=0&y=0'], ['default', '3', ['beach'], 'x=0&y=0'], ['default', 'steppe,tundra,9', ['steppe', 'tundra']],
        ['default', 'temperate_forest', ['temperate forest']], ['default', 'desert', ['desert']], ['alps', 'meadow,fen', ['meadow', 'fen']],
        ['default:7', 'savanna,monsoon_forest', ['savanna', 'monsoon forest']],
    ], async ([world, biome, names, from = 'x=5000&y=-9000']) => {
        const place = await daemon.json(`/${world}/spawn?${from}&biome=${biome}`);
        assert.ok(names.includes(place.biome.name), place.biome.name);
        assert.ok(place.height >= 0);
    }));

    it('refuses biomes that the world has not', () => eachRow([
        ['biome=icy', /no biome "icy"; did you mean "ice"\? it has deep_sea, shallow_sea, beach, .*, \.\.\.$/], ['biome=beach,255', /no biome "255"/],
        ['biome=Beach', /no biome "Beach"/], ['biome=-1', /no biome "-1"/], ['biome=beach_', /no biome "beach_"; did you mean "beach"/], ['biome=03', /no biome "03"/],
        ['biome=18446744073709551619', /no biome "18446744073709551619"/],
    ], async ([query, names]) => assertError(await daemon.get(`/default/spawn?x=0&y=0&${query}`), 404, names)));

    /* Whether there is water within DISTANCE blocks, and two more, of a place: the field `bank` is that far off at most. */
    async function isNear(world, { x, y }, distance) {
        const side = 2 * distance + 5, first = `x=${x - distance - 2}&y=${y - distance - 2}&width=${side}&height=${side}`;
        const region = async (field) => floats(await daemon.bytes(`/${world}/region.f32?${first}&field=${field}`));
        const [heights, water] = await Promise.all(['height', 'water'].map(region));
        return heights.some((height, i) => (height < 0 || water[i] > -32768)
            && Math.hypot(i % side - distance - 2, Math.trunc(i / side) - distance - 2) <= distance + 2);
    }

    it('finds water nearby', () => eachRow(
        BUILT_IN.flatMap((world) => [3, 20, 120].flatMap((distance) => [1, 3].map((i) => [world, distance, i * 52361 - 100000, i * 70001 - 100000]))),
        async ([world, distance, x, y]) => {
            const place = await daemon.json(`/${world}/spawn?x=${x}&y=${y}&near_water=${distance}`);
            assertDry(place);
            assert.ok(await isNear(world, place, distance), `no water near ${place.x}, ${place.y}`);
        }));

    it('finds different places for many players', () => eachRow(
        [['default', 64, ''], ['archipelago', 9, '&slope=0.3'], ['alps', 64, '&near_water=40'], ['default', 1, '&biome=beach'], ['alps', 64, '&slope=0.015']],
        async ([world, count, more]) => {
            const at = `/${world}/spawn?x=-30.5&y=12${more}`;
            const { places, from } = await daemon.json(`${at}&count=${count}`);
            const { from: same, ...first } = await daemon.json(at);
            assert.deepEqual([from, places[0]], [same, first]);
            assert.equal(places.length, count);
            for (const [i, place] of places.entries()) {
                const { distance, ...ground } = place;
                assert.ok(Math.abs(distance - Math.hypot(place.x + 30.5, place.y - 12)) < 1e-6, `${distance}`);
                assert.deepEqual(ground, await daemon.json(`/${world}/height?x=${place.x}&y=${place.y}`));
                assert.ok(Math.hypot(place.x - first.x, place.y - first.y) <= 1024);
                assert.ok(places.every((other, k) => k >= i || Math.hypot(place.x - other.x, place.y - other.y) >= 16), `place ${i} is beside another`);
            }
        }));

    it('says how far it has looked if there are fewer', async () => {
        const at = '/archipelago/spawn?x=1000&y=2000&min=0&slope=0.001';
        const { places, searched } = await daemon.json(`${at}&count=64`);
        assert.ok(places.length > 1 && places.length < 64, `${places.length} places`);
        assert.equal(searched, 1024);
        assert.ok(!('searched' in await daemon.json(`${at}&count=2`)));
    });

    /* Before nodes were those of pictures, some of these took a hundred times as long. */
    it('takes little more than the heights around if there is nothing', async () => {
        const none = ['/default/spawn?x=0&y=0&min=5999', '/alps/spawn?x=0&y=0&min=-3&max=-1&slope=0',
            '/archipelago/spawn?x=0&y=0&min=5&max=5.000001&near_water=9', '/default/spawn?x=7&y=0&count=64&min=5000&biome=ice'];
        const around = await processorTimeOf(daemon.pid, () => daemon.bytes('/alps/region.f32?x=-1024&y=-1024&width=2048&height=2048'));
        await eachRow(none.map((target) => [target]), async ([target]) => {
            const took = await processorTimeOf(daemon.pid, async () => assertError(await daemon.get(target), 404));
            assert.ok(took < 20 * around, `${took} ms, where heights took ${around}`);
        });
    });
});

/* Level ground, most of it open to caverns. */
const HOLLOW = `worlds:
  - name: hollow
    noise: { wavelength: 200, octaves: 2 }
    elevation: [[-1, 5], [1, 5]]
    volume: { overhangs: { amplitude: 0 }, caverns: { size: 1, cover: 0, wavelength: 2000, octaves: 1, squash: 1 }, tunnels: { radius: 0 } }
`;

describe('/spawn where the ground is hollow', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: HOLLOW });

    it('ends after 4096 blocks, and says how far they are', async () => {
        const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => daemon.get(`/hollow/spawn?x=${i * 500}&y=0`)));
        const none = answers.filter(({ status }) => status === 404);
        assert.ok(none.length > 0 && none.length < answers.length, `${none.length} of ${answers.length}`);
        await eachRow(none, (answer) => assertError(answer, 404,
            /^spawn: no ground found within \d\d blocks of x \d+, y 0, as far as a search may go$/));
    });
});

const SPAWN_WORLDS = `worlds:
  - name: default
    noise: { wavelength: 200, octaves: 6 }
    elevation: [[-0.5, -100], [0.5, 100]]
    seeds: any
  - name: flat
    elevation: [[-1, 5], [1, 5]]
    volume: { overhangs: { amplitude: 0 }, caverns: { size: 0 }, tunnels: { radius: 0 } }
  - name: slow # searched point by point
    noise: { fractal: ridged, wavelength: 8192, octaves: 64, lacunarity: 1.125, warp: { amplitude: 2000, wavelength: 9000 } }
    elevation: [[0, 0], [1, 1000]]
`;

describe('/spawn', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: SPAWN_WORLDS });
    const SIDE = 256;

    /* Heights and surfaces of the blocks from (0, 0) to (255, 255). */
    let samples;
    const surfaces = [];
    /* A player at the height stands on the ground. */
    const isGround = (x, y) => Math.ceil(surfaces[SIDE * y + x]) === Math.ceil(height(x, y));
    const height = (x, y) => samples[SIDE * y + x];
    const slope = (x, y) => {
        const east = (height(x + 1, y) - height(x - 1, y)) / 2;
        const south = (height(x, y + 1) - height(x, y - 1)) / 2;
        return Math.fround(Math.sqrt(east * east + south * south));
    };

    /* Search all blocks. Only valid near the middle, since a nearer block could lie outside. */
    function nearest(query) {
        let found;
        for (let y = 1; y < SIDE - 1; y++)
            for (let x = 1; x < SIDE - 1; x++) {
                if (height(x, y) < least(query) || height(x, y) > query.max || slope(x, y) > query.slope
                    || !isGround(x, y))
                    continue;
                const square = (x - query.x) ** 2 + (y - query.y) ** 2;
                if (!found || square < found.square)
                    found = { x, y, square };
            }
        return found;
    }

    async function readSurfaces() {
        for (let first = 0; first < SIDE * SIDE; first += 512) {
            const places = Array.from({ length: 512 }, (_, i) => `${(first + i) % SIDE},${Math.trunc((first + i) / SIDE)}`);
            const { fields } = await daemon.json(`/default/heights?at=${places.join(';')}&fields=surface`);
            surfaces.push(...fields.surface);
        }
    }

    const text = (query) => `/default/spawn?${Object.entries(query)
        .filter(([, value]) => Number.isFinite(value)).map((pair) => pair.join('=')).join('&')}`;
    /* Players stand on land unless it is said how high. */
    const least = ({ min, max, under_water: sea }) => (min === -Infinity && max >= 0 && !sea ? 0 : min);

    it('finds the nearest block that matches', async () => {
        const z = NATIVE_ZOOM;
        samples = floats(await daemon.bytes(`/default/height/${z}/32768/32768.f32`));
        await readSurfaces();
        const elsewhere = surfaces.filter((_, i) => !isGround(i % SIDE, Math.trunc(i / SIDE))).length;
        assert.ok(elsewhere > 100, `only ${elsewhere} places have their ground elsewhere`);
        const queries = [];
        for (let i = 0; i < 200; i++)
            queries.push({
                x: 100 + i % 7 * 8.5, y: 150 - i % 11 * 4.25,
                min: i % 3 ? Math.round(height(i, 255 - i)) : -Infinity,
                max: i % 4 ? Math.round(height(i, 255 - i)) + 1 + i % 5 : Infinity,
                slope: i % 2 ? [0.5, 0.125, 0.0625, 1][i % 8 >> 1] : Infinity,
                under_water: i % 5 ? 1 : 0,
            });
        let checked = 0;
        await eachRow(queries.map((query) => [query]), async ([query]) => {
            const expected = nearest(query);
            if (!expected || expected.square > 90 ** 2)
                return;
            const place = await daemon.json(text(query));
            assert.deepEqual(Object.keys(place), ['x', 'y', 'height', 'surface', 'slope', 'normal', 'distance', 'from']);
            assert.deepEqual(place.from, [query.x, query.y]);
            assert.deepEqual([place.x, place.y], [expected.x, expected.y]);
            assert.equal(place.distance, Math.sqrt(expected.square));
            const { distance, from, ...ground } = place;
            assert.deepEqual(ground, await daemon.json(`/default/height?x=${place.x}&y=${place.y}`));
            checked++;
        });
        assert.ok(checked > 100, `only ${checked} queries had a match nearby`);
    });

    it('prefers the block itself, then the least y, then the least x', () => eachRow([
        [['12', '-7'], [12, -7, 0]],
        [['0.5', '0.5'], [0, 0, Math.SQRT1_2]],
        [['-0.5', '3.5'], [-1, 3, Math.SQRT1_2]],
        [['0.25', '-0.75'], [0, -1, Math.hypot(0.25, 0.25)]],
        [['4503599627370496', '-4503599627370496'], [2 ** 52, -(2 ** 52), 0]],
        [['+1e1', '-0.49995'], [10, -1, 0.5]],
    ], async ([[x, y], [foundX, foundY, distance]]) => {
        const from = [Number(x), y === '-0.49995' ? -0.5 : Number(y)];
        for (const bounds of ['', '&min=5', '&max=5', '&slope=0', '&min=5.0&max=+5e0&slope=-0.0'])
            assert.deepEqual(await daemon.json(`/flat/spawn?x=${x}&y=${y}${bounds}`), {
                x: foundX, y: foundY, height: 5, surface: 5, slope: 0, normal: [0, 0, 1], distance, from,
            }, bounds);
    }));

    it('returns 404 with the criteria if nothing matches', () => eachRow([
        ['/flat/spawn?x=1&y=2.5&min=6', /1572864.* x 1, y 2\.5 .*min 6$/],
        ['/flat/spawn?x=0&y=0&max=4.5&slope=0.25', /max 4\.5 slope 0\.25$/],
        ['/default/spawn?x=0&y=0&min=99.5&max=100&slope=0', /min 99\.5 max 100 slope 0$/],
    ], async ([target, names]) => {
        assertError(await daemon.get(target), 404, names);
    }));

    it('works for any seed', async () => {
        const place = await daemon.json('/default:77/spawn?x=0&y=0&min=3&max=9');
        assert.ok(place.height >= 3 && place.height <= 9, `height ${place.height}`);
        const { height: there } = await daemon.json(`/default:77/height?x=${place.x}&y=${place.y}`);
        assert.equal(place.height, there);
    });

    it('has a validator', () => assertComputedResponse(daemon, '/default/spawn?x=3&y=4&min=10'));

    it('rejects invalid parameters', () => eachRow([
        ['?x=1', /\by\b/], ['?y=1', /\bx\b/], ['', /\bx\b/], ['?x=1&y=1&x=2', /\bx\b/],
        ['?x=1e&y=0', /\bx\b/],
        ['?x=0&y=0&min=2&max=1', /\bmin\b.*\bmax\b/], ['?x=0&y=0&slope=-1', /\bslope\b/],
        ['?x=0&y=0&slope=-0.001', /\bslope\b/],
        ...['', 'nan', 'inf', '-inf', '1e39', '-1e400', '0x10', '1e', '.', '--1', '1,5', '%2531', 'Infinity', '0'.repeat(64)]
            .flatMap((bad) => ['min', 'max', 'slope'].map((key) =>
                [`?x=0&y=0&${key}=${bad}`, bad.includes('%') ? /%25/ : new RegExp(`\\b${key}\\b`)])),
        ['?x=0&y=0&min=1&min=2', /\bmin\b/], ['?x=0&y=0&mni=1', /'mni' is not a parameter of spawn; did you mean 'min'\?/],
        ['?x=0&y=0&radius=9', /'radius' is not a parameter of spawn; expected x, y, min, max, slope, under_water, near_water, biome, count$/],
        ...['2', 'true', '-1', '01'].map((bad) => [`?x=0&y=0&under_water=${bad}`, /^under_water: .* is not 1, nor 0/]),
        ...['0', '-1', '1.5', 'a', 'nan'].flatMap((bad) => ['near_water', 'count'].map((key) =>
            [`?x=0&y=0&${key}=${bad}`, new RegExp(`^${key}: "${bad}" is not a whole number from 1 to`)])),
    ], async ([query, names]) => {
        assertError(await daemon.get(`/flat/spawn${query}`), 400, names);
    }));

    it('says what the world lacks', () => eachRow([
        ['&near_water=9', /^near_water: this world has neither a sea nor rivers$/],
        ['&biome=beach', /^biome: this world has no biomes; it needs a field "biome" with a table$/],
    ], async ([query, names]) => assertError(await daemon.get(`/flat/spawn?x=0&y=0${query}`), 404, names)));

    it('finds the shore of a sea without rivers', async () => {
        const { height, x, y } = await daemon.json('/default/spawn?x=0&y=0&near_water=1');
        assert.ok(height >= 0);
        const { heights } = await daemon.json(`/default/heights?at=${[[0, 1], [1, 0], [0, -1], [-1, 0]].map(([dx, dy]) => [x + dx, y + dy]).join(';')}`);
        assert.ok(heights.some((one) => one < 0), `${heights} around ${x}, ${y}`);
    });

    it('does not delay other requests', async () => {
        const abandoned = await daemon.metric('farlands_abandoned_total');
        const connections = await Promise.all(Array.from({ length: 8 }, () => daemon.connect()));
        connections.forEach((connection, i) => connection.send(request('GET', `/slow/spawn?x=${i}&y=0&slope=0&max=999`)));
        assert.ok(await eventually(async () => await daemon.metric('farlands_renders_running') > 0), 'no search begins');
        for (let i = 0; i < 20; i++) {
            await daemon.json(`/default/height?x=${i}&y=0`);
            await daemon.bytes(`/default/height/${NATIVE_ZOOM}/${i}/5.f32`);
        }
        const ended = connections.filter(({ received }) => received > 0);
        assert.equal(ended.length, 0, 'they waited for a search');
        for (const connection of connections)
            connection.close();
        assert.ok(await eventually(async () => await daemon.metric('farlands_abandoned_total') === abandoned + connections.length));
    });

    it('stops when the client disconnects', async () => {
        const busy = async () => (await daemon.metrics()).get('farlands_renders_running');
        const abandoned = (await daemon.metrics()).get('farlands_abandoned_total');
        const connection = await daemon.connect();
        connection.send('GET /slow/spawn?x=0&y=0&slope=0&max=999 HTTP/1.1\r\nHost: a\r\n\r\n');
        assert.ok(await eventually(async () => await busy() > 0), 'the search does not start');
        connection.close();
        assert.ok(await eventually(async () =>
            (await daemon.metrics()).get('farlands_abandoned_total') === abandoned + 1), 'the search goes on');
        assert.ok(await eventually(async () => await busy() === 0), 'the last slice of the search does not end');
    });
});
