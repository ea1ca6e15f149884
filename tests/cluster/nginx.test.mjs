// Many nodes behind nginx with the unchanged configuration in docker/nginx: each metatile has one node, no
// request fails when a node dies, drains or is added, and clients cannot forge headers or smuggle requests.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, describe, it } from 'node:test';
import { eventually, patience } from '../http/program.mjs';
import { assertError, assertStatus, eachRow, lasting } from '../http/table.mjs';
import { load, underLoad } from '../load/client.mjs';
import { NODE_YAML, Nodes, PATIENT_YAML, assertNoneFail, assertShare, moved } from './cluster.mjs';
import { EDGES } from './edges.mjs';
import { Nginx } from './nginx.mjs';

const SLOW = '\nworlds:\n  - name: slow\n    noise: { basis: cellular, octaves: 40, ' +
    'lacunarity: 1.1, warp: { amplitude: 1000, wavelength: 4096 } }\n';

const balancer = (nodes, values = {}) => new Nginx('balancer.conf.template', {
    ...Object.fromEntries(nodes.authorities.map((authority, i) => [`FARLANDS_NODE_${i + 1}`, authority])), ...values,
});

/* Cells are 10 x 10 tiles; the sign splits -9 to 9 into two. */
const cell = (i) => (i < 0 ? '-' : '') + Math.floor(Math.abs(i) / 10);

/* Tiles all over the plane, a few in each of many metatiles: { target, metatile }. */
function tiles() {
    const list = [];
    for (const world of ['default', 'default:42'])
        for (const [layer, endings] of [['relief', ['.png', '@2x.png']], ['height', ['.r16', '.f32', '.png']]])
            for (const [z, x, y] of [[-3, 0, 0], [4, 0, 0], [9, 510, -100], [12, -31230, 70], [16, 70000, -70000]])
                for (const [dx, dy] of [[-11, 4], [-10, -10], [-9, -1], [-1, -9], [0, 0], [9, 9], [3, -7], [10, 0], [15, 19]])
                    for (const ending of endings)
                        list.push({
                            target: `/${world}/${layer}/${z}/${x + dx}/${y + dy}${ending}`,
                            metatile: [world, layer, z, cell(x + dx), cell(y + dy)].join(' '),
                        });
    return list;
}

/* For each of TARGETS the nodes that served it, in order, from PROXY's log after line SINCE. */
async function nodesByLog(proxy, targets, since = 0) {
    const nodesOf = new Map(targets.map((target) => [target, new Set()]));
    let read = 0;
    assert.ok(await eventually(() => {
        const lines = proxy.lines().slice(since);
        for (const { uri, node } of lines.slice(read))
            nodesOf.get(uri)?.add(node.split(', ').at(-1));
        read = lines.length;
        return [...nodesOf.values()].every(({ size }) => size > 0);
    }), 'not every request is logged');
    return nodesOf;
}

/* The node that serves each of TARGETS. */
async function owners(proxy, targets) {
    const since = proxy.lines().length, left = [...targets];
    await Promise.all(Array.from({ length: 8 }, async () => {
        for (let target; (target = left.pop());)
            assertStatus(await proxy.get(target), 200);
    }));
    return new Map([...await nodesByLog(proxy, targets, since)].map(([target, nodes]) => [target, [...nodes].at(-1)]));
}

describe('three nodes behind nginx', { timeout: patience(120000) }, () => {
    /* The fourth is added in a later test. */
    const nodes = new Nodes(4, { config: `${PATIENT_YAML}\naccess_log: access\n` });
    let proxy;
    before(async () => {
        await nodes.start();
        nodes.all[3].kill();
        await nodes.all[3].ended();
        proxy = await balancer(nodes).start();
    });
    after(async () => {
        await proxy?.stop();
        await nodes.stop();
    });

    /* The entries of the nodes' access logs: { client, method, uri, status }. */
    const logged = () => nodes.all.flatMap(({ home }) => {
        const file = path.join(home, 'access');
        return fs.existsSync(file)
            ? fs.readFileSync(file, 'utf8').split('\n').slice(0, -1).map((line) => JSON.parse(line)) : [];
    });

    it('render each tile once, and each metatile on one node', async (t) => {
        const all = tiles();
        const left = [...all, ...all, ...all].map(({ target }) => target).sort();
        await Promise.all(Array.from({ length: 16 }, async (_, i) => {
            for (let target; (target = left[i % 2 ? 'pop' : 'shift']());)
                assertStatus(await proxy.get(target), 200);
        }));
        assert.equal(await nodes.sum('farlands_tiles_rendered_total'), all.length);
        const byTarget = await nodesByLog(proxy, all.map(({ target }) => target)), byMetatile = new Map();
        for (const { target, metatile } of all)
            for (const node of byTarget.get(target))
                byMetatile.set(metatile, (byMetatile.get(metatile) ?? new Set()).add(node));
        for (const [metatile, names] of byMetatile)
            assert.equal(names.size, 1, `${metatile} is on ${[...names]}`);
        assert.ok(byMetatile.size < all.length / 3, `${byMetatile.size} metatiles of ${all.length} tiles`);
        const shares = (await nodes.metric('farlands_tiles_rendered_total')).map((count) => count / all.length);
        t.diagnostic(`${all.length} tiles of ${byMetatile.size} metatiles: ` +
            shares.map((share) => `${(100 * share).toFixed(1)} %`).join(', '));
        for (const share of shares)
            assert.ok(share > 0.15 && share < 0.55, `shares are ${shares}`);
    });

    it('get all variants of a tile on one node, and equal queries on one', async () => {
        const fingerprint = await proxy.fingerprintOf('/default/relief');
        const since = proxy.lines().length;
        const same = [[1, 2], [19, 0], [-12, 3], [-3, -4]].map(([x, y]) => [`/default/relief/9/${x}/${y}.png`,
            `/default/relief/9/${x}/${y}@2x.png`, `/default/relief/9/${x}/${y}.png?v=${fingerprint}`,
            `/default/relief/9/${x}/${y}.png?x=1/2/3.png`]);
        const query = '/default/region.f32?x=0&y=0&width=17&height=17';
        const targets = [...same.flat(), query, query, query];
        for (const target of targets)
            assertStatus(await proxy.get(target), 200);
        const nodesOf = await nodesByLog(proxy, targets, since);
        for (const targets of same)
            assert.equal(new Set(targets.flatMap((target) => [...nodesOf.get(target)])).size, 1, targets[0]);
        assert.equal(nodesOf.get(query).size, 1);
    });

    /* One tile in each of many metatiles, so that each node has a share. */
    const hot = Array.from({ length: 900 }, (_, i) =>
        `/default/relief/${10 + i % 3}/${3000 + 10 * (i % 30)}/${-300 - 10 * Math.floor(i / 30)}.png`);
    /* Of eight requests six are for these, one is for a new tile, and one for a large body. */
    const targets = hot.flatMap((target, i) => (i % 6 ? [target]
        : [target, '/default/relief/13/{0..1000000}/3.png', `/default/height/12/${10 * (i / 6 % 20)}/0.f32`]));

    /* Wait for more responses to CLIENTS. */
    async function more(clients) {
        const { answers } = clients.state;
        assert.ok(await eventually(() => clients.state.answers > answers + 500), 'few responses');
    }

    /* Run WORK under the load of 30 clients, and assert that no request fails. */
    async function undisturbed(work, killed) {
        const CLIENTS = 30;
        const since = proxy.lines().length;
        const { answers, failures } = await underLoad(load(proxy, targets, CLIENTS), async (clients) => {
            await more(clients);
            await work(clients);
            await more(clients);
            return clients.stop();
        });
        assertNoneFail({ answers, failures }, CLIENTS, killed);
        const again = proxy.lines().slice(since).filter(({ node }) => node.includes(',')).length;
        return `${answers} requests, ${again} of them retried on another node`;
    }

    for (const [event, signal, index] of [['dies', 'SIGKILL', 1], ['drains', 'SIGTERM', 2]])
        it(`lose no request when one ${event} and restarts`, async (t) => {
            const name = nodes.all[index].authority;
            const all = await owners(proxy, hot);
            t.diagnostic(await undisturbed(async (clients) => {
                nodes.all[index].kill(signal);
                await nodes.all[index].ended();
                await more(clients);
            }, signal === 'SIGKILL'));
            t.diagnostic(`a node ${event}: ${assertShare(await owners(proxy, hot), all, name, 3)}`);
            t.diagnostic(await undisturbed(() => nodes.restart(index)));
            const back = async () => moved(all, await owners(proxy, hot)) === 0;
            assert.ok(await eventually(back), 'the owners differ from before');
        });

    it('lose no request when a fourth is added, which takes its share', async (t) => {
        const three = await owners(proxy, hot);
        t.diagnostic(await undisturbed(async () => {
            await nodes.restart(3);
            proxy.rewrite((text) => text.replace(/( *server )(\S+)( max_fails.*\n)/,
                (line, start, _, rest) => `${line}${start}${nodes.all[3].authority}${rest}`));
            proxy.child.kill('SIGHUP');
            const taken = () => proxy.lines().some(({ node }) => node === nodes.all[3].authority);
            assert.ok(await eventually(taken), 'the fourth gets no requests');
        }));
        t.diagnostic(assertShare(three, await owners(proxy, hot), nodes.all[3].authority, 4));
    });

    it('respond through nginx as they do directly', async () => {
        const node = nodes.all[0];
        const tile = '/default/height/6/31/32.f32';
        const { etag } = (await node.head(tile)).headers;
        await eachRow([
            ['GET', tile], ['HEAD', tile], ['GET', tile, { 'If-None-Match': etag }], ['GET', tile, { 'If-Match': '"x"' }],
            ['GET', tile, { Range: 'bytes=5-99' }], ['GET', tile, { Range: 'bytes=999999999-' }],
            ['OPTIONS', tile, { Origin: 'https://a.test', 'Access-Control-Request-Method': 'GET' }],
            ['GET', '/default/region.f32?x=0&y=0&width=1500&height=1500'],
            ['GET', '/default/region.f32?x=0&y=0&width=1500&height=1500', { Range: 'bytes=8000000-8000099' }],
            ['HEAD', '/default/region.f32?x=0&y=0&width=1500&height=1500'],
            ['GET', '/'], ['GET', '/', { 'Accept-Encoding': 'gzip' }], ['GET', '/worlds.json'], ['GET', '/default.json'],
            ['GET', '/default/heights?at=1,2;3,4'], ['GET', '/default/spawn?x=0&y=0&min=1'],
            ['GET', '/default/relief/01/2/3.png'], ['GET', '/default/relief/1/%32/3.png'], ['GET', '/default//relief/1/2/3.png'],
            ['GET', '/default/relief/1/2/../3.png'], ['GET', '/nowhere.json'], ['GET', '/default/relief/99/0/0.png'],
        ], async ([method, target, headers]) => {
            const same = { Host: 'farlands.test', ...headers };      // the page has absolute URLs
            const direct = await node.request(method, target, same);
            const answer = await proxy.request(method, target, same);
            assertStatus(answer, direct.status);
            assert.equal(createHash('sha1').update(answer.body).digest('hex'),
                createHash('sha1').update(direct.body).digest('hex'));
            /* Last-Modified is when the node that answers has started. */
            for (const [name, value] of Object.entries(lasting(direct.headers)).filter(([header]) => header !== 'last-modified'))
                assert.equal(answer.headers[name], value, name);
        });
        assertError(await proxy.get(`/default/heights?at=${'1,2;'.repeat(4000)}1,2`), 414);
        assertError(await proxy.get(tile, { 'X-Long': 'x'.repeat(9000) }), 400);
        assertError(await proxy.get(tile, { 'X-Long': 'x'.repeat(7000), 'X-More': 'x'.repeat(7000) }), 431);
        assertError(await proxy.get('/metrics'), 404);
    });

    it('get the client\'s address from nginx, not from forged headers', async () => {
        const forged = { 'X-Forwarded-For': '1.2.3.4', 'X-Forwarded-Host': 'evil.test', 'X-Forwarded-Proto': 'https',
            'X-Forwarded-Prefix': '/evil', Forwarded: 'for=1.2.3.4', Cookie: 'x'.repeat(7000), Authorization: 'Basic eDp5' };
        const answer = await proxy.get('/default/relief.json', { Host: 'map.test:81', ...forged });
        assertStatus(answer, 200);
        assert.match(JSON.parse(answer.body).tiles[0], /^http:\/\/map\.test:81\/default/);
        const line = () => logged().find(({ uri }) => uri === '/default/relief.json');
        assert.ok(await eventually(line));
        assert.equal(line().client, '127.0.0.1');
    });

    it('receive no smuggled request', async () => {
        const hidden = 'GET /default/relief/7/77/77.png HTTP/1.1\r\nHost: a\r\n\r\n';
        const line = 'GET /default/gray/3/1/1.png HTTP/1.1\r\n';
        const { length } = hidden;
        await eachRow([
            ['a body', 413, `${line}Host: a\r\nContent-Length: ${length}\r\n\r\n${hidden}`],
            ['both lengths', 400, `${line}Host: a\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
            ['chunks', 413, `${line}Host: a\r\nTransfer-Encoding: chunked\r\n\r\n${length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`],
            ['another coding', 501, `${line}Host: a\r\nTransfer-Encoding: xchunked\r\n\r\n`],
            ['two lengths', 400, `${line}Host: a\r\nContent-Length: 0\r\nContent-Length: ${length}\r\n\r\n${hidden}`],
            ['a space', 400, `${line}Host: a\r\nContent-Length : ${length}\r\n\r\n${hidden}`],
            ['two hosts', 400, `${line}Host: a\r\nHost: b\r\n\r\n`],
            ['a fold', 400, `${line}Host: a\r\nX-A: b\r\n Content-Length: ${length}\r\n\r\n${hidden}`],
            ['a NUL', 400, `${line}Host: a\r\nX-A: b\0c\r\n\r\n${hidden}`],
            ['a method', 405, `POST /default/gray/3/1/1.png HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc`],
            ['TRACE', 405, 'TRACE / HTTP/1.1\r\nHost: a\r\n\r\n'],
            ['garbage', 400, 'GARBAGE\r\n\r\n'],
        ], async ([, status, bytes]) => {
            const { answers: [answer] } = await proxy.raw(bytes);
            assertStatus(answer, status);
            assertStatus(await proxy.get('/default/gray/3/1/1.png'), 200);
        });
        await sleep(100);
        for (const { method, uri } of logged()) {
            assert.ok(['GET', 'HEAD', 'OPTIONS'].includes(method), method);
            assert.ok(!uri.startsWith('/default/relief/7/77/77'), 'a smuggled request was served');
        }
    });

    it('get X-Forwarded-* from a trusted edge', async () => {
        const inner = await balancer(nodes, { FARLANDS_TRUSTED: '127.0.0.1/32' }).start();
        const edge = EDGES.nginx.make(inner);
        try {
            edge.values.FARLANDS_TRUSTED = '127.0.0.1/32';
            await edge.start();
            const answer = await edge.get('/default/gray.json', { Host: 'edge', 'X-Forwarded-Host': 'map.test',
                'X-Forwarded-Proto': 'https', 'X-Forwarded-For': '6.6.6.6, 9.8.7.6' });
            assert.match(JSON.parse(answer.body).tiles[0], /^https:\/\/map\.test\/default/);
            assert.ok(await eventually(() => logged().some(({ uri }) => uri === '/default/gray.json')));
            assert.equal(logged().findLast(({ uri }) => uri === '/default/gray.json').client, '9.8.7.6');
            for (const expected of ['fwd=uri-miss', 'hit'])
                assert.ok((await edge.get('/default/gray/9/1/1.png')).headers['cache-status'].includes(expected));
        } finally {
            await edge.stop();
            await inner.stop();
        }
    });
});

describe('nodes that shed load', { timeout: patience(60000) }, () => {
    it('are not retried on other nodes', async () => {
        const nodes = await new Nodes(3, { config: `${NODE_YAML}\n${SLOW}`
            .replace(/^limits:/m, 'threads: 1\nlimits:\n  queue: 1') }).start();
        const proxy = balancer(nodes);
        try {
            await proxy.start();
            const before = await nodes.sum('farlands_requests_total');
            const { asked, failures } = await underLoad(
                load(proxy, ['/slow/gray/9/{0..1000000}/900@2x.png'], 30, { statuses: [200, 503], pause: 20 }),
                async (clients) => {
                    assert.ok(await eventually(() => clients.state.answers > 300), 'few responses');
                    return clients.stop();
                });
            assert.deepEqual(failures, []);
            const retried = proxy.lines().filter(({ node }) => node.includes(','));
            assert.deepEqual(retried, [], 'retried on another node');
            const received = await nodes.sum('farlands_requests_total') - before;
            assert.ok(await nodes.sum('farlands_shed_total') > 10, 'nothing was shed');
            assert.ok(received <= 1.05 * asked + 10, `the nodes received ${received} requests for ${asked}`);
        } finally {
            await proxy.stop();
            await nodes.stop();
        }
    });

    it('or are all down lead to the daemon\'s error message', async () => {
        const nodes = await new Nodes(3).start();
        const proxy = balancer(nodes);
        try {
            await proxy.start();
            await nodes.stop();
            const answer = await proxy.get('/default/gray/3/1/1.png');
            assertError(answer, 503, /retry later/);
            assert.equal(answer.headers['retry-after'], '1');
        } finally {
            await proxy.stop();
            await nodes.stop();
        }
    });
});
