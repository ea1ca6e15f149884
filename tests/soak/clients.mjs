// Clients of every sort, good and bad, until they are told to stop. Not a soak.

import { setTimeout as sleep } from 'node:timers/promises';
import { load } from '../http/load.mjs';
import { connect, request } from '../http/wire.mjs';
import { between, numbers } from './soak.mjs';

let fresh = 0;          // of tiles that nobody has asked for
const hit = (i) => `/alpha/gray/9/1/${i % 50}.png`;
const miss = () => `/alpha/relief/12/${Math.floor(++fresh / 1000)}/${fresh % 1000}.png`;
const raw = () => `/alpha/height/11/${++fresh}/900@2x.f32`;

/* Each is one thing that a client does; it may fail as it likes. */
const BEHAVIOURS = {
    async 'comes and goes'(connection) {
        await sleep(between(0, 30));
        connection.close();
    },
    async 'resets'(connection) {
        connection.send(request('GET', hit(3)));
        await sleep(between(0, 5));
        connection.socket.resetAndDestroy();
    },
    async 'gives up on a tile'(connection) {
        connection.send(request('GET', miss()));
        await sleep(between(0, 400));
        connection.close();
    },
    async 'resets while it waits'(connection) {
        connection.send(request('GET', raw()));
        await sleep(between(0, 40));
        connection.socket.resetAndDestroy();
    },
    async 'closes its side first'(connection) {
        connection.finish(request('GET', miss()));
        await connection.answer('GET', 15000);
    },
    async 'asks for much at once'(connection) {
        connection.send(request('GET', hit(7)).repeat(40));
        for (const _ of numbers(40))
            await connection.answer();
    },
    async 'is refused'(connection) {
        connection.send(`POST /alpha.json HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello`);
        await connection.answer();
    },
    async 'speaks another language'(connection) {
        connection.send('\x16\x03\x01\0\0\r\n\r\n');
        await connection.closed(12000);
    },
    async 'dictates'(connection, going) {
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
    async 'stays and says nothing'(connection, going) {
        connection.send(request('GET', '/healthz'));
        await connection.answer();
        for (let i = 0; i < 40 && going(); i++)
            await sleep(300);
    },
};

/*
 * All of them against ADDRESS, and load of good ones; stop() gives { answers, failures,
 * done } of the good ones, and how often each of the others has done its worst.
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
    // After a reload what was hot is cold, and may be shed.
    const accepted = (answer) => answer.status === 200 || answer.status === 503;
    const good = [
        load(address, hit, 6, { pause: 3, accepted }),
        load(address, (i) => ['/alpha.json', '/worlds.json', '/', '/alpha/height?x=1&y=2'][i % 4], 2, { pause: 10 }),
        load(address, miss, 4, { accepted }),
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
