/* How much the scene exaggerates heights: a default by zoom, and the user's slider. */
import { $, exaggerationOf } from './world.js';

const FACTORS = [1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100, 150, 200];
const nearest = (factor) => FACTORS.reduce((best, each, i) =>
    (Math.abs(Math.log(each / factor)) < Math.abs(Math.log(FACTORS[best] / factor)) ? i : best), 0);

/* The default is half of the shading's exaggeration, and 1 up close, where true slopes are visible. Worlds without
 * shading have true heights. */
export function suitable(world, zoom) {
    const shaded = world.layers.find(({ exaggeration }) => exaggeration);
    return shaded ? exaggerationOf(world, shaded, zoom) / 2 : 1;
}

/* `changed` is called with the chosen factor, null for the default. */
export function makeHeights(changed) {
    $('heights-range').max = FACTORS.length - 1;
    $('heights-range').addEventListener('input', ({ target }) => changed(FACTORS[target.value]));
    $('heights-auto').addEventListener('click', () => changed(null));
    return {
        show(factor, chosen) {
            const text = `×${Number(factor.toPrecision(2))}`;
            $('heights-factor').textContent = text;
            $('heights-range').value = nearest(factor);
            $('heights-range').setAttribute('aria-valuetext', text);
            $('heights-auto').setAttribute('aria-pressed', String(!chosen));
        },
    };
}
