/* Unit tests of seed.js: the seeds that text means. The hashes are those of the FNV reference code, or of its description. */
import assert from 'node:assert/strict';
import { webcrypto } from 'node:crypto';
import { test } from 'node:test';
import { randomSeed, seedOf } from '../../server/viewer/seed.js';

globalThis.crypto ??= webcrypto;        // Node 18

const hex = (digits) => String(BigInt(`0x${digits}`));

const SEEDS = [
    ['0', '0'],
    ['0042', '42'],
    [' 7 ', '7'],
    ['18446744073709551615', '18446744073709551615'],
    ['a', hex('af63dc4c8601ec8c')],
    ['foobar', hex('85944171f73967e8')],
    ['  foobar\t', hex('85944171f73967e8')],
    ['hello', hex('a430d84680aabd0b')],
    ['18446744073709551616', '17145954108847178093'],
    ['-1', '18446744073709551615'],
    ['-0', '0'],
    ['-007', '18446744073709551609'],
    ['-9223372036854775808', '9223372036854775808'],
    ['-9223372036854775809', '6683965522375199174'],
    ['+5', '568741114260578637'],
    ['1e3', '4952624886465500888'],
    [`${'0'.repeat(39)}7`, '7'],
    [`${'0'.repeat(40)}7`, '4218680872969696310'],
    ['1.5', '5007220036841904057'],
    ['0x10', '12117172270458030548'],
    ['Rivers & towers', '10180851224283138830'],
    ['\u00e9', '775207407765167617'],
    ['e\u0301', '775207407765167617'],
    ['\u96ea\u5c71', '7354489725993096214'],
];

test('numbers are themselves, other text is hashed', () => {
    for (const [text, seed] of SEEDS)
        assert.equal(seedOf(text), seed, text);
});

test('blanks are no seed', () => {
    for (const text of ['', '  ', '\t'])
        assert.equal(seedOf(text), null);
});

test('random seeds are numbers of 64 bits', () => {
    const seeds = Array.from({ length: 32 }, randomSeed);
    assert.equal(new Set(seeds).size, 32);
    assert.ok(seeds.every((seed) => seedOf(seed) === seed));
    assert.ok(seeds.some((seed) => BigInt(seed) >= 2n ** 62n));
});
