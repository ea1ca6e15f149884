/* axe-core, an accessibility checker, on the page in its main states: it finds no violations, experimental rules included. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { FIELDS, LIMIT, breakConfiguration, daemonArguments, painted, readout, settled, staged, visit } from './harness.mjs';

daemonArguments.push('--config', FIELDS);

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/* Assert that axe finds nothing in what SELECTOR matches; each violation is a line with the elements that have it. */
async function assertAccessible(page, state, selector = 'html') {
    const violations = await page.evaluate(async (part) => {
        const rules = Object.fromEntries(window.axe.getRules().map(({ ruleId }) => [ruleId, { enabled: true }]));
        const found = await window.axe.run(part, { rules, resultTypes: ['violations'] });
        return found.violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' ')}`);
    }, selector);
    assert.deepEqual(violations, [], `${state}: ${violations.join('; ')}`);
}

const withAxe = (page) => page.addScriptTag({ path: axePath });

for (const colorScheme of ['light', 'dark']) {
    test(`the plane and its panels are accessible in the ${colorScheme} scheme`, LIMIT, async () => {
        const { page } = await visit('#default/relief/6/0/0', { viewport: { width: 1000, height: 700 }, colorScheme, bypassCSP: true });
        await withAxe(page);
        await assertAccessible(page, 'the start');
        await page.locator('#more').selectOption('normal');
        await page.locator('#place').fill('north');
        await page.locator('#place').press('Enter');
        await assertAccessible(page, 'a layer of the list, and a message');
        await page.locator('#layers label', { hasText: /^Gray$/ }).click();
        await page.locator('#stretch').waitFor();
        await assertAccessible(page, 'shades of gray');
        await page.locator('#profile-button').click();
        await page.mouse.click(300, 300);
        await page.mouse.click(700, 350);
        await page.locator('#profile-facts').waitFor();
        await settled(page);
        await assertAccessible(page, 'a profile');
        await page.keyboard.press('Escape');
        await page.mouse.click(500, 300, { button: 'right' });
        await page.locator('#context').waitFor();
        await assertAccessible(page, 'the menu of a place');
        await page.keyboard.press('Escape');
        await page.locator('#journey-button').click();
        await page.locator('#journey').waitFor();
        await assertAccessible(page, 'the menu of places to go to');
        await page.keyboard.press('Escape');
        await page.locator('#world').click();
        await page.locator('#worlds').waitFor();
        await assertAccessible(page, 'the menu of worlds');
        await page.keyboard.press('Escape');
        await breakConfiguration(page);
        await assertAccessible(page, 'a broken configuration');
        await page.evaluate(() => { location.hash = '#graph/field.rain/10/0/0'; });
        await painted(page, { layer: 'field.rain' });
        await page.locator('#legend-note').waitFor();
        await assertAccessible(page, 'a field');
        await page.evaluate(() => { location.hash = '#climate/relief/10/0/0'; });
        await page.locator('#legend-biomes').waitFor();
        await painted(page, { layer: 'relief' });
        await readout(page);           // an old one is pale
        await assertAccessible(page, 'a climate');
    });

    test(`the scene is accessible in the ${colorScheme} scheme`, LIMIT, async () => {
        const { page } = await visit('#default/relief/9/140000/-60000/3d/40/30', { viewport: { width: 640, height: 400 }, colorScheme,
            bypassCSP: true, reducedMotion: 'reduce' });
        await staged(page);
        await withAxe(page);
        await assertAccessible(page, 'the scene');
    });
}

test('the list of biomes is accessible', LIMIT, async () => {
    const { page } = await visit('#default/relief/6/0/0', { viewport: { width: 1000, height: 700 }, bypassCSP: true });
    await page.locator('#legend-biomes').waitFor();
    await settled(page);
    await withAxe(page);
    await assertAccessible(page, 'the biomes in view');
});

test('the page is accessible on a phone', LIMIT, async () => {
    const { page } = await visit('#default/relief/-4/0/0', { viewport: { width: 360, height: 640 }, isMobile: true, hasTouch: true, bypassCSP: true });
    await withAxe(page);
    await page.locator('#legend summary').tap();
    await assertAccessible(page, 'the legend');
    await page.setViewportSize({ width: 320, height: 256 });
    for (const [button, menu] of [['#world', '#worlds'], ['#journey-button', '#journey']]) {
        await page.locator(button).tap();
        await page.locator(menu).waitFor();
        await assertAccessible(page, `${menu}, scrolled`, menu);        // it covers parts of the others
        await page.keyboard.press('Escape');
    }
});
