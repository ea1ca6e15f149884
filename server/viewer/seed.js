/* Seeds as people type them: a number is itself, other text is hashed. Knows nothing about the page. */

const FIRST = -(2n ** 63n), LAST = 2n ** 64n - 1n;

/* FNV-1a, 64 bits (Fowler, Noll and Vo; draft-eastlake-fnv), over TEXT in UTF-8. */
function fnv1a(text) {
    let hash = 0xcbf29ce484222325n;
    for (const byte of new TextEncoder().encode(text))
        hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
    return hash;
}

/* The seed that TEXT means, in decimal digits; null if TEXT is blank. Negative numbers are two's complement: -1 is 2^64
 * - 1. ASCII blanks around the text do not count. config/values/seed.c does the same. */
export function seedOf(text) {
    const bare = text.replace(/^[\t-\r ]+|[\t-\r ]+$/g, '');
    if (!bare)
        return null;
    const number = /^-?\d{1,40}$/.test(bare) ? BigInt(bare) : LAST + 1n;
    return String(number >= FIRST && number <= LAST ? BigInt.asUintN(64, number) : fnv1a(bare));
}

/* A random seed, in decimal digits. */
export const randomSeed = () => String(crypto.getRandomValues(new BigUint64Array(1))[0]);
