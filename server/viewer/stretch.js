/* Stretches shades of gray to the heights in view. Nearby heights differ by less than one of the 256 shades of the
 * world's range, so the layers gray and height are blank at deep zooms. Knows nothing of the page. */

const PARTS = 5;                  // round steps in the heights in view, at least
const LOOSE = 0.6;                // below this part of the range the heights in view get one of their own
const STEPS = 16;                 // of the encoding, in the smallest range

/* Layers of shades from black at the world's lowest height to white at its highest. */
export const isGray = ({ name }) => name === 'gray' || name === 'height';

const round = (size) => {
    const power = 10 ** Math.floor(Math.log10(size));
    return [5, 2, 1].find((digit) => digit * power <= size * 1.001) * power;
};

/* Round numbers around EXTENT, [lowest, highest]. UNIT is the resolution of heights. */
export function rangeAround([low, high], unit) {
    const missing = Math.max(0, STEPS * unit - (high - low)) / 2;
    const step = round((high - low + 2 * missing) / PARTS);
    return [Math.floor((low - missing) / step) * step, Math.ceil((high + missing) / step) * step];
}

/* The range for a view of EXTENT: CURRENT (or null) as long as it suits, so that shades are stable. Without MAY_SHRINK,
 * if more heights may follow, it only grows. */
export function nextRange(current, extent, unit, mayShrink) {
    const [low, high] = extent;
    if (!current)
        return rangeAround(extent, unit);
    const [least, most] = current;
    const inside = least <= low && high <= most;
    const enough = Math.max(high - low, STEPS * unit) >= LOOSE * (most - least);
    if (inside && (enough || !mayShrink))
        return current;
    return rangeAround(mayShrink ? extent : [Math.min(least, low), Math.max(most, high)], unit);
}

/* The heights that PIXELS, an ImageData, encode: see world.js about UNIT and OFFSET. */
export function readHeights({ data }, { unit, offset }) {
    const heights = new Float32Array(data.length / 4);
    for (let i = 0; i < heights.length; i++)
        heights[i] = (data[4 * i] * 65536 + data[4 * i + 1] * 256 + data[4 * i + 2]) * unit - offset;
    return heights;
}

/* The lowest and highest of the HEIGHTS of a square within BOX: left, top, right, bottom as parts of its side. */
export function extentOf(heights, box) {
    const side = Math.sqrt(heights.length);
    const [left, top, right, bottom] = box.map((part, i) => Math.min(Math.max((i < 2 ? Math.floor : Math.ceil)(part * side), 0), side));
    let [low, high] = [Infinity, -Infinity];
    for (let y = top; y < bottom; y++)
        for (let i = y * side + left; i < y * side + right; i++) {
            low = Math.min(low, heights[i]);
            high = Math.max(high, heights[i]);
        }
    return [low, high];
}

/* Paint HEIGHTS into PIXELS, an ImageData: black at LOW and below, white at HIGH and above. */
export function shade(heights, { data }, [low, high]) {
    const scale = 255 / (high - low);
    for (let i = 0; i < heights.length; i++) {
        data[4 * i] = data[4 * i + 1] = data[4 * i + 2] = (heights[i] - low) * scale;
        data[4 * i + 3] = 255;
    }
}

/* The range that both views share. `heights` tells whether a world encodes heights; `changed` is called with each range. */
export function makeStretch({ heightsOf, changed }) {
    let range = null;
    return {
        on: true,
        get range() { return range; },
        possible: (world, layer) => isGray(layer) && heightsOf(world) !== null,
        applies(world, layer) { return this.on && this.possible(world, layer); },
        /* The view shows heights of EXTENT. Returns the range. */
        see(world, extent, mayShrink) {
            const next = nextRange(range, extent, heightsOf(world).unit, mayShrink);
            if (next !== range) {
                range = next;
                changed(range);
            }
            return range;
        },
    };
}
