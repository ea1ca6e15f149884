// Refused requests. If libmicrohttpd gives a request to the handler, the client gets one response of our own, in JSON; if
// libmicrohttpd refuses by itself, its own page or none. In either case nothing that follows on the connection is served.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useDaemon } from './daemon.mjs';
import { patience } from './program.mjs';
import { assertError, assertStatus, eachRow } from './table.mjs';
import { START, bodies, expectedOutcome, headers, hosts, incomplete, limits, outcomeOf, repeat, requestLines, unusual, withHost } from './framing.mjs';
import { request } from './wire.mjs';

const TABLES = { requestLines, hosts, bodies, headers, limits };

async function assertOutcome(daemon, table, row, options) {
    const expected = expectedOutcome(table, row, daemon.libmicrohttpd);
    assert.equal(await outcomeOf(daemon, row[1], { limit: expected.endsWith('open') ? 1000 : 9000, ...options }), expected);
}

/* Refused by Farlands itself, whichever version it is. */
const refusedByUs = (daemon, table, row) => expectedOutcome(table, row, daemon.libmicrohttpd) === `${row[2]}`;

async function assertRefused(daemon, [, bytes, status], { head = false } = {}) {
    const { answers: [answer], closed, rest } = await daemon.raw(Buffer.from(bytes, 'latin1'),
        { methods: [head ? 'HEAD' : 'GET'], closeLimit: 8000 });
    assert.ok(closed, 'not closed');
    if (head)
        assertStatus(answer, status);
    else
        assertError(answer, status);
    assert.equal(answer.headers.connection, 'close');
    assert.equal(rest.length, 0, `bytes after the response: ${rest.toString('latin1', 0, 200)}`);
}

describe('refused requests', { timeout: patience(240000) }, () => {
    const daemon = useDaemon();

    for (const [table, rows] of Object.entries(TABLES)) {
        it(`have the outcome that the table has: ${table}`, () =>
            eachRow(rows, (row) => assertOutcome(daemon, table, row), { atOnce: true }));

        it(`get one response of our own, if it is ours: ${table}`, () =>
            eachRow(rows.filter((row) => refusedByUs(daemon, table, row)), (row) => assertRefused(daemon, row), { atOnce: true }));

        it(`are the last ones, behind others and before others: ${table}`, () => eachRow(rows, async (row) => {
            const expected = expectedOutcome(table, row, daemon.libmicrohttpd);
            const outcome = await outcomeOf(daemon, `${request('GET', '/healthz')}${row[1]}${request('GET', '/readyz')}`,
                { limit: expected.endsWith('open') ? 1000 : 9000 });
            assert.match(outcome, /^200/);
            if (!expected.includes('200'))
                assert.doesNotMatch(outcome.slice(3), /200/, 'what is behind it is served');
        }, { atOnce: true }));
    }

    it('have the same outcome if they arrive in pieces', () => eachRow(
        [...hosts.map((row) => ['hosts', row]), ...headers.map((row) => ['headers', row])],
        ([table, row]) => assertOutcome(daemon, table, row, { piece: 1 + row[1].length / 7 | 0 }), { atOnce: true }));

    it('are closed if the client stops in mid-head', () => eachRow(incomplete,
        (row) => assertOutcome(daemon, 'incomplete', row, { finish: true })));

    it('get no body in response to HEAD', () => eachRow([
        ...Object.entries({ hosts, headers }).flatMap(([table, rows]) =>
            rows.filter((row) => row[1].startsWith(START) && refusedByUs(daemon, table, row))),
        ['a URL of 9000', request('GET', `/${repeat('a', 9000)}`), 414],
    ].map(([name, bytes, status]) => [name, `HEAD${bytes.slice(3)}`, status]),
    (row) => assertRefused(daemon, row, { head: true })));

    it('are in the access log and the metrics if they are ours', async () => {
        const count = () => daemon.metric('farlands_requests_total', 'code="400"');
        const before = await count();
        await assertRefused(daemon, hosts.find(([name]) => name === 'two Hosts'));
        await assertRefused(daemon, hosts.find(([name]) => name === 'an absolute URL without a host'));
        assert.equal(await count(), before + 2);
    });
});

describe('requests in absolute form', { timeout: patience(60000) }, () => {
    const daemon = useDaemon();

    it('are served', () => eachRow([
        ['http://farlands.test/healthz', 200], ['HTTP://farlands.test/healthz', 200],
        ['http://farlands.test:8080/healthz?a', 200], ['http://[::1]:80/healthz', 200],
        ['http://farlands.test', 200], ['http://farlands.test/', 200],
        ['http://a/default/relief/10/512/512.png', 200], ['http://a/nowhere', 404],
        ['http://a?b', 200], ['https://a/healthz', 400], ['ftp://a/healthz', 400],
    ], async ([url, status]) => {
        const { answers: [answer, next] } = await daemon.raw(
            request('GET', url) + request('GET', '/healthz'), { methods: ['GET', 'GET'] });
        assertStatus(answer, status);
        assertStatus(next, 200);
    }));

    it('have the Host of their URL', async () => {
        const { answers: [answer] } = await daemon.raw(
            request('GET', 'http://one.test:81/default/relief.json', { Host: 'two.test' }));
        assertStatus(answer, 200);
        assert.match(JSON.parse(answer.body).tiles[0], /^http:\/\/one\.test:81\/default\//);
    });
});

describe('unusual requests', { timeout: patience(60000) }, () => {
    const daemon = useDaemon();

    it('are served if they are unambiguous', () => eachRow(unusual, (row) => assertOutcome(daemon, 'unusual', row), { atOnce: true }));

    it('are all served if hundreds arrive at once', async () => {
        const { answers, rest } = await daemon.raw(request('GET', '/healthz').repeat(400),
            { methods: Array(400).fill('GET'), limit: 5000 });
        assert.ok(answers.every(({ status }) => status === 200));
        assert.equal(rest.length, 0);
    });

    it('are served in order if pipelined, whatever their sizes', async () => {
        const sizes = Array.from({ length: 120 }, (_, i) => (i * 797) % 11500);
        const { answers } = await daemon.raw(
            sizes.map((size) => withHost(`${size % 2 ? 'Referer' : 'X-A'}: ${repeat('b', size)}\r\n`)).join(''),
            { methods: sizes.map(() => 'GET'), limit: 20000 });
        assert.ok(answers.every(({ status }) => status === 200));
    });
});
