// Faults 31 to 38: shutdown, reload, stuck threads, blocked logs, a port in use.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { assertKeepsPort, assertPeace } from '../http/daemon.mjs';
import { pngChunks } from '../http/png.mjs';
import { BINARY, eventually, patience, scratch, scratchFile, withFractal } from '../http/program.mjs';
import { assertStatus, eachRow } from '../http/table.mjs';
import { connect, request } from '../http/wire.mjs';
import { Faults, NO_SHEDDING, draining, frozen, logLines, memoryOf, openFiles, serving, settled } from './faults.mjs';

const tile = (i, column = 900) => `/default/gray/11/${column}/${i}.png`;
const numbers = (count) => Array.from({ length: count }, (_, i) => i);
const alone = () => new http.Agent({ keepAlive: false, maxSockets: Infinity });

/* A configuration that a test rewrites while the daemon runs: { args, write }. */
function changing(text) {
    const file = scratchFile('changing.yaml', text);
    return { args: ['--config', file], write: (next) => fs.writeFileSync(file, next), file };
}

/*
 * A client like HTTP libraries: sequential requests on one connection, and a new connection if the
 * daemon sent "close" or closed an idle one before the first byte of a response. Runs until the port
 * no longer listens. Returns the number of responses; throws on any other failure.
 */
async function keepAsking(daemon, next) {
    for (let answered = 0; ;) {
        let connection;
        try {
            connection = await connect(daemon);
        } catch {
            return answered;
        }
        for (let first = true; ; first = false) {
            const { answer, error } = await settled(connection.send(request('GET', next())).answer('GET', 20000));
            if (error) {
                assert.equal(connection.received, 0, `cut off in a response: ${error.message}`);
                assert.ok(!first || !daemon.program.running || daemon.stopping, `a new connection was cut off: ${error.message}`);
                break;
            }
            assertStatus(answer, 200);
            if (answer.headers['content-type'] === 'image/png')
                pngChunks(answer.body);
            answered++;
            connection.received = connection.buffer.length;
            if (answer.headers.connection?.toLowerCase() === 'close')
                break;
        }
        connection.close();
    }
}

describe('shutdown', { timeout: patience(300000), concurrency: 2 }, () => {
    it('fault 31: SIGTERM under load: every request is answered, and the daemon exits', async () => {
        for (let round = 0; round < 4; round++)
            await serving(async (daemon) => {
                let asked = 0;
                const clients = numbers(24).map((n) => keepAsking(daemon,
                    () => (n % 3 ? tile(asked++ % 50) : tile(asked++, 100 + round))));
                assert.ok(await eventually(() => asked > 100 + 50 * round), 'no load');
                daemon.stopping = true;
                daemon.kill();
                assertPeace(await daemon.ended(30000));
                await Promise.all(clients);
            }, { config: NO_SHEDDING });
    });

    it('fault 31: while draining: /readyz 503, Connection: close, running renders finish', () =>
        frozen(async (daemon, faults) => {
            const [slow, ready, alive, idle] = await Promise.all(numbers(4).map(() => daemon.connect()));
            for (const connection of [ready, alive, idle]) {
                connection.send(request('GET', '/healthz'));
                assertStatus(await connection.answer(), 200);
            }
            faults.hold('encode');
            slow.send(request('GET', tile(0)));
            await faults.settled();
            assert.equal(faults.hits('encode'), 1);
            await draining(daemon);
            ready.send(request('GET', '/readyz'));
            const answer = await ready.answer();
            assertStatus(answer, 503);
            assert.equal(answer.headers.connection?.toLowerCase(), 'close');
            await faults.pass(1, 0.1);
            assert.ok(await idle.closed(10000), 'an idle connection stays open');
            assert.ok(daemon.program.running);
            faults.clear();
            const tileAnswer = await slow.answer();
            assertStatus(tileAnswer, 200);
            assert.equal(tileAnswer.headers.connection?.toLowerCase(), 'close');
            faults.thaw();
            assertPeace(await daemon.ended(30000));
            alive.close();
        }));

    it('fault 32: a second SIGTERM: the daemon exits without rendering what is queued, and without abort', () => eachRow(
        ['SIGTERM', 'SIGINT'], (signal) => frozen(async (daemon, faults) => {
            faults.set('encode', { amount: 2000 });
            const connections = await Promise.all(numbers(40).map(() => daemon.connect()));
            const answers = connections.map((connection, i) =>
                settled(connection.send(request('GET', tile(i))).answer('GET', 30000)));
            await faults.settled();
            await draining(daemon);
            assert.ok(daemon.program.running, 'the first signal did not drain');
            daemon.kill(signal);
            assert.ok(await eventually(() => / again: stopping now/.test(daemon.stderr)));
            faults.thaw();
            assertPeace(await daemon.ended(30000));
            assert.equal(faults.hits('encode'), 2, 'renders');      // of the two threads, begun before
            for (const { answer } of await Promise.all(answers))
                if (answer)
                    assertStatus(answer, [200, 503]);
        }, { config: 'threads: 2\n' }), { atOnce: true }));
});

describe('a reload', { timeout: patience(300000), concurrency: 4 }, () => {
    const world = (name, octaves) => `worlds:\n  - name: ${name}\n    noise: { octaves: ${octaves} }\n`;

    it('fault 33: an invalid configuration changes nothing; a valid one is applied entirely', async () => {
        const cache = scratch();
        const process = ({ listen = '127.0.0.1:0', path = cache } = {}) => `listen: ${listen}\ncache: { path: ${path} }\n`;
        const config = changing(process() + world('alpha', 5));
        await serving(async (daemon) => {
            const before = await daemon.json('/alpha.json');
            const image = await daemon.bytes('/alpha/gray/11/900/1.png');
            await eachRow([
                ['worlds: [\n', /changing\.yaml/],
                [`${process()}${world('beta', 5)}    sede: 3\n`, /sede/],
                [`${process()}${world('beta', 65)}`, /octaves/],
                [`${process({ listen: '127.0.0.1:1' })}${world('beta', 5)}`, /listen/],
                [`${process()}${world('beta', 5)}shards: 7\n`, /shards/],
                [`${process()}${world('beta', 5)}threads: 7\n`, /threads/],
                [`${process()}${world('beta', 5)}access_log: "-"\n`, /access_log/],
                [`${process({ path: '/nowhere' })}${world('beta', 5)}`, /cache\.path/],
            ], async ([text, names]) => {
                config.write(text);
                const lines = logLines(daemon).length;
                await daemon.reload('refused');
                await eventually(() => logLines(daemon).length > lines);       // it comes through another pipe
                const logged = logLines(daemon).slice(lines);
                assert.equal(logged.length, 1, `log lines:\n${logged.join('\n')}`);
                assert.match(logged[0], names);
                assert.deepEqual(await daemon.json('/alpha.json'), before);
                assertStatus(await daemon.get('/beta.json'), 404);
            });
            fs.unlinkSync(config.file);
            await daemon.reload('refused');
            config.write(`${process()}${world('beta', 7)}  - name: alpha\n    noise: { octaves: 5 }\nlimits: { queue: 5 }\n`);
            await daemon.reload();
            assert.equal((await daemon.json('/beta.json')).noise.octaves, 7);
            assert.deepEqual((await daemon.json('/worlds.json')).worlds.map(({ name }) => name), ['beta', 'alpha']);
            assert.equal((await daemon.json('/alpha.json')).fingerprint, before.fingerprint);
            const rendered = await daemon.rendered();
            assert.deepEqual(await daemon.bytes('/alpha/gray/11/900/1.png'), image);
            assert.equal(await daemon.rendered(), rendered, 'an unchanged world lost its tiles');
            assertStatus(await daemon.get('/default.json'), 404);
        }, { args: config.args, listen: false, cache: false, faults: new Faults(cache) });
    });

    it('fault 33: pending requests are answered from the world they began in', async () => {
        const config = changing(world('alpha', 5));
        await serving(async (daemon, faults) => {
            const fingerprint = await daemon.fingerprintOf('/alpha/gray');
            faults.hold('encode');
            const connection = await daemon.connect();
            connection.send(request('GET', '/alpha/gray/11/900/1.png'));
            assert.ok(await eventually(() => faults.hits('encode') === 1));
            config.write(world('alpha', 9));
            await daemon.reload();
            assert.notEqual(await daemon.fingerprintOf('/alpha/gray'), fingerprint);
            faults.clear();
            const answer = await connection.answer();
            assertStatus(answer, 200);
            assert.ok(answer.headers.etag.includes(fingerprint), answer.headers.etag);
            connection.close();
            const after = await daemon.get('/alpha/gray/11/900/1.png');
            assert.ok(!after.headers.etag.includes(fingerprint));
        }, { args: config.args });
    });

    /* Run check(daemon, faults, write, hang) with a configuration that hang(MS) makes slow to open. */
    function withSlowFile(check) {
        const directory = scratch();
        const file = path.join(directory, 'slow.yaml');
        const write = (text) => fs.writeFileSync(file, text);
        write(NO_SHEDDING + world('alpha', 5));
        return serving(async (daemon, faults) => {
            const hang = async (ms) => {
                faults.set('open', { amount: ms });
                daemon.kill('SIGHUP');
                assert.ok(await eventually(() => faults.hits('open') === 1), 'not read');
            };
            await check(daemon, faults, write, hang);
        }, { args: ['--config', file], faults: new Faults(directory) });
    }

    it('fault 34: a reload that hangs: new connections are served, further SIGHUPs cause one more', () =>
        withSlowFile(async (daemon, faults, write, hang) => {
            const ok = await daemon.reloads();
            await hang(0x7fffffff);
            await eachRow(numbers(10), async (i) => {
                daemon.kill('SIGHUP');
                assertStatus(await daemon.get(`/alpha/gray/11/900/${i}.png`, {}, { agent: alone() }), 200);
            });
            assert.equal(faults.calls('open'), 1, 'read by two threads');
            assert.equal(await daemon.reloads(), ok);
            write(world('alpha', 6));
            faults.clear();
            assert.ok(await eventually(async () => (await daemon.json('/alpha.json')).noise.octaves === 6));
            assert.ok(await eventually(async () => await daemon.reloads() === ok + 2));
            await faults.freeze();
            await faults.pass(0.5, 0.01);
            assert.equal(await daemon.reloads(), ok + 2);
            faults.thaw();
            await daemon.reload();
        }));

    it('fault 34: SIGTERM during a reload: the daemon drains, and exits although the reload hangs', () => eachRow([
        ['an end while draining', 300, 1000], ['an end while stopping', 800, 0], ['no end', 600000, 0],
    ], ([what, ms, drain]) => withSlowFile(async (daemon, faults, write, hang) => {
        if (drain)
            faults.set('encode', { amount: drain });
        const pending = settled(daemon.get('/alpha/gray/11/900/1.png', {}, { agent: alone(), limit: 60000 }));
        assert.ok(await eventually(() => !drain || faults.hits('encode') === 1));
        await hang(ms);
        await faults.freeze();
        await draining(daemon);
        await faults.pass(1.2, 0.1);
        faults.thaw();
        assertPeace(await daemon.ended(60000));
        assertStatus((await pending).answer, 200);
        assert.doesNotMatch(daemon.stderr, /SIGHUP/);
        assert.equal(/a thread is still busy/.test(daemon.stderr), what === 'no end', daemon.stderr);
    }), { atOnce: true }));

    it('fault 34: many SIGHUPs: coalesced, and no request fails', async () => {
        const config = changing(NO_SHEDDING + world('alpha', 5));
        await serving(async (daemon, faults) => {
            let going = true, count = 0;
            const clients = Promise.all(numbers(8).map(async (n) => {
                while (going)
                    assertStatus(await daemon.get(`/alpha/gray/11/${n}/${count++ % 200}.png`), 200);
            }));
            clients.catch(() => {});
            assert.ok(await eventually(() => count > 50));
            const [memory, files] = [memoryOf(daemon.pid), openFiles(daemon.pid).length];
            // 2 s of the daemon's clock. It may see two steps as one.
            const before = await daemon.reloads();
            faults.stand();
            for (let i = 0; i < 100; i++) {
                for (let j = 0; j < 20; j++)
                    daemon.kill('SIGHUP');
                faults.advance('steady', 0.02);
                await sleep(1);
            }
            faults.thaw();
            config.write(NO_SHEDDING + world('alpha', 6));
            daemon.kill('SIGHUP');
            assert.ok(await eventually(async () => (await daemon.json('/alpha.json')).noise.octaves === 6), 'the last SIGHUP is lost');
            going = false;
            await clients;
            let done;       // a reload is in force some moments before it is counted
            assert.ok(await eventually(async () => (done = await daemon.reloads() - before) >= 1), 'no reload was counted');
            done += await daemon.reloads('refused');
            assert.ok(done <= 45, `${done} reloads for 2000 signals in 2 s`);
            assert.ok(memoryOf(daemon.pid) - memory < 48 << 20, `${memoryOf(daemon.pid) - memory} bytes more`);
            assert.ok(openFiles(daemon.pid).length <= files + 4, 'files left open');
        }, { args: config.args });
    });
});

describe('stuck threads and blocked logs', { timeout: patience(300000), concurrency: 4 }, () => {
    it('fault 35: a worker hangs: readiness fails, cached tiles are still served', () => frozen(async (daemon, faults) => {
        assertStatus(await daemon.get(tile(1)), 200);
        faults.hold('encode');
        const waiting = settled(daemon.get(tile(0), {}, { agent: alone(), limit: 60000 }));
        assert.ok(await eventually(() => faults.hits('encode') === 1));
        faults.noMore('encode');
        await faults.pass(59.9, 1);
        assertStatus(await daemon.get('/readyz'), 200);
        assertStatus((await waiting).answer, 503);
        await faults.pass(1);
        const answer = await daemon.get('/readyz', {}, { agent: alone() });
        assertStatus(answer, 503);
        assert.match(answer.body.toString(), /render|worker|stuck/i);
        assert.equal(await daemon.metric('farlands_ready'), 0);
        assertStatus(await daemon.get('/healthz'), 200);
        await eachRow(numbers(10), async (i) => assertStatus(await daemon.get(tile(i + 1)), 200));
        faults.clear();
        await faults.settled();
        assertStatus(await daemon.get('/readyz'), 200);
        assert.equal(await daemon.metric('farlands_ready'), 1);
    }, { config: 'threads: 2\n' }));

    it('fault 36: an event loop blocked for more than a second is counted', () => frozen(async (daemon, faults) => {
        const blocked = () => daemon.metric('farlands_loop_blocked_total');
        // A request makes the loop look at the clock 0.25 s later: a step over that is like a blocked loop.
        for (const [seconds, count] of [[0.25, 0], [1.2, 0], [1.3, 1], [1.2, 1]]) {
            assertStatus(await daemon.get('/healthz'), 200);
            await faults.settled();
            await faults.pass(seconds);
            assert.equal(await blocked(), count, `after ${seconds} s`);
            await faults.pass(1, 0.25);
        }
    }, { config: 'shards: 1\n' }));

    /* Assert that a daemon with log: debug serves on if its stderr, FD, is never read. */
    async function assertServesUnlogged(fd) {
        const cache = scratch();
        const faults = new Faults(cache);
        const child = spawn(BINARY, ['serve', '--listen', '127.0.0.1:0', '--cache', cache,
            '--config', scratchFile('debug.yaml', withFractal('log: debug\naccess_log: ""'))],
        { stdio: ['ignore', 'pipe', fd], env: { ...process.env, ...faults.env } });
        try {
            const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
            const connection = await connect({ host: '127.0.0.1', port: Number(/:(\d+)\//.exec(line)[1]) });
            for (let i = 0; i < 3000; i++)
                assertStatus(await connection.send(request('GET', '/healthz')).answer(), 200);
            // Log lines of workers are dropped, too.
            faults.set('write', { error: 'EIO' });
            for (let i = 0; i < 20; i++)
                assertStatus(await connection.send(request('GET', tile(i))).answer(), 200);
            connection.close();
            child.kill('SIGTERM');
            const [code] = await once(child, 'exit', { signal: AbortSignal.timeout(patience(30000)) });
            assert.equal(code, 0);
        } finally {
            child.kill('SIGKILL');
        }
    }

    it('fault 37: stderr is blocked: log lines are dropped, requests are not delayed', () => eachRow(
        ['a socket', 'a pipe'], async (kind) => {
            if (kind === 'a socket') {
                await assertServesUnlogged('pipe');        // node's pipes are sockets
                return;
            }
            const fifo = path.join(scratch(), 'fifo');
            execFileSync('mkfifo', [fifo]);
            const fd = fs.openSync(fifo, fs.constants.O_RDWR | fs.constants.O_NONBLOCK);
            try {
                await assertServesUnlogged(fd);
            } finally {
                fs.closeSync(fd);
            }
        }));

    it('fault 38: the port is in use: exit code 1 and an error message', () =>
        serving(assertKeepsPort));
});
