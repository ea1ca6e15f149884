/* The field for seeds and the menus of layers. */
import { $, fieldOf, pictures } from './world.js';
import { seedOf } from './seed.js';

const FIRST = ['relief', 'hillshade', 'gray'];
const LABELS = { gray: 'Gray', 'terrain-rgb': 'Terrain-RGB' };

const typed = new Map();          // seed -> the text typed for it

export const labelOf = (layer) => fieldOf(layer) ?? LABELS[layer.name] ?? layer.name[0].toUpperCase() + layer.name.slice(1);
/* name:seed is the world `name` with another seed. */
export const rootOf = ({ name }) => name.split(':')[0];

export function showSeed({ seed, seeds }) {
    const any = seeds === 'any';
    $('seed').hidden = any;
    $('seed-form').hidden = !any;
    $('seed').textContent = `seed ${seed}`;
    $('seed-input').value = typed.get(seed) ?? seed;
    $('seed-input').removeAttribute('aria-invalid');
}

/* The typed seed in decimal digits; null if there is none. Keyboards write accents and blanks in different ways. */
export function typedSeed() {
    const text = $('seed-input').value.normalize('NFC').trim();
    const seed = seedOf(text);
    $('seed-input').setAttribute('aria-invalid', String(seed === null));
    typed.set(seed, /^\d+$/.test(text) && BigInt(text) === BigInt(seed) ? seed : text);
    return seed;
}

const optionOf = (layer) => new Option(labelOf(layer), layer.name);

function fieldOptions(layers) {
    const group = Object.assign(document.createElement('optgroup'), { label: 'Fields' });
    group.append(...layers.map(optionOf));
    return layers.length ? [group] : [];
}

/* The most useful pictures are buttons; the list after them has encodings, and then the world's fields. */
export function showLayers(world, chosen) {
    const all = pictures(world);
    const buttons = all.filter(({ name }) => FIRST.includes(name));
    const more = all.filter(({ name }) => !FIRST.includes(name));
    $('layer-buttons').replaceChildren(...buttons.map((layer) => {
        const label = document.createElement('label');
        const input = Object.assign(document.createElement('input'),
            { type: 'radio', name: 'layer', value: layer.name, checked: layer.name === chosen.name });
        const text = document.createElement('span');
        text.textContent = labelOf(layer);
        label.append(input, text);
        return label;
    }));
    const none = Object.assign(new Option('More', ''), { disabled: true, hidden: true });
    const fields = more.filter((layer) => fieldOf(layer) !== null);
    const others = more.filter((layer) => fieldOf(layer) === null);
    $('more').replaceChildren(none, ...others.map(optionOf), ...fieldOptions(fields));
    $('more').value = more.includes(chosen) ? chosen.name : '';
    $('more').classList.toggle('chosen', more.includes(chosen));
    $('more').hidden = !more.length;
    $('layers').hidden = false;
}
