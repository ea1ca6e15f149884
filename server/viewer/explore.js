/* Finds places worth a visit: a coast, a peak, another biome, or anywhere. Knows neither the page nor the server:
 * `sample` returns a promise of a box's values, rows from north to south, for { x, y, step, width, height }. Places
 * have x and y in blocks. Each search looks at boxes with few samples, ever farther apart, so even a far place costs
 * little. */

const AROUND = 32;                // samples from a box's middle to its edges
const SIDE = 2 * AROUND + 1;
const COAST = { steps: [256, 1024, 4096, 16384, 65536], exact: 8 };
const PEAK = { steps: [128, 512, 2048, 8192], radius: 6, rise: 300, least: 5 };
const BIOME = { steps: [64, 256, 1024, 4096, 16384, 65536], radius: 2 };
const RANDOM = { candidates: 12, reach: 2 ** 23, land: 6 };

/* Blocks from the widest box's middle to its edges. */
export const reachOf = ({ steps }) => AROUND * steps.at(-1);
export const REACH = { coast: reachOf(COAST), peak: reachOf(PEAK), biome: reachOf(BIOME) };

const distance = (a, b) => Math.hypot(a.x - b.x, a.y - b.y);

/* The samples around FROM, on multiples of STEP. `at` returns a sample's place; `ordered` has all sample numbers, the
 * nearest first. */
async function look(sample, from, step) {
    const first = (blocks) => (Math.round(blocks / step) - AROUND) * step;
    const box = { x: first(from.x), y: first(from.y), step, width: SIDE, height: SIDE };
    const values = await sample(box);
    const at = (i) => ({ x: box.x + step * (i % SIDE), y: box.y + step * Math.floor(i / SIDE) });
    const far = Array.from(values, (_, i) => distance(at(i), from));
    return { values, at, ordered: [...far.keys()].sort((a, b) => far[a] - far[b]) };
}

/* The numbers of the samples in a square around sample I, RADIUS samples to each side; none if the square leaves the
 * box. */
function around(i, radius) {
    const [column, row] = [i % SIDE, Math.floor(i / SIDE)];
    if (Math.min(column, row) < radius || Math.max(column, row) >= SIDE - radius)
        return [];
    const side = 2 * radius + 1;
    return Array.from({ length: side ** 2 }, (_, k) => i + (Math.floor(k / side) - radius) * SIDE + k % side - radius);
}

const isLand = (height) => height >= 0;

/* The directions from sample I towards water: two water samples must follow two land samples, so that neither is a mere
 * dot. */
function shores(values, i) {
    if (!around(i, 2).length || !isLand(values[i]))
        return [];
    return [1, -1, SIDE, -SIDE].filter((way) => isLand(values[i - way]) && !isLand(values[i + way]) && !isLand(values[i + 2 * way]));
}

/* Find the shore between the places LAND and WATER, STEP apart along one axis, to within COAST.exact blocks. */
async function narrow(sample, land, water, step) {
    const [dx, dy] = [Math.sign(water.x - land.x), Math.sign(water.y - land.y)];
    while (step > COAST.exact) {
        const fine = Math.max(step / AROUND, 1);
        const count = step / fine + 1;
        const box = { x: Math.min(land.x, water.x), y: Math.min(land.y, water.y), step: fine, width: dx ? count : 1, height: dy ? count : 1 };
        const heights = await sample(box);
        const along = dx + dy > 0 ? [...heights] : [...heights].reverse();
        const last = Math.max(along.findIndex((height) => !isLand(height)) - 1, 0);
        land = { x: land.x + dx * last * fine, y: land.y + dy * last * fine };
        water = { x: land.x + dx * fine, y: land.y + dy * fine };
        step = fine;
    }
    return land;
}

/* The coast nearest to FROM that `isNew`, a function of a place, accepts; null if none is within reach. */
export async function findCoast(sample, from, isNew) {
    for (const step of COAST.steps) {
        const { values, at, ordered } = await look(sample, from, step);
        const i = ordered.find((one) => isNew(at(one)) && shores(values, one).length);
        if (i !== undefined)
            return narrow(sample, at(i), at(i + shores(values, i)[0]), step);
    }
    return null;
}

/* How far sample I rises above the lowest land or sea around; 0 unless it is the highest there. */
function riseOf(values, i) {
    if (!isLand(values[i]))
        return 0;
    const others = around(i, PEAK.radius).map((k) => values[k]);
    return others.length && values[i] >= Math.max(...others) ? values[i] - Math.max(Math.min(...others), 0) : 0;
}

/* Find the top of the hill at PLACE, to the block. */
async function climb(sample, place, step) {
    let height = null;
    for (let fine = step / 8; ; fine = Math.max(fine / 8, 1)) {
        const { values, at, ordered } = await look(sample, place, fine);
        const top = ordered.reduce((best, i) => (values[i] > values[best] ? i : best));
        [place, height] = [at(top), values[top]];
        if (fine === 1)
            return { ...place, height };
    }
}

/* A peak that `isNew` accepts: the one that rises most in the nearest box that has one. The result has its `height`,
 * and how `wide` the lower surroundings are. If no peak is within reach, the best hill, with `hill: true`; null if
 * there is only water. */
export async function findPeak(sample, from, isNew) {
    let best = { rise: PEAK.least };
    for (const step of PEAK.steps) {
        const { values, at, ordered } = await look(sample, from, step);
        for (const i of ordered) {
            const rise = riseOf(values, i);
            if (rise > best.rise && isNew(at(i)))
                best = { rise, step, place: at(i) };
        }
        if (best.rise >= PEAK.rise)
            break;
    }
    if (!best.place)
        return null;
    return { ...await climb(sample, best.place, best.step), wide: 2 * PEAK.radius * best.step, hill: best.rise < PEAK.rise };
}

/* Another biome than the one at FROM, whose id `isNew` accepts: the middle of its nearest patch, with the `id` and
 * about how `wide` the patch is at least; null if none is within reach. */
export async function findBiome(sample, from, isNew) {
    for (const step of BIOME.steps) {
        const { values, at, ordered } = await look(sample, from, step);
        const here = values[ordered[0]];
        const isPatch = (i) => around(i, BIOME.radius).every((k) => values[k] === values[i]);
        const i = ordered.find((one) => values[one] !== here && isNew(values[one]) && around(one, BIOME.radius).length && isPatch(one));
        if (i !== undefined)
            return { ...at(i), id: values[i], wide: 2 * BIOME.radius * step };
    }
    return null;
}

/* The best among some random places: land before water, then the most relief in a square of SPAN blocks. HEIGHTS
 * returns a promise of the heights of places, 128 at most. */
export async function randomPlace(heights, span, random = Math.random) {
    const somewhere = () => Math.round((2 * random() - 1) * RANDOM.reach);
    const candidates = Array.from({ length: RANDOM.candidates }, () => ({ x: somewhere(), y: somewhere() }));
    const parts = [-1, 0, 1].flatMap((dy) => [-1, 0, 1].map((dx) => ({ dx, dy })));
    const found = await heights(candidates.flatMap(({ x, y }) =>
        parts.map(({ dx, dy }) => ({ x: x + Math.round(dx * span / 3), y: y + Math.round(dy * span / 3) }))));
    const worth = candidates.map((_, i) => {
        const own = found.slice(parts.length * i, parts.length * (i + 1));
        return [Math.min(own.filter(isLand).length, RANDOM.land), Math.max(...own) - Math.min(...own)];
    });
    const isBetter = (a, b) => a[0] - b[0] || a[1] - b[1];
    const best = worth.reduce((so, one, i) => (isBetter(one, worth[so]) > 0 ? i : so), 0);
    return candidates[best];
}
