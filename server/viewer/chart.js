/* A profile's chart: heights over distances, with axes. */
import { $, kilo, metres } from './world.js';

const COLUMNS = 512;
const MARGIN = 0.12;              // above and below the heights, as a share of their range
const TICK = { width: 56, height: 20 };      // px between ticks, at least

/* Round numbers from LOW to HIGH, about COUNT at most, and the step between them. */
function ticks(low, high, count) {
    const least = (high - low) / Math.max(count, 1);
    const power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].find((digit) => digit * power >= least * 0.999) * power;
    const [first, last] = [Math.ceil(low / step), Math.floor(high / step)];
    return { step, at: Array.from({ length: Math.max(last - first + 1, 0) }, (_, i) => (first + i) * step) };
}

function showTicks(id, labels) {
    $(id).replaceChildren(...labels.map(([share, text]) => {
        const item = document.createElement('li');
        item.textContent = text;
        item.style.setProperty('--at', `${share.toFixed(3)}%`);
        return item;
    }));
}

/* A chart for a line that is LENGTH blocks long. */
export function makeChart(length) {
    const columns = new Array(COLUMNS).fill(null);       // each has its lowest and its highest place
    let asked = 0;

    const share = (far) => 100 * far / length;

    function add(places) {
        for (const place of places) {
            const i = Math.min(Math.floor(COLUMNS * place.far / length), COLUMNS - 1);
            const column = columns[i] ??= { low: place, high: place };
            if (place.height < column.low.height)
                column.low = place;
            if (place.height > column.high.height)
                column.high = place;
        }
        asked ||= requestAnimationFrame(() => {
            asked = 0;
            paint();
        });
    }

    /* Draw into a box of 100 by 100, with water below sea level. */
    function paint() {
        const known = columns.filter(Boolean);
        if (!known.length)
            return;
        const low = Math.min(...known.map((column) => column.low.height));
        const high = Math.max(...known.map((column) => column.high.height));
        const room = Math.max(high - low, 1e-3) * MARGIN;
        const level = (height) => 100 * (high + room - height) / (high - low + 2 * room);
        const edge = known.flatMap((column) => [...new Set([column.low, column.high])].sort((a, b) => a.far - b.far))
            .map(({ far, height }) => `${share(far).toFixed(2)},${level(height).toFixed(2)}`);
        const [first, last] = [edge[0], edge.at(-1)].map((point) => point.split(',')[0]);
        $('profile-land').setAttribute('d', `M${first},100L${edge.join('L')}L${last},100Z`);
        $('profile-edge').setAttribute('d', `M${edge.join('L')}`);
        const sea = Math.min(Math.max(level(0), 0), 100);
        $('profile-sea').setAttribute('y', sea);
        $('profile-sea').setAttribute('height', 100 - sea);
        paintAxes(low - room, high + room, level);
    }

    function paintAxes(low, high, level) {
        const { clientWidth: width, clientHeight: height } = $('profile-chart');
        const heights = ticks(low, high, height / TICK.height);
        const distances = ticks(0, length, width / TICK.width);
        const digits = Math.max(0, Math.ceil(-Math.log10(heights.step) - 1e-9));
        showTicks('profile-heights', heights.at.map((one) => [100 - level(one), metres(one, digits)]));
        showTicks('profile-distances', distances.at.map((one) => [share(one), kilo(one)]));
        $('profile-grid').setAttribute('d', heights.at.map((one) => `M0,${level(one).toFixed(2)}H100`).join('')
            + distances.at.map((one) => `M${share(one).toFixed(2)},0V100`).join(''));
    }

    return { add, paint, share };
}
