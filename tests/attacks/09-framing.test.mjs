// Attack 9: requests that libmicrohttpd itself refuses, or does not refuse. tests/http/framing.mjs has the whole table.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { patience } from '../http/program.mjs';
import { assertStatus, eachRow } from '../http/table.mjs';
import { startDaemon } from './scene.mjs';

const GET = 'GET /healthz HTTP/1.1\r\n';
const ROWS = [
    ['a URI of 12,000 bytes', () => `GET /${'a'.repeat(12000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 414],
    ['100 headers', () => `${GET}Host: a\r\n${'X-A: b\r\n'.repeat(100)}\r\n`, 200],
    ['3,000 headers', () => `${GET}Host: a\r\n${'X-A: b\r\n'.repeat(3000)}\r\n`, 431],
    ['100 cookies', () => `${GET}Host: a\r\nCookie: ${'a=b; '.repeat(100)}c=d\r\n\r\n`, 200],
    ['no Host', () => `${GET}X-A: b\r\n\r\n`, 400],
    ['a folded Host', () => `${GET}Host:\r\n a\r\n\r\n`, 400],
    ['a length with a sign', () => `${GET}Host: a\r\nContent-Length: +5\r\n\r\n`, 400],
    ['an absolute URI', () => 'GET http://a/healthz HTTP/1.1\r\nHost: a\r\n\r\n', 200],
];

describe('attack 9: framing', { timeout: patience(60000) }, () => {
    /* libmicrohttpd's own pages are HTML; some versions append a second head to one, but nothing else. */
    it('9a every refusal is one response, and closes', async () => {
        const daemon = await startDaemon();
        await eachRow(ROWS, async ([, bytes, expected]) => {
            const { answers: [answer], closed, rest } = await daemon.raw(bytes(), { closeLimit: expected === 200 ? 0 : 30000 });
            assertStatus(answer, expected);
            assert.doesNotMatch(`${answer.body}${rest}`, new RegExp(`HTTP/1\\.[01] (?!${answer.status})\\d{3} `), 'a second response');
            if (answer.status !== 200)
                assert.ok(closed, 'the connection stays open');
        }).finally(() => daemon.kill('SIGKILL'));
        await daemon.stop();
    });
});
