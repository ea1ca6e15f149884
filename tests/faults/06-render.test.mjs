// farlands render on a failing disk, or while another process deletes its tiles: it reports the
// problem, and the same command, run again, renders the rest.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { pngChunks } from '../http/png.mjs';
import { end, eventually, fractal, launch, patience, scratch } from '../http/program.mjs';
import { CONCURRENCY, Faults, noMounts, remount, strays, tilesBelow, withTmpfs } from './faults.mjs';

const TOTAL = 341;
const ARGS = ['--world', 'default', '--layer', 'relief', '--zoom', '0-4'];

const start = (cache, env = {}, args = ARGS) => launch(fractal('render', '--cache', cache, ...args), env);

async function assertCompletes(cache, env) {
    const { code, stdout, stderr } = await end(start(cache, env), 120000);
    assert.equal(code, 0, stderr);
    assert.match(stdout.toString(), new RegExp(`^farlands: ${TOTAL} tiles are in the cache`));
    assert.equal(tilesBelow(cache).length, TOTAL);
    assert.deepEqual(strays(cache), []);
}

/* Assert that it fails with a message that names the directory and CAUSE, and leaves only complete tiles. */
async function assertFails(cache, cause, env) {
    const { code, stdout, stderr, late } = await end(start(cache, env), 120000);
    assert.ok(!late, `it does not exit; stderr: ${stderr}`);
    assert.equal(code, 1, stderr);
    assert.equal(stdout.length, 0);
    assert.ok(stderr.includes(`could not be stored in ${cache}: ${cause}`), stderr);
    const [, said] = new RegExp(`(\\d+) of ${TOTAL} tiles are in the cache, \\d+ of them rendered now; run the same command again`)
        .exec(stderr) ?? assert.fail(stderr);
    assert.equal(Number(said), tilesBelow(cache).length, 'tiles in the cache');
    assert.deepEqual(strays(cache), []);
    for (const file of tilesBelow(cache))
        pngChunks(fs.readFileSync(file));
}

describe('farlands render', { timeout: patience(300000), concurrency: CONCURRENCY }, () => {
    it('reports a full disk, and continues when it is larger', { skip: noMounts }, () =>
        withTmpfs('size=3m', async (cache) => {
            await assertFails(cache, 'No space left on device');
            assert.ok(tilesBelow(cache).length > 10, `${tilesBelow(cache).length} tiles`);
            remount(cache, 'size=64m');
            await assertCompletes(cache);
        }));

    it('reports that there are no inodes left', { skip: noMounts }, () =>
        withTmpfs('size=64m,nr_inodes=40', async (cache) => {
            await assertFails(cache, 'No space left on device');
            remount(cache, 'nr_inodes=1000');
            await assertCompletes(cache);
        }));

    it('compares its tiles with the free space before it begins', { skip: noMounts }, () =>
        withTmpfs('size=3m', async (cache) => {
            const dry = async () => {
                const { code, stdout, stderr } = await end(start(cache, {}, [...ARGS, '--dry-run']), 120000);
                assert.equal(code, 0, stderr);
                assert.deepEqual(fs.readdirSync(cache), []);
                return stdout.toString();
            };
            assert.match(await dry(), /^They exceed the free space of the disk: 3\.0M are free, about 1\d\.\dM would be needed\.$/m);
            remount(cache, 'size=64m');
            assert.match(await dry(), /^They fit the disk: 64\.0M are free\.$/m);
            remount(cache, 'nr_inodes=40');
            assert.match(await dry(), /^They exceed the free space of the disk: 3\d files are free, about 3\d\d would be needed\.$/m);
            remount(cache, 'size=3m,nr_inodes=1000');
            await assertFails(cache, 'No space left on device');
            assert.match((await end(start(cache), 120000)).stderr, /^farlands: [23]\d\d tiles exceed the free space of the disk, rendering will stop when it is full; /m);
        }));

    it('--dry-run counts the time that the file system takes', async () => {
        const cache = scratch();
        const faults = new Faults(cache);
        const args = [...ARGS, '--threads', '2', '--dry-run'];
        const seconds = async () => {
            const { stdout } = await end(start(cache, faults.env, args), 120000);
            /* "12 s", or "1:02 min" with a slow build. */
            const [, minutes, rest] = /files on disk, and (?:(\d+):)?([\d.]+) (?:s|min) with 2 threads\.$/m.exec(stdout);
            return 60 * Number(minutes ?? 0) + Number(rest);
        };
        faults.set('rename', { every: 1, amount: 50 });
        assert.ok(await seconds() > TOTAL * 0.050 / 2);
        faults.set('write', { error: 'EIO' });
        const { code, stdout } = await end(start(cache, faults.env, args), 120000);
        assert.equal(code, 0);
        assert.match(stdout.toString(), /^The time is without storing, which could not be measured in .*: Input\/output error\.$/m);
        assert.deepEqual(fs.readdirSync(cache), []);
    });

    it('reports I/O errors', async () => {
        const cache = scratch();
        const faults = new Faults(cache);
        faults.set('write', { error: 'EIO', every: 200 });
        await assertFails(cache, 'Input/output error', faults.env);
        faults.clear();
        await assertCompletes(cache, faults.env);
    });

    it('writes only missing tiles', { skip: noMounts }, () =>
        withTmpfs('size=64m', async (cache) => {
            await assertCompletes(cache);
            remount(cache, 'ro');
            await assertCompletes(cache);
            remount(cache, 'rw');
            fs.rmSync(tilesBelow(cache)[7]);
            remount(cache, 'ro');
            await assertFails(cache, 'Read-only file system');
        }));

    it('reports that there is no space for an archive, and leaves none', { skip: noMounts }, () =>
        withTmpfs('size=3m', async (directory) => {
            const cache = scratch();
            const archive = path.join(directory, 'world.mbtiles');
            const { code, stdout, stderr } = await end(start(cache, {}, [...ARGS, '--export', archive]), 120000);
            assert.equal(code, 1, stderr);
            assert.equal(stdout.length, 0);
            assert.ok(stderr.includes(`farlands: ${archive}: No space left on device (`), stderr);
            assert.deepEqual(fs.readdirSync(directory), []);
            remount(directory, 'size=64m');
            const again = await end(start(cache, {}, [...ARGS, '--export', archive]), 120000);
            assert.equal(again.code, 0, again.stderr);
            assert.deepEqual(fs.readdirSync(directory), ['world.mbtiles']);
        }));

    it('killed during a write, leaves only files that the next run removes', async () => {
        const cache = scratch();
        const faults = new Faults(cache);
        faults.set('rename', { every: 1, amount: 50 });
        const program = start(cache, faults.env);
        assert.ok(await eventually(() => strays(cache).length > 0, 10000), 'no temporary file');
        program.child.kill('SIGKILL');
        await end(program, 5000);
        await assertCompletes(cache);
    });

    it('reports tiles that another process has deleted', async () => {
        const cache = scratch();
        const faults = new Faults(cache);
        faults.set('rename', { every: 1, amount: 5 });
        const program = start(cache, faults.env);
        assert.ok(await eventually(() => tilesBelow(cache).length > 10, 10000));
        for (const file of tilesBelow(cache).slice(0, 3))
            fs.rmSync(file);
        const { code, stdout, stderr } = await end(program, 120000);
        assert.equal(code, 1, stderr);
        assert.equal(stdout.length, 0);
        assert.match(stderr, /farlands: 3 of 341 tiles were deleted from .* during the run/);
        await assertCompletes(cache);
    });
});
