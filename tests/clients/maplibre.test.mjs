// MapLibre GL JS: terrain from the TileJSON of both DEM encodings, unchanged raster tiles, and the pages of tests/examples/pages.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { useDaemon } from '../http/daemon.mjs';
import { filteredTiles } from '../http/filtered.mjs';
import { NATIVE_ZOOM, ORIGIN, floats, sameFloat } from '../http/grid.mjs';
import { decodePng } from '../http/png.mjs';
import { eventually, patience } from '../http/program.mjs';
import { eachRow } from '../http/table.mjs';
import { PATIENT, assertShows, useBrowser, userPage } from './pages.mjs';
import { example } from './readme.mjs';

const TILE = 256;
const WINDOW = TILE * 2 ** NATIVE_ZOOM;
const FIRST = Number(ORIGIN);       // the window's first block
const LAST = FIRST + WINDOW;
const SMALL = { viewport: { width: 128, height: 128 } };        // terrain is rendered in software

const UNFILTERED = NATIVE_ZOOM + 2;     // the finest octave is a block wide, four samples

const stepAt = (z) => 2 ** (NATIVE_ZOOM - z);

/* A block's place on the web map: the window 0 <= x, y < 2^z is Web Mercator's square. */
function lngLat([x, y]) {
    const [u, v] = [(x - FIRST) / WINDOW, (y - FIRST) / WINDOW];
    return [360 * u - 180, Math.atan(Math.sinh(Math.PI * (1 - 2 * v))) * 180 / Math.PI];
}

describe('MapLibre GL JS', { timeout: patience(900000) }, () => {
    /* Each encoding is compared at many places in a world of one noise: if tiles come slowly, MapLibre may leave the border
     * of one without its neighbor's samples. */
    const [builtIn, plain] = [useDaemon({ builtIn: true, config: PATIENT }), useDaemon()];
    let daemon;
    beforeEach(() => { daemon = builtIn; });
    const visit = useBrowser(['--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist']);
    const base = () => `http://${daemon.authority}`;

    /* A function for tiles that calls LOAD once for each. */
    function kept(load) {
        const tiles = new Map();
        return async (...at) => {
            const name = [daemon.authority, ...at].join('/');
            if (!tiles.has(name))
                tiles.set(name, await load(...at));
            return tiles.get(name);
        };
    }

    const exact = kept(async (z, x, y) => floats(await daemon.bytes(`/default/height/${z}/${x}/${y}.f32`)));
    const filter = kept(async () => filteredTiles(await daemon.json('/default.json')));
    const filtered = kept(async (...at) => (await filter())(...at));

    /* Heights as terrarium has them. */
    const packed = kept(async (...at) => {
        const { samples } = decodePng(await daemon.bytes(`/default/terrarium/${at.join('/')}.png`));
        return Float32Array.from({ length: TILE ** 2 }, (_, i) =>
            256 * samples[3 * i] + samples[3 * i + 1] + samples[3 * i + 2] / 256 - 32768);
    });

    /* Sample (I, J) of the whole grid of zoom Z. */
    async function sample(tile, z, i, j) {
        const [x, y] = [Math.floor(i / TILE), Math.floor(j / TILE)];
        return (await tile(z, x, y))[(j - TILE * y) * TILE + i - TILE * x];
    }

    /*
     * The terrain that MapLibre shows for zoom Z at a block: it takes sample i as the middle of a cell,
     * (i + 1/2) / 256 of the tile, and interpolates between the middles. In our grid sample i is the
     * cell's corner, so the terrain lies half a sample too far south and east: at a block it has the
     * height half a sample north-west of it. Raster tiles are shifted in the same way, because a pixel
     * has the color of its corner.
     *
     * Returns { own, seen, slope } for the block of a sample of TILE, exact or filtered: the sample, the height that MapLibre shows,
     * and the maximum difference of the two. Interpolation is linear in x and in y, so that is half the
     * largest step to a neighbor along x plus half of that along y.
     */
    async function shown(tile, z, [x, y]) {
        const [i, j] = [(x - FIRST) / stepAt(z), (y - FIRST) / stepAt(z)];
        const [nw, ne, sw, own] = await Promise.all([[-1, -1], [0, -1], [-1, 0], [0, 0]]
            .map(([dx, dy]) => sample(tile, z, i + dx, j + dy)));
        const seen = (nw + ne + sw + own) / 4;
        const slope = Math.max(Math.abs(ne - nw), Math.abs(own - sw)) / 2
            + Math.max(Math.abs(sw - nw), Math.abs(own - ne)) / 2;
        return { own, seen, slope };
    }

    /* The highest sample of the tile of zoom 6 that begins at block (0, 0), as pictures show it. */
    async function mountain(z) {
        const around = await filtered(6, 32, 32);
        const at = around.indexOf(Math.max(...around));
        const place = [at % TILE * stepAt(6), Math.floor(at / TILE) * stepAt(6)];
        return place.map((block) => block - block % stepAt(z));
    }

    /* Blocks of samples of zoom Z, including corners of tiles, and two corners of the window. */
    async function places(z) {
        const step = stepAt(z);
        const near = [[0, 0], [-step, -step], [step, step], await mountain(z)];
        /* At the window's edge Mercator makes slopes 12 times as steep: at zoom 18 MapLibre never becomes idle. */
        return z > 12 ? near : near.concat([
            [-40 * step, -30 * step], [30 * step, 40 * step], [TILE * step, -TILE * step],
            [FIRST + 3 * step, FIRST + 2 * step], [LAST - 2 * step, LAST - 5 * step],
        ]);
    }

    /* height.png has 16 bits of gray, but a canvas only 8: one step is 1/255 of the range. */
    const ROWS = [
        {
            name: 'terrarium', zooms: [7, 12, 16, 18],
            source: () => ({ url: '/default/terrarium.json' }),
            error: 1 / 512,
        },
        {
            name: 'mapbox', zooms: [12],
            source: () => ({ url: '/default/terrain-rgb.json' }),
            error: 0.05,
        },
        {
            name: 'custom', zooms: [16],
            source: () => ({
                tiles: ['/default/terrarium/{z}/{x}/{y}.png'], tileSize: TILE, maxzoom: 25, encoding: 'custom',
                redFactor: 256, greenFactor: 1, blueFactor: 1 / 256, baseShift: 32768,
            }),
            error: 1 / 512,
        },
        {
            name: 'custom, of height.png', zooms: [16],
            source: ([min, max]) => ({
                tiles: ['/default/height/{z}/{x}/{y}.png'], tileSize: TILE, maxzoom: 25, encoding: 'custom',
                redFactor: (max - min) / 255, greenFactor: 0, blueFactor: 0, baseShift: -min,
            }),
            error: 12500 / 255,
            tile: exact,
        },
    ];

    it('reads true heights through each encoding', () => eachRow(ROWS, async ({ zooms, source, error, tile = filtered }) => {
        daemon = plain;
        const { range } = await daemon.json('/default.json');
        const { page } = await visit('maplibre.html', SMALL);
        const { url, tiles: templates, ...rest } = source(range);
        const dem = {
            type: 'raster-dem', ...rest,
            ...(url && { url: base() + url }),
            ...(templates && { tiles: templates.map((template) => base() + template) }),
        };
        await page.evaluate(async (options) => {
            window.open(options);
            await window.map.once('load');
            window.map.setTerrain({ source: 'dem' });
            await window.idle();
        }, { style: { version: 8, sources: { dem }, layers: [] }, center: lngLat([0, 0]), zoom: zooms[0] + 1, maxZoom: 24 });
        for (const z of zooms) {
            for (const place of await places(z)) {
                const block = `block ${place} at zoom ${z}`;
                const { own, seen, slope } = await shown(tile, z, place);
                /* The conversion to degrees and back is accurate to far less than 1/4096 of a sample. */
                const accuracy = error + slope / 4096 + 1e-9;
                const look = () => page.evaluate(async ([center, zoom]) => {
                    window.map.jumpTo({ center, zoom });
                    await window.idle();
                    return window.map.queryTerrainElevation(center);
                }, [lngLat(place), z + 1]);       // MapLibre's zooms are for tiles of 512, and terrain halves the tile size
                let actual;
                /* A map is idle before the tiles of its terrain are there: until then it shows coarser ones. */
                await eventually(async () => Math.abs((actual = await look()) - seen) <= accuracy, 20000);
                const { height } = await daemon.json(`/default/height?x=${place[0]}&y=${place[1]}`);
                if (tile === exact || z >= UNFILTERED)
                    assert.ok(sameFloat(own, height), `${block}: the sample is ${own}, /height ${height}`);
                assert.ok(Math.abs(actual - seen) <= accuracy, `${block}: ${actual}, but by its samples ${seen}`);
                assert.ok(Math.abs(actual - own) <= slope + accuracy, `${block}: ${actual}, ` +
                    `not ${own} to half a sample, ${slope} m`);
            }
        }
    }));

    it('paints tiles unchanged', async () => {
        const { page } = await visit('maplibre.html', { viewport: { width: TILE, height: TILE } });
        const relief = { type: 'raster', url: `${base()}/default/relief.json` };
        const layer = { id: 'relief', type: 'raster', source: 'relief', paint: { 'raster-resampling': 'nearest' } };
        const [x, y] = [2000, 2030];        // the view is exactly this tile
        await page.evaluate(async (options) => {
            window.open(options);
            await window.idle();
        }, {
            style: { version: 8, sources: { relief }, layers: [layer] },
            zoom: 11, center: lngLat([x, y].map((i) => FIRST + (i + 0.5) * TILE * stepAt(12))),
        });
        const sent = decodePng(await daemon.bytes(`/default/relief/12/${x}/${y}.png`));
        assert.equal(assertShows(decodePng(await page.screenshot()), sent, 0, 0, 'relief'), TILE * TILE);
    });

    it('paints WebP, nearly as PNG', async () => {
        const { page, urls } = await visit('maplibre.html', { viewport: { width: TILE, height: TILE } });
        const relief = { type: 'raster', url: `${base()}/default/relief.json?format=webp` };
        const layer = { id: 'relief', type: 'raster', source: 'relief', paint: { 'raster-resampling': 'nearest' } };
        const [x, y] = [2000, 2030];
        await page.evaluate(async (options) => {
            window.open(options);
            await window.idle();
        }, {
            style: { version: 8, sources: { relief }, layers: [layer] },
            zoom: 11, center: lngLat([x, y].map((i) => FIRST + (i + 0.5) * TILE * stepAt(12))),
        });
        const [seen, sent] = [await page.screenshot(), await daemon.bytes(`/default/relief/12/${x}/${y}.png`)].map((png) => decodePng(png).samples);
        assert.equal(seen.length, sent.length);
        const mean = seen.reduce((sum, value, i) => sum + Math.abs(value - sent[i]), 0) / sent.length;
        assert.ok(mean < 6, `${mean} of 255 on average`);
        const tiles = urls.filter((url) => url.includes('/relief/'));
        assert.ok(tiles.length > 0 && tiles.every((url) => url.includes('.webp?v=')), `${tiles}`);
    });

    it('zooms in to maxzoom', async () => {
        const { page, urls } = await visit('maplibre.html', SMALL);
        const relief = { type: 'raster', url: `${base()}/default/relief.json` };
        await page.evaluate(async (options) => {
            window.open(options);
            await window.idle();
        }, {
            style: { version: 8, sources: { relief }, layers: [{ id: 'relief', type: 'raster', source: 'relief' }] },
            center: lngLat([100, 100]), zoom: 25, maxZoom: 25,
        });
        assert.ok(urls.some((url) => url.includes('/relief/25/')));     // zoom 26 would be sharper, but is above maxzoom
        assert.ok(new Set(decodePng(await page.screenshot()).samples).size > 1, 'the view is empty');
    });

    /* Open a user's page, and wait until its map is drawn. It has a `map` before: the element. */
    async function openUsers(text, hash) {
        const visited = await visit.file(text, { hash, ...SMALL });
        await visited.page.waitForFunction(() => window.map?.once);
        await visited.page.evaluate(() => {
            window.idle = () => new Promise((resolve) => {
                window.map.once('idle', resolve);
                window.map.triggerRepaint();
            });
            return window.idle();
        });
        return visited;
    }

    /* The page for version 6, and that for version 5, which has the lines of server/CLIENTS.md instead of others. */
    const PAGES = {
        6: () => userPage('maplibre', base()),
        5: () => {
            const [css, js, script] = example('maplibre-gl@5').split('\n');
            return userPage('maplibre', base()).replace(/<link.*>/, css).replace('<script type="module">', `${js}\n${script}`)
                .replace(/^import .*\n/m, '');
        },
    };
    for (const [version, text] of Object.entries(PAGES))
        it(`paints terrain in the page for version ${version}`, async () => {
            const { page, urls } = await openUsers(text());
            assert.match(await page.evaluate(() => window.map.version), new RegExp(`^${version}\\.`));
            for (const layer of ['relief', 'terrarium-water'])
                assert.ok(urls.some((url) => url.startsWith(`${base()}/default/${layer}/`)), `no tiles of ${layer}`);
            const { own, slope } = await shown(filtered, 7, [0, 0]);
            const { elevation, exaggeration } = await page.evaluate(() => ({
                elevation: window.map.queryTerrainElevation([0, 0]),
                exaggeration: window.map.getTerrain().exaggeration,
            }));
            assert.ok(Math.abs(elevation / exaggeration - own) <= slope + 1 / 512, `${elevation}, ${own}`);
            const shot = decodePng(await page.screenshot()).samples;
            assert.ok(new Set(shot).size > 100, 'the view is empty');
            await page.evaluate(async () => {
                window.map.setLayoutProperty('shade', 'visibility', 'none');
                await window.idle();
            });
            assert.notDeepEqual(decodePng(await page.screenshot()).samples, shot, 'the hillshade is invisible');

            /* The world beyond longitude 180 is another place: with it there would be a wall. */
            const before = urls.length;
            await page.evaluate(async () => {
                window.map.jumpTo({ center: [180, 0], zoom: 8 });
                await window.idle();
            });
            const columns = urls.slice(before).map((url) => /\/(\d+)\/(\d+)\/\d+\.png/.exec(url)).filter(Boolean)
                .map(([, z, x]) => x / 2 ** z);
            assert.ok(columns.some((share) => share > 0.99), 'no tiles at longitude 180');
            assert.deepEqual(columns.filter((share) => share < 0.5), [], 'tiles beyond longitude 180');
        });

    it('draws contours in their page', () => eachRow([[10, 100], [14, 10]], async ([zoom, step]) => {
        const [east, north] = lngLat(await mountain(zoom));
        const { page } = await openUsers(userPage('maplibre-contours', base()), `#${zoom}/${north}/${east}`);
        const lines = await page.evaluate(() => window.map.queryRenderedFeatures({ layers: ['contours'] })
            .map(({ properties: { ele }, geometry: { type, coordinates } }) =>
                ({ ele, points: type === 'LineString' ? coordinates : coordinates.flat() })));
        assert.ok(lines.length > 2, `${lines.length} contours`);
        const center = FIRST + WINDOW / 2;
        for (const { ele, points } of lines) {
            assert.equal(ele % step, 0, `a contour at ${ele} m`);
            for (const [longitude, latitude] of points.filter((_, i) => i % 10 === 5)) {
                const v = Math.asinh(Math.tan(latitude * Math.PI / 180)) / (2 * Math.PI);
                const [i, j] = [longitude / 360, -v].map((part) =>
                    Math.floor((center + part * WINDOW - FIRST) / stepAt(zoom) - 0.5));
                const around = await Promise.all([-1, 0, 1, 2].flatMap((down) => [-1, 0, 1, 2].map((right) =>
                    sample(packed, zoom, i + right, j + down))));
                assert.ok(Math.min(...around) <= ele && ele <= Math.max(...around), `${ele} m at ${longitude}, ${latitude}, ` +
                    `where samples have ${Math.min(...around)} to ${Math.max(...around)}`);
            }
        }
    }));
});
