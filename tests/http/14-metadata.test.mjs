// Documents about worlds and layers, and their URLs below a prefix and behind proxies.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useDaemon, withDaemon } from './daemon.mjs';
import { BUILT_IN, TIMEOUT, eventually } from './program.mjs';
import { assertError, assertStatus, eachRow } from './table.mjs';
import { assertTileJson } from './tilejson.mjs';
import { request } from './wire.mjs';

const VARY_PROXY = 'Host, Forwarded, X-Forwarded-Host, X-Forwarded-Port, X-Forwarded-Prefix, X-Forwarded-Proto';
const WORLDS = `
worlds:
  - name: default
  - name: near
    native_zoom: 2
    noise: { wavelength: 64, octaves: 3 }
  - name: round
    seed: 18446744073709551615
    wrap: true
  - name: far
    native_zoom: 32
    origin: [1, 2]
`;

const parse = (answer) => {
    assert.equal(answer.status, 200, answer.body.toString());
    return JSON.parse(answer.body);
};

/* The URL of tile 0, 0 at a zoom. */
const tileOf = (template, zoom) => template.replace('{z}', zoom).replace(/\{[xy]\}/g, 0);

const pathOf = (url, base) => {
    const { pathname, search } = new URL(url, base);
    return pathname + search;
};

/* The base of the URLs in a daemon's TileJSON for a request with these headers. */
async function baseOf(daemon, headers, path = '/default/relief.json') {
    const { answers: [answer] } = await daemon.raw(request('GET', path, { Host: 'inner:1', ...headers }));
    const document = parse(answer);
    const [base] = document.tiles[0].split('/default/relief/');
    assert.ok(document.farlands.tiles_2x.startsWith(`${base}/default/relief/`));
    return { base, vary: answer.headers.vary, cache: answer.headers['cache-control'], etag: answer.headers.etag };
}

const assertBases = (daemon, rows, path) => eachRow(rows, async ([headers, expected]) =>
    assert.equal((await baseOf(daemon, headers, path)).base, expected));

describe('documents', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: WORLDS });

    it('are valid TileJSON with URLs that resolve', async () => {
        const { worlds } = await daemon.json('/worlds.json');
        await eachRow(worlds.flatMap(({ name, layers }) => layers.map((layer) => [name, layer])),
            async ([name, layer]) => {
                const document = await daemon.json(`/${layer.tilejson}`);
                assertTileJson(document);
                assert.equal(document.encoding, layer.encoding);
                assert.ok(!('attribution' in document));
                assert.ok(document.description.includes(name) && document.description.includes(layer.name));
                for (const template of [document.tiles[0], document.farlands.tiles_2x]) {
                    const answer = await daemon.head(pathOf(tileOf(template, document.minzoom)));
                    assertStatus(answer, 200);
                    assert.match(answer.headers['cache-control'], /immutable/);
                }
            });
    });

    it('center maps on terrain', () => eachRow([
        ['default', [0, 0, 6]],
        ['near', [0, 0, 6]],
        ['round', [0, 0, 6]],
        ['far', [0, 0, 22]],       // block (0, 0) is outside the window of web maps
    ], async ([world, center]) => {
        const document = await daemon.json(`/${world}/relief.json`);
        assert.deepEqual(document.center.map((value) => Math.round(value * 1e6) / 1e6 + 0), center);
    }));

    it('repeat the parameters of the world', () => eachRow(
        ['default', 'near', 'round', 'far'], async (name) => {
            const world = await daemon.json(`/${name}.json`);
            const { farlands } = await daemon.json(`/${name}/height.json`);
            const same = ['seed', 'native_zoom', 'origin', 'wrap', 'fingerprint', 'range', 'tile_size', 'limits'];
            for (const key of same)
                assert.deepEqual(farlands[key], world[key], key);
            assert.deepEqual([farlands.world, farlands.layer], [name, 'height']);
            assert.deepEqual([...farlands.extensions].sort(), ['f32', 'png', 'r16', 'u8']);
            const listed = (await daemon.json('/worlds.json')).worlds.find((each) => each.name === name);
            for (const key of same)
                assert.deepEqual(listed[key], world[key], `${key} in the catalogue`);
            assert.deepEqual(listed.layers, world.layers);
        }));

    it('name the encodings of heights as colors', async () => {
        const { layers } = await daemon.json('/default.json');
        const encodings = layers.filter(({ encoding }) => encoding).map(({ name, encoding }) => [name, encoding]);
        assert.deepEqual(encodings, [['terrarium', 'terrarium'], ['terrain-rgb', 'mapbox']]);
    });

    it('have validators', () => eachRow(
        ['/worlds.json', '/default.json', '/default/relief.json', '/default/relief.xml', '/wmts.xml', '/', '/viewer/viewer.js', '/viewer/leaflet.css'],
        async (path) => {
            const { headers: { etag, vary, 'cache-control': cache } } = await daemon.get(path);
            assert.match(etag, /^"[0-9a-f]{16}"$/);
            assert.equal(cache, 'no-cache');
            for (const value of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
                const answer = await daemon.get(path, { 'If-None-Match': value });
                assertStatus(answer, 304);
                assert.equal(answer.headers.etag, etag);
                assert.equal(answer.headers.vary, vary);
                assert.equal(answer.headers['cache-control'], cache);
            }
            assertStatus(await daemon.get(path, { 'If-None-Match': '"other"' }), 200);
        }));

    it('have Vary: Host only if they depend on it', () => eachRow([
        ['/default/relief.json', 'Host'],
        ['/default/relief.xml', 'Host'],
        ['/wmts.xml', 'Host, Accept-Encoding'],
        ['/default/wmts.xml', 'Host, Accept-Encoding'],
        ['/default.json', 'Accept-Encoding'],
        ['/worlds.json', 'Accept-Encoding'],
        ['/default/height?x=0&y=0', undefined],
        ['/default/relief/3/1/1.png', undefined],
        ['/', 'Host, Accept-Encoding'],
    ], async ([path, vary]) => assert.equal((await daemon.get(path)).headers.vary, vary)));

    it('use the Host of the request if it is valid', () => eachRow([
        ['tiles.example.org', 'http://tiles.example.org'],
        ['TILES.example.org:8443', 'http://TILES.example.org:8443'],
        ['[::1]', 'http://[::1]'],
        ['[2001:db8::1]:80', 'http://[2001:db8::1]:80'],
        ['a:0'], ['a:'], ['a:65536'], ['a:1:2'], ['::1'], ['[::1'], ['[::g]'], ['[fe80::1%25eth0]'],
        ['a/b'], ['u@a'], ['a"b'], ['a,b'], [''], [`${'a'.repeat(300)}`],
    ], async ([host, base]) => {
        const { answers: [answer] } = await daemon.raw(request('GET', '/default/relief.json', { Host: host }));
        if (base)
            assert.ok(parse(answer).tiles[0].startsWith(`${base}/default/relief/`));
        else
            assertError(answer, 400, /Host.*expected/);
        // A document without absolute URLs accepts any Host.
        const { answers: [tile] } = await daemon.raw(request('GET', '/worlds.json', { Host: host }));
        assertStatus(tile, 200);
    }));

    it('ignore X-Forwarded-* headers of unlisted clients', async () => {
        const { base, vary } = await baseOf(daemon, {
            'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'outer', 'X-Forwarded-Prefix': '/p' });
        assert.equal(base, 'http://inner:1');
        assert.equal(vary, 'Host');
    });
});

describe('documents of the built-in worlds', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ builtIn: true });

    it('are valid TileJSON with URLs that resolve', async () => {
        const { worlds } = await daemon.json('/worlds.json');
        assert.deepEqual(worlds.map(({ name }) => name), BUILT_IN);
        await eachRow(worlds.flatMap(({ layers }) => layers), async ({ tilejson, encoding }) => {
            const document = await daemon.json(`/${tilejson}`);
            assertTileJson(document);
            assert.equal(document.encoding, encoding);
            for (const template of [document.tiles[0], document.farlands.tiles_2x])
                assertStatus(await daemon.head(pathOf(tileOf(template, document.minzoom))), 200);
        });
    });

    it('have heights at zoom 0', () => eachRow(BUILT_IN, async (world) =>
        assert.equal((await daemon.json(`/${world}/height.json`)).minzoom, 0)));
});

describe('behind listed proxies', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: 'proxies: [10.0.0.0/8, 127.0.0.1]\n' });

    it('URLs have the address that the client requested', () => assertBases(daemon, [
        [{}, 'http://inner:1'],
        [{ 'X-Forwarded-Proto': 'https' }, 'https://inner:1'],
        [{ 'X-Forwarded-Proto': 'http' }, 'http://inner:1'],
        [{ 'X-Forwarded-Host': 'outer' }, 'http://outer'],
        [{ 'X-Forwarded-Host': '[::1]:8443' }, 'http://[::1]:8443'],
        [{ 'X-Forwarded-Prefix': '/p' }, 'http://inner:1/p'],
        [{ 'X-Forwarded-Prefix': '/p/q/' }, 'http://inner:1/p/q'],
        [{ 'X-Forwarded-Prefix': '/' }, 'http://inner:1'],
        [{ 'x-forwarded-proto': 'https', 'x-forwarded-host': 'outer:8443', 'x-forwarded-prefix': '/p' },
            'https://outer:8443/p'],
        // In a list the last value counts, which the nearest proxy added.
        [{ 'X-Forwarded-Proto': 'http, https' }, 'https://inner:1'],
        [{ 'X-Forwarded-Proto': 'https,http' }, 'http://inner:1'],
        [{ 'X-Forwarded-Proto': 'http, http, https' }, 'https://inner:1'],
        [{ 'X-Forwarded-Host': 'forged , outer ' }, 'http://outer'],
        [{ 'X-Forwarded-Prefix': '/forged, /p' }, 'http://inner:1/p'],
        [{ Host: 'not a host', 'X-Forwarded-Host': 'outer' }, 'http://outer'],
        // A port that the Host lacks.
        [{ Host: 'inner', 'X-Forwarded-Port': '8443', 'X-Forwarded-Proto': 'https' }, 'https://inner:8443'],
        [{ 'X-Forwarded-Host': 'outer', 'X-Forwarded-Port': '8443' }, 'http://outer:8443'],
        [{ 'X-Forwarded-Port': '8443' }, 'http://inner:1'],
        // RFC 7239.
        [{ Forwarded: 'for=192.0.2.1;host="outer:8443";proto=https' }, 'https://outer:8443'],
        [{ Forwarded: 'host=forged, host=outer;proto=https', 'X-Forwarded-Prefix': '/p' }, 'https://outer/p'],
        [{ Forwarded: 'host=forged;proto=https', 'X-Forwarded-Host': 'outer' }, 'http://outer'],
    ]));

    it('malformed headers are ignored', () => assertBases(daemon, [
        ...['ftp', 'HTTPS', 'https://', 'https;', '', 'https,'].map((proto) =>
            [{ 'X-Forwarded-Proto': proto }, 'http://inner:1']),
        ...['a b', 'a/b', 'u@a', 'a:', 'a:99999', '::1', '"a"', '', 'outer,', 'a%41'].map((host) =>
            [{ 'X-Forwarded-Host': host }, 'http://inner:1']),
        ...['p', '//p', '/p//q', '/../p', '/p/..', '/p?q', '/p#q', '/%70', '/p q', '/p,', `/${'p'.repeat(300)}`,
            'http://a/p'].map((prefix) => [{ 'X-Forwarded-Prefix': prefix }, 'http://inner:1']),
        ...['', '0', '65536', '80x', '+81', '81,'].map((port) =>
            [{ Host: 'inner', 'X-Forwarded-Port': port }, 'http://inner']),
        ...['', 'outer', 'host', 'host=', 'host=a/b', 'host="outer', 'proto=HTTPS', 'host=outer,'].map((forwarded) =>
            [{ Forwarded: forwarded }, 'http://inner:1']),
    ]));

    it('Vary lists the forwarding headers', async () => {
        const plain = await baseOf(daemon, {});
        const forwarded = await baseOf(daemon, { 'X-Forwarded-Proto': 'https' });
        assert.deepEqual([plain.vary, forwarded.vary], [VARY_PROXY, VARY_PROXY]);
        assert.equal(plain.cache, 'no-cache');
        assert.notEqual(plain.etag, forwarded.etag);
        assert.equal((await daemon.get('/wmts.xml')).headers.vary, `${VARY_PROXY}, Accept-Encoding`);
        assert.equal((await daemon.get('/default.json')).headers.vary, 'Accept-Encoding');
    });

    it('an invalid Host needs a valid X-Forwarded-Host', async () => {
        const { answers: [answer] } = await daemon.raw(request('GET', '/default/relief.json',
            { Host: 'not a host', 'X-Forwarded-Host': 'nor this' }));
        assertError(answer, 400, /Host/);
    });
});

describe('a proxy that is not listed', { timeout: TIMEOUT }, () => {
    /* Lines of DAEMON's log about peers that are not listed. */
    const warnings = (daemon) => daemon.stderr.split('\n').filter((line) => line.includes('proxies:'));
    const expected = /127\.0\.0\.1 sends X-Forwarded-Proto, .*proxies: \[127\.0\.0\.1\]$/;

    it('gets one warning, which a reload renews', () => withDaemon(async (daemon) => {
        await daemon.get('/worlds.json');
        for (let i = 0; i < 20; i++)
            await daemon.get('/worlds.json', { 'X-Forwarded-Proto': 'https' }, { agent: false });
        await daemon.get('/worlds.json', { Forwarded: 'proto=https' });
        assert.ok(await eventually(() => warnings(daemon).length > 0), 'no warning');
        daemon.kill('SIGHUP');
        assert.ok(await eventually(async () => {
            await daemon.get('/worlds.json', { 'X-Forwarded-Proto': 'https' });
            return warnings(daemon).length > 1;
        }), 'no warning after the reload');
        await daemon.stop();
        assert.equal(warnings(daemon).length, 2, daemon.stderr);
        for (const line of warnings(daemon))
            assert.match(line, expected);
    }, { config: 'log: warning\nshards: 2\n' }));

    it('gets none if it is listed, or sends no such header', () => eachRow([
        ['proxies: [127.0.0.1]\n', { 'X-Forwarded-Proto': 'https', Forwarded: 'proto=https' }],
        ['', { Via: '1.1 proxy', 'X-Real-IP': '192.0.2.1' }],
    ], ([config, headers]) => withDaemon(async (daemon) => {
        assertStatus(await daemon.get('/worlds.json', headers), 200);
        await daemon.stop();
        assert.deepEqual(warnings(daemon), []);
    }, { config })));
});

describe('listed proxies other than this one', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: 'proxies: [10.0.0.0/8, "::1", "::/0", 127.0.0.2]\n' });

    it('do not make this one trusted', async () => {
        const { base, vary } = await baseOf(daemon, { 'X-Forwarded-Host': 'outer', 'X-Forwarded-Proto': 'https' });
        assert.equal(base, 'http://inner:1');
        assert.equal(vary, 'Host');
    });
});

describe('the base path', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: 'base_path: /a/b\nproxies: [127.0.0.1]\n' });
    const home = () => `http://${daemon.authority}/a/b/`;
    const path = (relative) => pathOf(relative, home());

    it('is part of the "serving" line', () =>
        assert.match(daemon.readyLine, new RegExp(`serving ${home()} `)));

    it('serves the viewer and all files that it links to', async () => {
        const page = await daemon.bytes('/a/b/');
        const links = [...page.toString().matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link]) => link);
        assert.ok(links.length >= 5);
        await eachRow(links, async (link) => {
            assert.ok(path(link).startsWith('/a/b/viewer/'), path(link));
            assert.ok((await daemon.bytes(path(link))).length > 0);
        });
    });

    it('has the catalogue, whose relative URLs resolve', async () => {
        const [world] = (await daemon.json('/a/b/worlds.json')).worlds;
        assert.equal((await daemon.json(path(world.url))).name, 'default');
        await eachRow(world.layers, async ({ tilejson, tiles }) => {
            const document = await daemon.json(path(tilejson));
            assert.ok(document.tiles[0].startsWith(`${home()}default/`), document.tiles[0]);
            for (const template of [tiles, document.tiles[0]])
                await daemon.bytes(path(tileOf(template, 3)));
        });
        await daemon.bytes('/a/b/default/height/3/4/4.f32');
        await daemon.json('/a/b/default/height?x=1&y=2');
    });

    it('without its final slash redirects', () => eachRow([['GET', '/a/b'], ['GET', '/a/b?x=1'], ['HEAD', '/a/b']],
        async ([method, target]) => {
            const answer = await daemon.request(method, target);
            assertStatus(answer, 308);
            assert.equal(new URL(answer.headers.location, `http://h${target}`).pathname, '/a/b/');
            // The redirect also works if a proxy adds a prefix.
            assert.equal(new URL(answer.headers.location, `http://h/p${target}`).pathname, '/p/a/b/');
        }));

    it('is required for all other URLs', () => eachRow([
        '/', '/worlds.json', '/default.json', '/default/relief/3/4/4.png', '/viewer/viewer.js', '/a', '/a/', '/a/bc',
        '/a/bc/', '/a/b.json', '/A/b/', '//a/b/', '/a/b%2f', '/../a/b/', '/%61/c/',
    ], async (target) => assertError(await daemon.get(target), 404, /below \/a\/b\//)));

    it('does not change the rules of URLs', () => eachRow([
        ['/a/b//', 400], ['/a/b/../b/', 400], ['/a/b/%61', 404], ['/a/b/%2F', 400], ['/%61/%62/%61', 404], ['/a/b/nowhere', 404], ['/a/b/a/b', 404],
        ['/a/b/default/relief/03/4/4.png', 400],
    ], async ([target, status]) => assertError(await daemon.get(target), status)));

    it('is not needed for probes', () => eachRow(
        ['/healthz', '/readyz', '/metrics', '/a/b/healthz', '/a/b/readyz', '/a/b/metrics', '/healthz?a=b'],
        async (target) => assertStatus(await daemon.get(target), 200)));

    it('does not hide a probe of the same name', () => withDaemon(async (named) => {
        assert.deepEqual(await named.json('/healthz'), { status: 'ok' });
        assert.match((await named.bytes('/healthz/')).toString(), /<html/);
        assertError(await named.get('/'), 404, /below \/healthz\//);
    }, { config: 'base_path: /healthz\n' }));

    it('follows a prefix that a proxy removed', () => assertBases(daemon, [
        [{}, 'http://inner:1/a/b'],
        [{ 'X-Forwarded-Prefix': '/p', 'X-Forwarded-Proto': 'https' }, 'https://inner:1/p/a/b'],
    ], '/a/b/default/relief.json'));
});

describe('a public URL', { timeout: TIMEOUT }, () => {
    const forged = { Host: 'not a host', 'X-Forwarded-Host': 'forged', 'X-Forwarded-Proto': 'http', 'X-Forwarded-Prefix': '/p' };

    describe('alone', () => {
        const daemon = useDaemon({ config: 'public_url: https://tiles.example.org/terrain/\nproxies: [127.0.0.1]\n' });

        it('starts all URLs, for any request headers', () => assertBases(daemon, [
            [{}, 'https://tiles.example.org/terrain'],
            [forged, 'https://tiles.example.org/terrain'],
        ]));

        it('does not change the routes, and needs no Vary', async () => {
            assert.equal((await baseOf(daemon, {})).vary, undefined);
            assertStatus(await daemon.get('/'), 200);
            assertError(await daemon.get('/terrain/worlds.json'), 404);
        });
    });

    describe('with a base path', () => {
        const daemon = useDaemon({ config: 'public_url: https://tiles.example.org/x\nbase_path: /a/b/\n' });

        it('replaces the base path in URLs', () => assertBases(daemon, [[{}, 'https://tiles.example.org/x'],
            [forged, 'https://tiles.example.org/x']], '/a/b/default/relief.json'));

        // If a proxy maps /x to /a/b, a relative redirect to b/ would lead to /b/.
        it('is the redirect target of the base path without its slash', async () => {
            const answer = await daemon.get('/a/b', forged);
            assertStatus(answer, 308);
            assert.equal(answer.headers.location, 'https://tiles.example.org/x/');
        });
    });
});

describe('the viewer\'s files and documents', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon();
    const HEIGHTS = `/default/heights?at=${Array.from({ length: 1200 }, (_, i) => `${i},${i % 10}`).join(';')}`;
    const FILES = ['/', '/viewer/viewer.js', '/viewer/viewer.css', '/viewer/leaflet.js', '/viewer/icon.svg',
        '/worlds.json', '/default.json', '/default:42.json', '/wmts.xml', '/default/wmts.xml', HEIGHTS];

    it('are compressed for clients that accept gzip', async () => {
        const { gunzipSync } = await import('node:zlib');
        await eachRow(FILES, async (file) => {
            const plain = await daemon.get(file);
            const packed = await daemon.get(file, { 'Accept-Encoding': 'br, gzip' });
            assert.equal(plain.headers['content-encoding'], undefined);
            assert.equal(packed.headers['content-encoding'], 'gzip');
            assert.deepEqual(gunzipSync(packed.body), plain.body);
            assert.ok(packed.body.length < plain.body.length, `${packed.body.length} of ${plain.body.length}`);
            assert.equal(packed.headers['content-type'], plain.headers['content-type']);
            assert.match(plain.headers.vary, /^(Host, )?Accept-Encoding$/);
            assert.equal(plain.headers.vary, packed.headers.vary);
            assert.notEqual(plain.headers.etag, packed.headers.etag);
            const head = await daemon.head(file, { 'Accept-Encoding': 'gzip' });
            assert.equal(Number(head.headers['content-length']), packed.body.length);
        });
    });

    it('are compressed by zstd, too, except the files of the viewer', async () => {
        const { execFileSync } = await import('node:child_process');
        await eachRow(FILES, async (file) => {
            const isFile = file.startsWith('/viewer/');
            const [plain, gzip, zstd] = [await daemon.get(file), ...await Promise.all(['gzip', 'gzip, deflate, br, zstd'].map((accepted) =>
                daemon.get(file, { 'Accept-Encoding': accepted })))];
            assert.equal(zstd.headers['content-encoding'], isFile ? 'gzip' : 'zstd');
            assert.equal(zstd.headers.vary, plain.headers.vary);
            assert.equal(zstd.headers.etag === gzip.headers.etag, isFile);
            if (!isFile)
                assert.deepEqual(execFileSync('zstd', ['-dc'], { input: zstd.body }), plain.body);
            assert.equal((await daemon.get(file, { 'Accept-Encoding': 'zstd, gzip', 'If-None-Match': zstd.headers.etag })).status, 304);
        });
    });

    it('have the ETag of the form that would be sent, if a date matches', async () => {
        const worlds = Array.from({ length: 40 }, (_, i) => `  - { name: w${i} }\n`).join('');
        await withDaemon(async (many) => {
            for (const [file, from] of [...FILES.map((path) => [path, daemon]), ['/wmts.xml', many]])
                for (const accepted of ['identity', 'gzip', 'zstd']) {
                    const whole = await from.get(file, { 'Accept-Encoding': accepted });
                    const same = await from.get(file, { 'Accept-Encoding': accepted, 'If-Modified-Since': whole.headers['last-modified'] });
                    assertStatus(same, 304);
                    assert.equal(same.headers.etag, whole.headers.etag, `${file}, ${accepted}`);
                    if (from === many)          // too long for a loop to compress
                        assert.equal(whole.headers['content-encoding'], undefined, `${whole.body.length} bytes`);
                }
        }, { config: `worlds:\n${worlds}` });
    });

    it('have an ETag for each encoding', () => eachRow(FILES, async (file) => {
        const [plain, packed] = [await daemon.get(file), await daemon.get(file, { 'Accept-Encoding': 'gzip' })];
        const [a, b] = [plain, packed].map(({ headers }) => headers.etag);
        await eachRow([
            [a, undefined, 304, a], [b, undefined, 200, a], [b, 'gzip', 304, b], [b, 'gzip;q=0', 200, a], [a, 'identity', 304, a],
            // Who accepts both may have either.
            [a, 'gzip', 304, a], [`${a}, ${b}`, 'gzip', 304, b], ['*', 'gzip', 304, b], [`W/${b}`, 'gzip', 304, b], ['"c"', 'gzip', 200, b],
        ], async ([had, coding, status, etag]) => {
            const answer = await daemon.get(file, { 'If-None-Match': had, ...(coding && { 'Accept-Encoding': coding }) });
            assertStatus(answer, status);
            assert.equal(answer.headers.etag, etag);
            assert.equal(answer.headers.vary, plain.headers.vary);
            assert.equal(answer.headers['content-encoding'], status === 200 && etag === b ? 'gzip' : undefined);
        });
        await eachRow([[a, undefined, 200], [b, undefined, 412], [b, 'gzip', 200], [a, 'gzip', 200], ['"c"', 'gzip', 412]],
            async ([had, coding, status]) => assertStatus(await daemon.get(file,
                { 'If-Match': had, ...(coding && { 'Accept-Encoding': coding }) }), status));
    }));

    it('are plain if they are small', () => eachRow([
        '/default/height?x=1&y=2', '/default/heights?at=1,2;3,4', '/default/spawn?x=0&y=0', '/nowhere', '/healthz', '/readyz',
    ], async (path) => {
        const { headers } = await daemon.get(path, { 'Accept-Encoding': 'gzip' });
        assert.equal(headers['content-encoding'], undefined);
        assert.equal(headers.vary, undefined);
    }));

    it('are compressed in other formats, too', async () => {
        const { gunzipSync } = await import('node:zlib');
        const { headers, body } = await daemon.get('/metrics', { 'Accept-Encoding': 'gzip' });
        assert.equal(headers['content-encoding'], 'gzip');
        assert.equal(headers.vary, 'Accept-Encoding');
        assert.match(gunzipSync(body).toString(), /^farlands_ready 1$/m);
        assert.match((await daemon.bytes('/metrics')).toString(), /^farlands_ready 1$/m);
    });

    // An event loop compresses for a tenth of its time at most.
    it('are plain while too many are requested', async () => {
        const { gunzipSync } = await import('node:zlib');
        const { body: plain } = await daemon.get('/wmts.xml', { Host: 'a' });
        const count = 1500;
        const { answers } = await daemon.raw('GET /wmts.xml HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n'.repeat(count),
            { methods: Array(count).fill('GET') });
        const packed = answers.filter(({ headers }) => headers['content-encoding'] === 'gzip');
        assert.ok(packed.length > 0 && packed.length < count, `${packed.length} of ${count} are compressed`);
        for (const { headers, body } of answers) {
            const coded = headers['content-encoding'] === 'gzip';
            assert.equal(headers.etag.endsWith('-gzip"'), coded);
            assert.ok(plain.equals(coded ? gunzipSync(body) : body));
        }
    });

    it('have a policy that allows blob workers and images', async () => {
        const policy = (await daemon.get('/')).headers['content-security-policy'].split(/; */);
        for (const rule of ["worker-src 'self' blob:", "child-src 'self' blob:", "img-src 'self' data: blob:",
            "default-src 'none'"])
            assert.ok(policy.includes(rule), `${rule} is missing in ${policy}`);
    });
});
