// HTTP conformance: accepted and rejected requests.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useDaemon } from './daemon.mjs';
import { assertError, assertStatus, eachRow } from './table.mjs';
import { CLOSE_LIMIT, request } from './wire.mjs';
import { TIMEOUT } from './program.mjs';

const TILE = '/default/relief/10/512/512.png';

describe('methods', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon();

    it('other than GET, HEAD and OPTIONS are rejected', () => eachRow(
        ['POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND', 'BREW', 'get'].flatMap((method) =>
            [TILE, '/worlds.json', '/'].map((path) => [method, path])),
        async ([method, path]) => {
            const { answers: [answer] } = await daemon.raw(request(method, path));
            assertError(answer, 405);
            assert.equal(answer.headers.allow, 'GET, HEAD, OPTIONS');
        }));

    it('include OPTIONS for CORS preflights', () => eachRow(
        [TILE, '/worlds.json', '/default.json', '/default/height', '/'], async (path) => {
            const { answers: [answer], rest } = await daemon.raw(request('OPTIONS', path, {
                Host: 'a',
                Origin: 'https://map.farlands.test',
                'Access-Control-Request-Method': 'GET',
                'Access-Control-Request-Headers': 'if-none-match',
            }), { methods: ['OPTIONS'] });
            assertStatus(answer, 204);
            assert.equal(answer.headers.allow, 'GET, HEAD, OPTIONS');
            assert.equal(answer.headers['access-control-allow-origin'], '*');
            const methods = answer.headers['access-control-allow-methods'];
            for (const method of ['GET', 'HEAD'])
                assert.match(methods, new RegExp(`\\b${method}\\b`));
            assert.match(answer.headers['access-control-allow-headers'], /\*|if-none-match/i);
            assert.ok(Number(answer.headers['access-control-max-age']) > 0);
            assert.equal(rest.length, 0, 'a 204 has no body');
        }));

    /* More in 33-refusals. */
    it('with a body are rejected and the connection is closed', () => eachRow([
        ['GET', 'Content-Length: 5\r\n\r\nhello', [400]],
        ['GET', 'Content-Length: 1\r\n\r\n', [400]],
        ['GET', 'Content-Length: 0\r\nContent-Length: 5\r\n\r\nhello', [400]],
        ['GET', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n', [400]],
        ['GET', 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n', [400]],
        ['HEAD', 'Content-Length: 5\r\n\r\nhello', [400]],
        ['POST', 'Content-Length: 5\r\n\r\nhello', [400, 405, 413]],
        ['PUT', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n', [400, 405, 413]],
    ], async ([method, rest, status]) => {
        const { answers: [answer], closed, rest: after } = await daemon.raw(
            `${method} ${TILE} HTTP/1.1\r\nHost: a\r\n${rest}`,
            { methods: [method], closeLimit: CLOSE_LIMIT });
        assertStatus(answer, status);
        assert.ok(closed, 'the connection stayed open');
        assert.equal(answer.headers['content-type'], 'application/json');
        assert.equal(after.length, 0, `bytes after the response: ${after.subarray(0, 100)}`);
    }));

    it('with Expect: 100-continue are rejected', () => eachRow([
        ['GET', ''], ['HEAD', ''], ['GET', request('GET', '/healthz')], ['GET', '\x01'],
    ], async ([method, follows]) => {
        const { answers, closed } = await daemon.raw(
            `${method} /healthz HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n${follows}`,
            { methods: [method], closeLimit: CLOSE_LIMIT });
        assert.deepEqual(answers.map(({ status }) => status), [417]);
        assert.ok(closed, 'the connection stayed open');
    }));

    it('with an empty body are accepted', async () => {
        const { answers } = await daemon.raw(
            `GET ${TILE} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n${request('GET', '/healthz')}`,
            { methods: ['GET', 'GET'] });
        assert.deepEqual(answers.map(({ status }) => status), [200, 200]);
    });
});

describe('requests', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon();

    it('must have one Host', () => eachRow([
        ['none', 'GET /healthz HTTP/1.1\r\n\r\n', 400],
        ['two', 'GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
        ['the same twice', 'GET /healthz HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n', 400],
        ['twice in different case', 'GET /healthz HTTP/1.1\r\nHost: a\r\nhOST: b\r\n\r\n', 400],
        ['one', 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n', 200],
        ['none, HTTP/1.0', 'GET /healthz HTTP/1.0\r\n\r\n', 200],
    ], async ([, bytes, status]) => {
        const { answers: [answer] } = await daemon.raw(bytes);
        assertStatus(answer, status);
    }));

    it('that a proxy could parse differently are rejected, or the last ones', () => eachRow([
        ['space before the colon', `Host: a\r\nX-A : b\r\n\r\n`, [400]],
        ['a folded header', `Host: a\r\nX-A: b\r\n Content-Length: 5\r\n\r\n`, [400]],
        ['a name with a forbidden character', `Host: a\r\nX@A: b\r\n\r\n`, [400]],
        ['a NUL in a value', `Host: a\r\nX-A: b\0cdef\r\n\r\n`, [400]],
        ['a header without a colon', `Host: a\r\nX-A\r\n\r\n`, [400]],
        ['bare line feeds', `Host: a\nX-A: b\r\n\r\n`, [400, 200]],
        ['only bare line feeds', `Host: a\n\n`, [400, 200]],
    ], async ([, headers, status]) => {
        const { answers: [answer], closed } = await daemon.raw(
            `GET /healthz HTTP/1.1\r\n${headers}`, { closeLimit: CLOSE_LIMIT });
        assertStatus(answer, status);
        assert.ok(closed, 'the connection stayed open');
    }));

    it('may have URIs of up to 8 KiB', async () => {
        const uri = (length) => `${TILE}?${'a'.repeat(length - TILE.length - 1)}`;
        await eachRow([[8000, 200], [8192, 200], [8193, 414], [9000, 414], [12000, 414]],
            async ([length, status]) => {
                const { answers: [answer] } = await daemon.raw(request('GET', uri(length)));
                if (status === 200)
                    assertStatus(answer, 200);
                else
                    assertError(answer, status, /URI|URL|8192|8 KiB|long/i);
            });
    });

    it('may have heads of up to 12 KiB, and cookies of up to 6', () => eachRow([
        ['X-Filler', 1000, 200], ['X-Filler', 8000, 200], ['X-Filler', 12200, 200],
        ['X-Filler', 12300, 431], ['X-Filler', 20000, 431],
        ['Cookie', 1000, 200], ['Cookie', 6000, 200], ['Cookie', 12300, 431], ['Cookie', 20000, 431],
    ], async ([name, size, status]) => {
        const { answers: [answer] } = await daemon.raw(
            request('GET', '/healthz', { Host: 'a', [name]: 'a'.repeat(size) }));
        assertStatus(answer, status);
    }));

    it('of excessive size do no harm', () => eachRow([
        ['a URI of 40 kB', () => request('GET', `/${'a'.repeat(40000)}`)],
        ['a header of 40 kB', () => request('GET', '/healthz', { Host: 'a', 'X-A': 'b'.repeat(40000) })],
        ['3000 headers', () => `GET /healthz HTTP/1.1\r\nHost: a\r\n${'X-A: b\r\n'.repeat(3000)}\r\n`],
    ], async ([, write]) => {
        const connection = await daemon.connect();
        try {
            connection.send(Buffer.from(write(), 'latin1'));
            assertStatus(await connection.answer(), [400, 414, 431]);
        } finally {
            connection.close();
        }
        assertStatus(await daemon.get('/healthz'), 200);
    }));
});

describe('connections', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon();

    async function session() {
        const etag = (await daemon.head(TILE)).headers.etag;
        await daemon.bytes('/default/gray/9/1/1.png');
        return [
            ['a cold tile', request('GET', TILE), 200, 'image/png'],
            ['a hot tile', request('GET', '/default/gray/9/1/1.png'), 200, 'image/png'],
            ['a 304', request('GET', TILE, { Host: 'a', 'If-None-Match': etag }), 304],
            ['a 404', request('GET', '/nowhere'), 404, 'application/json'],
            ['a 400', request('GET', '/default/relief/01/0/0.png'), 400, 'application/json'],
            ['HEAD', request('HEAD', '/default/gray/9/1/1.png'), 200, 'image/png'],
            ['a cold raw tile', request('GET', '/default/height/10/5/5.f32'), 200, 'application/octet-stream'],
            ['a document', request('GET', '/worlds.json'), 200, 'application/json'],
            ['OPTIONS', request('OPTIONS', TILE), 204],
            ['a height', request('GET', '/default/height?x=0&y=0'), 200, 'application/json'],
            ['the last request', request('GET', '/healthz'), 200, 'application/json'],
        ];
    }

    const methodOf = (bytes) => bytes.slice(0, bytes.indexOf(' '));

    function assertAnswer(answer, status, type) {
        assertStatus(answer, status);
        assert.notEqual(answer.headers.connection?.toLowerCase(), 'close');
        if (type)
            assert.equal(answer.headers['content-type'].split(';')[0], type);
    }

    it('stay open between requests', async () => {
        const rows = await session();
        const connection = await daemon.connect();
        try {
            await eachRow(rows, async ([, bytes, status, type]) => {
                connection.send(bytes);
                assertAnswer(await connection.answer(methodOf(bytes)), status, type);
                assert.equal(connection.buffer.length, 0, 'bytes after the response');
            });
            assert.ok(!connection.ended, 'closed after the last response');
        } finally {
            connection.close();
        }
    });

    it('answer pipelined requests in order', async () => {
        const rows = await session();
        const { answers, rest } = await daemon.raw(rows.map(([, bytes]) => bytes).join(''),
            { methods: rows.map(([, bytes]) => methodOf(bytes)) });
        await eachRow([...rows.entries()], ([i, [, , status, type]]) =>
            assertAnswer(answers[i], status, type));
        assert.equal(rest.length, 0);
    });

    it('answer a long pipeline of cold tiles in order', async () => {
        const tiles = Array.from({ length: 60 }, (_, i) => `/default/height/12/${(i * 7) % 60}/3.f32`);
        const { answers } = await daemon.raw(tiles.map((tile) => request('GET', tile)).join(''),
            { methods: tiles.map(() => 'GET') });
        await eachRow(tiles.map((tile, i) => [tile, i]), async ([tile, i]) => {
            assertStatus(answers[i], 200);
            assert.deepEqual(answers[i].body, await daemon.bytes(tile));
        });
    });

    it('accept requests in small pieces', async () => {
        const connection = await daemon.connect();
        try {
            for (const piece of request('GET', '/healthz').match(/[^]{1,9}/g)) {
                connection.send(piece);
                await daemon.bytes('/healthz');         // meanwhile the piece arrives
            }
            assertStatus(await connection.answer(), 200);
        } finally {
            connection.close();
        }
    });

    it('close on request', () => eachRow([
        ['HTTP/1.1 with Connection: close', `GET ${TILE} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`],
        ['HTTP/1.0', `GET ${TILE} HTTP/1.0\r\nHost: a\r\n\r\n`],
    ], async ([, bytes]) => {
        const { answers: [answer], closed } = await daemon.raw(bytes, { closeLimit: CLOSE_LIMIT });
        assertStatus(answer, 200);
        assert.deepEqual(answer.body, await daemon.bytes(TILE));
        assert.ok(closed);
    }));

    it('half-closed by the client get their responses', async () => {
        // libmicrohttpd serves its newest connection first, so each tested one has a newer one.
        const idle = await daemon.connect();
        idle.send(request('GET', '/healthz'));
        await idle.answer();
        await eachRow([...Array(20).keys()], async (i) => {
            const connection = await daemon.connect();
            const newer = await daemon.connect();
            newer.send(request('GET', '/healthz'));
            await newer.answer();
            connection.finish(request('GET', `/default/gray/13/${i}/3.png`));
            assertStatus(await connection.answer(), 200);
            connection.close();
            newer.close();
        });
        idle.close();
    });

    it('aborted by the client do not affect others', async () => {
        for (let i = 0; i < 30; i++) {
            const connection = await daemon.connect();
            connection.send(request('GET', `/default/relief/13/${i}/9@2x.png`));
            connection.close();
        }
        assertStatus(await daemon.get('/default/relief/13/100/9.png'), 200);
    });
});
