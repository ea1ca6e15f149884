// Attack 8: heads that arrive a byte a second.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { patience } from '../http/program.mjs';
import { eachRow } from '../http/table.mjs';
import { connect, request } from '../http/wire.mjs';
import { startDaemon } from './scene.mjs';

const LINE = 'GET /healthz HTTP/1.1\r\n';
const WHOLE = request('GET', '/healthz');

/* [what, bytes sent at once, bytes sent one a second, times from the connection's start to the head's first byte] */
const ROWS = [
    ['a slow header', `${LINE}Host: a\r\n`, 'X-A: aaaaaaaaaaaaaaaaaaaaaaaa', 0],
    ['the request line at once, the rest slowly', LINE, 'Host: aaaaaaaaaaaaaaaaaaaaaaaa', 0],
    ['a slow request line', '', LINE + LINE, 0],
    ['a request line that ends after 9 s', LINE.slice(0, -9), `${LINE.slice(-9)}Host: aaaaaaaaaaaaaaaaaaaaaaaa`, 0],
    ['empty lines', '\r\n', '\r\n'.repeat(20), 0],
    ['a slow second request', `${WHOLE}${LINE}`, 'Host: aaaaaaaaaaaaaaaaaaaaaaaa', 0],
    ['a slow second request 2 s later', WHOLE, `${LINE}Host: aaaaaaaaaaa`, 2],
];

describe('attack 8: slow heads', { timeout: patience(60000) }, () => {
    it('8a all are closed 10 s after their first byte', async (t) => {
        const daemon = await startDaemon();
        const times = [];
        await eachRow(ROWS, async ([what, start, rest, pause]) => {
            const connection = await connect(daemon);
            connection.socket.on('data', () => {});
            connection.send(start);
            await sleep(1000 * pause);
            const began = performance.now();
            for (let i = 0; i < 24 && !connection.ended; i++) {
                connection.send(rest[i]);
                await connection.closed(1000);
            }
            const seconds = (performance.now() - began) / 1000;
            connection.close();
            times.push(`${what} ${seconds.toFixed(1)} s`);
            // libmicrohttpd 1.0 closes at the second empty line.
            assert.ok((seconds > 9 || what === 'empty lines') && seconds < patience(11), `closed after ${seconds.toFixed(1)} s`);
        }, { atOnce: true }).finally(() => {
            t.diagnostic(`8a: ${times.join(', ')}`);
            daemon.kill('SIGKILL');
        });
        await daemon.stop();
    });
});
