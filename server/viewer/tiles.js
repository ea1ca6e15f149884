/* Fetches tiles as numbers, for views that do not just show the pictures. */
import { RETRY, fieldOf, sleep } from './world.js';
import { saysServer, say, sayWhy } from './status.js';

/* Retry a failed tile until aborted, as the plane retries pictures. */
export async function fetchTile(url, signal) {
    for (let delay = RETRY.first; ; delay = Math.min(delay * 2, RETRY.most)) {
        try {
            const response = await fetch(url, { signal });
            if (response.ok) {
                if (delay > RETRY.first && saysServer())
                    say('');
                return await response.blob();
            }
            /* Always read the body: an unread response may keep its connection. */
            const { error: message } = await response.json();
            /* A first 503 is no news, because the scene requests far more than the plane. */
            if (response.status !== 503 || delay > RETRY.first)
                sayWhy({ status: response.status, message });
        } catch (error) {
            if (signal.aborted)
                throw error;
            sayWhy(error);
        }
        await sleep(delay);
        signal.throwIfAborted();
    }
}

export function canvasOf(side) {
    const canvas = new OffscreenCanvas(side, side);
    return [canvas, canvas.getContext('2d', { willReadFrequently: true })];
}

/* PICTURE's pixels, a Blob's, exactly as encoded, and a canvas with them. */
export async function pixelsOf(picture) {
    const image = await createImageBitmap(picture, { premultiplyAlpha: 'none', colorSpaceConversion: 'none' });
    const [canvas, context] = canvasOf(image.width);
    context.drawImage(image, 0, 0);
    return { canvas, context, pixels: context.getImageData(0, 0, image.width, image.height) };
}

/* ---- 16-bit shades ---- */

const IDAT = 0x49444154;

/* PNG's rows as bytes; each begins with its filter's number. */
function unpack(png) {
    const view = new DataView(png);
    const parts = [];
    for (let at = 8; at < png.byteLength; at += 12 + view.getUint32(at))
        if (view.getUint32(at + 4) === IDAT)
            parts.push(new Uint8Array(png, at + 8, view.getUint32(at)));
    return new Response(new Blob(parts).stream().pipeThrough(new DecompressionStream('deflate'))).arrayBuffer();
}

function paeth(left, above, corner) {
    const [a, b, c] = [Math.abs(above - corner), Math.abs(left - corner), Math.abs(left + above - 2 * corner)];
    return a <= b && a <= c ? left : b <= c ? above : corner;
}

/* The predictions to which PNG's filters add their bytes. */
const FILTERS = [() => 0, (left) => left, (left, above) => above, (left, above) => (left + above) >> 1, paeth];

/* Undo the filters in ROWS, HEIGHT rows of two-byte samples. */
function unfilter(rows, height) {
    const length = rows.length / height;
    for (let first = 1; first < rows.length; first += length) {
        const guess = FILTERS[rows[first - 1]];
        for (let i = first; i < first + length - 1; i++) {
            const [left, above] = [i - 2 >= first, i >= length];
            rows[i] += guess(left ? rows[i - 2] : 0, above ? rows[i - length] : 0, left && above ? rows[i - 2 - length] : 0);
        }
    }
}

/* 16-bit PICTURE as an ImageData with the two bytes in green and blue, because a canvas would round to 8 bits. */
async function shadesOf(picture) {
    const png = await picture.arrayBuffer();
    const view = new DataView(png);
    const pixels = new ImageData(view.getUint32(16), view.getUint32(20));
    const { width, height, data } = pixels;
    const rows = new Uint8Array(await unpack(png));
    unfilter(rows, height);
    for (let i = 0; i < width * height; i++) {
        const at = 2 * i + Math.floor(i / width) + 1;
        [data[4 * i + 1], data[4 * i + 2], data[4 * i + 3]] = [rows[at], rows[at + 1], 255];
    }
    return pixels;
}

/* PICTURE, a tile of LAYER, as an ImageData with a 24-bit number in each pixel. */
export const numbersIn = async (picture, layer) =>
    (fieldOf(layer) === null ? (await pixelsOf(picture)).pixels : shadesOf(picture));
