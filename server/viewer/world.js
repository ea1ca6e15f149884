/* The grid's arithmetic, number formats and requests, shared by views and panels. */

const START_CELL = 1024;          // px, a cell of the broadest octave in the first view
const REQUEST_TIMEOUT = 10000;
const EXACT = 2 ** 53;            // doubles are exact for whole numbers below

export const RETRY = { first: 1500, most: 30000 };       // ms
export const $ = (id) => document.getElementById(id);
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/* ---- Numbers ---- */

/* Canonical decimals in steps of 1/1024 block: no exponent, no "-0". */
export function plain(blocks) {
    const fixed = (Math.round(blocks * 1024) / 1024).toFixed(10).replace(/\.?0+$/, '');
    return fixed === '-0' ? '0' : fixed;
}

export function grouped(decimal) {
    const [whole, fraction] = decimal.replace('-', '\u2212').split('.');
    const groups = whole.replace(/\B(?=(\d{3})+$)/g, '\u202f');
    return fraction ? `${groups}.${fraction}` : groups;
}

/* VALUE with DIGITS after the point, and its unit, "" for none. */
export function quantity(value, digits, unit) {
    const number = grouped(value.toFixed(digits).replace(/^-(0\.?0*)$/, '$1'));
    return unit ? `${number}\u202f${unit}` : number;
}

export const metres = (height, digits = 0) => quantity(height, digits, 'm');

/* 1, 1.5, 20 k, 3 M, ... */
export function kilo(count) {
    const order = clamp(Math.floor(Math.log10(count * 1.0001) / 3), 0, 5);
    const digits = Number((count / 1000 ** order).toPrecision(3));
    return order ? `${digits}\u202f${'kMGTP'[order - 1]}` : String(digits);
}

export const blocksText = (count) => `${kilo(count)} ${kilo(count) === '1' ? 'block' : 'blocks'}`;

export function parseBlocks(text) {
    const decimal = text.replace(/\u2212/g, '-').replace(/\u202f/g, '');
    return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(decimal) ? Number(decimal) : NaN;
}

/* ---- The grid ---- */

/* Blocks between samples. */
export const step = ({ native_zoom: native }, zoom) => 2 ** (native - zoom);

export const withinLimit = ({ limits }, blocks) => blocks.every((b) => Math.abs(b) <= limits.coordinate);

/* Round to the precision of a pixel: whole blocks, or the fraction of a block per pixel. */
export function snap(world, blocks, zoom) {
    const grain = Math.min(1, step(world, Math.round(zoom)));
    return plain(Math.round(blocks / grain) * grain);
}

/* The wavelength of the broadest noise of a world. */
function broadestOf({ noise, fields }) {
    if (noise)
        return noise.wavelength;
    let broadest = 0;
    JSON.stringify(fields, (key, value) => {
        if (key === 'wavelength' && typeof value === 'number')
            broadest = Math.max(broadest, value);
        return value;
    });
    return broadest || START_CELL;
}

/* The first view of a world shows a few of its broadest features. */
export function startPlace(world) {
    const { native_zoom: native, limits } = world;
    const zoom = Math.round(native + Math.log2(START_CELL / broadestOf(world)));
    return { zoom: clamp(zoom, limits.overview, limits.zoom[1]), x: 0, y: 0 };
}

/* Both views count pixels in doubles, so the deepest zooms would tear far from the origin. */
export function deepestZoom(world, { x, y }) {
    const reach = Math.max(Math.abs(x - world.origin[0]), Math.abs(y - world.origin[1]), 1);
    const exact = Math.floor(Math.log2(EXACT / reach) + world.native_zoom - 1e-6);
    return clamp(exact, world.limits.overview, world.limits.zoom[1]);
}

/* The valid place nearest to the requested one, not so far out that nothing is left to see. */
export function reachable(world, wanted) {
    const place = { ...startPlace(world), ...wanted };
    const most = world.limits.coordinate;
    const at = { x: clamp(place.x, -most, most), y: clamp(place.y, -most, most) };
    return { ...place, ...at, zoom: clamp(place.zoom, world.limits.overview, deepestZoom(world, at)) };
}

/* ---- Tiles and layers ---- */

export const pictures = ({ layers }) => layers.filter(({ extensions }) => extensions.includes('png'));

export function findLayer(world, name) {
    const named = (wanted) => pictures(world).find((candidate) => candidate.name === wanted);
    return named(name) || named('relief') || pictures(world)[0];
}

/* Layers of heights: 24-bit numbers in the pictures; metres = number * unit - offset. A world may serve none. */
const ENCODINGS = { terrarium: { unit: 1 / 256, offset: 32768 }, mapbox: { unit: 0.1, offset: 10000 } };

function encodedIn(world, names) {
    const layer = names.map((name) => world.layers.find((one) => one.name === name)).find(Boolean);
    return layer ? { layer, ...ENCODINGS[layer.encoding] } : null;
}

/* The heights of the ground, without water. */
export const heightsOf = (world) => encodedIn(world, ['terrarium', 'terrain-rgb']);

/* The heights of the scene: with the water of rivers and lakes, if the world has some. */
export const sceneHeightsOf = (world) => encodedIn(world, ['terrarium-water', 'terrarium', 'terrain-rgb']);

/* The name of the field that LAYER shows, null for others. */
export const fieldOf = ({ name }) => (name.startsWith('field.') ? name.slice('field.'.length) : null);

/* Layers of shades from black, the lowest value of their range, to white, the highest. */
export const isGray = (layer) => ['gray', 'height'].includes(layer.name) || fieldOf(layer) !== null;

/* The values that a layer of shades stands for: all that its field can have, or the world's heights. */
export const fullRange = (world, layer) => layer.range ?? world.range;

/* The numbers behind LAYER's shades, as of heightsOf: the field's 16-bit shades, or heights, which terrarium and
 * terrain-rgb have in finer steps. Null if it has none. */
export function numbersOf(world, layer) {
    if (!isGray(layer))
        return null;
    if (fieldOf(layer) === null)
        return heightsOf(world);
    const [low, high] = layer.range;
    return { layer, unit: (high - low) / 65535, offset: -low };
}

/* By how much LAYER's shading exaggerates heights at ZOOM; null if it has no shading. */
export function exaggerationOf(world, { exaggeration }, zoom) {
    const dense = window.devicePixelRatio > 1 ? 1 : 0;
    return exaggeration ? exaggeration.least * Math.sqrt(1 + step(world, zoom + dense) / exaggeration.spacing) : null;
}

/* False beyond the coordinate limit. */
export function tileExists(world, { x, y, z }) {
    const side = world.tile_size * step(world, z);
    const edge = (axis, index) => world.origin[axis] + index * side;
    return withinLimit(world, [edge(0, x), edge(0, x + 1), edge(1, y), edge(1, y + 1)]);
}

/* The address of a tile to look at: WebP, less than PNG, if LAYER has it. */
export function tileAddress(world, layer, { x, y, z }, dense = false) {
    const path = (layer.tiles_webp ?? layer.tiles).replace('{z}', z).replace('{x}', x);
    return address(dense && z <= world.limits.zoom_2x[1] ? path.replace('{y}', `${y}@2x`) : path.replace('{y}', y));
}

/* ---- Requests ---- */

/* "./" prevents name:seed from being parsed as a URL scheme. */
export const address = (path) => new URL(`./${path}`, document.baseURI).href;

export async function getJson(path) {
    const response = await fetch(address(path), { signal: AbortSignal.timeout(REQUEST_TIMEOUT) });
    const body = await response.json();
    if (!response.ok)
        throw Object.assign(new Error(body.error), { status: response.status });
    body.fingerprint ??= response.headers.get('Farlands-Fingerprint');
    return body;
}

/* True if FRESH, requested later, has the heights and pictures of WORLD. */
export const isUnchanged = (world, fresh) =>
    world.fingerprint === fresh.fingerprint && JSON.stringify(world.layers) === JSON.stringify(fresh.layers);

/* Keeps the requested name, such as name:seed. */
export const getWorld = async (name) => ({ ...await getJson(`${name}.json`), name });

/* The path of the region BOX of heights: { x, y, width, height, step } in blocks and samples. */
function regionPath({ urls }, box, extension) {
    const values = { ...box, x: plain(box.x), y: plain(box.y), step: plain(box.step), ext: extension };
    return urls.region.replace(/\{(\w+)\}/g, (_, key) => values[key]);
}

/* The URL of BOX, as programs would request it; with LAYER, of its picture. */
export function regionAddress(world, box, extension, layer) {
    const path = regionPath(world, box, extension);
    if (!layer || layer.name === 'height')
        return address(path);
    return address(`${path.replace(world.fingerprint, layer.fingerprint)}&layer=${layer.name}`);
}

/* A promise of the samples of BOX, rows from north to south: heights, or the values of FIELD. */
export async function getRegion(world, box, field = null) {
    const path = regionPath(world, box, 'f32');
    const response = await fetch(address(field === null ? path : `${path}&field=${field}`), { signal: AbortSignal.timeout(REQUEST_TIMEOUT) });
    if (!response.ok)
        throw Object.assign(new Error((await response.json()).error), { status: response.status });
    return new Float32Array(await response.arrayBuffer());
}

const withFields = (path, names) => (names.length ? `${path}&fields=${names.join(',')}` : path);

/* The path of the height at (X, Y), exact decimals as text, with the values of the fields NAMES. */
export const heightPath = ({ name }, x, y, names = []) => withFields(`${name}/height?x=${x}&y=${y}`, names);

export const getHeight = (...of) => getJson(heightPath(...of));

/* PLACES have x and y as exact decimals; 128 of them fit in a URL. */
export const getHeights = ({ name }, places, names = []) =>
    getJson(withFields(`${name}/heights?at=${places.map(({ x, y }) => `${x},${y}`).join(';')}`, names));
