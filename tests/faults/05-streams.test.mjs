// Faults in the middle of answers that are made while they are sent, and of what else is worked
// out for one client alone.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { assertPeace, useDaemon } from '../http/daemon.mjs';
import { eventually, fewer, patience, scratchFile } from '../http/program.mjs';
import { assertStatus, eachRow } from '../http/table.mjs';
import { cpuSeconds, memoryOf, serving, settled } from './faults.mjs';

const numbers = (count) => Array.from({ length: count }, (_, i) => i);
const alone = () => new http.Agent({ keepAlive: false });

/* More bytes than the buffers of two sockets take: of a client that does not read most are unmade. */
const LARGE = '/default/region.f32?x=-2000&y=0&width=4097&height=1025';
const LARGE_BYTES = 4097 * 1025 * 4;
const VOLUME = '/default:42/volume.f32?x=0&y=0&z=1600&width=128&height=128&depth=128';

/* The answer to TARGET as soon as its head is there. Nothing of its body is read yet. */
const begin = (daemon, target) => new Promise((resolve, reject) => {
    http.get({ host: daemon.host, port: daemon.port, path: target, agent: alone() }, resolve).on('error', reject);
});

/* What is left of ANSWER: its bytes, and whether it was cut off. */
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

/* Answers to COUNT clients that read nothing, when all that can be made for them is made. */
async function stalled(daemon, targets) {
    const answers = await Promise.all(targets.map((target) => begin(daemon, target)));
    assert.deepEqual(answers.map((answer) => answer.statusCode), targets.map(() => 200));
    assert.ok(await eventually(async () => await daemon.metric('farlands_queue_length') +
        await daemon.metric('farlands_renders_running') === 0, 20000), 'made for nobody');
    return answers;
}

describe('in mid-stream', { timeout: patience(90000), concurrency: 2 }, () => {
    const reference = useDaemon();

    it('fault 15: malloc fails: cut off or 503, never a wrong byte, and the daemon lives', () => eachRow([
        [{ every: 9 }], [{ every: 23 }], [{ every: 100, seed: 1 }], [{ every: 100, seed: 2 }],
        [{ every: 2, least: 1 << 16 }], [{ every: 3, least: 1 << 19, seed: 3 }], [{ every: 1, least: 1 << 19 }],
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
        assert.ok(hits > 0, 'nothing failed');
        assert.ok(daemon.program.running, 'the daemon is gone');
        await eachRow(results, async ([target, { answer, error }]) => {
            if (error) {
                assert.match(error.message, /socket hang up|ECONNRESET/);
                return;
            }
            assertStatus(answer, [200, 503]);
            if (answer.status === 503)
                return;
            const whole = await reference.bytes(target);
            assert.ok(answer.cut || answer.body.length === whole.length, 'short, and not cut off');
            assert.ok(answer.body.equals(whole.subarray(0, answer.body.length)), 'other bytes');
        });
        // As if nothing had been.
        await eachRow(targets, async (target) =>
            assert.ok((await daemon.bytes(target)).equals(await reference.bytes(target)), 'other bytes'));
        assert.equal(await daemon.metric('farlands_queue_length'), 0);
    })));

    it('fault 19: clients leave: no more is made for them, and their places are free', () => serving(async (daemon) => {
        const before = memoryOf(daemon.pid);
        for (let round = 0; round < 1 + fewer(2); round++) {
            const answers = await stalled(daemon, numbers(16).map((i) => (i % 2 ? LARGE : VOLUME)));
            // Four pieces of a MiB each, and what libmicrohttpd keeps.
            assert.ok(memoryOf(daemon.pid) - before < 112 << 20, `${(memoryOf(daemon.pid) - before) >> 20} MiB more for 16 streams`);
            // In the middle of work: some read on.
            answers.slice(0, 8).forEach((answer) => answer.resume());
            await sleep(100);
            answers.forEach((answer) => answer.destroy());
            // A fifth of a core is more than it takes to do nothing.
            let used;
            const idle = async () => {
                const before = cpuSeconds(daemon.pid);
                await sleep(250);
                used = cpuSeconds(daemon.pid) - before;
                return used < 0.05;
            };
            assert.ok(await eventually(idle, 1750), `${used} s of 0.25 s for clients that have left`);
        }
        assertStatus(await daemon.get('/healthz'), 200);
    }, { config: 'shards: 1\nlimits: { streams: 16 }\n' }));

    it('fault 31: SIGTERM: what is being sent is finished', () => serving(async (daemon) => {
        const targets = [LARGE, VOLUME, '/default/region.png?x=0&y=0&width=4097&height=200'];
        const answers = await Promise.all(targets.map((target) => begin(daemon, target)));
        daemon.kill();
        await sleep(500);
        assert.ok(daemon.program.running, 'it left them alone');
        await eachRow(targets.map((target, i) => [target, answers[i]]), async ([target, answer]) => {
            const { body, cut } = await rest(answer);
            assert.ok(!cut, `cut off after ${body.length} bytes`);
            assert.ok(body.equals(await reference.bytes(target)), 'other bytes');
        });
        assertPeace(await daemon.ended(10000));
    }));

    it('fault 32: a second SIGTERM: cut off, at once', () => serving(async (daemon) => {
        const idle = await stalled(daemon, numbers(4).map(() => LARGE));
        const busy = await Promise.all(numbers(16).map(() => begin(daemon, VOLUME)));
        const ends = busy.map(rest);
        daemon.kill();
        await sleep(200);
        assert.ok(daemon.program.running, 'it did not wait the first time');
        const started = Date.now();
        daemon.kill();
        assertPeace(await daemon.ended(8000));
        assert.ok(Date.now() - started < patience(1500), `took ${Date.now() - started} ms`);
        await Promise.all(ends);
        for (const { cut, body } of await Promise.all(idle.map(rest)))
            assert.ok(cut && body.length < LARGE_BYTES, `${body.length} bytes as if whole`);
    }, { config: 'threads: 2\nlimits: { streams: 32, streams_per_client: 0 }\n' }));

    it('fault 33: a SIGHUP takes the world, or its seeds, away: they end in the world they began in', async () => {
        const file = scratchFile('changing.yaml', 'worlds: [{ name: default, seeds: any }]\n');
        await serving(async (daemon) => {
            const targets = ['/default:42/region.f32?x=-2000&y=0&width=4097&height=600', VOLUME, LARGE];
            const wholes = await Promise.all(targets.map((target) => reference.bytes(target)));
            const answers = await Promise.all(targets.map((target) => begin(daemon, target)));
            for (const world of ['{ name: default }', '{ name: other, seed: 5 }']) {
                fs.writeFileSync(file, `worlds: [${world}]\n`);
                const done = await daemon.metric('farlands_reloads_total', 'result="ok"');
                daemon.kill('SIGHUP');
                assert.ok(await eventually(async () => await daemon.metric('farlands_reloads_total', 'result="ok"') > done));
                assertStatus(await daemon.get('/default:42/region.f32?x=0&y=0&width=2&height=2'), 404);
            }
            await eachRow(targets.map((target, i) => [target, answers[i], wholes[i]]), async ([, answer, whole]) => {
                const { body, cut } = await rest(answer);
                assert.ok(!cut && body.equals(whole), 'cut off, or other bytes');
            });
        }, { args: ['--config', file] });
    });
});
