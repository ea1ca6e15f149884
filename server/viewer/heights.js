/* The exaggeration of heights in the scene: a default by zoom, and the user's slider. */
import { $, noiseOf, step } from './world.js';

const FACTORS = [1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100, 150, 200];
const SPAN = 1024;                // pixels
const RISE = 0.4;                 // range of heights per width of SPAN that looks natural

const nearest = (factor) => FACTORS.reduce((best, each, i) =>
    (Math.abs(Math.log(each / factor)) < Math.abs(Math.log(FACTORS[best] / factor)) ? i : best), 0);

/* The exaggeration with which the visible range of heights is RISE of the view's width. The world's range is
 * divided among the octaves by amplitude; an octave wider than the view counts by its visible part. If the broadest
 * octave is smaller than the view, its cell counts as the view, which avoids needles. */
export function suitable(world, zoom) {
    const { wavelength, octaves, persistence, lacunarity } = noiseOf(world);
    const span = Math.min(SPAN * step(world, zoom), wavelength);
    let [whole, seen] = [0, 0];
    for (let k = 0; k < octaves; k++) {
        whole += persistence ** k;
        seen += persistence ** k * Math.min(1, span * lacunarity ** k / wavelength);
    }
    const rise = (world.range[1] - world.range[0]) * seen / whole;
    return FACTORS[nearest(RISE * span / rise)];
}

/* `changed` is called with the chosen factor, null for the default. */
export function makeHeights(changed) {
    $('heights-range').max = FACTORS.length - 1;
    $('heights-range').addEventListener('input', ({ target }) => changed(FACTORS[target.value]));
    $('heights-auto').addEventListener('click', () => changed(null));
    return {
        show(factor, chosen) {
            const text = `×${Number(factor.toPrecision(3))}`;
            $('heights-factor').textContent = text;
            $('heights-range').value = nearest(factor);
            $('heights-range').setAttribute('aria-valuetext', text);
            $('heights-auto').setAttribute('aria-pressed', String(!chosen));
        },
    };
}
