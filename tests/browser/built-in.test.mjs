/* The worlds that a daemon without a configuration serves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMIT, daemonArguments, painted, placeBecomes, visit } from './harness.mjs';

daemonArguments.push('--config', '/dev/null');

/* The number of colors in each picture of the menu. */
const colorsOf = (page) => page.locator('#worlds img').evaluateAll((images) => images.map((image) => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
}));

test('the worlds built in are listed as pictures, and open', LIMIT, async () => {
    const { page } = await visit('#default/relief/9/1000/-2000');
    await page.locator('#world').click();
    await page.waitForFunction(() => document.querySelectorAll('#worlds img').length === 3
        && [...document.querySelectorAll('#worlds img')].every(({ complete, naturalWidth }) => complete && naturalWidth === 168));
    const items = page.getByRole('menuitemradio');
    assert.deepEqual(await items.evaluateAll((all) => all.map(({ dataset }) => dataset.name)), ['default', 'archipelago', 'alps']);
    for (const text of await items.allTextContents())
        assert.ok(text.trim().length > 20, `${text}: its name and a line on it`);
    for (const colors of await colorsOf(page))
        assert.ok(colors > 500, `${colors} colors`);
    await items.nth(2).click();
    await placeBecomes(page, /^#alps\/relief\/\d+\/-?\d+\/-?\d+$/);
    await painted(page);
});
