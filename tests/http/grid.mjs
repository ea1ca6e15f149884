// The grid in exact numbers: the places of a tile's samples, as decimals for /height, and raw
// tiles as arrays. Not a test.

export const NATIVE_ZOOM = 16;
export const ORIGIN = -8388608n;
export const LIMIT = 2n ** 52n;
const UNIT = 1024n;

/* The block of sample I of tile X at zoom Z, in 1/1024 blocks. */
export function unitsAt(z, x, i, origin = ORIGIN) {
    const step = 2n ** BigInt(NATIVE_ZOOM - z + 10);
    return origin * UNIT + (256n * BigInt(x) + BigInt(i)) * step;
}

/* 1/1024 blocks as a decimal: -3073n is -3.0009765625. */
export function decimal(units) {
    const size = units < 0n ? -units : units;
    const whole = size / UNIT;
    const rest = size % UNIT;
    if (rest === 0n)
        return units < 0n ? `-${whole}` : `${whole}`;
    const digits = String(rest * 10n ** 10n / UNIT).padStart(10, '0').replace(/0+$/, '');
    return `${units < 0n ? '-' : ''}${whole}.${digits}`;
}

export function floats(bytes) {
    return Float32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i));
}

export function words(bytes) {
    return Uint16Array.from({ length: bytes.length / 2 }, (_, i) => bytes.readUInt16LE(2 * i));
}

/* Bit for bit: 0 and -0 differ, a NaN equals itself. */
export const sameFloat = (a, b) => Object.is(Math.fround(a), Math.fround(b));
