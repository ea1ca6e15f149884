// Faults 1 to 12: disk failures. Every tile is still served, with the right bytes.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { useDaemon } from '../http/daemon.mjs';
import { assertSamePixels, pngChunks } from '../http/png.mjs';
import { eventually, patience, scratch } from '../http/program.mjs';
import { eachRow } from '../http/table.mjs';
import { CONCURRENCY, Faults, NO_SHEDDING, diskUse, frozen as frozenAs, logLines, noMounts, remount, settled, serving as servingAs, strays, tilesBelow, withTmpfs } from './faults.mjs';

const serving = (check, { config = '', ...options } = {}) =>
    servingAs(check, { config: config + NO_SHEDDING, ...options });
const frozen = (check, { config = '', ...options } = {}) =>
    frozenAs(check, { config: config + NO_SHEDDING, ...options });

/* Disables the memory cache, so that tiles are read from disk. */
const NO_MEMORY = 'cache: { memory: 0 }\n';
const YEAR = 31557600;

const tiles = (count, { layer = 'gray', zoom = 11, column = 900 } = {}) =>
    Array.from({ length: count }, (_, i) => `/default/${layer}/${zoom}/${column}/${900 + i}.png`);

/* The file of a tile in a cache. */
async function fileOf(daemon, tile) {
    const fingerprint = await daemon.fingerprintOf(tile);
    return path.join(daemon.cache, fingerprint, tile.replace('/default/', ''));
}

/* Wait until the tiles are on disk: the daemon may store them after it serves them. */
async function stored(daemon, paths) {
    const files = await Promise.all(paths.map((tile) => fileOf(daemon, tile)));
    assert.ok(await eventually(() => files.every((file) => fs.existsSync(file))),
        `not stored: ${files.filter((file) => !fs.existsSync(file))}`);
    return files;
}

describe('the disk', { timeout: patience(300000), concurrency: CONCURRENCY }, () => {
    const reference = useDaemon({ config: NO_SHEDDING });

    /* Assert that PATHS are served with the same bytes as by a daemon without faults. */
    async function assertServed(daemon, paths) {
        await Promise.all(paths.map(async (tile) => {
            const [answer, right] = await Promise.all([daemon.get(tile), reference.bytes(tile)]);
            assert.equal(answer.status, 200, `${tile}: ${answer.body.subarray(0, 200)}`);
            assert.ok(answer.body.equals(right), `${tile}: bytes differ from those without the fault`);
        }));
    }

    /* Assert that PATHS are served, that writes are suspended and the fault counted, and that it is logged once. */
    async function assertUncached(daemon, faults, paths) {
        const before = logLines(daemon).length;
        await assertServed(daemon, paths);
        await faults.settled();
        assert.equal(await daemon.metric('farlands_cache_suspended'), 1);
        assert.ok(await daemon.metric('farlands_cache_faults_total') >= 1, 'no fault counted');
        const lines = () => logLines(daemon).slice(before);
        assert.ok(await eventually(() => lines().length > 0), 'nothing was logged');
        assert.equal(lines().length, 1, `log lines for one fault:\n${lines().join('\n')}`);
        assert.deepEqual(strays(daemon.cache), [], 'stray files');
        for (const file of tilesBelow(daemon.cache))
            pngChunks(fs.readFileSync(file));
    }

    /* Assert that writes resume. If they are suspended, no time has passed since: they resume after 5 s, and not before. */
    async function assertStoresAgain(daemon, faults, { column }) {
        let i = 0;
        const before = tilesBelow(daemon.cache).length;
        const stores = async () => {
            await daemon.bytes(`/default/gray/12/${column}/${i++}.png`);
            await faults.settled();
            return tilesBelow(daemon.cache).length > before;
        };
        const suspended = await daemon.metric('farlands_cache_suspended');
        await faults.pass(4.9);
        assert.ok(!suspended || !await stores(), 'written too early');
        await faults.pass(0.2);
        assert.ok(await eventually(stores), 'writes do not resume');
        assert.equal(await daemon.metric('farlands_cache_suspended'), 0);
    }

    it('fault 01: SIGKILL during a write: temporary files are removed at start, no tile is torn', async () => {
        const cache = scratch();
        const faults = new Faults(cache);
        let interrupted = 0; // a slow build may be between two writes when it is killed
        for (let round = 0; round < 4; round++)
            await serving(async (daemon) => {
                assert.ok(await eventually(() => strays(cache).length === 0), `stray files: ${strays(cache)}`);
                const before = tilesBelow(cache).length;
                faults.set('write', { amount: 5, cap: 4000 });      // a tile takes about ten writes
                const answers = tiles(60, { layer: 'relief', column: round }).map((tile) => settled(daemon.get(tile)));
                assert.ok(await eventually(() => strays(cache).length > 0 && tilesBelow(cache).length > before + 4),
                    'no write to interrupt');
                daemon.kill('SIGKILL');
                await Promise.all(answers);
                await daemon.ended();
                interrupted += strays(cache).length;
            }, { cache, faults });
        assert.ok(interrupted > 0, 'no write was interrupted');
        await serving(async (daemon) => {
            assert.ok(await eventually(() => strays(cache).length === 0), `stray files: ${strays(cache)}`);
            await assertServed(daemon, [0, 1, 2, 3].flatMap((column) => tiles(60, { layer: 'relief', column })));
            assert.equal(await daemon.metric('farlands_cache_faults_total'), 0, 'torn tiles');
            assert.ok(await daemon.metric('farlands_cache_hits_total', 'tier="disk"') > 0);
        }, { cache, faults });
    });

    /* Store tiles, stop the daemon, call DAMAGE with each file, and start another daemon on the same cache. */
    async function damaged(paths, damage, assertFound) {
        const cache = scratch();
        const faults = new Faults(cache);
        let files;
        await serving(async (daemon) => {
            await assertServed(daemon, paths);
            files = await stored(daemon, paths);
        }, { cache, faults });
        files.forEach(damage);
        await serving(async (daemon) => {
            await assertServed(daemon, paths);
            await assertFound(daemon, files);
        }, { cache, faults });
    }

    async function assertRenderedAgain(daemon, files) {
        assert.equal(await daemon.metric('farlands_cache_faults_total'), files.length, 'faults counted');
        assert.equal(await daemon.rendered(), files.length);
        assert.equal(await daemon.metric('farlands_cache_suspended'), 0, 'a damaged file suspends writes');
        await eachRow(files, async (file) => {
            const { length } = await reference.bytes(`/default/${file.split('/').slice(-4).join('/')}`);
            assert.ok(await eventually(() => fs.statSync(file).size === length), 'not replaced');
            pngChunks(fs.readFileSync(file));
        });
    }

    it('fault 02: power loss: an empty or torn file is a miss and is replaced', () => {
        const cuts = [() => 0, () => 1, () => 8, () => 33, (size) => size >> 1, (size) => size - 12, (size) => size - 1];
        const zeros = [(size) => size >> 1, (size) => size - 4096, () => 0];
        return damaged(tiles(cuts.length + zeros.length), (file, i) => {
            const { size } = fs.statSync(file);
            fs.truncateSync(file, [...cuts, ...zeros][i](size));
            if (i >= cuts.length)
                fs.truncateSync(file, size);
        }, assertRenderedAgain);
    });

    it('fault 03: bit rot: a file with one flipped bit is a miss, counted, and rendered again', () =>
        damaged(tiles(40), (file, i) => {
            const bytes = fs.readFileSync(file);
            const at = i < 4 ? [1, 18, 34, bytes.length - 1][i] : Math.floor(bytes.length * (i - 3) / 38);
            bytes[at] ^= 1 << i % 8;
            fs.writeFileSync(file, bytes);
        }, assertRenderedAgain));

    it('fault 04: foreign files are ignored, files of old fingerprints are evicted first', async () => {
        const cache = scratch();
        const old = path.join(cache, '0123456789abcdef/gray/11/900');
        fs.mkdirSync(old, { recursive: true });
        for (let i = 0; i < 80; i++)
            fs.writeFileSync(path.join(old, `${900 + i}.png`), 'an old tile');
        fs.writeFileSync(path.join(cache, 'README.txt'), 'not a tile');
        fs.mkdirSync(path.join(cache, 'lost+found'));
        const outside = path.join(scratch(), 'outside');
        fs.writeFileSync(outside, 'not the cache\'s');
        fs.symlinkSync(outside, path.join(cache, 'link'));
        await serving(async (daemon, faults) => {
            const paths = tiles(60);
            const file = await fileOf(daemon, paths[0]);
            fs.mkdirSync(path.dirname(file), { recursive: true });
            fs.symlinkSync(outside, file);
            const found = () => Promise.all(paths.map((tile) => fileOf(daemon, tile)))
                .then((files) => files.filter((each) => fs.lstatSync(each, { throwIfNoEntry: false })?.isFile()).length);
            // A tile that finds no space at first is stored when it is requested again.
            assert.ok(await eventually(async () => {
                await assertServed(daemon, paths);
                return await found() === paths.length;
            }), `${await found()} of ${paths.length} tiles stored`);
            const ofOld = tilesBelow(cache).filter((each) => each.startsWith(old)).length;
            assert.ok(ofOld < 30, `${ofOld} of 80 old tiles are left, with a limit of 100 files`);
            await faults.settled();
            assert.equal(await found(), paths.length, 'tiles of this world were evicted before old ones');
            assert.equal(fs.readFileSync(outside, 'utf8'), 'not the cache\'s');
            for (const name of ['README.txt', 'lost+found', 'link'])
                assert.ok(fs.existsSync(path.join(cache, name)), `${name} is gone`);
        }, { cache, config: 'cache: { files: 100, memory: 0 }\n' });
    });

    it('fault 05: the disk is full: tiles are served uncached, writes suspended, then resumed', { skip: noMounts }, () =>
        withTmpfs('size=1m', (cache) => frozen(async (daemon, faults) => {
            await assertUncached(daemon, faults, tiles(50, { layer: 'relief' }));
            for (const entry of fs.readdirSync(cache))
                fs.rmSync(path.join(cache, entry), { recursive: true });
            await assertStoresAgain(daemon, faults, { column: 5 });
        }, { cache })));

    it('fault 06: no inodes: tiles are served uncached, writes suspended, then resumed', { skip: noMounts }, () =>
        withTmpfs('size=64m,nr_inodes=16', (cache) => frozen(async (daemon, faults) => {
            await assertUncached(daemon, faults, tiles(30));
            remount(cache, 'nr_inodes=1000');
            await assertStoresAgain(daemon, faults, { column: 6 });
        }, { cache })));

    it('fault 07: I/O errors: tiles are served uncached, writes are retried after 5 s, not before', async () => {
        await frozen(async (daemon, faults) => {
            const paths = tiles(30);
            faults.set('write', { error: 'EIO' });
            await assertUncached(daemon, faults, paths);
            assert.ok(faults.hits('write') > 0);
            // Only the writes in progress when the first one failed.
            assert.ok(faults.hits('write') <= 4, `tried ${faults.hits('write')} times for 30 tiles`);
            faults.clear();
            await assertStoresAgain(daemon, faults, { column: 7 });
            await assertServed(daemon, paths);
            faults.set('read', { error: 'EIO' });
            const stale = tiles(1, { column: 7 });
            await assertServed(daemon, [...paths, ...stale]);
        }, { config: NO_MEMORY });
    });

    it('fault 07: the file system becomes read-only: new tiles are served uncached, stored tiles are read', () =>
        frozen(async (daemon, faults) => {
            const before = tiles(10);
            await assertServed(daemon, before);
            await stored(daemon, before);
            // As the kernel does after a disk error. A test cannot remount read-only while files are open for writing.
            for (const call of ['write', 'create', 'rename', 'mkdir'])
                faults.set(call, { error: 'EROFS' });
            await assertUncached(daemon, faults, tiles(30));
            const rendered = await daemon.rendered();
            await assertServed(daemon, before);
            assert.equal(await daemon.rendered(), rendered, 'tiles on the disk were rendered again');
            faults.clear();
            await assertStoresAgain(daemon, faults, { column: 8 });
        }, { config: NO_MEMORY }));

    it('fault 07: the file system is read-only at start: stored tiles are read', { skip: noMounts }, () =>
        withTmpfs('size=64m', async (cache) => {
            const faults = new Faults(cache);
            await serving(async (daemon) => {
                await assertServed(daemon, tiles(10));
                await stored(daemon, tiles(10));
            }, { cache, faults });
            remount(cache, 'ro');
            await serving(async (daemon) => {
                await assertServed(daemon, tiles(30));
                assert.equal(await daemon.rendered(), 20);
                assert.equal(logLines(daemon).length, 1, 'log lines');
            }, { cache, faults });
        }));

    it('fault 07: file size limit: tiles are served uncached, writes suspended, then resumed', () =>
        frozen(async (daemon, faults) => {
            const limit = (bytes) => execFileSync('prlimit', ['--pid', daemon.pid, `--fsize=${bytes}:`]);
            limit(20000);
            await assertUncached(daemon, faults, tiles(4, { layer: 'relief' }));
            limit('unlimited');
            await assertStoresAgain(daemon, faults, { column: 907 });
        }));

    it('fault 08: the cache directory is deleted: tiles are served, and the directory is recreated', () => frozen(async (daemon, faults) => {
        await assertServed(daemon, tiles(10));
        await stored(daemon, tiles(10));
        fs.rmSync(daemon.cache, { recursive: true });
        await assertServed(daemon, tiles(20));
        await assertStoresAgain(daemon, faults, { column: 9 });
        // Also while tiles are being stored in it.
        const answers = assertServed(daemon, tiles(60, { column: 10 }));
        for (let i = 0; i < 10; i++) {
            await sleep(10);
            await fs.promises.rm(daemon.cache, { recursive: true, force: true }).catch((error) => {
                assert.equal(error.code, 'ENOTEMPTY');      // a tile was stored meanwhile
            });
        }
        await answers;
        await assertStoresAgain(daemon, faults, { column: 11 });
    }, { config: NO_MEMORY }));

    it('fault 09: short writes and reads, EINTR: continued until complete', async () => {
        const cache = scratch();
        const faults = new Faults(cache);
        const paths = tiles(20, { layer: 'relief' });
        const interrupt = () => {
            faults.set('write', { error: 'EINTR', every: 3, cap: 1000 });
            faults.set('read', { error: 'EINTR', every: 2, cap: 700 });
        };
        interrupt();
        await serving(async (daemon) => {
            await assertServed(daemon, paths);
            for (const file of await stored(daemon, paths))
                assertSamePixels(fs.readFileSync(file),
                    await reference.bytes(`/default/${file.split('/').slice(-4).join('/')}`));
            assert.ok(faults.hits('write') > 20 * 10, 'few writes were interrupted');
        }, { cache, faults });
        interrupt();
        await serving(async (daemon) => {
            await assertServed(daemon, paths);
            assert.equal(await daemon.rendered(), 0, 'renders');
            assert.ok(faults.hits('read') > 20 * 10, 'few reads were interrupted');
        }, { cache, faults });
    });

    it('fault 10: rename fails: the temporary file is removed', () => eachRow(['EIO', 'EACCES', 'ENOSPC', 'EROFS'],
        (error) => frozen(async (daemon, faults) => {
            faults.set('rename', { error });
            await assertUncached(daemon, faults, tiles(20));
            assert.ok(faults.hits('rename') > 0);
            assert.deepEqual(tilesBelow(daemon.cache), []);
        }), { atOnce: true }));

    it('fault 11: two daemons on one cache: no faults, and its quota holds', { skip: noMounts }, () =>
        withTmpfs('size=64m', async (cache) => {
            const faults = new Faults(cache);
            const config = 'cache: { disk: 2M, memory: 0 }\n';
            let most = 0;
            // The file system's own count: a directory walk would miss files that are created and removed meanwhile.
            const measure = () => {
                const { bsize, blocks, bfree } = fs.statfsSync(cache);
                most = Math.max(most, bsize * (blocks - bfree));
            };
            await serving((one) => serving(async (two) => {
                faults.set('unlink', { amount: 10 });       // eviction is slower than storing
                const watch = setInterval(measure, 2);
                try {
                    for (const column of [1, 2, 1])
                        await Promise.all([
                            assertServed(one, tiles(100, { layer: 'relief', column })),
                            assertServed(two, tiles(100, { layer: 'relief', column: 3 - column })),
                            assertServed(two, tiles(50, { layer: 'relief', column })),
                        ]);
                } finally {
                    clearInterval(watch);
                }
                assert.ok(most > 1 << 20, `the cache held ${most} bytes at most: no contention`);
                assert.ok(most <= 2 << 20, `${most} bytes of 2 MiB`);
                assert.ok(await eventually(() => strays(cache).length === 0), `stray files: ${strays(cache)}`);
                for (const daemon of [one, two])
                    assert.equal(await daemon.metric('farlands_cache_faults_total'), 0);
            }, { cache, faults, config }), { cache, faults, config });
        }));

    it('fault 12: the clock jumps a year forward or back: no mass expiry', () => eachRow([YEAR, -YEAR], async (jump) => {
        const cache = scratch();
        const faults = new Faults(cache);
        const config = 'cache: { files: 100, memory: 0 }\n';
        const old = tiles(80, { column: 1 });
        await serving(async (daemon) => {
            await assertServed(daemon, old);
            await stored(daemon, old);
            faults.advance('wall', jump);
            // More than the quota holds: a few tiles are evicted, not most of them.
            for (let round = 0; round < 3; round++) {
                await assertServed(daemon, tiles(30, { column: 2 }));
                await faults.settled();
            }
            assert.ok(diskUse(cache).files <= 100, `${diskUse(cache).files} files of 100`);
            assert.ok(tilesBelow(cache).length >= 60, `${tilesBelow(cache).length} tiles left`);
            await assertServed(daemon, old);
        }, { cache, faults, config });
        const kept = tilesBelow(cache).length;
        await serving(async (daemon) => {
            await faults.settled();
            assert.ok(tilesBelow(cache).length >= kept - 10, `${tilesBelow(cache).length} tiles left of ${kept}`);
            await assertServed(daemon, old);
            assert.equal(await daemon.metric('farlands_cache_faults_total'), 0);
        }, { cache, faults, config });
    }));
});
