// name:seed: every seed is a separate world, created on request and kept in memory only for a while.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { useDaemon, withDaemon } from './daemon.mjs';
import { floats } from './grid.mjs';
import { load, underLoad } from '../load/client.mjs';
import { Faults } from '../preload/preload.mjs';
import { compile, loadTerrain, units } from '../../server/viewer/farlands.js';
import { decodePng } from './png.mjs';
import { TIMEOUT, eventually, fewer, scratch, scratchFile } from './program.mjs';
import { assertError, assertStatus, eachRow } from './table.mjs';
import { SEEDS as ROWS } from '../unit/config/seeds.mjs';

const MOST = '18446744073709551615';
const SEEDS = ['0', '1', '42', '4294967296', '9223372036854775808', MOST];
const TILE = 'relief/10/512/512.png';
const sanitized = (Number(process.env.PATIENCE) || 1) > 1;

describe('a world with seeds: any', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: `
worlds:
  - name: default
    seeds: any
  - name: twin
    seed: 42
  - name: closed
    seeds: fixed
` });

    it('differs for each seed', async () => {
        const seen = new Map();
        await eachRow(SEEDS, async (seed) => {
            const name = `default:${seed}`;
            const world = await daemon.json(`/${name}.json`);
            assert.equal(world.name, name);
            assert.equal(world.seed, seed);
            assert.equal(world.seeds, 'any');
            const tile = await daemon.get(`/${name}/${TILE}`);
            assertStatus(tile, 200);
            decodePng(tile.body);
            assert.equal(tile.headers.etag, `"${await daemon.fingerprintOf(`/${name}/${TILE}`)}/${TILE}"`);
            const heights = await daemon.bytes(`/${name}/height/10/512/512.f32`);
            for (const mark of [world.fingerprint, tile.body.toString('latin1'), heights.toString('latin1')]) {
                assert.ok(!seen.has(mark), `the same as with seed ${seen.get(mark)}`);
                seen.set(mark, seed);
            }
        });
    });

    it('equals the world configured with that seed', async () => {
        const [twin, seeded] = [await daemon.json('/twin.json'), await daemon.json('/default:42.json')];
        assert.equal(seeded.fingerprint, twin.fingerprint);
        for (const tile of [TILE, 'height/16/-1/3.f32', 'normal/3/4/4@2x.png']) {
            const [a, b] = [await daemon.get(`/twin/${tile}`), await daemon.get(`/default:42/${tile}`)];
            assert.deepEqual(a.body, b.body);
            assert.equal(a.headers.etag, b.headers.etag);
        }
        for (const at of ['x=0&y=0', 'x=-1234567.25&y=7654321', 'x=1099511627776&y=-1099511627776'])
            assert.deepEqual(await daemon.json(`/twin/height?${at}`), await daemon.json(`/default:42/height?${at}`));
        const samples = floats(await daemon.bytes('/default:42/height/16/32768/32768.f32'));
        assert.equal(Math.fround((await daemon.json('/default:42/height?x=0&y=0')).height), samples[0]);
    });

    it('shares tiles with the name that has its own seed', async () => {
        const own = await daemon.json('/default.json');
        const named = await daemon.json(`/default:${own.seed}.json`);
        assert.equal(named.fingerprint, own.fingerprint);
        assert.equal(named.name, `default:${own.seed}`);
        const tile = await daemon.get('/default/relief/11/7/7.png');
        const rendered = await daemon.rendered();
        const same = await daemon.get(`/default:${own.seed}/relief/11/7/7.png`);
        assert.deepEqual(same.body, tile.body);
        assert.equal(same.headers.etag, tile.headers.etag);
        assert.equal(await daemon.rendered(), rendered, 'rendered again');
    });

    it('has its own ETags, versions and cache directories', async () => {
        const fingerprint = await daemon.fingerprintOf(`/default:99/${TILE}`);
        assertStatus(await daemon.get(`/default:99/${TILE}`, { 'If-None-Match': `"${fingerprint}/${TILE}"` }), 304);
        assertStatus(await daemon.head(`/default:99/height/3/4/4.f32`), 200);
        const { headers } = await daemon.get(`/default:99/${TILE}?v=${fingerprint}`);
        assert.match(headers['cache-control'], /immutable/);
        const other = await daemon.get(`/default:98/${TILE}?v=${fingerprint}`);
        assert.equal(other.headers['cache-control'], 'no-cache');
        const raw = await daemon.get('/default:99/height/3/4/4.r16');
        assert.equal(raw.headers['farlands-fingerprint'], await daemon.fingerprintOf('/default:99/height'));
        const file = path.join(daemon.cache, fingerprint, TILE);
        assert.ok(await eventually(() => fs.existsSync(file)), `no file ${file}`);
        assert.deepEqual(fs.readFileSync(file), await daemon.bytes(`/default:99/${TILE}`));
        // The first time evaluated, then from prepared responses.
        for (let i = 0; i < 3; i++)
            assertStatus(await daemon.get(`/default:99/${TILE}`, { 'If-None-Match': headers.etag }), 304);
    });

    it('has documents with URLs that include the seed', async () => {
        const base = `http://${daemon.authority}`;
        const answer = await daemon.get('/default:7.json');
        const page = await daemon.get('/default.json');
        for (const name of ['cache-control', 'content-type', 'access-control-allow-origin'])
            assert.equal(answer.headers[name], page.headers[name], name);
        const world = JSON.parse(answer.body);
        assert.equal(answer.headers['farlands-fingerprint'], world.fingerprint);
        assertStatus(await daemon.get('/default:7.json', { 'If-None-Match': answer.headers.etag }), 304);
        assertStatus(await daemon.get('/default:8.json', { 'If-None-Match': answer.headers.etag }), 200);
        assert.deepEqual(Object.keys(world), Object.keys(JSON.parse(page.body)));
        await eachRow(world.layers, async ({ name, fingerprint, tilejson, tiles }) => {
            const url = new URL(tilejson, `${base}/default:7.json`);
            assert.equal(url.href, `${base}/default:7/${name}.json`);
            const metadata = await daemon.json(url.pathname);
            assert.equal(metadata.farlands.world, 'default:7');
            assert.equal(metadata.farlands.seed, '7');
            assert.equal(metadata.fingerprint, fingerprint);
            for (const template of [metadata.tiles[0], metadata.farlands.tiles_2x, new URL(tiles, base).href]) {
                const tile = new URL(decodeURI(template).replace('{z}', 5).replace('{x}', 16).replace('{y}', 15));
                assert.ok(tile.href.startsWith(`${base}/default:7/${name}/5/16/15`), tile.href);
                const picture = await daemon.get(tile.pathname + tile.search);
                assertStatus(picture, 200);
                assert.match(picture.headers['cache-control'], /immutable/);
            }
        });
    });

    it('is marked in the catalogue', async () => {
        const { worlds } = await daemon.json('/worlds.json');
        assert.deepEqual(worlds.map(({ name, seeds }) => [name, seeds]),
            [['default', 'any'], ['twin', 'fixed'], ['closed', 'fixed']]);
        assert.equal((await daemon.json('/closed.json')).seeds, 'fixed');
    });

    it('is refused if it is blank', () => eachRow(['.json', '/relief.json', `/${TILE}`, '/height?x=0&y=0'],
        async (rest) => assertError(await daemon.get(`/default:${rest}`), 400, /^seed: "" is blank; expected a whole number from -2\^63 to 2\^64-1/)));

    it('is the only one that accepts seeds', () => eachRow(
        ['closed:1', 'closed:2', 'twin:42', `closed:${MOST}`].flatMap((name) =>
            [`/${name}.json`, `/${name}/relief.json`, `/${name}/${TILE}`, `/${name}/height?x=0&y=0`]),
        async (url) => assertError(await daemon.get(url), 404, /^seed: world "(closed|twin)" .*seeds: fixed/)));

    it('must exist', () => eachRow(['/nowhere:1.json', `/nowhere:1/${TILE}`, '/:1.json', '/:1/relief.json'],
        async (url) => assertError(await daemon.get(url), 404, /^world: /)));
});

describe('a seed', { timeout: TIMEOUT }, () => {
    // One loop and no memory cache: repeated requests create tiles and worlds again.
    const UNCACHED = 'shards: 1\ncache: { memory: 0 }\n';

    it('gives the same bytes after many others, and after a restart', async () => {
        const urls = [`/default:42/${TILE}`, '/default:42/height/16/-5/7.f32', '/default:42.json', '/default:42/height?x=5&y=6'];
        const all = (daemon) => Promise.all(urls.map((url) => daemon.bytes(url)));
        let first;
        await withDaemon(async (daemon) => {
            first = await all(daemon);
            for (let seed = 1000; seed < 1200; seed++)
                await daemon.bytes(`/default:${seed}/height?x=0&y=0`);
            assert.deepEqual(await all(daemon), first);
        }, { config: UNCACHED + 'worlds: [{ name: default, seeds: any }]\n' });
        await withDaemon(async (daemon) => assert.deepEqual(await all(daemon), first));
    });

    it('is compiled for values alone, and rarely kept', () => withDaemon(async (daemon) => {
        const terrains = () => daemon.metric('farlands_terrains');
        const files = ['.json', '/relief.json', '/field.slope.json', '/relief.xml', '/wmts.xml', '/height.json?format=webp',
            '/nothing.json', '/relief/10/512/512.gif', '/relief/99/0/0.png', '/height?x=0', '/heights?at=0,0&fields=nothing',
            '/spawn?x=0&y=0&biome=nothing', '/region.png?x=0&y=0&width=0&height=1'];
        for (let seed = 100; seed < 140; seed++) {
            await eachRow(files, async (file) => assert.ok((await daemon.get(`/default:${seed}${file}`)).status < 500));
            const etag = `"${await daemon.fingerprintOf(`/default:${seed}/${TILE}`)}/${TILE}"`;
            assertStatus(await daemon.get(`/default:${seed}/${TILE}`, { 'If-None-Match': etag }), 304);
            assertStatus(await daemon.head(`/default:${seed}/${TILE}`), 200);
            assertStatus(await daemon.head(`/default:${seed}/region.f32?x=0&y=0&width=9&height=9`), 200);
        }
        assert.equal(await terrains(), 0);
        await daemon.bytes(`/default:100/${TILE}`);
        assert.equal(await terrains(), 1);
        for (let seed = 100; seed < 140; seed++)
            await daemon.bytes(`/default:${seed}/height?x=0&y=0`);
        assert.equal(await terrains(), 16);
    }, { config: 'threads: 2\nshards: 2\nworlds: [{ name: default, like: default, seeds: any }]\n', builtIn: true }));

    it('needs no configuration', () => withDaemon(async (daemon) => {
        assert.equal((await daemon.json(`/default:${MOST}.json`)).seed, MOST);
        assert.equal((await daemon.json('/default.json')).seeds, 'any');
    }));

    it('stays in use for pending requests when seeds are turned off', async () => {
        const text = (seeds) => `threads: 1\nshards: 1\nworlds: [{ name: alpha, seeds: ${seeds} }]\n`;
        const file = scratchFile('changing.yaml', text('any'));
        const faults = new Faults(scratch());
        await withDaemon(async (daemon) => {
            faults.stand();
            faults.hold('encode');
            const targets = Array.from({ length: 8 }, (_, i) => `/alpha:${i}/gray/9/1/900@2x.png`);
            const { connections, answers } = await daemon.queue(targets);
            for (let seed = 1000; seed < 1100; seed++)      // more than the daemon keeps
                assertStatus(await daemon.get(`/alpha:${seed}/relief.json`), 200);
            fs.writeFileSync(`${file}.new`, text('fixed'));
            fs.renameSync(`${file}.new`, file);
            daemon.kill('SIGHUP');
            assert.ok(await eventually(async () => {
                faults.advance('steady', 0.005);
                return (await daemon.get('/alpha:1.json')).status === 404;
            }), 'seeds are still accepted');
            faults.clear();
            for (const [i, pending] of answers.entries()) {
                const answer = await pending;
                assertStatus(answer, 200);
                decodePng(answer.body);
                assertError(await daemon.get(targets[i]), 404, /^seed: /);
            }
            for (const connection of connections)
                connection.close();
            faults.thaw();
            await daemon.quit();
        }, { env: faults.env, args: ['--config', file] });
    });
});

/* Some text cannot be in a path. */
const inPaths = ([text]) => /^[!-~]+$/.test(text) && !text.includes('&');

describe('text', { timeout: TIMEOUT }, () => {
    it('is the same seed in a URL, a configuration, and a document that farlands.js reads', () => withDaemon(async (daemon) => {
        const wasm = await compile(daemon.bytes('/viewer/farlands.wasm'));
        const document = await daemon.json('/default.json');
        await eachRow([...ROWS.entries()], async ([i, [text, seed]]) => {
            assert.equal((await daemon.json(`/w${i}.json`)).seed, seed, 'in YAML');
            const [written, exact] = await Promise.all([text, seed].map((one) => loadTerrain(wasm, { ...document, seed: one })));
            assert.equal(written.height(units(5), units(7)), exact.height(units(5), units(7)), 'in a document');
        });
        await eachRow(ROWS.filter(inPaths), async ([text, seed]) =>
            assert.equal((await daemon.json(`/default:${text}.json`)).seed, seed));
    }, { config: `worlds:\n  - { name: default, seeds: any }\n${ROWS.map(([text], i) => `  - { name: w${i}, seed: ${JSON.stringify(text)} }\n`).join('')}` }));
});

describe('many seeds', { timeout: TIMEOUT }, () => {
    const COUNT = 5 * fewer(4000);
    const resident = (daemon) => 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(
        fs.readFileSync(`/proc/${daemon.pid}/status`, 'latin1'))[1]);

    it(`do not increase memory (${COUNT} seeds)`, (t) => withDaemon(async (daemon) => {
        // Few tiles, since memory for renders is not measured here.
        const kinds = ['/height?x=1&y=2', '/relief.json', '/height?x=1&y=2', '.json'];
        const target = (i) => `/default:${i}${i % 20 ? kinds[i % 4] : '/relief/3/4/4.png'}`;
        const requestAll = async (first, end) => {
            const clients = load(daemon, (i) => target(first + i), 8);
            const { failures } = await underLoad(clients, async () => {
                await eventually(() => clients.state.asked >= end - first, TIMEOUT);
                return clients.stop();
            });
            assert.deepEqual(failures.slice(0, 5), []);
        };
        await requestAll(0, COUNT / 5);
        const before = resident(daemon);
        await requestAll(COUNT / 5, COUNT);
        const more = resident(daemon) - before;
        t.diagnostic(`${(more / 1048576).toFixed(1)} MiB more, of ${(before / 1048576).toFixed(1)}`);
        if (!sanitized)         // sanitizers keep freed memory
            assert.ok(more < 6 << 20, `${more} bytes more, of ${before}`);
    }, { config: 'shards: 2\nlimits: { wait: 60000 }\ncache: { memory: 4M, files: 2000 }\nworlds: [{ name: default, seeds: any }]\n' }));
});

describe('the disk cache', { timeout: TIMEOUT }, () => {
    const config = (files) => `threads: 1\ncache: { files: ${files}, memory: 0 }\nworlds: [{ name: default, seeds: any }]\n`;
    const tile = (y) => `relief/10/7/${y}.png`;
    const requestTiles = async (daemon, world, count) => {
        for (let y = 0; y < count; y++)
            assertStatus(await daemon.get(`/${world}/${tile(y)}`), 200);
    };

    it('evicts the least recently used seeds first', async () => {
        const cache = scratch(), directories = {};
        const left = (world) => fs.readdirSync(path.join(cache, directories[world], 'relief/10/7')).length;
        await withDaemon(async (daemon) => {
            for (const [world, count] of [['default:11', 40], ['default:12', 60]]) {
                directories[world] = await daemon.fingerprintOf(`/${world}/relief`);
                await requestTiles(daemon, world, count);
                assert.ok(await eventually(() => left(world) === count), `${left(world)} tiles of ${world}`);
            }
            await daemon.quit();
        }, { config: config(10000), cache });
        // By the age of its files, seed 11 would be evicted first.
        for (let y = 0; y < 40; y++)
            fs.utimesSync(path.join(cache, directories['default:11'], tile(y)), 1e9, 1e9);
        await withDaemon(async (daemon) => {
            assertStatus(await daemon.get(`/default:11/${tile(39)}`), 200);
            for (let y = 0; left('default:12') === 60; y++) {
                assert.ok(y < 150, 'nothing is evicted');
                assertStatus(await daemon.get(`/default/${tile(y)}`), 200);
                /* By then the limit is exceeded, so that something is evicted sooner or later. */
                if (y === 120)
                    await eventually(() => left('default:12') < 60);
            }
            assert.equal(left('default:11'), 40);
            await daemon.quit();
        }, { config: config(200), cache });
    });
});
