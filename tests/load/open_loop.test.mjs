// The load generator against servers of known behaviour.
// OPEN_LOOP names the binary; the default is build/tests/load/open_loop.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const BINARY = process.env.OPEN_LOOP ||
    fileURLToPath(new URL('../../build/tests/load/open_loop', import.meta.url));

/* { code, stdout, stderr } */
function run(args) {
    return new Promise((resolve) => {
        execFile(BINARY, args, { timeout: 20000 }, (error, stdout, stderr) =>
            resolve({ code: error ? error.code ?? error.signal : 0, stdout, stderr }));
    });
}

/* Run against SERVER. Returns the report's streams by name. */
async function load(server, args) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
        const target = `127.0.0.1:${server.address().port}`;
        const result = await run(['--json', '-', ...args, target]);
        assert.equal(result.code, 0, result.stderr);
        const report = JSON.parse(result.stdout);
        return Object.fromEntries(report.streams.map((stream) => [stream.name, stream]));
    } finally {
        server.close();
        server.closeAllConnections?.();
    }
}

describe('the load generator', { concurrency: false }, () => {
    it('sends at the given rate and counts responses by status', async () => {
        const seen = [];
        const server = http.createServer((request, response) => {
            seen.push([request.url, request.headers.accept]);
            const shed = request.url === '/shed';
            response.statusCode = shed ? 503 : 200;
            if (shed)
                response.setHeader('Retry-After', 1);
            response.end(shed ? '' : 'x'.repeat(100000));
        });
        const { a, b } = await load(server, ['--seconds', '1',
            '--stream', 'a', '--rate', '200', '--url', '/{-3..4}/{7..7}.png', '--header', 'Accept: a/b',
            '--stream', 'b', '--rate', '100', '--url', '/shed']);
        assert.equal(a.due, 200);
        assert.equal(a.answered, 200);
        assert.equal(a.status[200].count, 200);
        assert.equal(a.status[200].retry_after, 0);
        assert.ok(a.bytes > 200 * 100000);
        assert.equal(b.status[503].count, 100);
        assert.equal(b.status[503].retry_after, 100);
        assert.deepEqual(Object.values(a.errors), [0, 0, 0, 0, 0]);
        const urls = new Set(seen.filter(([, accept]) => accept === 'a/b').map(([url]) => url));
        assert.deepEqual([...urls].sort(), [-3, -2, -1, 0, 1, 2, 3, 4].map((x) => `/${x}/7.png`).sort());
    });

    it('can wait between opening its connections and the first request', async () => {
        let opened = 0, first = 0;
        const server = http.createServer((request, response) => {
            first ||= Date.now();
            response.end();
        });
        server.on('connection', () => { opened ||= Date.now(); });
        await load(server, ['--seconds', '0.2', '--settle', '0.3']);
        assert.ok(first - opened >= 290, `${first - opened} ms`);
    });

    // One connection, and a server that stalls once for 400 ms: nine requests that became due
    // meanwhile waited up to 350 ms. A closed loop would see a single slow request.
    it('counts latency from when a request was due', async () => {
        let count = 0;
        const server = http.createServer(async (request, response) => {
            if (++count === 10)
                await sleep(400);
            response.end('x');
        });
        const { load: stream } = await load(server,
            ['--seconds', '2', '--rate', '20', '--connections', '1']);
        assert.equal(stream.answered, 40);
        assert.ok(stream.waited >= 6 && stream.waited <= 12, `${stream.waited} waited`);
        assert.ok(stream.all.max > 395 && stream.all.max < 600, `max ${stream.all.max}`);
        assert.ok(stream.all.p90 > 150, `p90 ${stream.all.p90}`);
        assert.ok(stream.all.p50 < 50, `p50 ${stream.all.p50}`);
    });

    it('gives up on a server that never responds, and counts all due requests', async () => {
        const server = http.createServer(() => {});
        const begun = Date.now();
        const { load: stream } = await load(server,
            ['--seconds', '0.5', '--grace', '0.5', '--rate', '100', '--connections', '4']);
        assert.ok(Date.now() - begun < 3000);
        assert.equal(stream.due, 50);
        assert.equal(stream.errors.unanswered, 4);
        assert.equal(stream.errors.unsent, 46);
        assert.equal(stream.all.count, 50);
        assert.ok(stream.all.max > 990 && stream.all.p50 > 700, JSON.stringify(stream.all));
    });

    it('abandons a share of the requests and reconnects', async () => {
        let closed = 0;
        const server = http.createServer((request, response) => {
            request.on('close', () => { closed += !response.writableEnded; });
            setTimeout(() => response.end('x'), 100);
        });
        const { load: stream } = await load(server,
            ['--seconds', '1', '--rate', '200', '--connections', '50', '--abandon', '0.5@20']);
        assert.ok(stream.abandoned > 60 && stream.abandoned < 140, `${stream.abandoned}`);
        assert.equal(stream.abandoned + stream.answered, 200);
        assert.ok(closed >= stream.abandoned - 5, `${closed} seen`);
    });

    it('sends Poisson arrivals, the same for the same seed', async () => {
        const runs = [];
        for (const seed of ['5', '5', '6']) {
            const urls = [];
            const server = http.createServer((request, response) => {
                urls.push(request.url);
                response.end();
            });
            const { load: stream } = await load(server, ['--seconds', '0.5', '--seed', seed,
                '--poisson', '--rate', '400', '--connections', '1', '--url', '/{0..999999}']);
            // 200 on average, with a standard deviation of 14.
            assert.ok(stream.due > 130 && stream.due < 270, `${stream.due} due`);
            runs.push(urls.join(' '));
        }
        assert.equal(runs[0], runs[1]);
        assert.notEqual(runs[0], runs[2]);
    });

    it('connects from the given source addresses', async () => {
        const peers = new Set();
        const server = http.createServer((request, response) => {
            peers.add(request.socket.remoteAddress);
            response.end();
        });
        await load(server, ['--seconds', '0.2', '--rate', '200', '--source', '127.0.0.3-127.0.0.5']);
        assert.deepEqual([...peers].sort(), ['127.0.0.3', '127.0.0.4', '127.0.0.5']);
    });

    it('takes URLs from a file', async () => {
        const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'open-loop-'));
        const file = path.join(folder, 'urls');
        fs.writeFileSync(file, '/a\n/b\n');
        const urls = new Set();
        const server = http.createServer((request, response) => {
            urls.add(request.url);
            response.end();
        });
        try {
            await load(server, ['--seconds', '0.2', '--rate', '200', '--urls', file]);
        } finally {
            fs.rmSync(folder, { recursive: true });
        }
        assert.deepEqual([...urls].sort(), ['/a', '/b']);
    });

    // Server misbehaviour: [bytes sent, whether it closes, the error counted].
    const ANSWERS = [
        ['not HTTP\r\n\r\n', false, 'malformed'],
        ['HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxx', false, 'malformed'],
        ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', false, 'malformed'],
        [`HTTP/1.1 200 OK\r\nA: ${'x'.repeat(5000)}\r\n\r\n`, false, 'malformed'],
        ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nxx', true, 'cut'],
        ['', true, 'cut'],
        ['HTTP/1.1 200 OK\r\n\r\nuntil the end', true, null],
        ['HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nxx', true, null],
        ['HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n', false, null],
    ];
    for (const [bytes, closes, fault] of ANSWERS)
        it(`counts ${fault ?? 'as answered'}: ${JSON.stringify(bytes.slice(0, 60))}`, async () => {
            const server = net.createServer((socket) => {
                socket.on('error', () => {});
                socket.on('data', () => (closes ? socket.end(bytes) : socket.write(bytes)));
            });
            const { load: stream } = await load(server, ['--seconds', '0.3', '--rate', '30']);
            assert.equal(stream.due, 9);
            assert.equal(fault ? stream.errors[fault] : stream.answered, 9, JSON.stringify(stream));
        });

    // The head arrives byte by byte.
    it('reassembles responses', async () => {
        const server = net.createServer({ noDelay: true }, (socket) => {
            socket.on('error', () => {});
            socket.on('data', async () => {
                for (const byte of 'HTTP/1.1 200 OK\r\nretry-after: 1\r\nContent-Length: 3\r\n\r\nxyz') {
                    socket.write(byte);
                    await sleep(1);
                }
            });
        });
        const { load: stream } = await load(server, ['--seconds', '0.2', '--rate', '20']);
        assert.equal(stream.status[200].count, 4);
        assert.equal(stream.status[200].retry_after, 4);
    });

    const REFUSED = [
        [['93.184.216.34:80'], /only loopback/],
        [['localhost:80'], /only loopback/],
        [['128.0.0.1:80'], /only loopback/],
        [['127.0.0.1'], /target/],
        [['127.0.0.1:0'], /target/],
        [[], /target/],
        [['--rate', '-1', '127.0.0.1:80'], /--rate -1: expected a number/],
        [['--url', 'x', '127.0.0.1:80'], /--url x/],
        [['--url', '/{3..1}', '127.0.0.1:80'], /--url/],
        [['--url', '/{3', '127.0.0.1:80'], /--url/],
        [['--urls', '/nowhere', '127.0.0.1:80'], /--urls/],
        [['--source', '10.0.0.1', '127.0.0.1:80'], /--source/],
        [['--source', '127.0.0.9-127.0.0.2', '127.0.0.1:80'], /--source/],
        [['--abandon', '2@5', '127.0.0.1:80'], /--abandon/],
        [['--header', 'x', '127.0.0.1:80'], /--header/],
        [['--stream', 'A"', '127.0.0.1:80'], /--stream/],
        [['--what', '127.0.0.1:80'], /what/],
    ];
    for (const [args, message] of REFUSED)
        it(`refuses: ${args.join(' ')}`, async () => {
            const result = await run(args);
            assert.equal(result.code, 2);
            assert.match(result.stderr, message);
        });
});
