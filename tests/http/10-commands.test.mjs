// The command line: output and exit codes of the commands.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { useDaemon } from './daemon.mjs';
import { NAMES } from './layers.mjs';
import { BUILT_IN, TIMEOUT, run, scratch, scratchFile } from './program.mjs';
import { eachRow } from './table.mjs';

const SAMPLE = fileURLToPath(new URL('../../config/farlands.yaml', import.meta.url));
const TILES = ['relief/10/512/512.png', 'relief/10/512/512@2x.png', 'gray/-3/0/-1.png',
    'height/16/-1/-1.png', 'hillshade/6/31/32.png', 'terrarium/10/512/512.png',
    'terrain-rgb/16/32768/-1@2x.png', 'normal/12/2048/2047.png', 'height/10/512/512.r16', 'height/10/512/512.f32', 'height/20/7/-7@2x.f32'];

async function assertUsage(args, names) {
    const { code, stdout, stderr, late } = await run(args);
    assert.equal(late, false, `did not exit; stdout: ${stdout}`);
    assert.equal(code, 2, `exit code ${code}; stderr: ${stderr}`);
    assert.match(stderr, /^(farlands|usage): /im);
    assert.match(stderr, names);
    assert.equal(stdout.length, 0, `stdout: ${stdout.subarray(0, 200)}`);
}

describe('farlands', { timeout: TIMEOUT }, () => {
    it('--version prints the version', async () => {
        const { code, stdout, stderr } = await run(['--version']);
        assert.equal(code, 0);
        assert.equal(stdout.toString(), 'farlands 0.1.0\n');
        assert.equal(stderr, '');
    });

    it('--help names every command', async () => {
        const { code, stdout, stderr } = await run(['--help']);
        assert.equal(code, 0);
        for (const word of ['serve', 'tile', 'describe', 'check-config', '--config', '--listen', '--cache', '--watch', '--version'])
            assert.ok(stdout.includes(word), `${word} is missing in:\n${stdout}`);
        assert.equal(stderr, '');
    });

    it('rejects invalid usage', () => eachRow([
        [[], /usage|command|--help/i],
        [['bogus'], /bogus/],
        [['--bogus'], /--bogus/],
        [['Serve'], /Serve/],
        [['serve', '--bogus'], /--bogus/],
        [['serve', '--bogus=1'], /--bogus/],
        [['serve', '-x'], /-x|'x'/],
        [['serve', 'extra'], /extra/],
        [['serve', '--listen'], /--listen/],
        [['serve', '--cache'], /--cache/],
        [['serve', '--config'], /--config/],
        [['serve', '--config', '/nowhere/farlands.yaml'], /\/nowhere\/farlands\.yaml/],
        [['serve', '--config', '/'], /\//],
        [['tile'], /tile|path/i],
        [['tile', 'default/relief/1/0/0.png', 'default/relief/1/0/1.png'], /./],
        [['tile', 'default/relief/1/0/0.png', '-o'], /-o|'o'/],
        [['tile', '--bogus', 'default/relief/1/0/0.png'], /--bogus/],
        [['check-config'], /check-config|file/i],
        [['check-config', '/nowhere/farlands.yaml'], /\/nowhere\/farlands\.yaml/],
        [['check-config', '--bogus', SAMPLE], /--bogus/],
    ], ([args, names]) => assertUsage(args, names)));

    it('rejects kernels that the machine does not have', () => eachRow([
        [['serve', '--listen', '127.0.0.1:0'], 'banana'], [['tile', 'default/gray/1/0/0.png'], 'AVX2'],
        [['render', '--world', 'default', '--layer', 'gray', '--zoom', '0', '--dry-run'], 'banana'],
        [['check-config', SAMPLE], process.arch === 'x64' ? 'neon' : 'avx2'],
    ], async ([args, kernel]) => {
        const { code, stdout, stderr } = await run(args, { env: { FARLANDS_KERNEL: kernel } });
        assert.equal(code, 2);
        assert.match(stderr, new RegExp(`^farlands: FARLANDS_KERNEL: got "${kernel}"; expected .*scalar$`, 'm'));
        assert.equal(stdout.length, 0);
    }));

    it('rejects invalid addresses', () => eachRow(
        ['', 'nonsense', '127.0.0.1', '127.0.0.1:', ':', '127.0.0.1:65536', '127.0.0.1:-1',
            '127.0.0.1:80x', '127.0.0.1:0x50', '127.0.0.1: 80', '127.0.0.1:99999999999', '[::1:8080',
            '8080', '127.0.0.1:1:2'],
        (listen) => assertUsage(['serve', '--cache', scratch(), '--listen', listen], /listen|HOST:PORT/i)));
});

describe('farlands tile', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ builtIn: true });

    it('writes the same bytes as the daemon', () => eachRow(TILES, async (tile) => {
        const expected = await daemon.bytes(`/default/${tile}`);
        const file = path.join(scratch(), 'out');
        const filed = await run(['tile', `default/${tile}`, '-o', file]);
        assert.equal(filed.code, 0, filed.stderr);
        assert.deepEqual(fs.readFileSync(file), expected);
        assert.equal(filed.stdout.length, 0, 'stdout with -o');
        const piped = await run(['tile', `default/${tile}`]);
        assert.equal(piped.code, 0, piped.stderr);
        assert.deepEqual(piped.stdout, expected);
    }));

    it('rejects what the daemon rejects, and leaves no file', () => eachRow([
        ['nowhere/relief/10/512/512.png', /nowhere/],
        ['default:/relief/10/512/512.png', /seed: "" is blank/],
        ['default:1/nothing/10/512/512.png', /nothing/],
        ['default/nothing/10/512/512.png', /nothing/],
        ['default/relief/10/512/512.gif', /gif/],
        ['default/relief/10/512/512.f32', /f32/],
        ['default/relief/01/512/512.png', /01|zoom|\bz\b/],
        ['default/relief/27/512/512.png', /27|zoom|\bz\b/],
        ['default/relief/10/+1/512.png', /\+1|\bx\b/],
        ['default/relief/10/512/9223372036854775808.png', /9223372036854775808|\by\b/],
        ['default/relief/16/99999999999999/0.png', /99999999999999|\bx\b|coordinate|limit/],
        ['default/relief/10/../512.png', /\.\./],
        ['default/relief', /./],
        ['worlds.json', /./],
        ['', /./],
    ], async ([tile, names]) => {
        const file = path.join(scratch(), 'out');
        await assertUsage(['tile', tile, '-o', file], names);
        assert.ok(!fs.existsSync(file), 'a file was left behind');
    }));

    it('renders worlds with other seeds', () => eachRow(['0', '42', '18446744073709551615', '-1', 'hello'], async (seed) => {
        const name = `default:${seed}/relief/10/512/512.png`;
        const { code, stdout, stderr } = await run(['tile', name]);
        assert.equal(code, 0, stderr);
        assert.deepEqual(stdout, await daemon.bytes(`/${name}`));
        assert.notDeepEqual(stdout, await daemon.bytes('/default/relief/10/512/512.png'));
    }));

    it('reads the given configuration', async () => {
        const config = scratchFile('farlands.yaml', 'worlds:\n  - name: other\n    seed: 7\n');
        await assertUsage(['tile', '--config', config, 'other:8/height/10/512/512.f32'], /seed: .*"other".*fixed/);
        const other = await run(['tile', '--config', config, 'other/height/10/512/512.f32']);
        assert.equal(other.code, 0, other.stderr);
        assert.equal(other.stdout.length, 256 * 256 * 4);
        assert.notDeepEqual(other.stdout, await daemon.bytes('/default/height/10/512/512.f32'));
        await assertUsage(['tile', '--config', config, 'default/relief/10/512/512.png'], /default/);
    });

    it('rejects layers that the world does not serve', async () => {
        const config = scratchFile('farlands.yaml', 'worlds:\n  - name: a\n    layers: [normal]\n');
        assert.equal((await run(['tile', '--config', config, 'a/normal/10/512/512.png'])).code, 0);
        await assertUsage(['tile', '--config', config, 'a/relief/10/512/512.png'], /not serve "relief"/);
    });

    it('reports an output file that it cannot write', async () => {
        const { code, stderr } = await run(['tile', 'default/gray/1/0/0.png', '-o', '/proc/nope/out']);
        assert.ok(code === 1 || code === 2, `exit code ${code}`);
        assert.ok(stderr.includes('/proc/nope/out'), stderr);
    });
});

describe('farlands check-config', { timeout: TIMEOUT }, () => {
    it('accepts the sample in the repository', async () => {
        const { code, stdout, stderr } = await run(['check-config', SAMPLE]);
        assert.equal(code, 0, stderr);
        assert.deepEqual(stdout.toString().match(/^[^:]+/gm), BUILT_IN);
        assert.equal(stderr, '');
    });

    it('prints one line per world', async () => {
        const file = scratchFile('three.yaml',
            'worlds:\n  - name: alpha\n  - name: beta\n    seed: 2\n  - name: gamma\n    seed: 3\n');
        const { code, stdout, stderr } = await run(['check-config', file]);
        assert.equal(code, 0, stderr);
        const lines = stdout.toString().trimEnd().split('\n');
        await eachRow(['alpha', 'beta', 'gamma'], (name) => {
            const found = lines.filter((line) => new RegExp(`\\b${name}\\b`).test(line));
            assert.equal(found.length, 1, `lines with ${name} in:\n${stdout}`);
        });
    });

    it('prints the layers of each world', async () => {
        const file = scratchFile('layers.yaml', 'worlds:\n  - name: alpha\n  - name: beta\n    ' +
            'layers: [gray, relief]\n    elevation: [[-1, -40000], [1, 1000000]]\n');
        const { code, stdout, stderr } = await run(['check-config', file]);
        assert.equal(code, 0, stderr);
        assert.match(stdout.toString(), new RegExp(`^alpha: .*, layers ${NAMES.join(' ')}$`, 'm'));
        assert.match(stdout.toString(), /^beta: .* from -40000 to 1e\+06 metres, layers relief gray$/m);
    });

    it('prints the layers of fields', async () => {
        const fields = 'fields: { a: 1, b: a, height: { add: [a, b] } }';
        const file = scratchFile('fields.yaml', `worlds:\n  - { name: alpha, ${fields} }\n` +
            `  - { name: beta, ${fields}, layers: [gray, field] }\n  - { name: gamma, ${fields}, layers: [gray] }\n`);
        const { code, stdout, stderr } = await run(['check-config', file]);
        assert.equal(code, 0, stderr);
        assert.match(stdout.toString(), new RegExp(`^alpha: .*, layers ${NAMES.join(' ')} field.a field.b field.surface$`, 'm'));
        assert.match(stdout.toString(), /^beta: .*, layers gray field.a field.b field.surface$/m);
        assert.match(stdout.toString(), /^gamma: .*, layers gray$/m);
    });
});
