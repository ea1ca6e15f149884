/* Unit tests of seed.js: how text becomes a seed. */
import assert from 'node:assert/strict';
import { webcrypto } from 'node:crypto';
import { test } from 'node:test';
import { randomSeed, seedOf } from '../../server/viewer/seed.js';
import { SEEDS } from '../unit/config/seeds.mjs';

globalThis.crypto ??= webcrypto;        // Node 18

test('numbers are themselves, other text is hashed', () => {
    for (const [text, seed] of SEEDS)
        assert.equal(seedOf(text), seed, text);
});

test('blanks are no seed', () => {
    for (const text of ['', '  ', '\t', '\v\f\r\n'])
        assert.equal(seedOf(text), null);
});

test('random seeds are numbers of 64 bits', () => {
    const seeds = Array.from({ length: 32 }, randomSeed);
    assert.equal(new Set(seeds).size, 32);
    assert.ok(seeds.every((seed) => seedOf(seed) === seed));
    assert.ok(seeds.some((seed) => BigInt(seed) >= 2n ** 62n));
});
