/* Heights and fields under the cursor: computed in the page if WebAssembly is available, otherwise requested. */
import { compile, loadTerrain, units } from './farlands.js';
import { hasWater } from './water.js';
import { address, getHeight, getHeights, plain, sleep } from './world.js';

const NEAR = 512;                 // blocks between places that share rivers; farther ones take a page 0.1 s each
const SLICE = 20;                 // ms of computing without a break

const entries = new WeakMap();    // world -> { terrain once loaded, its promise once needed, the last measured place }
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
    if (!entries.has(world))
        entries.set(world, { terrain: null, coming: null, last: null });
    return entries.get(world);
}

/* A promise of the terrain of WORLD, null if the page cannot compute it. */
function load(world) {
    const entry = entryOf(world);
    return entry.coming ??= make(entry, world);
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

/* True if PLACES in WORLD are too far apart to compute in the page. */
export const areFar = (world, places) => hasWater(world)
    && places.some(({ x, y }, i) => i > 0 && Math.hypot(x - places[i - 1].x, y - places[i - 1].y) > NEAR);

/* True if a place is near the last measured one. In a world with rivers the first place is near none, so that a view
 * from far away need not load the module. */
const isNear = (world, { last }, place) => (last ? !areFar(world, [last, place]) : !hasWater(world));

/* Height, surface and water at (X, Y), blocks as text, and the values of the fields NAMES: { height, surface, water,
 * fields }. Undefined if the terrain is not loaded, or the place is far from the last one. The water is as in
 * farlands.js. */
export function measureHere(world, x, y, names) {
    const entry = entryOf(world);
    if (!entry.terrain || !isNear(world, entry, { x, y }))
        return undefined;
    entry.last = { x, y };
    return measureIn(entry.terrain, { x, y }, names);
}

/* A promise of the same, with the fingerprint of the world measured. */
export async function measure(world, x, y, names) {
    const entry = entryOf(world);
    const near = isNear(world, entry, { x, y });
    entry.last = { x, y };
    const terrain = near ? await load(world) : null;
    if (terrain)
        return { ...measureIn(terrain, { x, y }, names), fingerprint: world.fingerprint };
    const { height, surface, water, depth, river, width, kind, fields = {}, fingerprint } = await getHeight(world, x, y, names);
    return { height, surface, water: { water, depth, river, width, kind }, fields, fingerprint };
}

/* A promise of the heights of PLACES, or of their values of FIELD; x and y in blocks, at most 128 places. The page
 * stays responsive. */
export async function valuesAt(world, places, field = null) {
    const exact = places.map(({ x, y }) => ({ x: plain(x), y: plain(y) }));
    const terrain = areFar(world, places) ? null : await load(world);
    if (!terrain) {
        const { heights, fields } = await getHeights(world, exact, field === null ? [] : [field]);
        return field === null ? heights : fields[field];
    }
    const values = [];
    for (let since = 0; values.length < exact.length;) {
        if (performance.now() - since > SLICE) {
            await sleep(0);
            since = performance.now();
        }
        values.push(valueIn(terrain, field ?? 'height', exact[values.length]));
    }
    return values;
}
