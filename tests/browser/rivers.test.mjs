/* Worlds with rivers: the water under the cursor, and the layer of water. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { LIMIT, base, daemonArguments, keepScreenshot, painted, readout, visit } from './harness.mjs';

daemonArguments.push('--config', path.join(path.dirname(fileURLToPath(import.meta.url)), 'rivers.yaml'));

const WIDE = { viewport: { width: 1000, height: 600 } };
const withoutWasm = (fresh) => fresh.addInitScript(() => { delete globalThis.WebAssembly; });

/* The fields around 0, 0, 64 blocks apart, and a place of each kind of water. */
const SIDE = 400, STEP = 64;
const field = async (name) => new Float32Array(await (await fetch(new URL(
    `./rivers/region.f32?x=${-SIDE / 2 * STEP}&y=${-SIDE / 2 * STEP}&width=${SIDE}&height=${SIDE}&step=${STEP}&field=${name}`, base))).arrayBuffer());

async function places() {
    const [height, water, river] = await Promise.all(['height', 'water', 'river'].map(field));
    const find = (test) => {
        const k = height.findIndex((_, i) => test(height[i], water[i], river[i]));
        assert.ok(k >= 0, 'no such place');
        return [(k % SIDE - SIDE / 2) * STEP, (Math.floor(k / SIDE) - SIDE / 2) * STEP];
    };
    return {
        River: find((h, w, r) => r > 0 && w > h),
        Lake: find((h, w, r) => r === 0 && w > h + 1),
        Sea: find((h, w) => h < -5 && w < -1000),
        '–': find((h, w) => h > 5 && w < -1000),
    };
}

for (const [how, prepare] of [['computed in the page', undefined], ['of the server', withoutWasm]])
    test(`the readout has the water under the cursor, ${how}`, LIMIT, async () => {
        for (const [kind, [x, y]] of Object.entries(await places())) {
            const { page } = await visit(`#rivers/relief/16/${x}/${y}`, WIDE, prepare);
            await readout(page);
            const text = await page.locator('#water').textContent();
            assert.ok(text.startsWith(kind), `${text} at ${x}, ${y}: expected ${kind}`);
            const { height, fields } = await (await fetch(new URL(`./rivers/height?x=${x}&y=${y}&fields=water,river`, base))).json();
            const level = `${fields.water.toFixed(0)}\u202fm`;
            if (kind === 'River')
                assert.equal(text, `River of order ${fields.river.toFixed(0)} at ${level}, ${(fields.water - height).toFixed(1)}\u202fm deep`);
            if (kind === 'Lake')
                assert.equal(text, `Lake at ${level}, ${(fields.water - height).toFixed(0)}\u202fm deep`);
        }
    });

test('the layer of water is in the list', LIMIT, async () => {
    const { page } = await visit('#rivers/water/10/0/0', WIDE);
    await painted(page, { layer: 'water' });
    await keepScreenshot(page, 'viewer-water.png');
});

test('worlds without rivers have no box for water', LIMIT, async () => {
    const { page } = await visit('#dry/relief/9/0/0', WIDE);
    await readout(page);
    assert.ok(await page.locator('#water-box').isHidden());
});
