// The program's layers, read from its table: { name: [extensions, sorted] }.

import fs from 'node:fs';

const table = fs.readFileSync(new URL('../../server/layers/layers.def', import.meta.url), 'utf8');
const rows = [...table.matchAll(/^LAYER\(\w+, "([a-z0-9-]+)", ([A-Z0-9 |]+),/gm)];

export const LAYERS = Object.fromEntries(rows.map(([, name, formats]) =>
    [name, formats.toLowerCase().split(' | ').sort()]));
export const NAMES = Object.keys(LAYERS);
