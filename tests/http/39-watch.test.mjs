// serve --watch: each save of the configuration is applied, or its error can be read.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Daemon, withDaemon } from './daemon.mjs';
import { TIMEOUT, eventually, run, scratch, scratchFile } from './program.mjs';
import { assertStatus, eachRow } from './table.mjs';

const CHANGES = '/viewer/changes.json';
const SETTLED = 400;              // ms, longer than a reload takes after a save: on a slow machine less is noticed
const text = (octaves) => `worlds:\n  - name: alpha\n    noise: { octaves: ${octaves} }\n`;

/* Replace FILE as editors do that save by rename. */
function replace(file, content) {
    fs.writeFileSync(`${file}~`, content);
    fs.renameSync(`${file}~`, file);
}

const octavesOf = async (daemon) => (await daemon.json('/alpha.json')).noise.octaves;

async function assertOctaves(daemon, octaves) {
    const isApplied = async () => await octavesOf(daemon) === octaves && (await daemon.json(CHANGES)).error === null;
    assert.ok(await eventually(isApplied), `not ${octaves} octaves; ${daemon.stderr}`);
}

async function assertError(daemon, why) {
    let error;
    assert.ok(await eventually(async () => {
        error = (await daemon.json(CHANGES)).error;
        return error !== null && why.test(error);
    }), `${error} is not ${why}`);
}

/* Run check(daemon, file) with a daemon that watches FILE of 5 octaves. */
function withWatch(check, file = scratchFile('world.yaml', text(5))) {
    return withDaemon(async (daemon) => {
        await check(daemon, file);
        await daemon.quit();
    }, { args: ['--watch', '--config', file] });
}

describe('a watched configuration', { timeout: TIMEOUT, concurrency: 4 }, () => {
    it('is reloaded at each save, however programs save', () => withWatch(async (daemon, file) => {
        const directory = path.dirname(file);
        await eachRow([
            ['in place', (next) => fs.writeFileSync(file, next)],
            ['by rename', (next) => replace(file, next)],
            ['over a backup', (next) => { fs.renameSync(file, `${file}.bak`); fs.writeFileSync(file, next); }],
            ['removed before', (next) => { fs.rmSync(file); fs.writeFileSync(file, next); }],
            ['by a link to a new file', (next) => {
                fs.writeFileSync(`${directory}/next.yaml`, next);
                fs.symlinkSync('next.yaml', `${file}~`);
                fs.renameSync(`${file}~`, file);
            }],
            ['in the linked file', (next) => fs.writeFileSync(`${directory}/next.yaml`, next)],
            ['by another link', (next) => {
                fs.writeFileSync(`${directory}/last.yaml`, next);
                fs.symlinkSync('last.yaml', `${file}~`);
                fs.renameSync(`${file}~`, file);
            }],
        ].map((row, i) => [...row, i + 6]), async ([, save, octaves]) => {
            save(text(octaves));
            await assertOctaves(daemon, octaves);
        });
        assert.equal(await daemon.reloads('refused'), 0);
    }));

    it('is reloaded if it is saved while the daemon starts', () => eachRow([0, 5, 10, 15, 20, 25, 30, 40, 50, 60], async (ms) => {
        const file = scratchFile('world.yaml', text(5));
        const daemon = new Daemon({ args: ['--watch', '--config', file] });
        const started = daemon.start();
        await sleep(ms);
        replace(file, text(6));
        await started;
        await assertOctaves(daemon, 6);
        await daemon.quit();
    }));

    it('keeps the old worlds while it has an error, which names line and key', () => withWatch(async (daemon, file) => {
        await eachRow([
            ['a value', text(65), /^world\.yaml:3: worlds\[0\]\.noise\.octaves: got "65"; expected a whole number from 1 to 64$/],
            ['a key', `${text(5)}    sede: 3\n`, /^world\.yaml:4: .*sede/],
            ['not YAML', 'worlds: [\n', /^world\.yaml:\d+: /],
            ['HTML', 'worlds: "<img src=x>"\n', /^world\.yaml:1: worlds: .*/],
            ['a key that needs a restart', `threads: 7\n${text(6)}`, /^threads: needs a restart$/],
            ['no file', null, /^world\.yaml: cannot be read: No such file/],
        ], async ([, content, why]) => {
            if (content === null)
                fs.rmSync(file);
            else
                fs.writeFileSync(file, content);
            await assertError(daemon, why);
            assert.equal(await octavesOf(daemon), 5);
        });
        assert.ok(await eventually(() => daemon.stderr.match(`error reload: ${file}:3: .*octaves.*; nothing was changed\n`)), daemon.stderr);
        replace(file, text(7));
        await assertOctaves(daemon, 7);
        fs.writeFileSync(file, text(65));
        await assertError(daemon, /octaves/);
        fs.writeFileSync(file, text(7));        // unchanged worlds
        await assertOctaves(daemon, 7);
    }));

    it('is not read while a program computes its text', () => withWatch(async (daemon, file) => {
        const writer = fs.openSync(file, 'w');  // empties it: a valid configuration of the default world
        await sleep(SETTLED);
        assert.equal(await octavesOf(daemon), 5);
        fs.writeSync(writer, text(6));
        fs.closeSync(writer);
        await assertOctaves(daemon, 6);
        assert.ok(await eventually(async () => await daemon.reloads() === 1), 'not reloaded once');
    }));

    it('is not read as an empty one if a program begins to write it then', () => withWatch(async (daemon, file) => {
        for (let i = 0; i < 10; i++) {
            fs.writeFileSync(file, text(i % 2 ? 5 : 6));
            await sleep(20 + 5 * i);
            const writer = fs.openSync(file, 'w');
            for (let looks = 0; looks < 30; looks++)
                assert.ok([5, 6, 7].includes(await octavesOf(daemon)));
            fs.writeSync(writer, text(7));
            fs.closeSync(writer);
        }
        await assertOctaves(daemon, 7);
        assert.equal(await daemon.reloads('refused'), 0);
    }));

    it('has its last text in force after many saves', () => withWatch(async (daemon, file) => {
        for (let octaves = 6; octaves < 30; octaves++) {
            fs.writeFileSync(file, text(octaves % 2 ? 65 : 4));
            await sleep(octaves);
            replace(file, text(octaves));
            await sleep(octaves % 5 ? 0 : 100);
        }
        await assertOctaves(daemon, 29);
        await sleep(SETTLED);
        assert.equal(await octavesOf(daemon), 29);
    }));

    it('is reloaded once per save', () => withWatch(async (daemon, file) => {
        await sleep(SETTLED);
        assert.equal(await daemon.reloads(), 0);
        for (let i = 1; i <= 3; i++) {
            fs.writeFileSync(file, text(5 + i));
            await daemon.bytes('/healthz');
            replace(file, text(10 + i));
            await assertOctaves(daemon, 10 + i);
            await sleep(SETTLED);
            assert.ok(await daemon.reloads() <= 2 * i, 'reloaded without a change');
        }
        await daemon.reload();
    }));
});

describe('the document of changes', { timeout: TIMEOUT, concurrency: 4 }, () => {
    it('names the version of /worlds.json, and is 304 until it changes', () => withWatch(async (daemon, file) => {
        const catalogue = await daemon.get('/worlds.json');
        assert.equal(JSON.parse(catalogue.body).changes, CHANGES.slice(1));
        const first = await daemon.get(CHANGES);
        assert.deepEqual(JSON.parse(first.body), { worlds: catalogue.headers.etag, error: null });
        assert.equal(first.headers['cache-control'], 'no-cache');
        const again = () => daemon.get(CHANGES, { 'If-None-Match': first.headers.etag });
        assertStatus(await again(), 304);
        fs.writeFileSync(file, text(6));
        await assertOctaves(daemon, 6);
        let next;
        await eventually(async () => {
            next = await again();
            return next.status !== 304;         // each event loop gets the new worlds a moment later
        });
        assertStatus(next, 200);
        assert.deepEqual(JSON.parse(next.body), { worlds: (await daemon.get('/worlds.json')).headers.etag, error: null });
    }));

    it('is in the access log when it has changed, and not whenever a page asks', () => {
        const log = path.join(scratch(), 'access.log');
        return withDaemon(async (daemon) => {
            const { headers: { etag } } = await daemon.get(CHANGES);
            for (let i = 0; i < 3; i++)
                assertStatus(await daemon.get(CHANGES, { 'If-None-Match': etag }), 304);
            assertStatus(await daemon.get('/worlds.json', { 'If-None-Match': (await daemon.get('/worlds.json')).headers.etag }), 304);
            await daemon.quit();
            const entries = fs.readFileSync(log, 'utf8').trim().split('\n').map(JSON.parse);
            assert.deepEqual(entries.map(({ uri, status }) => `${uri} ${status}`).filter((entry) => entry !== '/healthz 200'),
                [`${CHANGES} 200`, '/worlds.json 200', '/worlds.json 304']);
        }, { args: ['--watch', '--config', scratchFile('world.yaml', `access_log: ${log}\n${text(5)}`)] });
    });

    it('does not exist without --watch, and the file is not looked at', () => {
        const file = scratchFile('world.yaml', text(5));
        return withDaemon(async (daemon) => {
            assertStatus(await daemon.get(CHANGES), 404);
            assert.equal((await daemon.json('/worlds.json')).changes, undefined);
            fs.writeFileSync(file, text(6));
            await sleep(SETTLED);
            assert.equal(await octavesOf(daemon), 5);
            assert.equal(await daemon.reloads(), 0);
        }, { args: ['--config', file] });
    });
});

it('--watch adds no thread that signals could end', { timeout: TIMEOUT }, () => withWatch(async (daemon, file) => {
    fs.writeFileSync(file, text(6));
    await assertOctaves(daemon, 6);
    const blocked = fs.readdirSync(`/proc/${daemon.pid}/task`).filter((id) => Number(id) !== daemon.pid)
        .map((id) => parseInt(/^SigBlk:\s+(\w+)/m.exec(fs.readFileSync(`/proc/${daemon.pid}/task/${id}/status`, 'latin1'))[1].slice(-8), 16));
    assert.ok(blocked.length > 4 && blocked.every((mask) => mask & 1 << 14), `masks without SIGTERM: ${blocked}`);
}));

it('--watch warns if other machines may see errors', { timeout: TIMEOUT }, () => eachRow([
    ['127.0.0.1:0', false],
    ['[::1]:0', false],
    ['0.0.0.0:0', true],
], async ([listen, warns]) => {
    const daemon = await new Daemon({ listen, args: ['--watch', '--config', scratchFile('world.yaml', text(5))] }).start();
    const { stderr } = await daemon.quit();
    assert.equal(/ warning --watch: every client of 0\.0\.0\.0:\d+ can read errors/.test(stderr), warns, stderr);
}));

it('--watch without a file to watch is an error', { timeout: TIMEOUT }, () => eachRow([
    [[], /--watch: expected --config FILE or --world FILE, a regular file;/],
    [['--config', '/dev/stdin'], /--watch: .* not: \/dev\/stdin/],
    [['--config', '/dev/null'], /--watch: .* not: \/dev\/null/],
    [['--config', scratch()], /--watch: .* not: \//],
    [['--config', '/nowhere.yaml'], /\/nowhere\.yaml: cannot be read/],
], async ([args, why]) => {
    const { code, stderr } = await run(['serve', '--watch', ...args]);
    assert.equal(code, 2, stderr);
    assert.match(stderr, why);
}));
