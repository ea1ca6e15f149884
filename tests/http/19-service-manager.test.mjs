// Under a service manager such as systemd: inherited sockets and notifications.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { Faults } from '../preload/preload.mjs';
import { load, underLoad } from '../load/client.mjs';
import { withManager } from './manager.mjs';
import { TIMEOUT, eventually, scratch, scratchFile, withFractal } from './program.mjs';
import { assertStatus, eachRow } from './table.mjs';
import { connect, exchange, request } from './wire.mjs';

const TCP = 'tcp 127.0.0.1 0';
const noIpv6 = Object.values(os.networkInterfaces()).flat().some(({ address }) => address === '::1')
    ? false : 'IPv6 is not available';

async function assertServed(address, target = '/default/gray/9/1/1.png') {
    const { answers } = await exchange(address, request('GET', target));
    assertStatus(answers[0], 200);
    return answers[0];
}

/* GET over a Unix socket. */
function getUnix(socketPath, target) {
    return new Promise((resolve, reject) => {
        http.get({ socketPath, path: target, agent: false }, (answer) => {
            const parts = [];
            answer.on('data', (bytes) => parts.push(bytes));
            answer.on('end', () => resolve({ status: answer.statusCode, body: Buffer.concat(parts) }));
        }).on('error', reject);
    });
}

describe('inherited sockets', { timeout: TIMEOUT, concurrency: 4 }, () => {
    it('replace the configured address', () => withManager([TCP], async (manager) => {
        const service = await manager.startReady();
        await assertServed(manager.address);
        await manager.assertLogged(new RegExp(`serving http://127\\.0\\.0\\.1:${manager.ports[0]}/`));
        await manager.stop(service);
    }, { args: ['--listen', '127.0.0.1:1'] }));

    it('may be two, IPv4 and IPv6', { skip: noIpv6 }, () => withManager([TCP, 'tcp ::1 0'], async (manager) => {
        const service = await manager.startReady();
        for (let i = 0; i < 20; i++) {
            await assertServed(manager.address);
            await assertServed({ host: '::1', port: manager.ports[1] });
        }
        await manager.stop(service);
    }));

    it('may be a Unix socket and a TCP socket', async () => {
        const file = path.join(scratch(), 'farlands.socket');
        await withManager([`unix ${file}`, TCP], async (manager) => {
            const service = await manager.startReady();
            const image = await getUnix(file, '/default/gray/9/1/1.png');
            assertStatus(image, 200);
            assert.deepEqual((await assertServed({ host: '127.0.0.1', port: manager.ports[1] })).body, image.body);
            // Clients of a Unix socket have no address, so per-client limits do not apply.
            const many = await Promise.all(Array.from({ length: 50 }, (_, i) => getUnix(file, `/default/gray/9/2/${i}.png`)));
            assert.ok(many.every(({ status }) => status === 200));
            const { body } = await getUnix(file, '/default/gray.json');
            assert.equal(JSON.parse(body).tilejson, '3.0.0');
            assert.ok(await eventually(async () => /^farlands_connections 1$/m.test((await getUnix(file, '/metrics')).body)));
            await manager.assertLogged(new RegExp(`serving http://unix:${file}/`));
            await manager.assertLogged(/"peer":|"client":|"path":|"uri":/);
            await manager.stop(service);
        }, { args: ['--config', scratchFile('few.yaml',
            withFractal('access_log: "-"\nlimits: { connections_per_client: 2, misses_per_client: 2, wait: 60000 }'))] });
    });

    it('that cannot be served are rejected with a message', () => eachRow([
        ['a datagram socket', ['udp 127.0.0.1 0'], /LISTEN_FDS.*stream/],
        ['a socket that does not listen', ['deaf 127.0.0.1 0'], /LISTEN_FDS.*not a listening/],
        ['a closed descriptor', ['closed'], /LISTEN_FDS/],
        ['a closed descriptor after a valid one', [TCP, 'closed'], /LISTEN_FDS/],
        ['a datagram socket after a valid one', [TCP, 'udp 127.0.0.1 0'], /LISTEN_FDS.*stream/],
        ['seventeen sockets', Array(17).fill(TCP), /LISTEN_FDS.*too many/],
    ], ([, sockets, message]) => withManager(sockets, async (manager) => {
        const service = await manager.start();
        assert.equal(await manager.end(service), 'exit 1', manager.log);
        await manager.assertLogged(message);
        assert.deepEqual(service.notifications, []);
    })));

    it('of another process are ignored', () => withManager(['--stranger ' + TCP], async (manager) => {
        const service = await manager.startReady();
        await manager.assertLogged(/serving http:.*\n/);
        const port = Number(/serving http:\/\/127\.0\.0\.1:(\d+)/.exec(manager.log)[1]);
        assert.notEqual(port, manager.ports[0]);
        await assertServed({ host: '127.0.0.1', port });
        await manager.stop(service);
    }, { args: ['--listen', '127.0.0.1:0'] }));

    it('hold connections for the next daemon while none runs', () => withManager([TCP], async (manager) => {
        for (let daemons = 0; daemons < 2; daemons++) {
            const connections = await Promise.all(Array.from({ length: 100 }, () => connect(manager.address)));
            for (const connection of connections)
                connection.send(request('GET', '/default/gray/9/1/1.png'));
            const service = await manager.startReady();
            for (const connection of connections) {
                assertStatus(await connection.answer(), 200);
                connection.close();
            }
            await manager.stop(service);
        }
    }));

    /* Repeat RESTART under load; no request may fail. */
    async function assertNoFailures(rounds, restart) {
        await withManager([TCP], async (manager) => {
            let service = await manager.startReady();
            const target = (i) => (i % 4 ? `/default/gray/9/1/${i % 50}.png` : `/default/gray/11/3/${i}.png`);
            const { answers, failures } = await underLoad(load(manager.address, target, 16), async (clients) => {
                /* Until there are some 50 responses more, a different number in each round. */
                const more = (count) => {
                    const enough = clients.state.answers + count;
                    return eventually(() => clients.state.answers >= enough);
                };
                for (let round = 0; round < rounds; round++) {
                    await more(50 + 7 * round);
                    service = await restart(manager, service);
                }
                await more(50);
                return clients.stop();
            });
            assert.deepEqual(failures, []);
            assert.ok(answers > 50 * rounds, `only ${answers} responses`);
            await manager.stop(service);
        }, { args: ['--config', scratchFile('patient.yaml', withFractal('limits: { wait: 60000, drain: 600 }'))] });
    }

    it('fail no request while daemons restart', () => assertNoFailures(6, async (manager, service) => {
        await manager.stop(service);
        return manager.startReady();
    }));

    it('fail no request if the next daemon starts before the last one stops', () => assertNoFailures(6, async (manager, service) => {
        const next = await manager.startReady();
        await manager.stop(service);
        return next;
    }));
});

describe('notifications', { timeout: TIMEOUT, concurrency: 4 }, () => {
    const own = { args: ['--listen', '127.0.0.1:0'] };

    it('are READY=1 once it serves, STOPPING=1 when it stops', () => withManager([], async (manager) => {
        const service = await manager.startReady();
        await manager.assertLogged(/serving http:.*\n/);
        await assertServed({ host: '127.0.0.1', port: Number(/serving http:\/\/127\.0\.0\.1:(\d+)/.exec(manager.log)[1]) });
        assert.deepEqual(service.notifications, ['READY=1']);
        await manager.stop(service);
        assert.deepEqual(service.notifications, ['READY=1', 'STOPPING=1']);
    }, own));

    it('contain STOPPING=1 once, before the last response', () => withManager([TCP], async (manager) => {
        const service = await manager.startReady();
        // The clients' last requests stay in the backlog and get no response.
        await underLoad(load(manager.address, (i) => `/default/relief/12/5/${i}@2x.png`, 8, { limit: 500 }), async ({ state }) => {
            assert.ok(await eventually(() => state.answers > 8));
            process.kill(service.pid, 'SIGTERM');
            assert.ok(await eventually(() => service.notifications.includes('STOPPING=1')), manager.log);
            try {
                process.kill(service.pid, 'SIGTERM');
            } catch (error) {
                assert.equal(error.code, 'ESRCH');      // it has exited already
            }
            assert.equal(await manager.end(service), 'exit 0', manager.log);
            assert.deepEqual(service.notifications, ['READY=1', 'STOPPING=1']);
        });
    }));

    it('are not sent by a daemon that cannot start', () => eachRow([
        ['an address of another machine', '192.0.2.1:80'],
        ['an unknown host', 'nobody.invalid:80'],
    ], ([, listen]) => withManager([], async (manager) => {
        const service = await manager.start();
        assert.equal(await manager.end(service), 'exit 1', manager.log);
        assert.deepEqual(service.notifications, []);
    }, { args: ['--listen', listen] })));

    it('are RELOADING=1 with the time, then READY=1, for any outcome', () => eachRow([
        ['accepted', 'log: debug\n', /configuration reloaded/],
        ['rejected', 'lgo: debug\n', /nothing was changed/],
    ], ([, text, outcome]) => {
        const file = scratchFile('changing.yaml', withFractal('log: info'));
        return withManager([], async (manager) => {
            const service = await manager.startReady();
            fs.writeFileSync(file, text);
            const before = process.hrtime.bigint() / 1000n;
            process.kill(service.pid, 'SIGHUP');
            assert.ok(await eventually(() => service.notifications.length === 3), service.notifications.join('\n'));
            const [, reloading, ready] = service.notifications;
            const time = BigInt(/^RELOADING=1 MONOTONIC_USEC=(\d+)$/.exec(reloading)[1]);
            assert.ok(time >= before && time <= process.hrtime.bigint() / 1000n, `${time} is not after ${before}`);
            assert.equal(ready, 'READY=1');
            await manager.assertLogged(outcome);
            await manager.stop(service);
        }, { args: [...own.args, '--config', file] });
    }));

    it('are WATCHDOG=1 twice per watchdog interval', () => {
        const faults = new Faults(scratch()), INTERVAL = 7200;
        return withManager([TCP], async (manager) => {
            const service = await manager.startReady();
            const count = () => service.notifications.filter((text) => text === 'WATCHDOG=1').length;
            assert.ok(await eventually(() => count() === 1));
            await faults.freeze();
            for (let half = 1; half <= 10; half++) {
                await faults.pass(INTERVAL / 2);        // at its end all shards have answered
                assert.ok(await eventually(() => count() > half), `${count()} in ${half} half intervals`);
            }
            assert.equal(count(), 11);
            faults.thaw();
            await manager.stop(service);
        }, { env: { ...faults.env, WATCHDOG_USEC: `${INTERVAL}000000` } });
    });
});
