// WebP beside PNG: which layers have it, its responses, caches and documents, and the effect of its settings.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { Daemon, useDaemon, withDaemon } from './daemon.mjs';
import { WEBP } from './layers.mjs';
import { TIMEOUT, eventually, filesBelow, fractal, run, scratch, scratchFile } from './program.mjs';
import { assertError, assertStatus, eachRow } from './table.mjs';

/* The four-character types of the chunks of a WebP file, and its size in pixels. */
function parse(webp) {
    assert.equal(webp.toString('latin1', 0, 4), 'RIFF');
    assert.equal(webp.readUInt32LE(4), webp.length - 8);
    assert.equal(webp.toString('latin1', 8, 12), 'WEBP');
    const types = [];
    for (let at = 12; at < webp.length; at += 8 + webp.readUInt32LE(at + 4) + (webp.readUInt32LE(at + 4) & 1))
        types.push(webp.toString('latin1', at, at + 4));
    return { types, width: webp.readUIntLE(24, 3) + 1, height: webp.readUIntLE(27, 3) + 1 };
}

describe('WebP', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon();

    it('has the size and the kind of its tile', () => eachRow(
        WEBP.flatMap((layer) => [['', 256], ['@2x', 512]].flatMap(([scale, side]) => [
            [`/default/${layer}/6/31/32${scale}.webp`, side],
            [`/default/${layer}/12/-3/7${scale}.webp?border=1`, side + 1],
            [`/default:42/${layer}/6/31/32${scale}.webp`, side],
        ])),
        async ([url, side]) => {
            const answer = await daemon.get(url);
            assertStatus(answer, 200);
            assert.equal(answer.headers['content-type'], 'image/webp');
            assert.deepEqual(parse(answer.body), { types: ['VP8X', 'VP8 ', 'flKY'], width: side, height: side });
        }));

    it('is read by others', async () => {
        const file = scratchFile('tile.webp', '');
        fs.writeFileSync(file, await daemon.bytes('/default/relief/9/255/257.webp'));
        const { driverShortName, size, bands } = JSON.parse(execFileSync('gdalinfo', ['-json', file]));
        assert.deepEqual([driverShortName, size, bands.length], ['WEBP', [256, 256], 3]);
        assert.ok(fs.statSync(file).size < (await daemon.bytes('/default/relief/9/255/257.png')).length);
    });

    it('is cached, validated and ranged like PNG', async () => {
        const url = '/default/relief/7/60/61.webp';
        const { fingerprint } = await daemon.json('/default/relief.json?format=webp');
        const { headers, body } = await daemon.get(url);
        assert.equal(headers.etag, `"${fingerprint}/relief/7/60/61.webp"`);
        assert.equal(headers['cache-control'], 'public, max-age=3600');
        assert.equal((await daemon.get(`${url}?v=${fingerprint}`)).headers['cache-control'], 'public, max-age=31536000, immutable');
        assert.equal((await daemon.get(`${url}?v=${await daemon.fingerprintOf(url)}`)).headers['cache-control'], 'no-cache', 'that of PNG');
        for (const method of ['GET', 'HEAD']) {
            const same = await daemon.request(method, url, { 'If-None-Match': headers.etag });
            assertStatus(same, 304);
            assert.equal(same.headers.etag, headers.etag);
        }
        assertStatus(await daemon.get(url.replace('webp', 'png'), { 'If-None-Match': headers.etag }), 200);
        const part = await daemon.get(url, { Range: 'bytes=8-11' });
        assertStatus(part, 206);
        assert.equal(part.body.toString(), 'WEBP');
        assert.ok((await daemon.bytes(url)).equals(body));
    });

    it('is 404 for layers with numbers in their pixels', () => eachRow(
        ['gray', 'height', 'terrarium', 'terrain-rgb', 'normal', 'field.surface'],
        async (layer) => {
            assertError(await daemon.get(`/default/${layer}/6/31/32.webp`), 404,
                layer === 'field.surface' ? /layer:/ : new RegExp(`^extension: layer ${layer} has no "webp"; the world's JSON lists its formats$`));
        }));

    it('is 404 for regions', async () => {
        assertError(await daemon.get('/default/region.webp?x=0&y=0&width=64&height=64&layer=relief'), 404,
            /^extension: pictures of regions are png, not webp$/);
        assertError(await daemon.get('/default/region.webp?x=0&y=0&width=64&height=64'), 404, /^extension: layer height has no "webp"/);
    });

    it('is counted by its format', async () => {
        const count = async (format) => Number(new RegExp(`^farlands_tiles_rendered_total\\{layer="aspect",format="${format}"\\} (\\d+)`, 'm')
            .exec(await daemon.bytes('/metrics'))[1]);
        const before = [await count('png'), await count('webp')];
        await daemon.bytes('/default/aspect/9/1/1.webp');
        await daemon.bytes('/default/aspect/9/1/1.webp');
        await daemon.bytes('/default/aspect/9/1/1.png');
        assert.deepEqual([await count('png'), await count('webp')], before.map((n) => n + 1));
    });

    it('is offered by documents', async () => {
        const { layers } = await daemon.json('/default.json');
        for (const { name, extensions, tiles, tiles_webp: webp } of layers) {
            assert.equal(extensions.includes('webp'), WEBP.includes(name), name);
            assert.match(tiles, /\{y\}\.png\?v=[0-9a-f]{16}$/);
            assert.equal(webp !== undefined, WEBP.includes(name), name);
        }
        const plain = await daemon.json('/default/relief.json');
        const webp = await daemon.json('/default/relief.json?format=webp');
        assert.match(plain.tiles[0], /\/relief\/\{z\}\/\{x\}\/\{y\}\.png\?v=/);
        assert.deepEqual(await daemon.json('/default/relief.json?format=png&_=1'), plain);
        assert.match(webp.tiles[0], /\/relief\/\{z\}\/\{x\}\/\{y\}\.webp\?v=/);
        assert.match(webp.farlands.tiles_2x, /\{y\}@2x\.webp\?v=/);
        assert.match(webp.farlands.tiles_border, /\{y\}\.webp\?border=1&v=/);
        assert.notEqual(webp.fingerprint, plain.fingerprint);
        const tile = await daemon.get(new URL(webp.tiles[0].replace('{z}', 3).replace('{x}', 4).replace('{y}', 5)).pathname +
            `?v=${webp.fingerprint}`);
        assertStatus(tile, 200);
        assert.match(tile.headers['cache-control'], /immutable/);
        // OpenLayers would mix the formats of a layer that has two.
        assert.ok(!(await daemon.bytes('/default/wmts.xml')).includes('webp'));
    });

    it('has a TileJSON for layers that have it', () => eachRow([
        ['/default/relief.json?format=jpg', /^format: "jpg" is not png, which is the default, nor webp$/],
        ['/default/relief.json?format=', null],
        ['/default/relief.json?format=WEBP', /^format: "WEBP"/],
        ['/default/relief.json?format=f32', /^format: "f32"/],
        ['/default/relief.json?format=webp&format=png', /^format: given twice/],
        ['/default/relief.json?fromat=webp', /did you mean 'format'/],
        ['/default/terrarium.json?format=webp', /^format: layer terrarium has no "webp"; expected png$/],
        ['/default:7/normal.json?format=webp', /^format: layer normal has no "webp"; expected png$/],
    ], async ([url, message]) => {
        assertError(await daemon.get(url), 400, message ?? /^format: ""/);
    }));
});

describe('WebP on disk', { timeout: TIMEOUT }, () => {
    const URL = '/default/relief/8/100/101.webp';

    it('lasts, is verified, and replaced if damaged', async () => {
        const cache = scratch();
        const first = await new Daemon({ cache }).start();
        const webp = await first.bytes(URL);
        const files = () => filesBelow(cache).filter((name) => name.endsWith('.webp'));
        await eventually(() => files().length === 1);
        await first.quit();
        const [file] = files();
        assert.match(file, /\/[0-9a-f]{16}\/relief\/8\/100\/101\.webp$/);
        assert.ok(fs.readFileSync(file).equals(webp));
        await eachRow([
            ['whole', () => {}, 0],
            ['a flipped bit', (bytes) => { bytes[bytes.length >> 1] ^= 4; }, 1],
            ['another checksum', (bytes) => { bytes[bytes.length - 1] ^= 1; }, 1],
            ['cut', (bytes) => bytes.subarray(0, bytes.length - 8), 1],
            ['a PNG', () => first.png, 1],
        ], async ([, damage, faults]) => {
            const bytes = Buffer.from(webp);
            first.png ??= Buffer.from('\x89PNG\r\n\x1a\n');
            fs.writeFileSync(file, damage(bytes) ?? bytes);
            await withDaemon(async (daemon) => {
                assert.ok((await daemon.bytes(URL)).equals(webp));
                assert.match((await daemon.bytes('/metrics')).toString(), new RegExp(`^farlands_cache_faults_total ${faults}$`, 'm'));
                await eventually(() => fs.readFileSync(file).equals(webp));
            }, { cache });
        });
    });

    it('belongs to its settings', async () => {
        const cache = scratch();
        const get = async (settings, files) => {
            let found;
            await withDaemon(async (daemon) => {
                found = {
                    webp: await daemon.bytes(URL),
                    png: await daemon.bytes(URL.replace('webp', 'png')),
                    prints: [await daemon.fingerprintOf(URL), (await daemon.json('/default/relief.json?format=webp')).fingerprint],
                    hits: Number(/tier="disk"\} (\d+)/.exec(await daemon.bytes('/metrics'))[1]),
                };
                assert.ok(await eventually(() => filesBelow(cache).filter((file) => /\d\.(png|webp)$/.test(file)).length === files));
            }, { cache, config: `webp: ${settings}\n` });
            return found;
        };
        const fine = await get('{ quality: 95 }', 2);
        const coarse = await get('{ quality: 20 }', 3);
        assert.ok(coarse.webp.length < fine.webp.length / 2);
        assert.equal(coarse.prints[0], fine.prints[0]);
        assert.notEqual(coarse.prints[1], fine.prints[1]);
        assert.equal(coarse.hits, 1, 'the PNG');
        const again = await get('{ quality: 95, method: 0 }', 3);
        assert.ok(again.webp.equals(fine.webp));
        assert.equal(again.hits, 2);
    });
});

describe('WebP by commands', { timeout: TIMEOUT }, () => {
    const command = (...args) => run(fractal(...args));

    it('is the daemon’s', () => withDaemon(async (daemon) => {
        const file = path.join(scratch(), 'tile.webp');
        assert.equal((await command('tile', 'default/relief/6/31/32@2x.webp', '-o', file)).code, 0);
        assert.ok(fs.readFileSync(file).equals(await daemon.bytes('/default/relief/6/31/32@2x.webp')));
    }));

    it('is rendered into the cache and into archives', () => withDaemon(async (daemon) => {
        const file = path.join(scratch(), 'world.mbtiles');
        const box = ['--world', 'default', '--layer', 'relief', '--zoom', '0-2', '--format', 'webp', '--cache', daemon.cache];
        assert.equal((await command('render', ...box, '--export', file)).code, 0);
        const rows = JSON.parse(execFileSync('sqlite3', ['-readonly', '-json', file,
            "SELECT value AS format, (SELECT count(*) FROM tiles) AS tiles, (SELECT value FROM metadata WHERE name = 'fingerprint') AS print," +
            " (SELECT hex(tile_data) FROM tiles WHERE zoom_level = 2 AND tile_column = 1 AND tile_row = 0) AS tile FROM metadata WHERE name = 'format'"]));
        assert.equal(rows[0].format, 'webp');
        assert.equal(rows[0].tiles, 21);
        assert.equal(rows[0].print, (await daemon.json('/default/relief.json?format=webp')).fingerprint);
        assert.ok(Buffer.from(rows[0].tile, 'hex').equals(await daemon.bytes('/default/relief/2/1/3.webp')));
        const metrics = (await daemon.bytes('/metrics')).toString();
        assert.match(metrics, /^farlands_cache_hits_total\{tier="disk"\} 1$/m);
        assert.match(metrics, /^farlands_cache_misses_total 0$/m);
        const { stdout } = await command('render', ...box, '--list');
        assert.equal(stdout.toString().split('\n').filter((line) => /^default\/relief\/\d\/\d\/\d\.webp$/.test(line)).length, 21);
    }));

    it('is refused if a layer has none', () => eachRow([
        [['--layer', 'relief,normal', '--zoom', '1', '--format', 'webp'], /--format: layer normal has no webp; expected png/],
        [['--layer', 'relief', '--zoom', '1', '--format', 'gif'], /--format: "gif"; expected png or webp/],
    ], async ([args, message]) => {
        const { code, stderr } = await command('render', '--world', 'default', ...args);
        assert.equal(code, 2);
        assert.match(stderr, message);
    }));
});
