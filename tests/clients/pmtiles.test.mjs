// PMTiles from farlands render --export: npm's reference reader finds every tile, and MapLibre GL JS shows the tiles from
// a file server.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createReadStream, openSync, readSync, statSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { PMTiles } from 'pmtiles';
import { useDaemon } from '../http/daemon.mjs';
import { decodePng } from '../http/png.mjs';
import { BINARY, patience, run, scratch } from '../http/program.mjs';
import { eachRow } from '../http/table.mjs';
import { assertShows, useBrowser } from './pages.mjs';
import { example } from './readme.mjs';

const TILE = 256;
const SIDE = 2 ** 24;                           // blocks of the web map's square
const directory = scratch();

/* The middle of a tile on the web map. */
function middleOf(z, x, y) {
    const [u, v] = [(x + 0.5) / 2 ** z, (y + 0.5) / 2 ** z];
    return [360 * u - 180, Math.atan(Math.sinh(Math.PI * (1 - 2 * v))) * 180 / Math.PI];
}

/* The box of a tile and its neighbors, in blocks. */
function boxOf(z, x, y) {
    const side = SIDE / 2 ** z;
    return [x - 1, y - 1, x + 2, y + 2].map((i) => i * side - SIDE / 2).join(',');
}

/* A source of pmtiles that reads a file. */
function sourceOf(file) {
    const fd = openSync(file);
    return {
        getKey: () => file,
        async getBytes(offset, length) {
            const bytes = Buffer.alloc(length);
            const count = readSync(fd, bytes, 0, length, offset);
            return { data: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + count) };
        },
    };
}

describe('PMTiles', { timeout: patience(900000) }, () => {
    const daemon = useDaemon({ builtIn: true });
    const visit = useBrowser(['--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist']);

    /* Files of the directory, by Range, for pages of any origin. */
    const files = http.createServer((request, response) => {
        const file = path.join(directory, path.basename(request.url)), { size } = statSync(file);
        const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range) ?? [];
        assert.ok(first, `${request.method} ${request.url} without a range`);
        const end = Math.min(Number(last), size - 1);
        response.writeHead(206, {
            'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'ETag', ETag: `"${size}"`,
            'Content-Range': `bytes ${first}-${end}/${size}`, 'Content-Length': end - first + 1,
        });
        createReadStream(file, { start: Number(first), end }).pipe(response);
    });
    before(() => new Promise((resolve) => files.listen(0, '127.0.0.1', resolve)));
    after(() => { files.closeAllConnections(); files.close(); });

    async function archive(name, args) {
        const file = path.join(directory, name);
        const { code, stderr } = await run(['render', '--cache', daemon.cache, ...args, '--export', file], { limit: 60000 });
        assert.equal(code, 0, String(stderr));
        return file;
    }

    it('has the tiles of the daemon for the reader of npm', () => eachRow([
        ['default', 'relief', 'png', ['--zoom', '0-3'], 85], ['alps:7', 'slope', 'webp', ['--zoom', '2-3', '--format', 'webp'], 80],
        ['default', 'terrarium', 'png', ['--zoom', '26', '--bbox', '0,0,1,0.5'], 8],
    ], async ([world, layer, format, args, count]) => {
        const file = await archive(`${world.replace(':', '-')}-${layer}.pmtiles`, ['--world', world, '--layer', layer, ...args]);
        const reader = new PMTiles(sourceOf(file));
        const { minZoom, maxZoom, tileType, clustered, numAddressedTiles, minLon, maxLon } = await reader.getHeader();
        assert.deepEqual([tileType, clustered, numAddressedTiles], [format === 'webp' ? 4 : 2, true, count]);
        const tilejson = await daemon.json(`/${world}/${layer}.json${format === 'webp' ? '?format=webp' : ''}`);
        const { name, description, attribution, encoding, fingerprint } = await reader.getMetadata();
        assert.deepEqual([name, description, encoding, fingerprint], [tilejson.name, tilejson.description, tilejson.encoding, tilejson.fingerprint]);
        assert.equal(attribution, `Farlands, world ${world}`);
        let found = 0;
        for (let z = minZoom; z <= maxZoom; z++) {
            const [first, last] = [minLon, maxLon].map((degrees) => Math.round((degrees + 180) / 360 * 2 ** z));
            for (let x = first; x < last; x++)
                for (let y = z === 26 ? 2 ** 25 : 0; y < (z === 26 ? 2 ** 25 + 2 : 2 ** z); y++, found++) {
                    const tile = await reader.getZxy(z, x, y);
                    assert.ok(Buffer.from(tile.data).equals(await daemon.bytes(`/${world}/${layer}/${z}/${x}/${y}.${format}`)), `${z}/${x}/${y}`);
                }
        }
        assert.equal(found, count);
        assert.equal(await reader.getZxy(minZoom && minZoom - 1, 0, 0) === undefined, minZoom > 0);
    }));

    it('is shown by MapLibre as server/CLIENTS.md says', async () => {
        const code = example('addProtocol(').replaceAll('http://127.0.0.1:8000', `http://127.0.0.1:${files.address().port}`);
        const [z, x, y] = [12, 2000, 2030];
        await archive('relief.pmtiles', ['--world', 'default', '--layer', 'relief', '--zoom', '11-12', '--bbox', boxOf(z, x, y)]);
        const { page, urls } = await visit('maplibre.html', { viewport: { width: TILE, height: TILE } });
        await page.addScriptTag({ url: '/pmtiles/dist/pmtiles.js' });
        await page.evaluate(async ([center, zoom, recipe]) => {
            window.open({ style: { version: 8, sources: {}, layers: [] }, center, zoom });
            await window.map.once('load');
            new Function('map', recipe)(window.map);
            window.map.setPaintProperty('archive', 'raster-resampling', 'nearest');
            await window.idle();
        }, [middleOf(z, x, y), z - 1, code]);
        const sent = decodePng(await daemon.bytes(`/default/relief/${z}/${x}/${y}.png`));
        assert.equal(assertShows(decodePng(await page.screenshot()), sent, 0, 0, 'relief'), TILE * TILE);
        assert.ok(urls.some((url) => url.endsWith('/relief.pmtiles')), `${urls}`);
    });

    it('is written by the command of server/CLIENTS.md', async () => {
        const [program, ...args] = example('--export relief.pmtiles').split(' ');
        assert.equal(program, 'build/farlands');
        const cwd = scratch();
        await promisify(execFile)(BINARY, [...args, '--cache', daemon.cache], { cwd, timeout: patience(300000) });
        const reader = new PMTiles(sourceOf(path.join(cwd, 'relief.pmtiles')));
        assert.ok(Buffer.from((await reader.getZxy(3, 5, 2)).data).equals(await daemon.bytes('/default/relief/3/5/2.png')));
    });
});
