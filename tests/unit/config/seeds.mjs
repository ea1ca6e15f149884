// The rows of seeds.def: [text, seed].
import { readFileSync } from 'node:fs';

export const SEEDS = [...readFileSync(new URL('seeds.def', import.meta.url), 'utf8').matchAll(/^SEED\((".*"), (\d+)\)$/gm)]
    .map(([, text, seed]) => [JSON.parse(text), seed]);
