// Requests through HAProxy: which ones it forwards, which ones it rejects, and how it handles overload.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import https from 'node:https';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { eventually, patience, scratch } from '../http/program.mjs';
import { assertError, assertStatus, eachRow, lasting } from '../http/table.mjs';
import { request } from '../http/wire.mjs';
import { Haproxy, NODE_YAML, Nodes, SBIN } from './cluster.mjs';
import { DOCKER } from './manifests.mjs';

const TILE = '/default/relief/10/512/512.png';
const RAW = '/default/height/10/512/512.r16';
const REGION = '/default/region.f32?x=-700&y=900&width=1025&height=1025';
const HOST = 'tiles.farlands.test';

/* COUNT nodes behind HAProxy for the tests of a describe(): { nodes, proxy, config(), ... }. */
function useCluster(count, { config = NODE_YAML, env } = {}) {
    const cluster = { nodes: new Nodes(count, { config: `${config}\naccess_log: "-"\n` }) };
    before(async () => {
        await cluster.nodes.start();
        cluster.proxy = await new Haproxy(cluster.nodes.authorities, { env }).start();
        await cluster.proxy.awaitUp(count);
    });
    after(async () => {
        await cluster.proxy?.stop();
        await cluster.nodes.stop();
    });
    /* The access log entries of all nodes, except those of probes. */
    cluster.asked = () => cluster.nodes.all.flatMap((node) => node.stdout.split('\n')
        .filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
        .filter(({ uri }) => uri !== '/readyz'));
    /* The log entry for URI, once it is written. */
    cluster.entryOf = async (uri) => {
        const find = () => cluster.asked().find((entry) => entry.uri === uri);
        assert.ok(await eventually(find), `no node logged ${uri}`);
        return find();
    };
    return cluster;
}

describe('requests through HAProxy', { timeout: patience(60000) }, () => {
    const cluster = useCluster(2);

    it('get the same responses as from a node', async () => {
        const etag = (await cluster.proxy.get(TILE)).headers.etag;
        const fingerprint = await cluster.proxy.fingerprintOf(TILE);
        await eachRow([
            ['GET', TILE, {}, 200],
            ['GET', `${TILE}?v=${fingerprint}`, {}, 200],
            ['GET', TILE, { 'If-None-Match': etag }, 304],
            ['GET', '/default/relief/30/1/2.png', {}, 404],
            ['GET', '/default/relief/6/01/2.png', {}, 400],
            ['GET', '/%64efault/relief/6/%31/2%2Epng', {}, 200],
            ['GET', '/default/relief/6%2F1/2.png', {}, 400],
            ['GET', '/default/../default.json', {}, 400],
            ['GET', '/nowhere.json', {}, 404],
            ['GET', `${TILE}?${'a'.repeat(9000)}`, {}, 414],
            ['GET', TILE, { 'X-Filler': 'a'.repeat(12300) }, 431],
            ['GET', RAW, {}, 200],
            ['GET', RAW, { Range: 'bytes=1000-1999' }, 206],
            ['GET', RAW, { Range: 'bytes=9999999-' }, 416],
            ['GET', REGION, {}, 200],
            ['GET', REGION, { Range: 'bytes=3000000-3999999' }, 206],
            ['HEAD', REGION, {}, 200],
            ['HEAD', TILE, {}, 200],
            ['HEAD', '/default/relief/10/0/0.png', {}, 200],
            ['OPTIONS', TILE, { Origin: 'https://a.test', 'Access-Control-Request-Method': 'GET' }, 204],
            ['GET', '/default/volume.f32?x=0&y=0&z=0&width=4097&height=4097&depth=2', {}, 413],
            ['GET', '/default/height?x=1.5&y=-2', {}, 200],
            ['GET', '/worlds.json', {}, 200],
            ['GET', '/default/relief.json', {}, 200],
            ['GET', '/', { 'Accept-Encoding': 'gzip' }, 200],
            ['GET', '/viewer/farlands.wasm', { 'Accept-Encoding': 'gzip' }, 200],
        ], async ([method, target, headers, status]) => {
            const send = (server) => server.request(method, target, { Host: HOST, ...headers });
            const [through, directly] = [await send(cluster.proxy), await send(cluster.nodes.all[0])];
            assertStatus(through, status);
            assert.equal(directly.status, status);
            assert.match(through.headers['farlands-node'], /^node[12]$/);
            delete through.headers['farlands-node'];
            assert.deepEqual(lasting(through.headers), lasting(directly.headers));
            assert.ok(through.body.equals(directly.body), 'the bodies differ');
        });
    });

    it('with other methods are rejected', () => eachRow(['POST', 'DELETE', 'TRACE', 'BREW'], async (method) => {
        const { answers: [answer] } = await cluster.proxy.raw(request(method, '/worlds.json?refused'));
        assertError(answer, 405, /GET, HEAD or OPTIONS/);
        assert.equal(answer.headers.allow, 'GET, HEAD, OPTIONS');
        assert.ok(!cluster.asked().some(({ uri }) => uri.endsWith('refused')));
    }));

    /* In each, a second request hides in bytes that some parsers take for a body or header of the first. */
    it('with ambiguous framing never smuggle a second request', () => eachRow([
        ['a length', 'Content-Length: HIDDEN', [400]],
        ['a length and chunks', 'Content-Length: HIDDEN\r\nTransfer-Encoding: chunked', [400]],
        ['chunks and a length', 'Transfer-Encoding: chunked\r\nContent-Length: HIDDEN', [400]],
        ['two lengths', 'Content-Length: 0\r\nContent-Length: HIDDEN', [400]],
        ['two in one', 'Content-Length: 0, HIDDEN', [400]],
        ['a sign', 'Content-Length: +HIDDEN', [400]],
        ['an unknown coding', 'Transfer-Encoding: xchunked', [400, 422]],
        ['chunks, twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', [400, 422]],
        ['a space before the colon', 'Content-Length : HIDDEN', [400]],
        ['a folded header', 'X-A: b\r\n Content-Length: HIDDEN', [400, 404]],
        ['a NUL', 'X-A: b\0\r\nContent-Length: HIDDEN', [400]],
        ['a second host', 'Host: elsewhere.test\r\nContent-Length: HIDDEN', [400]],
        ['an expectation', 'Expect: 100-continue\r\nContent-Length: HIDDEN', [400, 417]],
    ], async ([what, headers, status]) => {
        const name = what.replace(/\W/g, '');
        const hidden = `0\r\n\r\n${request('GET', `/${name}-hidden.json`)}`;
        const { answers: [answer], rest } = await cluster.proxy.raw(Buffer.from(
            `GET /${name}.json HTTP/1.1\r\nHost: a\r\n` +
            `${headers.replace('HIDDEN', hidden.length)}\r\n\r\n${hidden}`, 'latin1'),
        { closeLimit: 200 });
        assertStatus(answer, status);
        assert.doesNotMatch(rest.toString(), / (200|404) /, 'there is a second response');
        assert.ok(!cluster.asked().some(({ uri }) => uri.includes('-hidden')), 'a node got the hidden request');
    }));

    it('that end in bare line feeds are one request, too', async () => {
        const { answers: [answer], rest } = await cluster.proxy.raw(
            'GET /barefeeds.json HTTP/1.1\nHost: a\n\n', { closeLimit: 100 });
        assertStatus(answer, [400, 404]);
        assert.equal(rest.length, 0);
    });

    it('for the metrics of one node are rejected', async () => {
        await eachRow(['/metrics', '/metrics?a', '/terrain/metrics', '/metric%73', '/%6Detrics?a'], async (path) =>
            assertError(await cluster.proxy.get(path), 404));
        await eachRow(['/healthz', '/readyz'], async (path) =>
            assertStatus(await cluster.proxy.get(path), 200));
    });

    it('cannot forge the client\'s address or URL', async () => {
        const forged = { Host: HOST, 'X-Forwarded-For': '6.6.6.6', 'X-Forwarded-Host': 'evil.test',
            'X-Forwarded-Proto': 'https', 'X-Forwarded-Prefix': '/evil' };
        const tilejson = JSON.parse((await cluster.proxy.get('/default/gray.json?forged', forged)).body);
        assert.ok(tilejson.tiles[0].startsWith(`http://${HOST}/default/gray/`), tilejson.tiles[0]);
        assert.equal((await cluster.entryOf('/default/gray.json?forged')).client, '127.0.0.1');
    });
});

describe('cache hits through HAProxy', { timeout: patience(60000) }, () => {
    const cluster = useCluster(1);
    const COUNT = 300;

    /* make bench-http measures what the proxy adds. */
    it('use few connections to the node', async () => {
        const [node] = cluster.nodes.all;
        const opened = () => node.metric('farlands_connections_total');
        await cluster.proxy.bytes(TILE);
        const before = await opened(), connection = await cluster.proxy.connect();
        for (let i = 0; i < COUNT; i++)
            assertStatus(await connection.send(request('GET', TILE)).answer(), 200);
        connection.close();
        // Health checks have one each.
        const more = await opened() - before;
        assert.ok(more < COUNT / 2, `${more} connections for ${COUNT} requests`);
    });
});

describe('HAProxy with TLS', { timeout: patience(60000) }, () => {
    /* A certificate of its own, and its key, in one file. */
    function certificate() {
        const [file, key] = ['certificate', 'key'].map((name) => path.join(scratch(), name));
        execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes',
            '-days', '2', '-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`, '-keyout', key, '-out', file], { stdio: 'ignore' });
        fs.appendFileSync(file, fs.readFileSync(key));
        return file;
    }

    const get = (proxy, url, ca) => new Promise((resolve, reject) => {
        https.get({ host: proxy.host, port: proxy.port, path: url, ca, servername: HOST, headers: { Host: HOST } }, async (answer) => {
            const parts = [];
            for await (const part of answer)
                parts.push(part);
            resolve({ status: answer.statusCode, body: Buffer.concat(parts) });
        }).on('error', reject);
    });

    it('serves https alone, and nodes know the scheme', async () => {
        const file = certificate();
        const nodes = await new Nodes(1).start();
        const proxy = await new Haproxy(nodes.authorities, { bind: `ssl crt ${file} alpn h2,http/1.1` }).start();
        try {
            await proxy.awaitUp(1);
            const { status, body } = await get(proxy, '/default/gray.json', fs.readFileSync(file));
            assert.equal(status, 200);
            assert.ok(JSON.parse(body).tiles[0].startsWith(`https://${HOST}/default/gray/`), `${body}`);
            await assert.rejects(proxy.get('/healthz'), 'plain HTTP was answered');
        } finally {
            await proxy.stop();
            await nodes.stop();
        }
    });

    it('refuses options that it does not know', () => eachRow([
        'FARLANDS_BIND', 'FARLANDS_STATS', 'FARLANDS_NODE_1', 'FARLANDS_NODE_8',
    ], (name) => {
        const check = (options) => spawnSync('haproxy', ['-c', '-f', 'haproxy.cfg', '-f', 'nodes.cfg'], {
            cwd: path.join(DOCKER, 'haproxy'), encoding: 'utf8',
            env: { ...SBIN, FARLANDS_NODE_1: '127.0.0.1:8080', [name]: `127.0.0.1:8080 ${options}` },
        });
        assert.equal(check('').status, 0);
        const { status, stderr } = check('banana');
        assert.equal(status, 1, stderr);
        assert.match(stderr, /unknown keyword 'banana'/);
    }));
});

describe('requests through an edge and HAProxy', { timeout: patience(60000) }, () => {
    const cluster = useCluster(1, { env: { FARLANDS_EDGES: '127.0.0.1 192.0.2.0/24' } });

    it('have the client that the edge names', async () => {
        const { body } = await cluster.proxy.get('/default/gray.json?edge', { Host: 'inside.test',
            'X-Forwarded-For': '198.51.100.7', 'X-Forwarded-Host': HOST, 'X-Forwarded-Proto': 'https' });
        const { tiles: [tile] } = JSON.parse(body);
        assert.ok(tile.startsWith(`https://${HOST}/default/gray/`), tile);
        assert.equal((await cluster.entryOf('/default/gray.json?edge')).client, '198.51.100.7');
    });

    it('get 503 while there is no node', async () => {
        cluster.nodes.all[0].kill();
        await cluster.nodes.all[0].ended();
        const answer = await cluster.proxy.get(TILE);
        assertError(answer, 503);
        assert.ok(Number(answer.headers['retry-after']) > 0);
        await cluster.proxy.awaitUp(0);
        assertStatus(await cluster.proxy.get('/readyz'), 503);
        assertStatus(await cluster.proxy.get('/healthz'), 200);
    });
});

/* Request all TARGETS at once; returns the responses. */
async function flood(proxy, targets) {
    const answers = await Promise.all(targets.map((target) => proxy.get(target, {}, { agent: false })));
    for (const { status, headers } of answers)
        assert.ok(status === 200 || (status === 503 && headers['retry-after']), `status ${status}`);
    return answers;
}

describe('load beyond the capacity of a node', { timeout: patience(60000) }, () => {
    const cluster = useCluster(3, {
        config: `threads: 1\n${NODE_YAML.replace('\nlimits:\n', '\nlimits:\n  queue: 8\n')}`,
    });

    it('is shed with 503, and not retried on another node', async (t) => {
        const targets = Array.from({ length: 150 }, (_, i) => `/default/relief/12/${64 * i}/0@2x.png`);
        const answers = await flood(cluster.proxy, targets);
        const shed = answers.filter(({ status }) => status === 503);
        t.diagnostic(`${shed.length} of ${answers.length} shed`);
        assert.ok(shed.length > 10, 'too few requests were shed');
        for (const answer of shed)
            assertError(answer, 503);
        const asked = () => cluster.asked().filter(({ uri }) => targets.includes(uri)).length;
        await eventually(() => asked() >= answers.length);
        assert.equal(asked(), answers.length);
        assert.deepEqual(await cluster.proxy.up(), ['node1', 'node2', 'node3']);
    });
});

describe('a hot spot', { timeout: patience(60000) }, () => {
    const cluster = useCluster(3);
    /* All tiles belong to one node, and are more than 64 requests per node. */
    const place = ['.png', '.r16', '.f32', '@2x.png', '@2x.r16', '@2x.f32'].flatMap((ending) =>
        Array.from({ length: 64 }, (_, i) => `/default/height/14/${i % 8}/${Math.floor(i / 8)}${ending}`));

    /*
     * Request all TARGETS at once, while the nodes stand still, so that all are in progress together. Returns the number
     * of responses per node, largest first. A node is marked down after two failed checks, of 2 s each: if the requests do
     * not arrive earlier, they are sent once more.
     */
    async function shares(targets) {
        for (;;) {
            for (const node of cluster.nodes.all)
                node.kill('SIGSTOP');
            const answers = flood(cluster.proxy, targets);
            const arrived = await eventually(async () => await cluster.proxy.current() >= targets.length, 3000);
            const up = await cluster.proxy.up();
            for (const node of cluster.nodes.all)
                node.kill('SIGCONT');
            const counts = new Map();
            for (const { headers: { 'farlands-node': node } } of await answers)
                counts.set(node, (counts.get(node) ?? 0) + 1);
            if (arrived && up.length === 3)
                return [...counts.values()].sort((a, b) => b - a);
            await cluster.proxy.awaitUp(3);
        }
    }

    it('is shared among the nodes; a small load is not', async (t) => {
        assert.deepEqual(await shares(place.slice(0, 190)), [190]);
        const [most, ...others] = await shares(place);
        t.diagnostic(`of ${place.length} at once: ${most}, ${others.join(', ')}`);
        assert.ok(place.length - most > 80, `${most} come from one node`);
    });
});
