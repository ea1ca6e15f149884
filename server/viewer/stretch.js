/* Stretches shades of gray to the values in view: heights, or a field's. Otherwise deep zooms would be blank, because
 * nearby values differ by less than one of the 256 shades for all possible values. Knows nothing about the page. */
import { fullRange, numbersOf } from './world.js';

const PARTS = 5;                  // round steps in the values in view, at least
const LOOSE = 0.6;                // if the values in view fill less of the range, they get one of their own
const STEPS = 16;                 // encoding steps in the smallest range

const round = (size) => {
    const power = 10 ** Math.floor(Math.log10(size));
    return [5, 2, 1].find((digit) => digit * power <= size * 1.001) * power;
};

/* Round numbers around EXTENT, [lowest, highest]. UNIT is the values' resolution. */
export function rangeAround([low, high], unit) {
    const missing = Math.max(0, STEPS * unit - (high - low)) / 2;
    const step = round((high - low + 2 * missing) / PARTS);
    return [Math.floor((low - missing) / step) * step, Math.ceil((high + missing) / step) * step];
}

/* The range for a view of EXTENT. CURRENT (or null) stays as long as it suits, so that shades are stable. Unless
 * MAY_SHRINK, because more values may follow, the range only grows. */
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

/* The values encoded in PIXELS, an ImageData; world.js explains UNIT and OFFSET. */
export function readValues({ data }, { unit, offset }) {
    const values = new Float32Array(data.length / 4);
    for (let i = 0; i < values.length; i++)
        values[i] = (data[4 * i] * 65536 + data[4 * i + 1] * 256 + data[4 * i + 2]) * unit - offset;
    return values;
}

/* The lowest and highest of VALUES, a square, within BOX: left, top, right, bottom as shares of the side. */
export function extentOf(values, box) {
    const side = Math.sqrt(values.length);
    const [left, top, right, bottom] = box.map((part, i) => Math.min(Math.max((i < 2 ? Math.floor : Math.ceil)(part * side), 0), side));
    let [low, high] = [Infinity, -Infinity];
    for (let y = top; y < bottom; y++)
        for (let i = y * side + left; i < y * side + right; i++) {
            low = Math.min(low, values[i]);
            high = Math.max(high, values[i]);
        }
    return [low, high];
}

/* Paint VALUES into PIXELS, an ImageData: black at LOW and below, white at HIGH and above. */
export function shade(values, { data }, [low, high]) {
    const scale = 255 / (high - low);
    for (let i = 0; i < values.length; i++) {
        data[4 * i] = data[4 * i + 1] = data[4 * i + 2] = (values[i] - low) * scale;
        data[4 * i + 3] = 255;
    }
}

/* The range that both views share. `changed` is called with each new one. */
export function makeStretch(changed) {
    let range = null;
    let of = null;                // the layer whose numbers RANGE is for
    return {
        on: true,
        possible: (world, layer) => numbersOf(world, layer) !== null,
        applies(world, layer) { return this.on && this.possible(world, layer); },
        /* The values from black to white in LAYER. */
        rangeOf(world, layer) {
            const fits = this.applies(world, layer) && numbersOf(world, layer).layer.name === of;
            return fits ? range : fullRange(world, layer);
        },
        /* Take note that the view shows values of EXTENT in LAYER. Returns the range. */
        see(world, layer, extent, mayShrink) {
            const { layer: { name }, unit } = numbersOf(world, layer);
            const [least, most] = fullRange(world, layer);
            const possible = ([low, high]) => [Math.max(low, least), Math.min(high, most)];
            const next = nextRange(name === of ? range : null, possible(extent), unit, mayShrink);
            if (next !== range) {
                [range, of] = [possible(next), name];
                changed(range);
            }
            return range;
        },
    };
}
