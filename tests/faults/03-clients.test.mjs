// Faults 21 to 30: clients that are slow, many, broken or hostile. Other clients notice nothing.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { assertPeace, useDaemon } from '../http/daemon.mjs';
import { pngChunks } from '../http/png.mjs';
import { eventually, patience, scratchFile, withFractal } from '../http/program.mjs';
import { assertError, assertStatus, eachRow } from '../http/table.mjs';
import { load, underLoad } from '../load/client.mjs';
import { connect, request } from '../http/wire.mjs';
import { NO_SHEDDING, draining, frozen, logLines, memoryOf, serving, settled } from './faults.mjs';

const tile = (i, column = 900) => `/default/gray/11/${column}/${i}.png`;
const numbers = (count) => Array.from({ length: count }, (_, i) => i);
const alone = () => new http.Agent({ keepAlive: false, maxSockets: Infinity });

/* The number of connections that stay open; each has LIMIT ms, since the end arrives when the system likes. */
const leftOpen = async (connections, limit = 10000) =>
    (await Promise.all(connections.map((connection) => connection.closed(limit)))).filter((closed) => !closed).length;

const allOpen = (connections) => connections.every((connection) => !connection.ended);

describe('slow clients', { timeout: patience(300000), concurrency: 4 }, () => {
    /* SECONDS pass, and before each of them EACH is called. */
    async function everySecond(faults, seconds, each) {
        for (let second = 0; second < seconds; second++) {
            await each(second);
            await faults.settled();
            await faults.pass(1, 0.5);
        }
    }

    it('fault 21: connections with slow headers are closed after 10 s, and no others', () => frozen(async (daemon, faults) => {
        const starts = ['', 'G', 'GET /healthz HTTP/1.1\r\n', 'GET /healthz HTTP/1.1\r\nHost: a\r\nX-A: ',
            `${request('GET', '/healthz')}GET /healthz HTTP/1.1\r\nHos`];
        const slow = await Promise.all(numbers(100).map(() => daemon.connect()));
        slow.forEach((connection, i) => connection.send(starts[i % starts.length]));
        // A byte per second is activity, but completes no request.
        await everySecond(faults, 9, async () => {
            slow.forEach((connection) => connection.send('o'));
            assertStatus(await daemon.get('/healthz'), 200);
        });
        await faults.pass(0.9, 0.5);
        assert.ok(allOpen(slow), 'closed too early');
        await faults.pass(1.2, 0.25);
        assert.equal(await leftOpen(slow), 0, 'left open');
        await eachRow([...slow.entries()], async ([i, connection]) => {
            if (i % starts.length === 4)
                assertStatus(await connection.answer(), 200);
            assertError(await connection.answer(), 408);
        });
        assertStatus(await daemon.get('/healthz'), 200);
        assert.equal(await daemon.metric('farlands_connections_closed_total', 'reason="deadline"'), 100);
    }));

    it("fault 21: a head's time runs from its first byte, whatever arrives meanwhile", () => frozen(async (daemon, faults) => {
        const connections = await Promise.all(numbers(20).map(() => daemon.connect()));
        // Half of them have had a response, so that they would be idle without that byte.
        const kept = connections.filter((connection, i) => i % 2);
        for (const connection of kept)
            assertStatus(await connection.send(request('GET', '/healthz')).answer(), 200);
        connections.forEach((connection) => connection.send(
            kept.includes(connection) ? '\r\nGET /' : 'GET /'));       // an empty line before it is allowed
        await everySecond(faults, 9, (second) => connections.forEach((connection) => connection.send(
            second < 4 ? 'o' : second === 4 ? ' HTTP/1.1\r\n' : 'Host: a\r\n')));
        await faults.pass(0.9, 0.5);
        assert.ok(allOpen(connections), 'closed too early');
        connections.forEach((connection) => connection.send('X-A: b\r\n'));
        await faults.pass(1.2, 0.25);
        assert.equal(await leftOpen(connections), 0, 'left open');
        assert.equal(await daemon.metric('farlands_connections_closed_total', 'reason="deadline"'), 20);
    }));

    it('fault 21: a request line that stops after idling is closed, too', () => frozen(async (daemon, faults) => {
        const connections = await Promise.all(numbers(10).map(() => daemon.connect()));
        for (const connection of connections)
            assertStatus(await connection.send(request('GET', '/healthz')).answer(), 200);
        await faults.pass(20, 1);
        const stopped = connections.filter((connection, i) => i % 2);
        stopped.forEach((connection) => connection.send('GET /heal'));
        await faults.settled();
        await faults.pass(0.25);     // it is noticed then
        await faults.pass(9.8, 0.7);
        assert.ok(allOpen(connections), 'closed too early');
        await faults.pass(1.2, 0.25);
        assert.equal(await leftOpen(stopped), 0, 'left open');
        assert.ok(allOpen(connections.filter((connection) => !stopped.includes(connection))), 'an idle connection is closed');
    }));

    it('fault 21: an incomplete request does not delay shutdown', () => frozen(async (daemon, faults) => {
        const connection = await daemon.connect();
        connection.send('GET /healthz HTTP/1.1\r\nHo');
        await faults.settled();
        await draining(daemon);
        await faults.pass(1, 0.1);
        assert.equal(await leftOpen([connection]), 0, 'left open');
        faults.thaw();
        assertPeace(await daemon.ended(30000));
        connection.close();
    }));

    it('fault 21: an idle connection is closed after limits.idle, not before', () => eachRow(
        [['', 75], ['limits: { idle: 2 }\n', 2], ['limits: { idle: 600 }\n', 600]],
        ([config, seconds]) => frozen(async (daemon, faults) => {
            const idle = await Promise.all(numbers(10).map(() => daemon.connect()));
            for (const connection of idle)
                assertStatus(await connection.send(request('GET', '/healthz')).answer(), 200);
            await faults.pass(seconds - 0.1, seconds / 50);
            assert.ok(allOpen(idle), 'closed too early');
            await faults.pass(1.5, 0.5);        // they are checked once a second
            assert.equal(await leftOpen(idle), 0, 'left open');
            assertStatus(await daemon.get('/healthz', {}, { agent: alone() }), 200);
        }, { config: `shards: 1\n${config}` })));

    it('fault 21: a reload changes the limit of connections that are idle', () => {
        const file = scratchFile('farlands.yaml', withFractal('shards: 1\nlimits: { idle: 600 }\n'));
        return frozen(async (daemon, faults) => {
            const idle = await daemon.connect();
            assertStatus(await idle.send(request('GET', '/healthz')).answer(), 200);
            await faults.pass(30, 1);
            assert.ok(allOpen([idle]), 'closed too early');
            fs.writeFileSync(file, withFractal('shards: 1\nlimits: { idle: 20 }\n'));
            daemon.kill('SIGHUP');
            assert.ok(await eventually(async () => {
                await faults.pass(1, 0.5);
                return /configuration reloaded/.test(daemon.stderr);
            }), daemon.stderr);
            await faults.pass(3, 0.5);
            assert.equal(await leftOpen([idle]), 0, 'left open');
            idle.close();
        }, { args: ['--config', file] });
    });

    it('fault 22: a request body is rejected before it is sent, and not waited for', () => frozen((daemon) => eachRow([
        ['GET', 'Content-Length: 1000000000', 400],
        ['GET', 'Content-Length: 1000\r\nExpect: 100-continue', 400],
        ['HEAD', 'Content-Length: 5', 400],
        ['POST', 'Content-Length: 1000000000', [400, 405, 413]],
        ['POST', 'Content-Length: 1000\r\nExpect: 100-continue', [400, 405, 413]],
        ['PUT', 'Transfer-Encoding: chunked', [400, 405, 413]],
        ['GET', 'Transfer-Encoding: chunked', 400],
    ], async ([method, headers, status]) => {
        const { answers: [answer], closed, rest } = await daemon.raw(
            `${method} ${tile(1)} HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n`, { methods: [method], closeLimit: 10000 });
        assertStatus(answer, status);
        assert.ok(closed, 'the connection stays open');
        assert.equal(rest.length, 0);
    })));

    const late = (daemon) => daemon.metric('farlands_connections_closed_total', 'reason="deadline"');

    it('fault 23: slow readers are closed after 30 s, and delay no other client', () => frozen(async (daemon, faults) => {
        const large = '/default/height/11/900/900@2x.f32';
        const { length } = await daemon.bytes(large);
        const before = memoryOf(daemon.pid);
        // More than both sockets buffer: the daemon must hold most of it back.
        const slow = await Promise.all(numbers(20).map(() => daemon.connect()));
        for (const connection of slow) {
            connection.socket.pause();
            connection.send(request('GET', large).repeat(20));
        }
        // One client reads slowly, but gets its response before the deadline.
        const patient = await daemon.connect();
        patient.send(request('GET', large));
        for (let second = 1; second <= 8; second++) {
            patient.socket.resume();
            assert.ok(await patient.until(() => patient.received >= second * length / 8 || null, 10000), 'stalled');
            patient.socket.pause();
            assertStatus(await daemon.get('/healthz'), 200);
            await faults.pass(1, 0.25);
        }
        patient.socket.resume();
        assert.equal((await patient.answer()).body.length, length);
        patient.close();
        // In one step: with smaller ones they are reset earlier, as the next test has it.
        await faults.pass(21.9);
        assert.equal(await late(daemon), 0, 'closed too early');
        await faults.pass(0.6, 0.1);
        assert.equal(await late(daemon), 20);
        assert.ok(memoryOf(daemon.pid) - before < 20 << 20, 'a whole response is buffered for every slow reader');
        assertStatus(await daemon.get('/healthz'), 200);
        for (const connection of slow)
            connection.close();
    }));

    it('fault 23: readers that stall for 10 s, after the first 10 s, are reset, whatever they read', () => frozen(async (daemon, faults) => {
        const targets = [
            '/default/height/11/900/900@2x.f32', '/default/region.f32?x=0&y=0&width=512&height=512',
            '/default/region.f32?x=0&y=0&width=4097&height=4097', '/default/volume.f32?x=0&y=0&z=0&width=256&height=256&depth=64',
        ];
        const slow = await Promise.all(targets.map(() => daemon.connect()));
        slow.forEach((connection, i) => {
            connection.socket.pause();
            connection.send(request('GET', targets[i]).repeat(20));
        });
        await faults.settled();
        await faults.pass(20, 0.5);
        assert.equal(await late(daemon), 0, 'closed too early');
        await faults.pass(2, 0.5);
        assert.equal(await late(daemon), targets.length);
        assert.equal(await daemon.metric('farlands_response_bytes'), 0, 'their bytes are not released');
        for (const connection of slow)
            connection.close();
    }));

    it('fault 24: a flood of connections: those above the limit wait in the backlog', () => frozen(async (daemon, faults) => {
        // The first ones wait for a render all the time: they have a request in progress.
        faults.hold('encode');
        const first = await Promise.all(numbers(20).map(() => daemon.connect()));
        for (const connection of first)
            connection.send(request('GET', tile(7)));
        await faults.settled();
        const more = await Promise.all(numbers(20).map(() => daemon.connect()));
        for (const connection of more)
            connection.send(request('GET', '/healthz'));
        await faults.pass(1, 0.1);
        assert.ok(more.every((connection) => connection.received === 0 && !connection.ended), 'accepted, or closed');
        faults.clear();
        faults.thaw();
        await Promise.all(first.map(async (connection) => assertStatus(await connection.answer(), 200)));
        await Promise.all(more.map(async (connection) => assertStatus(await connection.answer(), 200)));
        for (const connection of [...first, ...more])
            connection.close();
    }, { config: 'limits: { connections: 20, connections_per_client: 0 }\n' }));

    /* Call CHECK with a daemon whose connections, 40 for each of four addresses, are all taken: each
     * has sent TEXT, and received WITH responses to it. An outsider has one of them. */
    const whileFull = (text, responses, check) => frozen(async (daemon, faults) => {
        const from = (number) => connect({ host: daemon.host, port: daemon.port, localAddress: `127.0.0.${number}` });
        const holder = await from(6);
        assertStatus(await holder.send(request('GET', '/healthz')).answer(), 200);
        await faults.pass(0.02);
        const held = await Promise.all(numbers(160).map((i) => from(2 + i % 4)));
        for (const connection of held)
            connection.send(text);
        for (let i = 0; i < responses; i++)
            await Promise.all(held.map(async (connection) => assertStatus(await connection.answer(), 200)));
        await faults.settled();
        await check({ daemon, faults, from, held, holder });
        for (const connection of [...held, holder])
            connection.close();
    }, { config: 'limits: { connections: 161, connections_per_client: 40 }\n' });

    const closedFor = (daemon, reason) => daemon.metric('farlands_connections_closed_total', `reason="${reason}"`);

    it('fault 24: idle connections are closed for others, the longest idle ones of the greediest clients first', () =>
        whileFull(request('GET', '/healthz'), 1, async ({ daemon, faults, from, held, holder }) => {
            for (let i = 0; i < 10; i++) {
                const outsider = await from(7);
                outsider.send(request('GET', '/healthz'));
                await faults.pass(0.03);     // room is made every 25 ms
                assertStatus(await outsider.answer(), 200);
            }
            // They were closed in order, and no others.
            assert.equal(await closedFor(daemon, 'deadline'), 0);
            const full = await closedFor(daemon, 'full');
            const closed = () => held.filter((connection) => connection.ended);
            assert.ok(await eventually(() => closed().length === full), 'others were closed');
            assert.ok(full >= 10 && full < 80, `${full} closed`);
            assert.ok(closed().every((connection) => connection.error === null), 'reset');
            assertStatus(await holder.send(request('GET', '/healthz')).answer(), 200);
        }));

    for (const [what, text] of [['silent', ''], ['stopped within their heads', 'GET /healthz HTTP/1.1\r\nHo']])
        it(`fault 24: connections that are ${what} are closed for others after 0.5 s`, () =>
            whileFull(text, 0, async ({ faults, from, holder }) => {
                const outsider = await from(7);
                outsider.send(request('GET', '/healthz'));
                await faults.pass(0.45, 0.05);
                assert.equal(outsider.received, 0, 'their heads had no time to arrive');
                await faults.pass(0.15, 0.05);
                assertStatus(await outsider.answer(), 200);
                assertStatus(await holder.send(request('GET', '/healthz')).answer(), 200);
            }));

    it('fault 24: slow readers are closed for others if no connection is idle', () =>
        whileFull('', 0, async ({ daemon, faults, from, held, holder }) => {
            for (const connection of [...held, holder]) {
                connection.socket.pause();
                connection.send(request('GET', tile(3)).repeat(500));
            }
            await faults.settled();
            await faults.pass(1.5, 0.25);
            const outsider = await from(7);
            assertStatus(await outsider.send(request('GET', '/healthz')).answer(), 200);
            assert.ok(await closedFor(daemon, 'full') < 60);
            // The outsider that has one connection is not one of them, although it is as slow.
            holder.socket.resume();
            for (let i = 0; i < 500; i++)
                assertStatus(await holder.answer(), 200);
        }));

    it('fault 24: making room cuts off no response and loses no request', () => serving(async (daemon) => {
        const address = (number) => ({ host: daemon.host, port: daemon.port, localAddress: `127.0.0.${number}` });
        // A third more clients than connections. Each pauses, so that there are always idle ones.
        const failures = [];
        await underLoad(load(address(2), (i) => tile(i % 50), 30, { pause: 3 }), (first) =>
            underLoad(load(address(3), (i) => tile(i % 50), 10, { pause: 20 }), async (second) => {
                assert.ok(await eventually(async () => first.state.answers > 100 && second.state.answers > 100 &&
                    await closedFor(daemon, 'full') > 20), 'no room was made');
                for (const clients of [first, second])
                    failures.push(...(await clients.stop()).failures);
            }));
        assert.deepEqual(failures, []);
    }, { config: 'limits: { connections: 30 }\n' }));

    it('fault 24: a flood from one address: connections above its limit are closed, other addresses are accepted', () => serving(async (daemon, faults) => {
        const from = (localAddress) => connect({ host: daemon.host, port: daemon.port, localAddress });
        const assertServes = async (connection) => {
            connection.send(request('GET', '/healthz'));
            assertStatus(await connection.answer(), 200);
        };
        const first = await Promise.all(numbers(8).map(() => from('127.0.0.2')));
        await Promise.all(first.map(assertServes));
        const more = await Promise.all(numbers(20).map(() => from('127.0.0.2')));
        for (const connection of more) {
            const answer = await connection.answer();
            assertError(answer, 503);
            assert.equal(answer.headers.connection, 'close');
            assert.equal(answer.headers['retry-after'], '1');
            connection.send(request('GET', '/healthz'));    // as a client that has not read it yet
        }
        assert.equal(await leftOpen(more), 0, 'left open');
        assert.ok(more.every((connection) => connection.buffer.length === 0 && connection.error === null));
        await assertServes(await from('127.0.0.3'));
        assert.equal(await daemon.metric('farlands_connections_closed_total', 'reason="limit"'), 20);
        await Promise.all(first.map(assertServes));
        first.pop().close();
        await sleep(1);      // it is closed then
        await faults.settled();
        await assertServes(await from('127.0.0.2'));
        assert.ok(logLines(daemon).length <= 2, 'one log line per connection');
    }, { config: 'limits: { connections: 100, connections_per_client: 8 }\n' }));

    it('fault 27: a request with ambiguous framing is rejected, and nothing after it is read', () =>
        serving((daemon) => eachRow([
            ['both lengths', 'Host: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked'],
            ['two lengths', 'Host: a\r\nContent-Length: 0\r\nContent-Length: 44'],
            ['a list of lengths', 'Host: a\r\nContent-Length: 0, 44'],
            ['a length with a sign', 'Host: a\r\nContent-Length: +44'],
            ['an unknown coding', 'Host: a\r\nTransfer-Encoding: xchunked'],
            ['a coding in disguise', 'Host: a\r\nTransfer-Encoding: \x0bchunked'],
            ['a space before the colon', 'Host: a\r\nTransfer-Encoding : chunked'],
            ['a length before the colon', 'Host: a\r\nContent-Length : 44'],
            ['a folded header', 'Host: a\r\nX-A: b\r\n Content-Length: 44'],
            ['a folded length', 'Host: a\r\nContent-Length:\r\n 44'],
            ['a folded first header', ' X-A: b\r\nHost: a'],
            ['two hosts', 'Host: a\r\nHost: b'],
            ['no host', 'X-A: b'],
            ['a NUL at the end', 'Host: a\r\nX-A: b\0\r\nX-B: c', [400, 200]],
            ['a NUL', 'Host: a\r\nX-A: b\0cdef\r\nX-B: c'],
            ['a bare carriage return', 'Host: a\r\nX-A: b\rContent-Length: 44'],
            ['no colon', 'Host: a\r\nX-A'],
            ['no name', 'Host: a\r\n: b'],
        ], async ([, headers, status = 400]) => {
            const { answers: [answer], closed, rest } = await daemon.raw(
                Buffer.from(`GET /healthz HTTP/1.1\r\n${headers}\r\n\r\n${request('GET', '/smuggled')}`, 'latin1'),
                { closeLimit: 10000 });
            assertStatus(answer, status);
            assert.ok(closed, 'the connection stays open');
            assert.doesNotMatch(rest.toString('latin1'), /HTTP\/1\.1 404 /, 'the bytes after it were answered');
        })));

    it('fault 28: a URI of 40 kB, 3000 headers: 414 and 431, in bounded memory', () => serving((daemon) => eachRow([
        ['URI', 414, () => request('GET', `/${'a'.repeat(40000)}`)],
        ['query', 414, () => request('GET', `/healthz?${'a'.repeat(40000)}`)],
        ['headers', 431, () => `GET /healthz HTTP/1.1\r\nHost: a\r\n${'X-A: b\r\n'.repeat(3000)}\r\n`],
        ['a header', 431, () => request('GET', '/healthz', { Host: 'a', 'X-A': 'b'.repeat(40000) })],
        ['endless headers', 431, () => `GET /healthz HTTP/1.1\r\nHost: a\r\n${'X-A: b\r\n'.repeat(100000)}`],
    ], async ([, status, write]) => {
        const before = memoryOf(daemon.pid);
        const connections = await Promise.all(numbers(10).map(() => daemon.connect()));
        // At once, and like a distant client that is still sending when the daemon responds: if the
        // connection were closed then, its writes would fail and it would not read the response.
        await Promise.all(connections.map(async (connection, i) => {
            const text = write(), pieces = i % 2 ? 20 : 1;
            for (let at = 0; at < pieces; at++) {
                connection.send(text.slice(text.length * at / pieces, text.length * (at + 1) / pieces));
                await sleep(at + 1 < pieces ? 10 : 0);
            }
            assertStatus(await connection.answer(), status);
            assert.ok(await connection.closed(10000), 'the connection stays open');
            assert.equal(connection.error, null);
            connection.close();
        }));
        assert.ok(memoryOf(daemon.pid) - before < 8 << 20);
        assertStatus(await daemon.get('/healthz'), 200);
    })));

    it('fault 28: a client that keeps sending is read for 2 s or 1 MB, and counts as connected', () =>
        frozen(async (daemon, faults) => {
            const open = () => daemon.metric('farlands_connections');
            const before = await open();
            const silent = await daemon.connect();
            const endless = await daemon.connect();
            for (const connection of [silent, endless]) {
                connection.send(request('GET', `/${'a'.repeat(40000)}`));
                assertStatus(await connection.answer(), 414);
                assert.ok(await connection.closed(10000), 'the response is not followed by end of stream');
            }
            assert.equal(await open() - before, 2);
            endless.send('a'.repeat(3 << 20));
            await faults.pass(1.9, 0.05);
            assert.equal(await open() - before, 1, 'the daemon reads without limit, or closed too early');
            await faults.pass(0.2, 0.05);
            assert.equal(await open() - before, 0, 'the daemon waits without limit');
            endless.close();
            silent.close();
        }));

    it('fault 29: %00, .. and other URIs that are no paths: 400, and no file is opened', () => frozen((daemon, faults) => eachRow([
        '/default/relief/10/512/512.png%00', '/%00', '/default/relief/10/512/..%2f..%2fetc/passwd', '/..', '/../etc/passwd',
        '/default/relief/10/../../../../etc/passwd', '/./worlds.json', '/%2e%2e/%2e%2e/etc/passwd', '//etc/passwd',
        '/default/relief/10/512/512.png/../../x', '/\\..\\x', 'https://127.0.0.1/healthz', 'http:/127.0.0.1/healthz',
        'http://127.0.0.1/../etc/passwd', 'worlds.json', '127.0.0.1:80',
    ], async (target) => {
        const opened = () => faults.calls('open') + faults.calls('create');
        const before = opened();
        const { answers: [answer] } = await daemon.raw(request('GET', target));
        assertStatus(answer, 400);
        assert.equal(opened(), before, 'files of the cache were opened');
    })));

    it('fault 30: 1000 pipelined requests: answered in order, in bounded memory', () => serving(async (daemon, faults) => {
        const targets = numbers(1000).map((i) => [`/default/height?x=${i}&y=0`, tile(i % 20), '/nowhere',
            '/default/height/11/900/900.f32'][i % 4]);
        await Promise.all(numbers(20).map((i) => daemon.bytes(tile(i))));
        await daemon.bytes('/default/height/11/900/900.f32');
        const before = memoryOf(daemon.pid);
        const connection = await daemon.connect();
        connection.socket.pause();
        connection.send(targets.map((target) => request('GET', target)).join(''));
        await faults.settled();
        const grown = memoryOf(daemon.pid) - before;
        assert.ok(grown < 8 << 20, `${grown} bytes for responses that are not read`);
        connection.socket.resume();
        await eachRow(targets.map((target, i) => [target, i]), async ([target, i]) => {
            const answer = await connection.answer('GET', 10000);
            assertStatus(answer, target === '/nowhere' ? 404 : 200);
            if (i % 4 === 0)
                assert.equal(JSON.parse(answer.body).x, i);
            else if (i % 4 === 1)
                assert.match(answer.headers.etag, new RegExp(`/${i % 20}\\.png"$`));
        });
        connection.close();
    }));
});

describe('overload', { timeout: patience(300000) }, () => {
    it('fault 25: ten times the render capacity: requests are shed by the age of the queue, the rest served', (t) =>
        frozen(async (daemon, faults) => {
            const STEPS = 120, STEP = 0.025, RENDER = 0.05;
            await daemon.bytes(tile(0, 1));
            // One thread renders 20 tiles per second; 200 are requested per second.
            faults.set('encode', { amount: 1000 * RENDER });
            const answers = [];
            const agent = alone();
            let step = 0;
            for (let asked = 0; step < STEPS; step++) {
                const begun = step;
                for (let i = 0; i < 5; i++)
                    daemon.get(tile(asked++, 2), {}, { agent, limit: 80000 }).then((answer) =>
                        answers.push({ answer, took: STEP * (step - begun) }), (error) => answers.push({ error }));
                await faults.settled();
                assertStatus(await daemon.get(tile(0, 1)), 200);     // of the cache: it waits for nothing
                await faults.pass(STEP);
            }
            assert.ok(await eventually(async () => {
                step++;
                await faults.pass(STEP);
                return answers.length === 5 * STEPS;
            }));
            assert.deepEqual(answers.filter(({ error }) => error), []);
            const refused = answers.filter(({ answer }) => answer.status === 503);
            const served = answers.filter(({ answer }) => answer.status === 200);
            const most = (list) => Math.max(...list.map(({ took }) => took));
            t.diagnostic(`${answers.length} requests, ${refused.length} shed within ${most(refused)} s; ` +
                `${served.length} tiles within ${most(served)} s`);
            assert.equal(refused.length + served.length, answers.length, 'a status other than 200 and 503');
            assert.equal(refused.length, await daemon.metric('farlands_shed_total'));
            assert.ok(refused.length > answers.length * 0.6, `${refused.length} of ${answers.length} shed`);
            for (const { answer } of refused)
                assert.match(answer.headers['retry-after'], /^[1-9]\d*$/);
            // The thread was always busy.
            assert.ok(served.length >= STEPS * STEP / RENDER - 1, `${served.length} tiles in ${STEPS * STEP} s`);
            assert.ok(most(refused) <= 0.1, `a rejection took ${most(refused)} s`);
            // Requests of 300 ms, at ten times the render rate, take ten times as long to render.
            assert.ok(most(served) <= 3.5, `a tile took ${most(served)} s`);
        }, { config: 'threads: 1\nlimits: { wait: 300, misses_per_client: 0 }\n' }));
});

describe('limits per client and of memory', { timeout: patience(300000), concurrency: 3 }, () => {
    const reference = useDaemon();

    it('fault 25: a client with too many pending misses gets 503, another is served', () =>
        frozen(async (daemon, faults) => {
            faults.hold('encode');
            const from = (localAddress, i) => connect({ host: daemon.host, port: daemon.port, localAddress })
                .then((connection) => connection.send(request('GET', tile(i))));
            const many = await Promise.all(numbers(40).map((i) => from('127.0.0.2', i)));
            await faults.settled();
            const other = await from('127.0.0.3', 100);
            await faults.pass(0.05, 0.005);      // refusals are paced
            faults.clear();
            const answers = await Promise.all(many.map((connection) => connection.answer()));
            const refused = answers.filter(({ status }) => status === 503);
            assert.equal(refused.length, 30);
            for (const answer of refused)
                assert.match(answer.headers['retry-after'], /^[1-9]\d*$/);
            assert.equal(await daemon.metric('farlands_limited_total'), 30);
            assertStatus(await other.answer(), 200);
        }, { config: 'threads: 1\nlimits: { wait: 60000, misses_per_client: 10 }\n' }));

    it('fault 25: if the queue is full, the longest backlog makes room for another client', () => eachRow([
        ['tiles', 1, (i) => tile(i + 1)],
        ['regions, in two pieces', 2, (i) => `/default/region.f32?x=${2000 * i}&y=0&width=1025&height=600`],
    ], ([, jobs, wanted]) => frozen(async (daemon, faults) => {
        const from = (localAddress, target) => connect({ host: daemon.host, port: daemon.port, localAddress })
            .then((connection) => connection.send(request('GET', target)));
        const QUEUE = 8;
        faults.hold('encode');
        const running = await from('127.0.0.2', tile(0));
        await faults.settled();
        assert.equal(faults.hits('encode'), 1);
        faults.noMore('encode');
        const backlog = await Promise.all(numbers(QUEUE).map((i) => from('127.0.0.2', wanted(i))));
        await faults.settled();
        assert.equal(await daemon.metric('farlands_queue_length'), jobs * QUEUE);
        const other = await from('127.0.0.3', tile(100));
        await faults.pass(0.05, 0.005);
        faults.clear();
        const [first, ...answers] = await Promise.all([running, ...backlog].map((connection) => connection.answer()));
        assertStatus(first, 200);
        const refused = answers.filter(({ status }) => status === 503);
        assert.equal(refused.length, 1, `${answers.map(({ status }) => status)}`);
        assert.match(refused[0].headers['retry-after'], /^[1-9]\d*$/);
        assertStatus(await other.answer(), 200);
    }, { config: 'threads: 1\nlimits: { wait: 60000, queue: 8 }\n' })));

    it('fault 26: a scan of random tiles does not evict popular tiles', () => serving(async (daemon) => {
        const popular = numbers(20).map((i) => `/default/relief/14/9000/${9000 + i}.png`);
        for (let round = 0; round < 5; round++)
            for (const each of popular)
                pngChunks(await daemon.bytes(each));
        const hits = () => daemon.metric('farlands_cache_hits_total', 'tier="memory"');
        let lost = 0, total = 0;
        for (let i = 0; i < 400; i += 8) {
            await Promise.all(numbers(8).map((j) => daemon.bytes(`/default/relief/14/${2000 + i + j}/${(i * 97 + j) % 5000}.png`)));
            if (i % 80 !== 0)
                continue;
            const before = await hits();
            for (const each of popular)
                await daemon.bytes(each);
            total += popular.length;
            lost += popular.length - (await hits() - before);
        }
        assert.ok(lost <= total / 10, `${lost} of ${total} popular tiles were no longer in memory`);
        // The scan was larger than the cache, whose limit holds.
        assert.ok(await daemon.metric('farlands_cache_bytes', 'tier="memory"') <= 4 << 20);
    }, { config: `cache: { memory: 4M }\n${NO_SHEDDING}` }));

    it('faults 21 to 26: the tiles are unchanged', async () => {
        await serving(async (daemon) => {
            const results = await Promise.all(numbers(100).map((i) => settled(daemon.get(tile(i, i % 3)))));
            await eachRow(numbers(100), async (i) =>
                assert.ok(results[i].answer?.body.equals(await reference.bytes(tile(i, i % 3)))));
        }, { config: NO_SHEDDING });
        assertError(await reference.get('/nowhere'), 404);
    });
});
