// Configured worlds: each depends on its own parameters only.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Daemon, useDaemon, withDaemon } from './daemon.mjs';
import { floats } from './grid.mjs';
import { NAMES } from './layers.mjs';
import { assertSamePixels, decodePng } from './png.mjs';
import { assertError, assertStatus, eachRow } from './table.mjs';
import { BUILT_IN, TIMEOUT, eventually, scratchFile } from './program.mjs';

const DOCUMENTED = fileURLToPath(new URL('../../config/farlands.yaml', import.meta.url));

const TWO = `
listen: 127.0.0.1:0
threads: 2
log: info
cache: { memory: 64M }
limits: { connections: 512, queue: 256 }
worlds:
  - name: first
    seed: 76
  - name: second
    seed: 77
`;

/* Ridged and hybrid noise is never negative. */
const HIGH = '\n    elevation: [[0, 0], [2, 4000]]';

const VARIANTS = {
    plain: '',
    'seed-77': 'seed: 77',
    'seed-max': 'seed: 18446744073709551615',
    'seed-2-32': 'seed: 4294967297',
    'seed-signed': 'seed: -2',
    'seed-text': 'seed: "Rivers & towers"',
    'basis-simplex': 'noise: { basis: simplex }',
    'basis-cellular': 'noise: { basis: cellular }',
    'basis-value': 'noise: { basis: value }',
    'grad-axis4': 'noise: { gradients: axis4 }',
    'grad-diagonal4': 'noise: { gradients: diagonal4 }',
    'grad-unit8': 'noise: { gradients: unit8 }',
    'grad-integer8': 'noise: { gradients: integer8 }',
    'fade-linear': 'noise: { fade: linear }',
    'fade-cubic': 'noise: { fade: cubic }',
    'hash-permutation': 'noise: { hash: permutation }',
    'hash-salted': 'noise: { hash: permutation, octave_salt: true }',
    'fractal-none': 'noise: { fractal: none }',
    'fractal-billow': 'noise: { fractal: billow }\n    elevation: [[-1, -2000], [0, 1000]]',
    'fractal-ridged': `noise: { fractal: ridged }${HIGH}`,
    'ridged-offset': `noise: { fractal: ridged, offset: 1.25 }${HIGH}`,
    'ridged-gain': `noise: { fractal: ridged, gain: 1.5 }${HIGH}`,
    'fractal-hybrid': `noise: { fractal: hybrid }${HIGH}`,
    'hybrid-offset': `noise: { fractal: hybrid, offset: 0.75 }${HIGH}`,
    warp: 'noise: { warp: { amplitude: 500000, wavelength: 1048576 } }',
    'warp-amplitude': 'noise: { warp: { amplitude: 400000, wavelength: 1048576 } }',
    'warp-wavelength': 'noise: { warp: { amplitude: 500000, wavelength: 2097152 } }',
    wrap: 'wrap: true',
    'wrap-8': 'native_zoom: 8\n    wrap: true\n    noise: { wavelength: 4096, octaves: 9 }',
    'octaves-1': 'noise: { octaves: 1, wavelength: 300 }',
    'wavelength-fraction': 'noise: { octaves: 3, wavelength: 1000.5 }',
    'persistence-1': 'noise: { octaves: 4, persistence: 1 }',
    'lacunarity-3': 'noise: { octaves: 5, lacunarity: 3 }',
    elevation: 'elevation: [[-1, -100], [0, 10], [1, 900]]',
    palette: 'palette: [[-4000, "#000000"], [4000, "#FFffff"]]',
    exaggeration: 'exaggeration: 2.5',
    about: 'about: \'A "plain" world \\ with a line: 山\'',
    origin: 'origin: [0, 0]',
    volume: 'volume: { caverns: { size: 0 } }',
};

const ALL = `worlds:\n${Object.entries(VARIANTS)
    .map(([name, line]) => `  - name: ${name}\n    ${line}\n`).join('')}`;

const POINTS = ['x=0&y=0', 'x=0.5&y=-0.5', 'x=-1234567.25&y=7654321', 'x=1099511627776&y=-1099511627776'];
const heights = (daemon, world) => Promise.all(POINTS.map(async (at) =>
    (await daemon.json(`/${world}/height?${at}`)).height));

describe('two worlds', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: TWO });

    it('are the only ones in the catalogue', async () => {
        const { worlds } = await daemon.json('/worlds.json');
        assert.deepEqual(worlds.map(({ name, url }) => [name, url]),
            [['first', 'first.json'], ['second', 'second.json']]);
        assert.notEqual(worlds[0].fingerprint, worlds[1].fingerprint);
        assert.equal((await daemon.get('/default.json')).status, 404);
        assert.equal((await daemon.get('/default/relief/1/0/0.png')).status, 404);
    });

    it('have different tiles', () => eachRow(
        ['relief/10/512/512.png', 'gray/10/512/512.png', 'height/10/512/512.r16', 'height/16/-1/-1.f32'],
        async (tile) => {
            const [a, b] = [await daemon.get(`/first/${tile}`), await daemon.get(`/second/${tile}`)];
            assert.deepEqual([a.status, b.status], [200, 200]);
            assert.notDeepEqual(a.body, b.body);
            assert.notEqual(a.headers.etag, b.headers.etag);
        }));

    it('are uncorrelated', async () => {
        const [a, b] = await Promise.all(['first', 'second'].map(async (world) =>
            floats(await daemon.bytes(`/${world}/height/4/8/8.f32`))));
        const same = a.filter((h, i) => h === b[i]).length;
        assert.ok(same < 200, `${same} of 65536 heights are equal`);
        const mean = (values) => values.reduce((sum, v) => sum + v, 0) / values.length;
        const [ma, mb] = [mean(a), mean(b)];
        let [ab, aa, bb] = [0, 0, 0];
        a.forEach((h, i) => {
            ab += (h - ma) * (b[i] - mb);
            aa += (h - ma) ** 2;
            bb += (b[i] - mb) ** 2;
        });
        const correlation = ab / Math.sqrt(aa * bb);
        assert.ok(Math.abs(correlation) < 0.3, `correlation ${correlation.toFixed(3)}`);
    });

    it('do not depend on which other worlds are configured', async () => {
        const world = await daemon.json('/first.json');
        const alone = await new Daemon({ config: 'worlds:\n  - name: first\n    seed: 76\n' }).start();
        try {
            assert.deepEqual(await heights(alone, 'first'), await heights(daemon, 'first'));
            assert.deepEqual(await alone.json('/first.json'), world);
            assert.deepEqual(await alone.bytes('/first/relief/10/512/512.png'),
                await daemon.bytes('/first/relief/10/512/512.png'));
        } finally {
            await alone.quit();
        }
    });

    it('take the documented values for keys that they omit', async () => {
        const [before, after] = readFileSync(DOCUMENTED, 'utf8').split(/^(?=#worlds:$)/m);
        const config = `${before}${after.replace(/^#/gm, '')}  - name: bare\n`.replace(/^listen:.*/m, '');
        await withDaemon(async (given) => {
            assert.deepEqual(await heights(given, 'bare'), await heights(given, 'mine'));
            const [ours, theirs] = [await given.json('/bare.json'), await given.json('/mine.json')];
            for (const key of ['seed', 'seeds', 'native_zoom', 'origin', 'range', 'noise', 'elevation', 'palette'])
                assert.deepEqual(ours[key], theirs[key], key);
        }, { config });
    });
});

describe('built-in worlds', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ builtIn: true });
    const named = async (other) => Object.fromEntries((await other.json('/worlds.json')).worlds.map((world) => [world.name, world]));

    it('are served without a configuration, with any seed', async () => {
        const worlds = await named(daemon);
        assert.deepEqual(Object.keys(worlds), BUILT_IN);
        for (const name of BUILT_IN) {
            assert.equal(worlds[name].seeds, 'any');
            for (const world of [name, `${name}:18446744073709551615`]) {
                assert.ok((await daemon.json(`/${world}.json`)).fields.height);
                assertStatus(await daemon.get(`/${world}/relief/12/2048/2048.png`), 200);
            }
        }
    });

    it('are those of config/farlands.yaml and of a file without worlds', () => eachRow([
        ['the documented file', { args: ['--config', DOCUMENTED] }],
        ['other keys', { args: ['--config', scratchFile('threads.yaml', 'threads: 2\n')] }],
    ], ([, options]) => withDaemon(async (other) => assert.deepEqual(await named(other), await named(daemon)), options)));

    it('give their values to worlds that are like them', () => withDaemon(async (other) => {
        const worlds = await named(other), alps = (await named(daemon)).alps;
        assert.deepEqual(Object.keys(worlds), ['alps', 'mine']);
        assert.deepEqual(worlds.alps, alps);
        assert.equal(worlds.mine.seeds, 'any');
        const at = '/height?x=123.5&y=-4567';
        assert.deepEqual(await other.json(`/mine${at}`), await daemon.json(`/alps:77${at}`));
    }, { config: 'worlds:\n  - like: alps\n  - name: mine\n    like: alps\n    seed: 77\n' }));
});

describe('very many worlds', { timeout: TIMEOUT }, () => {
    const COUNT = 1000;
    const daemon = useDaemon({
        config: `worlds:\n${Array.from({ length: COUNT }, (_, i) => `  - { like: alps, name: w${i}, seed: 5, seeds: fixed }\n`).join('')}`,
    });

    /* The descriptions of the first sixteen are made beforehand, those of others when they are requested. */
    it('have descriptions that differ in nothing but their names', async () => {
        const first = (await daemon.bytes('/w0.json')).toString();
        await eachRow([1, 15, 16, 17, COUNT - 1], async (i) => {
            const target = `/w${i}.json`;
            const { headers, body } = await daemon.get(target);
            assert.ok(body.toString() === first.replace(/\bw0\b/g, `w${i}`), 'differs in more');
            assert.equal(headers['farlands-fingerprint'], JSON.parse(first).fingerprint);
            for (const coding of ['identity', 'gzip', 'zstd']) {
                let coded;      // a loop without time to compress leaves a document as it is
                assert.ok(await eventually(async () => {
                    coded = (await daemon.head(target, { 'Accept-Encoding': coding })).headers;
                    return (coded['content-encoding'] ?? 'identity') === coding;
                }), `never has ${coding}`);
                assert.equal(coded['cache-control'], 'no-cache');
                assertStatus(await daemon.get(target, { 'Accept-Encoding': coding, 'If-None-Match': coded.etag }), 304);
            }
        });
    });
});

describe('the command line', { timeout: TIMEOUT }, () => {
    it('overrides the configured address, but need not give one', async () => {
        const configured = await new Daemon({ config: TWO, listen: false }).start();
        const { port } = configured;
        await configured.quit();
        const config = TWO.replace('127.0.0.1:0', `127.0.0.1:${port}`);
        const daemon = await new Daemon({ config }).start();
        await daemon.bytes('/healthz');
        await daemon.quit();
        assert.notEqual(daemon.port, port);
    });
});

describe('worlds of every kind', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: ALL });
    const names = Object.keys(VARIANTS);

    it('have different fingerprints, except of what does not differ', async () => {
        const { worlds } = await daemon.json('/worlds.json');
        assert.deepEqual(worlds.map(({ name }) => name), names);
        const version = (url) => url.match(/v=(\w+)$/)[1];
        const layer = (name) => ({ layers }) => layers.find((one) => one.name === name).fingerprint;
        /* The worlds that have the fingerprint of `plain`. */
        await eachRow([
            [({ fingerprint }) => fingerprint, ['palette', 'exaggeration', 'about', 'origin', 'volume']],
            [({ urls }) => version(urls.region), ['palette', 'exaggeration', 'about', 'origin', 'volume']],
            [({ urls }) => version(urls.volume), ['palette', 'exaggeration', 'about', 'origin']],
            [layer('relief'), ['about', 'volume']],
            [layer('terrarium'), ['palette', 'exaggeration', 'about', 'volume']],
            [layer('hillshade'), ['palette', 'about', 'volume']],
        ], ([of, shared]) => {
            const owners = new Map();
            for (const world of worlds) {
                const owner = owners.get(of(world));
                assert.equal(owner, shared.includes(world.name) ? 'plain' : undefined, world.name);
                if (!owner)
                    owners.set(of(world), world.name);
            }
        });
    });

    it('have heights of their own, within the range', () => eachRow(names, async (name) => {
        const world = await daemon.json(`/${name}.json`);
        const [min, max] = world.range;
        const samples = floats(await daemon.bytes(`/${name}/height/10/512/511.f32`));
        assert.ok(samples.every((h) => h >= min && h <= max), 'outside the range');
        assert.ok(new Set(samples).size > 1000, 'flat');
        decodePng(await daemon.bytes(`/${name}/relief/10/512/511.png`));
        const plain = floats(await daemon.bytes('/plain/height/10/512/511.f32'));
        if (!['plain', 'palette', 'exaggeration', 'about', 'volume'].includes(name))
            assert.notDeepEqual(samples, plain, 'the heights of the default world');
        else
            assert.deepEqual(samples, plain);
    }));

    it('say what they are, if the configuration does', async () => {
        const about = 'A "plain" world \\ with a line: 山';
        const { worlds } = await daemon.json('/worlds.json');
        assert.deepEqual(worlds.filter((world) => 'about' in world).map((world) => [world.name, world.about]), [['about', about]]);
        assert.equal((await daemon.json('/about.json')).about, about);
        assert.ok(!('about' in await daemon.json('/plain.json')));
        assert.ok((await daemon.json('/about/relief.json')).description.endsWith(`terrain: ${about}`));
        assert.ok((await daemon.json('/plain/relief.json')).description.endsWith('terrain'));
    });

    it('list their parameters', async () => {
        const { wrap, noise } = await daemon.json('/warp.json');
        assert.equal(wrap, false);
        assert.deepEqual(noise, {
            basis: 'perlin', gradients: 'unit256', fade: 'quintic', hash: 'mix64', octave_salt: false,
            fractal: 'fbm', wavelength: 1048576, octaves: 21, persistence: 0.55, lacunarity: 2,
            offset: 1, gain: 2, warp: { amplitude: 500000, wavelength: 1048576 },
        });
        assert.equal((await daemon.json('/wrap.json')).wrap, true);
        assert.deepEqual((await daemon.json('/volume.json')).volume.caverns, {
            size: 0, cover: 32, wavelength: 128, octaves: 3, persistence: 0.5, lacunarity: 2, squash: 2,
        });
    });

    it('repeat with the window if wrap is true', () => eachRow(
        [['wrap', 2n ** 24n], ['wrap-8', 2n ** 16n]],
        async ([name, window]) => {
            const at = (world, x, y) => daemon.json(`/${world}/height?x=${x}&y=${y}`)
                .then(({ height }) => height);
            const [x, y] = [12345n, -6789n];
            const here = await at(name, x, y);
            for (const [i, j] of [[1n, 0n], [0n, -1n], [-3n, 5n], [2n ** 20n, 2n ** 20n]])
                assert.equal(await at(name, x + i * window, y + j * window), here, `${i}, ${j} windows away`);
            assert.notEqual(await at(name, x + window / 2n, y), here);
            assert.notEqual(await at(name, x, y + window / 2n), here);
            assert.notEqual(await at('plain', x + window, y), await at('plain', x, y));
            // Pictures repeat, too: a tile beyond one edge is the tile at the opposite edge.
            assertSamePixels(await daemon.bytes(`/${name}/relief/3/8/3.png`),
                await daemon.bytes(`/${name}/relief/3/0/3.png`));
        }));

    it('give their seeds with all digits', () => eachRow(
        [['seed-max', '18446744073709551615'], ['seed-2-32', '4294967297'], ['seed-77', '77'],
            ['seed-signed', '18446744073709551614'], ['seed-text', '10180851224283138830']],
        async ([name, seed]) => assert.equal((await daemon.json(`/${name}.json`)).seed, seed)));

    it('use their palettes', async () => {
        const { samples } = decodePng(await daemon.bytes('/palette/relief/10/512/511.png'));
        let tint = 0;
        samples.forEach((value, i) => { tint += Math.abs(value - samples[i - i % 3]); });
        // The light may be slightly tinted, but the sea of the default palette is far from gray.
        assert.ok(tint / samples.length < 6, `a gray palette shows colors: ${tint / samples.length}`);
    });
});

describe('worlds with a list of layers', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config: `worlds:
  - name: all
  - name: few
    layers: [normal, relief]        # in any order
  - name: deep
    elevation: [[-0.5, -20000], [0.5, 900000]]
    layers: [height, gray]
` });
    const served = { all: NAMES, few: ['relief', 'normal'], deep: ['gray', 'height'] };
    const rows = Object.keys(served).flatMap((world) => NAMES.map((layer) => [world, layer]));

    it('list only those', async () => {
        const { worlds } = await daemon.json('/worlds.json');
        const names = ({ layers }) => layers.map(({ name }) => name);
        assert.deepEqual(Object.fromEntries(worlds.map((world) => [world.name, names(world)])), served);
        for (const world of Object.keys(served))
            assert.deepEqual(names(await daemon.json(`/${world}.json`)), served[world]);
    });

    it('return 404 for other layers, and name the layer', () => eachRow(rows, async ([world, layer]) => {
        for (const url of [`${layer}/10/512/512.png`, `${layer}/10/512/512@2x.png`, `${layer}.json`]) {
            const answer = await daemon.get(`/${world}/${url}`);
            if (served[world].includes(layer))
                assertStatus(answer, 200);
            else
                assertError(answer, 404, new RegExp(`^layer: .*not serve "${layer}"`));
        }
    }));

    it('have the same fingerprint, ETags and pixels as with all layers', async () => {
        const [all, few] = [await daemon.json('/all.json'), await daemon.json('/few.json')];
        assert.equal(few.fingerprint, all.fingerprint);
        await eachRow(served.few, async (layer) => {
            const [a, b] = await Promise.all(['all', 'few'].map((world) =>
                daemon.get(`/${world}/${layer}/10/511/512.png`)));
            assert.deepEqual(a.body, b.body);
            assert.equal(a.headers.etag, b.headers.etag);
            const { fingerprint } = all.layers.find(({ name }) => name === layer);
            const version = `/few/${layer}/10/511/512.png?v=${fingerprint}`;
            assert.match((await daemon.get(version)).headers['cache-control'], /immutable/);
        });
        // Their documents differ, since they list the layers.
        const etag = async (name) => (await daemon.get(`/${name}.json`)).headers.etag;
        assert.notEqual(await etag('few'), await etag('all'));
    });

    it('still serve /height', async () => {
        assert.equal(typeof (await daemon.json('/few/height?x=0&y=0')).height, 'number');
    });
});

/* Terrains, and the zoom that shows a few of their broadest features. */
const FIRST = [
    ['a noise', 'noise: { wavelength: 4096 }', 14],
    ['the broadest of several', 'fields: { hills: { noise: { wavelength: 512, octaves: 5 } }, height: { add: [{ multiply: [hills, { noise: { wavelength: 4096, octaves: 5 } }] }, { noise: { wavelength: 64, octaves: 5 } }] } }', 14],
    ['a noise that moves another', 'fields: { height: { noise: { wavelength: 64, octaves: 2, move: { x: { noise: { wavelength: 4096, octaves: 5 } }, y: 0, by: 30 } } } }', 14],
    ['an erosion', 'fields: { height: { erode: { of: 5, wavelength: 4096, octaves: 3 } } }', 14],
    ['waves, which are no noise', 'fields: { height: { add: [{ wave_y: { wavelength: 1048576 } }, { noise: { wavelength: 4096, octaves: 5 } }] } }', 14],
    ['no noise', 'fields: { height: 5 }', 16],
];

describe('first views of worlds', { timeout: TIMEOUT }, () => {
    const worlds = FIRST.map(([, terrain], i) => `  - name: world${i}\n    native_zoom: 16\n    ${terrain}`);
    const daemon = useDaemon({ config: `worlds:\n${worlds.join('\n')}` });

    it('show their broadest noise', () => eachRow(FIRST.map(([, , first], i) => [i, first]), async ([i, first]) => {
        assert.equal((await daemon.json(`/world${i}.json`)).limits.first, first);
    }));
});

describe('the sample worlds', { timeout: TIMEOUT }, () => {
    const directory = new URL('../../config/worlds/', import.meta.url);
    const files = readdirSync(directory).filter((name) => name.endsWith('.yaml'));

    it('show land and sea in the initial view of the viewer', () => eachRow(files, async (file) => {
        const daemon = await new Daemon({ retries: true, config: readFileSync(new URL(file, directory), 'utf8') }).start();
        try {
            const { worlds } = await daemon.json('/worlds.json');
            assert.deepEqual(worlds.map(({ name }) => `${name}.yaml`), [file]);
            const world = await daemon.json(`/${worlds[0].name}.json`);
            const [min, max] = world.range;
            // At this zoom four cells of the broadest noise span about one tile, if steps are long enough; from zoom 1 on four tiles meet at block [0, 0].
            const zoom = world.limits.first - 4;
            const middle = Math.floor(2 ** (zoom - 1));
            /* Heights with every octave take long at such zooms, and longer with rivers. */
            const side = JSON.stringify(world.fields ?? {}).includes('"drain"') ? 8 : 64;
            const step = Math.min(256 / side * 2 ** (world.native_zoom - zoom), 2 ** 20);
            const heights = [];
            /* In eight parts, which slow builds answer in time, too. */
            for (let row = 0; row < side; row += side / 8)
                heights.push(...floats(await daemon.bytes(`/${world.name}/region.f32?x=0&y=${row * step}` +
                    `&width=${side}&height=${side / 8}&step=${step}`)));
            assert.ok(heights.some((h) => h < 0) && heights.some((h) => h > 0), 'no coast');
            const clamped = heights.filter((h) => h === min || h === max).length;
            assert.ok(clamped < heights.length / 50, `${clamped} heights at the ends of the range`);
            const { samples } = decodePng(
                await daemon.bytes(`/${world.name}/relief/${zoom}/${middle}/${middle}.png`));
            const colors = new Set();
            for (let i = 0; i < samples.length; i += 3)
                colors.add(samples[i] << 16 | samples[i + 1] << 8 | samples[i + 2]);
            assert.ok(colors.size > 100, `${colors.size} colors`);
        } finally {
            await daemon.quit();
        }
    }));
});
