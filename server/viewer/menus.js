/* The menus of worlds, seeds and layers. */
import { $, fieldOf, pictures } from './world.js';

const FIRST = ['relief', 'hillshade', 'gray'];
const LABELS = { gray: 'Gray', 'terrain-rgb': 'Terrain-RGB' };
const LAST_SEED = 2n ** 64n - 1n;

export const labelOf = (layer) => fieldOf(layer) ?? LABELS[layer.name] ?? layer.name[0].toUpperCase() + layer.name.slice(1);
/* name:seed is the world `name` with another seed. */
export const rootOf = ({ name }) => name.split(':')[0];

export function showWorlds(catalogue, world) {
    const names = catalogue.map(({ name }) => name);
    const root = rootOf(world);
    if (!names.includes(root))
        names.push(root);
    $('world').replaceChildren(...names.map((name) => new Option(name, name, false, name === root)));
    $('world').hidden = names.length < 2;
    $('world-name').hidden = names.length > 1;
    $('world-name').textContent = root;
}

export function showSeed({ seed, seeds }) {
    const any = seeds === 'any';
    $('seed').hidden = any;
    $('seed-form').hidden = !any;
    $('seed').textContent = `seed ${seed}`;
    $('seed-input').value = seed;
    $('seed-input').removeAttribute('aria-invalid');
}

/* The typed seed in canonical form, or null. */
export function typedSeed() {
    const text = $('seed-input').value.trim();
    const seed = /^\d{1,40}$/.test(text) && BigInt(text);
    const valid = seed !== false && seed <= LAST_SEED;
    $('seed-input').setAttribute('aria-invalid', String(!valid));
    return valid ? String(seed) : null;
}

export const lastSeed = String(LAST_SEED);

const optionOf = (layer) => new Option(labelOf(layer), layer.name);

function fieldOptions(layers) {
    const group = Object.assign(document.createElement('optgroup'), { label: 'Fields' });
    group.append(...layers.map(optionOf));
    return layers.length ? [group] : [];
}

/* The most useful pictures are buttons; encodings are in the list after them, and then the world's fields. */
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
