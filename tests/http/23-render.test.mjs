// farlands render: it fills the disk cache with all requested tiles as the daemon serves them, or
// explains why not.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { withDaemon } from './daemon.mjs';
import { BINARY, FRACTAL, TIMEOUT, end, eventually, fractal, launch, patience, run, scratch, scratchFile, withFractal } from './program.mjs';
import { eachRow } from './table.mjs';

const WORLD = ['--world', 'default', '--layer', 'relief'];
/* With sanitizers a render takes about thirty times as long. */
const SLOW = patience(1) > 1;

/* Run `farlands render ARGS...` with CACHE until it exits. */
const render = (cache, args) => run(fractal('render', '--cache', cache, ...args));

/* Parse the line on stdout of a successful run: { total, rendered, found }. */
function summary({ code, stdout, stderr }) {
    assert.equal(code, 0, `exit code ${code}: ${stderr}`);
    const line = /^farlands: (\d+) tiles are in the cache, [\d.]+[KMG]: (\d+) rendered, (\d+) already there, in .*\n$/.exec(stdout);
    assert.ok(line, `stdout: ${stdout}`);
    const [total, rendered, found] = line.slice(1).map(Number);
    return { total, rendered, found };
}

function filesBelow(directory, prefix = '') {
    return fs.readdirSync(path.join(directory, prefix), { withFileTypes: true }).flatMap((entry) => {
        const name = path.join(prefix, entry.name);
        return entry.isDirectory() ? filesBelow(directory, name) : [name];
    });
}

/* The tiles in the cache of all worlds, such as relief/3/1/2.png. */
const tilesIn = (cache) => filesBelow(cache).filter((name) => name.endsWith('.png'))
    .map((name) => name.slice(name.indexOf('/') + 1)).sort();

/* All tiles of the web-map window at zooms FROM to TO. */
const pyramid = (from, to, layer = 'relief') => Array.from({ length: to - from + 1 }, (_, i) => from + i)
    .flatMap((z) => Array.from({ length: 4 ** z }, (_, i) => `${layer}/${z}/${i >> z}/${i % (1 << z)}.png`)).sort();

describe('farlands render', { timeout: TIMEOUT }, () => {
    it('stores the same bytes as the daemon', async () => {
        const cache = scratch();
        await eachRow([
            [[...WORLD, '--zoom', '0-2'], 21],
            [[...WORLD, '--zoom', '1', '--scale', '2'], 4],
            [['--world', 'default:42', '--layer', 'gray,height', '--zoom', '-2--1', '--bbox', '-1,-1,1,1'], 4],
            [['--world', 'default', '--layer', 'normal', '--zoom', '15-16', '--bbox', '-256,0,256,0.5'], 4],
        ], async ([args, total]) => assert.deepEqual(summary(await render(cache, args)), { total, rendered: total, found: 0 }));
        const tiles = ['relief/0/0/0', 'relief/2/3/1', 'relief/1/1/0@2x', 'normal/16/32767/32768', 'normal/15/16384/16384']
            .map((tile) => `default/${tile}.png`).concat('default:42/gray/-1/0/0.png', 'default:42/height/-2/0/0.png');
        assert.equal(tilesIn(cache).length, 33);
        await withDaemon(async (daemon) => {
            await eachRow(tiles, async (tile) => {
                const fingerprint = await daemon.fingerprintOf(tile);
                const body = await daemon.bytes(`/${tile}`);
                assert.deepEqual(fs.readFileSync(path.join(cache, fingerprint, tile.slice(tile.indexOf('/') + 1))), body);
                const fresh = await run(fractal('tile', tile));
                assert.deepEqual(fresh.stdout, body);
            });
            assert.equal(await daemon.rendered(), 0, 'rendered by the daemon');
            assert.equal(await daemon.metric('farlands_cache_hits_total', 'tier="disk"'), tiles.length);
        }, { cache });
    });

    it('works while a daemon runs, and skips existing tiles', () => withDaemon(async (daemon) => {
        for (const tile of pyramid(2, 2))
            await daemon.bytes(`/default/${tile}`);
        assert.ok(await eventually(() => tilesIn(daemon.cache).length === 16));
        assert.deepEqual(summary(await render(daemon.cache, [...WORLD, '--zoom', '0-3'])), { total: 85, rendered: 69, found: 16 });
        const before = await daemon.rendered();
        for (const tile of pyramid(3, 3))
            await daemon.bytes(`/default/${tile}`);
        assert.equal(await daemon.rendered(), before);
        assert.deepEqual(tilesIn(daemon.cache), pyramid(0, 3));
        assert.deepEqual(summary(await render(daemon.cache, [...WORLD, '--zoom', '0-3'])), { total: 85, rendered: 0, found: 85 });
    }));

    it('renders truncated tiles again', async () => {
        const cache = scratch();
        summary(await render(cache, [...WORLD, '--zoom', '2']));
        const file = path.join(cache, filesBelow(cache).find((name) => name.endsWith('/2/1/1.png')));
        const whole = fs.readFileSync(file);
        fs.truncateSync(file, whole.length >> 1);
        assert.deepEqual(summary(await render(cache, [...WORLD, '--zoom', '2'])), { total: 16, rendered: 1, found: 15 });
        assert.deepEqual(fs.readFileSync(file), whole);
    });

    it('resumes after SIGINT', async () => {
        const cache = scratch();
        const args = [...WORLD, '--zoom', `0-${SLOW ? 4 : 6}`, '--bbox', '-8388608,-8388608,0,8388608', '--threads', '2'];
        const program = launch(fractal('render', '--cache', cache, ...args));
        assert.ok(await eventually(() => fs.existsSync(cache) && tilesIn(cache).length > 20));
        program.child.kill('SIGINT');
        const { code, signal, stdout, stderr } = await end(program);
        assert.equal(signal, null, stderr);
        assert.equal(code, 1, stderr);
        assert.equal(stdout.length, 0);
        const [, there, total, rendered] = /interrupted\nfarlands: (\d+) of (\d+) tiles are in the cache, (\d+) of them rendered now; run the same command again/
            .exec(stderr).map(Number);
        assert.equal(there, rendered);
        assert.equal(tilesIn(cache).length, rendered);
        assert.deepEqual(filesBelow(cache).filter((name) => name.startsWith('.new-')), [], 'temporary files left behind');
        assert.ok(rendered < total, `all ${total} rendered before the signal`);
        const second = summary(await render(cache, args));
        assert.deepEqual(second, { total, rendered: total - rendered, found: rendered });
    });

    it('exits soon after the second signal', async () => {
        const cache = scratch();
        const program = launch(fractal('render', '--cache', cache, ...WORLD, '--zoom', '0-9'));
        assert.ok(await eventually(() => tilesIn(cache).length > 0));
        program.child.kill('SIGTERM');
        await sleep(600);       // signals within half a second count as one
        program.child.kill('SIGTERM');
        const { code, signal, late } = await end(program);
        assert.ok(!late && (signal === 'SIGTERM' || code === 1), `${code} ${signal}`);
    });

    it('treats simultaneous signals as one, and handles SIGHUP', () => eachRow([
        ['SIGINT', 'SIGTERM'], ['SIGTERM', 'SIGHUP', 'SIGINT'], ['SIGHUP'],
    ], async (signals) => {
        const directory = scratch();
        const program = launch(fractal('render', '--cache', path.join(directory, 'cache'), ...WORLD, '--zoom', '0-9',
            '--export', path.join(directory, 'a.mbtiles')));
        assert.ok(await eventually(() => fs.existsSync(path.join(directory, 'cache', '.usage'))));
        /* While it is stopped they wait, so that it gets them all at once. */
        for (const signal of ['SIGSTOP', ...signals, 'SIGCONT'])
            program.child.kill(signal);
        const { code, signal, stderr } = await end(program);
        assert.equal(signal, null);
        assert.equal(code, 1, stderr);
        assert.match(stderr, /interrupted/);
        assert.deepEqual(fs.readdirSync(directory), ['cache']);
    }));

    it('does not depend on a reader of its progress', async () => {
        const cache = scratch();
        const config = scratchFile('farlands.yaml', withFractal('cache: { disk: 8M }'));
        const child = spawn(BINARY, ['render', '--config', config, '--cache', cache, ...WORLD, '--zoom', '0-4'], { stdio: ['ignore', 'ignore', 'pipe'] });
        child.stderr.destroy();
        const [code, signal] = await new Promise((resolve) => { child.on('close', (...how) => resolve(how)); });
        assert.equal(signal, null);
        assert.equal(code, 1);
        assert.ok(tilesIn(cache).length >= 40);
    });

    it('never writes messages into its own files if stdio is closed', async () => {
        const directory = scratch();
        const command = `exec ${BINARY} render --config ${FRACTAL} --cache ${directory}/cache --world default --layer relief --zoom 9 --export ${directory}/a.mbtiles <&- >&- 2>&-`;
        const child = spawn('sh', ['-c', command], { stdio: 'ignore' });
        assert.ok(await eventually(() => fs.existsSync(path.join(directory, 'cache', '.usage'))));
        const streams = [0, 1, 2].map((fd) => fs.readlinkSync(`/proc/${child.pid}/fd/${fd}`));
        child.kill('SIGTERM');
        await new Promise((resolve) => { child.on('close', resolve); });
        assert.deepEqual(streams, ['/dev/null', '/dev/null', '/dev/null']);
    });

    it('reports that stdout cannot be written', () => eachRow([
        [...WORLD, '--zoom', '0'], [...WORLD, '--zoom', '0', '--dry-run'], [...WORLD, '--zoom', '0', '--list'],
        [...WORLD, '--zoom', '0', '--export', path.join(scratch(), 'a.mbtiles')],
    ], async (args) => {
        const full = fs.openSync('/dev/full', 'w');
        const child = spawn(BINARY, fractal('render', '--cache', scratch(), ...args), { stdio: ['ignore', full, 'pipe'] });
        fs.closeSync(full);
        let log = '';
        child.stderr.on('data', (bytes) => { log += bytes; });
        const code = await new Promise((resolve) => { child.on('close', resolve); });
        assert.equal(code, 1);
        assert.match(log, /stdout: No space left on device/);
    }));

    it('divides the tiles among shards', async () => {
        const cache = scratch();
        const sums = [];
        for (let shard = 0; shard < 3; shard++)
            sums.push(summary(await render(cache, [...WORLD, '--zoom', '0-3', '--shard', `${shard}/3`])));
        assert.deepEqual(sums.map(({ rendered }) => rendered), [29, 28, 28]);
        assert.deepEqual(tilesIn(cache), pyramid(0, 3));
    });

    it('lists paths, and accepts lists of paths', async () => {
        const cache = scratch();
        const listed = await run(fractal('render', ...WORLD, '--zoom', '0-2', '--list'));
        assert.equal(listed.code, 0, listed.stderr);
        const paths = listed.stdout.toString().trimEnd().split('\n');
        assert.deepEqual(paths.map((name) => name.replace('default/', '')).sort(), pyramid(0, 2));
        const list = scratchFile('list', `${paths.slice(3).join('\n')}\n\n${paths.join('\r\n')}`);
        assert.deepEqual(summary(await render(cache, ['--tiles', list])), { total: 21, rendered: 21, found: 0 });
        assert.deepEqual(tilesIn(cache), pyramid(0, 2));
        const child = spawn(BINARY, fractal('render', '--cache', cache, '--tiles', '-'), { stdio: ['pipe', 'pipe', 'inherit'] });
        child.stdin.end('/default/gray/1/0/0.png?v=1\ndefault:7/gray/1/0/1@2x.png\n');
        const parts = [];
        child.stdout.on('data', (bytes) => parts.push(bytes));
        const code = await new Promise((resolve) => { child.on('close', resolve); });
        assert.deepEqual(summary({ code, stdout: Buffer.concat(parts) }), { total: 2, rendered: 2, found: 0 });
    });

    it('estimates the size with --dry-run', async () => {
        const cache = scratch();
        const last = SLOW ? 3 : 4, all = 2 * (4 ** (last + 1) - 1) / 3;
        const args = ['--world', 'default', '--layer', 'relief,gray', '--zoom', `0-${last}`];
        const dry = await render(cache, [...args, '--dry-run']);
        assert.equal(dry.code, 0, dry.stderr);
        assert.deepEqual(fs.readdirSync(cache), [], 'files were written');
        assert.match(dry.stdout.toString(), new RegExp(`^ +${last} +default/gray +${4 ** last} `, 'm'));
        assert.match(dry.stdout.toString(), /^0 of them are already in .*\.$/m);
        assert.match(dry.stdout.toString(), /^They fit the cache: cache.disk is 10.0G, cache.files is 1000000\.$/m);
        const [, total, bytes, files] = /^(\d+) tiles: about ([\d.]+)M and (\d+) files on disk, and .* with \d+ threads?\.$/m.exec(dry.stdout).map(Number);
        assert.equal(total, all);
        summary(await render(cache, args));
        const made = filesBelow(cache).map((name) => fs.statSync(path.join(cache, name)).size)
            .reduce((sum, size) => sum + Math.ceil(size / 4096) * 4096, 0) / (1 << 20);
        assert.ok(bytes > made * 0.75 && bytes < made * 1.25, `${bytes}M estimated, ${made}M written`);
        const directories = new Set(filesBelow(cache).filter((name) => name.endsWith('.png')).flatMap((name) => name.split('/').slice(0, -1)
            .map((_, i, parts) => parts.slice(0, i + 1).join('/'))));
        assert.equal(files, total + directories.size);
        const again = await render(cache, [...args, '--dry-run']);
        assert.match(again.stdout.toString(), new RegExp(`^${all} of them are already in .*\\.$`, 'm'));
    });

    it('logs its progress every 5 s', async () => {
        const program = launch(fractal('render', '--cache', scratch(), '--threads', '1', ...WORLD, '--zoom', '12'));
        const shown = () => /^farlands: \d+ of 16777216 tiles done \(0 %\), \d+\/s, .* left$/m.exec(Buffer.concat(program.stderr));
        assert.ok(await eventually(shown), Buffer.concat(program.stderr).toString());
        program.child.kill('SIGTERM');
        assert.equal((await end(program)).code, 1);
    });

    it('draws a progress bar as wide as the terminal, and clears it', async () => {
        const command = `stty cols 60; exec ${BINARY} render --config ${FRACTAL} --cache ${scratch()} --world default --layer relief --zoom 12`;
        const child = spawn('script', ['-qfec', command, '/dev/null'],
            { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, TERM: 'xterm' } });
        const parts = [];
        child.stdout.on('data', (bytes) => parts.push(bytes));
        const closed = new Promise((resolve) => { child.on('close', resolve); });
        await eventually(() => Buffer.concat(parts).toString().split('/16777216').length > 3);
        child.stdin.write('\u0003');
        await closed;
        const text = Buffer.concat(parts).toString();
        const bars = text.split('\r').filter((line) => line.includes('/16777216'));
        assert.ok(bars.length >= 2, text);
        for (const bar of bars)
            assert.ok(bar.replace('^C', '').endsWith('\u001b[K') && bar.replace('^C', '').length - 3 < 60, JSON.stringify(bar));
        assert.match(text, /\r\u001b\[Kfarlands: interrupted/);
    });
});

describe('before the fingerprint changes', { timeout: TIMEOUT }, () => {
    const README = fs.readFileSync(new URL('../../docker/README.md', import.meta.url), 'utf8');
    const WORLDS = (octaves) => `worlds: [{ name: default, noise: { octaves: ${octaves} }, seeds: any }]\n`;

    /* The command in docker/README.md that begins with START and ends with --tiles -, for this machine. */
    function documented(start, places) {
        const block = README.split(/\n\n/).find((text) => text.startsWith(`    ${start}`) && text.endsWith('--tiles -'));
        assert.ok(block, `no command begins with ${start}`);
        return Object.entries(places).reduce((text, [from, to]) => text.replaceAll(from, to), block);
    }

    it('the tiles of the cache, or of the access log, can be rendered for the new one', async () => {
        const cache = scratch(), log = path.join(scratch(), 'access.log');
        const next = scratchFile('new.yaml', WORLDS(8));
        const places = (daemon) => ({
            '/var/cache/farlands': cache, '/var/log/farlands/access.log': log, 'new.yaml': next,
            'sudo -u farlands farlands': BINARY, 'http://127.0.0.1:8080': `http://${daemon.authority}`,
        });
        const shell = (command) => new Promise((resolve) => {
            const child = spawn('sh', ['-ec', command], { stdio: ['ignore', 'pipe', 'pipe'] });
            const stdout = [], stderr = [];
            child.stdout.on('data', (bytes) => stdout.push(bytes));
            child.stderr.on('data', (bytes) => stderr.push(bytes));
            child.on('close', (code) => resolve({ code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() }));
        });
        const tiles = ['relief/4/3/2.png', 'relief/4/3/2@2x.png', 'gray/-2/-1/0.png', 'height/9/-4/5.png'];
        const others = ['/default/region.png?x=0&y=0&width=9&height=9', '/default/height/3/1/1.f32', '/default.json'];
        await withDaemon(async (daemon) => {
            for (const url of [...tiles.map((tile) => `/default/${tile}?v=1`), `/default:7/${tiles[0]}`, ...others])
                await daemon.bytes(url);
            assert.ok(await eventually(() => tilesIn(cache).length === 5 && fs.readFileSync(log, 'utf8').split('\n').length > 8));
            assert.deepEqual(summary(await shell(documented('old=', places(daemon)))), { total: 4, rendered: 4, found: 0 });
            assert.deepEqual(summary(await shell(documented('sed ', places(daemon)))), { total: 5, rendered: 1, found: 4 });
        }, { cache, config: `${WORLDS(9)}access_log: ${log}\n` });
        await withDaemon(async (daemon) => {
            for (const tile of [...tiles.map((name) => `default/${name}`), `default:7/${tiles[0]}`])
                await daemon.bytes(`/${tile}`);
            assert.equal(await daemon.rendered(), 0, 'rendered by the daemon');
        }, { cache, config: WORLDS(8) });
    });
});

describe('render with a small cache', { timeout: TIMEOUT }, () => {
    const config = (text) => ['--config', scratchFile('farlands.yaml', withFractal(`cache: { ${text} }`))];

    it('stops at the quota, and evicts none of its own tiles', () => eachRow([
        ['disk: 8M', /cache\.disk is 8\.0M, about [\d.]+M would be needed\n/, 40],
        ['files: 200', /cache\.files is 200, about \d+ would be needed\n/, 100],
    ], async ([quota, names, least]) => {
        const cache = scratch();
        const args = [...config(quota), ...WORLD, '--zoom', '0-4'];
        const { code, stdout, stderr } = await render(cache, args);
        assert.equal(code, 1, stderr);
        assert.equal(stdout.length, 0);
        assert.equal(stderr.match(new RegExp(names, 'g')).length, 2, `before and after: ${stderr}`);
        const [, there, rendered] = /(\d+) of 341 tiles are in the cache, (\d+) of them rendered now/.exec(stderr).map(Number);
        assert.equal(there, rendered);
        assert.ok(there >= least, `${there} tiles`);
        assert.equal(tilesIn(cache).length, there);
        const again = await render(cache, args);
        assert.equal(again.code, 1);
        const [, still, more] = /(\d+) of 341 tiles are in the cache, (\d+) of them rendered now/.exec(again.stderr).map(Number);
        assert.ok(still - more === there && more <= 4, again.stderr); /* a few smaller tiles still fit */
        const dry = await render(cache, [...args, '--dry-run']);
        assert.equal(dry.code, 0);
        assert.match(dry.stdout.toString(), /^They exceed the cache quota/m);
        assert.match(dry.stdout.toString(), /: cache\.(disk|files) is .*, about .* would be needed\.$/m);
    }));

    it('evicts other tiles if all of its own fit', async () => {
        const cache = scratch();
        const args = [...config('disk: 12M')];
        summary(await render(cache, [...args, '--world', 'default:1', '--layer', 'relief', '--zoom', '3']));
        for (const name of filesBelow(cache).filter((file) => file.endsWith('.png')))
            fs.utimesSync(path.join(cache, name), 1e9, 1e9);
        const wanted = [...args, '--world', 'default:2', '--layer', 'relief', '--zoom', '0-3', '--bbox', '-8388608,-8388608,8388608,6000000'];
        const { total } = summary(await render(cache, wanted));
        assert.deepEqual(summary(await render(cache, wanted)), { total, rendered: 0, found: total });
    });

    it('names the directory and the cause of a failure', () => eachRow([
        ['/proc/nope', /\/proc\/nope/],
        [path.join(scratchFile('file', 'text'), 'cache'), /file\/cache.*Not a directory/],
        [scratchFile('file', 'text'), /file.*Not a directory/],
    ], async ([cache, names]) => {
        const { code, stderr } = await render(cache, [...WORLD, '--zoom', '0-1']);
        assert.equal(code, 1, stderr);
        assert.match(stderr, names);
    }));
});

describe('render --export', { timeout: TIMEOUT }, () => {
    const target = () => path.join(scratch(), 'world.mbtiles');
    const left = (file) => fs.readdirSync(path.dirname(file));

    it('writes an archive and fills the cache', async () => {
        const [cache, file] = [scratch(), target()];
        summary(await render(cache, [...WORLD, '--zoom', '2']));
        const args = [...WORLD, '--zoom', '0-3', '--export', file];
        const { code, stdout, stderr } = await render(cache, args);
        assert.equal(code, 0, stderr);
        assert.match(stdout.toString(), /^farlands: 85 tiles are in .*world\.mbtiles: 69 rendered, 16 from the cache, in /);
        assert.deepEqual(left(file), ['world.mbtiles']);
        const bytes = fs.readFileSync(file);
        assert.equal(bytes.subarray(0, 15).toString(), 'SQLite format 3');
        assert.deepEqual(tilesIn(cache), pyramid(0, 3));
        const again = await render(cache, args);
        assert.equal(again.code, 1);
        assert.match(again.stderr, /world\.mbtiles: file exists/);
        assert.deepEqual(fs.readFileSync(file), bytes);
    });

    it('does not depend on free space in the cache', async () => {
        const [cache, file] = [scratch(), target()];
        const config = scratchFile('farlands.yaml', withFractal('cache: { disk: 1M }'));
        const first = await render(cache, ['--config', config, ...WORLD, '--zoom', '0-1']);
        assert.equal(first.code, 0, first.stderr);
        const { code, stdout, stderr } = await render(cache, ['--config', config, ...WORLD, '--zoom', '0-3', '--export', file]);
        assert.equal(code, 0, stderr);
        const progress = /^farlands: \d+ of 85 tiles done .*\n/gm;     // on a slow machine
        assert.equal(stderr.replace(progress, ''), '');
        assert.match(stdout.toString(), /80 rendered, 5 from the cache/);
        const kept = tilesIn(cache);
        assert.ok(kept.length < 30, `${kept.length} in the cache`);
        for (const tile of pyramid(0, 1))
            assert.ok(kept.includes(tile), `${tile} was evicted`);
    });

    it('leaves no incomplete archive', async () => {
        const [cache, file] = [scratch(), target()];
        const args = [...WORLD, '--zoom', '0-9', '--export', file];
        const program = launch(fractal('render', '--cache', cache, ...args));
        assert.ok(await eventually(() => tilesIn(cache).length > 20));
        program.child.kill('SIGINT');
        const { code, stderr } = await end(program);
        assert.equal(code, 1, stderr);
        assert.match(stderr, /interrupted\nfarlands: .*world\.mbtiles was not written/);
        assert.deepEqual(left(file), []);
    });

    it('reports that the archive cannot be written', async () => {
        const { code, stderr } = await render(scratch(), [...WORLD, '--zoom', '0', '--export', '/nowhere/world.mbtiles']);
        assert.equal(code, 1);
        assert.match(stderr, /\/nowhere\/world\.mbtiles/);
    });
});

describe('render rejects', { timeout: TIMEOUT }, () => {
    const box = (text) => [...WORLD, '--zoom', '4', '--bbox', text];
    const list = (text) => ['--tiles', scratchFile('list', text)];

    it('invalid arguments, without rendering', () => eachRow([
        [[], /--world is missing/],
        [['--world', 'default'], /--layer is missing/],
        [WORLD, /--zoom is missing/],
        [['extra', ...WORLD, '--zoom', '1'], /takes no argument: extra/],
        [['--world', 'nowhere', '--layer', 'relief', '--zoom', '1'], /--world: .*"nowhere"/],
        [['--world', 'default:', '--layer', 'relief', '--zoom', '1'], /--world: seed: "" is blank/],
        [['--world', 'a/b', '--layer', 'relief', '--zoom', '1'], /--world: .*: a\/b/],
        [['--world', '', '--layer', 'relief', '--zoom', '1'], /--world: /],
        [['--world', 'default', '--layer', 'nothing', '--zoom', '1'], /--layer: .*"nothing"; expected one of relief, hillshade/],
        [['--world', 'default', '--layer', 'relief,', '--zoom', '1'], /--layer: .*""/],
        [['--world', 'default', '--layer', 'relief,gray,relief', '--zoom', '1'], /relief is listed twice/],
        [[...WORLD, '--zoom', 'x'], /--zoom: "x"; expected a zoom/],
        [[...WORLD, '--zoom', ''], /--zoom: ""/],
        [[...WORLD, '--zoom', '1-'], /--zoom: "1-"/],
        [[...WORLD, '--zoom', '3-1'], /A <= B, from -26 to 26/],
        [[...WORLD, '--zoom', '0-27'], /from -26 to 26/],
        [[...WORLD, '--zoom', '26', '--scale', '2'], /from -26 to 25 with --scale 2/],
        [[...WORLD, '--zoom', '-27', '--bbox', '0,0,1,1'], /from -26 to 26/],
        [[...WORLD, '--zoom', '-1'], /needs a --bbox/],
        [[...WORLD, '--zoom', '1', '--scale', '3'], /--scale: "3"; expected/],
        [box('0,0,1'), /--bbox: "0,0,1"; expected x0,y0,x1,y1/],
        [box('0,0,1,1,'), /--bbox/],
        [box('0,0,1,one'), /--bbox: .*one/],
        [box('1,0,1,1'), /x0 must be less than x1/],
        [box('0,2,1,1'), /y0 must be less than y1/],
        [box('0,0,1,4503599627370497'), /4503599627370497 is beyond the limit of 2\^52 blocks/],
        [box('0,0,1,99999999999999999999999'), /beyond/],
        [[...WORLD, '--zoom', '-26', '--bbox', '4503599627370495,0,4503599627370496,1'], /no tiles at zoom -26/],
        [[...WORLD, '--zoom', '26', '--bbox', '-4503599627370496,-4503599627370496,4503599627370496,4503599627370496'], /more than 2\^62 tiles/],
        [[...WORLD, '--zoom', '1', '--shard', '4/4'], /--shard: "4\/4"; expected I\/N, with I from 0 to N - 1/],
        [[...WORLD, '--zoom', '1', '--shard', '1'], /--shard/],
        [[...WORLD, '--zoom', '1', '--shard', '-1/4'], /--shard/],
        [[...WORLD, '--zoom', '1', '--shard', '0/0'], /--shard/],
        [[...WORLD, '--zoom', '1', '--threads', '0'], /--threads: "0"; expected/],
        [[...WORLD, '--zoom', '1', '--dry-run', '--list'], /--dry-run cannot be combined with --list/],
        [[...WORLD, '--zoom', '1', '--list', '--export', 'x.mbtiles'], /--list cannot be combined with --export/],
        [[...WORLD, '--zoom', '1', '--export', ''], /--export: expected a file name/],
        [['--world', 'default', '--layer', 'relief,gray', '--zoom', '1', '--export', 'x.mbtiles'], /--export: .* one layer .*relief and default\/gray/],
        [[...WORLD, '--zoom', '-1-0', '--bbox', '0,0,1,1', '--export', 'x.mbtiles'], /--export: expected zooms from 0 to 30, not -1/],
        [[...WORLD, '--zoom', '1', '--bbox', '-8388609,0,1,1', '--export', 'x.mbtiles'], /--export: .*0 <= x, y < 2\^z/],
        [[...WORLD, '--zoom', '1', '--dry-run=yes'], /unexpected value: --dry-run/],
        [[...WORLD, '--zoom', '1', '--listen', '127.0.0.1:0'], /render does not take: --listen/],
        [[...WORLD, '--zoom', '1', '--tiles', '-'], /--tiles cannot be combined with --world/],
        [['--zoom', '1', '--tiles', '-'], /--tiles cannot be combined with --zoom/],
        [['--tiles', '/nowhere/list'], /\/nowhere\/list/],
        [list('default/relief/1/0/0.png\ndefault/relief/1/0/y.png\n'), /line 2: y: "y"/],
        [list('default/height/1/0/0.f32\n'), /line 1: extension: "f32" is never cached; expected png/],
        [list('nowhere/relief/1/0/0.png\n'), /line 1: world/],
        [list('\n'), /no paths/],
        [[...WORLD, '--zoom', '1', '--config', '/nowhere/farlands.yaml'], /\/nowhere\/farlands\.yaml/],
    ], async ([args, names]) => {
        const cache = path.join(scratch(), 'cache');
        const { code, stdout, stderr } = await render(cache, args);
        assert.equal(code, 2, stderr);
        assert.match(stderr, names);
        assert.equal(stdout.length, 0);
        assert.ok(!fs.existsSync(cache), 'the cache was created');
    }));
});
