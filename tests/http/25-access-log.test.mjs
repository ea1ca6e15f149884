// The access log: its entries, rotation, and write errors.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { Daemon, withDaemon } from './daemon.mjs';
import { TIMEOUT, eventually, scratch } from './program.mjs';
import { open } from './streams.mjs';
import { eachRow } from './table.mjs';
import { request } from './wire.mjs';

const config = (log) => `access_log: ${JSON.stringify(log)}\nshards: 2\n`;
const entries = (text) => text.split('\n').slice(0, -1).map((line) => JSON.parse(line));
const read = (file) => {
    const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
    assert.ok(!text || text.endsWith('\n'), `${file} ends in ${text.slice(-80)}`);
    return entries(text);
};

/* Wait for the entry of the latest request for URI. */
async function entryOf(file, uri) {
    const find = () => read(file).findLast((entry) => entry.uri === uri);
    assert.ok(await eventually(find), `no entry for ${uri} in ${file}`);
    return find();
}

describe('the access log', { timeout: TIMEOUT }, () => {
    const file = path.join(scratch(), 'access.log');

    it('has one line per request', () => withDaemon(async (daemon) => {
        const tile = '/default/relief/9/5/5.png';
        await eachRow([
            ['GET', tile, 200, 'render'],
            ['GET', tile, 200, 'memory'],
            ['GET', tile, 200, 'memory'],
            ['HEAD', `${tile}?v=1`, 200, 'memory'],
            ['GET', '/default/height?x=1&y=2', 200, 'none'],
            ['GET', '/nowhere', 404, 'none'],
            ['GET', '/default/relief/9/5/x.png', 400, 'none'],
            ['OPTIONS', '/', 204, 'none'],
            ['DELETE', '/worlds.json', 405, 'none'],
        ], async ([method, uri, status, from]) => {
            const before = read(file).length;
            const begun = Date.now();
            const headers = { 'User-Agent': 'test "1"\\', Referer: `http://127.0.0.1${uri}` };
            const { body } = await daemon.request(method, uri, headers);
            assert.ok(await eventually(() => read(file).length === before + 1), 'one line');
            const { time, seconds, ...entry } = read(file).at(-1);
            assert.deepEqual(entry, { client: '127.0.0.1', method, uri, status, bytes: body.length, from,
                user_agent: headers['User-Agent'], referer: headers.Referer });
            /* The test's clock was read before and after the daemon's, whose times are rounded. */
            const ended = Date.now();
            assert.ok(Date.parse(time) >= begun - 1000 && Date.parse(time) <= ended + 1, `${time}`);
            assert.ok(seconds > 0 && seconds <= (ended - begun + 1) / 1000, `${seconds} s`);
        });
        await daemon.get('/default/relief%2F9?%61=%zz');
        await entryOf(file, '/default/relief%2F9?%61=%zz');
        await daemon.get('/default%3A7.json?%61=b'); // decoded
        await entryOf(file, '/default:7.json?a=b');
        const { body, headers } = await daemon.get(tile, { Range: 'bytes=10-19' });
        const entry = await entryOf(file, tile);
        assert.ok(body.length === 10 && headers['content-range']);
        assert.ok(await eventually(() => read(file).at(-1).status === 206));
        assert.equal(read(file).at(-1).bytes, 10);
        assert.equal(entry.client, '127.0.0.1');
    }, { config: config(file) }));

    it('distinguishes hits on disk, renders and joined requests', async () => {
        const cache = scratch(), log = path.join(scratch(), 'access.log');
        const tile = '/default/relief/10/300/300@2x.png';
        let entries = 0;
        await withDaemon(async (daemon) => {
            let from = [];
            /* On a busy machine a tile may be ready before the second request is there. */
            for (let x = 300; !from.includes('joined') && x < 320; x++) {
                await Promise.all(Array.from({ length: 12 }, () => daemon.get(tile.replace('300', x))));
                entries += 12;
                assert.ok(await eventually(() => read(log).length === entries));
                from = read(log).slice(-12).map((entry) => entry.from);
                assert.equal(from.filter((one) => one === 'render').length, 1, `${from}`);
                assert.ok(from.every((one) => ['render', 'joined', 'memory'].includes(one)), `${from}`);
            }
            assert.ok(from.includes('joined'), `${from}`);
            await daemon.quit(); /* which stores the tiles; what is killed may lose the last ones */
        }, { config: config(log), cache });
        await withDaemon(async (daemon) => {
            await daemon.bytes(tile);
            assert.ok(await eventually(() => read(log).length === entries + 1));
            assert.equal(read(log).at(-1).from, 'disk');
        }, { config: config(log), cache });
    });

    it('logs a request on completion, with the bytes that were sent', () => withDaemon(async (daemon) => {
        const uri = '/default/region.f32?x=0&y=0&width=4097&height=4097', whole = 4097 * 4097 * 4;
        const stream = await open(daemon, uri);
        await stream.read(1 << 20);
        assert.equal(read(file).filter((entry) => entry.uri === uri).length, 0, 'logged before completion');
        stream.leave();
        const { status, bytes } = await entryOf(file, uri);
        assert.equal(status, 200);
        assert.ok(bytes >= 1 << 19 && bytes < whole, `${bytes} of ${whole}`);
        assert.equal((await daemon.bytes(`${uri}&v=1`)).length, whole);
        assert.equal((await entryOf(file, `${uri}&v=1`)).bytes, whole);
    }, { config: config(file) }));

    it('survives hostile headers', () => withDaemon(async (daemon) => {
        for (const bytes of [[0xff, 0xfe], [0xc3, 0xb6], [0x5c, 0x22], [0xed, 0xa0, 0x80]]) {
            const before = read(file).length;
            const head = request('GET', '/healthz').replace(/\r\n\r\n$/, '\r\nUser-Agent: ');
            await daemon.raw(Buffer.concat([Buffer.from(head), Buffer.from(bytes), Buffer.from('\r\n\r\n')]));
            assert.ok(await eventually(() => read(file).length === before + 1), `${bytes}`);
            assert.ok(read(file).at(-1).user_agent, `${bytes}`);
        }
    }, { config: config(file) }));

    it('takes the client from the headers of listed proxies', () => withDaemon((daemon) => eachRow([
        ['192.0.2.7', '192.0.2.7'],
        ['203.0.113.1, 192.0.2.7', '192.0.2.7'], // a value that the client sent itself
        ['192.0.2.7, 10.1.2.3', '192.0.2.7'], // two listed proxies in a row
        ['203.0.113.1,192.0.2.7 , 10.1.2.3,10.9.9.9', '192.0.2.7'],
        ['10.1.2.3', '10.1.2.3'], // a request by a listed proxy itself
        ['2001:db8::1, 10.1.2.3', '2001:db8::1'],
        ['[2001:db8::1]:4711', '2001:db8::1'],
    ].map((row, i) => [...row, `/healthz?proxied${i}`]), async ([header, client, uri]) => {
        await daemon.get(uri, { 'X-Forwarded-For': header });
        assert.equal((await entryOf(file, uri)).client, client);
    }), { config: `${config(file)}proxies: [127.0.0.1, 10.0.0.0/8]\n` }));

    it('continues in a new file after SIGHUP', () => withDaemon(async (daemon) => {
        const before = read(file).length;
        await daemon.bytes('/healthz');
        assert.ok(await eventually(() => read(file).length === before + 1));
        fs.renameSync(file, `${file}.1`);
        await daemon.bytes('/readyz');
        daemon.kill('SIGHUP');
        assert.ok(await eventually(() => fs.existsSync(file)), 'no new file');
        await daemon.bytes('/worlds.json');
        assert.equal((await entryOf(file, '/worlds.json')).status, 200);
        assert.deepEqual([...read(`${file}.1`), ...read(file)].slice(before).map(({ uri }) => uri),
            ['/healthz', '/readyz', '/worlds.json']);
    }, { config: config(file) }));

    it('continues in a new file even if the configuration is broken', async () => {
        const log = path.join(scratch(), 'access.log');
        await withDaemon(async (daemon) => {
            fs.writeFileSync(daemon.args[daemon.args.indexOf('--config') + 1], 'nonsense: 1\n');
            fs.renameSync(log, `${log}.1`);
            daemon.kill('SIGHUP');
            assert.ok(await eventually(() => fs.existsSync(log)), 'no new file');
            await daemon.bytes('/healthz');
            await entryOf(log, '/healthz');
            assert.ok(await eventually(() => /nothing was changed/.test(daemon.stderr)));
        }, { config: config(log) });
    });

    it('is complete when the daemon has exited', async () => {
        const log = path.join(scratch(), 'access.log');
        const daemon = await new Daemon({ config: config(log) }).start();
        await Promise.all(Array.from({ length: 300 }, (_, i) => daemon.get(`/healthz?${i}`)));
        await daemon.quit();
        assert.equal(new Set(read(log).map(({ uri }) => uri)).size, 300);
        assert.equal(fs.statSync(log).mode & 0o027, 0, 'the log must not be readable by others');
    });

    it('can go to standard output', () => withDaemon(async (daemon) => {
        await daemon.bytes('/healthz');
        assert.ok(await eventually(() => daemon.stdout.includes('"uri":"/healthz"')));
        assert.equal(entries(daemon.stdout.replace(daemon.readyLine, ''))[0].status, 200);
    }, { config: config('-') }));

    it('drops and counts lines if the disk is full', () => withDaemon(async (daemon) => {
        const uri = `/healthz?${'a'.repeat(1500)}`;
        for (let i = 0; i < 20 && !await daemon.metric('farlands_access_log_dropped_total'); i++)
            await Promise.all(Array.from({ length: 200 }, () => daemon.bytes(uri)));
        assert.ok(await daemon.metric('farlands_access_log_dropped_total') > 0);
        assert.ok(await eventually(() => /access log: \/dev\/full: lines cannot be written: No space left/.test(daemon.stderr)));
    }, { config: config('/dev/full') }));

    it('must be writable at start', () => eachRow(['/nowhere/access.log', '/dev'], async (log) => {
        const daemon = new Daemon({ config: config(log) });
        await assert.rejects(daemon.start(), (error) => {
            assert.match(error.message, new RegExp(`exit code 1[^]*access_log: ${log}: `));
            return true;
        });
    }));
});
