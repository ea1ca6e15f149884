// The README's examples, for tests to run. Not a test.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

/* The one indented part of the README that has the word FEATURE in it, its daemon at BASE. */
export function example(feature, base) {
    const parts = README.match(/(?:^(?: {4}.*)?\n)+/gm).filter((part) => part.includes(feature));
    assert.equal(parts.length, 1, `examples with ${feature}`);
    return parts[0].replace(/^ {4}/gm, '').replaceAll('http://127.0.0.1:8080', base).trim();
}
