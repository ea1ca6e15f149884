// Fields of a world by name, as raw samples and pictures over any range.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FAR, blocks, cut, assertSameBytes, target } from './boxes.mjs';
import { useDaemon } from './daemon.mjs';
import { floats, words } from './grid.mjs';
import { decodePng } from './png.mjs';
import { TIMEOUT } from './program.mjs';
import { assertError, assertStatus, eachRow } from './table.mjs';

const CONFIG = `worlds:
  - name: default
  - name: flat
    elevation: [[-1, 7], [1, 7]]
  - name: few
    layers: [relief]
  - name: drawn
    seeds: any
    layers: [field]
`;

/* A world of several fields; a name as long as one may be. */
const LONG = 'l'.repeat(63);
const GRAPH = `worlds:
  - name: graph
    seeds: any
    fields:
      continents: { noise: { wavelength: 65536, octaves: 3 }, unit: m/s }
      rain: { multiply: [continents, 100] }
      ${LONG}: { max: [rain, 0] }
      half: 0.5
      height: { add: [{ multiply: [continents, 1000] }, { noise: { wavelength: 512, octaves: 6, elevation: [[-1, -50], [1, 50]] } }] }
`;

/* The integers that VALUES are over [MIN, MAX], up to MOST, in floats as the daemon rounds. */
function codes(values, [min, max], most) {
    const f = Math.fround, scale = f(most / f(f(max) - f(min)));
    return Array.from(values, (value) => {
        const at = f(f(f(value - f(min)) * scale) + 0.5);
        return Math.trunc(Math.min(Math.max(at, 0), most));
    });
}

describe('regions over a range', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG });
    const get = (query, { at = [0n, 0n], sides = [65, 33], ...options } = {}) => daemon.get(`${target(at, sides, options)}${query}`);
    const bytes = async (...options) => {
        const { status, body } = await get(...options);
        assert.equal(status, 200);
        return body;
    };

    it('have the nearest integers, clamped at its ends', () => eachRow([
        ['&range=-50,250', [-50, 250]], ['&range=279,281.5', [279, 281.5]], ['&range=1e-3,1e3', [0.001, 1000]],
        ['&range=400,500', [400, 500]], ['&range=-3e37,3e37', [-3e37, 3e37]], ['', [-6500, 6000]],
        ['&field=height', [-6500, 6000]], ['&field=height&range=200,300', [200, 300]],
    ], async ([query, range]) => {
        const heights = floats(await bytes(query.replace(/&range.*/, '')));
        assert.deepEqual(Array.from(words(await bytes(query, { form: 'r16' }))), codes(heights, range, 65535), 'r16');
        assert.deepEqual([...await bytes(query, { form: 'u8' })], codes(heights, range, 255), 'u8');
        const image = decodePng(await bytes(query, { form: 'png' }));
        assert.deepEqual([image.depth, image.color], [16, 'gray']);
        assert.deepEqual(Array.from(image.samples), codes(heights, range, 65535), 'png');
    }));

    it('say how to compute the values', () => eachRow([
        ['r16', '', '-6500 6000', 12500 / 65535, -6500], ['u8', '', '-6500 6000', 12500 / 255, -6500],
        ['png', '&range=-50,205', '-50 205', 255 / 65535, -50], ['u8', '&range=-50,205', '-50 205', 1, -50],
        ['r16', '&range=.1,1', '0.100000001 1', (1 - Math.fround(0.1)) / 65535, Math.fround(0.1)],
        ['f32', '', '-6500 6000'], ['png', '&layer=relief', '-6500 6000'],
    ], async ([form, query, range, scale, offset]) => {
        const { headers } = await get(query, { form });
        assert.equal(headers['farlands-range'], range);
        assert.deepEqual(['farlands-scale', 'farlands-offset'].map((name) => headers[name] && Number(headers[name])), [scale, offset]);
        assert.equal(headers['farlands-field'], undefined);
    }));

    it('show steps of millimetres', async () => {
        const all = words(await bytes('', { form: 'r16' })), near = words(await bytes('&range=279,281', { form: 'r16' }));
        assert.ok(new Set(all).size < 30 && new Set(near).size > 1000, `${new Set(all).size} and ${new Set(near).size} heights`);
    });

    it('have an ETag for each range, and one for the default', async () => {
        const tag = async (query, options) => (await get(query, { form: 'r16', ...options })).headers.etag;
        const plain = await tag('');
        for (const query of ['&field=height', '&range=-6500,6000', '&field=height&range=-65e2,+6000.0', '&layer=height'])
            assert.equal(await tag(query), plain, query);
        const others = await Promise.all(['&range=-6500,6001', '&range=-6499,6000', '&range=0,1', '&range=0,.1', '&range=0,0.1'].map((query) => tag(query)));
        assert.equal(new Set([plain, ...others]).size, 5);
        assertStatus(await daemon.get(`${target([0n, 0n], [65, 33], { form: 'r16' })}&range=0,1`, { 'If-None-Match': others[2] }), 304);
    });

    it('are streamed, and cut by Range', () => eachRow([['u8', 1, 255], ['r16', 2, 65535]], async ([form, size, most]) => {
        const sides = [1025, 513], at = [-blocks(700) + 3n, FAR - blocks(512)];
        const path = `${target(at, sides, { form })}&range=-1000,1000`;
        const whole = await daemon.get(path);
        assert.equal(whole.headers['content-length'], String(1025 * 513 * size));
        const heights = floats(await daemon.bytes(target(at, sides)));
        const expected = codes(heights, [-1000, 1000], most);
        const found = size === 1 ? whole.body : words(whole.body);
        assert.equal(found.findIndex((value, i) => value !== expected[i]), -1);
        for (const [first, last] of [[0, 0], [1, 2], [1024 * size, 1025 * size + 3], [whole.body.length - 5, whole.body.length - 1]]) {
            const part = await daemon.get(path, { Range: `bytes=${first}-${last}` });
            assertStatus(part, 206);
            assertSameBytes(part.body, whole.body.subarray(first, last + 1), `${first} to ${last}`);
        }
        const [left, top] = [at[0] + blocks(1000), at[1] + blocks(500)];
        assertSameBytes(await daemon.bytes(`${target([left, top], [25, 13], { form })}&range=-1000,1000`),
            cut(whole.body, sides, [1000, 500], [25, 13], { size }), 'a corner');
    }));

    it('may be flat, and of a world with few layers', async () => {
        assert.deepEqual([...await bytes('', { world: 'flat', form: 'u8', sides: [2, 1] })], [0, 0]);
        assert.deepEqual([...await bytes('&range=5,9', { world: 'flat', form: 'u8', sides: [2, 1] })], [128, 128]);
        assertSameBytes(await bytes('&field=height', { world: 'few' }), await bytes(''), 'few');
    });

    it('are refused with the reason', () => eachRow([
        [400, 'r16', '&range=1', /range.*two numbers A,B/], [400, 'r16', '&range=a,b', /range.*two numbers/],
        [400, 'u8', '&range=5,5', /range.*A below B/], [400, 'png', '&range=6,5', /range.*A below B/],
        [400, 'f32', '&range=0,1', /range: f32.*expected r16, u8 or png/], [400, 'png', '&range=0,1&layer=gray', /layer/],
        [400, 'png', '&field=height&layer=gray', /layer/], [404, 'u8', '&layer=relief', /extension.*relief.*u8/],
        [404, 'f32', '&field=', /field/], [404, 'f32', '&field=heigth', /field.*"heigth"; did you mean "height"\? it has height/],
        [404, 'f32', '&field=temperature', /field.*"temperature"; it has height/],
        [404, 'f32', `&field=${'x'.repeat(70)}`, /field/], [400, 'f32', '&fields=height', /did you mean 'field'/],
    ], async ([status, form, query, why]) => {
        assertError(await get(query, { form }), status, why);
    }));
});

describe('tiles of bytes', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG });

    it('are the heights over the range of the world', async () => {
        const tile = await daemon.get('/default/height/10/512/511.u8');
        assert.deepEqual([...tile.body], codes(floats(await daemon.bytes('/default/height/10/512/511.f32')), [-6500, 6000], 255));
        assert.equal(tile.headers['farlands-scale'], String(12500 / 255));
        assert.equal((await daemon.bytes('/default/height/10/512/511@2x.u8?border=1')).length, 513 * 513);
    });
});

describe('fields of places', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG });

    it('come with heights', async () => {
        const one = await daemon.json('/default/height?x=12.5&y=-3&fields=height');
        assert.deepEqual(one, { ...await daemon.json('/default/height?x=12.5&y=-3'), fields: { height: one.height } });
        const many = await daemon.json('/default/heights?at=12.5,-3;100,200&fields=height');
        assert.deepEqual(many, { ...await daemon.json('/default/heights?at=12.5,-3;100,200'), fields: { height: many.heights } });
    });

    it('are refused with the reason', () => eachRow([
        [404, 'heigth', /"heigth"; did you mean "height"\?/], [404, 'a,b', /"a"; it has height/], [400, 'height,height', /twice/],
        [400, '', /1 to 16 names/], [400, 'height,', /1 to 16 names/], [400, ',height', /name 1: empty/], [404, 'x'.repeat(80), /no name/],
        [400, Array.from({ length: 17 }, (_, i) => `f${i}`).join(','), /1 to 16 names/],
    ], async ([status, fields, why]) => {
        assertError(await daemon.get(`/default/height?x=0&y=0&fields=${fields}`), status, why);
        assertError(await daemon.get(`/default/heights?at=0,0&fields=${fields}`), status, why);
    }));
});

describe('layers of fields', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG });
    const [z, x, y] = [12, 2047, 2049];
    const tile = (ext, world = 'default', field = 'height') => `/${world}/field.${field}/${z}/${x}/${y}${ext}`;

    it('are gray pictures with the octaves that a picture shows', async () => {
        const picture = decodePng(await daemon.bytes(tile('.png')));
        assert.deepEqual([picture.depth, picture.color, picture.width, picture.height], [16, 'gray', 256, 256]);
        const gray = decodePng(await daemon.bytes(`/default/gray/${z}/${x}/${y}.png`));
        assert.equal(picture.samples.findIndex((value, i) => Math.abs(value / 257 - gray.samples[i]) > 0.6), -1);
        const exact = words(await daemon.bytes(`/default/height/${z}/${x}/${y}.r16`));
        assert.ok(picture.samples.some((value, i) => value !== exact[i]), 'filtered');
    });

    it('have numbers with all octaves', () => eachRow(['.f32', '.r16', '.u8', '@2x.f32', '.f32?border=1'], async (ext) => {
        assertSameBytes(await daemon.bytes(tile(ext)), await daemon.bytes(`/default/height/${z}/${x}/${y}${ext}`), ext);
    }));

    it('are regions with the pixels of their tiles', async () => {
        const at = [BigInt(256 * x * 16 - 2 ** 23) * 1024n, BigInt(256 * y * 16 - 2 ** 23) * 1024n];
        const region = await daemon.get(`${target(at, [256, 256], { step: 16n * 1024n, form: 'png' })}&layer=field.height`);
        assert.deepEqual(decodePng(region.body).samples, decodePng(await daemon.bytes(tile('.png'))).samples);
        assert.match(region.headers.etag, /region-field/);
    });

    it('are cached, also for other seeds', async () => {
        for (const world of ['drawn', 'drawn:7']) {
            const { layers, urls } = await daemon.json(`/${world}.json`);
            assert.deepEqual(layers, [], 'a world with one field has no layers of others');
            assert.ok(urls.region_field);
            const { fingerprint, tiles, farlands } = await daemon.json(`/${world}/field.height.json`);
            assert.deepEqual([farlands.layer, farlands.range, farlands.extensions], ['field.height', [-6500, 6000], ['png', 'r16', 'f32', 'u8']]);
            const url = tiles[0].replace(/^http:..[^/]*/, '').replace('{z}', z).replace('{x}', x).replace('{y}', y);
            const first = await daemon.get(url), again = await daemon.get(url);
            assert.deepEqual(again.body, first.body);
            assert.equal(first.headers.etag, `"${fingerprint}${tile('.png', '').slice(1)}"`);
            assert.match(first.headers['cache-control'], /immutable/);
            assertStatus(await daemon.get(url, { 'If-None-Match': first.headers.etag }), 304);
            assert.match((await daemon.get(`/${world}/field.height.xml`)).body.toString(), /<Offset>-6500<.*field\.height/s);
        }
    });

    it('are refused with the reason', () => eachRow([
        [tile('.png', 'default', 'heigth'), /field.*"heigth"; did you mean "height"\?/], ['/default/field.rain.json', /field.*"rain"; it has height/],
        ['/default/field/1/2/3.png', /no layer "field"/], ['/default/field./1/2/3.png', /no layer "field\."/],
        ['/default/relief.height/1/2/3.png', /no layer/], ['/default/field.surface/1/2/3.png', /no tiles of its surface; expected a region, field=surface/], [tile('.png', 'few'), /does not serve "field\.height"/],
        [tile('.jpg'), /extension/], [`/drawn/relief/${z}/${x}/${y}.png`, /does not serve/],
    ], async ([path, why]) => assertError(await daemon.get(path), 404, why)));
});

describe('a world of several fields', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: GRAPH });
    const NAMES = ['continents', 'rain', LONG, 'half', 'height'];
    const at = [blocks(100), -blocks(200)], sides = [5, 3], step = 2n * 1024n;
    const values = async (field, world = 'graph') => floats(await daemon.bytes(`${target(at, sides, { world, step })}&field=${field}`));

    it('has different values for each', async () => {
        const fields = Object.fromEntries(await Promise.all(NAMES.map(async (name) => [name, await values(name)])));
        fields.continents.forEach((value, i) => {
            assert.equal(fields.rain[i], Math.fround(value * 100));
            assert.equal(fields[LONG][i], Math.max(fields.rain[i], 0));
            assert.equal(fields.half[i], 0.5);
        });
        assert.deepEqual(fields.height, floats(await daemon.bytes(target(at, sides, { world: 'graph', step }))));
        assert.notDeepEqual(await values('rain', 'graph:7'), fields.rain);
        const places = Array.from({ length: 15 }, (_, i) => `${100 + 2 * (i % 5)},${-200 + 2 * Math.floor(i / 5)}`);
        const list = await daemon.json(`/graph/heights?at=${places.join(';')}&fields=${NAMES.join(',')}`);
        const one = await daemon.json(`/graph/height?x=104&y=-198&fields=${[...NAMES].reverse().join(',')}`);
        assert.deepEqual([Object.keys(list.fields), Object.keys(one.fields)], [NAMES, [...NAMES].reverse()]);
        for (const name of NAMES) {
            assert.deepEqual(list.fields[name].map(Math.fround), Array.from(fields[name]), name);
            assert.equal(Math.fround(one.fields[name]), fields[name][7], name);
        }
    });

    it('lists their layers with ranges and units', async () => {
        const { layers, ranges } = await daemon.json('/graph.json');
        const listed = layers.filter(({ name }) => name.startsWith('field.'));
        assert.deepEqual(listed.map(({ name }) => name), [...NAMES.slice(0, -1), 'surface'].map((name) => `field.${name}`));
        assert.deepEqual(listed[1].range, ranges.rain);
        assert.deepEqual(listed.map(({ unit }) => unit), ['m/s', undefined, undefined, undefined, 'm']);
        assert.equal((await daemon.json('/worlds.json')).worlds[0].layers.length, layers.length - listed.length);
        await eachRow(listed, async ({ name, range, unit, tiles, tilejson, gdal, fingerprint }) => {
            const tile = await daemon.get(`/${tiles.replace('{z}', 10).replace('{x}', -3).replace('{y}', 512)}`);
            assertStatus(tile, 200);
            assert.equal(tile.headers.etag, `"${fingerprint}/${name}/10/-3/512.png"`);
            assert.equal(decodePng(tile.body).depth, 16);
            const { farlands } = await daemon.json(`/${tilejson}`);
            assert.deepEqual([farlands.range, farlands.unit], [range, unit]);
            assertStatus(await daemon.get(`/${gdal}`), 200);
            const { headers } = await daemon.get(`${target(at, sides, { world: 'graph', form: 'u8' })}&field=${name.slice(6)}`);
            assert.equal(headers['farlands-field'], name.slice(6));
            assert.deepEqual(headers['farlands-range'].split(' ').map((value) => Math.fround(Number(value))), range.map(Math.fround));
        });
    });

    it('has an ETag for each field and range', async () => {
        const tags = await Promise.all(['', ...NAMES.slice(0, -1).map((name) => `&field=${name}`), '&field=rain&range=-20,20', '&layer=field.rain']
            .map(async (query) => (await daemon.get(`${target(at, sides, { world: 'graph', form: 'png' })}${query}`)).headers.etag));
        assert.equal(new Set(tags).size, tags.length);
    });

    it('names the nearest field', async () => assertError(await daemon.get(`${target(at, sides, { world: 'graph' })}&field=rian`), 404,
        /"rian"; did you mean "rain"\? it has continents, rain/));
});

describe('the surface', { timeout: TIMEOUT }, () => {
    const world = (name, more) => `
  - name: ${name}
    seeds: any
    volume: { overhangs: { amplitude: 40 }, tunnels: { cover: 0 } }${more}`;
    const hills = `
    fields:
      height: { multiply: [{ noise: { wavelength: 100, octaves: 2 } }, 60], unit: m }`;
    const daemon = useDaemon({ config: `worlds:${world('noise', '')}${world('graph', hills)}${world('own', `${hills}
      surface: 7`)}${world('level', hills).replace('amplitude: 40', 'amplitude: 0')}
` });
    const sides = [40, 9];
    const at = (x, y) => [blocks(x), blocks(y)];
    const surfaces = async (name, place, step, form = 'f32') =>
        daemon.bytes(`${target(place, sides, { world: name, step, form })}&field=surface`);

    it('is a field of each world, the same as at places', () => eachRow([
        ['noise', 1], ['noise', 8], ['graph', 1], ['graph', 2], ['graph', 16], ['graph', 1024], ['graph:5', 4],
    ], async ([name, step]) => {
        const region = floats(await surfaces(name, at(100, -300), BigInt(1024 * step)));
        const places = Array.from(region, (_, i) => `${100 + step * (i % 40)},${-300 + step * Math.floor(i / 40)}`);
        const { heights, fields } = await daemon.json(`/${name}/heights?at=${places.join(';')}&fields=surface`);
        assert.deepEqual(fields.surface.map(Math.fround), Array.from(region));
        const moved = fields.surface.filter((surface, i) => surface !== heights[i]).length;
        assert.ok(moved > 0 && moved < region.length, `${moved} of ${region.length} have moved`);
    }));

    it('has integers over the range of heights, and pictures that are not filtered', async () => {
        const { range } = await daemon.json('/graph.json');
        const exact = floats(await surfaces('graph', at(0, 0), blocks(16)));
        const numbers = words(await surfaces('graph', at(0, 0), blocks(16), 'r16'));
        exact.forEach((value, i) => assert.ok(Math.abs(range[0] + numbers[i] / 65535 * (range[1] - range[0]) - value) < 0.01));
        const picture = decodePng(await daemon.bytes(`${target(at(0, 0), sides, { world: 'graph', step: blocks(16), form: 'png' })}&layer=field.surface`));
        assert.deepEqual(Array.from(picture.samples), Array.from(numbers));
        const bytes = await surfaces('graph', at(0, 0), blocks(16), 'u8');
        assert.ok(bytes.every((byte, i) => Math.abs(byte * 257 - numbers[i]) < 130));
        const tile = '/graph/field.surface/16/3/-2';
        assert.deepEqual(Array.from(decodePng(await daemon.bytes(`${tile}.png`)).samples), Array.from(words(await daemon.bytes(`${tile}.r16`))));
    });

    it('gives way to a field of that name', async () => {
        const { layers } = await daemon.json('/own.json');
        assert.deepEqual(layers.filter(({ name }) => name === 'field.surface').map(({ range }) => range[0]), [7]);
        assert.ok(floats(await surfaces('own', at(0, 0), blocks(1))).every((value) => value === 7));
    });

    it('has an ETag that depends on the volume', async () => {
        const tags = await Promise.all(['graph', 'level'].flatMap((name) => ['&field=surface', '&layer=field.surface', ''].map(async (query) =>
            (await daemon.get(`${target(at(0, 0), sides, { world: name, form: 'png' })}${query}`)).headers.etag)));
        assert.equal(tags[2].split('/')[0], tags[5].split('/')[0], 'heights do not');
        assert.equal(new Set(tags.map((tag) => tag.split('/')[0])).size, 3);
    });
});
