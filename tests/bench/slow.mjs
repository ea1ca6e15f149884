// How quickly clients get a hot tile beside slow and broken clients. tests/faults checks that they get it at all.

import { setTimeout as sleep } from 'node:timers/promises';
import { request } from '../http/wire.mjs';
import { insist, median, round, say, withDaemon } from './measure.mjs';
import { openLoop } from './programs.mjs';

const LARGE = '/default/height/11/900/900@2x.f32';

/* As the attacks of tests/attacks: more than this is a fault. */
const MOST_RATIO = 4, LEAST_MS = 10;

/* COUNT connections, each used by USE; all of them are gone when the returned function has been called. */
async function crowd(daemon, count, use) {
    const all = await Promise.all(Array.from({ length: count }, () => daemon.connect()));
    all.forEach(use);
    return () => all.forEach((connection) => connection.close());
}

/* A byte per second, which never completes a head. */
async function slowHeads(daemon) {
    const timers = [];
    const leave = await crowd(daemon, 200, (connection) => {
        connection.send('GET /healthz HTTP/1.1\r\nX-A: ');
        timers.push(setInterval(() => connection.ended || connection.send('o'), 1000));
    });
    return () => {
        timers.forEach(clearInterval);
        leave();
    };
}

const slowReaders = (daemon) => crowd(daemon, 20, (connection) => {
    connection.socket.pause();
    connection.send(request('GET', LARGE).repeat(20));
});

/* Connections that are reset in the middle of a response, again and again. */
async function resets(daemon) {
    let going = true;
    const all = (async () => {
        while (going) {
            const connection = await daemon.connect();
            connection.send(request('GET', LARGE).repeat(8));
            await connection.until(() => connection.received > 0 || null, 3000);
            connection.socket.resetAndDestroy();
            await sleep(10);
        }
    })();
    return () => {
        going = false;
        return all;
    };
}

export const slow = (world) => withDaemon('limits: { connections: 4096, connections_per_client: 0 }', { cache: world.cache }, async (daemon) => {
    await daemon.bytes(world.hot);
    await daemon.bytes(LARGE);
    const p99 = async () => (await openLoop(daemon, ['--seconds', '2', '--grace', '2', '--stream', 'hot', '--rate', '1000',
        '--connections', '16', '--url', world.hot])).stream.hot.all.p99;
    for (const [name, begin] of [['slow-heads', slowHeads], ['slow-readers', slowReaders], ['resets', resets]]) {
        const rounds = [];
        for (let i = 0; i < 3; i++) {
            const alone = await p99();
            const leave = await begin(daemon);
            rounds.push({ alone, beside: await p99() });
            await leave();
            await sleep(300); /* connections are closed */
        }
        const alone = median(rounds.map((each) => each.alone)), beside = median(rounds.map((each) => each.beside));
        say(`hot-p99-beside-${name}`, `${round(beside / alone, 1)}x  (${round(beside)} ms, ${round(alone)} alone)`);
        insist(beside <= MOST_RATIO * alone || beside <= LEAST_MS, `hot clients are delayed by ${name}`);
    }
});
