/*
 * Maps the endless plane to MapLibre, which knows only the Mercator square of the globe: tiles 0 <= x, y < 2^z, zooms 0
 * to about 22, heights in metres on a sphere with a circumference of 40,030 km.
 *
 * An anchor lays the plane over that square so that the viewed place is near the middle, on the equator, where Mercator
 * is almost undistorted, and the viewed zoom is MapLibre's tile zoom LOOK. Then
 *
 *     world zoom   = tile zoom + shift
 *     world column = column - 2^(zoom - 1) + tile * 2^(zoom - COARSEST)
 *
 * `tile` is in tiles of zoom COARSEST, so from that zoom on each MapLibre tile is one world tile. The square is `side`
 * blocks wide around the block `middle`. This file depends neither on MapLibre nor on the page.
 */

/* LOOK leaves six finer zooms before MapLibre's precision ends. The middle is at most half a tile of zoom COARSEST from
 * the place. That is 1/128 of the square, or 3 degrees, with a scale error of 1/800. */
export const LOOK = 16;
export const COARSEST = 6;
/* The distance at which the view needs another anchor: 1/64 of the square, 6 degrees, an error of 1/200. */
const FAR = 1 / 64;
const ZOOMED = { out: 3, in: 5 };

const GLOBE = 2 * Math.PI * 6371008.8;    // metres, MapLibre's circumference
const DEGREES = 180 / Math.PI;

export function anchorAt({ native_zoom: native, origin, tile_size: samples }, { x, y, zoom }) {
    const shift = Math.round(zoom) - LOOK;
    const coarse = samples * 2 ** (native - shift - COARSEST);       // blocks per side of a tile at zoom COARSEST
    const tile = [x, y].map((blocks, axis) => Math.round((blocks - origin[axis]) / coarse));
    return { shift, tile, side: coarse * 2 ** COARSEST, middle: tile.map((n, axis) => origin[axis] + n * coarse) };
}

export function worldTile({ shift, tile }, { x, y, z }) {
    const [column, row] = [x, y].map((n, axis) => n - 2 ** (z - 1) + tile[axis] * 2 ** (z - COARSEST));
    return { x: column, y: row, z: z + shift };
}

export function toLngLat({ middle, side }, { x, y }) {
    const [east, south] = [(x - middle[0]) / side, (y - middle[1]) / side];
    return { lng: 360 * east, lat: -DEGREES * Math.atan(Math.sinh(2 * Math.PI * south)) };
}

export function toBlocks({ middle, side }, { lng, lat }) {
    const south = -Math.asinh(Math.tan(lat / DEGREES)) / (2 * Math.PI);
    return { x: middle[0] + side * lng / 360, y: middle[1] + side * south };
}

/* MapLibre's camera counts tiles of 512 pixels: one zoom less than tiles of 256. */
export const cameraZoom = ({ shift }, zoom) => zoom - shift - 1;
export const worldZoom = ({ shift }, camera) => camera + shift + 1;

/* The exaggeration that makes a block as high as it is wide. */
export function trueHeights(anchor, place) {
    return GLOBE / anchor.side * Math.cos(toLngLat(anchor, place).lat / DEGREES);
}

/* True while the view is close enough to the anchor. */
export function serves({ middle, side, shift }, { x, y, zoom }) {
    const away = Math.max(Math.abs(x - middle[0]), Math.abs(y - middle[1])) / side;
    return away <= FAR && zoom >= shift + LOOK - ZOOMED.out && zoom <= shift + LOOK + ZOOMED.in;
}
