// Invalid configurations: the message names the file, the line, the key and what is expected.

import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { NAMES } from './layers.mjs';
import { TIMEOUT, run, scratch, scratchFile } from './program.mjs';
import { eachRow } from './table.mjs';

/* In the rows, `>` marks the line that the message must name. */
const world = (...lines) => ['worlds:', '  - name: alpha', ...lines.map((line) => line.replace(/^(>?)/, '$1    '))];
const noise = (...lines) => world('noise:', ...lines.map((line) => line.replace(/^(>?)/, '$1  ')));
const W = 'worlds[0]';
const N = 'worlds[0].noise';

const UNKNOWN = /unknown|not a key|no such/i;
const MISSING = /missing|required|needed|must have/i;
const TWICE = /duplicate|twice|already|again|more than once/i;
const ASCENDING = /ascend|increas|rising|order|greater|above/i;
const COLOR = /#rrggbb/i;
const ADDRESS = /HOST:PORT/i;
const SEED = /a whole number from -2\^63 to 2\^64-1, or any other text/;
const LAYERS = new RegExp(`all.*${NAMES.join('.*')}.*field`);
const TERRARIUM = /-32768 to 32767\.996 metres, or .*layers.* without terrarium/;
const TERRAIN_RGB = /-10000 to 1667721\.5 metres, or .*layers.* without terrain-rgb/;
const OCTAVES = /\b1\D+64\b/;

const BROKEN = [
    // lines, key, what else the message must say
    [['>color: red'], 'color', UNKNOWN],
    [['threads: 1', '>theads: 2'], 'theads', UNKNOWN],
    [['cache:', '>  size: 1G'], 'cache.size', UNKNOWN],
    [['limits:', '  connections: 10', '>  bandwidth: 5'], 'limits.bandwidth', UNKNOWN],
    [world('>sede: 3'), `${W}.sede`, UNKNOWN],
    [noise('octaves: 3', '>octave: 4'), `${N}.octave`, UNKNOWN],
    [['worlds:', '  - name: alpha', '  - name: beta', '>    Seed: 1'], 'worlds[1].Seed', UNKNOWN],

    [['threads: 1', '>threads: 2'], 'threads', TWICE],
    [world('seed: 1', '>seed: 1'), `${W}.seed`, TWICE],
    [noise('octaves: 3', 'persistence: 0.5', '>octaves: 3'), `${N}.octaves`, TWICE],
    [['worlds:', '  - name: alpha', '  - name: beta', '>  - name: alpha'], 'worlds[2].name', TWICE],

    [['>listen: nonsense'], 'listen', ADDRESS],
    [['>listen: 127.0.0.1'], 'listen', ADDRESS],
    [['>listen: ::1:8080'], 'listen', /in quotes "\[HOST\]:PORT"/],
    [['>listen: 127.0.0.1:65536'], 'listen', /HOST:PORT|65535/i],
    [['>public_url: tiles.example.org'], 'public_url', /https?:\/\//],
    [['>public_url: "https://tiles.example.org/?a=b"'], 'public_url', /https?:\/\//],
    [['>base_path: terrain'], 'base_path', /\/terrain/],
    [['>base_path: /a//b'], 'base_path', /\/terrain/],
    [['>proxies: 127.0.0.1'], 'proxies', /list/],
    [['proxies:', '  - 127.0.0.1', '>  - 10.0.0.0/33'], 'proxies', /10\.0\.0\.0\/8/],
    [['>threads: -1'], 'threads', /\b0\b/],
    [['>threads: many'], 'threads', /\b0\b/],
    [['>threads: 1.5'], 'threads', /\b0\b/],
    [['>log: loud'], 'log', /error.*warning.*info.*debug/s],
    [['cache:', '>  memory: lots'], 'cache.memory', /\d+ ?[KMG]/i],
    [['cache:', '>  memory: -1'], 'cache.memory', /\d/],
    [['limits:', '>  connections: 0'], 'limits.connections', /\b1\b/],
    [['limits:', '>  queue: -5'], 'limits.queue', /\d/],

    [['worlds:', '>  - name: ""'], `${W}.name`, /./],
    [['worlds:', '>  - name: a/b'], `${W}.name`, /[a-z]/],
    [['worlds:', '>  - name: "a:1"'], `${W}.name`, /[a-z]/],
    [['worlds:', '>  - name: "a b"'], `${W}.name`, /[a-z]/],
    [['worlds:', '>  - name: ..'], `${W}.name`, /[a-z]/],
    // It would hide the catalogue /worlds.json.
    [['worlds:', '>  - name: worlds'], `${W}.name`, /[a-z]/],
    [['worlds:', '>  - seed: 1'], `${W}.name`, MISSING],
    [world('>seed:'), `${W}.seed`, SEED],
    [world('>seed: "  "'), `${W}.seed`, SEED],
    [world('>seed: [1]'), `${W}.seed`, SEED],
    [world('>seeds: all'), `${W}.seeds`, /fixed or any/],
    [world('seeds: any', '>seeds: fixed'), `${W}.seeds`, TWICE],
    [world('>native_zoom: 1000'), `${W}.native_zoom`, /\d+\D+\d+/],
    [world('>native_zoom: high'), `${W}.native_zoom`, /\d+\D+\d+/],
    [world('>origin: [1]'), `${W}.origin`, /\b(2|two|x, ?y)\b/i],
    [world('>origin: [1, 2, 3]'), `${W}.origin`, /\b(2|two|x, ?y)\b/i],
    [world('>origin: [0, 9007199254740992]'), `${W}.origin`, /\d{16}/],

    [noise('>octaves: 0'), `${N}.octaves`, OCTAVES],
    [noise('>octaves: 65'), `${N}.octaves`, OCTAVES],
    [noise('>octaves: -3'), `${N}.octaves`, OCTAVES],
    [noise('>octaves: twelve'), `${N}.octaves`, OCTAVES],
    [noise('>octaves: 3.5'), `${N}.octaves`, OCTAVES],
    [noise('>octaves: 99999999999999999999'), `${N}.octaves`, OCTAVES],
    [noise('>octaves:'), `${N}.octaves`, OCTAVES],
    [noise('>seed: 1'), `${N}.seed`, UNKNOWN],
    [noise('>persistence: 0'), `${N}.persistence`, /0.*1/],
    [noise('>persistence: 1.5'), `${N}.persistence`, /0.*1/],
    [noise('>persistence: nan'), `${N}.persistence`, /0.*1/],
    [noise('>lacunarity: 0.5'), `${N}.lacunarity`, /\b1\b/],
    [noise('>lacunarity: .inf'), `${N}.lacunarity`, /\b1\b/],
    [noise('>basis: marble'), `${N}.basis`, /perlin.*simplex.*cellular.*value/s],
    [noise('>fractal: turbulence'), `${N}.fractal`, /none.*fbm.*billow.*ridged.*hybrid/s],
    [noise('>offset: -1'), `${N}.offset`, /\b0\D+16\b/],
    [noise('>offset: 17'), `${N}.offset`, /\b0\D+16\b/],
    [noise('>gain: high'), `${N}.gain`, /\b0\D+1024\b/],
    [noise('>gain: 1025'), `${N}.gain`, /\b0\D+1024\b/],
    [noise('>warp: 100'), `${N}.warp`, /amplitude.*wavelength/],
    [noise('warp:', '>  octaves: 2'), `${N}.warp.octaves`, UNKNOWN],
    [noise('warp:', '  wavelength: 64', '>  wavelength: 64'), `${N}.warp.wavelength`, TWICE],
    [noise('warp:', '>  amplitude: -1'), `${N}.warp.amplitude`, /\b0\D+1099511627776\b/],
    [noise('warp:', '>  amplitude: 0.3'), `${N}.warp.amplitude`, /1024|10/],
    [noise('warp:', '>  wavelength: 2199023255552'), `${N}.warp.wavelength`, /\b0\D+1099511627776\b/],
    [noise('warp:', '  amplitude: 8', '>  wavelength: 0'), `${N}.warp.wavelength`, /0\.001953125.*1099511627776/],
    [noise('wavelength: 64', 'octaves: 3', '>warp: { amplitude: 8 }'), `${N}.warp.wavelength`,
        /0\.001953125.*1099511627776/],

    [world('>volume: 1'), `${W}.volume`, /overhangs.*caverns.*tunnels/],
    [world('volume:', '>  caves: {}'), `${W}.volume.caves`, UNKNOWN],
    [world('volume:', '>  caverns: { size: 2 }'), `${W}.volume.caverns.size`, /\b0\D+1\b/],
    [world('volume:', '>  tunnels: { radius: -1 }'), `${W}.volume.tunnels.radius`, /\b0\D+16384\b/],
    [world('wrap: true', '>volume: { overhangs: { wavelength: 100 } }'), `${W}.volume.overhangs.wavelength`, /divide/],

    [world('>wrap: maybe'), `${W}.wrap`, /true or false/],
    [world('>wrap: true', 'noise: { wavelength: 100, octaves: 1 }'), `${W}.wrap`, /divide/],
    [world('noise: { warp: { amplitude: 1, wavelength: 100 } }', '>wrap: true'), `${W}.wrap`, /divide/],
    [world('noise: { basis: simplex }', '>wrap: true'), `${W}.wrap`, /perlin.*cellular.*value/],
    [noise('>gradients: axis5'), `${N}.gradients`, /axis4.*diagonal4.*unit8.*integer8.*unit256/s],
    [noise('>fade: septic'), `${N}.fade`, /linear.*cubic.*quintic/s],
    [noise('>hash: md5'), `${N}.hash`, /mix64|permutation/],
    [noise('>octave_salt: maybe'), `${N}.octave_salt`, /true|false/],
    [noise('>wavelength: 0'), `${N}.wavelength`, /\d/],
    [noise('>wavelength: -5'), `${N}.wavelength`, /\d/],
    [noise('>wavelength: 0.3'), `${N}.wavelength`, /1024|10/],

    [world('>elevation: [[0, 0], [-1, 5]]'), `${W}.elevation`, ASCENDING],
    [world('>elevation: [[0, 0], [0, 5]]'), `${W}.elevation`, ASCENDING],
    [world('>elevation: [[0, 0, 0], [1, 5, 5]]'), `${W}.elevation`, /./],
    [world('>elevation: high'), `${W}.elevation`, /./],
    [world('>palette: [[0, "#000000"], [-5, "#ffffff"]]'), `${W}.palette`, ASCENDING],
    [world('>palette: [[0, "#00000"], [5, "#ffffff"]]'), `${W}.palette`, COLOR],
    [world('>palette: [[0, "#00000g"], [5, "#ffffff"]]'), `${W}.palette`, COLOR],
    [world('>palette: [[0, red], [5, "#ffffff"]]'), `${W}.palette`, COLOR],
    [world('palette:', '  - [0, "#000000"]', '>  - [5, "#fffff"]'), `${W}.palette[1]`, COLOR],
    [world('palette:', '  - [0, "#000000"]', '>  - [nan, "#ffffff"]'), `${W}.palette[1]`, /-1000000.*1000000/],

    [world('>exaggeration: -1'), `${W}.exaggeration`, /0.*100/],
    [world('>exaggeration: 101'), `${W}.exaggeration`, /0.*100/],
    [world('>exaggeration: strong'), `${W}.exaggeration`, /0.*100/],

    [world(`>about: ${'x'.repeat(201)}`), `${W}.about`, /200 bytes/],
    [world('>about: "two\\nlines"'), `${W}.about`, /a line of text/],
    [world('>about: [a, b]'), `${W}.about`, /a line of text/],

    [world('>layers: [relief, Normal]'), `${W}.layers[1]`, LAYERS],
    [world('>layers: []'), `${W}.layers`, LAYERS],
    [world('>layers: none'), `${W}.layers`, LAYERS],
    [world('layers:', '  - gray', '>  - gray'), `${W}.layers[1]`, TWICE],
    [world('elevation:', '  - [0, 0]', '>  - [1, 32768]'), `${W}.elevation[1]`, TERRARIUM],
    [world('elevation:', '>  - [0, -10001]', '  - [1, 5]'), `${W}.elevation[0]`, TERRAIN_RGB],
    [world('elevation: [[0, -10001], [1, 5]]', '>layers: [relief, terrain-rgb]'), `${W}.layers[1]`, TERRAIN_RGB],
];

const UNREADABLE = [
    ['a tab', 'worlds:\n\t- name: alpha\n'],
    ['an open bracket', 'worlds: [\n'],
    ['an open quote', 'listen: "127.0.0.1:80\n'],
    ['a list', '- 1\n- 2\n'],
    ['a word', 'hello\n'],
    ['a mapping instead of a list', 'worlds:\n  name: alpha\n'],
    ['a list instead of a mapping', 'cache: [1]\n'],
    ['bytes that are not UTF-8', Buffer.from('log: \xff\xfe\n', 'latin1')],
    ['NUL bytes', Buffer.from('log: in\0fo\n')],
    ['an unknown anchor', 'worlds: *nothing\n'],
];

function escaped(text) {
    return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/* Worlds whose wavelengths do not divide the window; the message names both lengths in blocks. */
const UNFIT = [
    [world('>wrap: true', 'noise: { wavelength: 100, octaves: 1 }'), /octave 1 .*\b100 blocks.*\b16777216 blocks/],
    [world('native_zoom: 11', '>wrap: true'), /octave 1 .*\b1048576 blocks.*\b524288 blocks/],
    [world('>wrap: true', 'noise: { lacunarity: 3, octaves: 9 }'), /octave 2 .*\b349525\.3330078125 blocks/],
    [world('>wrap: true', 'noise: { warp: { amplitude: 1, wavelength: 48 } }'), /warp.*\b48 blocks.*\b16777216 blocks/],
];

async function assertRefused(args, message) {
    const { code, stdout, stderr, late } = await run(args);
    assert.equal(late, false, `did not exit; stdout: ${stdout}`);
    assert.equal(code, 2, `exit code ${code}; stdout: ${stdout}; stderr: ${stderr}`);
    assert.match(stderr, message);
    assert.equal(stdout.length, 0, `stdout: ${stdout}`);
    return stderr;
}

function written(lines) {
    const line = lines.findIndex((text) => text.startsWith('>')) + 1;
    assert.ok(line > 0, 'no line is marked');
    const text = lines.map((each) => each.replace(/^>/, '')).join('\n');
    return { file: scratchFile('broken.yaml', `${text}\n`), line };
}

describe('an invalid configuration', { timeout: TIMEOUT }, () => {
    it('is rejected with file, line and key', () => eachRow(BROKEN, async ([lines, key, says]) => {
        const { file, line } = written(lines);
        const stderr = await assertRefused(['check-config', file],
            new RegExp(`^farlands: \\S*${escaped(path.basename(file))}:${line}: ${escaped(key)}(?!\\w)[^\\n]*: `, 'm'));
        const [message] = stderr.split('\n').filter((text) => text.includes(`:${line}: ${key}`));
        const [, problem, expected] = /^farlands: \S+:\d+: \S+: (.*?); (.*)$/.exec(message) ?? [];
        if ([UNKNOWN, TWICE, MISSING].includes(says)) {
            assert.match(message, says);
            return;
        }
        assert.ok(expected && problem, `not "problem; expected value": ${message}`);
        // The message must give the expected range, not only echo the rejected value.
        assert.match(expected, says);
    }));

    it('is rejected with the wavelength that does not divide the window', () => eachRow(UNFIT, async ([lines, says]) => {
        const { file, line } = written(lines);
        const stderr = await assertRefused(['check-config', file], says);
        assert.match(stderr, new RegExp(`:${line}: worlds\\[0\\]\\.wrap: `));
    }));

    it('is rejected if it cannot be parsed', () => eachRow(UNREADABLE, async ([, text]) => {
        const file = scratchFile('unreadable.yaml', text);
        await assertRefused(['check-config', file], /^farlands: \S*unreadable\.yaml(:\d+)?: ./m);
    }));

    it('is rejected by serve and tile, too', () => eachRow(
        [BROKEN[0], BROKEN[4], BROKEN.at(-1), BROKEN.find(([, key]) => key === `${N}.octaves`)],
        async ([lines, key]) => {
            const { file, line } = written(lines);
            const message = new RegExp(`broken\\.yaml:${line}: ${escaped(key)}`);
            await assertRefused(['serve', '--listen', '127.0.0.1:0', '--cache', scratch(),
                '--config', file], message);
            await assertRefused(['tile', 'default/gray/1/0/0.png', '--config', file], message);
        }));
});
