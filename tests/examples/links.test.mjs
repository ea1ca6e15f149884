// The documents name only files, headings and make targets that exist.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ALL } from '../http/layers.mjs';
import { eachRow } from '../http/table.mjs';

const TREE = fileURLToPath(new URL('../..', import.meta.url));
const read = (file) => readFileSync(path.join(TREE, file), 'utf8');

/* The documents in DIRECTORY and below it. */
function documents(directory) {
    return readdirSync(path.join(TREE, directory), { withFileTypes: true }).flatMap((entry) => {
        const name = path.join(directory, entry.name);
        if (entry.isDirectory())
            return /^(\..*|build|node_modules)$/.test(entry.name) ? [] : documents(name);
        return name.endsWith('.md') ? [name] : [];
    });
}
const DOCUMENTS = documents('.');

/* The anchors of a document's headings, as GitHub makes them. */
function anchors(file) {
    return [...read(file).matchAll(/^#+ +(.*)$/gm)].map(([, heading]) =>
        heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-'));
}

/* Relative links of a document: [file, anchor]. */
function links(file) {
    const prose = read(file).replace(/^ {4}.*$/gm, '').replace(/`[^`]*`/g, '');
    return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target)
        .filter((target) => !/^[a-z]+:/.test(target))
        .map((target) => target.split('#'))
        .map(([name, anchor]) => [name ? path.join(path.dirname(file), name) : file, anchor]);
}

describe('documents', () => {
    it('link to files and headings that exist', () => eachRow(DOCUMENTS.map((file) => [file]), ([file]) => {
        for (const [target, anchor] of links(file)) {
            assert.ok(existsSync(path.join(TREE, target)), `${target} is missing`);
            if (anchor)
                assert.ok(anchors(target).includes(anchor), `${target} has no heading #${anchor}`);
        }
    }));

    it('name each layer, with its extensions', () => {
        const [, table] = read('server/README.md').split('\n## Layers\n');
        const listed = [...table.split('\n\n')[0].matchAll(/^\| `(.*?)` \| (.*?) \|/gm)]
            .map(([, name, extensions]) => [name, extensions.replace(/\[(\w+)\]\(.*?\)/g, '$1').split(', ').sort()]);
        assert.deepEqual(Object.fromEntries(listed), { ...ALL, 'field.NAME': ALL.height });
    });

    it('name make targets that exist', () => {
        const makefiles = ['Makefile', 'tests/Makefile.inc'].filter((file) => existsSync(path.join(TREE, file)));
        const targets = new Set(makefiles.flatMap((file) =>
            [...read(file).matchAll(/^([a-z][\w -]*):/gm)].flatMap(([, names]) => names.split(' '))));
        for (const file of DOCUMENTS)
            for (const [, target] of read(file).matchAll(/(?:^ {4}|`)make (?:[A-Z_]+=\S+ )*([a-z][a-z-]*)(?![\w/-])/gm))
                assert.ok(targets.has(target), `${file}: make ${target}`);
    });
});
