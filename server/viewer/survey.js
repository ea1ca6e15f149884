/* Heights along a line: at every block if the line is short; otherwise at evenly spaced blocks and those around the
 * extremes. Knows nothing about the page. */

const MOST = 32768;               // evenly spaced places: about half a second's computing
const TOGETHER = 128;             // places per request
const AT_ONCE = 4;                // concurrent requests
const HILLS = 16;                 // extremes to refine, at each end
const AROUND = 256;               // blocks to each side of the lowest and the highest place

/* The blocks on the line through POINTS, by number. A block is GRAIN wide: 1, or less to measure within blocks. POINTS
 * are multiples of GRAIN and differ. Successive blocks touch at a side or a corner (Bresenham's line). */
export function lineOf(points, grain) {
    const legs = [];
    let [first, far] = [0, 0];
    for (const [i, b] of points.slice(1).entries()) {
        const a = points[i];
        const [dx, dy] = [(b.x - a.x) / grain, (b.y - a.y) / grain];
        const count = Math.max(Math.abs(dx), Math.abs(dy));
        const length = grain * Math.hypot(dx, dy);
        legs.push({ a, dx, dy, count, length, first, far });
        first += count;
        far += length;
    }
    return {
        grain,
        last: first,              // the last block's number
        length: far,              // in the world's blocks
        /* Block N, and its distance `far` along the line. */
        at(n) {
            const leg = legs.findLast((one) => one.first <= n);
            const [k, { a, count }] = [n - leg.first, leg];
            const along = (start, delta) => start + grain * Math.round(delta * k / count);
            return { n, x: along(a.x, leg.dx), y: along(a.y, leg.dy), far: leg.far + leg.length * k / count };
        },
        /* The number of the block at distance FAR. */
        near(distance) {
            const leg = legs.findLast((one) => one.far <= distance) ?? legs[0];
            return leg.first + Math.min(Math.round(leg.count * (distance - leg.far) / leg.length), leg.count);
        },
    };
}

/* 0 to COUNT - 1, ordered so that every beginning is spread over the whole. */
function* spread(count) {
    yield 0;
    for (let gap = 2 ** Math.ceil(Math.log2(count)); gap >= 1; gap /= 2)
        for (let k = gap; k < count; k += 2 * gap)
            yield k;
}

/*
 * Measure LINE. MEASURE returns a promise of the heights of places, or of null to stop. ADDED is called with each batch
 * of places, which then have a `height`.
 *
 * If every block is measured, `stride` is 1, and the places `lowest` and `highest` are exact. Otherwise the survey
 * follows the best hills and hollows to the block, and measures the blocks around the best one until none is better.
 */
export function makeSurvey(line, measure, added) {
    const stride = Math.ceil(line.last / MOST);
    const count = Math.ceil(line.last / stride) + 1;
    const places = new Map();     // by number
    const survey = { line, stride, count, places, lowest: null, highest: null, done: false, nearest, run };
    let stopped = false;

    const evenly = (k) => Math.min(k * stride, line.last);

    /* The evenly spaced place nearest to block N, if measured. */
    function nearest(n) {
        return places.get(evenly(Math.round(n / stride)));
    }

    function take(place, height) {
        place.height = height;
        places.set(place.n, place);
        if (!survey.lowest || height < survey.lowest.height)
            survey.lowest = place;
        if (!survey.highest || height > survey.highest.height)
            survey.highest = place;
    }

    /* Measure the blocks with these numbers, an iterable. */
    async function visit(numbers) {
        const queue = numbers[Symbol.iterator]();
        const worker = async () => {
            while (!stopped) {
                const batch = [];
                for (let next; batch.length < TOGETHER && !(next = queue.next()).done;)
                    if (!places.has(next.value))
                        batch.push(line.at(next.value));
                if (!batch.length)
                    return;
                const heights = await measure(batch);
                stopped ||= heights === null;
                if (stopped)
                    return;
                for (const [i, place] of batch.entries())
                    take(place, heights[i]);
                added(batch);
            }
        };
        await Promise.all(Array.from({ length: AT_ONCE }, worker));
    }

    function* all() {
        for (const k of spread(count))
            yield evenly(k);
    }

    function* between(first, last) {
        for (let n = Math.max(first, 0); n <= Math.min(last, line.last); n++)
            yield n;
    }

    /* The best places that are no worse than their neighbors. WORTH orders places. */
    function hills(worth) {
        const known = Array.from({ length: count }, (_, k) => places.get(evenly(k)));
        const rank = (k) => (known[k] ? worth(known[k]) : -Infinity);
        return known.filter((_, k) => rank(k) >= Math.max(rank(k - 1), rank(k + 1)))
            .sort((a, b) => worth(b) - worth(a)).slice(0, HILLS);
    }

    /* Follow HEADS, block numbers, upwards in WORTH with ever shorter steps. */
    async function climb(heads, worth) {
        for (let gap = 2 ** Math.floor(Math.log2(stride)); gap >= 1 && !stopped; gap /= 2) {
            const beside = (n) => [n - gap, n + gap].filter((k) => k >= 0 && k <= line.last);
            await visit(heads.flatMap(beside));
            const better = (n, k) => (worth(places.get(k)) > worth(places.get(n)) ? k : n);
            if (!stopped)
                heads = heads.map((n) => beside(n).reduce(better, n));
        }
    }

    async function refine() {
        for (const worth of [({ height }) => height, ({ height }) => -height])
            await climb(hills(worth).map(({ n }) => n), worth);
        for (const end of ['lowest', 'highest'])
            for (let at = null; at !== survey[end] && !stopped;) {
                at = survey[end];
                await visit(between(at.n - AROUND, at.n + AROUND));
            }
    }

    async function run() {
        await visit(all());
        if (stride > 1 && !stopped)
            await refine();
        survey.done = !stopped;
        if (!stopped)
            added([]);
    }

    return survey;
}
