/* The legend: a layer's colors in equal steps, or shades of gray, beside heights or a field's values; or the biomes in
 * view. Also says by how much shading exaggerates heights. */
import { biomesOf, chipOf } from './biomes.js';
import { labelOf } from './menus.js';
import { $, clamp, exaggerationOf, fieldOf, isGray, metres, quantity } from './world.js';

const LABELS = 7;                 // maximum, including the coast's
const SHADES = 4;                 // steps from black to white
const FINEST = 9;                 // digits for a field's values

/* The stops within the world's range, and its ends. */
function stopsOf({ palette, range: [low, high] }) {
    const inside = palette.filter(([height]) => height > low && height < high);
    const below = palette.findLast(([height]) => height <= low) ?? palette[0];
    const above = palette.find(([height]) => height >= high) ?? palette.at(-1);
    return [[low, below[1]], ...inside, [high, above[1]]];
}

/* Space the stops evenly, because low land has most colors. Two stops at one height are an edge. */
function spread(stops) {
    let position = 0;
    return stops.map(([height, color], i) => {
        if (i > 0 && height > stops[i - 1][0])
            position++;
        return { height, color, position };
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

/* A layer's shades, from black at LOW to white at HIGH. */
function grayStops([low, high]) {
    return Array.from({ length: SHADES + 1 }, (_, k) => {
        const part = Math.round(255 * k / SHADES);
        return [low + (high - low) * k / SHADES, `rgb(${part} ${part} ${part})`];
    });
}

/* Digits after the point, so that values STEP apart differ. */
const digitsFor = (step, most) => clamp(Math.ceil(1 - Math.log10(step)), 0, most);

const isRelief = (world, layer) => layer.name === 'relief' && world.palette?.length > 1;

/* True if LAYER's colors stand for biomes. */
const showsBiomes = (world, layer) => ['relief', 'biome'].includes(layer.name) && biomesOf(world) !== null;

/* `stretched` is called with the user's choice whether to stretch grays. */
export function makeLegend(stretch, stretched) {
    let stops = [];
    let text = null;              // formats a height or value
    let marked = null;            // the height or value in the readout
    let shown = null;             // the world and layer
    let zoomed = 0;               // the zoom in view

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

    /* The title tells LAYER's range, which no value leaves. */
    function showTitle(layer) {
        const field = fieldOf(layer);
        $('legend-title').textContent = field ?? (layer.legend ? labelOf(layer) : 'Height');
        $('legend-note').hidden = field === null;
        if (field !== null) {
            const [low, high] = layer.range;
            const digits = digitsFor((high - low) / SHADES, FINEST);
            $('legend-note').textContent = `Possible: ${quantity(low, digits, '')} to ${quantity(high, digits, layer.unit)}`;
        }
    }

    /* The labels' format for the shades of RANGE. */
    function labelText(layer, range) {
        if (layer.legend)
            return (value) => (layer.legend.unit === 'degrees' ? `${value}°` : quantity(value, 0, layer.legend.unit));
        const step = (range[1] - range[0]) / SHADES;
        if (fieldOf(layer) !== null)
            return (value) => quantity(value, digitsFor(step, FINEST), layer.unit);
        const digits = isGray(layer) ? digitsFor(step, 3) : 0;
        return (height) => (height === 0 ? 'sea level' : metres(height, digits));
    }

    function mark(height) {
        marked = height;
        const marks = height !== null && stops.length && !shown.layer.legend;
        $('legend-mark').hidden = !marks;
        if (marks)
            $('legend-mark').style.setProperty('--at', share(clamp(positionOf(height), 0, stops.at(-1).position)));
    }

    function showExaggeration() {
        const factor = exaggerationOf(shown.world, shown.layer, zoomed);
        $('legend-shading').hidden = factor === null;
        if (factor !== null)
            $('legend-shading').textContent = `Shading \u00d7\u202f${quantity(factor, factor < 10 ? 1 : 0, '')}`;
    }

    function showBiomes(rows) {
        $('legend-biomes').replaceChildren(...rows.map(({ name, color }) => {
            const item = Object.assign(document.createElement('li'), { title: name });
            item.append(chipOf(color), name);
            return item;
        }));
    }

    return {
        show(world, layer) {
            const gray = isGray(layer);
            const listed = showsBiomes(world, layer);
            const scaled = !listed && (gray || layer.legend || isRelief(world, layer));
            if (listed && shown?.world !== world)
                showBiomes(biomesOf(world));
            shown = { world, layer };
            $('legend').hidden = !scaled && !listed && !layer.exaggeration;
            $('legend-scale').hidden = !scaled;
            $('legend-biomes').hidden = !listed;
            $('stretch-choice').hidden = !stretch.possible(world, layer);
            showExaggeration();
            if (!scaled) {
                $('legend-title').textContent = listed ? 'Biomes' : 'Shading';
                $('legend-note').hidden = true;
                return;
            }
            const range = stretch.rangeOf(world, layer);
            stops = spread(gray ? grayStops(range) : layer.legend?.palette ?? stopsOf(world));
            text = labelText(layer, range);
            showTitle(layer);
            const colors = stops.map(({ color, position }) => `${color} ${share(position)}`);
            $('legend-bar').style.backgroundImage = `linear-gradient(to top, ${colors.join(', ')})`;
            const labels = labelled(stops).map(label);
            $('legend-labels').replaceChildren(...labels);
            $('legend-labels').style.setProperty('--letters', Math.max(...labels.map(({ textContent }) => textContent.length)));
            mark(marked);
        },
        /* True if the legend lists biomes now. */
        listsBiomes: () => $('legend').open && !$('legend-biomes').hidden,
        /* The biomes in view. */
        showBiomes,
        /* The view shows ZOOM now. */
        zoom(zoom) {
            zoomed = zoom;
            showExaggeration();
        },
        /* Mark the height or value in the readout, null for none. */
        mark,
    };
}
