/* The page follows a configuration that the server watches (serve --watch). */
import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { eventually } from '../http/program.mjs';
import { LIMIT, base, daemonArguments, hears, keepScreenshot, painted, pixels, place, staged,
    visit } from './harness.mjs';

const directory = mkdtempSync(path.join(tmpdir(), 'farlands-changes-'));
const file = path.join(directory, 'mine.yaml');
const AT = '#mine/relief/9/1000/-2000';

const world = ({ name = 'mine', seed = 1, octaves = 12, top = '#ffffff' } = {}) => `
  - name: ${name}
    seed: ${seed}
    noise: { wavelength: 16384, octaves: ${octaves} }
    palette: [[-6500, "#204060"], [6000, "${top}"]]
`;

/* As editors do that save by rename. */
function save(text) {
    writeFileSync(`${file}~`, `${text}\nlimits: { wait: 60000 }     # no tile is refused on a busy machine\n`);
    renameSync(`${file}~`, file);
}

save(`worlds: ${world()}`);
daemonArguments.push('--watch', '--config', file);
after(() => rmSync(directory, { recursive: true, force: true }));

const changes = async () => (await fetch(new URL('viewer/changes.json', base))).json();
const described = async (name = 'mine') => (await fetch(new URL(`${name}.json`, base))).json();

/* Save worlds with these parameters, and wait until the daemon has them. */
async function saveWorlds(...worlds) {
    save(`worlds: ${worlds.map(world).join('')}`);
    const { name = 'mine', seed = 1, top = '#ffffff' } = worlds[0];
    assert.ok(await eventually(async () => {
        const { seed: now, palette } = await described(name);
        return now === String(seed) && palette[1][1] === top && (await changes()).error === null;
    }), `the daemon does not have ${name}`);
}

beforeEach(() => base && saveWorlds({}));

const broken = (page) => page.locator('#broken');
const why = (page) => page.locator('#broken-why').textContent();

/* Wait until the plane has tiles of the layer's current fingerprint only. */
async function showsNow(page, layer = 'relief') {
    const { tiles, tiles_webp: address = tiles } = (await described()).layers.find(({ name }) => name === layer);
    const [, fingerprint] = /v=([0-9a-f]{16})/.exec(address);
    await page.waitForFunction((version) => {
        const tiles = [...document.querySelectorAll('img.leaflet-tile')];
        return tiles.length && tiles.every(({ src, classList }) => src.includes(`v=${version}`) && classList.contains('leaflet-tile-loaded'));
    }, fingerprint);
    await painted(page);
}

test('new terrain shows by itself, at the same place', LIMIT, async () => {
    const { page, seen } = await visit(AT);
    await showsNow(page);
    const before = await pixels(page);
    /* The least number of loaded tiles in any frame. */
    await page.evaluate(() => {
        window.least = Infinity;
        const count = () => {
            window.least = Math.min(window.least, document.querySelectorAll('.leaflet-tile-loaded').length);
            requestAnimationFrame(count);
        };
        count();
    });
    const tiles = await page.evaluate(() => document.querySelectorAll('.leaflet-tile-loaded').length);
    await saveWorlds({ seed: 2 });
    await showsNow(page);
    assert.notDeepEqual(await pixels(page), before);
    assert.equal(await place(page), AT);
    assert.ok(await page.evaluate(() => window.least) >= tiles, 'the old tiles stay until the new ones cover them');
    assert.equal(await page.locator('#seed').textContent(), 'seed 2');
    await saveWorlds({ seed: 1 });
    await showsNow(page);
    assert.deepEqual(await pixels(page), before);
    assert.ok(await broken(page).isHidden());
    assert.ok(seen.urls.some((url) => url.endsWith('/viewer/changes.json')));
});

test('new colors show by themselves, in layers that have them', LIMIT, async () => {
    const { page } = await visit(AT);
    await showsNow(page);
    const before = await pixels(page);
    await saveWorlds({ top: '#00ff00' });
    await showsNow(page);
    assert.notDeepEqual(await pixels(page), before);
});

test('new terrain shows in three dimensions', LIMIT, async () => {
    const { page } = await visit(`${AT}/3d/50/30`, { viewport: { width: 640, height: 400 } });
    await page.waitForFunction(() => location.hash.includes('/3d/50/30'));
    const stage = await page.locator('.stage').getAttribute('data-number');
    const before = await pixels(page);
    await saveWorlds({ seed: 3 });
    await page.waitForFunction((old) => {
        const stages = [...document.querySelectorAll('.stage')];
        return stages.length === 1 && stages[0].dataset.number !== old;
    }, stage);
    await staged(page);
    assert.notDeepEqual(await pixels(page), before);
    assert.equal(await place(page), `${AT}/3d/50/30`);
});

test('a profile is measured anew', LIMIT, async () => {
    const { page } = await visit(AT, { viewport: { width: 1000, height: 700 } });
    await page.locator('#profile-button').click();
    await page.mouse.click(300, 300);
    await page.mouse.click(700, 350);
    const measured = (old) => page.waitForFunction((before) => {
        const { value } = document.getElementById('profile-high');
        return !document.getElementById('profile-save').disabled && value !== '' && value !== before && value;
    }, old).then((handle) => handle.jsonValue());
    const [old, length] = [await measured(''), await page.locator('#profile-length').textContent()];
    await saveWorlds({ seed: 4 });
    await measured(old);
    assert.equal(await page.locator('#profile-length').textContent(), length);
    await saveWorlds({});
    await page.waitForFunction((value) => document.getElementById('profile-high').value === value, old);
});

test('an error shows with file, line and key until the file is good again', LIMIT, async () => {
    const { page } = await visit(AT, { viewport: { width: 1000, height: 700 } });
    await showsNow(page);
    const before = await pixels(page);
    assert.equal(await broken(page).getAttribute('role'), 'alert');
    save(`worlds: ${world({ octaves: 65 })}`);
    await broken(page).waitFor();
    assert.equal(await why(page), 'mine.yaml:4: worlds[0].noise.octaves: got "65"; expected a whole number from 1 to 64');
    assert.deepEqual(await pixels(page), before, 'the last good worlds stay');
    await keepScreenshot(page, 'viewer-error.png');
    save(`worlds: ${world()}    "<img src=x onerror=alert(1)>": 3\n`);
    await page.locator('#broken-why', { hasText: '<img src=x' }).waitFor();
    assert.equal(await page.locator('#broken img').count(), 0, 'text, not HTML');
    rmSync(file);
    await page.locator('#broken-why', { hasText: 'mine.yaml: cannot be read: No such file' }).waitFor();
    save(`worlds: ${world()}`);
    await broken(page).waitFor({ state: 'hidden' });
    assert.deepEqual(await pixels(page), before);
});

test('worlds come and go', LIMIT, async () => {
    const { page } = await visit(AT);
    assert.ok(await page.locator('#world').isHidden());
    await saveWorlds({}, { name: 'other' });
    await page.locator('#world').click();
    assert.deepEqual(await page.locator('#worlds strong').allTextContents(), ['mine', 'other']);
    assert.equal(await page.locator('#worlds [aria-checked=true]').getAttribute('data-name'), 'mine');
    await page.keyboard.press('Escape');
    await saveWorlds({ name: 'renamed' });
    await page.waitForFunction(() => location.hash.startsWith('#renamed/relief/9/1000/-2000'));
    await painted(page);
    assert.equal(await page.title(), 'Farlands: renamed');
});

test('a field that goes is kept in the address bar, and shown when it is back', LIMIT, async () => {
    const graph = (fields) => save(`worlds:
  - name: mine
    seed: 7
    fields:
${fields.map((field) => `      ${field}\n`).join('')}      height: { noise: { wavelength: 16384, octaves: 4, elevation: [[-1, -900], [1, 900]] } }
`);
    const rain = (factor) => `rain: { multiply: [${factor}, { noise: { wavelength: 8192, octaves: 4 } }] }`;
    /* Each world with fields has its surface as one more. */
    const options = (page, names) => page.waitForFunction((wanted) =>
        [...document.querySelectorAll('#more optgroup option')].map(({ text }) => text).join() === wanted, [...names, 'surface'].join());
    const AT_RAIN = AT.replace('relief', 'field.rain');
    graph([rain(3)]);
    const { page, seen } = await visit(AT);
    await options(page, ['rain']);
    await page.locator('#more').selectOption({ label: 'rain' });
    await painted(page, { layer: 'field.rain' });
    const range = () => page.locator('#legend-note').textContent();
    const before = await range();
    graph([rain(30), 'snow: 5']);
    await options(page, ['rain', 'snow']);
    await page.waitForFunction((old) => document.getElementById('legend-note').textContent !== old, before);
    await painted(page, { layer: 'field.rain' });
    graph(['snow: 5']);
    await options(page, ['snow']);
    await painted(page, { layer: 'relief' });
    await hears(page, /^“mine” has no field “rain”; showing Relief\.$/);
    assert.equal(await place(page), AT_RAIN);
    assert.ok(await page.locator('#field-box').isHidden());
    graph([rain(3), 'snow: 5']);
    await options(page, ['rain', 'snow']);
    await painted(page, { layer: 'field.rain' });
    assert.equal(await range(), before);
    assert.equal(await page.locator('#status').textContent(), '');
    assert.equal(await place(page), AT_RAIN);
    seen.trouble.length = 0;          // a tile of the field that has just gone
});

test('a graph of fields shows by itself, and an error names its field', LIMIT, async () => {
    const { page } = await visit(AT);
    const graph = (seed, height) => `worlds:
  - name: mine
    seed: ${seed}
    fields:
      hills: { noise: { wavelength: 16384, octaves: 12 } }
      height: { multiply: [${height}, 900] }
`;
    const shows = async (seed) => {
        await page.waitForFunction((text) => document.getElementById('seed').textContent === text, `seed ${seed}`);
        await showsNow(page);
    };
    save(graph(5, 'hills'));
    await shows(5);
    const before = await pixels(page);
    save(graph(6, '{ abs: hills }'));
    await shows(6);
    assert.notDeepEqual(await pixels(page), before);
    assert.equal(await place(page), AT);
    save(graph(6, 'hils'));
    await broken(page).waitFor();
    assert.match(await why(page), /^mine\.yaml:6: worlds\[0\]\.fields\.height\.multiply\[0\]: .*"hils"/);
});
