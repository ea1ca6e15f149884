// Clients that send request after request, as libraries do, and count each failure. Not a test.

import { setTimeout as sleep } from 'node:timers/promises';
import { WAIT } from './program.mjs';
import { connect, request } from './wire.mjs';

/*
 * One request on CONNECTION: its response, or null if the idle connection was closed before the
 * first byte: the caller retries on a new one.
 */
async function ask(connection, target, used, limit) {
    const before = connection.received;
    try {
        return await connection.send(request('GET', target)).answer('GET', limit);
    } catch (error) {
        if (used && connection.received === before && connection.ended)
            return null;
        throw error;
    }
}

async function client(address, next, state, { accepted, pause, limit }) {
    let connection = null, used = false;
    const disconnect = () => { connection?.close(); connection = null; };

    while (state.going) {
        const target = next(state.asked++);
        try {
            if (!connection) {
                connection = await connect(address);
                used = false;
            }
            let answer = await ask(connection, target, used, limit);
            if (!answer) {
                disconnect();
                connection = await connect(address);
                answer = await ask(connection, target, false, limit);
            }
            if (!accepted(answer, target))
                throw new Error(`status ${answer.status}: ${answer.body.toString('latin1', 0, 200)}`);
            state.answers++;
            used = true;
            if (answer.headers.connection?.toLowerCase() === 'close')
                disconnect();
        } catch (error) {
            state.failures.push(`GET ${target}: ${error.message}`);
            disconnect();
            await sleep(10);
        }
        if (pause)
            await sleep(pause);
    }
    disconnect();
}

/*
 * Call WORK with the clients of a load(), which end even if it throws. WORK itself calls
 * stop().
 */
export async function underLoad(clients, work) {
    try {
        return await work(clients);
    } finally {
        await clients.stop();
    }
}

/*
 * COUNT clients request the targets NEXT(i) from ADDRESS until stop() is called, which returns
 * { asked, answers, failures }; failures are texts. A response is a failure unless
 * accepted(answer, target) is true. pause: ms between two requests of a client.
 */
export function load(address, next, count,
    { accepted = (answer) => answer.status === 200, pause = 0, limit = WAIT } = {}) {
    const state = { going: true, asked: 0, answers: 0, failures: [] };
    const all = Promise.all(Array.from({ length: count }, () => client(address, next, state, { accepted, pause, limit })));
    return {
        state,
        async stop() {
            state.going = false;
            await all;
            return state;
        },
    };
}
