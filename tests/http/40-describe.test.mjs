// farlands describe: its measures for worlds with known answers, its two formats, its errors.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TIMEOUT, end, eventually, fractal, launch, run, scratchFile } from './program.mjs';
import { processorTime } from './streams.mjs';
import { eachRow } from './table.mjs';

/* What it prints with ARGS: a text, or with --json an object. */
async function described(...args) {
    const { code, stdout, stderr } = await run(fractal('describe', ...args));
    assert.equal(code, 0, stderr);
    assert.equal(stderr, '');
    return args.includes('--json') ? JSON.parse(stdout) : stdout.toString();
}

const world = (text) => ['--config', scratchFile('farlands.yaml', `worlds:\n  - name: a\n    ${text}\n`)];

/* An object without its times, which differ from run to run. */
function untimed({ tile, fields, ...rest }) {
    assert.ok(tile.ms);
    const values = Object.entries(fields).map(([name, { ms, ...others }]) => {
        assert.equal(ms.length, tile.zoom.length, name);
        return [name, others];
    });
    return { ...rest, fields: Object.fromEntries(values) };
}

describe('farlands describe', { timeout: TIMEOUT }, () => {
    it('measures worlds that are level', () => eachRow([
        ['elevation: [[-1, 42], [1, 42]]', { land: 1, height: 42, land_height: 42, slope: 0, relief: 0, way: null, sea: null, ground: 'plain' }],
        ['elevation: [[-1, 700], [1, 700]]', { land: 1, height: 700, land_height: 700, slope: 0, relief: 0, way: null, sea: null, ground: 'plateau' }],
        ['elevation: [[-1, -9], [1, -9]]', { land: 0, height: -9, land_height: null, slope: null, relief: null, way: null, sea: null, ground: 'sea' }],
    ], async ([text, expected]) => {
        const all = (value) => [value, value, value, value, value];
        const found = await described(...world(text), '--places', '4', '--json');
        assert.equal(found.places, expected.land ? 4 : 0);
        assert.equal(found.land, expected.land);
        for (const key of ['height', 'land_height', 'slope'])
            assert.deepEqual(found[key], all(expected[key]), key);
        for (const side of ['256', '1024', '4096', '16384'])
            assert.deepEqual(found.relief[side], all(expected.relief));
        for (const goal of ['climb', 'sea', 'ground'])
            assert.deepEqual(found.way[goal], all(null), goal);
        for (const [name, share] of Object.entries(found.ground))
            assert.equal(share, name === expected.ground ? 1 : 0, name);
        for (const share of [...Object.values(found.steeper), ...Object.values(found.depressions)])
            assert.equal(share, expected.land ? 0 : null);
        for (const form of Object.values(found.form))
            assert.deepEqual(Object.values(form), [0, null, null, null, null, null]);
        assert.deepEqual(Object.keys(found.form), ['mountains', 'hills', 'plains']);
        assert.deepEqual(found.zooms.map(({ zoom }) => zoom), [4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
        for (const { p99, water, next_water } of found.zooms)
            assert.deepEqual([p99, water, next_water], expected.land ? [0, 0, 0] : [null, null, null]);
        assert.deepEqual(Object.keys(found.fields), ['height']);
        assert.deepEqual(found.fields.height.values, all(expected.height));
    }));

    it('prints the same numbers in each run, with any number of threads', async () => {
        const one = await described('--places', '10', '--threads', '1', '--json');
        const two = await described('default', '--places', '10', '--threads', '3', '--json', '--seed', '0');
        const other = await described('--places', '10', '--seed', '18446744073709551615', '--json');
        assert.equal(one.tile.zoom.length, one.tile.ms.length);
        for (const ms of [...one.tile.ms, ...one.tile.heights_ms, ...one.tile.picture_heights_ms])
            assert.ok(Number.isFinite(ms) && ms >= 0, `${ms}`);
        assert.deepEqual(untimed(one), untimed(two));
        assert.equal(other.seed, '18446744073709551615');
        assert.equal(other.fingerprint, one.fingerprint);
        assert.notDeepEqual(other.relief, one.relief);
        assert.ok(Math.abs(other.land - one.land) < 0.05);
    });

    it('measures the first built-in world without any arguments', async () => {
        const { code, stdout, stderr } = await run(['describe', '--places', '3', '--bbox', '-100000,-100000,100000,100000']);
        assert.equal(code, 0, stderr);
        assert.match(stdout.toString(), /^default: fingerprint [0-9a-f]{16}, heights from /);
    });

    it('prints a table of the same numbers', async () => {
        const args = ['--places', '10', '--bbox', '-5000000,-1,5000000,5000000.5'];
        const { relief, way, ...object } = await described(...args, '--json');
        const text = await described(...args);
        const row = (label) => text.match(new RegExp(`^${label} {2,}(.*)$`, 'm'))[1].trim().split(/(?<!>) +/);
        const digits = (number) => number.toFixed([100, 10, 1].filter((bound) => Math.abs(number) < bound).length);
        assert.match(text, new RegExp(`^default: fingerprint ${object.fingerprint}, heights from -6500 to 6000 metres\n` +
            '8192 places in -5000000,-1,5000000,5000000.5, drawn by seed 0; 10 of \\d+ on land looked at closely\n'));
        assert.deepEqual(row('relief within 1024 m, m'), relief[1024].map(digits));
        assert.deepEqual(row('way until the sea, km'), way.sea.map((blocks) => (blocks === null ? '> 1024' : digits(blocks / 1000))));
        assert.ok(way.sea.includes(null), 'no way beyond the limit');
        assert.deepEqual(row('height of land, m'), object.land_height.map(digits));
        for (const [label, key] of [['ridges go on', 'ridge_conn'], ['skewness of curvature', 'lap_skew']]) {
            const cell = ({ [key]: value }) => (value === null ? '-' : digits(value));
            const [mountains, hills, plains] = ['mountains', 'hills', 'plains'].map((kind) => cell(object.form[kind]));
            assert.match(text, new RegExp(`^${label} +${mountains} .* ${hills} .* ${plains} `, 'm'));
        }
        const { p99, water, next_water } = object.zooms[6];
        assert.deepEqual(row('zoom 10'), [p99, 100 * water, 100 * next_water].map(digits));
        assert.ok(text.includes(`ground: sea ${(100 * object.ground.sea).toFixed(1)} %, `));
        assert.equal(row('CPU time of a tile, ms, at zoom').length, object.tile.zoom.length);
    });

    it('prints a table without land', async () => {
        const text = await described(...world('elevation: [[-1, -9], [1, -9]]'));
        assert.match(text, /; 0 of 0 on land/);
        assert.match(text, /^slope of land, degrees( +-){5}$/m);
        assert.match(text, /^steeper than: 10 degrees - %, /m);
        assert.doesNotMatch(text, /nan|inf/i);
    });

    it('takes a world by its name and seed', async () => {
        const config = scratchFile('two.yaml', 'worlds: [{ name: a, seeds: any }, { name: b, elevation: [[-1, 5], [1, 6]] }]');
        await eachRow([
            [[], 'a', 0], [['a'], 'a', 0], [['a:7'], 'a:7', 0], [['b'], 'b', 1],
            [['a:-1'], 'a:18446744073709551615', 0], [['a:hello'], 'a:11831194018420276491', 0],
        ], async ([args, name, land]) => {
            const found = await described(...args, '--config', config, '--places', '1', '--json');
            assert.equal(found.world, name);
            assert.equal(Math.floor(found.land), land);
        });
    });

    it('draws places in a box', async () => {
        const args = ['--bbox', '-4,7,-3,8', '--places', '1', '--json'];
        const { height } = await described(...args);
        assert.equal(height[0], height[4]);
        assert.deepEqual((await described(...args, '--seed', '9')).height, height);
    });

    it('measures one window of form around a box that is smaller', () => eachRow([
        ['mountains', '[[-0.6, 1000], [0.6, 4000]]'],
        ['hills', '[[-0.6, 100], [0.6, 700]]'],
        ['plains', '[[-0.6, 20], [0.6, 120]]'],
    ], async ([kind, elevation]) => {
        const found = await described(...world(`noise: { wavelength: 8000 }\n    elevation: ${elevation}`),
            '--bbox', '-1000,-1000,1000,1000', '--json');
        const { windows, ridge_conn, lap_skew, theta, sunk, valleys } = found.form[kind];
        assert.equal(found.places, 160);
        assert.equal(windows, 1);
        assert.ok(ridge_conn > 0 && ridge_conn < 1 && Math.abs(lap_skew) < 1 && theta > 0 && sunk > 0.02, JSON.stringify(found.form));
        assert.equal(valleys, null);
        for (const other of Object.keys(found.form).filter((name) => name !== kind))
            assert.equal(found.form[other].windows, 0, other);
    }));

    it('measures the headings of rivers', async () => {
        const config = scratchFile('wet.yaml', `worlds:
  - name: wet
    fields:
      ground: { noise: { wavelength: 65536, octaves: 6, elevation: [[-1, -500], [1, 1500]] } }
      valleys: { drain: { of: ground, spacing: 4096, levels: 3 } }
      height: { channel: { of: valleys, drain: valleys } }
      water: { water: { of: height, drain: valleys } }
      river: { river: valleys }
      bank: { bank: valleys }
`);
        const args = ['--config', config, '--places', '4', '--bbox', '-3000,-3000,3000,3000'];
        const { form, water } = await described(...args, '--json');
        assert.ok(form.hills.valleys > 0 && form.hills.valleys < 1, JSON.stringify(form));
        assert.ok(water.chords > 50 && water.hexagonal > 0 && water.hexagonal < 1, JSON.stringify(water));
        const text = await described(...args);
        assert.match(text, new RegExp(`^headings of ${water.chords} chords of rivers, 256 m each: ` +
            `hexagonal share ${water.hexagonal.toFixed(2)}, by chance ${(1 / Math.sqrt(water.chords)).toFixed(2)}$`, 'm'));
    });

    it('rejects invalid usage', () => eachRow([
        [['nowhere'], /WORLD: .*nowhere/],
        [['default:'], /WORLD: .*seed/],
        [['default/relief'], /WORLD: expected NAME or NAME:SEED, not: default\/relief/],
        [['default', 'default'], /unexpected argument: default/],
        [['--places', '0'], /--places: "0"; expected a whole number from 1 to 8192/],
        [['--places', '8193'], /--places: "8193"/],
        [['--places'], /missing value: --places/],
        [['--seed', ' '], /--seed: " "; expected a whole number from -2\^63 to 2\^64-1, or any other text/],
        [['--seed', ''], /--seed: ""/],
        [['--threads', '0'], /--threads/],
        [['--json=1'], /unexpected value: --json/],
        [['--bbox', '0,0,1'], /--bbox: "0,0,1"; expected x0,y0,x1,y1/],
        [['--bbox', '5,0,5,1'], /--bbox: "5,0,5,1" is empty; expected x0 < x1 and y0 < y1/],
        [['--bbox', '0,2,5,1'], /--bbox: .* is empty/],
        [['--bbox', '0,0,5e15,1'], /--bbox/],
        [['--zoom', '3'], /describe does not take: --zoom/],
        [['--config', '/nowhere.yaml'], /nowhere\.yaml/],
        [[...world('seed: 3'), 'a:4'], /WORLD: .*fixed/],
    ], async ([args, message]) => {
        const { code, stdout, stderr } = await run(fractal('describe', ...args));
        assert.equal(code, 2, stderr);
        assert.match(stderr, /^farlands: /);
        assert.match(stderr, message);
        assert.equal(stdout.length, 0);
    }));

    it('measures the fields of a graph', async () => {
        const config = scratchFile('fields.yaml', `worlds:
  - name: a
    fields:
      level: 5
      warmth: { noise: { wavelength: 4096, octaves: 5, elevation: [[-1, -20], [1, 30]] }, unit: degrees }
      double: { add: [warmth, warmth] }
      height: { max: [{ noise: { wavelength: 512, octaves: 4 } }, level] }
`);
        const args = ['--config', config, '--places', '3'];
        const { fields, ...found } = await described(...args, '--json');
        assert.deepEqual(Object.keys(fields), ['level', 'warmth', 'double', 'height']);
        assert.deepEqual(fields.level.values, [5, 5, 5, 5, 5]);
        assert.deepEqual(fields.warmth.unit, 'degrees');
        assert.equal(fields.double.unit, undefined);
        fields.double.values.forEach((value, i) => assert.ok(Math.abs(value - 2 * fields.warmth.values[i]) < 1e-4));
        for (const { range, values } of Object.values(fields))
            assert.ok(range[0] <= values[0] && values[0] <= values[4] && values[4] <= range[1], `${values} in ${range}`);
        assert.deepEqual(fields.height.values, found.height);
        for (const { ms } of Object.values(fields)) {
            assert.equal(ms.length, found.tile.zoom.length);
            assert.ok(ms.every((time) => time > 0), `${ms}`);
        }
        const text = await described(...args);
        assert.match(text, /^level( +5\.00){7}$/m);
        assert.match(text, /^warmth, degrees( +-?[\d.]+){7}$/m);
        assert.match(text, /^ {2}height, by itself( +[\d.]+){7}$/m);
    });

    it('ends at SIGINT', async () => {
        const program = launch(fractal('describe', '--places', '8192'));
        assert.ok(await eventually(() => !program.running || processorTime(program.child.pid) > 100), 'it does not begin');
        assert.ok(program.running, 'it ended by itself');
        program.child.kill('SIGINT');
        const { signal, late, stdout } = await end(program);
        assert.equal(late, false);
        assert.equal(signal, 'SIGINT');
        assert.equal(stdout.length, 0);
    });
});
