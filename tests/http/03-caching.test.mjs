// Freshness for browsers, proxies and CDNs; validators, which never cause a render.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, it } from 'node:test';
import { useDaemon, withDaemon } from './daemon.mjs';
import { assertError, assertStatus, eachRow, lasting } from './table.mjs';
import { TIMEOUT, eventually, scratchFile, withFractal } from './program.mjs';
import { request } from './wire.mjs';

const HOUR = 'public, max-age=3600';
const YEAR = 'public, max-age=31536000, immutable';
const FORMS = ['relief/11/%/7.png', 'relief/11/%/7@2x.png', 'gray/11/%/7.png',
    'height/11/%/7.png', 'height/11/%/7.r16', 'height/11/%/7.f32', 'height/11/%/7@2x.f32'];

describe('caching', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon();
    let column = 0;
    /* A tile that was not requested before. */
    const cold = (form = FORMS[0]) => `/default/${form.replace('%', ++column)}`;
    const etagOf = async (tile) => (await daemon.head(tile)).headers.etag;

    async function assertNotRendered(action) {
        const before = await daemon.rendered();
        await action();
        assert.equal(await daemon.rendered(), before, 'a tile was rendered');
    }

    it('gives every tile a unique strong ETag', async () => {
        const seen = new Map();
        await eachRow([...FORMS, ...FORMS, 'relief/12/1/7.png', 'relief/11/-1/7.png'], async (form) => {
            const tile = cold(form);
            const { status, headers } = await daemon.get(tile);
            assert.equal(status, 200);
            assert.match(headers.etag, /^"[\x21\x23-\x7e]+"$/);
            assert.ok(!seen.has(headers.etag), `same ETag as ${seen.get(headers.etag)}`);
            seen.set(headers.etag, tile);
            assert.equal((await daemon.get(tile)).headers.etag, headers.etag, 'on the second request');
        });
    });

    it('sets Cache-Control according to ?v=', async () => {
        const { layers } = await daemon.json('/default.json');
        const stale = layers[0].fingerprint.replace(/./g, (c) => (c === '0' ? '1' : '0'));
        await eachRow([
            ['', HOUR],
            ['?', HOUR],
            ['?a=b', HOUR],
            ['?V=OWN', HOUR],
            ['?v=OWN', YEAR],
            ['?v=OWN&a=b', YEAR],
            ['?a=b&v=OWN', YEAR],
            [`?v=${stale}`, 'no-cache'],
            // An empty value may count as stale or as absent.
            ['?v=', ['no-cache', HOUR]],
            ['?v', ['no-cache', HOUR]],
            ['?v=1', 'no-cache'],
            ['?v=OWN0', 'no-cache'],
            [`?v=${layers[0].fingerprint.slice(0, 15)}`, 'no-cache'],
        ], async ([template, expected]) => {
            for (const form of FORMS) {
                const { fingerprint } = layers.find(({ name }) => form.startsWith(`${name}/`));
                const query = template.replace('OWN', fingerprint);
                const tile = `/default/${form.replace('%', 1)}`;
                const etag = await etagOf(tile);
                for (const [method, headers, status] of [
                    ['GET', {}, 200], ['HEAD', {}, 200], ['GET', { 'If-None-Match': etag }, 304]]) {
                    const answer = await daemon.request(method, tile + query, headers);
                    const what = `${method} ${tile}${query} -> ${answer.status}`;
                    assert.equal(answer.status, status, what);
                    assert.ok([expected].flat().includes(answer.headers['cache-control']),
                        `${what}, Cache-Control: ${answer.headers['cache-control']}`);
                    assert.equal(answer.headers.etag, etag, what);
                }
            }
        });
    });

    it('allows any origin to read tiles and their headers', () => eachRow(FORMS, async (form) => {
        const { headers } = await daemon.get(cold(form), { Origin: 'https://map.farlands.test' });
        assert.equal(headers['access-control-allow-origin'], '*');
        const exposed = headers['access-control-expose-headers'].toLowerCase().split(/ *, */);
        for (const name of ['etag', 'farlands-width', 'farlands-height', 'farlands-origin',
            'farlands-step', 'farlands-range', 'farlands-fingerprint'])
            assert.ok(exposed.includes(name), `${name} is not in ${exposed}`);
    }));

    it('returns 304 for a matching validator, without rendering', async () => {
        const matching = (etag) => [
            etag, ` ${etag} `, `W/${etag}`, '*', `"other", ${etag}`, `${etag}, "other"`,
            `"other",W/${etag},"another"`, `"a,b", ${etag}`, `W/"other", ${etag}`,
        ];
        await assertNotRendered(() => eachRow(FORMS.flatMap((form) =>
            matching('@').map((value) => [cold(form), value])), async ([tile, value]) => {
            const etag = await etagOf(tile);
            const answer = await daemon.get(tile, { 'If-None-Match': value.replace('@', () => etag) });
            assertStatus(answer, 304);
            assert.equal(answer.body.length, 0);
            assert.equal(answer.headers.etag, etag);
            assert.equal(answer.headers['cache-control'], HOUR);
            assert.equal(answer.headers['access-control-allow-origin'], '*');
            assert.ok(answer.headers['access-control-expose-headers']);
        }));
    });

    it('returns 200 for a validator that does not match', async () => {
        const tile = cold();
        const etag = await etagOf(tile);
        const bare = etag.slice(1, -1);
        const body = await daemon.bytes(tile);
        await eachRow(['"other"', 'W/"other"', bare, `"${bare}x"`, `"x${bare}"`, `"${bare.slice(1)}"`,
            `"${bare.slice(0, -1)}"`, '""', '"other", "another"', etag.slice(0, -1), etag.slice(1),
            await etagOf(cold())], async (value) => {
            const answer = await daemon.get(tile, { 'If-None-Match': value });
            assertStatus(answer, 200);
            assert.deepEqual(answer.body, body);
        });
    });

    it('returns 412 if If-Match does not match, without rendering', async () => {
        const paths = [...FORMS.map(cold), '/', '/worlds.json', '/default/relief.json'];
        await assertNotRendered(() => eachRow(paths, async (path) => {
            const etag = await etagOf(path);
            await eachRow(['"other"', `W/${etag}`, etag.slice(1, -1), '"other", "another"'], async (value) => {
                // If-Match comes before all other conditions.
                for (const more of [{}, { 'If-None-Match': etag }, { Range: 'bytes=99999999-' }]) {
                    const answer = await daemon.get(path, { 'If-Match': value, ...more });
                    assertError(answer, 412, /If-Match/);
                    assert.equal(answer.headers.etag, etag);
                }
                assertStatus(await daemon.head(path, { 'If-Match': value }), 412);
            });
            for (const value of [etag, '*', `"other", ${etag}`])
                assertStatus(await daemon.get(path, { 'If-Match': value, 'If-None-Match': etag }), 304);
            assertStatus(await daemon.head(path, { 'If-Match': etag }), 200);
        }));
    });

    it('returns errors before evaluating validators', () => eachRow([
        ['/default/relief/27/0/0.png', 404],
        ['/default/relief/16/99999999999999/0.png', 404],
        ['/default/relief/01/0/0.png', 400],
        ['/nowhere/relief/1/0/0.png', 404],
    ], async ([path, status]) => {
        assertError(await daemon.get(path, { 'If-None-Match': '*' }), status);
        const head = await daemon.head(path);
        assert.equal(head.status, status);
        assert.equal(head.body.length, 0);
    }));

    it('answers HEAD with the headers of GET, without rendering', () => eachRow(
        FORMS, async (form) => {
            const tile = cold(form);
            let head;
            await assertNotRendered(async () => { head = await daemon.head(tile); });
            const get = await daemon.get(tile);
            assert.deepEqual([head.status, get.status], [200, 200]);
            assert.equal(head.body.length, 0);
            assert.deepEqual(lasting(head.headers), lasting(get.headers));
            const length = head.headers['content-length'];
            if (length !== undefined || !tile.endsWith('.png'))
                assert.equal(Number(length), get.body.length, 'Content-Length of HEAD');
            const hot = await daemon.head(tile);
            assert.deepEqual(lasting(hot.headers), lasting(get.headers), 'hot tile');
        }));

    it('answers HEAD for documents and pages', () => eachRow(
        ['/', '/worlds.json', '/default.json', '/default/relief.json', '/healthz', '/readyz',
            '/default/height?x=1&y=2'], async (path) => {
            const [get, head] = [await daemon.get(path), await daemon.head(path)];
            assert.deepEqual([head.status, get.status], [200, 200]);
            assert.equal(head.body.length, 0);
            assert.deepEqual(lasting(head.headers), lasting(get.headers));
        }));

    // The length of a PNG is unknown before it is rendered, and libmicrohttpd 0.9.75
    // can omit Content-Length in the response to HEAD only by closing the connection.
    // libmicrohttpd 0.9 cannot leave out the end of a body of unknown length, unless the connection ends.
    it('has no length in response to HEAD of a cold PNG, and may announce and close the connection', async () => {
        const closes = daemon.libmicrohttpd.startsWith('0.');
        const connection = await daemon.connect();
        const answer = await connection.send(`HEAD ${cold()} HTTP/1.1\r\nHost: a\r\n\r\n`).answer('HEAD');
        assert.equal(answer.status, 200);
        assert.equal(answer.headers.connection?.toLowerCase(), closes ? 'close' : undefined);
        assert.equal(answer.headers['content-length'], undefined);
        assert.equal(answer.headers['transfer-encoding'], undefined);
        if (closes)
            assert.ok(await connection.closed());
        else
            assertStatus(await connection.send(request('GET', '/healthz')).answer(), 200);
        assert.equal(connection.buffer.length, 0, 'bytes after the response');
        connection.close();
    });

    // Some parsers, such as wrk's, wait for a body if a 304 has the length of its 200. libmicrohttpd 0.9 sends 0.
    it('sends no Content-Length with a 304, or 0', () => eachRow(
        ['/default/height/11/300/7.f32', '/worlds.json', '/default/relief/11/300/7.png', '/', '/default/height?x=1&y=2',
            '/default/region.f32?x=0&y=0&width=600&height=600']
            .flatMap((path) => ['GET', 'HEAD'].flatMap((method) => ['HTTP/1.1', 'HTTP/1.0'].map((version) => [method, path, version]))),
        async ([method, path, version]) => {
            const { headers: { etag } } = await daemon.get(path);
            const head = `${method} ${path} ${version}\r\nHost: ${daemon.authority}\r\n`;
            const had = `${head}Connection: keep-alive\r\nIf-None-Match: ${etag}\r\n\r\n`;
            // Three pipelined ones, made afresh and prepared, between other responses.
            const { answers, rest } = await daemon.raw(had + had + `${head}Connection: keep-alive\r\n\r\n` + had +
                `${head}Connection: close\r\n\r\n`, { methods: [method, method, method, method, method] });
            assert.deepEqual(answers.map(({ status }) => status), [304, 304, 200, 304, 200]);
            for (const answer of answers.filter(({ status }) => status === 304)) {
                assert.equal(answer.headers['content-length'], daemon.libmicrohttpd.startsWith('0.') ? '0' : undefined);
                assert.equal(answer.headers['transfer-encoding'], undefined);
                assert.equal(answer.headers.etag, etag);
                assert.equal(answer.body.length, 0);
            }
            assert.equal(rest.length, 0);
        }));

    it('sends Content-Length: 0 with other responses that are empty', async () => {
        assert.equal((await daemon.request('OPTIONS', '/')).headers['content-length'], undefined); // 204
        await withDaemon(async (based) => {
            const { answers } = await based.raw(`GET /a HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(2), { methods: ['GET', 'GET'] });
            for (const answer of answers) {
                assert.equal(answer.status, 308);
                assert.equal(answer.headers['content-length'], '0');
            }
        }, { config: 'base_path: /a\n' });
    });

    it('keeps the connection usable after HEAD and 304', async () => {
        const tile = cold();
        const etag = (await daemon.get(tile)).headers.etag;
        const connection = await daemon.connect();
        try {
            const host = 'HTTP/1.1\r\nHost: a\r\n';
            connection.send(`HEAD ${tile} ${host}\r\n`);
            assert.equal((await connection.answer('HEAD')).status, 200);
            connection.send(`GET ${tile} ${host}If-None-Match: ${etag}\r\n\r\n`);
            assert.equal((await connection.answer()).status, 304);
            connection.send(`GET ${tile} ${host}\r\n`);
            const answer = await connection.answer();
            assert.equal(answer.status, 200);
            assert.deepEqual(answer.body, await daemon.bytes(tile));
            assert.equal(connection.buffer.length, 0, 'unexpected bytes on the connection');
        } finally {
            connection.close();
        }
    });
});

describe('dates', { timeout: TIMEOUT }, () => {
    const TARGETS = [...FORMS.map((form) => `/default/${form.replace('%', 3)}`), '/default/region.f32?x=0&y=0&width=2&height=2',
        '/default/region.png?x=0&y=0&width=20&height=20&layer=relief', '/default/volume.f32?x=0&y=0&z=0&width=2&height=2&depth=2',
        '/default/height?x=1&y=2', '/default/heights?at=1,2', '/worlds.json', '/default.json', '/default/relief.json', '/wmts.xml',
        '/', '/viewer/viewer.js'];
    const FUTURE = Date.UTC(2099);
    const httpDate = (ms) => new Date(ms).toUTCString();
    const since = (date) => ({ 'If-Modified-Since': date });
    const daemon = useDaemon();
    const modifiedOf = async (on, target) => Date.parse((await on.head(target)).headers['last-modified']);

    it('let clients without ETags revalidate, as curl -z and wget -N do', () => eachRow(TARGETS, async (target) => {
        const { headers } = await daemon.get(target);
        const modified = Date.parse(headers['last-modified']);
        assert.equal(headers['last-modified'], httpDate(modified));
        assert.ok(modified <= Date.parse(headers.date), `${headers['last-modified']} is after ${headers.date}`);
        for (const [date, status] of [[modified, 304], [modified + 1000, 304], [modified + 1e9, 304], [modified - 1000, 200], [0, 200]])
            for (const method of ['GET', 'HEAD', 'GET']) {
                const answer = await daemon.request(method, target, since(httpDate(date)));
                assertStatus(answer, status);
                assert.equal(answer.headers['last-modified'], headers['last-modified']);
                assert.equal(answer.headers.etag, headers.etag);
                assert.equal(answer.body.length, method === 'HEAD' || status === 304 ? 0 : Number(headers['content-length']));
            }
    }));

    it('count for nothing beside an ETag, or if they are malformed', () => eachRow(TARGETS, async (target) => {
        const { etag } = (await daemon.head(target)).headers;
        const later = httpDate(FUTURE);
        for (const [headers, status] of [
            [{ ...since(later), 'If-None-Match': '"other"' }, 200], [{ ...since(httpDate(0)), 'If-None-Match': etag }, 304],
            [since('yesterday'), 200], [since(''), 200], [since(String(FUTURE)), 200], [since(`${later}, ${later}`), 200],
            [since('*'), 200],
        ])
            assertStatus(await daemon.get(target, headers), status);
    }));

    it('are not on errors, probes and metrics', () => eachRow([
        '/nowhere', '/default/relief/0/0', '/healthz', '/readyz', '/metrics', '/default/height?x=a',
    ], async (target) => {
        const answer = await daemon.get(target, since(httpDate(FUTURE)));
        assert.notEqual(answer.status, 304);
        assert.equal(answer.headers['last-modified'], undefined);
    }));

    it('change with the configuration, and not with a reload of the same', () => {
        const file = scratchFile('farlands.yaml', withFractal('log: info\n'));
        const target = '/default/gray/11/3/7.png';
        return withDaemon(async (changing) => {
            const reloads = () => changing.stderr.match(/configuration reloaded/g)?.length ?? 0;
            const reload = async () => {
                const before = reloads();
                changing.kill('SIGHUP');
                assert.ok(await eventually(() => reloads() > before), changing.stderr);
            };
            const first = await modifiedOf(changing, target);
            await reload();
            assert.equal(await modifiedOf(changing, target), first);
            fs.writeFileSync(file, withFractal('log: info\nlimits: { wait: 2000 }\n'));
            await reload();
            assert.ok(await eventually(async () => await modifiedOf(changing, target) > first), 'the date has not changed');
            assertStatus(await changing.get(target, since(httpDate(first))), 200);
            assertStatus(await changing.get(target, since(httpDate(await modifiedOf(changing, target)))), 304);
        }, { args: ['--config', file] });
    });
});
