/* "Take me somewhere": by mouse, keyboard and touch, in both views; its messages and downloads. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wayTo } from '../../server/viewer/journey.js';
import { eventually } from '../http/program.mjs';
import { BROAD, LIMIT, base, daemonArguments, keepScreenshot, painted, place, placeBecomes, settled, staged,
    stopClock, visit, withClock } from './harness.mjs';

daemonArguments.push('--config', BROAD);

const CALM = { reducedMotion: 'reduce' };
const START = '#default/relief/11/1000000/-2000000';
const item = (page, name) => page.getByRole('menuitem', { name });

/* What the page says of a place. A render that took longer than the daemon's limit goes on, and the next search has it. */
async function take(page, name) {
    for (;;) {
        await page.locator('#journey-button').click();
        await item(page, name).click();
        const said = await arrived(page);
        if (!said.includes('render timed out'))
            return said;
    }
}

/* What the page says at the end of a search. */
async function arrived(page) {
    await page.waitForFunction(() => !document.getElementById('journey-button').hasAttribute('aria-busy'));
    return (await page.locator('#status').textContent()).replace(/\u202f/g, ' ');
}

const heightAt = async (x, y, world = 'default') =>
    (await (await fetch(new URL(`./${world}/height?x=${x}&y=${y}`, base))).json()).height;

async function where(page) {
    const [, world, , zoom, x, y] = /^#([^/]+)\/(\w+)\/([^/]+)\/([^/]+)\/([^/]+)/.exec(await place(page));
    return { world, zoom: Number(zoom), x: Number(x), y: Number(y) };
}

test('ways are told in words', () => {
    for (const [x, y, words] of [[0, 0, 'here'], [640, 0, '640 m east'], [0, -3400, '3.4 km north'], [-7000, 7000, '9.9 km south-west'],
        [24000, -24000, '34 km north-east'], [-99.5, 3, '100 m west'], [0, 5e6, '5 000 km south'], [-10, -10, '14 m north-west'], [9, 8, '12 m south-east']])
        assert.equal(wayTo({ x: 100, y: -7 }, { x: 100 + x, y: -7 + y }).replace(/\u202f/g, ' '), words);
});

test('goes to the nearest coast, then to another one, and back', LIMIT, async () => {
    const { page, seen } = await visit(START, CALM);
    const regions = () => seen.urls.filter((url) => url.includes('/region.f32'));
    assert.match(await take(page, 'The nearest coast'), /^Coast, [\d.]+ k?m [a-z-]+\.$/);
    await placeBecomes(page, /^#default\/relief\/12\//);
    const { x, y } = await where(page);
    const around = await Promise.all([[0, 0], [8, 0], [-8, 0], [0, 8], [0, -8]].map(([dx, dy]) => heightAt(x + dx, y + dy)));
    assert.ok(around[0] >= 0 && Math.min(...around) < 0, `not a shore: ${around}`);
    assert.ok(regions().length >= 1 && regions().length <= 8, `${regions().length} requests`);
    await painted(page);
    assert.equal(await page.evaluate(() => document.activeElement.id), 'journey-button');
    await keepScreenshot(page, 'viewer-coast.png');
    await take(page, 'The nearest coast');
    await page.waitForFunction((last) => !location.hash.endsWith(last), `/${x}/${y}`);
    await page.goBack();
    await placeBecomes(page, new RegExp(`/12/${x}/${y}$`));
    await page.goBack();
    await placeBecomes(page, /\/11\/1000000\/-2000000$/);
});

test('goes to the top of a peak, by keyboard', LIMIT, async () => {
    const { page } = await visit('#default/relief/10/123456/987654', CALM);
    await page.locator('#plane').focus();
    await page.keyboard.press('t');
    assert.equal(await page.evaluate(() => document.activeElement.dataset.to), 'coast');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const said = await arrived(page);
    assert.match(said, /^Peak, [\d ]+ m, \d+ km [a-z-]+\.$/);
    await page.waitForFunction(() => !location.hash.includes('/123456/'));
    const { x, y, zoom } = await where(page);
    const [top, ...rest] = await Promise.all([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]].map(([dx, dy]) => heightAt(x + dx, y + dy)));
    assert.ok(top >= Math.max(...rest), `${top} below ${rest}`);
    assert.equal(said.split(', ')[1], `${top.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ' ')} m`);
    assert.ok(zoom >= 9 && zoom <= 14);
    await keepScreenshot(page, 'viewer-peak.png');
});

test('goes to random places on land, ever nearer, with few requests', LIMIT, async () => {
    /* The page itself computes a world without rivers. */
    for (const [world, requests] of [['default', 3], ['plain', 0]]) {
        const { page, seen } = await visit(START.replace('default', world), CALM);
        const before = seen.urls.length;
        const places = [];
        for (let zoom = 9; zoom <= 11; zoom++) {
            assert.match(await take(page, 'A random place'), /^A random place, [\d ]+ km [a-z-]+\.$/);
            await placeBecomes(page, new RegExp(`^#${world}/relief/${zoom}/`));
            places.push(await where(page));
        }
        assert.equal(new Set(places.map(({ x }) => x)).size, 3);
        assert.equal(seen.urls.slice(before).filter((url) => /region\.f32|heights\?/.test(url)).length, requests, world);
    }
});

test('without WebAssembly a random place takes one request', LIMIT, async () => {
    const { page, seen } = await visit(START, CALM, (fresh) => fresh.addInitScript(() => { delete globalThis.WebAssembly; }));
    await take(page, 'A random place');
    assert.equal(seen.urls.filter((url) => url.includes('/heights?')).length, 1);
});

test('a random seed opens another world at its first view, by touch', LIMIT, async () => {
    const { page } = await visit(START, { ...CALM, viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
    await page.locator('#journey-button').tap();
    await keepScreenshot(page, 'viewer-journey-phone.png');
    await item(page, 'A random seed').tap();
    await placeBecomes(page, /^#default:\d+\/relief\/\d+\/0\/0$/);
    const { world } = await where(page);
    assert.equal((await arrived(page)).replace(/ /g, ''), `Seed${world.split(':')[1]}.`);
    await painted(page);
    await page.goBack();
    await placeBecomes(page, /^#default\/relief\/11\/1000000\//);
});

test('the map flies there if it is near', LIMIT, async () => {
    const { page } = await visit(START, {}, withClock);
    await stopClock(page);
    await page.locator('#journey-button').click();
    await item(page, 'The nearest coast').click();
    const zooms = new Set();
    assert.ok(await eventually(async () => {
        await page.clock.runFor(50);
        zooms.add(await page.evaluate(() => document.getElementById('zoom').value));
        return zooms.size > 3;
    }, 120000), `${[...zooms]}: ${await page.locator('#status').textContent()}`);
    await page.clock.resume();
    await placeBecomes(page, /^#default\/relief\/12\//);
    await painted(page);
});

test('in the scene, too', LIMIT, async () => {
    const { page } = await visit('#default/relief/11/1000000/-2000000/3d/50/30', { ...CALM, viewport: { width: 640, height: 400 } });
    assert.match(await take(page, 'The nearest coast'), /^Coast, /);
    await placeBecomes(page, /^#default\/relief\/1[12]\/(?!1000000).*\/3d\/50\/30$/);
    await staged(page);
    const { x, y } = await where(page);
    assert.ok(await heightAt(x, y) >= 0);
    await take(page, 'A random place');
    await placeBecomes(page, /^#default\/relief\/9\/.*\/3d\/50\/30$/);
    await settled(page);
});

test('says what it does not find, and what fails', LIMIT, async () => {
    const sea = (value) => (route) => {
        const query = new URL(route.request().url()).searchParams;
        const count = Number(query.get('width')) * Number(query.get('height'));
        return route.fulfill({ contentType: 'application/octet-stream', body: Buffer.from(new Float32Array(count).fill(value).buffer) });
    };
    const { page, seen } = await visit(START, CALM);
    await page.route(/region\.f32/, sea(-40));
    assert.equal(await take(page, 'The nearest coast'), 'No coast within 2 097 km.');
    assert.equal(await take(page, 'A peak nearby'), 'No land within 262 km.');
    await page.unroute(/region\.f32/);
    await page.route(/region\.f32/, (route) => route.fulfill({ status: 503, json: { error: 'too busy' } }));
    assert.equal(await take(page, 'A peak nearby'), 'The server responded: too busy');
    await page.unroute(/region\.f32/);
    await page.route(/region\.f32/, (route) => route.abort());
    assert.match(await take(page, 'A peak nearby'), /^Server unreachable/);
    assert.equal(await place(page), START);
    seen.trouble.length = 0;
});

test('the menu has the items that suit the world, and closes', LIMIT, async () => {
    const { page } = await visit(START, CALM);
    const button = page.locator('#journey-button');
    const items = () => page.locator('#journey [role=menuitem]:visible').allTextContents();
    await button.click();
    assert.deepEqual(await items(), ['The nearest coast', 'A peak nearby', 'Another biome', 'A random place', 'A random seed']);
    await button.click();
    assert.ok(await page.locator('#journey').isHidden());
    await page.evaluate((hash) => { location.hash = hash; }, START.replace('default', 'plain'));
    await painted(page);
    await button.click();
    assert.deepEqual(await items(), ['The nearest coast', 'A peak nearby', 'A random place']);
    await button.click();
    await button.focus();
    await page.keyboard.press('Enter');
    assert.ok(await page.locator('#journey').isVisible());
    await page.keyboard.press('Escape');
    assert.ok(await page.locator('#journey').isHidden());
    assert.equal(await page.evaluate(() => document.activeElement.id), 'journey-button');
});
