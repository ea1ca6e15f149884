// Worlds with rivers have tiles of exact numbers from samples 64 blocks apart on; all else as other worlds.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { useDaemon } from './daemon.mjs';
import { floats, sameFloat } from './grid.mjs';
import { TIMEOUT, run } from './program.mjs';
import { assertError, assertStatus, eachRow } from './table.mjs';
import { assertTileJson } from './tilejson.mjs';
import { all, one, parseXml } from './wmts.mjs';

const FILE = fileURLToPath(new URL('../worlds/rivers.yaml', import.meta.url));
const CONFIG = `${readFileSync(FILE, 'utf8')}  - name: dry
    noise: { wavelength: 65536 }
`;
const FIRST = 10;       // zoom
const LATER = ['height', 'field.ground', 'field.valleys', 'field.surface'];

describe('worlds with rivers', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: CONFIG });
    const layersOf = async (world) => (await daemon.json(`/${world}.json`)).layers;

    it('have tiles of numbers from a first zoom on', () => eachRow(
        LATER.flatMap((layer) => ['png', 'r16', 'f32', 'u8'].map((ending) => [layer, ending])), async ([layer, ending]) => {
            const message = new RegExp(`^z: tiles of "${layer}" begin at zoom ${FIRST} .*region and height$`);
            for (const [world, z, form] of [['rivers', FIRST - 1, ''], ['rivers:7', FIRST - 1, '@2x'], ['rivers', 0, ''], ['rivers', -26, '']])
                assertError(await daemon.get(`/${world}/${layer}/${z}/0/0${form}.${ending}`), 404, message);
            assertError(await daemon.get(`/rivers/${layer}/-27/0/0.${ending}`), 404, /^z: -27 is beyond this world's zooms, -26 to 26$/);
            assertStatus(await daemon.head(`/rivers/${layer}/${FIRST}/512/512.${ending}`), 200);
        }));

    it('have pictures at all zooms', async () => {
        const others = (await layersOf('rivers')).filter(({ name }) => !LATER.includes(name));
        assert.ok(others.length >= 8);
        await eachRow(others, async ({ name, minzoom }) => {
            assert.equal(minzoom, undefined);
            for (const z of [-26, 0, FIRST - 1])
                assertStatus(await daemon.get(`/rivers/${name}/${z}/0/0.png`), 200);
        });
    });

    it('have exact numbers at any distance in regions and at points', async () => {
        const [x, y, step] = [-81920, 16384, 8192];
        const region = floats(await daemon.bytes(`/rivers/region.f32?x=${x}&y=${y}&width=5&height=3&step=${step}`));
        const places = Array.from({ length: 15 }, (_, i) => `${x + i % 5 * step},${y + Math.floor(i / 5) * step}`);
        const { heights } = await daemon.json(`/rivers/heights?at=${places.join(';')}`);
        heights.forEach((height, i) => assert.ok(sameFloat(height, region[i]), `${height}, ${region[i]}`));
    });

    it('say so in documents', async () => {
        for (const { name, minzoom } of await layersOf('rivers')) {
            const first = LATER.includes(name) ? FIRST : undefined;
            assert.equal(minzoom, first, name);
            const tilejson = await daemon.json(`/rivers/${name}.json`);
            assertTileJson(tilejson);
            assert.equal(tilejson.minzoom, first ?? 0, name);
            const wms = String(await daemon.bytes(`/rivers/${name}.xml`)).replaceAll('&lt;', '<');
            assert.equal(/<OverviewCount>(\d+)</.exec(wms)?.[1], first && String(16 - first), name);
        }
        assert.ok((await layersOf('dry')).every(({ minzoom }) => minzoom === undefined));
        const contents = one(parseXml(String(await daemon.bytes('/wmts.xml'))), 'Contents');
        for (const layer of all(contents, 'Layer')) {
            const limits = all(layer, 'TileMatrixSetLink', 'TileMatrixSetLimits', 'TileMatrixLimits').map((limit) =>
                limit.children.map(({ text }) => Number(text)));
            const later = one(layer, 'ows:Identifier').text === 'rivers:height';
            assert.deepEqual(limits, later ? Array.from({ length: 26 - FIRST }, (_, i) => {
                const last = 2 ** (FIRST + i) - 1;
                return [FIRST + i, 0, last, 0, last];
            }) : []);
        }
    });

    it('have previews of no coarser numbers', () => eachRow([
        ['height', 4, 64], ['field.ground', 4, 64], ['relief', 4, 8192], ['height', 13, 16],
    ], async ([layer, zoom, step]) => {
        const page = String(await daemon.bytes(`/?place=rivers/${layer}/${zoom}/0/0`));
        assert.match(page, new RegExp(`/rivers/region\\.png\\?[^"]*step=${step}&amp;layer=${layer}&`));
    }));

    it('are pre-rendered where tiles exist', async () => {
        const render = (layer, zooms) => run(['render', '--config', FILE, '--world', 'rivers', '--layer', layer, '--zoom', zooms,
            '--bbox', '0,0,16384,16384', '--list']);
        const { code, stdout, stderr } = await render('relief,height', '8-10');
        assert.equal(code, 0, stderr);
        assert.deepEqual(String(stdout).trim().split('\n').sort(), ['rivers/height/10/512/512.png', 'rivers/relief/10/512/512.png',
            'rivers/relief/8/128/128.png', 'rivers/relief/9/256/256.png']);
        const refused = await render('relief,height', '8-9');
        assert.equal(refused.code, 2);
        assert.match(refused.stderr, /--zoom: tiles of height begin at zoom 10 in this world/);
    });
});
