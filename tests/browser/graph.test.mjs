/* Unit tests of world.js: first views of worlds that are graphs of fields. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPlace } from '../../server/viewer/world.js';

const world = (terrain) => ({ native_zoom: 16, origin: [0, 0], range: [-500, 500], limits: { zoom: [-26, 26], overview: -26 }, ...terrain });
const noise = (wavelength) => ({ noise: { wavelength, octaves: 5 } });
const SINGLE = world({ noise: { wavelength: 4096, octaves: 12, persistence: 0.5, lacunarity: 2 } });

const GRAPHS = [
    ['one noise', { height: noise(4096) }],
    ['the broadest of several', { hills: noise(512), height: { add: [{ multiply: ['hills', noise(4096)] }, noise(64)] } }],
    ['the noise that moves another', { height: { noise: { wavelength: 64, octaves: 2, move: { x: noise(4096), y: 0, by: 30 } } } }],
    ['an erosion', { height: { erode: { of: 5, wavelength: 4096, octaves: 3 } } }],
];

for (const [what, fields] of GRAPHS)
    test(`a graph of fields begins as a single noise: ${what}`, () => {
        const graph = world({ fields });
        assert.deepEqual(startPlace(graph), startPlace(SINGLE));
    });

test('a graph without noise has a first view, too', () => {
    assert.deepEqual(startPlace(world({ fields: { height: 5 } })), { x: 0, y: 0, zoom: 16 });
});
