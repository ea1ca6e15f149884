// The disk cache: ordinary PNG files that persist across restarts, are verified when
// read, and are optional.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { Daemon, useDaemon, withDaemon } from './daemon.mjs';
import { assertSamePixels, decodePng, pngChunks, pngFile } from './png.mjs';
import { TIMEOUT, eventually, filesBelow, scratch, scratchFile } from './program.mjs';
import { eachRow } from './table.mjs';

const TILES = ['relief/10/512/512', 'relief/10/512/512@2x', 'relief/5/-3/-1', 'relief/-2/0/-1',
    'gray/10/512/512', 'gray/10/512/512@2x', 'height/10/512/512', 'height/16/-1/40000@2x'];

/* A function that stops the previous daemon and starts the next; the last one is stopped after the tests. */
function useRestarts() {
    let current = null;
    after(() => current?.quit());
    return async (options) => {
        const last = current;
        current = null;
        await last?.quit();
        current = new Daemon(options);
        return current.start();
    };
}

const flip = (offset) => (file) => {
    const bytes = fs.readFileSync(file);
    bytes[offset < 0 ? bytes.length + offset : offset ?? bytes.length >> 1] ^= 4;
    fs.writeFileSync(file, bytes);
};
const cut = (keep) => (file) => fs.truncateSync(file, keep(fs.statSync(file).size));

/* Edit the chunks; their CRCs are right afterwards. */
const edit = (change) => (file) => fs.writeFileSync(file, pngFile(change(pngChunks(fs.readFileSync(file)))));
const garbage = edit((chunks) => chunks.map(({ type, body }) =>
    ({ type, body: type === 'IDAT' ? randomBytes(body.length) : body })));
const dropChecksum = edit((chunks) => chunks.filter(({ type }) => type !== 'flKY'));

const DAMAGES = [
    ['zero length', cut(() => 0)],
    ['one byte', cut(() => 1)],
    ['signature only', cut(() => 8)],
    ['half', cut((size) => size >> 1)],
    ['no IEND', cut((size) => size - 12)],
    ['one byte short', cut((size) => size - 1)],
    ['zeros at the end', (file) => {
        const { size } = fs.statSync(file);
        fs.truncateSync(file, size >> 1);
        fs.truncateSync(file, size);
    }],
    ['a flipped bit in the middle', flip()],
    ['a flipped bit in the signature', flip(1)],
    ['a flipped bit in the width', flip(18)],
    ['a flipped bit in the bit depth', flip(24)],
    ['a flipped bit in a chunk length', flip(34)],
    ['a flipped bit in the last CRC', flip(-1)],
    ['text', (file) => fs.writeFileSync(file, 'not a picture\n'.repeat(100))],
    ['a directory', (file) => { fs.rmSync(file); fs.mkdirSync(file); }],
    ['a missing file', (file) => fs.rmSync(file)],
];

describe('the disk cache', { timeout: TIMEOUT }, () => {
    /* A long wait limit, so that a slow machine sheds no request. */
    const daemon = useDaemon({ config: 'limits: { wait: 60000 }\n' });

    it('stores the response bodies in ordinary files', async () => {
        await eachRow(TILES, async (tile) => {
            const fingerprint = await daemon.fingerprintOf(`/default/${tile}`);
            const body = await daemon.bytes(`/default/${tile}.png`);
            const file = path.join(daemon.cache, fingerprint, `${tile}.png`);
            assert.ok(await eventually(() => fs.existsSync(file)), `no file ${file}`);
            assert.deepEqual(fs.readFileSync(file), body);
            decodePng(fs.readFileSync(file));
        });
    });

    it('contains no unfinished files', async () => {
        await Promise.all(Array.from({ length: 60 }, (_, i) =>
            daemon.bytes(`/default/relief/11/${i}/0.png`)));
        const stored = () => filesBelow(daemon.cache).filter((file) => /\/relief\/11\/\d+\/0\.png$/.test(file));
        assert.ok(await eventually(() => stored().length === 60), `${stored().length} of 60`);
        const strays = () => filesBelow(daemon.cache).filter((file) => !file.endsWith('/.usage') &&
            !/\/(relief|gray|height)\/-?\d+\/-?\d+\/-?\d+(@2x)?\.png$/.test(file));
        await eventually(() => strays().length === 0);
        assert.deepEqual(strays(), []);
    });

    it('stores nothing for a HEAD, a 304 or an error', async () => {
        const stored = () => filesBelow(daemon.cache).filter((file) => file.includes('/relief/12/'));
        await daemon.head('/default/relief/12/1/1.png');
        await daemon.get('/default/relief/12/1/1.png', { 'If-None-Match': '*' });
        await daemon.get('/default/relief/12/1/1.gif');
        await daemon.get('/default/relief/27/1/1.png');
        await daemon.get('/default/relief/12/..');
        /* Tiles are stored in their order, after they were sent. */
        await daemon.bytes('/default/relief/12/2/2.png');
        assert.ok(await eventually(() => stored().some((file) => file.endsWith('/2/2.png'))));
        assert.equal(stored().length, 1, `${stored()}`);
    });
});

describe('without a cache in memory', { timeout: TIMEOUT }, () => {
    it('a tile is rendered once, also while it waits to be written', () => withDaemon(async (daemon) => {
        for (let x = 0; x < 40; x++) {
            const target = `/default/relief/12/${x}/9.png`;
            const [first, second] = [await daemon.bytes(target), await daemon.bytes(target)];
            assert.deepEqual(second, first);
            for (let pause = x % 4 * 5; pause > 0; pause--)
                await daemon.bytes('/healthz');
            assert.deepEqual(await daemon.bytes(target), first);
        }
        assert.equal(await daemon.rendered(), 40);
    }, { config: 'cache: { memory: 0 }\n', cache: scratch() }));
});

describe('after a restart', { timeout: TIMEOUT }, () => {
    const next = useRestarts();
    const cache = scratch();

    it('tiles come unchanged from the disk', async () => {
        const first = await next({ cache });
        const before = new Map();
        for (const tile of TILES)
            before.set(tile, await first.get(`/default/${tile}.png`));
        const second = await next({ cache });
        assert.equal(await second.rendered(), 0);
        await eachRow(TILES, async (tile) => {
            const hits = () => second.metric('farlands_cache_hits_total', 'tier="disk"');
            const hitsBefore = await hits();
            const answer = await second.get(`/default/${tile}.png`);
            assert.equal(answer.status, 200);
            assert.deepEqual(answer.body, before.get(tile).body);
            assert.equal(answer.headers.etag, before.get(tile).headers.etag);
            assert.equal(await second.rendered(), 0, 'renders');
            assert.equal(await hits(), hitsBefore + 1, 'disk hits');
            const memory = () => second.metric('farlands_cache_hits_total', 'tier="memory"');
            const memoryBefore = await memory();
            assert.deepEqual(await second.bytes(`/default/${tile}.png`), answer.body);
            assert.equal(await memory(), memoryBefore + 1, 'memory hits');
            assert.equal(await hits(), hitsBefore + 1, 'disk hits of a tile in memory');
        });
    });

    /* All are whole files with right CRCs, sixty each. */
    for (const [what, damage] of [
        ['files of other tiles', (files) => {
            const all = files.map((file) => fs.readFileSync(file));
            files.forEach((file, i) => fs.writeFileSync(file, all[(i + 1) % all.length]));
        }],
        ['garbage with right CRCs', (files) => files.forEach(garbage)],
        ['files without a checksum', (files) => files.forEach(dropChecksum)],
        ['files with the checksum of another', (files) => {
            const all = files.map((file) => pngChunks(fs.readFileSync(file)));
            files.forEach((file, i) => fs.writeFileSync(file, pngFile(all[i].map((chunk) =>
                (chunk.type === 'flKY' ? all[(i + 1) % all.length].find(({ type }) => type === 'flKY') : chunk)))));
        }],
    ]) {
        it(`${what} are not served`, async () => {
            const first = await next({ cache });
            const fingerprint = await first.fingerprintOf('/default/relief');
            const tiles = Array.from({ length: 60 }, (_, i) => `relief/11/${i % 8}/${i >> 3}.png`);
            const files = tiles.map((tile) => path.join(cache, fingerprint, tile));
            const whole = [];
            for (const [i, tile] of tiles.entries()) {
                whole.push(await first.bytes(`/default/${tile}`));
                assert.ok(await eventually(() => fs.existsSync(files[i])), files[i]);
            }
            await first.quit();
            files.forEach((file, i) => assert.ok(fs.readFileSync(file).equals(whole[i]), `${file} before`));
            damage(files);
            files.forEach((file, i) => assert.ok(!fs.readFileSync(file).equals(whole[i]), `${file} is damaged`));
            const second = await next({ cache });
            const served = [];
            for (const tile of tiles)
                served.push(await second.bytes(`/default/${tile}`));
            assert.equal(served.filter((body, i) => !body.equals(whole[i])).length, 0, 'wrong tiles');
            assert.equal(await second.rendered(), 60);
            assert.equal(await second.metric('farlands_cache_faults_total'), 60);
            assert.ok(await eventually(() => files.every((file, i) => fs.readFileSync(file).equals(whole[i]))), 'not replaced');
        });
    }

    it('damaged tiles are rendered again and replaced', async () => {
        const first = await next({ cache });
        const fingerprint = await first.fingerprintOf('/default/relief');
        const rows = DAMAGES.map(([what, damage], i) =>
            ({ what, damage, tile: `relief/9/${i}/3.png`, whole: null }));
        for (const row of rows) {
            row.whole = await first.bytes(`/default/${row.tile}`);
            row.file = path.join(cache, fingerprint, row.tile);
            assert.ok(await eventually(() => fs.existsSync(row.file)), row.file);
        }
        await first.quit();
        for (const { damage, file } of rows)
            damage(file);
        const second = await next({ cache });
        await eachRow(rows, async ({ what, tile, whole, file }) => {
            const before = await second.rendered();
            assertSamePixels(await second.bytes(`/default/${tile}`), whole, what);
            assert.equal(await second.rendered(), before + 1, 'renders');
            if (what === 'a directory')
                return;
            const replaced = () => fs.existsSync(file) && fs.readFileSync(file).equals(whole);
            await eventually(replaced);
            assertSamePixels(fs.readFileSync(file), whole, 'the file');
        });
        assert.equal((await second.get('/healthz')).status, 200);
    });
});

describe('without a disk cache', { timeout: TIMEOUT }, () => {
    const next = useRestarts();
    const reference = useDaemon();

    it('the daemon serves, and warns once', () => eachRow([
        ['a directory that cannot be created', '/proc/nope'],
        ['a path below a file', path.join(scratchFile('file', 'text'), 'cache')],
        ['a file', scratchFile('file', 'text')],
    ], async ([, cache]) => {
        const daemon = await next({ cache });
        for (let i = 0; i < 20; i++)
            assert.deepEqual(await daemon.bytes(`/default/gray/9/${i}/1.png`),
                await reference.bytes(`/default/gray/9/${i}/1.png`));
        assert.equal(await daemon.rendered(), 20);
        const { stderr } = await daemon.quit();
        const lines = stderr.split('\n').filter((line) => line.includes(cache));
        assert.equal(lines.length, 1, `lines about ${cache} on stderr:\n${stderr}`);
    }));

    it('a deleted cache directory is created again', async () => {
        const cache = scratch();
        const daemon = await next({ cache });
        await daemon.bytes('/default/gray/9/1/2.png');
        const stored = (tile) => fs.existsSync(cache) &&
            filesBelow(cache).some((name) => name.endsWith(tile));
        assert.ok(await eventually(() => stored('/gray/9/1/2.png')));
        fs.rmSync(cache, { recursive: true, force: true });
        for (let i = 0; i < 5; i++)
            assert.deepEqual(await daemon.bytes(`/default/gray/9/${i}/2.png`),
                await reference.bytes(`/default/gray/9/${i}/2.png`));
        assert.ok(await eventually(() => stored('/gray/9/4/2.png')), 'the directory was not created again');
    });

    it('temporary files of killed processes are removed', async () => {
        const cache = scratch();
        const [old, fresh] = ['.new-1-0', '.new-1-1'].map((name) => path.join(cache, name));
        fs.writeFileSync(old, 'truncated');
        fs.writeFileSync(fresh, 'of a process that is still writing');
        fs.utimesSync(old, 1e9, 1e9);
        const daemon = await next({ cache });
        await eventually(() => !fs.existsSync(old));
        assert.deepEqual(fs.readdirSync(cache).sort(), ['.new-1-1', '.usage']);
        await daemon.bytes('/default/gray/9/1/3.png');
    });

    it('--cache defaults to $XDG_CACHE_HOME/farlands', async () => {
        const home = scratch();
        const daemon = await next({ cache: false, env: { XDG_CACHE_HOME: home } });
        const fingerprint = await daemon.fingerprintOf('/default/relief');
        const body = await daemon.bytes('/default/relief/3/4/4.png');
        const file = path.join(home, 'farlands', fingerprint, 'relief/3/4/4.png');
        assert.ok(await eventually(() => fs.existsSync(file)), `no file ${file}`);
        assert.deepEqual(fs.readFileSync(file), body);
    });

    it('two daemons may share a directory', async () => {
        const cache = scratch();
        const one = await next({ cache });
        const two = await new Daemon({ cache }).start();
        try {
            await eachRow(Array.from({ length: 20 }, (_, i) => `/default/relief/9/${i}/5.png`),
                async (tile) => {
                    const [a, b] = await Promise.all([one.bytes(tile), two.bytes(tile)]);
                    assertSamePixels(a, b);
                });
        } finally {
            await two.quit();
        }
    });
});
