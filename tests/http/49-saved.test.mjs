// Saved worlds: a daemon's document at /{world}.json is a file for serve, check-config and `worlds:`.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { useDaemon, withDaemon } from './daemon.mjs';
import { TIMEOUT, run, scratch } from './program.mjs';
import { assertStatus, eachRow } from './table.mjs';

const WORLDS = `
worlds:
  - like: default
  - like: alps
    layers: [relief, height, field]
  - name: plain
    noise: { wavelength: 4096, octaves: 6 }
    elevation: [[-0.5, -100], [0.5, 321.0625]]
    origin: [-0.5, 1024]
    native_zoom: 12
    wrap: true
    palette: [[-100, "#102030"], [300.5, "#fafafa"]]
    exaggeration: 2.5
    about: 'A "plain" world: \\ and ü'
`;

/* Tiles, a region and a place of a world whose zoom 8 has relief. */
const urlsOf = (world) => ['relief/8/3/4.png', 'relief/8/3/4@2x.webp', 'height/8/5/5.r16', 'field.height/8/5/5.f32', 'normal/8/1/1.png']
    .map((tile) => `/${world}/${tile}`).concat(`/${world}/region.f32?x=100&y=-200&width=9&height=7`,
    `/${world}/volume.f32?x=1&y=2&z=3&width=3&height=3&depth=3`, `/${world}/height?x=12.5&y=-3`);

describe('saved worlds', { timeout: TIMEOUT }, () => {
    const origin = useDaemon({ config: WORLDS });
    const directory = scratch();
    const file = (name) => path.join(directory, name);
    const write = (name, text) => fs.writeFileSync(file(name), text);
    const saved = (name) => fs.readFileSync(file(name), 'utf8');

    before(async () => {
        for (const world of ['default', 'alps', 'plain', 'default:42'])
            write(`${world}.json`, await origin.bytes(`/${world}.json`));
    });

    const failing = async (args) => {
        const { code, stderr } = await run(args);
        return { code, stderr: String(stderr) };
    };

    /* DAEMON's WORLD is OTHER of the first daemon: its description, and each response with its ETag. */
    async function assertSame(daemon, world, other = world) {
        for (const url of urlsOf(world)) {
            const [answer, expected] = [await daemon.get(url), await origin.get(url.replace(world, other))];
            assertStatus(answer, expected.status);
            for (const header of ['content-type', 'etag', 'farlands-fingerprint', 'farlands-range'])
                assert.equal(answer.headers[header], expected.headers[header], `${url}: ${header}`);
            if (expected.status === 200)
                assert.deepEqual(answer.body, expected.body, url);
        }
    }

    it('are served as they were', () => eachRow(['default', 'alps', 'plain'], (world) =>
        withDaemon(async (daemon) => {
            assert.deepEqual((await daemon.json('/worlds.json')).worlds.map(({ name }) => name), [world]);
            assert.deepEqual(await daemon.json(`/${world}.json`), JSON.parse(saved(`${world}.json`)));
            await assertSame(daemon, world);
        }, { args: ['--world', file(`${world}.json`)] })));

    it('may be of another seed, which the name loses', () => withDaemon(async (daemon) => {
        assert.equal((await daemon.json('/default.json')).seed, '42');
        await assertSame(daemon, 'default', 'default:42');
    }, { builtIn: true, args: ['--config', file('default:42.json')] }));

    it('are worlds of a configuration, beside it, with keys of their own', async () => {
        fs.mkdirSync(file('conf'));
        write('conf/mine.yaml', `worlds:\n  - file: ../plain.json\n  - { file: "${file('default:42.json')}", name: other, layers: [relief] }\n` +
            '  - { file: ../alps.json, seed: 9, name: ninth, about: "" }\n  - like: archipelago\n');
        await withDaemon(async (daemon) => {
            const { worlds } = await daemon.json('/worlds.json');
            assert.deepEqual(worlds.map(({ name, seed }) => [name, seed]).slice(0, 3),
                [['plain', worlds[0].seed], ['other', '42'], ['ninth', '9']]);
            assert.deepEqual(worlds[1].layers.map(({ name }) => name), ['relief']);
            await assertSame(daemon, 'plain');
            const url = '/ninth/relief/8/3/4.png';
            assert.deepEqual(await daemon.bytes(url), await origin.bytes('/alps:9/relief/8/3/4.png'));
        }, { builtIn: true, args: ['--config', file('conf/mine.yaml')] });
    });

    it('are checked', async () => {
        const { code, stdout } = await run(['check-config', file('plain.json')]);
        assert.equal(code, 0);
        const { fingerprint } = JSON.parse(saved('plain.json'));
        assert.match(String(stdout), new RegExp(`^plain: fingerprint ${fingerprint}, heights from .* layers relief `));
    });

    it('are refused with the reason', async () => {
        const text = saved('plain.json');
        const bad = {
            truncated: [text.slice(0, 900), /:1: not YAML: .*end of stream/],
            tilejson: [await origin.bytes('/default/relief.json'), /generator: missing; expected the complete document .*\/\{world\}\.json/],
            worlds: [await origin.bytes('/worlds.json'), /a list of worlds; expected a configuration or the complete document/],
            newer: [text.replace('"generator":2', '"generator":4'), /generator: document was made by generator 4; expected 2 or 3/],
            unknown: [text.replace('"wrap"', '"sway"'), /sway: unknown key, which may change the heights/],
            deeper: [text.replace('"octaves"', '"octavos"'), /noise\.octavos: unknown key; expected one of/],
            value: [text.replace('"wrap":true', '"wrap":7'), /wrap: got "7"; expected/],
            palette: [text.replace('"#102030"', '"red"'), /palette\[0\]: got "red"/],
            name: [text.replace('"name":"plain"', '"name":"a:b"'), /name: got "a:b"/],
            nameless: [text.replace('"name":"plain",', ''), /unknown key; expected one of listen/],
            list: ['[]', /not a mapping/],
            like: [text.replace('{', '{"like":"alps",'), /like: unknown key/],
            file: [text.replace('{', '{"file":"plain.json",'), /file: unknown key/],
        };
        await eachRow(Object.entries(bad), async ([name, [content, why]]) => {
            write(`${name}.json`, content);
            for (const args of [['check-config', file(`${name}.json`)], ['serve', '--world', file(`${name}.json`)]]) {
                const { code, stderr } = await failing(args);
                assert.equal(code, 2);
                assert.match(stderr, why);
                assert.ok(stderr.includes(`${name}.json:1: `), stderr);
            }
            write(`${name}.yaml`, `worlds: [{ file: ${name}.json }]`);
            const { code, stderr } = await failing(['check-config', file(`${name}.yaml`)]);
            assert.equal(code, 2);
            assert.ok(stderr.includes(`/${name}.yaml:1: worlds[0].file: ${name}.json:1: `), stderr);
        });
    });

    it('must be files', () => eachRow([
        [['serve', '--world', file('nothing.json')], /nothing\.json: cannot be read: No such file/],
        [['serve', '--world', 'default'], /default: cannot be read/],
        [['serve', '--world', '/dev/null'], /\/dev\/null: a configuration; expected a saved \/\{world\}\.json, or --config/],
        [['serve', '--world', file('mine.yaml')], /mine\.yaml: a configuration; expected/, 'worlds: [{ like: alps }]'],
        [['serve', '--world', 'a.json', '--config', 'b.yaml'], /--world cannot be combined with --config: .*\{ file: a\.json \}/],
        [['check-config', file('mine.yaml')], /mine\.yaml:1: worlds\[0\]\.file: nothing\.json: cannot be read/, 'worlds: [{ file: nothing.json }]'],
        [['check-config', file('mine.yaml')], /mine\.yaml:1: worlds\[0\]\.file: not with `like`/, 'worlds: [{ file: plain.json, like: alps }]'],
        [['check-config', file('mine.yaml')], /worlds\[0\]\.file: got a list of 1; expected the path/, 'worlds: [{ file: [plain.json] }]'],
        [['check-config', file('mine.yaml')], /worlds\[0\]\.file: got "a\?b"; expected the path/, 'worlds: [{ file: "a\\tb" }]'],
        [['check-config', file('mine.yaml')], /worlds\[0\]\.file: got ""; expected the path/, 'worlds: [{ file: "" }]'],
        [['check-config', file('mine.yaml')], /mine\.yaml:1: generator: missing/, 'worlds: [{ file: mine.yaml }]\nname: x'],
        [['check-config', file('mine.yaml')], /empty\.json:1: empty; expected the complete document/, 'worlds: [{ file: empty.json }]'],
        [['check-config', file('mine.yaml')], /worlds\[1\]\.name/, 'worlds: [{ file: plain.json }, { file: plain.json }]'],
    ], async ([args, why, text]) => {
        write('empty.json', '');
        write('mine.yaml', text ?? '');
        const { code, stderr } = await failing(args);
        assert.equal(code, 2);
        assert.match(stderr, why);
    }));
});
