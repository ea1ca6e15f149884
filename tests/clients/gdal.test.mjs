// GDAL's programs: tiles through its file system for URLs, the plane through its TMS driver. Every pixel
// is compared with the same tile's .f32, or with filtered heights.

import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { useDaemon } from '../http/daemon.mjs';
import { filteredTiles } from '../http/filtered.mjs';
import { floats } from '../http/grid.mjs';
import { decodePng } from '../http/png.mjs';
import { patience, scratch } from '../http/program.mjs';
import { eachRow } from '../http/table.mjs';
import { example } from './readme.mjs';

const TILE = 256;
const EXACT = 10;       // from this zoom on `height` is exact
const directory = scratch();

/* Later releases of GDAL try to keep statistics beside a VRT, also one that they read by HTTP, and say that they cannot. */
const NOT_KEPT = /^ERROR 4: Failed to open http\S* to write\.\n$/;

/* Run a GDAL program in that directory; returns its output. Output on stderr fails the test. */
async function gdal(program, ...args) {
    const { stdout, stderr } = await promisify(execFile)(program, args, {
        cwd: directory, timeout: patience(300000),
        env: { ...process.env, no_proxy: '*' },
    });
    assert.equal(stderr.replace(NOT_KEPT, ''), '', `${program} ${args.join(' ')}: ${stderr}`);
    return stdout;
}

/* All values of a raster, bands interleaved, as a typed array TYPE. */
async function values(raster, Type) {
    await gdal('gdal_translate', '-q', '-of', 'ENVI', '-co', 'INTERLEAVE=BIP', raster, 'values.raw');
    const bytes = readFileSync(path.join(directory, 'values.raw'));
    return new Type(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

const colors = (metres) => (bytes) => Float64Array.from({ length: bytes.length / 3 },
    (_, i) => metres(...bytes.subarray(3 * i, 3 * i + 3)));
const grays = ([min, max]) => (words) => Float64Array.from(words, (gray) => min + gray * (max - min) / 65535);

/*
 * How GDAL decodes each layer of heights, and the maximum error: half a step, and for 16 bits another
 * hundredth of a step for float rounding. Those for display leave out what is finer than a pixel.
 */
function encodings(range) {
    return [
        { layer: 'terrarium', filtered: true, bands: 3, type: 'Byte', decode: colors((r, g, b) => 256 * r + g + b / 256 - 32768),
            error: 1 / 512 },
        { layer: 'terrain-rgb', filtered: true, bands: 3, type: 'Byte', error: 0.05 + 1e-9,
            decode: colors((r, g, b) => -10000 + (65536 * r + 256 * g + b) * 0.1) },
        { layer: 'height', filtered: false, bands: 1, type: 'UInt16', decode: grays(range),
            error: 0.51 * (range[1] - range[0]) / 65535 },
    ];
}

const ARRAYS = { Byte: Uint8Array, UInt16: Uint16Array, Float32: Float32Array };

function assertHeights(actual, expected, error) {
    assert.equal(actual.length, expected.length);
    const at = expected.findIndex((metres, i) => !(Math.abs(actual[i] - metres) <= error));
    assert.ok(at < 0, `pixel ${at}: ${actual[at]}, not ${expected[at]} to ${error}`);
}

/* The TMS driver's description of COLUMNS x ROWS tiles of zoom Z from tile (X, Y) on. */
const tms = (url, { bands, type }, [z, x, y], [columns, rows]) => `<GDAL_WMS>
    <Service name="TMS"><ServerUrl>${url}</ServerUrl></Service>
    <DataWindow>
        <UpperLeftX>0</UpperLeftX><UpperLeftY>0</UpperLeftY>
        <LowerRightX>${columns}</LowerRightX><LowerRightY>${rows}</LowerRightY>
        <SizeX>${columns * TILE}</SizeX><SizeY>${rows * TILE}</SizeY>
        <TileLevel>${z}</TileLevel><TileX>${x}</TileX><TileY>${y}</TileY><YOrigin>top</YOrigin>
    </DataWindow>
    <BlockSizeX>${TILE}</BlockSizeX><BlockSizeY>${TILE}</BlockSizeY>
    <BandsCount>${bands}</BandsCount><DataType>${type}</DataType>
</GDAL_WMS>`;

describe('GDAL', { timeout: patience(900000) }, () => {
    const daemon = useDaemon({ builtIn: true, config: 'log: debug' });
    const base = () => `http://${daemon.authority}/default`;

    /* The heights of COLUMNS x ROWS tiles from tile (X, Y) on, as one array. */
    async function mosaic([z, x, y], [columns, rows], filtered = null) {
        const out = new Float32Array(columns * rows * TILE * TILE);
        for (let j = 0; j < rows; j++)
            for (let i = 0; i < columns; i++) {
                const tile = filtered ? filtered(z, x + i, y + j)
                    : floats(await daemon.bytes(`/default/height/${z}/${x + i}/${y + j}.f32`));
                for (let row = 0; row < TILE; row++)
                    out.set(tile.subarray(row * TILE, (row + 1) * TILE), ((j * TILE + row) * columns + i) * TILE);
            }
        return out;
    }

    /* What encodings have to be at these tiles: a function of one of them. Exact heights begin at a zoom. */
    async function expectedHeights(first, ...more) {
        const filtered = await mosaic(first, ...more, await filteredTiles(await daemon.json('/default.json')));
        const exact = first[0] < EXACT ? filtered : await mosaic(first, ...more);
        return (encoding) => (encoding.filtered ? filtered : exact);
    }

    const TILES = [
        ['/vsicurl/', 12, -3, -7], ['/vsicurl/', 12, 2047, 2048], ['/vsicurl/', -12, 1, -2],
        ['/vsicurl/', 26, 33554431, -1],
        ['/vsicurl/', 0, 0, 0], ['/vsicurl_streaming/', -26, -3, 3],
        ['/vsicurl_streaming/', 16, -70000, 123456],
    ];

    it('opens tiles by URL', () => eachRow(TILES, async ([system, ...tile]) => {
        const { range } = await daemon.json('/default.json');
        const heights = await expectedHeights(tile, [1, 1]);
        for (const encoding of encodings(range)) {
            const { layer, type, decode, error } = encoding;
            const raster = `${system}${base()}/${layer}/${tile.join('/')}.png`;
            assertHeights(decode(await values(raster, ARRAYS[type])), heights(encoding), error);
        }
    }));

    it('shows the whole of height.xml', async () => {
        const { bands: [{ overviews }] } = JSON.parse(await gdal('gdalinfo', '-json', `${base()}/height.xml`));
        assert.deepEqual(overviews.at(-1).size, [TILE, TILE]);
        const before = await daemon.rendered();
        await gdal('gdal_translate', '-q', '-outsize', 64, 64, `${base()}/height.xml`, 'whole.tif');
        assert.ok(await daemon.rendered() <= before + 1, 'it reads more than one tile');
    });

    /* QGIS derives its colors from these. */
    it('estimates statistics of height.xml by its overviews', async () => {
        const { bands: [{ minimum, maximum }] } = JSON.parse(await gdal('gdalinfo', '-json', '-approx_stats', `${base()}/height.xml`));
        const { samples } = decodePng(await daemon.bytes('/default/height/0/0/0.png'));
        assert.deepEqual([minimum, maximum], [samples.reduce((a, b) => Math.min(a, b)), samples.reduce((a, b) => Math.max(a, b))]);
    });

    /* Its driver for WMTS makes bytes of 16 bits. */
    it('reads heights from the WMTS at zoom 0', () => gdal('gdal_translate', '-q', '-outsize', TILE, TILE,
        `WMTS:http://${daemon.authority}/wmts.xml,layer=default:height`, 'cut.tif'));

    /* GDAL first requests the size, then lists the directory and looks for sidecar files. */
    it('finds nothing beside a tile', async () => {
        const url = `/vsicurl/${base()}/terrarium/12/-3/-7.png`;
        const { size, files } = JSON.parse(await gdal('gdalinfo', '-json', url));
        assert.deepEqual(size, [TILE, TILE]);
        assert.equal(files.length, 1);
        assert.match(daemon.stderr, /HEAD \/default\/terrarium\/12\/-3\/-7\.png 200/);
        assert.match(daemon.stderr, /GET \/default\/terrarium\/12\/-3\/ 4\d\d/);
        assert.match(daemon.stderr, / \/default\/terrarium\/12\/-3\/-7\.pgw 404/);
    });

    it('reads raw heights', () => eachRow(TILES, async ([, ...tile]) => {
        writeFileSync(path.join(directory, 'raw.vrt'), `<VRTDataset rasterXSize="${TILE}" rasterYSize="${TILE}">
            <VRTRasterBand dataType="Float32" band="1" subClass="VRTRawRasterBand">
                <SourceFilename>/vsicurl/${base()}/height/${tile.join('/')}.f32</SourceFilename>
                <PixelOffset>4</PixelOffset><LineOffset>${4 * TILE}</LineOffset><ByteOrder>LSB</ByteOrder>
            </VRTRasterBand></VRTDataset>`);
        assertHeights(await values('raw.vrt', Float32Array), await mosaic(tile, [1, 1]), 0);
    }));

    const WINDOWS = [
        // first tile, columns and rows: across the axes of the grid
        [[12, -2, -1], [4, 3]],
        [[-3, -1, -2], [2, 3]],
        [[16, 32767, 32767], [2, 2]],
    ];

    /* As GDAL 3.10 does, and 3.6 does not. */
    async function refusesNegativeLevels() {
        writeFileSync(path.join(directory, 'tms.xml'), tms(`${base()}/relief/\${z}/\${x}/\${y}.png`, { bands: 3, type: 'Byte' }, [-3, 0, 0], [1, 1]));
        const { stderr } = await promisify(execFile)('gdalinfo', ['tms.xml'], { cwd: directory }).catch((error) => error);
        return /Invalid value for TileLevel/.test(stderr);
    }

    it('reads the plane through TMS', () => eachRow(WINDOWS, async ([first, size]) => {
        if (first[0] < 0 && await refusesNegativeLevels())
            return;
        const { range } = await daemon.json('/default.json');
        const heights = await expectedHeights(first, size);
        for (const encoding of encodings(range)) {
            const url = `${base()}/${encoding.layer}/\${z}/\${x}/\${y}.png`;
            writeFileSync(path.join(directory, 'tms.xml'), tms(url, encoding, first, size));
            const raster = await values('tms.xml', ARRAYS[encoding.type]);
            assertHeights(encoding.decode(raster), heights(encoding), encoding.error);
        }
    }));

    it('paints relief through TMS, few colors or many', () =>
        eachRow([['palette', 25, 16777216, -1], ['palette', 6, 32, 31]], async ([color, ...tile]) => {
            const url = `${base()}/relief/\${z}/\${x}/\${y}.png`;
            writeFileSync(path.join(directory, 'tms.xml'), tms(url, { bands: 3, type: 'Byte' }, tile, [1, 1]));
            const sent = decodePng(await daemon.bytes(`/default/relief/${tile.join('/')}.png`));
            assert.equal(sent.color, color);
            assert.deepEqual(await values('tms.xml', Uint8Array), sent.samples);
        }));

    /* RGB pixels of COLUMNS x ROWS tiles of LAYER from tile (X, Y) on. */
    async function picture(layer, [z, x, y], [columns, rows]) {
        const out = Buffer.alloc(columns * rows * TILE * TILE * 3);
        for (let j = 0; j < rows; j++)
            for (let i = 0; i < columns; i++) {
                const { samples, channels } =
                    decodePng(await daemon.bytes(`/${layer}/${z}/${x + i}/${y + j}.png`));
                for (let row = 0; row < TILE; row++)
                    for (let n = 0; n < 3 * TILE; n++)
                        out[((j * TILE + row) * columns + i) * TILE * 3 + n] =
                            samples[row * TILE * channels + (channels === 3 ? n : Math.floor(n / 3))];
            }
        return out;
    }

    /* Zoom, and the first of 2 x 2 tiles: corners of the window, its middle, and places near the edges. */
    const CORNERS = [[1, 0, 0], [6, 31, 32], [16, 32767, 32767], [16, 65534, 1]];

    it('opens a layer by its URL, north up and in blocks', () => eachRow(CORNERS, async ([z, x, y]) => {
        const { range } = await daemon.json('/default.json');
        const width = 2 ** (24 - z), [west, north] = [-(2 ** 23) + x * width, 2 ** 23 - y * width];
        const heights = await expectedHeights([z, x, y], [2, 2]);
        for (const encoding of encodings(range)) {
            const { layer, type, decode, error } = encoding;
            await gdal('gdal_translate', '-q', '-projwin', west, north, west + 2 * width, north - 2 * width,
                '-outsize', 2 * TILE, 2 * TILE, `${base()}/${layer}.xml`, 'cut.tif');
            assertHeights(decode(await values('cut.tif', ARRAYS[type])), heights(encoding), error);
        }
    }));

    it('knows how many metres heights are, of any world', async () => {
        await gdal('gdal_translate', '-q', '-projwin', -256, 256, 256, -256, '-unscale', '-ot', 'Float32',
            `${base()}:7/height.xml`, 'metres.tif');
        const expected = floats(await daemon.bytes('/default:7/region.f32?x=-256&y=-256&width=512&height=512'));
        const { range } = await daemon.json('/default.json');
        assertHeights(await values('metres.tif', Float32Array), expected, encodings(range).at(-1).error);
    });

    it('opens layers of all types, also of other seeds', () => eachRow(
        ['relief', 'hillshade', 'gray', 'normal'], async (layer) => {
            for (const world of ['default', 'default:42']) {
                await gdal('gdal_translate', '-q', '-projwin', -256, 512, 256, 0,
                    `${base().replace('default', world)}/${layer}.xml`, 'cut.tif');
                const expected = await picture(`${world}/${layer}`, [16, 32767, 32766], [2, 2]);
                const [{ length: bands }, pixels] = [JSON.parse(await gdal('gdalinfo', '-json', 'cut.tif')).bands,
                    await values('cut.tif', Uint8Array)];
                assert.equal(bands, ['relief', 'normal'].includes(layer) ? 3 : 1);
                assert.ok(pixels.every((value, i) => value === expected[bands === 3 ? i : 3 * i]));
            }
        }));

    it('finds the layers of the WMTS document', async () => {
        const named = ({ name: world, layers }) => layers.filter(({ name }) => !name.startsWith('field.'))
            .map(({ name }) => `${world}:${name}`);
        for (const world of ['', '/default:42']) {
            const worlds = world ? [await daemon.json(`${world}.json`)] : (await daemon.json('/worlds.json')).worlds;
            const url = `WMTS:http://${daemon.authority}${world}/wmts.xml`;
            const { metadata } = JSON.parse(await gdal('gdalinfo', '-json', url));
            assert.deepEqual(Object.entries(metadata.SUBDATASETS).filter(([key]) => key.endsWith('NAME')).map(
                ([, name]) => name), worlds.flatMap(named).map((name) => `${url},layer=${name}`));
        }
    });

    it('reads the WMTS, as Web Mercator', () => eachRow([...CORNERS, [22, 2097151, 4194302]], async ([z, x, y]) => {
        const edge = Math.PI * 6378137, width = 2 * edge / 2 ** z;
        for (const layer of ['relief', 'terrarium']) {
            const url = `WMTS:http://${daemon.authority}/wmts.xml,layer=default:${layer}`;
            const [west, north] = [-edge + x * width, edge - y * width];
            await gdal('gdal_translate', '-q', '-b', 1, '-b', 2, '-b', 3, '-projwin', west, north,
                west + 2 * width, north - 2 * width, '-outsize', 2 * TILE, 2 * TILE, url, 'cut.tif');
            const { coordinateSystem } = JSON.parse(await gdal('gdalinfo', '-json', 'cut.tif'));
            assert.match(coordinateSystem.wkt, /"EPSG",3857\]/);
            assert.deepEqual(Buffer.from(await values('cut.tif', Uint8Array)),
                await picture(`default/${layer}`, [z, x, y], [2, 2]));
        }
    }));

    /* A part of the region in region.vrt, as the documented commands cut it out. */
    const PART = [2000, 3000, 256, 256];
    const region = async ([x, y, width, height]) =>
        floats(await daemon.bytes(`/default/region.f32?x=${x}&y=${y}&width=${width}&height=${height}`));
    const writeRegion = () => writeFileSync(path.join(directory, 'region.vrt'),
        example('<VRTDataset', `http://${daemon.authority}`));

    it('reads parts of the largest region by Range', async () => {
        writeRegion();
        const { size, geoTransform } = JSON.parse(await gdal('gdalinfo', '-json', 'region.vrt'));
        assert.deepEqual([size, geoTransform], [[4097, 4097], [0, 1, 0, 0, 0, -1]]);
        await eachRow([PART, [4033, 4033, 64, 64], [0, 0, 64, 64], [0, 4096, 4097, 1]], async (part) => {
            await gdal('gdal_translate', '-q', '-srcwin', ...part, 'region.vrt', 'cut.tif');
            assertHeights(await values('cut.tif', Float32Array), await region(part), 0);
        });
        assert.match(daemon.stderr, /GET \/default\/region\.f32\S* 206/);
        assert.doesNotMatch(daemon.stderr, /GET \/default\/region\.f32\S*height=4097 200/);
    });

    it('reads a large region as a stream', async () => {
        writeRegion();
        const at = `http://${daemon.authority}`, { range } = await daemon.json('/default.json');
        for (const line of example('gdal_translate -srcwin', at).replaceAll(/\\\n */g, '').replaceAll('"', '').split('\n'))
            await gdal(...line.split(' '), '-q');
        assertHeights(await values('part.tif', Float32Array), await region(PART), 0);
        assertHeights(grays(range)(await values('large.tif', Uint16Array)), await region([0, 0, 1025, 1025]),
            encodings(range).at(-1).error);
    });

    const PYTHON = '/usr/bin/python3';      // Debian's, which has Debian's packages
    const rasterio = spawnSync(PYTHON, ['-c', 'import rasterio']).status === 0;
    it('gives rasterio the same heights', { skip: !rasterio && 'python3-rasterio is not installed' }, async () => {
        writeRegion();
        const printed = await gdal(PYTHON, '-c', `${example('import rasterio')}\nheights.tofile('heights.raw')`);
        const bytes = readFileSync(path.join(directory, 'heights.raw')), heights = floats(bytes);
        assertHeights(heights, await region(PART), 0);
        assert.deepEqual(printed.trim().split(' ').map(Math.fround),
            [heights.reduce((a, b) => Math.min(a, b)), heights.reduce((a, b) => Math.max(a, b))]);
    });

    it("runs the commands of server/CLIENTS.md", async () => {
        const at = `http://${daemon.authority}`;
        for (const line of example('gdal_translate -projwin', at).replaceAll(/\\\n */g, '').split('\n'))
            await gdal(...line.split(' '), '-q');
        const { range } = await daemon.json('/default.json');
        const surroundings = await mosaic([16, 32766, 32766], [4, 4]);        // from block (-512, -512)
        const cut = Float32Array.from({ length: 1000 * 800 },
            (_, i) => surroundings[(112 + Math.floor(i / 1000)) * 4 * TILE + 12 + i % 1000]);
        const [terrarium, , height] = encodings(range);
        assertHeights(await values('ground.tif', Float32Array), cut, height.error);
        const { size, geoTransform } = JSON.parse(await gdal('gdalinfo', '-json', 'relief.tif'));
        assert.deepEqual([...size, geoTransform[0], geoTransform[3]].map(Math.round), [512, 410, -1000, 800]);
        const heights = await expectedHeights([12, -3, -7], [1, 1]);
        assertHeights(terrarium.decode(await values('tile.tif', Uint8Array)), heights(terrarium), terrarium.error);
    });
});
