// farlands render --export: it writes a complete archive with the same tiles as the daemon serves,
// or none, with a message that gives the reason.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import zlib from 'node:zlib';
import { withDaemon } from './daemon.mjs';
import { BINARY, TIMEOUT, end, eventually, filesBelow, fractal, launch, run, scratch, scratchFile } from './program.mjs';
import { eachRow } from './table.mjs';

const WORLD = ['--world', 'default', '--layer', 'relief'];

/* Archives of the built-in worlds; PLAIN ones, if they are about bytes and files. */
const render = (cache, args) => run(['render', '--cache', cache, ...args]);
const plain = (cache, args) => run(fractal('render', '--cache', cache, ...args));
const archive = () => path.join(scratch(), 'world.mbtiles');

/* Parse the line on stdout of a successful run: { total, rendered, found }. */
function summary({ code, stdout, stderr }) {
    assert.equal(code, 0, `exit code ${code}: ${stderr}`);
    const line = /^farlands: (\d+) tiles are in \S+\.mbtiles: (\d+) rendered, (\d+) from the cache, in .*\n$/.exec(stdout);
    assert.ok(line, `stdout: ${stdout}`);
    const [total, rendered, found] = line.slice(1).map(Number);
    return { total, rendered, found };
}

/* Run SQL with SQLite's own program and return the rows. */
const query = (file, sql) =>
    JSON.parse(execFileSync('sqlite3', ['-readonly', '-json', file, sql], { maxBuffer: 1 << 30 }).toString() || '[]');

const metadata = (file) => Object.fromEntries(query(file, 'SELECT * FROM metadata').map(({ name, value }) => [name, value]));

/* The tiles in FILE as a map from z/x/y of URLs to PNGs. */
function tilesOf(file) {
    assert.deepEqual(query(file, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
    return new Map(query(file, 'SELECT zoom_level AS z, tile_column AS x, tile_row AS row, hex(tile_data) AS png FROM tiles')
        .map(({ z, x, row, png }) => [`${z}/${x}/${2 ** z - 1 - row}`, Buffer.from(png, 'hex')]));
}

/* The hash of all tiles by its definition: that of martin's program mbtiles. */
function hashOf(file) {
    const hash = createHash('md5');
    for (const { z, x, row, png } of query(file, `SELECT zoom_level AS z, tile_column AS x, tile_row AS row, hex(tile_data) AS png
        FROM tiles ORDER BY 1, 2, 3`))
        hash.update(`${z}${x}${row}`).update(Buffer.from(png, 'hex'));
    return hash.digest('hex').toUpperCase();
}

/* Assert that the directory of FILE is empty. */
const assertNothing = (file) => assert.deepEqual(fs.readdirSync(path.dirname(file)), []);

describe('an archive', { timeout: TIMEOUT }, () => {
    it('contains the tiles that the daemon serves', () => withDaemon(async (daemon) => {
        await eachRow([
            [[...WORLD, '--zoom', '0-2'], 'default/relief', '', 21],
            [['--world', 'default:42', '--layer', 'gray', '--zoom', '9-11', '--bbox', '-20000,-20000,20000,0'], 'default:42/gray', '', 28],
            [['--world', 'alps', '--layer', 'height', '--zoom', '12', '--scale', '2', '--bbox', '-4096,-4096,4095,4095'], 'alps/height', '@2x', 4],
            [['--tiles', scratchFile('list', '/default/normal/3/1/2.png\ndefault/normal/26/0/67108863.png\n')], 'default/normal', '', 2],
        ], async ([args, layer, density, total]) => {
            const file = archive();
            assert.deepEqual(summary(await render(scratch(), [...args, '--export', file])), { total, rendered: total, found: 0 });
            const tiles = tilesOf(file);
            assert.equal(tiles.size, total);
            assert.equal(metadata(file).agg_tiles_hash, hashOf(file));
            for (const [place, png] of tiles)
                assert.ok(png.equals(await daemon.bytes(`/${layer}/${place}${density}.png`)), place);
            assert.deepEqual(fs.readdirSync(path.dirname(file)), ['world.mbtiles']);
        });
    }, { builtIn: true }));

    it('has metadata', () => withDaemon(async (daemon) => {
        await eachRow([
            [['terrarium', '0-1'], { minzoom: '0', maxzoom: '1', center: '0,0,1', encoding: 'terrarium',
                bounds: /^-180,-85\.0511287798\d+,180,85\.0511287798\d+$/ }],
            [['terrain-rgb', '3', '--bbox', '0,0,1,1'], { minzoom: '3', maxzoom: '3', encoding: 'mapbox',
                bounds: /^0,-40\.9798980696201\d*,45,0$/, center: /^22\.5,-21\.943045533438\d*,3$/ }],
            [['hillshade', '0', '--scale', '2'], { name: 'default hillshade @2x', encoding: undefined }],
        ], async ([[layer, zoom, ...more], expected]) => {
            const file = archive();
            summary(await render(scratch(), ['--world', 'default', '--layer', layer, '--zoom', zoom, ...more, '--export', file]));
            const { generator } = await daemon.json('/default.json');
            const { name, description, ...rest } = metadata(file);
            const tilejson = await daemon.json(`/default/${layer}.json`);
            assert.equal(name, expected.name ?? tilejson.name);
            assert.equal(description, tilejson.description);
            assert.equal(rest.format, 'png');
            assert.equal(rest.type, 'baselayer');
            assert.equal(rest.version, String(generator));
            assert.equal(rest.fingerprint, tilejson.fingerprint);
            assert.equal(rest.encoding, tilejson.encoding);
            assert.equal(rest.attribution, 'Farlands, world default');
            assert.deepEqual(JSON.parse(rest.json), { tileSize: more.includes('--scale') ? 512 : 256, ...(tilejson.encoding && { encoding: tilejson.encoding }) });
            for (const [key, value] of Object.entries(expected).filter(([key]) => key !== 'name'))
                value instanceof RegExp ? assert.match(rest[key], value) : assert.equal(rest[key], value, key);
        });
    }, { builtIn: true }));

    it('reuses cached tiles, and fills the cache', async () => {
        const cache = scratch();
        const first = archive();
        await plain(cache, [...WORLD, '--zoom', '2']);
        assert.deepEqual(summary(await plain(cache, [...WORLD, '--zoom', '0-3', '--export', first])), { total: 85, rendered: 69, found: 16 });
        const second = archive();
        assert.deepEqual(summary(await plain(cache, [...WORLD, '--zoom', '0-3', '--export', second])), { total: 85, rendered: 0, found: 85 });
        assert.deepEqual(tilesOf(second), tilesOf(first));
    });

    it('can contain a single shard', async () => {
        const cache = scratch();
        const shards = await Promise.all([0, 1].map(async (shard) => {
            const file = archive();
            summary(await plain(cache, [...WORLD, '--zoom', '0-2', '--shard', `${shard}/2`, '--export', file]));
            return [...tilesOf(file).keys()];
        }));
        assert.equal(new Set(shards.flat()).size, 21);
        assert.equal(shards.flat().length, 21);
    });
});

/* PMTiles as a map from z/x/y to tiles, by the specification: its directories, and their ids along Hilbert's curve. */
function pmtilesOf(file) {
    const bytes = fs.readFileSync(file);
    assert.equal(bytes.toString('latin1', 0, 8), 'PMTiles\x03');
    const [root, json, leaves, tiles] = [8, 24, 40, 56].map((at) => {
        const offset = Number(bytes.readBigUInt64LE(at));
        return bytes.subarray(offset, offset + Number(bytes.readBigUInt64LE(at + 8)));
    });
    const found = new Map();
    const walk = (packed) => {
        const plain = zlib.gunzipSync(packed);
        let at = 0;
        const next = () => {
            for (let value = 0, unit = 1; ; unit *= 128) {
                const byte = plain[at++];
                value += (byte & 127) * unit;
                if (byte < 128)
                    return value;
            }
        };
        const entries = Array.from({ length: next() }, () => ({}));
        for (const key of ['id', 'run', 'length', 'offset'])
            entries.forEach((entry, i) => { entry[key] = next() + (key === 'id' && i ? entries[i - 1].id : 0); });
        entries.forEach((entry, i) => {
            entry.offset = entry.offset ? entry.offset - 1 : entries[i - 1].offset + entries[i - 1].length;
            if (!entry.run)
                walk(leaves.subarray(entry.offset, entry.offset + entry.length));
            for (let k = 0; k < entry.run; k++)
                found.set(placeOf(entry.id + k), tiles.subarray(entry.offset, entry.offset + entry.length));
        });
    };
    walk(root);
    return { tiles: found, metadata: JSON.parse(zlib.gunzipSync(json)), header: bytes.subarray(0, 127) };
}

/* The tile with an id, as z/x/y. */
function placeOf(id) {
    let z = 0, left = id, x = 0, y = 0;
    for (; left >= 4 ** z; z++)
        left -= 4 ** z;
    for (let side = 1; side < 2 ** z; side *= 2, left = Math.floor(left / 4)) {
        const right = left >> 1 & 1, lower = (left ^ right) & 1;
        if (!lower)
            [x, y] = right ? [side - 1 - y, side - 1 - x] : [y, x];
        [x, y] = [x + side * right, y + side * lower];
    }
    return `${z}/${x}/${y}`;
}

describe('a PMTiles archive', { timeout: TIMEOUT }, () => {
    it('has the tiles of MBTiles, in zooms, formats and boxes', () => eachRow([
        [...WORLD, '--zoom', '0-3'], [...WORLD, '--zoom', '2', '--format', 'webp'],
        ['--world', 'default:42', '--layer', 'gray', '--zoom', '9-11', '--bbox', '-20000,-20000,20000,0'],
        ['--world', 'default', '--layer', 'terrarium', '--zoom', '1', '--scale', '2'],
    ], async (args) => {
        const cache = scratch(), [one, other] = ['a.mbtiles', 'a.pmtiles'].map((name) => path.join(scratch(), name));
        for (const file of [one, other]) {
            const { code, stderr } = await plain(cache, [...args, '--export', file]);
            assert.equal(code, 0, stderr);
        }
        const { tiles, metadata: { name, description, attribution, encoding, fingerprint, version }, header } = pmtilesOf(other);
        assert.deepEqual(tiles, tilesOf(one));
        const expected = metadata(one);
        for (const [key, value] of Object.entries({ name, description, attribution, encoding, fingerprint, version }))
            assert.equal(value, expected[key], key);
        assert.equal(header[99], args.includes('webp') ? 4 : 2);
        assert.deepEqual([header[100], header[101]].map(String), [expected.minzoom, expected.maxzoom]);
        const degrees = [102, 106, 110, 114].map((at) => header.readInt32LE(at) / 1e7);
        expected.bounds.split(',').forEach((value, i) => assert.ok(Math.abs(value - degrees[i]) < 1e-7, `${expected.bounds}: ${degrees}`));
        assert.deepEqual(fs.readdirSync(path.dirname(other)), ['a.pmtiles']);
    }));

    it('is complete or absent', async () => {
        const cache = scratch(), file = path.join(scratch(), 'a.pmtiles');
        const program = launch(fractal('render', '--cache', cache, ...WORLD, '--zoom', '0-8', '--export', file));
        // A run renders once the file is its own.
        assert.ok(await eventually(() => filesBelow(cache).some((name) => name.endsWith('.png'))));
        assert.match((await plain(cache, [...WORLD, '--zoom', '0', '--export', file])).stderr.toString(), /a\.pmtiles\.unfinished: another run is writing it/);
        program.child.kill('SIGTERM');
        await end(program);
        assertNothing(file);
        const { code, stderr } = await plain(cache, [...WORLD, '--zoom', '0', '--shard', '1/2', '--export', file]);
        assert.equal(code, 1);
        assert.match(stderr.toString(), /a\.pmtiles: No data available \(no tiles; PMTiles have one at least\)/);
        assertNothing(file);
    });
});

describe('an interrupted archive', { timeout: TIMEOUT }, () => {
    const large = (file, cache) => fractal('render', '--cache', cache, ...WORLD, '--zoom', '9', '--threads', '1', '--export', file);
    const grows = (file) => eventually(() => fs.existsSync(`${file}.unfinished`) && fs.statSync(`${file}.unfinished`).size > 1 << 20, 300000);

    it('leaves its tiles in the cache', async () => {
        const cache = scratch();
        const file = archive();
        const program = launch(large(file, cache));
        assert.ok(await grows(file), 'nothing is written');
        assert.ok(!fs.existsSync(file));
        program.child.kill('SIGINT');
        const { code, stdout, stderr } = await end(program);
        assert.equal(code, 1, stderr);
        assert.equal(stdout.length, 0);
        assertNothing(file);
        const corner = ['--bbox', '-8388608,-8388608,-8126464,-8126464'];
        const { rendered, found } = summary(await plain(cache, [...WORLD, '--zoom', '9', ...corner, '--export', file]));
        assert.ok(found >= 8 && rendered + found === 64, `${found} found, ${rendered} rendered`);
    });

    it('is replaced after SIGKILL, but not while another run writes it', async () => {
        const cache = scratch();
        const file = archive();
        const args = [...WORLD, '--zoom', '0-1', '--export', file];
        const program = launch(large(file, cache));
        assert.ok(await grows(file), 'nothing is written');
        const other = await plain(scratch(), args);
        assert.equal(other.code, 1);
        assert.match(other.stderr, /^farlands: .*world\.mbtiles\.unfinished: another run is writing it\n$/);
        program.child.kill('SIGKILL');
        await end(program);
        assert.ok(fs.existsSync(`${file}.unfinished`));
        assert.equal(summary(await plain(cache, args)).total, 5);
        assert.equal(tilesOf(file).size, 5);
        assert.deepEqual(fs.readdirSync(path.dirname(file)), ['world.mbtiles']);
    });

    it('is removed if the file becomes too large, with a message', async () => {
        const file = archive();
        const args = large(file, scratch());
        const program = launch(['-c', 'ulimit -f 4096; exec "$0" "$@"', BINARY, ...args], {}, { binary: 'bash' });
        const { code, signal, stderr } = await end(program);
        assert.equal(code, 1, `${signal}: ${stderr}`);
        assert.match(stderr, /^farlands: .*world\.mbtiles: File too large \(.*\)$/m);
        assertNothing(file);
    });
});

describe('render --export rejects', { timeout: TIMEOUT }, () => {
    const mine = scratchFile('mine.mbtiles', 'mine');
    const foreign = path.join(scratch(), 'other.mbtiles');
    fs.writeFileSync(`${foreign}.unfinished`, 'mine');
    const to = (file, ...args) => [...args, '--export', file];
    const list = (text) => ['--tiles', scratchFile('list', text)];

    it('tiles and files that are impossible, before rendering', () => eachRow([
        [2, to('a.mbtiles', ...list('default/relief/1/0/0.png\ndefault/relief/1/0/0@2x.png\n')), /at one scale, not both default\/relief and default\/relief @2x/],
        [2, to('a.mbtiles', ...list('default/relief/1/0/0.png\ndefault:7/relief/1/0/0.png\n')), /one world .*default:7\/relief/],
        [2, to('a.mbtiles', ...WORLD, '--zoom', '3', '--bbox', '0,0,1,8388609'), /0 <= x, y < 2\^z; zoom 3 has others/],
        [2, to('a.mbtiles', ...list('default/relief/3/8/0.png\n')), /0 <= x, y < 2\^z/],
        [2, [...WORLD, '--zoom', '1', '--export'], /missing value: --export/],
        [1, to(mine, ...WORLD, '--zoom', '1'), /mine\.mbtiles: file exists; archives are never overwritten/],
        [1, to(foreign, ...WORLD, '--zoom', '1'), /other\.mbtiles\.unfinished: file exists and is not an interrupted archive/],
        [2, to('a.zip', ...WORLD, '--zoom', '1'), /--export: expected a name that ends in \.mbtiles or \.pmtiles, not ".*a\.zip"/],
        [1, to('nowhere/a.pmtiles', ...WORLD, '--zoom', '1'), /nowhere\/a\.pmtiles: No such file or directory/],
        [1, to('/proc/a.pmtiles', ...WORLD, '--zoom', '1'), /\/proc\/a\.pmtiles: /],
        [1, to('nowhere/a.mbtiles', ...WORLD, '--zoom', '1'), /nowhere\/a\.mbtiles: No such file or directory/],
        [1, to('/proc/a.mbtiles', ...WORLD, '--zoom', '1'), /\/proc\/a\.mbtiles: /],
    ], async ([expected, args, names]) => {
        const cache = path.join(scratch(), 'cache');
        const { code, stdout, stderr } = await render(cache, args);
        assert.equal(code, expected, stderr);
        assert.match(stderr, names);
        assert.equal(stdout.length, 0);
        assert.ok(!fs.existsSync(cache), 'the cache was created');
        assert.equal(fs.readFileSync(mine, 'latin1'), 'mine');
        assert.equal(fs.readFileSync(`${foreign}.unfinished`, 'latin1'), 'mine');
    }));
});
