/* The legend: the relief's palette in equal steps, or shades of gray, with heights or values of a field beside them. */
import { $, clamp, fieldOf, valueText } from './world.js';
import { isGray } from './stretch.js';

const LABELS = 7;                 // maximum, including the coast's
const SHADES = 4;                 // steps from black to white

/* The stops within the world's range, and its ends. */
function stopsOf({ palette, range: [low, high] }) {
    const inside = palette.filter(([height]) => height > low && height < high);
    const below = palette.findLast(([height]) => height <= low) ?? palette[0];
    const above = palette.find(([height]) => height >= high) ?? palette.at(-1);
    return [[low, below[1]], ...inside, [high, above[1]]];
}

/* Space the stops evenly, since low land has most of the colours. Two stops at one height are an edge. */
function spread(stops) {
    let position = 0;
    return stops.map(([height, colour], i) => {
        if (i > 0 && height > stops[i - 1][0])
            position++;
        return { height, colour, position };
    });
}

const isEdge = (stops, i) => stops[i + 1]?.position === stops[i].position;

/* Select labels that do not overlap; the ends and the edges take precedence. */
function labelled(stops) {
    const last = stops.at(-1).position;
    const kept = [];
    const first = stops.filter((stop, i) => i === 0 || stop.position === last || isEdge(stops, i));
    for (const stop of [...first, ...stops])
        if (kept.length < LABELS && kept.every(({ position }) => Math.abs(position - stop.position) >= last / LABELS))
            kept.push(stop);
    return kept;
}

/* The shades of a layer, from black at LOW to white at HIGH. */
function grayStops([low, high]) {
    return Array.from({ length: SHADES + 1 }, (_, k) => {
        const part = Math.round(255 * k / SHADES);
        return [low + (high - low) * k / SHADES, `rgb(${part} ${part} ${part})`];
    });
}

const isRelief = (world, layer) => layer.name === 'relief' && world.palette?.length > 1;

/* `stretched` is called with the choice whether grays are stretched. */
export function makeLegend(stretch, stretched) {
    let stops = [];
    let text = String;            // of a label
    let marked = null;            // the height in the readout

    $('stretch').addEventListener('change', ({ target }) => stretched(target.checked));

    const share = (position) => `${100 * position / stops.at(-1).position}%`;

    function positionOf(height) {
        const i = stops.findIndex((stop) => stop.height > height);
        if (i <= 0)
            return i === 0 ? 0 : stops.at(-1).position;
        const [a, b] = [stops[i - 1], stops[i]];
        return a.position + (height - a.height) / (b.height - a.height);
    }

    function label({ height, position }) {
        const item = document.createElement('li');
        item.textContent = text(height);
        item.style.setProperty('--at', share(position));
        return item;
    }

    function mark(height) {
        marked = height;
        $('legend-mark').hidden = height === null || !stops.length;
        if (height !== null && stops.length)
            $('legend-mark').style.setProperty('--at', share(clamp(positionOf(height), 0, stops.at(-1).position)));
    }

    return {
        show(world, layer) {
            const field = fieldOf(layer);
            const gray = isGray(layer) || field !== 'height';
            $('legend').hidden = !gray && !isRelief(world, layer);
            $('stretch-choice').hidden = !stretch.possible(world, layer);
            if ($('legend').hidden)
                return;
            const [low, high] = stretch.applies(world, layer) && stretch.range || (world.ranges?.[field] ?? world.range);
            const range = [low, high > low ? high : low + 1];
            stops = spread(gray ? grayStops(range) : stopsOf(world));
            const digits = gray ? clamp(Math.ceil(1 - Math.log10((range[1] - range[0]) / SHADES)), 0, 3) : 0;
            text = (height) => (field === 'height' && height === 0 ? 'sea level' : valueText(world, field, height, digits));
            $('legend-name').textContent = field === 'height' ? 'Height' : 'Field';
            const colours = stops.map(({ colour, position }) => `${colour} ${share(position)}`);
            $('legend-bar').style.backgroundImage = `linear-gradient(to top, ${colours.join(', ')})`;
            $('legend-labels').replaceChildren(...labelled(stops).map(label));
            mark(marked);
        },
        /* Mark the height in the readout, null for none. */
        mark,
    };
}
