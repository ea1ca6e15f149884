// Heights as in pictures, without detail finer than a pixel, computed in WebAssembly. Not a test.

import { readFileSync } from 'node:fs';
import { loadTerrain, units } from '../../server/viewer/farlands.js';
import { NATIVE_ZOOM, unitsAt } from './grid.mjs';

const WASM = new URL(process.env.WASM ?? 'farlands.wasm', `file://${process.env.FARLANDS ?? `${process.cwd()}/build/farlands`}`);

const stepAt = (z) => 2n ** BigInt(NATIVE_ZOOM - z + 10);
const load = (document) => loadTerrain(readFileSync(WASM), document);

/* A function for tiles (z, x, y) of the world of DOCUMENT, at /{world}.json: 256 x 256 heights. */
export async function filteredTiles(document) {
    const terrain = await load(document);
    return (z, x, y) => terrain.heights({
        x: unitsAt(z, x, 0), y: unitsAt(z, y, 0), step: stepAt(z), width: 256, height: 256, bandLimit: true,
    });
}

/* The height at each of PLACES, [x, y] in blocks, in pictures of zoom Z. */
export async function filteredAt(document, z, places) {
    const terrain = await load(document);
    return places.map(([x, y]) => terrain.heights({
        x: units(x), y: units(y), step: stepAt(z), width: 1, height: 1, bandLimit: true,
    })[0]);
}
