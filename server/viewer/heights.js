/* How much taller than true the scene shows its heights: what suits a zoom, and the reader's slider. */
import { $, step } from './world.js';

const FACTORS = [1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100, 150, 200];
const SPAN = 1024;                // px of view, over which
const RISE = 0.4;                 // of their width is a good difference in height

const nearest = (factor) => FACTORS.reduce((best, each, i) =>
    (Math.abs(Math.log(each / factor)) < Math.abs(Math.log(FACTORS[best] / factor)) ? i : best), 0);

/* The world's range, shared out among the octaves by their amplitudes; an octave broader
 * than the view gives only its share of a cell. Where the broadest is smaller than the view
 * its cell is what looks good: peaks, not needles. */
export function suitable(world, zoom) {
    const { wavelength, octaves, persistence, lacunarity } = world.noise;
    const span = Math.min(SPAN * step(world, zoom), wavelength);
    let [whole, seen] = [0, 0];
    for (let k = 0; k < octaves; k++) {
        whole += persistence ** k;
        seen += persistence ** k * Math.min(1, span * lacunarity ** k / wavelength);
    }
    const rise = (world.range[1] - world.range[0]) * seen / whole;
    return FACTORS[nearest(RISE * span / rise)];
}

/* `changed` hears the factor the reader chose, null for the one that suits. */
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
