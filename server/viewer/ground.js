/* Heights and fields under the cursor: computed in the page if WebAssembly is available, otherwise requested from the server. */
import { compile, loadTerrain, units } from './farlands.js';
import { address, getHeight, getHeights, plain, sleep } from './world.js';

const entries = new WeakMap();    // world -> its terrain once loaded, and a promise of the terrain or null
let module = null;

/* The shortest decimal that identifies a float, as in the daemon's JSON. */
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

const valueIn = (terrain, field, { x, y }) => shortest(terrain.fields.some(({ name }) => name === field)
    ? terrain.value(field, units(x), units(y))
    : terrain.surface(units(x), units(y))); // which is no field of the terrain

const measureIn = (terrain, at, names) => ({
    height: valueIn(terrain, 'height', at),
    surface: shortest(terrain.surface(units(at.x), units(at.y))),
    water: terrain.water(units(at.x), units(at.y)),
    fields: Object.fromEntries(names.map((name) => [name, valueIn(terrain, name, at)])),
});

/* The height, the surface and the water at (X, Y), blocks as text, and the values of the fields NAMES there: { height, surface,
 * water, fields }; undefined if the terrain is not loaded. The water is as farlands.js has it. */
export function measureHere(world, x, y, names) {
    const { terrain } = entryOf(world);
    return terrain ? measureIn(terrain, { x, y }, names) : undefined;
}

/* A promise of the same, and of the fingerprint of its world. */
export async function measure(world, x, y, names) {
    const terrain = await entryOf(world).coming;
    if (terrain)
        return { ...measureIn(terrain, { x, y }, names), fingerprint: world.fingerprint };
    const { height, surface, water, depth, river, width, kind, fields = {}, fingerprint } = await getHeight(world, x, y, names);
    return { height, surface, water: { water, depth, river, width, kind }, fields, fingerprint };
}

/* A promise of the heights of PLACES, or of their values of FIELD; x and y in blocks, at most 128. The page stays
 * responsive between calls. */
export async function valuesAt(world, places, field = null) {
    const exact = places.map(({ x, y }) => ({ x: plain(x), y: plain(y) }));
    const terrain = await entryOf(world).coming;
    if (!terrain) {
        const { heights, fields } = await getHeights(world, exact, field === null ? [] : [field]);
        return field === null ? heights : fields[field];
    }
    await sleep(0);
    return exact.map((at) => valueIn(terrain, field ?? 'height', at));
}
