// The load generator against servers of known behavior.
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
import { eventually } from '../http/program.mjs';
import { ENDLESS, startLoad } from './client.mjs';

const BINARY = process.env.OPEN_LOOP ||
    fileURLToPath(new URL('../../build/tests/load/open_loop', import.meta.url));

/* { code, stdout, stderr } */
function run(args) {
    return new Promise((resolve) => {
        execFile(BINARY, args, { timeout: 120000 }, (error, stdout, stderr) =>
            resolve({ code: error ? error.code ?? error.signal : 0, stdout, stderr }));
    });
}

/* Listen with SERVER at { port } or so while WORK goes on. */
async function serving(server, where, work) {
    server.listen(where);
    await once(server, 'listening');
    try {
        return await work(server.address());
    } finally {
        server.close();
        server.closeAllConnections?.();
    }
}

/*
 * Run against SERVER, with a long time for responses, which it does not wait for if all have come. Returns the report's
 * streams by name.
 */
const load = (server, args) => serving(server, { port: 0, host: '127.0.0.1' }, async ({ port }) => {
    const result = await run(['--json', '-', '--grace', '60', ...args, `127.0.0.1:${port}`]);
    assert.equal(result.code, 0, result.stderr);
    const report = JSON.parse(result.stdout);
    return Object.fromEntries(report.streams.map((stream) => [stream.name, stream]));
});

const NO_ERRORS = { refused: 0, cut: 0, malformed: 0, unanswered: 0, unsent: 0 };
const CLOSED = ['--seconds', '60', '--closed'];

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
        assert.deepEqual(a.errors, NO_ERRORS);
        const urls = new Set(seen.filter(([, accept]) => accept === 'a/b').map(([url]) => url));
        assert.deepEqual([...urls].sort(), [-3, -2, -1, 0, 1, 2, 3, 4].map((x) => `/${x}/7.png`).sort());
    });

    it('opens its connections before the first request, and can wait between them', async () => {
        let opened = 0, before = null;
        const server = http.createServer((request, response) => {
            before ??= opened;
            response.end();
        });
        server.on('connection', () => { opened++; });
        await load(server, ['--seconds', '0.2', '--settle', '0.2', '--connections', '16']);
        assert.equal(before, 16);
    });

    // One connection, and a server whose tenth response comes when others are due: a closed loop would see one slow request.
    it('counts requests that become due while others are answered', async () => {
        let count = 0;
        const server = http.createServer(async (request, response) => {
            if (++count === 10)
                await sleep(400);
            response.end('x');
        });
        const { load: stream } = await load(server, ['--seconds', '2', '--rate', '20', '--connections', '1']);
        assert.equal(stream.due, 40);
        assert.equal(stream.answered, 40);
        assert.ok(stream.waited >= 6, `${stream.waited} waited`);
    });

    it('gives up on a server that never responds, and counts all due requests', async () => {
        const server = http.createServer(() => {});
        const { load: stream } = await load(server,
            ['--seconds', '0.5', '--grace', '0.5', '--rate', '100', '--connections', '4']);
        assert.equal(stream.due, 50);
        const { unanswered, unsent } = stream.errors;
        assert.ok(unanswered <= 4 && unanswered + unsent === 50, JSON.stringify(stream));
        assert.equal(stream.all.count, 50);
    });

    it('abandons requests and reconnects', async () => {
        let seen = 0, closed = 0;
        const server = http.createServer((request) => {
            seen++;
            request.on('close', () => { closed++; });
        });
        const { load: stream } = await load(server,
            ['--seconds', '0.5', '--rate', '100', '--connections', '5', '--abandon', '1@5']);
        assert.equal(stream.abandoned, 50);
        assert.equal(stream.answered, 0);
        assert.deepEqual(stream.errors, NO_ERRORS);
        assert.ok(await eventually(() => closed === seen), `${closed} of ${seen} are closed`);
    });

    it('without a rate sends a request when the last one is answered', async () => {
        let pending = 0, most = 0;
        const server = http.createServer(async (request, response) => {
            most = Math.max(most, ++pending);
            await sleep(1);
            pending--;
            response.end();
        });
        const { a, b } = await load(server, ['--seconds', '60',
            '--stream', 'a', '--closed', '--requests', '200', '--connections', '3',
            '--stream', 'b', '--closed', '--requests', '10', '--connections', '1', '--pause', '5']);
        assert.deepEqual([a.answered, b.answered], [200, 10]);
        assert.equal(most, 4);
    });

    it('takes URLs in order, and again from the first', async () => {
        const urls = [];
        const server = http.createServer((request, response) => {
            urls.push(request.url);
            response.end();
        });
        await load(server, [...CLOSED, '--requests', '7', '--connections', '1', '--in-order', '--url', '/a', '--url', '/b', '--url', '/c']);
        assert.equal(urls.join(''), '/a/b/c/a/b/c/a');
    });

    it('sends a request again if an idle connection was closed', async () => {
        const urls = [];
        const server = net.createServer((socket) => {
            let served = 0;
            socket.on('error', () => {});
            socket.on('data', (bytes) => {
                if (served++ === 3)         // as a server whose idle limit passed meanwhile
                    return socket.end();
                urls.push(String(bytes).split(' ')[1]);
                return socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
            });
        });
        const { load: stream } = await load(server, [...CLOSED, '--requests', '20', '--connections', '1', '--in-order',
            ...Array.from({ length: 20 }, (_, i) => ['--url', `/${i}`]).flat()]);
        assert.equal(stream.answered, 20);
        assert.equal(stream.sent, 20);
        assert.deepEqual(stream.errors, NO_ERRORS);
        assert.deepEqual(urls, Array.from({ length: 20 }, (_, i) => `/${i}`));
        assert.equal(stream.opened, 7);
    });

    /* Starts ARGS at SERVER, waits for CONDITION of its progress, and returns the report of its stream. */
    const until = (server, args, condition) => serving(server, { port: 0, host: '127.0.0.1' }, async ({ port }) => {
        const clients = startLoad({ port }, [...ENDLESS, ...args]);
        assert.ok(await clients.until(condition), JSON.stringify(clients.progress()));
        return (await clients.stop()).stream.load;
    });

    it('stalls: sends requests and reads nothing', async () => {
        const BODY = Buffer.alloc(1 << 22);
        let requests = 0;
        const server = http.createServer((request, response) => {
            requests++;
            response.end(BODY);
        });
        const stream = await until(server, ['--grace', 0, '--closed', '--stall', 2, '--connections', 3],
            ({ sent }) => sent === 3 && requests >= 3);
        assert.deepEqual([stream.sent, stream.bytes], [3, 0]);
    });

    it('sends nothing at a rate of 0', async () => {
        const server = http.createServer(() => assert.fail('a request'));
        const stream = await until(server, ['--rate', 0, '--connections', 5], ({ opened }) => opened === 5);
        assert.deepEqual([stream.opened, stream.due], [5, 0]);
    });

    it('tells its progress, and ends with a report on SIGTERM', async () => {
        const server = http.createServer((request, response) => response.end());
        const stream = await until(server, ['--grace', 60, '--closed', '--connections', 2], ({ answered }) => answered > 50);
        assert.ok(stream.answered > 50);
        assert.equal(stream.answered, stream.sent);
    });

    it('ends on SIGTERM while all its connections fail', async () => {
        const { port } = await serving(http.createServer(), { port: 0, host: '127.0.0.1' }, (address) => address);
        const clients = startLoad({ port }, [...ENDLESS, '--grace', 0, '--closed', '--connections', 4096]);
        assert.ok(await clients.until(({ progress }) => progress), 'not begun');
        const { stream: { load: { opened, errors } } } = await clients.stop();
        assert.equal(opened, 0);
        assert.ok(errors.refused > 0);
    });

    it('connects to IPv6 and Unix sockets', { skip: os.networkInterfaces().lo?.some(({ family }) => family === 'IPv6') ? false : 'no IPv6' }, async () => {
        const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'open-loop-'));
        const hosts = [];
        const make = () => http.createServer((request, response) => {
            hosts.push(request.headers.host);
            response.end();
        });
        const once = [...CLOSED, '--requests', '1'];
        try {
            const { code, stderr } = await serving(make(), { port: 0, host: '::1' }, ({ port }) => run([...once, `[::1]:${port}`]));
            assert.equal(code, 0, stderr);
            await serving(make(), { path: path.join(folder, 'socket') }, () => run([...once, `unix:${folder}/socket`]));
        } finally {
            fs.rmSync(folder, { recursive: true });
        }
        assert.match(hosts.join(' '), /^\[::1\]:\d+ localhost$/);
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

    // Server misbehavior: [bytes sent, whether it closes, the error counted].
    const ANSWERS = [
        ['not HTTP\r\n\r\n', false, 'malformed'],
        ['HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxx', false, 'malformed'],
        ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n', false, null],
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
