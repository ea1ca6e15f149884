// Faults 13 to 20: the process runs out of resources, or one of its parts fails. It keeps running and reports the fault.

import assert from 'node:assert/strict';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { useDaemon } from '../http/daemon.mjs';
import { eventually, patience } from '../http/program.mjs';
import { assertError, assertStatus, eachRow } from '../http/table.mjs';
import { request } from '../http/wire.mjs';
import { CONCURRENCY, frozen, logLines, openFiles, runOutOfFiles, serving, settled } from './faults.mjs';

const tile = (i, column = 900) => `/default/gray/11/${column}/${i}.png`;
const webp = (i) => `/default/hillshade/11/900/${i}.webp`;
const numbers = (count) => Array.from({ length: count }, (_, i) => i);
/* One connection per request. */
const alone = () => new http.Agent({ keepAlive: false, maxSockets: Infinity });

describe('the process', { timeout: patience(300000), concurrency: CONCURRENCY }, () => {
    const reference = useDaemon();

    it('fault 13: no file descriptors left: tiles are not stored, at most one log line per second', () =>
        frozen(async (daemon, faults) => {
            const connection = await daemon.connect();
            const ask = async (target) => {
                connection.send(request('GET', target));
                return connection.answer();
            };
            assertStatus(await ask(tile(0)), 200);
            await faults.settled();
            const restore = runOutOfFiles(daemon.pid);
            const before = daemon.stderr.length;
            try {
                await eachRow(numbers(40), async (i) => {
                    const answer = await ask(tile(i));
                    assertStatus(answer, 200);
                    assert.ok(answer.body.equals(await reference.bytes(tile(i))));
                    await faults.pass(0.05);
                });
            } finally {
                restore();
            }
            connection.close();
            assertStatus(await daemon.get(tile(100)), 200);
            const lines = daemon.stderr.slice(before).split('\n').length - 1;
            assert.ok(lines >= 1 && lines <= 3, `${lines} lines in 2 s:\n${daemon.stderr}`);
        }));

    /* Assert that no connection is accepted after breaks(), and that all are after the function it returns is called. */
    async function assertBacksOff(daemon, faults, breaks) {
        const repair = breaks();
        const before = { text: daemon.stderr.length, accepts: faults.calls('accept') };
        let waiting;
        try {
            waiting = await Promise.all(numbers(20).map(() => daemon.connect()));
            for (const connection of waiting)
                connection.send(request('GET', '/healthz'));
            await faults.pass(2, 0.025);
            assert.ok(waiting.every((connection) => connection.received === 0 && !connection.ended), 'accepted, or closed');
            const accepts = faults.calls('accept') - before.accepts;
            assert.ok(accepts >= 10 && accepts <= 25, `tried ${accepts} times in 2 s`);
            const lines = () => daemon.stderr.slice(before.text).split('\n').length - 1;
            assert.ok(await eventually(() => lines() >= 2), `${lines()} lines in 2 s`);   // it comes through another pipe
            assert.ok(lines() <= 4, `${lines()} lines in 2 s:\n${daemon.stderr.slice(0, 2000)}`);
        } finally {
            repair();
        }
        await faults.pass(0.2, 0.05);
        for (const connection of waiting) {
            assertStatus(await connection.answer(), 200);
            connection.close();
        }
        assert.ok(await daemon.metric('farlands_accept_failures_total') >= 1, 'not counted');
    }

    it('fault 14: accept fails: the loop backs off, and resumes after the failure', () => eachRow(
        ['RLIMIT_NOFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS'], (error) => frozen(async (daemon, faults) => {
            await assertBacksOff(daemon, faults, () => {
                if (error === 'RLIMIT_NOFILE')
                    return runOutOfFiles(daemon.pid);
                faults.set('accept', { error });
                return () => faults.clear();
            });
        }), { atOnce: true }));

    it('fault 14: a connection aborted before accept delays no other', () => frozen(async (daemon, faults) => {
        faults.set('accept', { error: 'ECONNABORTED', every: 3 });
        // No time passes: after a pause they would get no response at all.
        const answers = await Promise.all(numbers(60).map(() => daemon.get('/healthz', {}, { agent: alone() })));
        for (const answer of answers)
            assertStatus(answer, 200);
        assert.ok(faults.hits('accept') >= 20);
    }));

    it('fault 15: malloc fails: 503 or no response, never wrong bytes, and the daemon keeps running', () => eachRow([
        ['every block of image size', { error: 'ENOMEM', least: 1500 }],
        ['every small block', { error: 'ENOMEM', most: 1499 }],
        ['one in 5', { error: 'ENOMEM', every: 5, seed: 1 }],
        ['one in 20', { error: 'ENOMEM', every: 20, seed: 2 }],
        ['one in 50', { error: 'ENOMEM', every: 50, seed: 3 }],
        ['one in 200', { error: 'ENOMEM', every: 200, seed: 4 }],
    ], ([, rule]) => serving(async (daemon, faults) => {
        const targets = numbers(140).map((i) => [tile(i), tile(i % 10), webp(i), '/worlds.json', `/default/height?x=${i}&y=1`,
            '/default/relief.json', '/healthz'][i % 7]);
        await Promise.all(numbers(10).map((i) => daemon.bytes(tile(i))));
        faults.set('allocate', rule);
        const results = await Promise.all(targets.map((target) =>
            settled(daemon.get(target, {}, { agent: alone(), limit: 30000 }))));
        const hits = faults.hits('allocate');
        faults.clear();
        assert.ok(hits > 0, 'no allocation failed');
        assert.ok(daemon.program.running, 'the daemon exited');
        await eachRow(targets.map((target, i) => [target, results[i]]), async ([target, { answer, error }]) => {
            if (error)
                assert.match(error.message, /socket hang up|ECONNRESET/);
            else if (answer.status === 200 && !target.includes('relief.json'))
                assert.ok(answer.body.equals(await reference.bytes(target)), 'bytes differ');
            else
                assertStatus(answer, [200, 503]);
        });
        // Afterwards it works as before.
        const { body } = await daemon.get(tile(500));
        assert.ok(body.equals(await reference.bytes(tile(500))));
        assert.equal(await daemon.metric('farlands_queue_length'), 0);
    })));

    it('fault 16: a libpng or libwebp error: 500, and the worker keeps running', () => serving(async (daemon, faults) => {
        faults.set('encode', { error: 'EIO' });
        await eachRow(numbers(10), async (i) => assertError(await daemon.get(tile(i)), 500));
        await eachRow(numbers(10), async (i) => assertError(await daemon.get(webp(i)), 500));
        assert.equal(faults.hits('encode'), 20);
        assertStatus(await daemon.get('/default/height/11/900/900.f32'), 200);
        faults.clear();
        await eachRow(numbers(10), async (i) => assert.deepEqual(await daemon.bytes(tile(i)), await reference.bytes(tile(i))));
        assert.equal(await daemon.rendered(), 11);
    }, { config: 'threads: 1\n' }));

    it('libmicrohttpd gives up: the log has its reason, and the process ends', () => serving(async (daemon, faults) => {
        faults.set('forget', { error: 'EBADF' }); /* it cannot suspend a connection */
        const answer = await settled(daemon.get(tile(0), {}, { agent: alone() }));
        assert.ok(answer.error, 'a response');
        const { signal, stderr } = await daemon.ended(30000);
        assert.equal(signal, 'SIGABRT', stderr);
        assert.match(stderr, / error libmicrohttpd gave up: .*epoll.* \(\w+\.c:\d+\)\n/);
    }));

    it('fault 17: a render is too slow: its clients get 503 after 10 s, the result is cached', () =>
        frozen(async (daemon, faults) => {
            faults.hold('encode');
            let answered = 0;
            const waiting = numbers(3).map(() => settled(daemon.get(tile(0), {}, { agent: alone() })).finally(() => answered++));
            const late = () => daemon.metric('farlands_late_total');
            await faults.settled();
            assert.equal(faults.hits('encode'), 1);
            assert.equal(await daemon.metric('farlands_coalesced_total'), 2, 'not all wait');
            await faults.pass(9.9);
            assert.equal(await late(), 0);
            assert.equal(answered, 0, 'answered too early');
            await faults.pass(0.4);
            assert.equal(await late(), 3, 'not after 10 s');
            const answers = await Promise.all(waiting);
            await eachRow(answers, ({ answer }) => {
                assertError(answer, 503);
                assert.match(answer.headers['retry-after'], /^[1-9]\d*$/);
            });
            faults.clear();
            await faults.settled();
            assert.equal(await daemon.rendered(), 1, 'the render was abandoned');
            assert.deepEqual(await daemon.bytes(tile(0)), await reference.bytes(tile(0)));
            assert.equal(await daemon.rendered(), 1);
            assert.equal(await daemon.metric('farlands_cache_hits_total', 'tier="memory"'), 1);
        }, { config: 'threads: 2\n' }));

    it('fault 18: a shared render fails: all its clients get the error, without another render', () => frozen(async (daemon, faults) => {
        faults.set('encode', { error: 'EIO', amount: 500 });
        const waiting = numbers(20).map(() => settled(daemon.get(tile(0), {}, { agent: alone() })));
        await faults.settled();
        assert.equal(await daemon.metric('farlands_coalesced_total'), 19);
        await faults.pass(0.5);
        await eachRow(await Promise.all(waiting), ({ answer }) => assertError(answer, 500));
        assert.equal(faults.calls('encode'), 1, 'renders');
        faults.clear();
        assertStatus(await daemon.get(tile(0)), 200);
    }));

    it('fault 19: clients disconnect: a queued render is cancelled when the last of its clients is gone', () => eachRow(
        ['destroy', 'resetAndDestroy'], (leave) => frozen(async (daemon, faults) => {
            faults.hold('encode');
            const ask = async (target) => (await daemon.connect()).send(request('GET', target));
            const busy = await ask(tile(0));
            await faults.settled();
            assert.equal(faults.hits('encode'), 1);
            const [only, first, second] = await Promise.all([ask(tile(1)), ask(tile(2)), ask(tile(2))]);
            await faults.settled();
            assert.equal(await daemon.metric('farlands_queue_length'), 2, 'two renders are not queued');
            only.socket[leave]();
            first.socket[leave]();
            await faults.pass(0.75, 0.25);
            // Closed connections no longer count towards this client's limit of four pending misses.
            const [third, fourth] = await Promise.all([ask(tile(3)), ask(tile(3))]);
            await faults.settled();
            faults.clear();
            for (const connection of [busy, second, third, fourth]) {
                assertStatus(await connection.answer(), 200);
                connection.close();
            }
            assert.equal(await daemon.metric('farlands_limited_total'), 0);
            assert.equal(await daemon.rendered(), 3, 'renders');
            assert.equal(await daemon.metric('farlands_abandoned_total'), 1);
            // A cancelled render is not a failed one: the next request gets the tile.
            assert.deepEqual(await daemon.bytes(tile(1)), await reference.bytes(tile(1)));
        }, { config: 'threads: 1\nlimits: { wait: 60000, misses_per_client: 4 }\n' }), { atOnce: true }));

    it('fault 20: a reset during a response: no signal, one completion, no leak', () => serving(async (daemon) => {
        const large = '/default/height/11/900/900@2x.f32';
        await daemon.bytes(large);
        const files = openFiles(daemon.pid).length + 2;     // and the connections of this test
        assertStatus(await daemon.get(tile(0)), 200);
        const before = await daemon.metric('farlands_requests_total', 'code="200"');
        for (let i = 0; i < 40; i++) {
            const connection = await daemon.connect();
            connection.send(request('GET', large).repeat(8));
            await connection.until(() => connection.received > 0 || null, 30000);
            connection.socket.pause();
            await sleep(i % 4);
            connection.socket.resetAndDestroy();
            assertStatus(await daemon.get(tile(0)), 200);
        }
        assert.ok(await eventually(() => openFiles(daemon.pid).length <= files), 'files left open');
        assert.ok(await daemon.metric('farlands_requests_total', 'code="200"') >= before + 80);
        assert.ok(await daemon.metric('farlands_connections') <= 3, 'closed connections are still counted');
        assert.ok(logLines(daemon).length <= 5, `one log line per reset:\n${daemon.stderr}`);
    }));
});
