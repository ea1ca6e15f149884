// GDAL reads archives from farlands render --export: every pixel equals the daemon's tiles, and heights equal the
// pictures' heights.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { useDaemon } from '../http/daemon.mjs';
import { filteredTiles } from '../http/filtered.mjs';
import { decodePng } from '../http/png.mjs';
import { BINARY, patience, run, scratch } from '../http/program.mjs';
import { eachRow } from '../http/table.mjs';
import { example } from './readme.mjs';

const BANDS = 3;
const EARTH = 2 * Math.PI * 6378137;            // metres around the equator in Web Mercator
const directory = scratch();

/* Run a GDAL program in that directory; returns its output. Output on stderr fails the test. */
async function gdal(program, ...args) {
    const { stdout, stderr } = await promisify(execFile)(program, args, { cwd: directory, timeout: patience(300000) });
    assert.equal(stderr, '', `${program} ${args.join(' ')}`);
    return stdout;
}

/* All pixels of the archive at a zoom, as interleaved red, green and blue. */
async function pixels(file, zoom) {
    await gdal('gdal_translate', '-q', '-of', 'ENVI', '-co', 'INTERLEAVE=BIP', '-b', '1', '-b', '2', '-b', '3',
        '-oo', `ZOOM_LEVEL=${zoom}`, file, 'pixels.raw');
    return readFileSync(path.join(directory, 'pixels.raw'));
}

/* The pixels of a tile, as interleaved red, green and blue. */
function colors(png) {
    const { channels, samples } = decodePng(png);
    return channels === BANDS ? samples : Uint8Array.from({ length: BANDS * samples.length }, (_, i) => samples[Math.floor(i / BANDS)]);
}

/* Tile (I, J) of a raster COLUMNS tiles wide. */
function tileOf(raster, size, columns, i, j) {
    const rows = Array.from({ length: size }, (_, row) => {
        const at = BANDS * (((j * size + row) * columns + i) * size);
        return raster.subarray(at, at + BANDS * size);
    });
    return Buffer.concat(rows);
}

describe('archives in GDAL', { timeout: patience(900000) }, () => {
    const daemon = useDaemon({ builtIn: true });

    /* Export an archive from the daemon's cache; returns its path. */
    async function archive(name, { world = 'default', layer, zooms, scale = 1, bbox }) {
        const file = path.join(directory, name);
        const { code, stderr } = await run(['render', '--cache', daemon.cache, '--world', world, '--layer', layer, '--zoom', zooms,
            '--scale', String(scale), ...(bbox ? ['--bbox', bbox] : []), '--export', file], { limit: 60000 });
        assert.equal(code, 0, stderr);
        return file;
    }

    const WINDOWS = [
        // first tile and number of tiles at each zoom
        [{ layer: 'relief', zooms: '0-2' }, { 0: [0, 0, 1, 1], 1: [0, 0, 2, 2], 2: [0, 0, 4, 4] }],
        [{ layer: 'terrarium', zooms: '3-4', scale: 2, bbox: '-8388608,0,-4194304,4194304' }, { 3: [0, 4, 2, 2], 4: [0, 8, 4, 4] }],
        [{ layer: 'hillshade', zooms: '16', bbox: '-256,-512,512,0' }, { 16: [32767, 32766, 3, 2] }],
        [{ world: 'default:7', layer: 'relief', zooms: '22', bbox: '-5,-1,-0.5,-0.75' }, { 22: [2097150, 2097151, 2, 1] }],     // GDAL's highest zoom
        [{ layer: 'gray', zooms: '5', bbox: '8388607,8388607,8388608,8388608' }, { 5: [31, 31, 1, 1] }],
    ];

    it('every tile has the daemon\'s pixels, at the right place', () => eachRow(WINDOWS, async ([window, zooms]) => {
        const file = await archive(`${window.layer}-${window.zooms}.mbtiles`, window);
        const { world = 'default', layer, scale = 1 } = window;
        const size = 256 * scale;
        for (const [z, [x, y, columns, rows]] of Object.entries(zooms)) {
            const raster = await pixels(file, z);
            assert.equal(raster.length, BANDS * size * size * columns * rows, `zoom ${z}`);
            for (let i = 0; i < columns; i++)
                for (let j = 0; j < rows; j++) {
                    const name = `/${world}/${layer}/${z}/${x + i}/${y + j}${scale === 2 ? '@2x' : ''}.png`;
                    assert.ok(tileOf(raster, size, columns, i, j).equals(colors(await daemon.bytes(name))), name);
                }
        }
        const top = Math.max(...Object.keys(zooms).map(Number));
        const [x, y, columns] = zooms[top];
        const { size: sides, geoTransform, metadata } = JSON.parse(await gdal('gdalinfo', '-json', file));
        assert.equal(sides[0], columns * size);
        assert.equal(metadata[''].ZOOM_LEVEL, String(top));
        const [west, pixel, , north] = geoTransform;
        const near = (actual, expected, what) => assert.ok(Math.abs(actual - expected) < 1e-6, `${what}: ${actual}, not ${expected}`);
        near(pixel, EARTH / 2 ** top / size, 'pixel');
        near(west, EARTH * (x / 2 ** top - 0.5), 'west');
        near(north, EARTH * (0.5 - y / 2 ** top), 'north');
    }));

    it("runs the commands of server/CLIENTS.md", async () => {
        const lines = example('--export relief.mbtiles').split('\n').map((line) => line.split(' '));
        assert.deepEqual(lines.map(([program]) => program), ['build/farlands', 'gdal_translate']);
        const [[, ...args], [program, ...more]] = lines;
        await promisify(execFile)(BINARY, [...args, '--cache', daemon.cache], { cwd: directory, timeout: patience(300000) });
        await gdal(program, '-q', '-of', 'ENVI', '-co', 'INTERLEAVE=BIP', '-b', '1', '-b', '2', '-b', '3', ...more);
        const raster = readFileSync(path.join(directory, 'relief.tif'));
        assert.ok(tileOf(raster, 256, 8, 5, 2).equals(colors(await daemon.bytes('/default/relief/3/5/2.png'))));
    });

    it('heights are those of pictures', async () => {
        const file = await archive('heights.mbtiles', { layer: 'terrarium', zooms: '12', bbox: '-4096,-4096,0,0' });
        const raster = await pixels(file, 12);
        const heights = (await filteredTiles(await daemon.json('/default.json')))(12, 2047, 2047);
        assert.equal(raster.length, BANDS * heights.length);
        heights.forEach((metres, i) => {
            const [red, green, blue] = raster.subarray(BANDS * i);
            assert.ok(Math.abs(256 * red + green + blue / 256 - 32768 - metres) <= 1 / 512, `pixel ${i}`);
        });
    });
});
