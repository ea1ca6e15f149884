/* Fetches tiles as numbers, for views that do not show them as they are. */
import { RETRY, sleep } from './world.js';
import { saysServer, say, sayWhy } from './status.js';

/* Retry failed tiles until they are aborted, as pictures on the plane are. */
export async function fetchTile(url, signal) {
    for (let delay = RETRY.first; ; delay = Math.min(delay * 2, RETRY.most)) {
        try {
            const response = await fetch(url, { signal });
            if (response.ok) {
                if (delay > RETRY.first && saysServer())
                    say('');
                return await response.blob();
            }
            sayWhy({ status: response.status, message: (await response.json()).error });
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

/* The pixels of PICTURE, a Blob, exactly as encoded, and a canvas that has them. */
export async function pixelsOf(picture) {
    const image = await createImageBitmap(picture, { premultiplyAlpha: 'none', colorSpaceConversion: 'none' });
    const [canvas, context] = canvasOf(image.width);
    context.drawImage(image, 0, 0);
    return { canvas, context, pixels: context.getImageData(0, 0, image.width, image.height) };
}
