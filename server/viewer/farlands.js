/*
 * Heights and densities of a world, computed in a browser or in Node by farlands.wasm: exactly the floats that the daemon
 * sends.
 *
 *     import { loadTerrain, units } from './farlands.js';
 *     const world = await (await fetch('http://127.0.0.1:8080/default.json')).json();
 *     const terrain = await loadTerrain('farlands.wasm', world);
 *     terrain.height(units('12.5'), units(-3));            // metres
 *     terrain.heights({ x: 0n, y: 0n, width: 256, height: 256 });   // Float32Array, rows from north to south
 *     terrain.densities({ x: units(32), y: 0n, z: units(248), width: 33, height: 33, depth: 33 });
 *
 * Coordinates are BigInts in units of 1/1024 block, up to ±2^62; y grows south, z upwards.
 */
const UNIT_BITS = 10n;
const KNOTS = 'elevation';
const TEXT_BYTES = 4096;          // the module's buffer for the key and the value of a parameter
const SIZE_MAX = 2 ** 31 - 1;

/*
 * Convert blocks (a number, a BigInt, or decimal text such as '-3.5', '+5' and '1e3') to the nearest unit. Of two equally
 * near ones it is the larger, as in Math.round. The daemon rounds places in URLs in the same way.
 */
export function units(blocks) {
    if (typeof blocks === 'bigint')
        return blocks << UNIT_BITS;
    const text = typeof blocks === 'number' ? decimal(blocks) : blocks;
    const [, sign, whole, fraction, exponent = 0] = /^([+-]?)(?=\.?\d)(\d*)\.?(\d*)(?:e([+-]?\d{1,4}))?$/i.exec(text) ??
        refuse(`blocks: got "${blocks}"; expected a decimal number`);
    const digits = (sign === '-' ? -1n : 1n) * BigInt(whole + fraction);
    const decimals = BigInt(fraction.length - Number(exponent));
    const [times, divisor] = decimals < 0n ? [10n ** -decimals, 1n] : [1n, 10n ** decimals];
    return floor(2n * (digits * times << UNIT_BITS) + divisor, 2n * divisor);
}

/* The quotient, rounded down. */
function floor(number, divisor) {
    const quotient = number / divisor;
    return number % divisor < 0n ? quotient - 1n : quotient;
}

/* The decimal of a number, without an exponent: exact, or far from the middle between two units. */
function decimal(number) {
    if (!Number.isFinite(number))
        refuse(`blocks: got ${number}; expected a finite number`);
    return Number.isInteger(number) ? String(BigInt(number)) : number.toFixed(20);
}

function refuse(why) {
    throw new RangeError(why);
}

/* Compile WASM: its bytes, its URL, a Response, or a promise of one of these. Compile once to load several terrains. */
export async function compile(wasm) {
    const source = await wasm;
    if (source instanceof WebAssembly.Module)
        return source;
    if (source instanceof ArrayBuffer || ArrayBuffer.isView(source))
        return WebAssembly.compile(source);
    const response = source instanceof Response ? source : await fetch(source);
    if (!response.ok)
        throw new Error(`${response.url}: ${response.status}`);
    return WebAssembly.compile(await response.arrayBuffer());
}

/*
 * Load the terrain of WORLD, the document at /{world}.json, as text or parsed. WASM as for compile. Throws a RangeError that
 * names the key and the expected value if the document is of another generator or has a key that this release does not know,
 * except within `layers`, `limits` and `urls`: the heights might not be the daemon's. Keys that it lacks have their defaults.
 */
export async function loadTerrain(wasm, world) {
    const module = await compile(wasm);
    const document = typeof world === 'string' ? JSON.parse(world) : world;
    const instance = await instantiate(module);
    const { height, heights, density, densities, memory } = instance;
    setParameters(instance, document);
    return {
        /* The height in metres at a point; NaN outside the world. */
        height: (x, y) => (fit({ x, y }) ? height(x, y) : NaN),
        /* Heights of a grid, STEP units apart. `bandLimit` fades out finer octaves, as in pictures. */
        heights({ x, y, step = 1n << UNIT_BITS, width, height: rows, bandLimit = false }) {
            const count = samples(step, { width, height: rows });
            const at = fit({ x, y, step }) && heights(x, y, step, width, rows, bandLimit ? 1 : 0);
            return copy(memory, at, count, `${width} x ${rows} samples, ${step} units apart, from (${x}, ${y}) on`);
        },
        /* The density at a point, as in /volume.f32: positive in the ground, negative in the air. */
        density: (x, y, z) => (fit({ x, y, z }) ? density(x, y, z) : NaN),
        /* Densities of a box: x fastest, then y, then z. */
        densities({ x, y, z, step = 1n << UNIT_BITS, width, height: rows, depth }) {
            const count = samples(step, { width, height: rows, depth });
            const at = fit({ x, y, z, step }) && densities(x, y, z, step, width, rows, depth);
            return copy(memory, at, count,
                `${width} x ${rows} x ${depth} samples, ${step} units apart, from (${x}, ${y}, ${z}) on`);
        },
    };
}

/* Throw if one of these is not a BigInt. True if each fits in 64 bits; WebAssembly would cut off the rest. */
function fit(places) {
    for (const [name, place] of Object.entries(places))
        if (typeof place !== 'bigint')
            throw new TypeError(`${name}: got ${String(place)}; expected a BigInt of 1/1024 blocks, as units() returns`);
    return Object.values(places).every((place) => BigInt.asIntN(64, place) === place);
}

/* The number of samples in a grid or box with these sizes, STEP units apart; throws if they are not valid. WebAssembly
 * would round the sizes, and then return fewer samples. */
function samples(step, sizes) {
    let count = 1;
    if (typeof step === 'bigint' && step < 1n)      // fit() checks the type
        refuse(`step: got ${step}; expected at least 1`);
    for (const [name, size] of Object.entries(sizes)) {
        if (!Number.isInteger(size) || size < 1 || size > SIZE_MAX)
            refuse(`${name}: got ${String(size)}; expected an integer from 1 to ${SIZE_MAX}`);
        count *= size;
    }
    return count;
}

/* Copy COUNT floats at address AT; 0 means that WHAT cannot be computed. */
function copy({ buffer }, at, count, what) {
    if (!at)
        refuse(`${what}: outside the world, or out of memory`);
    return new Float32Array(buffer, at >>> 0, count).slice();
}

async function instantiate(module) {
    let memory = null;
    const farlands = {
        /* As in C, except that the text is a number as a whole or not at all. END is a pointer to a pointer. */
        strtod(text, end) {
            const bytes = new Uint8Array(memory.buffer, text);
            const length = bytes.indexOf(0);
            const number = Number(new TextDecoder().decode(bytes.subarray(0, length)));
            new DataView(memory.buffer).setUint32(end, Number.isNaN(number) ? text : text + length, true);
            return number;
        },
    };
    const { exports } = await WebAssembly.instantiate(module, { farlands });
    memory = exports.memory;
    return exports;
}

function readText({ memory, text }, length) {
    return new TextDecoder().decode(new Uint8Array(memory.buffer, text(), length));
}

/* Keys that the document lacks keep their defaults. Keys that this release does not know may be parameters of a later one. */
function setParameters(instance, document) {
    const { generator } = document;
    if (generator !== instance.generator())
        refuse(`generator: got ${generator}; expected ${instance.generator()}`);
    const keys = readText(instance, instance.keys()).trim().split('\n');
    const sections = new Set(keys.filter((key) => key.includes('.')).map((key) => key.split('.')[0]));
    for (const [key, value] of Object.entries(document)) {
        if (sections.has(key))
            setSection(instance, keys, key, value);
        else if (key === KNOTS)
            setElevation(instance, value);
        else if (keys.includes(key))
            set(instance, key, value);
        else if (!isKnown(instance, key))
            refuse(`${key}: unknown parameter, which may change the heights`);
    }
    if (!document.noise)          // entries of /worlds.json have a generator, too
        refuse('noise: missing; expected the complete document that the daemon serves at /{world}.json');
    const err = instance.make();
    if (err)
        refuse(readText(instance, instance.length()) || 'out of memory');
}

function setSection(instance, keys, section, values) {
    if (!values || typeof values !== 'object' || Array.isArray(values))
        refuse(`${section}: got ${JSON.stringify(values)}; expected an object`);
    for (const [key, value] of Object.entries(values)) {
        const path = `${section}.${key}`;
        if (keys.includes(path))
            set(instance, path, value);
        else if (keys.some((known) => known.startsWith(`${path}.`)))
            setSection(instance, keys, path, value);
        else
            refuse(`${path}: unknown parameter, which may change the heights`);
    }
}

/* Write texts into the module's buffer, one after another. Returns their lengths, or null if they do not fit. */
function writeText(instance, ...texts) {
    const parts = texts.map((text) => new TextEncoder().encode(text));
    const lengths = parts.map(({ length }) => length);
    const total = lengths.reduce((a, b) => a + b);
    if (total > TEXT_BYTES)
        return null;
    const room = new Uint8Array(instance.memory.buffer, instance.text(), total);
    let at = 0;
    for (const part of parts) {
        room.set(part, at);
        at += part.length;
    }
    return lengths;
}

function isKnown(instance, key) {
    const lengths = writeText(instance, key);
    return lengths && instance.known(...lengths);
}

function set(instance, key, value) {
    const text = String(value), lengths = writeText(instance, key, text);
    if (!lengths)
        refuse(`${key}: invalid value of ${new TextEncoder().encode(text).length} bytes`);
    if (instance.set(...lengths))
        refuse(`${key}: invalid value "${value}"`);
}

function setElevation(instance, knots) {
    const good = (pair) => Array.isArray(pair) && pair.length === 2 && pair.every(Number.isFinite);
    if (!Array.isArray(knots) || !knots.length || !knots.every(good) || knots.some((pair, i) => instance.knot(i, ...pair)))
        refuse(`${KNOTS}: malformed; expected 2 to 32 pairs [noise, metres]`);
}
