// Large regions are streamed while they are computed: large, many, slowly read and unread
// ones do not affect other requests.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { blocks, target } from './boxes.mjs';
import { assertPeace, draining, useDaemon, withDaemon } from './daemon.mjs';
import { decodePng, pngChunks } from './png.mjs';
import { SLOWEST_WORLD, TIMEOUT, eventually, fewer, patience } from './program.mjs';
import { assertNotDelayed, open, peakGrowth, processorTime, processorTimeOf, rests, withStreams } from './streams.mjs';
import { assertError, assertStatus, eachRow } from './table.mjs';
import { CLOSE_LIMIT, request } from './wire.mjs';

const FORMS = ['f32', 'r16', 'png'];
const SIDE = 4097;
const WHOLE = SIDE * SIDE * 4;
const MEBIBYTE = 1 << 20;

/* Sanitizers keep freed memory, so memory limits are not tested with them. */
const sanitized = patience(1) > 1;

/* quick: computed as fast as it is sent. */
const worlds = `worlds:
  - name: default
  - name: quick
    noise: { octaves: 3, wavelength: 4096 }
  - ${SLOWEST_WORLD}
`;
/* A minimal memory cache, so that growth is not a cache that fills. */
const config = (more = '') => `cache: { memory: 1M }\n${more}${worlds}`;

let column = 0;
/* A large region that was not requested before. */
const large = (world, { form = 'f32', sides = [SIDE, SIDE] } = {}) =>
    target([blocks(8192 * ++column), 0n], sides, { world, form });
/* One of the slow world, whose first bytes come before the daemon's limit of 10 s: pictures are computed in large bands. */
const slow = (form = 'f32') => large('slow', { form, sides: form === 'png' ? [1025, SIDE] : [SIDE, SIDE] });
const coldTile = () => `/default/height/12/${++column}/77.f32`;
const small = () => target([blocks(64 * ++column), 5n], [65, 65]);

const digestOf = (bytes) => createHash('sha1').update(bytes).digest('hex');

describe('the memory for large regions', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: config() });

    /* COUNT streams take 4 MiB each, as in config/farlands.yaml; 8 MiB are for everything else. */
    async function assertBounded(count, work) {
        const growth = await peakGrowth(daemon.pid, work);
        if (!sanitized)
            assert.ok(growth < (8 + 4 * count) * MEBIBYTE, `grown by ${(growth / MEBIBYTE).toFixed(1)} MiB`);
    }

    it('does not grow with their size', () => eachRow(FORMS, async (form) => {
        // The first request allocates threads, stacks and arenas.
        await daemon.bytes(target([0n, 0n], [1025, 513], { form }));
        await assertBounded(1, async () => {
            const stream = await open(daemon, large('quick', { form }));
            assert.equal(stream.status, 200);
            const { length } = await stream.rest();
            if (form !== 'png')
                assert.equal(length, form === 'f32' ? WHOLE : WHOLE / 2);
        });
    }));

    it('is bounded for several at once', () => assertBounded(6, async () => {
        const targets = Array.from({ length: 6 }, () => large('quick', { form: 'f32', sides: [2049, 2049] }));
        const lengths = await withStreams(daemon, targets, (streams) =>
            Promise.all(streams.map((stream) => stream.rest())));
        for (const { length } of lengths)
            assert.equal(length, 2049 * 2049 * 4);
    }));

    it('is bounded if they are read slowly or not at all', () => assertBounded(6, () =>
        withStreams(daemon, FORMS.flatMap((form) => [large('quick', { form }), large('default', { form })]),
            async (streams) => {
                for (const [i, stream] of streams.entries())
                    if (i % 2)
                        await stream.read(100000);
                assert.ok(await rests(daemon.pid));
                for (let sip = 1; sip <= 5; sip++)
                    await Promise.all(streams.filter((_, i) => i % 2).map((stream) =>
                        stream.read(stream.received + 50000)));
                assert.ok(await rests(daemon.pid));
                assert.ok(streams.every(({ error, done }) => !error && !done));
            })));

    it('is released', async () => {
        const before = await peakGrowth(daemon.pid, () => {});
        assert.ok(before < MEBIBYTE || sanitized, 'memory grows while idle');
        await assertBounded(1, async () => {
            for (let i = 0; i < fewer(60); i++) {
                const stream = await open(daemon, large('quick', { form: FORMS[i % 3] }));
                await stream.read(1 + i % 5 * 100000);
                stream.leave();
            }
        });
    });
});

describe('large regions', { timeout: TIMEOUT }, () => {
    // With one thread, a request that waits for the end of another shows.
    const daemon = useDaemon({ config: config('threads: 1\nlimits: { wait: 60000 }\n') });

    const OTHERS = { 'a tile': coldTile, 'a region': small, '/healthz': () => '/healthz' };

    /* A MiB may be much of a picture, so for pictures only the end is tested. */
    it('delay neither tiles nor small regions', () => eachRow([['f32', 4], ['png', Infinity]], ([form, pieces]) =>
        withStreams(daemon, [slow(form)], async ([stream]) => {
            await stream.read(1);
            await assertNotDelayed(daemon, [stream.flow()], OTHERS, pieces);
        })));

    it('delay them no more if there are many', () => withStreams(daemon,
        Array.from({ length: 2 + fewer(6) }, () => large('slow')), async (streams) => {
            await Promise.all(streams.map((stream) => stream.read(1)));
            await assertNotDelayed(daemon, streams.map((stream) => stream.flow()), OTHERS, 12);
        }));

    it('delay nothing if nobody reads them', () => withStreams(daemon,
        Array.from({ length: 8 }, (_, i) => large('default', { form: FORMS[i % 3] })), async (streams) => {
            assert.ok(await rests(daemon.pid), 'unread regions are computed');
            await assertNotDelayed(daemon, streams, OTHERS, 0);
            // Another one completes.
            const { length } = await (await open(daemon, large('quick'))).rest();
            assert.equal(length, WHOLE);
            assert.ok(streams.every(({ done, error }) => !done && !error));
        }));

    it('have the same bytes alone or together, read quickly or slowly', async () => {
        const targets = FORMS.map((form) => target([1n, 1n], [1025, 1025], { form }));
        const alone = [];
        for (const one of targets)
            alone.push(digestOf(await daemon.bytes(one)));
        await withStreams(daemon, [...targets, ...targets, ...targets], async (streams) => {
            const digests = await Promise.all(streams.map(async (stream, i) => {
                if (i % 2 === 0)
                    while (!stream.done) {
                        await stream.read(stream.received + 300000);
                        await daemon.bytes('/healthz');         // a pause
                    }
                return (await stream.rest()).digest;
            }));
            assert.deepEqual(digests, [...alone, ...alone, ...alone]);
        });
    });

    it('keep the connection usable', () => eachRow(FORMS, async (form) => {
        const path = target([7n, 7n], [1025, 257], { form });
        const whole = await daemon.bytes(path);
        const { answers, rest } = await daemon.raw(
            request('GET', path) + request('HEAD', '/healthz') + request('GET', path) + request('GET', '/healthz'),
            { methods: ['GET', 'HEAD', 'GET', 'GET'] });
        assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 200]);
        assert.ok(answers[0].body.equals(whole) && answers[2].body.equals(whole), 'different bytes');
        assert.equal(rest.length, 0, 'bytes after the last response');
        for (const { headers } of answers)
            assert.notEqual(headers.connection?.toLowerCase(), 'close');
    }));

    it('work with HTTP/1.0 and Connection: close', () => eachRow(FORMS.flatMap((form) =>
        [['HTTP/1.0\r\n\r\n', form], ['HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', form]]), async ([tail, form]) => {
        const path = target([7n, 7n], [1025, 257], { form });
        const { answers: [answer], closed } = await daemon.raw(`GET ${path} ${tail}`, { closeLimit: CLOSE_LIMIT });
        assertStatus(answer, 200);
        assert.ok(answer.body.equals(await daemon.bytes(path)), 'different bytes');
        assert.ok(closed, 'the connection stayed open');
        if (form !== 'png')
            assert.equal(Number(answer.headers['content-length']), answer.body.length);
        if (tail.startsWith('HTTP/1.0'))
            assert.equal(answer.headers['transfer-encoding'], undefined, 'HTTP/1.0 has no chunks');
    }));
});

describe('a client that disconnects in mid-stream', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: config() });
    const idle = () => rests(daemon.pid);

    it('stops the computation', () => eachRow(FORMS, async (form) => {
        const begun = processorTime(daemon.pid);
        const stream = await open(daemon, slow(form));
        await stream.read(1);
        stream.flow();
        const first = processorTime(daemon.pid) - begun;
        assert.ok(await eventually(() => processorTime(daemon.pid) - begun - first > 30), 'nothing is being computed');
        assert.ok(!stream.done && !stream.error);
        stream.leave();
        const spent = await processorTimeOf(daemon.pid, async () => assert.ok(await idle(), 'the computation goes on'));
        // The bands in progress, of many.
        assert.ok(form !== 'png' || spent < 8 * first, `${spent} ms of processor time, ${first} before the first byte`);
        assertStatus(await daemon.get('/healthz'), 200);
    }));

    it('stops the computation even before it begins', async () => {
        for (let i = 0; i < 12; i++) {
            const connection = await daemon.connect();
            connection.send(request('GET', large('slow', { form: FORMS[i % 3] })));
            if (i % 2)
                await daemon.bytes('/healthz');     // meanwhile it is read
            connection.close();
        }
        assert.ok(await idle(), 'the computation goes on');
        assert.equal((await daemon.bytes(target([0n, 0n], [1025, 1025], { world: 'quick' }))).length, 1025 * 1025 * 4);
    });

    it('does not affect other streams', () => withStreams(daemon, [large('quick'), large('slow')], async ([kept, aborted]) => {
        await kept.read(100000);
        await aborted.read(100000);
        aborted.leave();
        assert.equal((await kept.rest()).length, WHOLE);
    }));
});

describe('the number of concurrent large regions', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: config('limits: { streams: 2 }\n') });

    it('is limited', async () => {
        await withStreams(daemon, [large('quick'), large('quick', { form: 'png' })], async (streams) => {
            assert.deepEqual(streams.map(({ status }) => status), [200, 200]);
            const more = large('quick');
            await eachRow(FORMS, async (form) => {
                const answer = await daemon.get(large('quick', { form }));
                assertError(answer, 503);
                assert.match(answer.headers['retry-after'], /^[1-9]\d*$/);
                assert.equal(answer.headers.etag, undefined);
            });
            // Responses that need no stream are not limited.
            const { status, headers } = await daemon.head(more);
            assert.equal(status, 200);
            assertStatus(await daemon.get(more, { 'If-None-Match': headers.etag }), 304);
            assertStatus(await daemon.get(more, { Range: 'bytes=-4' }), 206);
            for (const path of [small(), coldTile(), target([0n, 0n], [512, 512], { world: 'quick' }), '/healthz'])
                assertStatus(await daemon.get(path), 200);
            // When a stream has ended, a new one is accepted.
            streams[0].leave();
            assert.ok(await eventually(async () => {
                const stream = await open(daemon, more);
                if (stream.status === 200)
                    assert.equal((await stream.rest()).length, WHOLE);
                stream.leave();
                return stream.status === 200;
            }), 'the place is not released');
            assert.ok(!streams[1].error && !streams[1].done);
        });
        assert.ok(await eventually(async () => {
            const [a, b] = [await open(daemon, large('quick')), await open(daemon, large('quick'))];
            a.leave();
            b.leave();
            return a.status === 200 && b.status === 200;
        }), 'places are not released');
    });

    it('is limited for the whole daemon, not per shard', () => eachRow([[1, 1], [1, 3], [2, 1], [2, 3], [4, 2]],
        ([shards, count]) => withDaemon((other) => withStreams(other, Array.from({ length: count + 4 }, () => large('quick')),
            (streams) => {
                const statuses = streams.map(({ status }) => status);
                assert.deepEqual([200, 503].map((status) => statuses.filter((one) => one === status).length), [count, 4],
                    `${statuses}`);
            }), { config: config(`shards: ${shards}\nlimits: { streams: ${count} }\n`) })));

    it('reaches its limit on any pair of connections', () => eachRow([[0, 1], [0, 2], [0, 3]], (pair) =>
        withDaemon(async (other) => {
            const connections = [];
            for (let i = 0; i < 4; i++) {
                connections.push(await other.connect());
                assertStatus(await connections[i].send(request('GET', '/healthz')).answer(), 200);
            }
            for (const i of pair) {
                const { socket } = connections[i];
                const head = once(socket, 'data');
                connections[i].send(request('GET', large('quick')));
                assert.match((await head)[0].toString('latin1', 0, 12), /^HTTP\/1.1 200/);
                socket.pause();
            }
            for (const connection of connections)
                connection.close();
        }, { config: config('shards: 2\nlimits: { streams: 2 }\n') })));

    it('is at most 16 per client by default', () => withDaemon(async (other) => {
        const from = (client) => ({ 'X-Forwarded-For': client });
        const sixteen = Array.from({ length: 16 }, () => large('quick'));
        const assertAccepted = (streams) =>
            assert.ok(streams.every(({ status }) => status === 200), streams.map(({ status }) => status).join(' '));
        await withStreams(other, sixteen, async (streams) => {
            assertAccepted(streams);
            assertError(await other.get(large('quick'), from('192.0.2.1')), 503);
            assert.equal(await other.metric('farlands_limited_total'), 1);
            assertStatus(await other.get(small(), from('192.0.2.1')), 200);
            await withStreams(other, sixteen, async (others) => {
                assertAccepted(others);
                assertError(await other.get(large('quick'), from('192.0.2.3')), 503);
                assert.equal(await other.metric('farlands_limited_total'), 1);
            }, from('192.0.2.2'));
            // When a stream has ended, its client may open a new one.
            streams[3].leave();
            assert.ok(await eventually(async () => {
                const stream = await open(other, large('quick'), from('192.0.2.1'));
                stream.leave();
                return stream.status === 200;
            }), 'the place is not released');
        }, from('192.0.2.1'));
    }, { config: config('proxies: [127.0.0.1]\nlimits: { streams: 32 }\n') }));
});

/* However busy the machine, responses in progress are completed, and none is given up because it takes long. */
const PATIENT = { config: config('limits: { drain: 600 }\n') };

describe('shutdown', { timeout: TIMEOUT, concurrency: true }, () => {
    it('waits for streams in progress', () => eachRow(FORMS, (form) => withDaemon(async (daemon) => {
        const path = target([3n, 3n], [2049, 2049], { form });
        const expected = await (await open(daemon, path)).rest();
        const streams = [await open(daemon, path), await open(daemon, path)];
        await streams[0].read(200000);
        daemon.kill('SIGTERM');
        assert.ok(await draining(daemon));
        for (const stream of streams)
            assert.deepEqual(await stream.rest(), expected);
        assertPeace(await daemon.ended());
    }, PATIENT)));

    it('is immediate on a second signal', () => withDaemon(async (daemon) => {
        const stream = await open(daemon, large('slow'));
        await stream.read(100000);
        daemon.kill('SIGTERM');
        assert.ok(await draining(daemon));
        const { signal, late, stderr } = await daemon.stop('SIGTERM');
        assert.equal(late, false, 'still running after the second signal');
        assert.ok(signal === null || signal === 'SIGTERM', `killed by ${signal}: ${stderr}`);
        assert.match(stderr, /again: stopping now/);
        await assert.rejects(stream.rest(), /cut/);
    }, PATIENT));

    it('does not truncate pictures', () => withDaemon(async (daemon) => {
        const connection = await daemon.connect();
        connection.send(request('GET', target([3n, 3n], [1025, 1025], { form: 'png' })));
        await eventually(() => connection.received > 0);
        daemon.kill('SIGTERM');
        const answer = await connection.answer();
        assertStatus(answer, 200);
        pngChunks(answer.body);
        assert.equal(decodePng(answer.body).height, 1025);
        assertPeace(await daemon.ended());
        connection.close();
    }, PATIENT));
});
