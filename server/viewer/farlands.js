/*
 * A world's heights and densities computed where they are wanted, in a browser or in Node: the very floats that the
 * daemon sends. farlands.wasm, beside this file, is the daemon's own noise.
 *
 *     import { loadTerrain, units } from './farlands.js';
 *     const world = await (await fetch('http://127.0.0.1:8080/default.json')).json();
 *     const terrain = await loadTerrain('farlands.wasm', world);
 *     terrain.height(units('12.5'), units(-3));            // metres
 *     terrain.heights({ x: 0n, y: 0n, width: 256, height: 256 });   // Float32Array, row by row, north first
 *     terrain.densities({ x: 0n, y: 0n, z: units(1700), width: 33, height: 33, depth: 33 });
 *
 * Places are BigInts that count units, 1/1024 block, up to 2^62 of them from block 0; y grows south, z upwards.
 */
const UNIT_BITS = 10n;
const KNOTS = 'elevation';

/* Blocks, as decimal text, a number or a BigInt, in units; a place between units is refused. */
export function units(blocks) {
    if (typeof blocks === 'bigint')
        return blocks << UNIT_BITS;
    const parts = /^(-?)(\d+)(?:\.(\d+))?$/.exec(typeof blocks === 'number' ? decimal(blocks) : blocks);
    const [, sign, whole, fraction = ''] = parts ?? refuse(`blocks: "${blocks}" is not accepted; accepted is a plain decimal`);
    const numerator = BigInt(whole + fraction) << UNIT_BITS;
    const denominator = 10n ** BigInt(fraction.length);
    if (numerator % denominator)
        refuse(`blocks: "${blocks}" is not accepted; accepted are whole numbers of 1/1024`);
    return (sign ? -1n : 1n) * (numerator / denominator);
}

/* A number without an exponent, exactly. */
function decimal(number) {
    if (!Number.isFinite(number))
        refuse(`blocks: ${number} is not accepted; accepted is a finite number`);
    if (Number.isInteger(number))
        return String(BigInt(number));
    return number.toFixed(Math.abs(number) < 2 ** 53 ? 20 : 0).replace(/0+$/, '');
}

function refuse(why) {
    throw new RangeError(why);
}

/* The module of WASM: its bytes, its URL, or what fetch gave or will give for it. To make several terrains of one
 * module, compile it once. */
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
 * The terrain of WORLD, what the daemon serves at /{world}.json, as text or parsed. WASM as for compile.
 * Refused, with what is wrong and what is accepted, where the document is another generator's, where it lacks a
 * parameter or has one that is not known here: its heights would not be the daemon's.
 */
export async function loadTerrain(wasm, world) {
    const module = await compile(wasm);
    const document = typeof world === 'string' ? JSON.parse(world) : world;
    const instance = await instantiate(module);
    const { height, heights, density, densities, memory } = instance;
    setParameters(instance, document);
    return {
        /* The height in metres at a place; NaN beyond where there is land. */
        height: (x, y) => (fit(x, y) ? height(x, y) : NaN),
        /* Of a rectangle of samples, STEP units apart; `bandLimit` fades out octaves finer than that, for pictures. */
        heights({ x, y, step = 1n << UNIT_BITS, width, height: rows, bandLimit = false }) {
            const at = fit(x, y, step) && heights(x, y, step, width, rows, bandLimit);
            return copy(memory, at, width * rows, `${width} x ${rows} samples, ${step} units apart, from (${x}, ${y}) on`);
        },
        /* How far inside the ground a place is, above 0, or outside, below; as /volume.f32. */
        density: (x, y, z) => (fit(x, y, z) ? density(x, y, z) : NaN),
        /* Of a box of samples: x fastest, then y, then z. */
        densities({ x, y, z, step = 1n << UNIT_BITS, width, height: rows, depth }) {
            const at = fit(x, y, z, step) && densities(x, y, z, step, width, rows, depth);
            return copy(memory, at, width * rows * depth,
                `${width} x ${rows} x ${depth} samples, ${step} units apart, from (${x}, ${y}, ${z}) on`);
        },
    };
}

/* Whether 64 bits hold each: WebAssembly would drop the others. */
const fit = (...places) => places.every((place) => BigInt.asIntN(64, place) === place);

/* COUNT floats from AT on, which are WHAT, or where AT is 0 are not to be had. */
function copy({ buffer }, at, count, what) {
    if (!at)
        refuse(`there are no ${what}: beyond the land, or more than there is memory for`);
    return new Float32Array(buffer, at >>> 0, count).slice();
}

async function instantiate(module) {
    let memory = null;
    const farlands = {
        /* As C's: END, a pointer to a pointer, gets what follows the number; here that is all or nothing. */
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

/* The values of OBJECT by their dotted keys. */
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
        refuse(`generator: ${generator} is not accepted; accepted is ${instance.generator()}`);
    const keys = readText(instance, instance.keys()).trim().split('\n');
    const values = flatten(document, '', new Map());
    for (const key of keys) {
        if (!values.has(key))
            refuse(`${key}: missing; accepted is what the daemon serves at /{world}.json, whole`);
        set(instance, key, values.get(key));
    }
    /* Beside parameters stand only parameters: a later one may well matter. */
    const sections = new Set(keys.filter((key) => key.includes('.')).map((key) => key.split('.')[0]));
    for (const key of values.keys())
        if (key.includes('.') && sections.has(key.split('.')[0]) && !keys.includes(key))
            refuse(`${key}: unknown`);
    setElevation(instance, document[KNOTS]);
    const err = instance.make();
    if (err)
        refuse(readText(instance, instance.length()) || 'out of memory');
}

function set(instance, key, value) {
    const [name, text] = [key, String(value)].map((one) => new TextEncoder().encode(one));
    const room = new Uint8Array(instance.memory.buffer, instance.text(), name.length + text.length);
    room.set(name);
    room.set(text, name.length);
    if (instance.set(name.length, text.length))
        refuse(`${key}: "${value}" is not accepted`);
}

function setElevation(instance, knots) {
    const good = (pair) => Array.isArray(pair) && pair.length === 2 && pair.every(Number.isFinite);
    if (!Array.isArray(knots) || !knots.every(good) || knots.some((pair) => instance.knot(...pair)))
        refuse(`${KNOTS}: not accepted; accepted are 2 to 32 pairs [noise, metres]`);
}
