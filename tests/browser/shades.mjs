/* Reads shades of gray and their legend off a page. Not a test. */
import assert from 'node:assert/strict';
import { filteredAt } from '../http/filtered.mjs';
import { base } from './harness.mjs';

export const WINDOW = { viewport: { width: 1000, height: 700 } };
const OPEN = { x: 300, y: 130, width: 600, height: 240 };         // a part of the window without panels

const number = (text) => Number(text.replace('sea level', '0').replace('\u2212', '-').replace(/\u202f([a-z]+$)?/g, ''));
export const rangeOf = async (page) => {
    const labels = (await page.locator('#legend-labels li').allTextContents()).map(number);
    return [Math.min(...labels), Math.max(...labels)];
};

/* Values of FIELD, or heights as pictures of ZOOM have them. */
export async function valuesAt(places, zoom, world, field) {
    if (!field)
        return filteredAt(await (await fetch(new URL(`./${world}.json`, base))).json(), zoom, places);
    const at = places.map(([x, y]) => `${x},${y}`).join(';');
    const { fields } = await (await fetch(new URL(`./${world}/heights?at=${at}&fields=${field}`, base))).json();
    return fields[field];
}

/* The shade at positions of the screen, 0 to 255. */
export async function shadesAt(page, positions) {
    const png = (await page.screenshot()).toString('base64');
    return page.evaluate(async ([encoded, wanted]) => {
        const image = new Image();
        image.src = `data:image/png;base64,${encoded}`;
        await image.decode();
        const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
        context.drawImage(image, 0, 0);
        return wanted.map(([x, y]) => context.getImageData(x, y, 1, 1).data[0]);
    }, [png, positions]);
}

/* Places all over the open part of the window, on the screen and in blocks. */
export function spots(zoom, [x, y], across = 10, down = 6) {
    const step = 2 ** (16 - zoom);
    return Array.from({ length: across * down }, (_, i) => {
        const at = [OPEN.x + Math.floor(OPEN.width * (i % across) / across), OPEN.y + Math.floor(OPEN.height * Math.floor(i / across) / down)];
        return { at, blocks: [x + (at[0] - 500) * step, y + (at[1] - 350) * step] };
    });
}

/* Shades follow the legend everywhere: no seams between tiles. Returns the number of places beyond its range. */
export async function assertShades(page, zoom, center, tolerance, { world = 'default', field = null, rounded = 0.01 } = {}) {
    const [low, high] = await rangeOf(page);
    const seen = spots(zoom, center);
    const shades = await shadesAt(page, seen.map(({ at }) => at));
    const values = await valuesAt(seen.map(({ blocks }) => blocks), zoom, world, field);
    const error = tolerance + 255 * rounded / (high - low);      // labels and encoding are rounded
    for (const [i, value] of values.entries())
        assert.ok(Math.abs(shades[i] - 255 * Math.min(Math.max((value - low) / (high - low), 0), 1)) <= error,
            `${shades[i]} at ${seen[i].at} for ${value} in ${low} to ${high}`);
    return values.filter((value) => value < low || value > high).length;
}
