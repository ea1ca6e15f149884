// The program's layers, read from its table, in its order: { name: [extensions, sorted] }.

import fs from 'node:fs';

const table = fs.readFileSync(new URL('../../server/layers/layers.def', import.meta.url), 'utf8');
const rows = table.split(/^(?=LAYER\()/m).slice(1).map((row) => {
    const [, name, formats] = /^LAYER\(\w+, "([a-z0-9-]+)", ([A-Z0-9 |]+)[,)]/.exec(row);
    return { name, extensions: formats.toLowerCase().split(' | ').sort(), rivers: row.includes('.rivers = true') };
});
const listed = (chosen) => Object.fromEntries(chosen.map(({ name, extensions }) => [name, extensions]));

export const LAYERS = listed(rows.filter(({ rivers }) => !rivers));     // of every world
export const NAMES = Object.keys(LAYERS);
export const ALL = { ...listed(rows), biome: ['png'] };                 // of a world with rivers and biomes
export const WEBP = NAMES.filter((name) => LAYERS[name].includes('webp'));
