// The examples in README.md and other documents, for tests to run. Not a test.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const DOCUMENTS = ['README.md', 'server/README.md', 'server/CLIENTS.md'];

/* The examples of a document, indented or between fences, without indentation, with BASE as the daemon. */
export function blocks(document, base = 'http://127.0.0.1:8080') {
    const text = readFileSync(new URL(`../../${document}`, import.meta.url), 'utf8');
    return [...text.matchAll(/^( *)```.*\n([^]*?)^\1```$|(?:^(?: {4}.*)?\n)+/gm)]
        .map(([whole, , fenced]) => dedent(fenced ?? whole)).filter((block) => block !== '')
        .map((block) => block.replaceAll(/http:\/\/(127\.0\.0\.1|proxy):8080/g, base));
}

function dedent(block) {
    const lines = block.split('\n').filter((line) => line.trim() !== '');
    const indent = Math.min(...lines.map((line) => line.search(/\S/)));
    return block.replaceAll(new RegExp(`^ {${indent}}`, 'gm'), '').replace(/^\n+|\s+$/g, '');
}

/* The only block of all documents that contains FEATURE. */
export function example(feature, base) {
    const found = DOCUMENTS.flatMap((document) => blocks(document, base))
        .filter((block) => block.includes(feature));
    assert.equal(found.length, 1, `examples with ${feature}`);
    return found[0];
}
