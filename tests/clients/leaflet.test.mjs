// The README's page with Leaflet: tiles with coordinates of any sign, at both densities.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useDaemon } from '../http/daemon.mjs';
import { decodePng } from '../http/png.mjs';
import { patience } from '../http/program.mjs';
import { eachRow } from '../http/table.mjs';
import { PATIENT, assertShows, useBrowser } from './pages.mjs';
import { example } from './readme.mjs';

/* Views: Leaflet's zoom and center, a visible tile, and the position of its corner in the view. */
const VIEWS = [
    { zoom: 6, center: null, tile: '6/32/32', corner: [256, 256] },     // the example's initial view: block (0, 0)
    { zoom: 6, center: [40, -90], tile: '6/-23/-10', corner: [128, 256] },
    { zoom: 0, center: [-128, 128], tile: '0/0/0', corner: [128, 128] },
    { zoom: -2, center: [300, -1300], tile: '-2/-2/-1', corner: [69, 75] },
    { zoom: -13, center: [2 ** 24 + 2 ** 20, 2 ** 20 - 2 ** 25], tile: '-13/-16/-9', corner: [128, 128] },
    { zoom: -26, center: [0, 0], tile: '-26/0/0', corner: [256, 256] },
    { zoom: 25, center: [-128, 128], tile: '25/16777216/16777216', corner: [256, 256] },
];

/* What screenshots have: the whole window, and no controls. */
const ONLY_TILES = `<style>body { margin: 0 } #map { height: 100vh !important } .leaflet-control-container { display: none }</style>\n`;

describe('Leaflet', { timeout: patience(900000) }, () => {
    const daemon = useDaemon({ builtIn: true, config: PATIENT });
    const visit = useBrowser(['--disable-gpu']);

    /* Wait until all tiles are loaded and faded in; returns [{ url, left, top, width }]. */
    async function painted(page) {
        await page.waitForFunction(() => {
            const tiles = [...document.querySelectorAll('img.leaflet-tile')];
            return tiles.length > 0 && tiles.every((image) => image.complete && image.style.opacity === '1');
        });
        return page.evaluate(() => [...document.querySelectorAll('img.leaflet-tile')].map((image) => {
            const { left, top, width } = image.getBoundingClientRect();
            return { url: image.src, left, top, width };
        }));
    }

    for (const density of [1, 2])
        it(`paints every tile unchanged at density ${density}`, async () => {
            const base = `http://${daemon.authority}`;
            const { page, urls } = await visit.file(example('L.CRS.Simple', base).replace('<div', `${ONLY_TILES}<div`),
                { deviceScaleFactor: density });
            await page.evaluate('window.map = map');        // as a script names its own
            await eachRow(VIEWS, async ({ zoom, center, tile, corner }) => {
                if (center)
                    await page.evaluate((view) => window.map.setView(...view, { animate: false }), [center, zoom]);
                assert.equal(await page.evaluate(() => window.map.getZoom()), zoom);
                const tiles = await painted(page);
                const shot = decodePng(await page.screenshot());
                assert.deepEqual([shot.width, shot.height], [512 * density, 512 * density]);
                let seen = 0;
                for (const { url, left, top, width } of tiles) {
                    assert.equal(width, 256);
                    assert.match(url, density === 2 ? /\/-?\d+@2x\.png$/ : /\/-?\d+\.png$/);
                    const png = decodePng(await daemon.bytes(url.slice(base.length)));
                    seen += assertShows(shot, png, left * density, top * density, url);
                }
                assert.equal(seen, shot.width * shot.height, 'pixels without a tile');
                const name = `/relief/${tile}${density === 2 ? '@2x' : ''}.png`;
                const { left, top } = tiles.find(({ url }) => url.endsWith(name)) ?? {};
                assert.deepEqual([left, top], corner, name);
            });
            assert.ok(urls.some((url) => /\/relief\/-\d+\/-\d+\/-\d+/.test(url)), 'no tile with z, x and y below 0');
        });
});
