/* Heights and fields under the cursor: computed in the page if WebAssembly is available, otherwise requested from the server. */
import { compile, loadTerrain, units } from './farlands.js';
import { address, getHeight, getHeights, plain, sleep } from './world.js';

const entries = new WeakMap();    // world -> its terrain once loaded, and a promise of the terrain or null
let module = null;

/* The shortest decimal that identifies a float, as in the daemon's JSON. */
function shortest(value) {
    for (let digits = 6; digits < 9; digits++) {
        const rounded = Number(value.toPrecision(digits));
        if (Math.fround(rounded) === value)
            return rounded;
    }
    return Number(value.toPrecision(9));
}

async function make(entry, world) {
    try {
        module ??= compile(address('viewer/farlands.wasm'));
        entry.terrain = await loadTerrain(module, world);
    } catch (error) {
        console.info(`Heights come from the server: ${error.message}`);
    }
    return entry.terrain;
}

function entryOf(world) {
    if (!entries.has(world)) {
        const entry = { terrain: null };
        entries.set(world, entry);
        entry.coming = make(entry, world);
    }
    return entries.get(world);
}

const valueIn = (terrain, x, y, field) => shortest(terrain.value(field, units(x), units(y)));

/* The value of FIELD at (X, Y), blocks as text, or undefined if the terrain is not loaded. */
export function valueHere(world, x, y, field) {
    const { terrain } = entryOf(world);
    return terrain ? valueIn(terrain, x, y, field) : undefined;
}

/* A promise of the value and of the fingerprint of its world. */
export async function valueAt(world, x, y, field) {
    const terrain = await entryOf(world).coming;
    if (terrain)
        return { value: valueIn(terrain, x, y, field), fingerprint: world.fingerprint };
    const { height, fields, fingerprint } = await getHeight(world, x, y, field);
    return { value: fields ? fields[field] : height, fingerprint };
}

/* A promise of the heights of PLACES, x and y in blocks, at most 128. The page stays responsive between calls. */
export async function heightsAt(world, places) {
    const exact = places.map(({ x, y }) => ({ x: plain(x), y: plain(y) }));
    const terrain = await entryOf(world).coming;
    if (!terrain)
        return (await getHeights(world, exact)).heights;
    await sleep(0);
    return exact.map(({ x, y }) => valueIn(terrain, x, y, 'height'));
}
