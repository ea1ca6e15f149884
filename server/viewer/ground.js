/* Heights at once: computed in the page where WebAssembly is to be had, else asked of the server. */
import { compile, loadTerrain, units } from './farlands.js';
import { address, getHeight } from './world.js';

const entries = new WeakMap();    // by world: the terrain, once it is there, and the promise of it or of null
let module = null;

/* The daemon's JSON has the shortest decimal that tells a float from its neighbours; so has this. */
function shortest(height) {
    for (let digits = 6; digits < 9; digits++) {
        const rounded = Number(height.toPrecision(digits));
        if (Math.fround(rounded) === height)
            return rounded;
    }
    return Number(height.toPrecision(9));
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

const heightIn = (terrain, x, y) => shortest(terrain.height(units(x), units(y)));

/* The height at (X, Y), blocks as text, if it can be told without waiting; else undefined. */
export function heightHere(world, x, y) {
    const { terrain } = entryOf(world);
    return terrain ? heightIn(terrain, x, y) : undefined;
}

/* The same, sooner or later, with the fingerprint of the world that has it. */
export async function heightAt(world, x, y) {
    const terrain = await entryOf(world).coming;
    return terrain ? { height: heightIn(terrain, x, y), fingerprint: world.fingerprint } : getHeight(world, x, y);
}
