// The streaming client, built as a user would build it, against the daemon: directly, and through a proxy that
// rejects, truncates, delays and falsifies responses. It walks until a number of squares has arrived.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { useDaemon } from '../http/daemon.mjs';
import { patience, scratch } from '../http/program.mjs';
import { eachRow } from '../http/table.mjs';

const TREE = fileURLToPath(new URL('../..', import.meta.url));
const PREFIX = '/opt/farlands';
const CELLS = 16, SIDE = 17, CONNECTIONS = 6;
const directory = scratch();
const root = path.join(directory, 'root');
const client = path.join(directory, 'client');

/* Run PROGRAM until it exits; returns { code, stdout, stderr }. */
function run(program, args, env = {}) {
    return new Promise((resolve) => {
        execFile(program, args, { cwd: TREE, env: { ...process.env, ...env }, timeout: patience(240000) },
            (error, stdout, stderr) => resolve({ code: error ? error.code ?? error.signal : 0, stdout, stderr }));
    });
}

async function must(program, args, env) {
    const { code, stdout, stderr } = await run(program, args, env);
    assert.equal(code, 0, `${program} ${args.join(' ')}\n${stdout}${stderr}`);
    return stdout.trim();
}

/* Build the client with only pkg-config's flags for an installed library. */
async function build() {
    await must('make', ['--no-print-directory', 'install-lib', `PREFIX=${PREFIX}`, `LIBDIR=${PREFIX}/lib`,
        `DESTDIR=${root}`]);
    const flags = (await must('pkg-config', ['--cflags', '--libs', 'farlands'], {
        PKG_CONFIG_SYSROOT_DIR: root, PKG_CONFIG_PATH: `${root}${PREFIX}/lib/pkgconfig`,
    })).split(/\s+/);
    const others = (await must('pkg-config', ['--cflags', '--libs', 'libcurl', 'libcjson'])).split(/\s+/);
    const sources = ['client.c', 'ground.c'].map((file) => `tests/examples/streaming/${file}`);
    await must('gcc', ['-std=gnu11', '-O2', '-g', '-Wall', '-Wextra', '-Wshadow', '-Wconversion', '-Werror',
        '-fsanitize=address,undefined', '-fno-sanitize-recover=all', ...sources, '-o', client, ...flags, ...others,
        '-lm']);
}

const COUNTS = new RegExp('^(\\d+) regions: p50 ([\\d.]+) ms, p99 ([\\d.]+) ms; (\\d+) samples verified, ' +
    '(\\d+) differ\n(\\d+) dropped, (\\d+) cancelled, (\\d+) shed, (\\d+) lost; (\\d+) of (\\d+) frames', 'm');
const NAMES = ['regions', 'p50', 'p99', 'samples', 'differ', 'dropped', 'cancelled', 'shed', 'lost', 'groundless',
    'frames'];

/* Run the client; returns { code, stdout, stderr } and its counts. */
async function stream(...args) {
    const result = await run(client, args.map(String),
        { LD_LIBRARY_PATH: `${root}${PREFIX}/lib`, no_proxy: '*' });
    assert.doesNotMatch(result.stderr, /Sanitizer|runtime error:/);
    const counts = COUNTS.exec(result.stdout)?.slice(1) ?? [];
    counts.forEach((count, i) => { result[NAMES[i]] = Number(count); });
    return result;
}

/* Assert that a walk had no errors. */
function assertGood(result) {
    const all = JSON.stringify(result);
    assert.equal(result.code, 0, all);
    assert.equal(result.differ, 0, all);
    assert.ok(result.regions > 0, all);
    assert.equal(result.samples, result.regions * SIDE * SIDE, all);
}

const regionOf = (target) => {
    const { searchParams } = new URL(target, 'http://any');
    return { x: Number(searchParams.get('x')), y: Number(searchParams.get('y')) };
};

/*
 * A proxy between a client and the daemon. interfere(region, n) is called for the n-th region. It returns
 * changes to the daemon's response: { status, headers, cut, delay, spoil }.
 */
class FaultyProxy {
    constructor(daemon) {
        this.daemon = daemon;
        // After the last client has disconnected, the daemon may have stopped, too.
        this.server = http.createServer((request, response) =>
            this.respond(request, response).catch(() => response.destroy()));
        this.server.on('connection', () => { this.connections++; });
    }

    async start() {
        await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
        this.url = `http://127.0.0.1:${this.server.address().port}/default`;
    }

    begin(interfere = () => ({})) {
        return Object.assign(this, { interfere, requested: [], connections: 0 });
    }

    async respond(request, response) {
        const isRegion = request.url.includes('/region.');
        if (isRegion)
            this.requested.push(regionOf(request.url));
        const fault = isRegion ? this.interfere(this.requested.at(-1), this.requested.length) : {};
        await sleep(fault.delay ?? 0);
        const { status, headers, body } = fault.status
            ? { status: fault.status, headers: {}, body: Buffer.from('{"error":"no"}') }
            : await this.daemon.get(request.url);
        fault.spoil?.(body);
        response.writeHead(status, { ...headers, ...fault.headers });
        if (fault.cut)
            response.write(body.subarray(0, body.length / 2), () => response.destroy());
        else
            response.end(body);
    }

    stop() {
        this.server.closeAllConnections();
        this.server.close();
    }
}

describe('streaming client', { timeout: patience(300000) }, () => {
    // Nothing is shed on a busy machine.
    const daemon = useDaemon({ builtIn: true, config: 'limits: { wait: 60000 }\n' });
    const proxy = new FaultyProxy(daemon);
    const base = () => `http://${daemon.authority}`;
    before(build);
    before(() => proxy.start());
    after(() => proxy.stop());

    const LONG = 200;       // seconds
    const LIMIT = (2n ** 52n).toString();
    const WALKS = [
        // world, start, radius
        ['default', 0, 0, 128],
        ['default', -1e6, 123456, 1],
        ['default', '-1099511627776', '4398046511104', 300],
        ['default', LIMIT, `-${LIMIT}`, 100],           // a corner of the world, with nothing beyond it
        ['default:18446744073709551615', 0, 0, 128],
    ];

    it('receives every sample that the library computes', () => eachRow(WALKS, async ([world, x, y, radius]) => {
        const result = await stream('-t', LONG, '-n', 12, '-s', 60, '-r', radius, '-x', x, '-y', y, `${base()}/${world}`);
        assertGood(result);
        console.log(result.stdout);
        assert.equal(result.lost + result.shed, 0);
    }));

    it('requests the nearest squares first, over few connections', async () => {
        proxy.begin();
        const result = await stream('-t', LONG, '-n', 151, '-s', 0, '-r', 200, '-x', -1000005, '-y', -3, proxy.url);
        assertGood(result);
        const [{ x, y }] = proxy.requested;
        const start = /^spawn: \((-?\d+), (-?\d+)\)/.exec(result.stdout).slice(1);
        assert.deepEqual([x, y], start.map((blocks) => CELLS * Math.floor(blocks / CELLS)), 'not the square of the player');
        const distances = proxy.requested.map((region) => ((region.x - x) ** 2 + (region.y - y) ** 2) / CELLS ** 2);
        assert.ok(distances.length > 150, `${distances.length} squares`);
        assert.ok(Math.max(...distances) <= 13 ** 2);
        // Concurrent requests may overtake each other.
        const early = distances.findIndex((distance, i) => distance < distances[i - 2 * CONNECTIONS]);
        assert.equal(early, -1, `square ${early} is late`);
        assert.ok(proxy.connections <= CONNECTIONS + 2, `${proxy.connections} connections`);
    });

    it('drops squares behind the player, and fetches them again', async () => {
        const result = await stream('-t', LONG, '-n', 100, '-s', 600, '-r', 48, `${base()}/default`);
        assertGood(result);
        assert.ok(result.dropped > 20, JSON.stringify(result));
    });

    it('pauses for Retry-After when shed', async () => {
        const { requested } = proxy.begin((region, n) => {
            if (n !== 20)
                return {};
            setTimeout(() => { meanwhile = requested.length - 20; }, 1000);
            return { status: 503, headers: { 'Retry-After': '2' } };
        });
        let meanwhile = null;
        const result = await stream('-t', LONG, '-n', 30, '-r', 64, '-s', 1, proxy.url);
        assertGood(result);
        assert.equal(result.shed, 1);
        const refused = requested[19];
        // Of the pause's half: those in progress at that moment may still arrive.
        assert.ok(meanwhile !== null && meanwhile <= 2 * CONNECTIONS, `${meanwhile} during the pause`);
        assert.ok(requested.filter(({ x, y }) => x === refused.x && y === refused.y).length >= 2, 'not requested again');
    });

    it('continues after broken connections', async () => {
        proxy.begin((region, n) => ({ cut: n === 10 }));
        const result = await stream('-t', LONG, '-n', 60, '-r', 64, proxy.url);
        assertGood(result);
        assert.equal(result.lost, 1);
        const { x, y } = proxy.requested[9];
        assert.ok(proxy.requested.filter((region) => region.x === x && region.y === y).length === 2);
    });

    it('cancels late requests', async () => {
        proxy.begin((region, n) => ({ delay: n % 3 ? 0 : 1500 }));
        const result = await stream('-t', 20, '-n', 60, '-s', 1000, '-r', 48, proxy.url);
        assertGood(result);
        assert.ok(result.cancelled > 0, JSON.stringify(result));
    });

    const FAULTS = [
        ['one bit', { spoil: (body) => { body[4 * 100] ^= 1; } }, /the server has .*, the library/],
        ['another world', { headers: { 'farlands-fingerprint': '0123456789abcdef' } }, /another world/],
        ['refusal', { status: 400 }, /status 400, .*"error":"no"/],
        ['length', { status: 200 }, /status 200, 14 bytes/],
    ];

    it('fails on wrong data', () => eachRow(FAULTS, async ([, fault, message]) => {
        proxy.begin((region, n) => (n === 5 ? fault : {}));
        const { code, stderr } = await stream('-t', LONG, '-n', 60, proxy.url);
        assert.equal(code, 1);
        assert.match(stderr, message);
    }));

    it('needs a system with standard C and libcurl alone', async () => {
        const folder = path.join(TREE, 'tests/examples/streaming');
        const flags = (await must('pkg-config', ['--cflags', 'libcurl'])).split(/\s+/).filter(Boolean);
        await must('gcc', ['-std=c11', '-pedantic-errors', '-Wall', '-Wextra', '-Werror', '-c', `${folder}/ground.c`,
            '-o', '/dev/null', ...flags]);
        for (const file of ['ground.c', 'ground.h'])
            for (const [, header] of readFileSync(path.join(folder, file), 'utf8').matchAll(/^#include <(.*)>/gm))
                assert.match(header, /^(errno|stdbool|stdint|stdio|stdlib|string|curl\/curl)\.h$/, file);
    });

    it('reports wrong arguments', () => eachRow([
        [[], 2, /usage/], [['-s', 'x', 'U'], 2, /usage/], [['-r', 1025, 'U'], 2, /usage/],
        [['-x', '4503599627370497', 'U'], 2, /usage/],
        [[`${base()}/nowhere`], 1, /nowhere/], [['file:///etc/passwd'], 1, /rotocol/],
        [['http://127.0.0.1:1/default'], 1, /connect/],
    ], async ([args, code, message]) => {
        const result = await stream(...args);
        assert.equal(result.code, code, JSON.stringify(result));
        assert.match(result.stderr, message);
    }));
});
