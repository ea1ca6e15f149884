// farlands render on a failing disk, or while another process deletes its tiles: it reports the
// problem, and the same command, run again, renders the rest.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { pngChunks } from '../http/png.mjs';
import { end, eventually, launch, patience, scratch } from '../http/program.mjs';
import { CONCURRENCY, Faults, noMounts, remount, strays, tilesBelow, withTmpfs } from './faults.mjs';

const TOTAL = 341;
const ARGS = ['--world', 'default', '--layer', 'relief', '--zoom', '0-4'];

const start = (cache, env = {}, args = ARGS) => launch(['render', '--cache', cache, ...args], env);

async function assertCompletes(cache, env) {
    const { code, stdout, stderr } = await end(start(cache, env), 30000);
    assert.equal(code, 0, stderr);
    assert.match(stdout.toString(), new RegExp(`^farlands: ${TOTAL} tiles are in the cache`));
    assert.equal(tilesBelow(cache).length, TOTAL);
    assert.deepEqual(strays(cache), []);
}

/* Assert that it fails with a message that names the directory and CAUSE, and leaves only complete tiles. */
async function assertFails(cache, cause, env) {
    const { code, stdout, stderr, late } = await end(start(cache, env), 30000);
    assert.ok(!late, `it does not exit; stderr: ${stderr}`);
    assert.equal(code, 1, stderr);
    assert.equal(stdout.length, 0);
    assert.ok(stderr.includes(`could not be stored in ${cache}: ${cause}`), stderr);
    assert.match(stderr, new RegExp(`\\d+ of ${TOTAL} tiles are in the cache, \\d+ of them rendered now; run the same command again`));
    assert.deepEqual(strays(cache), []);
    for (const file of tilesBelow(cache))
        pngChunks(fs.readFileSync(file));
}

describe('farlands render', { timeout: patience(90000), concurrency: CONCURRENCY }, () => {
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
            const { code, stdout, stderr } = await end(start(cache, {}, [...ARGS, '--export', archive]), 30000);
            assert.equal(code, 1, stderr);
            assert.equal(stdout.length, 0);
            assert.ok(stderr.includes(`farlands: ${archive}: No space left on device (`), stderr);
            assert.deepEqual(fs.readdirSync(directory), []);
            remount(directory, 'size=64m');
            const again = await end(start(cache, {}, [...ARGS, '--export', archive]), 30000);
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
        const { code, stdout, stderr } = await end(program, 30000);
        assert.equal(code, 1, stderr);
        assert.equal(stdout.length, 0);
        assert.match(stderr, /farlands: 3 of 341 tiles were deleted from .* during the run/);
        await assertCompletes(cache);
    });
});
