/* Biomes in a world with a climate: the table, the values at places, and which biomes a window shows. */
import { clamp, regionAddress, step } from './world.js';
import { areFar, valuesAt } from './ground.js';
import { pixelsOf } from './tiles.js';

const FARTHEST = 2 ** 20;         // blocks between samples of a picture
const GRID = { columns: 12, rows: 10 };          // places in a window; a request takes up to 128

/* WORLD's table of biomes, rows { id, name, color }; null without a climate. */
export const biomesOf = ({ biomes, fields }) => biomes ?? fields?.biome?.biome?.table ?? null;

/* The fields that make up WORLD's climate. */
export const climateFields = (world) =>
    (biomesOf(world) ? ['biome', 'temperature', 'humidity'].filter((name) => name in world.fields) : []);

/* A promise of the ids in the picture of BOX: the colors of LAYER, "biome", give the ids. */
async function idsInPicture(world, layer, box) {
    const response = await fetch(regionAddress(world, box, 'png', layer));
    const { pixels: { data } } = await pixelsOf(await response.blob());
    const ids = new Map(biomesOf(world).map(({ id, color }) => [parseInt(color.slice(1), 16), id]));
    return Array.from({ length: box.width * box.height }, (_, i) =>
        ids.get(data[4 * i] * 65536 + data[4 * i + 1] * 256 + data[4 * i + 2]));
}

/* A promise of the biomes that a window of WIDTH x HEIGHT pixels around PLACE shows in WORLD, the commonest first. */
export async function biomesIn(world, { x, y, zoom }, { width, height }) {
    const pixel = step(world, zoom);
    const most = world.limits.coordinate;
    const at = (middle, size, k, count) => clamp(Math.round(middle + ((k + 0.5) / count - 0.5) * size * pixel), -most, most);
    const places = Array.from({ length: GRID.columns * GRID.rows }, (_, i) => ({
        x: at(x, width, i % GRID.columns, GRID.columns),
        y: at(y, height, Math.floor(i / GRID.columns), GRID.rows),
    }));
    const layer = world.layers.find(({ name }) => name === 'biome');
    const apart = Math.min(2 ** Math.floor(Math.log2(width * pixel / GRID.columns)), FARTHEST);
    const box = { ...places[0], step: apart, width: Math.floor(width * pixel / apart), height: Math.floor(height * pixel / apart) };
    const ids = await (layer && areFar(world, places) ? idsInPicture(world, layer, box) : valuesAt(world, places, 'biome'));
    const counts = new Map();
    for (const id of ids)
        counts.set(id, (counts.get(id) ?? 0) + 1);
    return biomesOf(world).filter(({ id }) => counts.has(id)).sort((a, b) => counts.get(b.id) - counts.get(a.id));
}

/* A patch of COLOR, to show beside a name. */
export function chipOf(color) {
    const chip = Object.assign(document.createElement('span'), { className: 'chip' });
    chip.style.backgroundColor = color;
    return chip;
}
