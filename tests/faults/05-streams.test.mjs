// Faults during streamed responses, which are computed while they are sent, and during other
// responses computed for one client alone.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import { describe, it } from 'node:test';
import { assertPeace, useDaemon } from '../http/daemon.mjs';
import { eventually, fewer, patience, scratchFile } from '../http/program.mjs';
import { assertStatus, eachRow } from '../http/table.mjs';
import { open } from '../http/streams.mjs';
import { NO_SHEDDING, draining, frozen, memoryOf, serving, settled } from './faults.mjs';

const numbers = (count) => Array.from({ length: count }, (_, i) => i);
const alone = () => new http.Agent({ keepAlive: false });

/* More bytes than both sockets buffer: for a client that does not read, most are not computed yet. */
const LARGE = '/default/region.f32?x=-2000&y=0&width=4097&height=1025';
const LARGE_BYTES = 4097 * 1025 * 4;
const VOLUME = '/default:42/volume.f32?x=0&y=0&z=1600&width=128&height=128&depth=128';

/* Request TARGET: resolves when the response head arrives, before any of its body is read. */
const begin = (daemon, target) => new Promise((resolve, reject) => {
    http.get({ host: daemon.host, port: daemon.port, path: target, agent: alone() }, resolve).on('error', reject);
});

/* The rest of ANSWER: { body, cut }; cut is true if the connection closed too early. */
async function rest(answer) {
    const parts = [];
    let cut = false;
    try {
        for await (const part of answer)
            parts.push(part);
    } catch {
        cut = true;
    }
    return { body: Buffer.concat(parts), cut };
}

/* Responses to clients that do not read, once their buffers are full and nothing more is computed. */
async function stalled(daemon, faults, targets) {
    const answers = await Promise.all(targets.map((target) => begin(daemon, target)));
    assert.deepEqual(answers.map((answer) => answer.statusCode), targets.map(() => 200));
    await assertIdle(daemon, faults);
    return answers;
}

/* Nothing is computed. */
async function assertIdle(daemon, faults) {
    await faults.settled();
    for (const metric of ['farlands_queue_length', 'farlands_renders_running'])
        assert.equal(await daemon.metric(metric), 0, `${metric}: still computing`);
}

describe('during a streamed response', { timeout: patience(300000), concurrency: 2 }, () => {
    const reference = useDaemon();

    it('fault 15: malloc fails: cut off or 503, never a wrong byte, and the daemon keeps running', () => eachRow([
        [{ every: 9 }], [{ every: 23 }], [{ every: 100, seed: 1 }], [{ every: 100, seed: 2 }],
        [{ every: 2, least: 1 << 16 }], [{ every: 3, least: 1 << 19, seed: 6 }], [{ every: 1, least: 1 << 19 }],
    ], ([rule]) => serving(async (daemon, faults) => {
        const targets = [
            '/default/region.f32?x=5&y=7&width=1025&height=600', '/default/region.png?x=5&y=7&width=1025&height=513',
            '/default:42/region.r16?x=5&y=7&width=1025&height=600', '/default/region.png?x=5&y=7&width=33&height=33',
            '/default/volume.f32?x=0&y=0&z=1700&width=65&height=65&depth=129', '/default:7/region.f32?x=0&y=0&width=17&height=17',
            '/default/heights?at=0,0;1,2;-3,4', '/default:9/spawn?x=0&y=0&slope=0.01', '/default:9.json',
        ];
        await daemon.get('/healthz');
        faults.set('allocate', { error: 'ENOMEM', ...rule });
        const results = await Promise.all([...targets, ...targets].map(async (target) =>
            [target, await settled(begin(daemon, target).then(async (answer) => ({ status: answer.statusCode, ...await rest(answer) })))]));
        const hits = faults.hits('allocate');
        faults.clear();
        assert.ok(hits > 0, 'no allocation failed');
        assert.ok(daemon.program.running, 'the daemon exited');
        await eachRow(results, async ([target, { answer, error }]) => {
            if (error) {
                assert.match(error.message, /socket hang up|ECONNRESET/);
                return;
            }
            assertStatus(answer, [200, 503]);
            if (answer.status === 503)
                return;
            const whole = await reference.bytes(target);
            assert.ok(answer.cut || answer.body.length === whole.length, 'incomplete, but not cut off');
            assert.ok(answer.body.equals(whole.subarray(0, answer.body.length)), 'bytes differ');
        });
        // Afterwards it works as before.
        await eachRow(targets, async (target) =>
            assert.ok((await daemon.bytes(target)).equals(await reference.bytes(target)), 'bytes differ'));
        assert.equal(await daemon.metric('farlands_queue_length'), 0);
    })));

    it('fault 19: clients disconnect: nothing more is computed for them, and their stream slots are free', () => serving(async (daemon, faults) => {
        const before = memoryOf(daemon.pid);
        for (let round = 0; round < 1 + fewer(2); round++) {
            const answers = await stalled(daemon, faults, numbers(16).map((i) => (i % 2 ? LARGE : VOLUME)));
            // Four chunks of 1 MiB each, and the buffers of libmicrohttpd.
            assert.ok(memoryOf(daemon.pid) - before < 112 << 20, `${(memoryOf(daemon.pid) - before) >> 20} MiB more for 16 streams`);
            // Half of the clients read on, so that work is in progress.
            answers.slice(0, 8).forEach((answer) => answer.resume());
            await once(answers[0], 'data');
            answers.forEach((answer) => answer.destroy());
            assert.ok(await eventually(async () => await daemon.metric('farlands_connections') === 1), 'connections are left');
            await assertIdle(daemon, faults);
        }
        assertStatus(await daemon.get('/healthz'), 200);
    }, { config: 'shards: 1\nlimits: { streams: 16 }\n' }));

    it('fault 31: SIGTERM: responses in progress are completed', () => serving(async (daemon) => {
        const targets = [LARGE, VOLUME, '/default/region.png?x=0&y=0&width=4097&height=200'];
        const answers = await Promise.all(targets.map((target) => begin(daemon, target)));
        await draining(daemon);
        await eachRow(targets.map((target, i) => [target, answers[i]]), async ([target, answer]) => {
            const { body, cut } = await rest(answer);
            assert.ok(!cut, `cut off after ${body.length} bytes`);
            assert.ok(body.equals(await reference.bytes(target)), 'bytes differ');
        });
        assertPeace(await daemon.ended(30000));
    }, { config: NO_SHEDDING }));

    it('fault 31: a drain ends after limits.drain, and cuts off a response that is still being read', () => eachRow(
        [['', 4], ['limits: { drain: 25 }\n', 25]], ([config, SECONDS]) => frozen(async (daemon, faults) => {
        const PACE = 256 << 10; /* fast enough for every other deadline */
        const stream = await open(daemon, LARGE);
        await draining(daemon);
        for (let second = 1; second < SECONDS; second++) {
            await stream.read(stream.received + PACE);
            await faults.pass(1);
        }
        await faults.pass(0.9);
        assert.ok(daemon.program.running && !/drain timed out/.test(daemon.stderr), `ended early: ${daemon.stderr}`);
        assert.ok(!stream.error && stream.received < LARGE_BYTES / 2);
        faults.advance('steady', 0.2);
        faults.thaw();
        assertPeace(await daemon.ended(30000));
        assert.match(daemon.stderr, /warning drain timed out; closing the remaining connections/);
        await assert.rejects(stream.rest(), /cut after/);
    }, { config })));

    it('fault 32: a second SIGTERM: responses are cut off at once', () => frozen(async (daemon, faults) => {
        const idle = await stalled(daemon, faults, numbers(4).map(() => LARGE));
        const busy = await Promise.all(numbers(16).map(() => begin(daemon, VOLUME)));
        const ends = busy.map(rest);
        await draining(daemon);
        assert.ok(daemon.program.running, 'the first signal did not drain');
        daemon.kill();
        // A drain that waited for the clients would take 4 s.
        assert.ok(await eventually(() => {
            faults.advance('steady', 0.001);
            return !daemon.program.running;
        }, 20000), 'not at once');
        assertPeace(await daemon.ended());
        assert.doesNotMatch(daemon.stderr, /drain timed out/);
        await Promise.all(ends);
        for (const { cut, body } of await Promise.all(idle.map(rest)))
            assert.ok(cut && body.length < LARGE_BYTES, `${body.length} bytes, not cut off`);
    }, { config: 'threads: 2\nlimits: { streams: 32, streams_per_client: 0 }\n' }));

    it('fault 33: SIGHUP removes the world, or its seeds: responses end in the world they began in', async () => {
        const file = scratchFile('changing.yaml', 'worlds: [{ name: default, seeds: any }]\n');
        await serving(async (daemon) => {
            const targets = ['/default:42/region.f32?x=-2000&y=0&width=4097&height=600', VOLUME, LARGE];
            const wholes = await Promise.all(targets.map((target) => reference.bytes(target)));
            const answers = await Promise.all(targets.map((target) => begin(daemon, target)));
            for (const world of ['{ name: default }', '{ name: other, seed: 5 }']) {
                fs.writeFileSync(file, `worlds: [${world}]\n`);
                await daemon.reload();
                assertStatus(await daemon.get('/default:42/region.f32?x=0&y=0&width=2&height=2'), 404);
            }
            await eachRow(targets.map((target, i) => [target, answers[i], wholes[i]]), async ([, answer, whole]) => {
                const { body, cut } = await rest(answer);
                assert.ok(!cut && body.equals(whole), 'cut off, or bytes differ');
            });
        }, { args: ['--config', file] });
    });
});
