// Good and bad clients that run until they are stopped. Not a soak.

import { setTimeout as sleep } from 'node:timers/promises';
import { connect, request } from '../http/wire.mjs';
import { load } from '../load/client.mjs';
import { between, numbers } from './soak.mjs';

let fresh = 0;          // the number of the next tile that was never requested
const hit = (i) => `/alpha/gray/9/1/${i % 50}.png`;
const miss = () => `/alpha/relief/12/${Math.floor(++fresh / 1000)}/${fresh % 1000}.png`;
const raw = () => `/alpha/height/11/${++fresh}/900@2x.f32`;

/* One action of a bad client each; it may fail. */
const BEHAVIOURS = {
    async 'connects and closes'(connection) {
        await sleep(between(0, 30));
        connection.close();
    },
    async 'resets'(connection) {
        connection.send(request('GET', hit(3)));
        await sleep(between(0, 5));
        connection.socket.resetAndDestroy();
    },
    async 'abandons a tile'(connection) {
        connection.send(request('GET', miss()));
        await sleep(between(0, 400));
        connection.close();
    },
    async 'resets while a request is pending'(connection) {
        connection.send(request('GET', raw()));
        await sleep(between(0, 40));
        connection.socket.resetAndDestroy();
    },
    async 'half-closes first'(connection) {
        connection.finish(request('GET', miss()));
        await connection.answer('GET', 15000);
    },
    async 'pipelines requests'(connection) {
        connection.send(request('GET', hit(7)).repeat(40));
        for (const _ of numbers(40))
            await connection.answer();
    },
    async 'sends a rejected request'(connection) {
        connection.send(`POST /alpha.json HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello`);
        await connection.answer();
    },
    async 'speaks another protocol'(connection) {
        connection.send('\x16\x03\x01\0\0\r\n\r\n');
        await connection.closed(12000);
    },
    async 'sends headers slowly'(connection, going) {
        connection.send('GET /alpha.json HTTP/1.1\r\nHost: a\r\nX-Slow: ');
        while (going() && !connection.ended) {
            connection.send('z');
            await sleep(300);
        }
    },
    async 'does not read'(connection, going) {
        connection.socket.pause();
        connection.send(request('GET', raw()).repeat(8));
        while (going() && !connection.socket.destroyed && !connection.ended)
            await sleep(300);
    },
    async 'stays idle'(connection, going) {
        connection.send(request('GET', '/healthz'));
        await connection.answer();
        for (let i = 0; i < 40 && going(); i++)
            await sleep(300);
    },
};

/*
 * Run all of these and good clients against ADDRESS. stop() returns { answers, failures, done }:
 * responses and failures of the good clients, and a count per action of the bad ones.
 */
export function everyone(address) {
    let going = true;
    const done = {};
    const others = Object.entries(BEHAVIOURS).flatMap(([name, behave]) => numbers(3).map(async () => {
        while (going) {
            try {
                const connection = await connect(address);
                try {
                    await behave(connection, () => going);
                } finally {
                    connection.close();
                }
            } catch {
                await sleep(10);
            }
            done[name] = (done[name] ?? 0) + 1;
            await sleep(between(0, 60));
        }
    }));
    // After a reload the memory cache is empty, and what is computed may be shed.
    const statuses = [200, 503];
    const good = [
        load(address, ['/alpha/gray/9/1/{0..49}.png'], 6, { pause: 3, statuses }),
        load(address, ['/alpha.json', '/worlds.json', '/'], 1, { pause: 10 }),
        load(address, ['/alpha/height?x=1&y=2'], 1, { pause: 10, statuses }),
        load(address, ['/alpha/relief/12/{1000..1000000}/{0..999}.png'], 4, { statuses }),
    ];
    return {
        async stop() {
            going = false;
            const states = await Promise.all(good.map((each) => each.stop()));
            await Promise.all(others);
            return {
                answers: states.reduce((sum, each) => sum + each.answers, 0),
                failures: states.flatMap((each) => each.failures),
                done,
            };
        },
    };
}
