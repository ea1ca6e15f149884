/* The biomes of a world with a climate: its table, what its places have, and which biomes a window shows. */
import { clamp, step } from './world.js';
import { valuesAt } from './ground.js';

const GRID = { columns: 12, rows: 10 };          // places in a window, of which one request can have 128

/* The rows of the table of biomes in WORLD, { id, name, color }; null if it has none. */
export const biomesOf = ({ biomes, fields }) => biomes ?? fields?.biome?.biome?.table ?? null;

/* The fields of WORLD's climate. */
export const climateFields = (world) =>
    (biomesOf(world) ? ['biome', 'temperature', 'humidity'].filter((name) => name in world.fields) : []);

/* A promise of the biomes of WORLD that a window of WIDTH x HEIGHT pixels around PLACE shows, the commonest first. */
export async function biomesIn(world, { x, y, zoom }, { width, height }) {
    const pixel = step(world, zoom);
    const most = world.limits.coordinate;
    const at = (middle, size, k, count) => clamp(Math.round(middle + ((k + 0.5) / count - 0.5) * size * pixel), -most, most);
    const places = Array.from({ length: GRID.columns * GRID.rows }, (_, i) => ({
        x: at(x, width, i % GRID.columns, GRID.columns),
        y: at(y, height, Math.floor(i / GRID.columns), GRID.rows),
    }));
    const counts = new Map();
    for (const id of await valuesAt(world, places, 'biome'))
        counts.set(id, (counts.get(id) ?? 0) + 1);
    return biomesOf(world).filter(({ id }) => counts.has(id)).sort((a, b) => counts.get(b.id) - counts.get(a.id));
}

/* A patch of COLOR, to be shown beside a name. */
export function chipOf(color) {
    const chip = Object.assign(document.createElement('span'), { className: 'chip' });
    chip.style.backgroundColor = color;
    return chip;
}
