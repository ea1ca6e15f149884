/* Takes the README's pictures, of the default world at four scales: `make picture`. */
import { test } from 'node:test';
import { LIMIT, daemonArguments, keepScreenshot, visit } from './harness.mjs';

daemonArguments.push('--config', '/dev/null');      // the worlds that are built in

const PICTURES = [
    ['viewer-4.jpg', '#default/relief/4/0/0'],
    ['viewer-8.jpg', '#default/relief/8/0/0'],
    ['viewer-12.jpg', '#default/relief/12/6000/2000'],
    ['viewer-3d.jpg', '#default/relief/12/1500/-1000/3d/68/-60'],
];

for (const [file, hash] of PICTURES) {
    test(`takes ${file}`, { timeout: 3 * LIMIT.timeout }, async () => {
        const { page } = await visit(hash, { viewport: { width: 1120, height: 700 } });
        await keepScreenshot(page, file);
    });
}
