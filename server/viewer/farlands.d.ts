/** A compiled module, or its source: bytes, a response, or a URL. Only Node, Deno and Bun read `file:` URLs. */
export type Wasm = WebAssembly.Module | ArrayBuffer | ArrayBufferView | Response | string | URL;

/** A rectangle of samples: (x, y) is the first, in units of 1/1024 block; `step` is 1024n by default. */
export interface Grid {
    x: bigint;
    y: bigint;
    step?: bigint;
    width: number;
    height: number;
}

/** A grid for values. `bandLimit` fades out octaves finer than the samples, as in pictures. */
export interface FilteredGrid extends Grid {
    bandLimit?: boolean;
}

export interface Box extends Grid {
    z: bigint;
    depth: number;
}

export interface Field {
    name: string;
    unit: string;
    /** Every value lies within these bounds, but perhaps far from them. */
    range: [number, number];
}

/** A biome in the world; `id` is its value in the field `biome`. */
export interface Biome {
    id: number;
    name: string;
}

/** The water at a point. All are null on land; `river`, the order, and `width` in lakes and the sea as well. */
export interface Water {
    /** The water's level, and how far it is above the height, in metres. */
    water: number | null;
    depth: number | null;
    river: number | null;
    width: number | null;
    kind: 'river' | 'lake' | 'sea' | null;
}

/** A point on a water course: a corner of the line that the river's middle follows. */
export interface CoursePoint {
    x: bigint;
    y: bigint;
    /** The water's surface and bottom, in metres. */
    level: number;
    bed: number;
    /** The river's width in metres, and its order; 0 over land. */
    width: number;
    order: number;
    kind: 'land' | 'river' | 'lake' | 'sea' | 'end lake';
}

/** A world's terrain. Coordinates are in units of 1/1024 block; y grows south, z upwards. */
export interface Terrain {
    readonly fields: readonly Field[];
    readonly biomes: readonly Biome[];
    /** A field at a point; NaN outside the world. */
    value(field: string, x: bigint, y: bigint): number;
    /** A field over a grid, rows from north to south. */
    values(field: string, grid: FilteredGrid): Float32Array;
    /** A field over a grid, and its derivatives along x and y, per block. */
    gradients(field: string, grid: Grid): { values: Float32Array; dx: Float32Array; dy: Float32Array };
    /** The field `height`, in metres. */
    height(x: bigint, y: bigint): number;
    heights(grid: FilteredGrid): Float32Array;
    /** The ground seen from above, in metres: the height, unless overhangs or caves have moved it. */
    surface(x: bigint, y: bigint): number;
    /** The water at a point; null outside the world, and in worlds without rivers. */
    water(x: bigint, y: bigint): Water | null;
    /** The water's course from a point to the sea or to an end lake, computed as it is read. */
    downstream(x: bigint, y: bigint): Generator<CoursePoint, void>;
    /** The density at a point: positive in the ground, negative in the air. */
    density(x: bigint, y: bigint, z: bigint): number;
    /** Densities in a box: x fastest, then y, then z. */
    densities(box: Box): Float32Array;
}

/** Blocks (decimal text, a number or a BigInt) to the nearest unit. */
export function units(blocks: string | number | bigint): bigint;

/** Compile farlands.wasm once, to load several terrains. */
export function compile(wasm: Wasm | Promise<Wasm>): Promise<WebAssembly.Module>;

/** Load the terrain of the document at /{world}.json, as text or parsed. */
export function loadTerrain(wasm: Wasm | Promise<Wasm>, world: string | object): Promise<Terrain>;
