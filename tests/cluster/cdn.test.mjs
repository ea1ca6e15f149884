// A caching edge in front of a daemon, with the unchanged files in docker/: it requests a cached response
// only once, serves stale responses while one request revalidates them, and never caches errors.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import http from 'node:http';
import { gunzipSync } from 'node:zlib';
import { after, before, describe, it } from 'node:test';
import { pngChunks } from '../http/png.mjs';
import { eventually, patience } from '../http/program.mjs';
import { assertError, assertStatus, eachRow, lasting } from '../http/table.mjs';
import { load } from '../load/client.mjs';
import { EDGES, Origin } from './edges.mjs';

const CROWD = 200;
const HOUR = 3600, WEEK = 7 * 24 * HOUR;
const SLOW = 'worlds:\n  - name: default\n  - name: slow\n    noise: { basis: cellular, octaves: 40, ' +
    'lacunarity: 1.1, warp: { amplitude: 1000, wavelength: 4096 } }\n';

/* A deterministic generator. */
function random(seed) {
    let state = seed + 1;
    return (below) => (state = state * 48271 % 2147483647) % below;
}

/* The tiles of a user near a shared place: windows of 4 x 3 tiles that move by one tile or one zoom. */
function* wander(seed) {
    const next = random(seed);
    let zoom = 0, x = 3, y = 3;
    const inside = (at, width) => Math.max(0, Math.min(10 - width, at));
    for (;;) {
        for (let row = 0; row < 3; row++)
            for (let column = 0; column < 4; column++)
                yield `/default/relief/${10 + zoom}/${500 + x + column}/${500 + y + row}.png`;
        if (next(5) === 0)
            zoom = (zoom + 1 + next(2)) % 3;
        x = inside(x + next(3) - 1, 4);
        y = inside(y + next(3) - 1, 3);
    }
}

/* CROWD requests at once, one per connection. */
const crowd = (edge, target, headers) => Promise.all(Array.from({ length: CROWD }, () =>
    edge.get(target, headers, { agent: false })));

const digest = (body) => createHash('sha1').update(body).digest('hex');
const fingerprintOf = (server, tile = '/default/relief') => server.fingerprintOf(tile);

for (const [name, { make, lasting: persistent }] of Object.entries(EDGES))
describe(`${name} as an edge`, { timeout: patience(120000) }, () => {
    let origin, edge, column = 0;
    before(async () => {
        origin = await new Origin(SLOW).start();
        edge = await make(origin).start();
    });
    after(async () => {
        await edge?.stop();
        origin.kill('SIGKILL');
        await origin.stop();
    });
    /* A tile that was never requested. */
    const cold = (form = 'relief/11/%/7.png') => `/default/${form.replace('%', ++column)}`;

    /* The origin's requests and renders during ACTION. */
    async function costOf(action) {
        const counts = await origin.counts();
        await action();
        return origin.since(counts);
    }

    async function assertCost(action, expected) {
        assert.deepEqual(await costOf(action), { asked: 0, same: 0, rendered: 0, ...expected });
    }

    /* Wait until TILE, which is stale, is fresh again. */
    async function fresh(tile) {
        const isFresh = async () => /; hit$/.test((await edge.head(tile)).headers['cache-status']);
        assert.ok(await eventually(isFresh), `${tile} is not fresh again`);
    }

    it('requests each tile of a popular map once', async (t) => {
        const clients = 20, each = 150, asked = new Set();
        const seen = { requests: 0, hits: 0 };
        const cost = await costOf(() => Promise.all(Array.from({ length: clients }, async (_, i) => {
            const agent = new http.Agent({ keepAlive: true, maxSockets: 6 });
            const tiles = wander(i);
            for (let done = 0; done < each; done += 6)
                await Promise.all(Array.from({ length: Math.min(6, each - done) }, async () => {
                    const tile = tiles.next().value;
                    asked.add(tile);
                    const answer = await edge.get(tile, {}, { agent });
                    assertStatus(answer, 200);
                    seen.requests++;
                    seen.hits += /; hit/.test(answer.headers['cache-status']);
                }));
            agent.destroy();
        })));
        const ratio = 1 - cost.asked / seen.requests;
        t.diagnostic(`${name}: ${seen.requests} requests for ${asked.size} tiles, ${cost.asked} of them sent to ` +
            `the origin: hit ratio ${ratio.toFixed(3)}`);
        assert.equal(seen.requests, clients * each);
        assert.equal(cost.asked, asked.size, 'more than one request per tile');
        assert.equal(seen.hits, seen.requests - cost.asked, 'Cache-Status counts otherwise');
        assert.equal(cost.rendered, asked.size);
        assert.ok(ratio >= 0.9, `hit ratio ${ratio}`);
    });

    it('collapses concurrent requests for a new tile into one', async () => {
        const tile = cold();
        let answers;
        await assertCost(async () => { answers = await crowd(edge, tile); }, { asked: 1, rendered: 1 });
        const bodies = new Set(answers.map((answer) => {
            assertStatus(answer, 200);
            return digest(answer.body);
        }));
        assert.equal(bodies.size, 1);
        pngChunks(answers[0].body);
    });

    it('serves a stale tile at once, while one request revalidates it', async () => {
        const tile = cold();
        const body = await edge.bytes(tile);
        edge.later(2 * HOUR);
        const counts = await origin.counts();
        origin.kill('SIGSTOP');         // it does not respond, so a client that waits for it times out
        const answers = await crowd(edge, tile).finally(() => origin.kill('SIGCONT'));
        for (const answer of answers) {
            assertStatus(answer, 200);
            assert.deepEqual(answer.body, body);
        }
        await fresh(tile);
        assert.deepEqual(await origin.since(counts), { asked: 1, same: 1, rendered: 0 });
        await assertCost(() => crowd(edge, tile), {});
    });

    it('serves a stale tile to the client whose request begins its revalidation', async () => {
        const tiles = Array.from({ length: 5 }, () => cold());
        for (const tile of tiles)
            await edge.bytes(tile);
        edge.later(2 * HOUR);
        origin.kill('SIGSTOP');
        try {
            for (const tile of tiles)
                assertStatus(await edge.get(tile, {}, { agent: false }), 200);
        } finally {
            origin.kill('SIGCONT');
        }
        for (const tile of tiles)
            await fresh(tile);
    });

    it('requests immutable tiles only once', async () => {
        const tiles = await Promise.all([cold(), cold('height/11/%/7.r16'), cold('relief/11/%/7@2x.png')]
            .map(async (tile) => `${tile}?v=${await fingerprintOf(edge, tile)}`));
        const first = new Map();
        await assertCost(async () => {
            for (const tile of tiles)
                first.set(tile, await edge.get(tile));
        }, { asked: 3, rendered: 3 });
        const again = () => eachRow(tiles.flatMap((tile) => [{}, { 'Cache-Control': 'no-cache', Pragma: 'no-cache' },
            { 'Cache-Control': 'max-age=0' }].map((headers) => [tile, headers])), async ([tile, headers]) => {
            const answer = await edge.get(tile, headers);
            assertStatus(answer, 200);
            assert.deepEqual(answer.body, first.get(tile).body);
            assert.equal(answer.headers['cache-control'], 'public, max-age=31536000, immutable');
            assert.equal(answer.headers.etag, first.get(tile).headers.etag);
            assertStatus(await edge.head(tile, headers), 200);
            assertStatus(await edge.get(tile, { ...headers, 'If-None-Match': answer.headers.etag }), 304);
        });
        await assertCost(again, {});
        edge.later(WEEK);
        await assertCost(again, {});
        assert.equal((await origin.stop()).code, 0);
        await again();
        origin = await origin.again();
        edge.later(WEEK);
        await assertCost(again, {});
    });

    it('keeps its cache across a restart', { skip: !persistent }, async () => {
        const tile = `${cold()}?v=${await fingerprintOf(edge)}`;
        await edge.bytes(tile);
        await edge.stop();
        await edge.start();
        await assertCost(async () => assertStatus(await edge.get(tile), 200), {});
    });

    it('ignores unknown query parameters in the cache key', async () => {
        const tile = cold(), fingerprint = await fingerprintOf(edge);
        await assertCost(() => eachRow(['', '?', '?a=b', '?utm_source=x&_=12345', '?V=1', '?v=1', '?v'],
            async (query) => assertStatus(await edge.get(tile + query), 200)), { asked: 1, rendered: 1 });
        await assertCost(() => eachRow([`?v=${fingerprint}`, `?v=${fingerprint}&a=b`, `?a=b&v=${fingerprint}`],
            async (query) => assert.match((await edge.get(tile + query)).headers['cache-control'], /immutable/)),
        { asked: 1 });
    });

    it('keeps tiles of WMTS by keys and values', async () => {
        const [, layer, z, x, y] = cold('relief/11/%/7.png').slice(1).split(/[/.]/);
        const query = 'REQUEST=GetTile&SERVICE=WMTS&VERSION=1.0.0&STYLE=&FORMAT=image/png&TILEMATRIXSET=GoogleMapsCompatible_Level25';
        const url = `/wmts?${query}&LAYER=default:${layer}&TILEMATRIX=${z}&TILECOL=${x}&TILEROW=${y}`;
        const get = async () => assertStatus(await edge.get(url), 200);
        await assertCost(async () => { for (let i = 0; i < 3; i++) await get(); }, { asked: 1, rendered: 1 });
        await assertCost(() => eachRow(['/wmts', '/wmts?request=getcapabilities&service=WMTS'], async (path) =>
            assertStatus(await edge.get(path), 200)), { asked: 2 });
        await assertCost(async () => { for (let i = 0; i < 2; i++) assertStatus(await edge.get(`${url}&FORMAT=a`), 400); }, { asked: 2 });
    });

    it('keeps tiles with a border apart', async () => {
        const tile = cold('height/11/%/7.f32'), fingerprint = await fingerprintOf(edge, '/default/height');
        await assertCost(() => eachRow([['', 256], ['?border=1', 257], ['?a=b&border=1&c', 257], ['?border=0', 256]],
            async ([query, side]) => assert.equal((await edge.bytes(tile + query)).length, 4 * side ** 2)),
        { asked: 3, rendered: 2 });
        await assertCost(() => eachRow([`?border=1&v=${fingerprint}`, `?v=${fingerprint}&border=1`], async (query) => {
            const { headers, body } = await edge.get(tile + query);
            assert.match(headers['cache-control'], /immutable/);
            assert.equal(body.length, 4 * 257 ** 2);
        }), { asked: 1 });
        assertStatus(await edge.get(`${tile}?border=2`), 400);
    });

    it('answers HEAD, conditional and range requests from its cache', async () => {
        const raw = [cold('height/11/%/7.r16'), cold('height/11/%/7.f32'), cold('height/11/%/7@2x.f32')];
        await eachRow(raw, async (tile) => {
            const body = await origin.bytes(tile);
            const { headers } = await origin.get(tile);
            await assertCost(() => eachRow([
                ['bytes=0-99', body.subarray(0, 100)], ['bytes=1000-1000', body.subarray(1000, 1001)],
                ['bytes=-4', body.subarray(-4)], [`bytes=${body.length - 8}-`, body.subarray(-8)],
                [`bytes=100-${2 * body.length}`, body.subarray(100)],
            ], async ([Range, part]) => {
                const answer = await edge.get(tile, { Range });
                assertStatus(answer, 206);
                assert.deepEqual(answer.body, part);
                assert.deepEqual((await edge.get(tile, { Range, 'If-Range': headers.etag })).body, part);
                assert.deepEqual((await edge.get(tile, { Range, 'If-Range': '"other"' })).body, body);
            }), { asked: 1 });
            await assertCost(async () => {
                assert.deepEqual((await edge.get(tile, { Range: 'bytes=0-1,4-5' })).body, body, 'several ranges');
                assertStatus(await edge.get(tile, { Range: `bytes=${body.length}-` }), 416);
                assertStatus(await edge.get(tile, { 'If-None-Match': headers.etag }), 304);
                assertStatus(await edge.get(tile, { 'If-None-Match': '*' }), 304);
                const head = await edge.head(tile);
                assertStatus(head, 200);
                assert.equal(head.headers['content-length'], String(body.length));
                assert.match(head.headers['cache-status'], /; hit/);
                for (const [name, value] of Object.entries(lasting(headers)))
                    assert.equal(head.headers[name], value, name);
            }, {});
        });
    });

    it('passes regions and their ranges through uncached', async () => {
        const region = '/default/region.f32?x=0&y=0&width=1025&height=1025';
        const whole = await origin.get(region);
        await assertCost(async () => {
            for (let i = 0; i < 2; i++)
                assert.equal(digest((await edge.get(region)).body), digest(whole.body));
            const part = await edge.get(region, { Range: 'bytes=1000000-1000099' });
            assertStatus(part, 206);
            assert.deepEqual(part.body, whole.body.subarray(1000000, 1000100));
            assertStatus(await edge.get(region, { 'If-None-Match': whole.headers.etag }), 304);
            assert.equal((await edge.head(region)).headers['content-length'], String(whole.body.length));
        }, { asked: 5, same: 1 });
    });

    it('caches an expensive response', () => assertCost(async () => {
        for (let i = 0; i < 3; i++)
            assertStatus(await edge.get('/default/spawn?x=0&y=0&min=1'), 200);
    }, { asked: 1 }));

    it('caches no error', async () => {
        await eachRow(['/default/relief/01/0/0.png', '/default/relief/27/0/0.png', '/default/nothing/1/0/0.png',
            '/nowhere.json', '/default/relief/6/31%2F32.png', '/default/region.f32'], async (path) => {
            const direct = await origin.get(path);
            await assertCost(async () => {
                for (let i = 0; i < 2; i++) {
                    const answer = await edge.get(path);
                    assertError(answer, direct.status);
                    assert.deepEqual(answer.body, direct.body);
                }
            }, { asked: 2 });
        });
        await assertCost(() => eachRow(['/metrics', '/readyz', '/terrain/metrics'], async (path) =>
            assertError(await edge.get(path), 404)), {});
        assertError(await edge.get('/%6detrics'), [400, 404]);
        await assertCost(() => eachRow([['POST', {}, 405], ['DELETE', {}, 405],
            ['GET', { 'Content-Length': '3' }, 413]], async ([method, headers, status]) =>
            assertError(await edge.request(method, cold(), headers, { agent: false }), status)), {});
    });

    it('allows any origin, and answers preflight requests', async () => {
        const tile = cold();
        const Origin = 'https://map.farlands.test';
        for (let i = 0; i < 2; i++) {
            const { headers } = await edge.get(tile, { Origin });
            assert.equal(headers['access-control-allow-origin'], '*');
            assert.match(headers['access-control-expose-headers'], /Farlands-Fingerprint/);
        }
        assert.equal((await edge.get(tile, { Range: 'bytes=99999999-' })).headers['access-control-allow-origin'], '*');
        const preflight = await edge.request('OPTIONS', tile, { Origin, 'Access-Control-Request-Method': 'GET',
            'Access-Control-Request-Headers': 'range' });
        assertStatus(preflight, 204);
        assert.equal(preflight.headers['access-control-allow-origin'], '*');
        assert.match(preflight.headers['access-control-allow-headers'], /range/);
    });

    it('caches the viewer plain and compressed', async () => {
        const host = { Host: 'maps.example.org' };       // the page has absolute URLs
        const plain = await origin.get('/', host), gzip = await origin.get('/', { ...host, 'Accept-Encoding': 'gzip' });
        assert.equal(gzip.headers['content-encoding'], 'gzip');
        await assertCost(() => eachRow([
            ['gzip', gzip], ['gzip, deflate, br', gzip], ['br;q=1.0, gzip;q=0.8, *;q=0.1', gzip], ['br,gzip', gzip],
            [undefined, plain], ['', plain], ['br', plain], ['gzip;q=0', plain], ['identity', plain],
        ], async ([coding, expected]) => {
            const answer = await edge.get('/', coding === undefined ? host : { ...host, 'Accept-Encoding': coding });
            assert.deepEqual(answer.body, expected.body);
            assert.equal(answer.headers['content-encoding'], expected.headers['content-encoding']);
            assert.match(answer.headers.vary, /\bAccept-Encoding\b/);
            assert.equal(answer.headers.etag, expected.headers.etag);
            assert.equal(answer.headers['cache-control'], 'no-cache', 'for browsers');
        }), { asked: 2 });
    });

    it('passes links to places in the viewer through, so that each has its own preview', () => eachRow([
        ['/?place=default/relief/8/1/2', /at 1, 2"/], ['/?place=default/relief/8/3/4', /at 3, 4"/],
        ['/?utm_source=a&place=default%2Fgray%2F8%2F5%2F6&b=c', /default at 5, 6"/], ['/', /Farlands: default"/],
        ['/?utm_source=a', /Farlands: default"/],
    ], async ([link, title]) => {
        for (const coding of ['identity', 'identity', 'gzip']) {
            const answer = await edge.get(link, { 'Accept-Encoding': coding });
            const page = coding === 'gzip' ? gunzipSync(answer.body) : answer.body;
            assert.match(String(page), title);
            assert.equal(answer.headers['cache-control'], 'no-cache');
        }
    }));

    it('caches TileJSON by the format of the tiles, and passes errors', async () => {
        const layer = '/default/hillshade.json';
        const rows = [['', 200, /\.png\?v=/], ['?format=png', 200, /\.png\?v=/], ['?format=webp', 200, /\.webp\?v=/],
            ['?a=b&format=webp&c=d', 200, /\.webp\?v=/], ['?information=webp', 200, /\.png\?v=/], ['?format=gif', 400]];
        await edge.get('/default.json'); // its query is dropped
        await assertCost(async () => {
            for (let i = 0; i < 2; i++)
                await eachRow(rows, async ([query, status, tiles]) => {
                    const answer = await edge.get(layer + query);
                    assertStatus(answer, status);
                    if (tiles)
                        assert.match(JSON.parse(answer.body).tiles[0], tiles);
                });
            await edge.get('/default.json?format=webp');
            await edge.get('/default.json?format=other');
        }, { asked: 3 + 2 });
    });

    it('caches TileJSON by Host, and ignores X-Forwarded-* of clients', async () => {
        const tiles = async (headers) =>
            JSON.parse((await edge.get('/default/relief.json', headers)).body).tiles[0].split('/default')[0];
        await assertCost(async () => {
            for (let i = 0; i < 2; i++) {
                assert.equal(await tiles({ Host: 'a.farlands.test' }), 'http://a.farlands.test');
                assert.equal(await tiles({ Host: 'b.farlands.test:81' }), 'http://b.farlands.test:81');
                assert.equal(await tiles({ Host: 'a.farlands.test', 'X-Forwarded-Host': 'evil.test',
                    'X-Forwarded-Proto': 'https', 'X-Forwarded-Prefix': '/evil', 'X-Forwarded-For': '1.2.3.4' }),
                'http://a.farlands.test');
            }
        }, { asked: 2 });
    });

    it('serves a changed world within seconds', async () => {
        const path = cold();
        const old = await fingerprintOf(edge);
        const before = await edge.bytes(`${path}?v=${old}`);
        await edge.bytes(path);
        const now = async () => JSON.parse((await edge.get('/default/relief.json')).body).tiles[0].match(/v=(\w+)/)[1];
        assert.equal(await now(), old);
        await origin.stop();
        origin = await origin.again('worlds: [{ name: default, seed: 77 }]\n');
        edge.later(11);
        const fingerprint = await now();
        assert.notEqual(fingerprint, old);
        assert.equal(fingerprint, await fingerprintOf(origin));
        const tile = await edge.bytes(`${path}?v=${fingerprint}`);
        assert.notDeepEqual(tile, before);
        assert.deepEqual(tile, await origin.bytes(path));
        assert.deepEqual(await edge.bytes(`${path}?v=${old}`), before, 'old URLs do not show the old world');
        // Without v the tile is stale after an hour: it is served once more, and then replaced.
        edge.later(2 * HOUR);
        assert.deepEqual(await edge.bytes(path), before);
        assert.ok(await eventually(async () => (await edge.bytes(path)).equals(tile)));
        await origin.stop();
        origin = await origin.again(SLOW);
    });

    it('serves cached tiles while the origin is down, and 503 with Retry-After for others', async () => {
        const [fresh, stale, never] = [cold(), cold(), cold()];
        const body = await edge.bytes(stale);
        const page = await edge.bytes('/default.json');
        edge.later(2 * HOUR);
        await edge.bytes(fresh);
        await origin.stop();
        for (let i = 0; i < 3; i++) {
            assertStatus(await edge.get(fresh), 200);
            assert.deepEqual(await edge.bytes(stale), body);
            assert.deepEqual(await edge.bytes('/default.json'), page);
        }
        const answer = await edge.get(never);
        assertError(answer, 503);
        assert.equal(answer.headers['retry-after'], '1');
        origin = await origin.again();
        assert.ok(await eventually(async () => (await edge.get(never)).status === 200), 'not served again');
        await assertCost(async () => assertStatus(await edge.get(never), 200), {});
    });

    it('passes on 503 if the origin sheds load, and does not cache it', async () => {
        await origin.stop();
        origin = await origin.again(`threads: 1\nlimits: { queue: 1 }\n${SLOW}`);
        const known = cold();
        const body = await edge.bytes(known);
        edge.later(2 * HOUR);
        // Through the edge, so that it is the same client's: the origin sheds no other client's requests for it.
        const flood = load(edge, ['/slow/gray/9/{0..1000000}/900@2x.png'], 4, { statuses: [200, 503] });
        try {
            let answer;
            assert.ok(await eventually(async () => (answer = await edge.get(cold())).status === 503),
                'never shed');
            assertError(answer, 503);
            assert.match(answer.headers['retry-after'], /^[1-9]\d*$/);
            assert.deepEqual(await edge.bytes(known), body);
        } finally {
            await flood.stop();
        }
        const refused = `/default/relief/11/${column}/7.png`;
        assert.ok(await eventually(async () => (await edge.get(refused)).status === 200));
    });

    it('logs no errors except about an origin that was down', () => {
        const others = edge.complaints().filter((line) =>
            !/connect\(\) failed \(111|upstream prematurely closed|upstream timed out|recv\(\) failed \(104/.test(line));
        assert.deepEqual(others, []);
    });
});
