// Rivers: /downstream, and the water of places and regions.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { known } from '../known.mjs';
import { useDaemon } from './daemon.mjs';
import { floats } from './grid.mjs';
import { assertError, assertStatus, eachRow } from './table.mjs';
import { TIMEOUT } from './program.mjs';

const CONFIG = `worlds:
  - name: wet
    seeds: any
    native_zoom: 16
    fields:
      hills: { noise: { wavelength: 24000, octaves: 7, persistence: 0.45 } }
      ground: { add: [{ multiply: [hills, 700] }, 120] }
      valleys: { drain: { of: ground, spacing: 16384, levels: 4, from: 2 } }
      height: { channel: { of: valleys, drain: valleys }, unit: m }
      water: { water: { of: height, drain: valleys }, unit: m }
      river: { river: valleys }
      bank: { bank: valleys, unit: m }
  - name: painted
    native_zoom: 16
    fields: { height: { noise: { wavelength: 1024, octaves: 2 } }, water: 12, river: 3 }
  - name: plain
    native_zoom: 16
    noise: { wavelength: 1024, octaves: 2 }
`;
const NUMBERS = ['level', 'bed', 'width', 'order'];
const KINDS = ['land', 'river', 'lake', 'sea', 'end lake'];

describe('water in the built-in worlds', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ builtIn: true });

    // A mouth is a dam if it is land with deep water at both sides.
    it('has no dams in the sea at the mouths of rivers', () => eachRow([
        ['default', -3000, 4000], ['default', 9000, 9000], ['default', 126528, 163303], ['default:7', 5000, -40000], ['alps', 900000, 100000],
    ], async ([world, x, y]) => {
        let page = await daemon.json(`/${world}/downstream?x=${x}&y=${y}&limit=4000`);
        while (page.properties.next)
            page = await daemon.json(`/${world}/${page.properties.next}`);
        const { geometry: { coordinates }, properties } = page;
        assert.equal(properties.end, 'sea');
        const last = coordinates.slice(-12), places = [];
        for (let i = 1; i < last.length; i++) {
            const [east, south] = [last[i][0] - last[i - 1][0], last[i][1] - last[i - 1][1]], length = Math.hypot(east, south) || 1;
            const half = properties.width.slice(-12)[i] / 2;
            for (const across of [0, half + 15, -half - 15, half + 80, -half - 80])
                places.push([last[i][0] - south / length * across, last[i][1] + east / length * across]);
        }
        const { heights } = await daemon.json(`/${world}/heights?at=${places.map((place) => place.map((m) => m.toFixed(1))).join(';')}`);
        for (let i = 0; i < heights.length; i += 5)
            assert.ok(Math.max(heights[i + 3], heights[i + 4]) > -1 || Math.max(heights[i], heights[i + 1], heights[i + 2]) <= 0,
                `a dam at ${places[i]}: ${heights.slice(i, i + 5)}`);
    }));

    // Rivers that have built their valleys. The first point may be beside the water, later ones are on it.
    async function expectLevels([world, x, y]) {
        const { geometry, properties } = await daemon.json(`/${world}/downstream?x=${x}&y=${y}&limit=150`);
        const at = geometry.coordinates.map(([east, south]) => `${east},${south}`).join(';');
        const { water } = await daemon.json(`/${world}/heights?at=${at}`);
        const rivers = water.map((level, i) => [level, i]).filter(([, i]) => properties.kind[i] === 'river');
        assert.ok(rivers.length > 40, `${rivers.length} points in rivers`);
        for (const [level, i] of rivers)
            assert.ok(Math.abs(level - properties.level[i]) <= 0.01, `point ${i}: ${properties.level[i]} m, but ${level} m of water`);
    }
    it('has the level that a course says in built ground', () => eachRow([['alps', 237000, -139000], ['alps', -51000, 77000],
        ['alps', 264000, -347000], ['alps', -20000, 80000], ['alps', 187000, -145000], ['alps:9', 1704348, -1851319]], expectLevels));
    known('has the level that a course says where blocks of built ground meet', () => expectLevels(['alps', 133000, -207000]));
});

describe('/downstream', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG });
    const places = [[0, 0], [5000.5, -3000], [-20000, 12345], [41000, 41000], [-7e8, 3e9]];

    async function whole(world, [x, y], limit) {
        const parts = [];
        for (let url = `downstream?x=${x}&y=${y}&limit=${limit}`; url; url = parts.at(-1).properties.next)
            parts.push(await daemon.json(`/${world}/${url}`));
        return parts;
    }

    it('leads to the sea or to an end lake, never upwards', () => eachRow(['wet', 'wet:9'].flatMap((world) => places.map((at) => [world, at])),
        async ([world, [x, y]]) => {
            const { type, geometry, properties } = (await whole(world, [x, y], 4000)).at(-1);
            assert.equal(type, 'Feature');
            assert.deepEqual(properties.from, [x, y]);
            assert.ok(['sea', 'end lake'].includes(properties.end) && properties.next === null, properties.end);
            assert.equal(properties.kind.at(-1), properties.end);
            const count = properties.kind.length;
            assert.equal(geometry.type, 'LineString');
            assert.ok(count > 1);
            for (const name of NUMBERS)
                assert.equal(properties[name].length, count);
            geometry.coordinates.forEach(([, , level], i) => {
                assert.equal(level, properties.level[i]);
                assert.ok(i === 0 || level <= properties.level[i - 1], `${level} after ${properties.level[i - 1]}`);
                assert.ok(KINDS.includes(properties.kind[i]));
            });
        }));

    // Into end lakes.
    it('has the level that a course says, down to the lake that the course falls into', () =>
        eachRow([[-449199, 746483], [-290018, 420967]], async ([x, y]) => {
            const { geometry, properties } = await daemon.json(`/wet/downstream?x=${x}&y=${y}`);
            const at = geometry.coordinates.map(([east, south]) => `${east},${south}`).join(';');
            const { water } = await daemon.json(`/wet/heights?at=${at}`);
            assert.equal(properties.end, 'end lake');
            assert.equal(properties.kind.at(-2), 'lake');
            assert.equal(properties.level.at(-2), properties.level.at(-1));
            water.forEach((level, i) => assert.ok(Math.abs(level - properties.level[i]) <= 0.01,
                `point ${i}, ${properties.kind[i]}: ${properties.level[i]} m, but ${level} m of water`));
        }));

    it('comes in parts, which are the whole', async () => {
        const [all] = await whole('wet', places[0], 4000);
        assert.ok(all.geometry.coordinates.length > 20);
        for (const limit of [2, 7, 100, 333]) {
            const parts = await whole('wet', places[0], limit);
            parts.slice(0, -1).forEach(({ properties }) => assert.deepEqual([properties.kind.length, properties.end], [limit, null]));
            /* Each line begins where the one before it ends. */
            const joined = (lists) => lists.flatMap((list, i) => {
                if (i > 0)
                    assert.deepEqual(list[0], lists[i - 1].at(-1));
                return list.slice(i > 0 ? 1 : 0);
            });
            assert.ok(parts.every(({ geometry: { type } }) => type === 'LineString'));
            assert.deepEqual(joined(parts.map(({ geometry }) => geometry.coordinates)), all.geometry.coordinates);
            for (const name of [...NUMBERS, 'kind'])
                assert.deepEqual(joined(parts.map(({ properties }) => properties[name])), all.properties[name]);
        }
    });

    it('comes in points if one is wanted at a time', async () => {
        const [all] = await whole('wet', places[0], 4000);
        let url = `downstream?x=${places[0][0]}&y=${places[0][1]}&limit=1`;
        for (const position of all.geometry.coordinates.slice(0, 9)) {
            const { geometry, properties } = await daemon.json(`/wet/${url}`);
            assert.deepEqual(geometry, { type: 'Point', coordinates: position });
            url = properties.next;
        }
    });

    it('is a line in the sea, too', async () => {
        const { properties: { end }, geometry: { coordinates } } = (await whole('wet', [8000, -5000], 4000)).at(-1);
        assert.equal(end, 'sea');
        const around = [4, 8, 16, 32].flatMap((far) => [[1, 0], [0, 1], [-1, 0], [0, -1]].map((way) =>
            way.map((one, axis) => Math.round(coordinates.at(-1)[axis] + 1024 * far * one))));
        const courses = await Promise.all(around.map(([x, y]) => daemon.json(`/wet/downstream?x=${x}&y=${y}&limit=2`)));
        const { geometry, properties } = courses.find(({ properties: { kind } }) => kind[0] === 'sea');
        assert.equal(geometry.type, 'LineString');
        assert.deepEqual([geometry.coordinates.length, properties.kind, properties.next], [2, ['sea', 'sea'], null]);
        assert.deepEqual(geometry.coordinates[0], geometry.coordinates[1]);
    });

    it('has coordinates for GDAL and for maps', async () => {
        const at = '/wet/downstream?x=5000.5&y=-3000&limit=50';
        const [blocks, plain, north, lnglat] = await Promise.all(['', '&crs=blocks', '&crs=north', '&crs=lnglat']
            .map((crs) => daemon.json(`${at}${crs}`)));
        assert.deepEqual(plain, blocks);
        assert.deepEqual(north.geometry.coordinates, blocks.geometry.coordinates.map(([x, y, level]) => [x, -y, level]));
        assert.match(north.crs.properties.name, /^ENGCRS\["blocks, y to the north",.*AXIS\["y",north\]/);
        const { origin, native_zoom: zoom } = await daemon.json('/wet.json');
        const side = 256 * 2 ** zoom;
        lnglat.geometry.coordinates.forEach(([lng, lat, level], i) => {
            const [x, y, same] = blocks.geometry.coordinates[i];
            const mercator = Math.log(Math.tan(Math.PI / 4 + lat * Math.PI / 360));
            assert.ok(Math.abs((lng + 180) / 360 * side + Number(origin[0]) - x) < 1e-3, `${lng}`);
            assert.ok(Math.abs((1 - mercator / Math.PI) / 2 * side + Number(origin[1]) - y) < 1e-3, `${lat}`);
            assert.equal(level, same);
        });
        for (const { crs, type, properties } of [blocks, lnglat])
            assert.deepEqual([crs, type, properties.from], [undefined, 'Feature', [5000.5, -3000]]);
        assert.deepEqual([north, lnglat].map(({ properties: { next } }) => /&crs=(\w+)&/.exec(next)[1]), ['north', 'lnglat']);
        const { headers } = await daemon.get(at);
        assert.equal(headers['content-type'], 'application/geo+json');
    });

    it('has 1000 points unless told', async () => {
        const { properties } = await daemon.json('/wet/downstream?x=100&y=200');
        assert.ok(properties.kind.length === 1000 || properties.end);
    });

    it('has a fingerprint and a validator', async () => {
        const { headers } = await daemon.get('/wet/downstream?x=3&y=4');
        assert.equal(headers['farlands-fingerprint'], (await daemon.json('/wet.json')).fingerprint);
        assertStatus(await daemon.get('/wet/downstream?x=3&y=4', { 'If-None-Match': headers.etag }), 304);
    });

    it('is refused by worlds without rivers, which do not list it', () => eachRow(['painted', 'plain'], async (world) => {
        assertError(await daemon.get(`/${world}/downstream?x=0&y=0`), 404, /this world has no rivers/);
        assert.equal((await daemon.json(`/${world}.json`)).urls.downstream, undefined);
        assert.match((await daemon.json('/wet.json')).urls.downstream, /downstream\?x=/);
    }));

    it('rejects wrong parameters', () => eachRow([
        ['x=1', 400, /^y\b/], ['x=a&y=0', 400, /^x: "a"/], ['x=4503599627370497&y=0', 404, /2\^52/], ['x=0&y=0&limit=0', 400, /^limit/],
        ['x=0&y=0&limit=4001', 413, /^limit: 4001 points are too many; at most 4000/], ['x=0&y=0&after=1,2', 400, /^after/],
        ['x=0&y=0&after=0,0,999', 400, /^after/], ['x=0&y=0&after=9223372036854775807,0,1', 400, /^after/],
        ['x=0&y=0&crs=wgs84', 400, /^crs: "wgs84" is not blocks, which is the default, north or lnglat$/], ['x=0&y=0&crs=', 400, /^crs: ""/],
        ['x=0&y=0&fields=height', 400, /not a parameter of downstream/],
    ], async ([query, status, message]) => assertError(await daemon.get(`/wet/downstream?${query}`), status, message)));
});

describe('the water of a place', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG });
    const value = async (field, x, y) =>
        floats(await daemon.bytes(`/wet/region.f32?x=${x}&y=${y}&width=1&height=1&field=${field}`))[0];

    it('is what the fields have, along a course, on land and in the sea', async () => {
        const { geometry, properties } = await daemon.json('/wet/downstream?x=8000&y=-5000&limit=4000');
        const at = [...geometry.coordinates.filter((_, i) => i % 97 === 0), [100, 200], geometry.coordinates.at(-1).map((one) => one + 3000)];
        const list = await daemon.json(`/wet/heights?at=${at.map(([x, y]) => `${x},${y}`).join(';')}`);
        assert.equal(properties.end, 'sea');
        assert.deepEqual(Object.keys(list), ['heights', 'at', 'water', 'depth', 'river', 'width', 'kind']);
        const kinds = new Set();
        for (const [i, [x, y]] of at.entries()) {
            const place = await daemon.json(`/wet/height?x=${x}&y=${y}`);
            const [level, order] = [await value('water', x, y), await value('river', x, y)];
            const wet = level > -32768;
            const kind = wet ? order > 0 ? 'river' : 'lake' : place.height < 0 ? 'sea' : null;
            const surface = wet ? level : 0;
            assert.deepEqual([place.kind, place.river === null ? 0 : Math.fround(place.river)], [kind, order]);
            assert.equal(place.water === null ? null : Math.fround(place.water), kind && surface);
            assert.equal(place.depth === null ? null : Math.fround(place.depth), kind && Math.fround(surface - Math.fround(place.height)));
            for (const name of ['water', 'depth', 'river', 'width', 'kind'])
                assert.equal(list[name][i], place[name], `${name} of ${x}, ${y}`);
            /* At a corner of the line, where both have the same order. */
            const corner = properties.kind[97 * i] === 'river' && i < at.length - 2 ? properties.width[97 * i] : null;
            assert.equal(place.width !== null, kind === 'river');
            if (kind === 'river' && corner !== null)
                assert.ok(Math.abs(place.width - corner) < 0.05 * corner, `${place.width} m wide at ${x}, ${y}, not ${corner}`);
            kinds.add(kind);
        }
        assert.ok(kinds.has('river') && kinds.has(null), [...kinds].join());
    });

    it('is told of spawn points', async () => {
        const { distance, from, ...place } = await daemon.json('/wet/spawn?x=300&y=-200&min=20');
        assert.ok(distance >= 0 && from.join() === '300,-200');
        assert.deepEqual(place, await daemon.json(`/wet/height?x=${place.x}&y=${place.y}`));
    });

    it('is never at spawn points', async () => {
        const height = 96, width = 96, [x, y] = [-2048, -2048];
        const region = (field) => daemon.bytes(`/wet/region.f32?x=${x}&y=${y}&width=${width}&height=${height}&step=64&field=${field}`);
        const [water, heights] = (await Promise.all(['water', 'height'].map(region))).map(floats);
        const wet = [...water.keys()].filter((i) => water[i] > -32768).slice(0, 12);
        assert.ok(wet.length >= 8, `${wet.length} in water`);
        await eachRow(wet.flatMap((i) => [[i, ''], [i, `&min=${heights[i] - 0.5}&max=${heights[i] + 0.5}`]]), async ([i, bounds]) => {
            const at = `x=${x + i % width * 64}&y=${y + Math.floor(i / width) * 64}`;
            const { kind, distance } = await daemon.json(`/wet/spawn?${at}${bounds}`);
            assert.ok(kind !== 'river' && kind !== 'lake' && distance > 0, `${at}: ${kind}, ${distance}`);
        });
    });

    it('is left out by worlds without rivers', () => eachRow(['painted', 'plain'], async (world) => {
        assert.equal((await daemon.json(`/${world}/height?x=1&y=2`)).kind, undefined);
        assert.equal((await daemon.json(`/${world}/heights?at=1,2`)).kind, undefined);
    }));

    it('is -32768 on land in regions', async () => {
        const side = 256;
        const region = (field) => daemon.bytes(`/wet/region.f32?x=-1000&y=-1000&width=${side}&height=${side}&step=16&field=${field}`);
        const [water, river, height] = (await Promise.all(['water', 'river', 'height'].map(region))).map(floats);
        let land = 0, wet = 0;
        water.forEach((level, i) => {
            land += level === -32768;
            wet += level > -32768;
            assert.ok(level === -32768 || level >= height[i], `level ${level}, height ${height[i]}`);
            assert.ok(level > -32768 || river[i] === 0);
        });
        assert.ok(wet > 50 && land > 10000 && wet + land === side * side, `${wet} wet, ${land} land`);
    });
});
