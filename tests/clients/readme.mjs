// The examples in README.md and other documents, for tests to run. Not a test.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const DOCUMENTS = ['README.md', 'server/README.md', 'server/CLIENTS.md'];

/* The indented blocks of a document, without the indentation, with BASE as the daemon. */
export function examples(document, base) {
    const text = readFileSync(new URL(`../../${document}`, import.meta.url), 'utf8');
    return text.match(/(?:^(?: {4}.*)?\n)+/gm).filter((block) => block.trim() !== '')
        .map((block) => block.replace(/^ {4}/gm, '').replaceAll('http://127.0.0.1:8080', base).trim());
}

/* The only block of all documents that contains FEATURE. */
export function example(feature, base) {
    const found = DOCUMENTS.flatMap((document) => examples(document, base))
        .filter((block) => block.includes(feature));
    assert.equal(found.length, 1, `examples with ${feature}`);
    return found[0];
}
