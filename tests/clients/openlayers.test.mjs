// OpenLayers: layers from the WMTS document, and the plane in blocks, with tiles of any sign. tests/examples/pages has the
// pages.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useDaemon } from '../http/daemon.mjs';
import { decodePng } from '../http/png.mjs';
import { patience } from '../http/program.mjs';
import { eachRow } from '../http/table.mjs';
import { PATIENT, assertShows, useBrowser, userPage } from './pages.mjs';

const EDGE = Math.PI * 6378137;

describe('OpenLayers', { timeout: patience(900000) }, () => {
    const daemon = useDaemon({ config: `worlds: [{ name: default, like: default, seeds: any }, { name: near, native_zoom: 2 }]\n${PATIENT}` });
    const visit = useBrowser(['--disable-gpu']);

    /* Open a page, and wait for its map. Only tiles are in screenshots. */
    async function open(text) {
        const visited = await visit.file(text);
        await visited.page.addStyleTag({ content: '.ol-overlaycontainer-stopevent { display: none }' });
        await visited.page.waitForFunction(() => window.map?.getView);      // there is a `map` before: the element
        return visited;
    }

    /* Show the place CENTER at a zoom, when all tiles are there. Returns the screenshot. */
    async function show(page, center, zoom) {
        await page.evaluate(([place, level]) => new Promise((resolve) => {
            window.map.getView().setCenter(place);
            window.map.getView().setZoom(level);
            window.map.once('rendercomplete', resolve);
            window.map.renderSync();        // the event is that of this view, whose tiles are requested now
        }), [center, zoom]);
        return decodePng(await page.screenshot());
    }

    /* The four tiles around the corner of tile (X, Y), in the middle of SHOT. */
    async function assertTiles(shot, path, z, x, y) {
        let seen = 0;
        for (const [i, j] of [[0, 0], [1, 0], [0, 1], [1, 1]]) {
            const name = `/${path}/${z}/${x - 1 + i}/${y - 1 + j}.png`;
            seen += assertShows(shot, decodePng(await daemon.bytes(name)), 256 * i, 256 * j, name);
        }
        assert.equal(seen, shot.width * shot.height);
    }

    const wmts = (world, layer) => userPage('openlayers-wmts', `http://${daemon.authority}`)
        .replace('/wmts.xml', world.includes(':') ? `/${world}/wmts.xml` : '/wmts.xml')
        .replace('default:relief', `${world}:${layer}`);

    it('paints the layers of the WMTS document', () => eachRow([
        ['default', 'relief', 'wmts.xml'], ['default', 'terrarium'], ['default:42', 'normal'], ['near', 'relief'],
    ], async ([world, layer]) => {
        const { page, urls } = await open(wmts(world, layer));
        const { layers, limits } = await daemon.json(`/${world}.json`);
        const deepest = Math.min(limits.zoom[1], 25);
        const views = [[1, 1, 1], [6, 32, 32], [6, 1, 40], [deepest, 2 ** (deepest - 1) + 5, 2 ** (deepest - 1) - 3]];
        for (const [z, x, y] of views) {
            const width = 2 * EDGE / 2 ** z;
            await assertTiles(await show(page, [-EDGE + x * width, EDGE - y * width], z), `${world}/${layer}`, z, x, y);
        }
        const tiles = urls.filter((url) => url.includes('.png'));
        assert.ok(tiles.length >= 4 * views.length);
        const [, query] = layers.find(({ name }) => name === layer).tiles.split('.png');
        assert.ok(tiles.every((url) => url.endsWith(query)), tiles[0]);
    }));

    it('paints the plane in blocks, tiles of any sign', async () => {
        const { page, urls } = await open(userPage('openlayers-plane', `http://${daemon.authority}`));
        await eachRow([[0, 1, 1], [6, 32, 32], [6, -20, 70], [16, 32768, 32768], [22, 2097160, 2097150], [-9, -3, -2],
            [-26, 1, -1]], async ([z, x, y]) => {
            const width = 2 ** (24 - z);
            const shot = await show(page, [-(2 ** 23) + x * width, 2 ** 23 - y * width], z + 26);
            await assertTiles(shot, 'default/relief', z, x, y);
        });
        assert.ok(urls.some((url) => /\/-\d+\/-\d+\/-\d+\.png/.test(url)), 'no tile with z, x and y below 0');
    });
});
