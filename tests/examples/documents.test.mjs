// Runs the examples in all documents as they are written. A table says how each is tried, or which other test tries it;
// an example without a row fails.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { blocks } from '../clients/readme.mjs';
import { Daemon, useDaemon } from '../http/daemon.mjs';
import { floats } from '../http/grid.mjs';
import { NAMES } from '../http/layers.mjs';
import { decodePng } from '../http/png.mjs';
import { BINARY, patience, scratch } from '../http/program.mjs';
import { eachRow } from '../http/table.mjs';

const exec = promisify(execFile);
const TREE = fileURLToPath(new URL('../..', import.meta.url));

/* Where the examples run: as in a checkout, with the library installed in HOME/farlands. */
const here = scratch();
const file = (name) => path.join(here, name);
const environment = { ...process.env, no_proxy: '*', LANG: 'en', HOME: here, XDG_CACHE_HOME: file('.cache'),
    XDG_CONFIG_HOME: here, XDG_DATA_HOME: here, PATH: `${file('build')}:${process.env.PATH}`,
    PKG_CONFIG_PATH: file('farlands/lib/pkgconfig'), LD_LIBRARY_PATH: file('farlands/lib') };

/* An HTTP error fails the command. No other user, and no systemd, is needed. */
const SHELL = `set -o pipefail
    curl() { command curl --fail --silent --show-error "$@"; }
    sudo() { shift 2; "$@"; }
    systemd-run() { while [[ $1 == -* ]]; do [ "$1" != -p ] || shift; shift; done; "$@"; }`;

async function bash(script, cwd = here) {
    const { stdout } = await exec('bash', ['-ec', `${SHELL}\n${script}`],
        { cwd, timeout: patience(300000), env: environment }).catch((error) =>
        assert.fail(`${error.message}\n${error.stdout}`));
    return stdout;
}

/* --- How an example is tried ----------------------------------------------------- */

/* Not for a program to read: a picture, a formula, a fragment, something for a text editor. */
const text = () => {};

/* FILE tries it. */
const by = (name) => () => assert.ok(existsSync(path.join(TREE, name)), `${name} is missing`);

/* Run the commands. Lines of JSON are their output. */
async function run(block) {
    const lines = block.split('\n');
    const printed = lines.filter((line) => line.startsWith('{'));
    const stdout = await bash(lines.filter((line) => !line.startsWith('{')).join('\n'));
    if (printed.length)
        assert.deepEqual(stdout.trim().split(/\n|(?<=\})(?=\{)/), printed);
    return stdout;
}

/* The same for a request that gets an error. */
const refused = (block) => run(block.replace('curl ', 'curl --no-fail '));

/* Run them with fewer zooms, for less time, and with directories of this test. */
const shorter = (block) => run(block.replace(/--zoom 0-\d/g, '--zoom 0-2').replace('-t 10', '-t 1')
    .replaceAll('/etc/farlands', file('etc')).replaceAll('/var/cache/farlands', file('var'))
    .replaceAll('/var/log/farlands', here)
    .replaceAll('/srv/maps', here));

/* The same for new.yaml; tiles of the world before are known from the cache or the access log. */
async function renders(block) {
    write('new.yaml')('worlds: [{ name: default, seed: 7 }]');
    const output = await shorter(`exec 2>&1\n${block}`);
    assert.match(output, /tiles are in the cache.*: [1-9]\d* rendered/);
}

/* Run the lines that begin with a prompt. */
const session = (block) => shorter([...block.matchAll(/^\$ (.*)/gm)].map(([, line]) => line).join('\n'));

/* The same, and compare the output. */
async function exactSession(block) {
    assert.equal(await session(block), `${block.replace(/^\$ .*\n/gm, '')}\n`);
}

/* The same; dots at the end of a line stand for the rest of the layers. */
async function layersSession(block) {
    const layers = NAMES.join(' ');
    await exactSession(block.replace(/, layers (.*) \.\.\.$/gm, (text, first) => {
        assert.ok(layers.startsWith(`${first} `), first);
        return `, layers ${layers}`;
    }));
}

/* The same, but for times, which come last. */
async function measured(block) {
    const stable = (text) => text.replace(/\n\nCPU time[^]*$/, '');
    assert.equal(stable(await session(block)), stable(block.replace(/^\$ .*\n/gm, '')));
}

/* Serve until it is ready; the lines before that are run. */
async function serve(block) {
    const lines = block.split('\n'), arguments_ = lines.pop().replace(/^build\/farlands serve /, '').split(' ');
    await run(lines.join('\n'));
    const files = arguments_.map((word) => (existsSync(file(word)) ? file(word) : word));
    const daemon = await new Daemon({ args: files }).start();
    await daemon.stop();
}

const write = (name) => (block) => writeFileSync(file(name), `${block}\n`);

/* A configuration, or some keys of a world. */
async function config(block) {
    const whole = /^(worlds|public_url):/.test(block);
    write('config.yaml')(whole ? block : `worlds:\n  - name: a\n${block.replace(/^/gm, '    ')}`);
    await run('build/farlands check-config config.yaml');
}

/* The message about mine.yaml if it has the value that the message names. */
async function message(block) {
    const mine = readFileSync(file('mine.yaml'), 'utf8');
    write('mine.yaml')(mine.replace(/octaves: \d+/, 'octaves: 65').trimEnd());
    const { stderr, code } = await exec(BINARY, ['check-config', 'mine.yaml'], { cwd: here }).catch((error) => error);
    writeFileSync(file('mine.yaml'), mine);
    assert.equal(code, 2);
    assert.equal(stderr, `${block}\n`);
}

/* C that compiles in a function with these PARAMETERS. */
const fragment = (...parameters) => async (block) => {
    write('fragment.c')(`#include <farlands.h>\nvoid f(${parameters});\nvoid f(${parameters})\n{\n${block}\n}`);
    await run('cc -Wall -Werror -Wno-unused-variable -fsyntax-only fragment.c $(pkg-config --cflags farlands)');
};

/* The height of (12.5, -3), which an example prints. */
const PRINTED = /which prints (-?[\d.]+):/.exec(readFileSync(path.join(TREE, 'server/CLIENTS.md'), 'utf8'))[1];

/* A module in a page that tells a server of this test the height of (12.5, -3) in the end. */
async function page(block) {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const told = once(server, 'request', { signal: AbortSignal.timeout(patience(300000)) });
    write('page.html')(`<!doctype html><body><script type="module">\n${block}
        new Image().src = 'http://127.0.0.1:${server.address().port}/' + terrain.height(units('12.5'), units(-3));</script>`);
    const browser = spawn(process.env.CHROMIUM ?? '/usr/bin/chromium', ['--headless', '--no-sandbox', '--disable-gpu',
        `--user-data-dir=${file('chromium')}`, '--remote-debugging-port=0', `file://${file('page.html')}`],
    { stdio: 'ignore', env: environment });
    const ended = once(browser, 'exit');
    try {
        const [{ url }] = await Promise.race([told, ended.then(() => [{ url: 'the browser ended' }])]);
        assert.equal(url, `/${PRINTED}`);
    } finally {
        browser.kill();
        await ended;
        server.close();
    }
}

/* A module for Node, which the commands before it have downloaded the files for. */
async function nodeModule(block) {
    write('heights.mjs')(block);
    assert.equal(await run(`${process.env.NODE ?? process.execPath} heights.mjs`), `${PRINTED}\n`);
}

/* The files and programs of the tree that the commands name exist. */
function names(block) {
    for (const [, word, unit] of block.matchAll(/(?<![\w./-])((?:build\/(?:thread\/)?)?((?:tests|docker|config)\/[\w./-]*\w))/g)) {
        const source = word.startsWith('build/') ? `${unit.replace(/\.so$/, '')}.c` : unit;
        assert.ok(existsSync(path.join(TREE, source)), `${source} is missing`);
    }
}

/* --- The examples: how each begins, and how it is tried ---------------------------- */

const ENGINES = by('tests/examples/engines.test.mjs');
const EXAMPLES = {
    'README.md': [
        ['make run', names],
        ['curl -O http://127.0.0.1:8080/default/relief', run],
        ['curl --parallel', run],
        ['curl http://127.0.0.1:8080/worlds.json', run],
        ['<!doctype html>', by('tests/clients/leaflet.test.mjs')],
        ['curl "http://127.0.0.1:8080/default/height', run],
        ['struct farlands_world', fragment('const char *text', 'size_t length')],
        ['cc -o heights', run],
        ['worlds:', config],
        ['build/farlands serve --config config/worlds/ridges.yaml', serve],
    ],
    'config/README.md': [
        ['worlds:', write('mine.yaml')],
        ['build/farlands check-config mine.yaml', serve],
        ['{"worlds":"', by('tests/http/39-watch.test.mjs')],
        ['curl -O http://127.0.0.1:8080/default.json', serve],
        ['worlds:\n  - file', config],
        ['noise: {', config],
        ['(x, y) -> warp', text],
        ['worlds:', write('isles.yaml')],
        ['build/farlands tile isles/', run],
        ['fields:', config], ['fields:', config], ['fields:', config], ['fields:', config], ['fields:', config],
        ['$ build/farlands check-config', layersSession],
        ['farlands: mine.yaml:4', message],
        ['$ build/farlands describe', measured],
        ['INTEGER("greeting"', text], ['{"snow"', text],
        ['make fmt docs', names],
    ],
    'noise/README.md': [
        ['#include <farlands.h>', write('chunk.c')],
        ['cc -o chunk', async (block) => assert.equal(await run(`${block}\n./chunk`), '251.70 m in the middle\n')],
        ['add_subdirectory', by('tests/proofs/library.sh')],
        ['cmake -S noise', by('tests/proofs/windows.sh')],
        ['cell = floor', text],
        ['q p\' gx', text],
        ['along =', text],
        ['n = q0', text],
        ['/*', text], ['case FARLANDS_PYRAMID', text], ['static inline REAL', text], ['static void REAL_NAME(pyramid_line)', text],
        ['static inline void REAL_NAME(pyramid_points)', text], ['static struct dual pyramid_dual', text],
        ['make build/tests/unit/noise', names],
        ['/* The distance', text], ['case GRAPH_FOLD', text], ['case GRAPH_FOLD', text], ['static inline float fold', text],
        ['case GRAPH_FOLD', text], ['static inline void sample_fold', text], ['KEYS(FOLD', text],
        ['make build/tests/unit/noise', names],
    ],
    'noise/evaluate/README.md': [['graph/   program', text], ['country:', text]],
    'noise/water/README.md': [['level 0', text], ['drain.c', text], ['land:', text]],
    'server/README.md': [
        ['curl -o wmts.png', run],
        ['curl "http://127.0.0.1:8080/default/region.f32', refused],
        ['curl -O', run],
        ['curl -o chunk.f32', run],
        ['curl -o box.f32', run],
        ['curl "http://127.0.0.1:8080/default/height', run],
        ['curl "http://127.0.0.1:8080/default/spawn', run],
        ['curl "http://127.0.0.1:8080/wet/downstream', by('tests/http/50-water.test.mjs')],
        ['public_url:', config],
        ['main  ', text],
        ['net -> http', text], ['          free within 10 ms?', text],
    ],
    'server/CLIENTS.md': [
        ['#world', text],
        ['<link', by('tests/clients/maplibre.test.mjs')],
        ['gdal_translate -projwin', by('tests/clients/gdal.test.mjs')],
        ['<VRTDataset', by('tests/clients/gdal.test.mjs')],
        ['gdal_translate -srcwin', by('tests/clients/gdal.test.mjs')],
        ['import rasterio', by('tests/clients/gdal.test.mjs')],
        ['build/farlands render', run], ['build/farlands render', run],
        ['maplibregl.addProtocol', by('tests/clients/pmtiles.test.mjs')],
        ['cd tests/examples/streaming', shorter],
        ['curl -o ground.raw', ENGINES],
        ['curl -o ground.png', ENGINES],
        ['FARLANDS_URL=', run],
        ['curl -D terrain3d.txt', ENGINES],
        ['curl -o luanti.f32', ENGINES],
        ['curl -o chunk.f32', ENGINES],
        ['struct farlands_world', fragment('const char *text', 'size_t length', 'float metres')],
        ['cc -o world', run],
        ['make install-lib', text],      // before() runs it
        ['import { loadTerrain', page],
        ['curl -o farlands.mjs', (block) => run(block.replace('node heights.mjs', ''))],
        ['import { readFile', nodeModule],
    ],
    'server/viewer/README.md': [
        ['#world', text],
        ['import { loadTerrain', page],
    ],
    'server/cache/README.md': [
        ['tile_writer', text], ['{fingerprint}', text], ['length 16', text], ['a put', text], ['least =', text],
    ],
    'tests/README.md': [
        ['make build/tests/unit', names],
        ['await frozen', text],
        ['const clients = load', text],
        ['4a: hot', text],
        ['4a: before', text],
        ['make check-attacks', names],
        ['make check-memory-http', names],
        ['make SAN=', names],
        ['make bench-views', names],
    ],
    'CONTRIBUTING.md': [
        ['make   ', names],
        ['make build/tests/unit', names],
        ['make SAN=', names],
        ['make check-faults', names],
    ],
    'docker/README.md': [
        ['build/farlands serve [', text],
        ['base_path:', by('tests/cluster/paths.test.mjs')],
        ['[Service]', text],
        ['docker compose', by('tests/cluster/compose.test.mjs')],
        ['$ build/farlands render', session],
        ['sudo -u farlands farlands render --config /etc/farlands/farlands.yaml --cache', shorter],
        ['systemd-run', shorter],
        ['old=', renders],
        ['sed -nE', renders],
        ['farlands render --world default', shorter],
        ['farlands render --config', shorter],
        ['make deb', by('tests/proofs/package.sh')],
        ['farlands check-config /etc', by('tests/proofs/package.sh')],
        ['sudo -u farlands farlands render --config /etc/farlands/farlands.yaml --world', shorter],
        ['systemctl disable', by('tests/proofs/package.sh')],
        ['systemctl edit farlands.service', text],
        ['apt-get install haproxy', by('tests/cluster/haproxy-nodes.test.mjs')],
        ['cat fullchain.pem', by('tests/cluster/haproxy-requests.test.mjs')],
        ['docker run -p 80:80 -v "$PWD/docker/nginx/farlands:/etc/nginx/farlands:ro" \\\n    -v "$PWD/docker/nginx/balancer', by('tests/cluster/nginx.test.mjs')],
        ['docker build', by('tests/cluster/kubernetes.test.mjs')],
        ['volumeClaimTemplates', text],
        ['kubectl create job', by('tests/cluster/kubernetes.test.mjs')],
        ['docker run -p 80:80 -v "$PWD/docker/nginx/farlands:/etc/nginx/farlands:ro" \\\n    -v "$PWD/docker/nginx/edge', by('tests/cluster/cdn.test.mjs')],
        ['export FARLANDS_LISTEN', by('tests/cluster/cdn.test.mjs')],
        ['varnishd', by('tests/cluster/cdn.test.mjs')],
        ['for node in', by('tests/cluster/upgrade.test.mjs')],
    ],
};

describe('documents', { timeout: patience(300000) }, () => {
    const daemon = useDaemon({ builtIn: true, config: `access_log: ${file('access.log')}` });

    before(async () => {
        for (const directory of ['build', 'etc'])
            mkdirSync(file(directory));
        symlinkSync(BINARY, file('build/farlands'));
        symlinkSync(path.join(TREE, 'docker'), file('docker'));
        cpSync(path.join(TREE, 'config'), file('config'), { recursive: true });
        cpSync(path.join(TREE, 'config/farlands.yaml'), file('etc/farlands.yaml'));
        cpSync(path.join(TREE, 'tests/examples'), file('tests/examples'), { recursive: true });
        const [install] = blocks('server/CLIENTS.md').filter((block) => block.startsWith('make install-lib'));
        assert.match(await bash(`${install}\npkg-config --libs farlands`, TREE), /-lfarlands/);
    });

    for (const [document, rows] of Object.entries(EXAMPLES))
        it(`${document} has examples that work`, async () => {
            const left = new Set(rows);
            for (const block of blocks(document, `http://${daemon.authority}`)) {
                const begins = (row) => block.startsWith(row[0].replaceAll('http://127.0.0.1:8080', `http://${daemon.authority}`));
                const row = [...left].find(begins);
                assert.ok(row, `an example without a row in this test:\n${block}`);
                left.delete(row);
                names(block);
                await eachRow([[block]], ([example]) => row[1](example));
            }
            assert.deepEqual([...left].map(([begin]) => begin), [], 'rows without an example');
        });

    it('downloads the files that they name', () => {
        const size = (name) => statSync(file(name)).size;
        assert.equal(decodePng(readFileSync(file('32.png'))).width, 256);
        assert.equal(decodePng(readFileSync(file('tile.png'))).width, 512);
        for (const x of [30, 31, 32, 33])
            for (const y of [31, 32, 33])
                assert.ok(size(`tiles/6/${x}/${y}.png`) > 0);
        assert.equal(size('chunk.f32'), 4 * 17 ** 2);
        assert.equal(size('far.r16'), 2 * 1025 ** 2);
    });

    it('has volumes with ground, a hollow in it and the sky above', () => eachRow([
        ['caves.f32', 17], ['box.f32', 33],
    ], ([name, side]) => {
        const density = floats(readFileSync(file(name)));
        assert.equal(density.length, side ** 3);
        const ground = (column, z) => density[side * side * z + column] > 0;
        let columns = 0, hollows = 0;
        for (let column = 0; column < side * side; column++) {
            assert.ok(!ground(column, side - 1), 'not air at the top');
            let below = false;
            for (let z = side - 1; z >= 0; z--) {
                hollows += below && !ground(column, z);
                below ||= ground(column, z);
            }
            columns += below;
        }
        assert.ok(columns > side * side * 0.9, `ground in ${columns} columns`);
        assert.ok(hollows > side ** 3 / 50, `${hollows} hollow samples`);
    }));
});
