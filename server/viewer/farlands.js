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

/* Convert blocks (decimal text, a number or a BigInt) to units. Throws a RangeError for values between units. */
export function units(blocks) {
    if (typeof blocks === 'bigint')
        return blocks << UNIT_BITS;
    const parts = /^(-?)(\d+)(?:\.(\d+))?$/.exec(typeof blocks === 'number' ? decimal(blocks) : blocks);
    const [, sign, whole, fraction = ''] = parts ?? refuse(`blocks: got "${blocks}"; expected a plain decimal`);
    const numerator = BigInt(whole + fraction) << UNIT_BITS;
    const denominator = 10n ** BigInt(fraction.length);
    if (numerator % denominator)
        refuse(`blocks: got "${blocks}"; expected a multiple of 1/1024`);
    return (sign ? -1n : 1n) * (numerator / denominator);
}

/* The exact decimal of a number, without an exponent. */
function decimal(number) {
    if (!Number.isFinite(number))
        refuse(`blocks: got ${number}; expected a finite number`);
    if (Number.isInteger(number))
        return String(BigInt(number));
    return number.toFixed(Math.abs(number) < 2 ** 53 ? 20 : 0).replace(/0+$/, '');
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
 * names the key and the expected value if the document is of another generator, lacks a parameter or has an unknown one:
 * the heights would not be the daemon's.
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

/* Map the dotted keys of OBJECT to their values. */
function flatten(object, prefix, into) {
    for (const [key, value] of Object.entries(object ?? {})) {
        if (value && typeof value === 'object' && !Array.isArray(value))
            flatten(value, `${prefix}${key}.`, into);
        else
            into.set(prefix + key, value);
    }
    return into;
}

function setParameters(instance, document) {
    const { generator } = document;
    if (generator !== instance.generator())
        refuse(`generator: got ${generator}; expected ${instance.generator()}`);
    const keys = readText(instance, instance.keys()).trim().split('\n');
    const values = flatten(document, '', new Map());
    for (const key of keys) {
        if (!values.has(key))
            refuse(`${key}: missing; expected the complete document that the daemon serves at /{world}.json`);
        set(instance, key, values.get(key));
    }
    /* An unknown key in a section may be a parameter of a later release. */
    const sections = new Set(keys.filter((key) => key.includes('.')).map((key) => key.split('.')[0]));
    for (const key of values.keys())
        if (key.includes('.') && sections.has(key.split('.')[0]) && !keys.includes(key))
            refuse(`${key}: unknown parameter`);
    setElevation(instance, document[KNOTS]);
    const err = instance.make();
    if (err)
        refuse(readText(instance, instance.length()) || 'out of memory');
}

function set(instance, key, value) {
    const [name, text] = [key, String(value)].map((one) => new TextEncoder().encode(one));
    if (name.length + text.length > TEXT_BYTES)
        refuse(`${key}: invalid value of ${text.length} bytes`);
    const room = new Uint8Array(instance.memory.buffer, instance.text(), name.length + text.length);
    room.set(name);
    room.set(text, name.length);
    if (instance.set(name.length, text.length))
        refuse(`${key}: invalid value "${value}"`);
}

function setElevation(instance, knots) {
    const good = (pair) => Array.isArray(pair) && pair.length === 2 && pair.every(Number.isFinite);
    if (!Array.isArray(knots) || !knots.every(good) || knots.some((pair) => instance.knot(...pair)))
        refuse(`${KNOTS}: malformed; expected 2 to 32 pairs [noise, metres]`);
}
