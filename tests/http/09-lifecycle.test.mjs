// Start, drain, stop: no request fails because the daemon is stopped.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { Daemon, assertKeepsPort, assertPeace, draining, useDaemon, withDaemon } from './daemon.mjs';
import { Faults } from '../preload/preload.mjs';
import { pngChunks } from './png.mjs';
import { BINARY, TIMEOUT, eventually, fewer, scratch, scratchFile } from './program.mjs';
import { assertStatus, eachRow } from './table.mjs';
import { request } from './wire.mjs';

/* Resolve to { answer } or { error }, so that a promise may fail while others are awaited. */
const settled = (promise) => promise.then((answer) => ({ answer }), (error) => ({ error }));

const cold = (i) => request('GET', `/default/relief/12/${i}/${i % 7}@2x.png`);

/* A whole response: a tile or, on a busy machine, the message that its render timed out. */
function assertWhole(answer) {
    if (answer.status === 503 && answer.body.includes('render timed out'))
        return;
    assertStatus(answer, 200);
    pngChunks(answer.body);
}

/* However busy the machine, requests in progress are answered. */
const PATIENT = { config: 'limits: { drain: 600 }\n' };

/* It exited with 0, and no connection was left when the time for that was over. */
function assertDrained(result) {
    assertPeace(result);
    assert.doesNotMatch(result.stderr, /drain timed out/);
}

describe('shutdown', { timeout: TIMEOUT }, () => {
    it('exits with code 0', () => eachRow(['SIGTERM', 'SIGINT'], (signal) =>
        withDaemon(async (daemon) => {
            await daemon.bytes('/default/gray/3/1/1.png');
            assertDrained(await daemon.stop(signal));
        }, PATIENT)));

    it('does not wait for connections without a request', () => eachRow([
        ['silent', ''],
        ['kept alive', request('GET', '/healthz')],
        ['kept alive after a cold tile', cold(1000)],
    ], ([, bytes]) => withDaemon(async (daemon) => {
        const connections = await Promise.all(Array.from({ length: 10 }, () => daemon.connect()));
        for (const connection of connections) {
            connection.send(bytes);
            if (bytes)
                await connection.answer();
        }
        assert.ok(await eventually(async () => await daemon.metric('farlands_connections') >= connections.length));
        assertDrained(await daemon.stop('SIGTERM'));
        for (const connection of connections)
            connection.close();
    }, PATIENT)));

    it('waits for pending requests', () => eachRow(['SIGTERM', 'SIGINT'], (signal) =>
        withDaemon(async (daemon) => {
            const connections = await Promise.all(Array.from({ length: fewer(50) }, () => daemon.connect()));
            await Promise.all(connections.map((connection) => {
                connection.send(request('GET', '/healthz'));
                return connection.answer();
            }));
            const answers = connections.map((connection, i) =>
                settled(connection.send(cold(i)).answer()));
            daemon.kill(signal);
            await eachRow([...answers.keys()], async (i) => {
                const { answer, error } = await answers[i];
                assert.ifError(error);
                assertWhole(answer);
            });
            assertPeace(await daemon.ended());
            for (const connection of connections)
                assert.ok(await connection.closed(), 'left open after the daemon exited');
        }, PATIENT)));

    it('cuts no response of clients that are connecting', () => withDaemon(async (daemon) => {
        const attempts = Array.from({ length: fewer(50) }, async (_, i) => {
            let connection;
            try {
                connection = await daemon.connect();
                return { answer: await connection.send(cold(i + 100)).answer() };
            } catch (error) {
                return { error, received: connection?.received ?? 0 };
            }
        });
        await Promise.race(attempts);
        daemon.kill();
        const results = await Promise.all(attempts);
        await eachRow([...results.keys()], (i) => {
            const { answer, error, received } = results[i];
            if (answer) {
                assertWhole(answer);
            } else {
                assert.equal(received, 0, `cut after ${received} bytes: ${error.message}`);
            }
        });
        assertPeace(await daemon.ended());
    }, PATIENT));

    it('makes /readyz fail, but not /healthz', () => withDaemon(async (daemon) => {
        const [asking, healthy] = [await daemon.connect(), await daemon.connect()];
        for (const connection of [asking, healthy]) {
            connection.send(request('GET', '/healthz'));
            assertStatus(await connection.answer(), 200);
        }
        const busy = await Promise.all(Array.from({ length: fewer(50) }, () => daemon.connect()));
        const answers = busy.map((connection, i) =>
            settled(connection.send(cold(i + 200)).answer()));
        await answers[0];
        daemon.kill();
        assert.ok(await draining(daemon));
        // A drained connection may be closed already; otherwise /readyz returns 503.
        let ready;
        await eventually(async () => {
            ready = await asking.send(request('GET', '/readyz')).answer().catch(() => null);
            return ready?.status !== 200;       // it drains a moment after it has logged that
        });
        if (ready) {
            assertStatus(ready, 503);
            assert.equal(ready.headers['cache-control'], 'no-store');
            assert.match(ready.headers['content-type'], /^application\/json\b/);
        } else {
            assert.equal(asking.buffer.length, 0, 'cut in mid-response');
        }
        const alive = await healthy.send(request('GET', '/healthz')).answer().catch(() => null);
        if (alive)
            assertStatus(alive, 200);
        await eachRow([...answers.keys()], async (i) => {
            const { answer, error } = await answers[i];
            assert.ifError(error);
            assertWhole(answer);
        });
        assertPeace(await daemon.ended());
    }, PATIENT));

    it('is immediate on a second signal, without a crash', () => {
        const faults = new Faults(scratch());
        return withDaemon(async (daemon) => {
            faults.hold('encode');
            const connections = await Promise.all(Array.from({ length: 20 }, () => daemon.connect()));
            const answers = connections.map((connection, i) =>
                settled(connection.send(request('GET', `/default/relief/12/${i}/7.png`)).answer()));
            assert.ok(await eventually(async () => await daemon.metric('farlands_queue_length') > 10));
            daemon.kill();
            assert.ok(await draining(daemon));
            const { signal, late, stderr } = await daemon.stop('SIGTERM');
            assert.equal(late, false, 'still running after the second signal');
            assert.ok(signal === null || signal === 'SIGTERM', `killed by ${signal}: ${stderr}`);
            for (const { answer } of await Promise.all(answers))
                assert.notEqual(answer?.status, 200, 'a response was waited for');
        }, { env: faults.env, config: 'threads: 1\n' });
    });

    it('serves connections that are still in the backlog', () => withDaemon(async (daemon) => {
        const hit = '/default/gray/9/1/1.png';
        const { length } = await daemon.bytes(hit);
        daemon.kill('SIGSTOP');
        const connections = await Promise.all(Array.from({ length: 200 }, () => daemon.connect()));
        const answers = connections.map((connection) =>
            settled(connection.send(request('GET', hit)).answer()));
        daemon.kill('SIGTERM');
        daemon.kill('SIGCONT');
        await eachRow([...answers.keys()], async (i) => {
            const { answer, error } = await answers[i];
            assert.ifError(error);
            assertStatus(answer, 200);
            assert.equal(answer.body.length, length);
        });
        assertPeace(await daemon.ended());
    }, PATIENT));

    it('releases the port', async () => {
        const first = await new Daemon().start();
        await first.bytes('/healthz');
        await first.quit();
        const again = new Daemon({ listen: `127.0.0.1:${first.port}` });
        await again.start();
        assert.equal(again.port, first.port);
        await again.quit();
    });
});

describe('a daemon whose port is in use', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon();

    it('exits with code 1 and a message', () => assertKeepsPort(daemon));
});

describe('one file for stdout and stderr', { timeout: TIMEOUT }, () => {
    it('contains all lines of both', async () => {
        const all = path.join(scratch(), 'all');
        const file = fs.openSync(all, 'w');
        const child = spawn(BINARY, ['serve', '--listen', '127.0.0.1:0', '--cache', scratchFile('no-directory', '')],
            { stdio: ['ignore', file, file] });
        fs.closeSync(file);
        const lines = () => fs.readFileSync(all, 'utf8').split('\n');
        try {
            assert.ok(await eventually(() => lines().some((line) => line.startsWith('farlands: serving '))));
        } finally {
            child.kill();
            await once(child, 'exit');
        }
        for (const pattern of [/^20.* warning no disk cache: .*; serving without one$/, /^farlands: serving /,
            /^20.* info Terminated/])
            assert.equal(lines().filter((line) => pattern.test(line)).length, 1, lines().join('\n'));
    });
});
