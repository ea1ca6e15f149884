// SIGHUP: an invalid configuration changes nothing, a valid one is applied completely, and
// no request is disturbed.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { assertPeace, draining, withDaemon } from './daemon.mjs';
import { load, underLoad } from '../load/client.mjs';
import { Faults } from '../preload/preload.mjs';
import { pngChunks } from './png.mjs';
import { SLOWEST_WORLD, TIMEOUT, eventually, patience, scratch, scratchFile } from './program.mjs';
import { assertStatus, eachRow } from './table.mjs';
import { request } from './wire.mjs';

const TILE = '/alpha/relief/11/900/1.png';
const sanitized = (Number(process.env.PATIENCE) || 1) > 1;
const world = (name, { octaves = 5, palette = '#204060', basis = `perlin, octaves: ${octaves}` } = {}) => `
  - name: ${name}
    noise: { basis: ${basis} }
    palette: [[-6500, "${palette}"], [6000, "#ffffff"]]
`;
const heldTiles = Array.from({ length: 8 }, (_, i) => `/alpha/gray/9/${i}/900.png`);
const worlds = (...list) => `worlds:${list.join('')}`;

/* Run check(daemon, write) with a daemon whose configuration file write(text) replaces. */
function withFile(text, check, { args = [], ...options } = {}) {
    const file = scratchFile('changing.yaml', text);
    const write = (next) => {       // atomically
        fs.writeFileSync(`${file}.new`, next);
        fs.renameSync(`${file}.new`, file);
    };
    write.file = file;
    return withDaemon(async (daemon) => {
        try {
            await check(daemon, write);
        } catch (error) {
            error.message += `\n--- stderr:\n${daemon.stderr.slice(-3000)}`;
            throw error;
        }
        if (daemon.program.running)
            await daemon.quit();
    }, { args: ['--config', file, ...args], ...options });
}

/* Write TEXT, which must be valid, and reload. */
async function change(daemon, write, text, tick) {
    write(text);
    await daemon.reload('ok', tick);
    // Each event loop adopts it between two requests, soon but not simultaneously; in any case before a new connection.
    daemon.agent.destroy();
}

const grown = (pid, before) => 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(
    fs.readFileSync(`/proc/${pid}/status`, 'latin1'))[1]) - before;
const openFiles = (pid) => fs.readdirSync(`/proc/${pid}/fd`).length;

describe('a rejected reload', { timeout: TIMEOUT, concurrency: 4 }, () => {
    it('changes nothing and logs the reason in one line', async () => {
        const cache = scratch();
        const head = ({ listen = '127.0.0.1:0', path = cache } = {}) => `listen: ${listen}\ncache: { path: ${path} }\n`;
        const beta = worlds(world('beta'));
        await withFile(head() + worlds(world('alpha')), async (daemon, write) => {
            const state = async () => {
                const metrics = await daemon.metrics();
                return {
                    world: await daemon.json('/alpha.json'), tile: (await daemon.get(TILE)).headers.etag,
                    ok: await daemon.reloads(), beta: (await daemon.get('/beta.json')).status,
                    limits: [...metrics].filter(([name]) => name.includes('limit')),
                };
            };
            await daemon.bytes(TILE);
            const before = await state();
            const limits = 'limits: { queue: 5 }\n';
            await eachRow([
                ['invalid YAML', 'log: info\nworlds: [\n', /changing\.yaml:\d+/],
                ['an unknown key', `${limits}${beta}    sede: 3\n`, /changing\.yaml:\d+.*sede/],
                ['an unknown top-level key', `log: info\nlisen: 3\n${limits}`, /changing\.yaml:2.*lisen/],
                ['a number out of range', limits + worlds(world('beta', { octaves: 65 })), /changing\.yaml:\d+.*octaves.*64/],
                ['not a number', 'threads: many\n', /changing\.yaml:1.*threads/],
                ['two worlds with the same name', limits + worlds(world('beta'), world('beta')), /changing\.yaml:\d+.*beta/],
                ['no file', null, /changing\.yaml.*[Nn]o such file/],
                ['a directory', 'directory', /changing\.yaml: cannot be read: is a directory; expected a regular file/],
                ['a FIFO', 'FIFO', /changing\.yaml: cannot be read: is a FIFO; expected a regular file/],
                ['a FIFO with a writer', 'FIFO', /changing\.yaml: cannot be read: is a FIFO; expected a regular file/],
                ['anchors', `${head()}worlds: [${'&a x,'.repeat(100000)}]\n`, /changing\.yaml:3: anchors and aliases/],
                ['listen', head({ listen: '127.0.0.1:1' }) + limits + beta, /\blisten\b.*restart/],
                ['shards', `${head()}shards: 7\n${limits}${beta}`, /\bshards\b.*restart/],
                ['threads', `${head()}threads: 7\n${limits}${beta}`, /\bthreads\b.*restart/],
                ['access_log', `${head()}access_log: "-"\n${limits}${beta}`, /\baccess_log\b.*restart/],
                ['cache.path', head({ path: '/nowhere' }) + limits + beta, /\bcache\.path\b.*restart/],
            ], async ([what, text, names]) => {
                fs.rmSync(write.file, { recursive: true, force: true });
                if (what === 'a directory')
                    fs.mkdirSync(write.file);
                else if (text === 'FIFO')
                    execFileSync('mkfifo', [write.file]);
                else if (text !== null)
                    write(text);
                const writer = what === 'a FIFO with a writer' ? fs.openSync(write.file, 'r+') : undefined;
                const lines = daemon.stderr.length;
                await daemon.reload('refused');
                if (writer !== undefined)
                    fs.closeSync(writer);
                await eventually(() => daemon.stderr.slice(lines).endsWith('\n'));     // stderr may lag behind
                const logged = daemon.stderr.slice(lines).trim().split('\n');
                assert.equal(logged.length, 1, `lines of log:\n${logged.join('\n')}`);
                assert.match(logged[0], names);
                assert.match(logged[0], / error SIGHUP: .*nothing was changed/);
                assert.deepEqual(await state(), before);
            });
            fs.rmSync(write.file, { recursive: true, force: true });
            await change(daemon, write, head() + limits + beta);
            assert.equal((await daemon.get('/beta.json')).status, 200, 'a valid configuration after the invalid ones');
        }, { listen: false, cache: false });
    });

    it('does not result from keys that --listen and --cache override', async () => {
        const text = (n, octaves) => `listen: 127.0.0.1:${n}\ncache: { path: /nowhere/${n} }\n${worlds(world('alpha', { octaves }))}`;
        await withFile(text(1, 5), async (daemon, write) => {
            await change(daemon, write, text(2, 6));
            assert.equal((await daemon.json('/alpha.json')).noise.octaves, 6);
            await daemon.bytes(TILE);
            assert.ok(await eventually(() => fs.readdirSync(daemon.cache).some((name) => /^[0-9a-f]{16}$/.test(name))));
        });
    });
});

describe('a successful reload', { timeout: TIMEOUT, concurrency: 4 }, () => {
    it('is applied completely', () => withFile(worlds(world('alpha')), async (daemon, write) => {
        const alpha = await daemon.json('/alpha.json');
        const image = await daemon.bytes('/alpha/gray/11/900/1.png');
        const gauges = async () => {
            const all = await daemon.metrics();
            return ['farlands_queue_limit', 'farlands_cache_limit_bytes{tier="memory"}', 'farlands_cache_limit_bytes{tier="disk"}',
                'farlands_cache_limit_files'].map((name) => all.get(name));
        };
        await change(daemon, write, 'base_path: /terrain\nlog: debug\nlimits: { queue: 17 }\n' +
            `cache: { memory: 32M, disk: 64M, files: 5000 }\n${worlds(world('beta', { octaves: 7 }), world('alpha'))}`);
        assert.deepEqual(await gauges(), [17, 32 << 20, 64 << 20, 5000]);
        assertStatus(await daemon.get('/alpha.json'), 404);
        assertStatus(await daemon.get('/terrain/default.json'), 404);
        assert.deepEqual((await daemon.json('/terrain/worlds.json')).worlds.map(({ name }) => name), ['beta', 'alpha']);
        assert.equal((await daemon.json('/terrain/beta.json')).noise.octaves, 7);
        const tilejson = await daemon.json('/terrain/alpha/gray.json');
        assert.ok(tilejson.tiles.every((url) => url.includes('/terrain/alpha/gray/')), tilejson.tiles[0]);
        // An unchanged world keeps its fingerprint and its tiles.
        assert.equal((await daemon.json('/terrain/alpha.json')).fingerprint, alpha.fingerprint);
        const rendered = await daemon.rendered();
        assert.deepEqual(await daemon.bytes('/terrain/alpha/gray/11/900/1.png'), image);
        assert.equal(await daemon.rendered(), rendered, 'rendered again');
        const logged = / debug GET \/terrain\/alpha\/gray\/11\/900\/1\.png /;
        assert.ok(await eventually(() => logged.test(daemon.stderr)), 'the last request before the reload is not logged');
        const lines = daemon.stderr.length;
        await change(daemon, write, `log: error\n${worlds(world('alpha'))}`);
        await daemon.bytes(TILE);
        assert.doesNotMatch(daemon.stderr.slice(lines).replace(/^.*\/metrics.*\n/gm, ''), / (debug|info) /);
        assertStatus(await daemon.get('/terrain/alpha.json'), 404);
        assert.deepEqual((await gauges())[0], 1024);
    }));

    it('replaces prepared responses on every connection', () => withFile(worlds(world('alpha')), async (daemon, write) => {
        const connections = await Promise.all(Array.from({ length: 24 }, () => daemon.connect()));
        const get = (connection, headers = {}) =>
            connection.send(request('GET', TILE, { Host: 'farlands.test', ...headers })).answer();
        for (const palette of ['#400000', '#004000', '#000040']) {
            const old = await daemon.get(TILE);
            for (const connection of connections)
                for (let i = 0; i < 4; i++) {
                    assert.equal((await get(connection)).headers.etag, old.headers.etag);
                    assertStatus(await get(connection, { 'If-None-Match': old.headers.etag }), 304);
                }
            await change(daemon, write, worlds(world('alpha', { palette })));
            const fingerprint = await daemon.fingerprintOf(TILE);
            for (const connection of connections) {
                let answer;
                await eventually(async () => {
                    answer = await get(connection, { 'If-None-Match': old.headers.etag });
                    return answer.status !== 304;
                });
                assertStatus(answer, 200);
                assert.ok(answer.headers.etag.includes(fingerprint), `${answer.headers.etag} does not name ${fingerprint}`);
                assert.notDeepEqual(answer.body, old.body);
            }
        }
        for (const connection of connections)
            connection.close();
    }));

    it('keeps the tiles of layers that a new palette does not change', () => withFile(worlds(world('alpha')), async (daemon, write) => {
        const tiles = ['gray', 'terrarium', 'relief'].map((layer) => `/alpha/${layer}/11/901/1.png`);
        const get = () => Promise.all(tiles.map((tile) => daemon.get(tile)));
        const old = await get(), rendered = await daemon.rendered();
        await change(daemon, write, worlds(world('alpha', { palette: '#123456' })));
        const fresh = await get();
        assert.deepEqual(fresh.map(({ headers }, i) => headers.etag === old[i].headers.etag), [true, true, false]);
        assert.equal(await daemon.rendered(), rendered + 1);
        assert.ok(fresh[0].body.equals(old[0].body) && fresh[1].body.equals(old[1].body) && !fresh[2].body.equals(old[2].body));
    }));

    it('keeps the old world for requests in progress', () => {
        const old = `threads: 1\n${worlds(world('alpha'))}`, faults = new Faults(scratch());
        return withFile(old, async (daemon, write) => {
            const fingerprint = await daemon.fingerprintOf(heldTiles[0]);
            faults.stand();
            faults.hold('encode');
            const { connections, answers } = await daemon.queue(heldTiles);
            await change(daemon, write, `threads: 1\n${worlds(world('beta'))}`, () => faults.advance('steady', 0.005));
            assertStatus(await daemon.get('/alpha.json'), 404);
            faults.clear();
            faults.thaw();
            const first = await answers[0];
            for (const [i, pending] of answers.entries()) {
                const answer = await pending;
                assertStatus(answer, 200);
                assert.ok(answer.headers.etag.includes(fingerprint), `${i}: ${answer.headers.etag}`);
                pngChunks(answer.body);
            }
            // They are the bytes of the old world, as a reload of it shows.
            await change(daemon, write, old);
            assert.deepEqual(await daemon.bytes(heldTiles[0]), first.body);
            for (const connection of connections)
                connection.close();
        }, { env: faults.env });
    });

    it('admits waiting clients if the connection limit rises, and closes none if it falls', () => {
        const limited = (connections) =>
            `threads: 1\nshards: 1\nlimits: { connections: ${connections}, wait: 60000 }\nworlds: [${SLOWEST_WORLD}]\n`;
        const faults = new Faults(scratch());
        return withFile(limited(4), async (daemon, write) => {
            faults.stand();             // the searches below do not end at the daemon's limit of 10 s
            const opened = [];
            const open = async () => {
                opened.push(await daemon.connect());
                return opened.at(-1);
            };
            // Idle connections are closed for others: these wait for a search that takes long. It is read with another request.
            const hold = (connection) => connection.send(request('GET', '/healthz') +
                request('GET', '/slow/spawn?x=0&y=0&min=3990&slope=0')).answer();
            const isServed = async (connection, limit = 30000) => {
                connection.pending ??= connection.send(request('GET', '/healthz')).answer();
                connection.pending.catch(() => {});
                const ticking = setInterval(() => faults.advance('steady', 0.001), 5);
                const served = await Promise.race([connection.pending.then(() => true), sleep(patience(limit), false)]);
                clearInterval(ticking);
                if (served)
                    connection.pending = null;
                return served;
            };
            const reloadUnseen = async () => {          // no connection is left to request the metrics
                const lines = daemon.stderr.length;
                daemon.kill('SIGHUP');
                assert.ok(await eventually(() => {
                    faults.advance('steady', 0.005);
                    return / info SIGHUP/.test(daemon.stderr.slice(lines));
                }));
            };
            for (let i = 0; i < 4; i++)
                assert.ok(await isServed(await open()));
            await Promise.all(opened.map(hold));
            const fifth = await open();
            assert.equal(await isServed(fifth, 200), false, 'the limit has no effect');
            write(limited(6));
            await reloadUnseen();
            assert.ok(await isServed(fifth), 'the acceptor was not woken');
            assert.ok(await isServed(await open()));
            await Promise.all(opened.slice(4).map(hold));
            write(limited(2));
            await reloadUnseen();
            const last = await open();
            for (const connection of opened.slice(0, 4)) {
                assert.equal(await isServed(last, 200), false, 'more connections than the limit');
                assert.ok(!connection.ended, 'an open connection was closed');
                connection.close();
            }
            assert.equal(await isServed(last, 200), false);
            assert.ok(!opened[4].ended && !opened[5].ended, 'an open connection was closed');
            opened[4].close();
            assert.ok(await isServed(last));
            for (const connection of opened)
                connection.close();
            faults.thaw();
        }, { env: faults.env });
    });
});

describe('many reloads', { timeout: TIMEOUT, concurrency: 3 }, () => {
    const RELOADS = sanitized ? 60 : 200;
    const WARM = sanitized ? 20 : 50;

    it(`do not leak memory or files (${RELOADS} reloads)`, (t) => withFile('', async (daemon, write) => {
        const text = (i) => `cache: { memory: 4M }\nlimits: { queue: ${100 + i} }\n` +
            worlds(...Array.from({ length: 12 }, (_, n) => world(n ? `w${n}` : 'alpha', { palette: `#${String(100000 + i * 12 + n)}` })));
        let memory, files;
        for (let i = 0; i < RELOADS; i++) {
            if (i === WARM)
                [memory, files] = [grown(daemon.pid, 0), openFiles(daemon.pid)];
            write(text(i));
            await daemon.reload();
            for (let n = 0; n < 3; n++)
                await daemon.bytes(TILE);
            await daemon.bytes('/worlds.json');
        }
        const more = grown(daemon.pid, memory);
        t.diagnostic(`${(more / 1048576).toFixed(1)} MiB more, of ${(memory / 1048576).toFixed(1)}`);
        if (!sanitized)         // sanitizers keep freed memory
            assert.ok(more < 6 << 20, `${more} bytes more after ${RELOADS - WARM} reloads, from ${memory}`);
        assert.ok(openFiles(daemon.pid) <= files + 2, `${openFiles(daemon.pid)} files open, ${files} before`);
        assert.equal(await daemon.reloads('refused'), 0);
    }));

    it('requested by 500 signals at once are few, and the last content is in force', () => withFile(worlds(world('alpha')), async (daemon, write) => {
        for (const octaves of [6, 7, 8]) {
            const before = await daemon.reloads();
            for (let i = 0; i < 500; i++)
                daemon.kill('SIGHUP');
            write(worlds(world('alpha', { octaves })));
            daemon.kill('SIGHUP');
            assert.ok(await eventually(async () => (await daemon.json('/alpha.json')).noise.octaves === octaves), 'the last change was lost');
            let done;       // a reload is in force some moments before it is counted
            assert.ok(await eventually(async () => (done = await daemon.reloads() - before) >= 1), 'no reload was counted');
            assert.ok(done <= 100, `${done} reloads`);
        }
        assert.equal(await daemon.reloads('refused'), 0);
    }));

    it('under load fail no request (50 reloads)', () => withFile(worlds(world('alpha')), async (daemon, write) => {
        const target = (i) => [`/alpha/gray/11/${i % 40}/7.png`, `/alpha/gray/11/900/${i}.png`, '/alpha.json',
            '/worlds.json'][i % 4];
        const { answers, failures } = await underLoad(load(daemon, target, 12), async (clients) => {
            for (let i = 0; i < 25; i++) {
                await change(daemon, write, `limits: { connections: ${100 + i}, queue: ${200 + i}, wait: 60000 }\n` +
                    `cache: { memory: ${1 + i % 3}M }\n` +
                    worlds(world('alpha', { octaves: 4 + i % 3 }), ...(i % 2 ? [world('beta')] : [])));
                write('worlds: 3\n');
                await daemon.reload('refused');
            }
            await eventually(() => clients.state.answers > 200);
            return clients.stop();
        });
        assert.deepEqual(failures, []);
        assert.ok(answers > 200, `only ${answers} responses`);
        assert.equal(await daemon.reloads(), 25);
        assert.equal(await daemon.reloads('refused'), 25);
    }));

    it('are ignored while draining', () => {
        const faults = new Faults(scratch());
        return withFile(`threads: 1\nlimits: { drain: 600 }\n${worlds(world('alpha'))}`, async (daemon, write) => {
            const fingerprint = await daemon.fingerprintOf(heldTiles[0]);
            faults.stand();
            faults.hold('encode');
            const { answers } = await daemon.queue(heldTiles);
            daemon.kill('SIGTERM');
            assert.ok(await draining(daemon));
            write(worlds(world('beta')));
            for (let i = 0; i < 20; i++)
                daemon.kill('SIGHUP');
            faults.clear();
            faults.thaw();
            for (const pending of answers)
                assert.ok((await pending).headers.etag.includes(fingerprint));
            assertPeace(await daemon.ended());
            assert.doesNotMatch(daemon.stderr, /SIGHUP/);
        }, { env: faults.env });
    });

    it('are not lost while another one is being read', () => withFile(worlds(world('alpha')), async (daemon, write) => {
        for (let octaves = 6; octaves < 26; octaves++) {
            write(worlds(world('alpha', { octaves: 4 })));
            daemon.kill('SIGHUP');
            await sleep(40 + octaves);
            write(worlds(world('alpha', { octaves })));
            daemon.kill('SIGHUP');
            assert.ok(await eventually(async () => (await daemon.json('/alpha.json')).noise.octaves === octaves), `the change to ${octaves} octaves was lost`);
        }
    }));
});
