// The program's layers, read from its table: { name: [extensions, sorted] }. RIVERS are those of worlds with rivers alone.

import fs from 'node:fs';

const table = fs.readFileSync(new URL('../../server/layers/layers.def', import.meta.url), 'utf8');
const rows = [...table.matchAll(/^LAYER\(\w+, "([a-z0-9-]+)", ([A-Z0-9 |]+),/gm)];

export const RIVERS = ['water', 'terrarium-water'];
export const LAYERS = Object.fromEntries(rows.filter(([, name]) => !RIVERS.includes(name))
    .map(([, name, formats]) => [name, formats.toLowerCase().split(' | ').sort()]));
export const NAMES = Object.keys(LAYERS);
