/*
 * Heights, fields and densities of a world, computed in a browser, Node, Deno or Bun by farlands.wasm: exactly the floats
 * that the daemon sends.
 *
 *     import { loadTerrain, units } from './farlands.js';
 *     const world = await (await fetch('http://127.0.0.1:8080/default.json')).json();
 *     const terrain = await loadTerrain('farlands.wasm', world);
 *     terrain.height(units('12.5'), units(-3));            // metres
 *     terrain.heights({ x: 0n, y: 0n, width: 256, height: 256 });   // Float32Array, rows from north to south
 *     terrain.fields;                                      // [{ name: 'height', unit: 'm', range: [-1000, 2000] }]
 *     terrain.biomes;                                      // [{ id: 3, name: 'forest' }], if the world has some
 *     terrain.values('height', { x: 0n, y: 0n, width: 256, height: 256 });
 *     terrain.water(units(100), units(200));               // { water: 165.4, depth: 1.6, river: 5.5, width: 11.4, kind: 'river' }
 *     for (const { x, y, level } of terrain.downstream(units(100), units(200))) ...   // to the sea, or an end lake
 *     terrain.densities({ x: units(32), y: 0n, z: units(248), width: 33, height: 33, depth: 33 });
 *
 * Coordinates are BigInts in units of 1/1024 block, up to ±2^62; y grows south, z upwards.
 */
const UNIT_BITS = 10n;
const SIZE_MAX = 2 ** 31 - 1;

/* Convert blocks (a number, a BigInt, or decimal text such as '-3.5', '+5' and '1e3') to the nearest unit. If two are
 * equally near, the larger one, as in Math.round. The daemon rounds places in URLs in the same way. */
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

/* The number as a decimal without an exponent: exact, or far from the middle between two units. */
function decimal(number) {
    if (!Number.isFinite(number))
        refuse(`blocks: got ${number}; expected a finite number`);
    return Number.isInteger(number) ? String(BigInt(number)) : number.toFixed(20);
}

function refuse(why) {
    throw new RangeError(why);
}

/* Read a file: URL, which Node's fetch refuses. Bundlers must not look for this module, because pages lack it. */
async function readLocal(url) {
    const { readFile } = await import(/* webpackIgnore: true */ /* @vite-ignore */ ['node:fs', 'promises'].join('/'));
    return readFile(new URL(url));
}

/* Compile WASM: its bytes, its http: or file: URL, a Response, or a promise of one of these. Compile once to load several
 * terrains. A file: URL, such as new URL('farlands.wasm', import.meta.url), is for Node, Deno and Bun. */
export async function compile(wasm) {
    const source = await wasm;
    if (source instanceof WebAssembly.Module)
        return source;
    if (source instanceof ArrayBuffer || ArrayBuffer.isView(source))
        return WebAssembly.compile(source);
    if (globalThis.process?.versions?.node && /^file:/i.test(source))
        return WebAssembly.compile(await readLocal(source));
    const response = source instanceof Response ? source : await fetch(source);
    if (!response.ok)
        throw new Error(`${response.url}: ${response.status}`);
    return WebAssembly.compile(await response.arrayBuffer());
}

/* Load the terrain of WORLD, the document at /{world}.json, as text or parsed. WASM is as for compile. Throws a
 * RangeError that names the key and the expected value if another generator made the document, or if a key is unknown
 * to this release: the heights might differ from the daemon's. Unknown keys within `layers`, `limits` and `urls` are
 * accepted; missing keys have their defaults. */
export async function loadTerrain(wasm, world) {
    const module = await compile(wasm);
    const instance = await instantiate(module);
    const { value, values, gradients, surface, density, densities, water, course, downstream, memory } = instance;
    const document = typeof world === 'string' ? JSON.parse(world) : world;
    readWorld(instance, JSON.stringify({ name: 'world', ...document }));
    const fields = readFields(instance);
    /* A field's number. */
    const find = (name) => {
        const field = fields.findIndex((known) => known.name === name);
        return field >= 0 ? field
            : refuse(`field: got "${name}"; expected one of ${fields.map((known) => known.name).join(', ')}`);
    };
    /* COUNT arrays of floats, which COMPUTE makes for a grid. */
    const grid = ({ x, y, step = 1n << UNIT_BITS, width, height: rows }, count, compute) => {
        const each = samples(step, { width, height: rows });
        const at = fit({ x, y, step }) && compute(x, y, step, width, rows);
        return Array.from({ length: count }, (_, i) => copy(memory, at && at + 4 * each * i, each,
            `${width} x ${rows} samples, ${step} units apart, from (${x}, ${y}) on`));
    };
    const valuesOf = (name, box) => {
        const field = find(name);
        return grid(box, 1, (...place) => values(field, ...place, box.bandLimit ? 1 : 0))[0];
    };
    const valueAt = (name, x, y) => {
        const field = find(name);
        return fit({ x, y }) ? value(field, x, y) : NaN;
    };
    return {
        /* All fields: { name, unit, range }. Every value lies within the range, but perhaps far from its ends. */
        fields,
        /* All biomes: { id, name }, the ids ascending. An id is a value of the field `biome`. */
        biomes: readBiomes(instance),
        /* A field at a point, and over a grid, STEP units apart: Float32Array, rows from north to south. */
        value: valueAt,
        values: valuesOf,
        /* The same with derivatives along x and y, per block: { values, dx, dy }. */
        gradients(name, box) {
            const field = find(name);
            const [first, dx, dy] = grid(box, 3, (...place) => gradients(field, ...place));
            return { values: first, dx, dy };
        },
        /* The height in metres at a point; NaN outside the world. */
        height: (x, y) => valueAt('height', x, y),
        /* Heights over a grid, STEP units apart. `bandLimit` fades out finer octaves, as in pictures. */
        heights: (box) => valuesOf('height', box),
        /* The ground at a point, in metres: the height, unless overhangs or caves moved it; NaN outside the world. */
        surface: (x, y) => surface(x, y, valueAt('height', x, y)),
        /* The water at a point as /height has it: { water, depth, river, width, kind }; each is null if there is none.
         * The whole result is null outside the world, and in worlds without rivers. */
        water(x, y) {
            const at = fit({ x, y }) && water(x, y);
            return at ? readWater(instance, at) : null;
        },
        /* The water's course from a point, as in /downstream: a generator of points { x, y, level, bed, width, order,
         * kind }, computed one after another as they are read. The last point's kind is "sea" or "end lake". */
        downstream(x, y) {
            const at = fit({ x, y }) && course(x, y);
            return at ? coursePoints(instance, courseAt(memory, at))
                : refuse(`downstream: no course from (${x}, ${y}): outside the world, no rivers in it, or out of memory`);
        },
        /* The density at a point, as in /volume.f32: positive in the ground, negative in the air. */
        density: (x, y, z) => (fit({ x, y, z }) ? density(x, y, z) : NaN),
        /* Densities in a box: x fastest, then y, then z. */
        densities({ x, y, z, step = 1n << UNIT_BITS, width, height: rows, depth }) {
            const count = samples(step, { width, height: rows, depth });
            const at = fit({ x, y, z, step }) && densities(x, y, z, step, width, rows, depth);
            return copy(memory, at, count,
                `${width} x ${rows} x ${depth} samples, ${step} units apart, from (${x}, ${y}, ${z}) on`);
        },
    };
}

/* Throw unless all of these are BigInts. True if each fits in 64 bits, because WebAssembly would cut off the rest. */
function fit(places) {
    for (const [name, place] of Object.entries(places))
        if (typeof place !== 'bigint')
            throw new TypeError(`${name}: got ${String(place)}; expected a BigInt of 1/1024 blocks, as units() returns`);
    return Object.values(places).every((place) => BigInt.asIntN(64, place) === place);
}

/* The number of samples in a grid or box with these sizes, STEP units apart; throws if a size is invalid. WebAssembly
 * would round the sizes and return fewer samples. */
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
        /* As in C, except that either the whole text is a number or none of it. END is a pointer to a pointer. */
        strtod(text, end) {
            const bytes = new Uint8Array(memory.buffer, text);
            const length = bytes.indexOf(0);
            const number = Number(new TextDecoder().decode(bytes.subarray(0, length)));
            new DataView(memory.buffer).setUint32(end, Number.isNaN(number) ? text : text + length, true);
            return number;
        },
        /* As %.{digits}g in C, but exponents begin at other numbers. */
        format(value, digits, at) {
            const text = Number.isFinite(value) ? String(Number(value.toPrecision(digits))) : String(value);
            return new TextEncoder().encodeInto(text, new Uint8Array(memory.buffer, at, 40)).written;
        },
    };
    const { exports } = await WebAssembly.instantiate(module, { farlands });
    memory = exports.memory;
    return exports;
}

/* The C string at address AT. */
function stringAt({ memory }, at) {
    const bytes = new Uint8Array(memory.buffer, at);
    return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
}

function readWorld(instance, document) {
    const bytes = new TextEncoder().encode(document);
    const at = instance.text(bytes.length);
    if (!at)
        refuse('out of memory');
    new Uint8Array(instance.memory.buffer, at, bytes.length).set(bytes);
    if (instance.read(bytes.length))
        refuse(stringAt(instance, instance.error()));
}

/* Read the water at address AT. */
function readWater(instance, at) {
    const view = new DataView(instance.memory.buffer, at);
    const [level, depth, order, width] = [0, 4, 8, 12].map((byte) => view.getFloat32(byte, true));
    const text = view.getUint32(16, true);
    const kind = text ? stringAt(instance, text) : null;
    return { water: kind && level, depth: kind && depth, river: order || null, width: width || null, kind };
}

/* Read where a course continues, at address AT: a node and a step. */
function courseAt({ buffer }, at) {
    const view = new DataView(buffer, at);
    return [view.getBigInt64(0, true), view.getBigInt64(8, true), view.getInt32(16, true)];
}

const KINDS = ['land', 'river', 'lake', 'sea', 'end lake'];
const PART = 32;                  // points per call

function* coursePoints({ downstream, memory }, course) {
    for (let points = { length: PART }; points.length === PART;) {
        const at = downstream(...course) || refuse('downstream: out of memory');
        course = courseAt(memory, at);
        const view = new DataView(memory.buffer, at + 24);
        points = Array.from({ length: view.getUint32(0, true) }, (_, i) => {
            const byte = 8 + 40 * i;
            const [level, bed, width, order] = [16, 20, 24, 28].map((after) => view.getFloat32(byte + after, true));
            return { x: view.getBigInt64(byte, true), y: view.getBigInt64(byte + 8, true), level, bed, width, order,
                kind: KINDS[view.getInt32(byte + 32, true)] };
        });
        yield* points;
    }
}

function readBiomes(instance) {
    return Array.from({ length: 256 }, (_, id) => ({ id, at: instance.biome_name(id) }))
        .filter(({ at }) => at)
        .map(({ id, at }) => ({ id, name: stringAt(instance, at) }));
}

function readFields(instance) {
    return Array.from({ length: instance.field_count() }, (_, field) => ({
        name: stringAt(instance, instance.field_name(field)),
        unit: stringAt(instance, instance.field_unit(field)),
        range: [...new Float32Array(instance.memory.buffer, instance.field_range(field), 2)],
    }));
}
