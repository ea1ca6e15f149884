/* Grid arithmetic, number formats and requests, shared by views and panels. */

const REQUEST_TIMEOUT = 10000;
const EXACT = 2 ** 53;            // below this doubles are exact for whole numbers

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

/* VALUE with DIGITS after the point, and the unit, "" for none. */
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

/* Round to a pixel's precision: whole blocks, or the fraction of a block per pixel. */
export function snap(world, blocks, zoom) {
    const grain = Math.min(1, step(world, Math.round(zoom)));
    return plain(Math.round(blocks / grain) * grain);
}

/* The first view of a world shows a few of its broadest features. */
export const startPlace = ({ limits }) => ({ zoom: limits.first, x: 0, y: 0 });

/* Both views count pixels in doubles, so far from the origin the deepest zooms would tear. */
export function deepestZoom(world, { x, y }) {
    const reach = Math.max(Math.abs(x - world.origin[0]), Math.abs(y - world.origin[1]), 1);
    const exact = Math.floor(Math.log2(EXACT / reach) + world.native_zoom - 1e-6);
    return clamp(exact, world.limits.overview, world.limits.zoom[1]);
}

/* The valid place nearest to the requested one, with something left to see. */
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

/* Height layers: pictures of 24-bit numbers; metres = number * unit - offset. A world may serve none. */
const ENCODINGS = { terrarium: { unit: 1 / 256, offset: 32768 }, mapbox: { unit: 0.1, offset: 10000 } };

function encodedIn(world, names) {
    const layer = names.map((name) => world.layers.find((one) => one.name === name)).find(Boolean);
    return layer ? { layer, ...ENCODINGS[layer.encoding] } : null;
}

/* The ground's heights, without water. */
export const heightsOf = (world) => encodedIn(world, ['terrarium', 'terrain-rgb']);

/* The scene's heights: with water in rivers and lakes, if the world has rivers. */
export const sceneHeightsOf = (world) => encodedIn(world, ['terrarium-water', 'terrarium', 'terrain-rgb']);

/* The name of LAYER's field, null for other layers. */
export const fieldOf = ({ name }) => (name.startsWith('field.') ? name.slice('field.'.length) : null);

/* True for layers of shades from black, the lowest value in their range, to white, the highest. */
export const isGray = (layer) => ['gray', 'height'].includes(layer.name) || fieldOf(layer) !== null;

/* The range that a layer's shades stand for: all possible values of its field, or the world's heights. */
export const fullRange = (world, layer) => layer.range ?? world.range;

/* The numbers behind LAYER's shades, as from heightsOf: the field's 16-bit shades, or heights, for which terrarium and
 * terrain-rgb have finer steps. Null if there are none. */
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

/* The address of a tile to look at: WebP if LAYER has it, because PNG is larger. */
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

/* True if FRESH, requested later, has the same heights and pictures as WORLD. */
export const isUnchanged = (world, fresh) =>
    world.fingerprint === fresh.fingerprint && JSON.stringify(world.layers) === JSON.stringify(fresh.layers);

/* Keep the requested name, such as name:seed. */
export const getWorld = async (name) => ({ ...await getJson(`${name}.json`), name });

/* The path of a region of heights, BOX: { x, y, width, height, step } in blocks and samples. */
function regionPath({ urls }, box, extension) {
    const values = { ...box, x: plain(box.x), y: plain(box.y), step: plain(box.step), ext: extension };
    return urls.region.replace(/\{(\w+)\}/g, (_, key) => values[key]);
}

/* BOX's URL, as programs would request it; with LAYER, its picture's. */
export function regionAddress(world, box, extension, layer) {
    const path = regionPath(world, box, extension);
    if (!layer || layer.name === 'height')
        return address(path);
    return address(`${path.replace(world.fingerprint, layer.fingerprint)}&layer=${layer.name}`);
}

/* A promise of the samples in BOX, rows from north to south: heights, or the values of FIELD. */
export async function getRegion(world, box, field = null) {
    const path = regionPath(world, box, 'f32');
    const response = await fetch(address(field === null ? path : `${path}&field=${field}`), { signal: AbortSignal.timeout(REQUEST_TIMEOUT) });
    if (!response.ok)
        throw Object.assign(new Error((await response.json()).error), { status: response.status });
    return new Float32Array(await response.arrayBuffer());
}

const withFields = (path, names) => (names.length ? `${path}&fields=${names.join(',')}` : path);

/* The path for the height at (X, Y), exact decimals as text, with the values of the fields NAMES. */
export const heightPath = ({ name }, x, y, names = []) => withFields(`${name}/height?x=${x}&y=${y}`, names);

export const getHeight = (...of) => getJson(heightPath(...of));

/* PLACES have x and y as exact decimals; a URL has room for 128. */
export const getHeights = ({ name }, places, names = []) =>
    getJson(withFields(`${name}/heights?at=${places.map(({ x, y }) => `${x},${y}`).join(';')}`, names));
