// Attack 8: heads that arrive a byte a second.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { patience } from '../http/program.mjs';
import { eachRow } from '../http/table.mjs';
import { connect, request } from '../http/wire.mjs';
import { startDaemon } from './scene.mjs';

const LINE = 'GET /healthz HTTP/1.1\r\n';
const WHOLE = request('GET', '/healthz');

/* [what, bytes sent at once, bytes sent one a second]: no head is whole at their end */
const ROWS = [
    ['a slow header', `${LINE}Host: a\r\n`, 'X-A: '],
    ['the request line at once, the rest slowly', LINE, 'Host: '],
    ['a slow request line', '', LINE + LINE],
    ['a request line that ends after 9 s', LINE.slice(0, -9), `${LINE.slice(-9)}Host: `],
    ['empty lines', '\r\n', '\r\n'.repeat(20)],
    ['a slow second request', `${WHOLE}${LINE}`, 'Host: '],
    ['a slow second request, all of it', WHOLE, `${LINE}Host: `],
];

describe('attack 8: slow heads', { timeout: patience(240000) }, () => {
    /* tests/unit/net/check_deadlines has the limit, 10 s after the first byte. Bytes that come do not extend it. */
    it('8a all are closed while their bytes arrive', async () => {
        const daemon = await startDaemon();
        await eachRow(ROWS, async ([, start, rest]) => {
            const connection = await connect(daemon);
            connection.socket.on('data', () => {});
            connection.send(start);
            for (let i = 0; i < 120 && !connection.ended; i++) {
                connection.send(rest[i] ?? 'a');
                await connection.closed(1000);
            }
            connection.close();
            assert.ok(connection.ended, 'still open');
        }, { atOnce: true }).finally(() => daemon.kill('SIGKILL'));
        await daemon.stop();
    });
});
