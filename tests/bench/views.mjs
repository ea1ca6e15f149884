// What cold tiles cost: CPU of `farlands render` per tile, by zoom, for views of 5 x 5 tiles and for tiles far from
// each other, on one core.
//   node tests/bench/views.mjs        BEFORE=PROGRAM prints another program's figures beside, and their ratio
//   ZOOMS=4,8 KINDS=relief,relief.webp WORLD=alps WORLD_FILE=FILE PLACES=4 ROUNDS=3; FARLANDS_KERNEL as ever

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { BINARY, scratch, scratchFile } from '../http/program.mjs';
import { CLIENT_CORE } from './measure.mjs';

const { BEFORE, WORLD = 'default', WORLD_FILE, PLACES = '4', ROUNDS = '3' } = process.env;
const ZOOMS = (process.env.ZOOMS ?? '4,6,8,10,12,14,16,18,20').split(',').map(Number);
const KINDS = (process.env.KINDS ?? 'relief,relief.webp,terrarium,biome,slope,apart').split(',');
const VIEW = 5, APART = 40, FAR = 2 ** 21, FIRST_BITS = 24;

/* COUNT places at random, the same in each run (Park and Miller 1988), in whole blocks. */
function places(count) {
    let state = 1;
    const draw = () => {
        state = state * 48271 % 2147483647;
        return Math.floor((state / 2147483647 * 2 - 1) * FAR);
    };
    return Array.from({ length: count }, () => [draw(), draw()]);
}

const tileAt = (zoom, at) => Math.floor((at + 2 ** (FIRST_BITS - 1)) / 2 ** (FIRST_BITS - zoom));

/* The paths of a kind's tiles at a zoom. */
function tilesOf(kind, zoom) {
    const [layer, format = 'png'] = kind === 'apart' ? ['relief'] : kind.split('.');
    const path = (x, y) => `${WORLD}/${layer}/${zoom}/${x}/${y}.${format}`;
    if (kind === 'apart')
        return [...new Set(places(APART).map(([x, y]) => path(tileAt(zoom, x), tileAt(zoom, y))))];
    return places(Number(PLACES)).flatMap(([x, y]) => Array.from({ length: VIEW * VIEW }, (_, i) =>
        path(tileAt(zoom, x) - 2 + i % VIEW, tileAt(zoom, y) - 2 + Math.floor(i / VIEW))));
}

/* Milliseconds of CPU that PROGRAM takes for the TILES listed in FILE. */
function milliseconds(program, file) {
    const cache = scratch();
    const config = WORLD_FILE ? ['--config', WORLD_FILE] : [];
    const { status, stdout, stderr } = spawnSync('sh', ['-c', '"$@" >&2 && times', 'sh', 'taskset', '-c', String(CLIENT_CORE),
        program, 'render', '--threads', '1', '--tiles', file, '--cache', cache, ...config], { encoding: 'utf8' });
    if (status !== 0)
        throw new Error(`${program}: ${stderr}`);
    fs.rmSync(cache, { recursive: true });
    const [, children] = stdout.trim().split('\n');
    return [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, minutes, seconds]) =>
        sum + 60000 * Number(minutes) + 1000 * Number(seconds), 0);
}

/* The least time of PROGRAMS, in turns. */
function leastTimes(programs, tiles) {
    const file = scratchFile('tiles', `${tiles.join('\n')}\n`);
    const least = programs.map(() => Infinity);
    for (let round = 0; round < Number(ROUNDS); round++)
        programs.forEach((program, i) => { least[i] = Math.min(least[i], milliseconds(program, file) / tiles.length); });
    return least;
}

const row = (name, cells) => console.log(name.padEnd(24) + cells.map((cell) => cell.padStart(8)).join(''));
row(`ms a tile, ${WORLD}, at zoom`, ZOOMS.map(String));
for (const kind of KINDS) {
    const times = ZOOMS.map((zoom) => leastTimes([BINARY, ...(BEFORE ? [BEFORE] : [])], tilesOf(kind, zoom)));
    row(kind, times.map(([now]) => now.toFixed(2)));
    if (BEFORE) {
        row('  before', times.map(([, before]) => before.toFixed(2)));
        row('  now / before', times.map(([now, before]) => (now / before).toFixed(2)));
    }
}
