// A cold tile's cost and size in the default world, by layer and zoom: the table in docker/README.md.
//   node tests/bench/sizing.mjs [LAYER...]      e.g. relief height; without names all but fields
// CPU of the whole daemon, HTTP and storing included, on its own core if there is one.

import { setTimeout as sleep } from 'node:timers/promises';
import { CORES, ONE_OF_EACH, SERVER_CORE, insist, median, round, withDaemon } from './measure.mjs';
import { cpuSeconds } from './programs.mjs';

const ZOOMS = [0, 4, 8, 10, 12, 14, 16, 20];
const SIDE = 4; /* viewers request adjacent tiles */
/* Squares to render for each tile size: many, because CPU time is counted in hundredths of a second, and since
 * places differ. */
const SQUARES = { '': 16, '@2x': 4 };
const AT_ONCE = 8;
const BLOCK = 4096, ENTRY = 80; /* overhead of a file, as the quota counts it */

/*
 * Paths of the Nth square of SIDE x SIDE tiles. Squares are spread evenly over the world's window, in
 * steps of 1/p and 1/p^2 with p^3 = p + 1 (Roberts, "The unreasonable effectiveness of quasirandom
 * sequences", 2018). Below zoom 8 the window has few tiles; squares then lie around its middle.
 */
function square(layer, zoom, scale, n) {
    const squares = 2 ** Math.max(zoom, 8) / SIDE, middle = 2 ** zoom / 2;
    const [x, y] = [0.7548776662466927, 0.5698402909980532].map((step) =>
        Math.floor(middle + (Math.floor((0.5 + step * n) % 1 * squares) - squares / 2) * SIDE));
    return Array.from({ length: SIDE * SIDE }, (_, i) =>
        `/default/${layer}/${zoom}/${x + i % SIDE}/${y + Math.floor(i / SIDE)}${scale}.png`);
}

/* Fetch all of them, a few at a time. Returns the bytes of each. */
async function sizes(daemon, targets) {
    const bytes = [], left = [...targets];
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
        for (let target; (target = left.pop());)
            bytes.push((await daemon.bytes(target)).length);
    }));
    return bytes;
}

/* { ms, bytes, disk } per tile. */
async function measure(daemon, layer, zoom, scale) {
    const before = await daemon.rendered(), begun = cpuSeconds(daemon.pid);
    const bytes = await sizes(daemon, Array.from({ length: SQUARES[scale] }, (_, n) => square(layer, zoom, scale, n)).flat());
    await sleep(50); /* tiles are stored after they were sent */
    const took = cpuSeconds(daemon.pid) - begun;
    insist(await daemon.rendered() - before === bytes.length, `${layer}/${zoom}${scale}: not all were cold`);
    const average = (value) => bytes.reduce((sum, one) => sum + value(one), 0) / bytes.length;
    return {
        ms: 1000 * took / bytes.length,
        bytes: average((one) => one),
        disk: average((one) => Math.ceil(one / BLOCK) * BLOCK + ENTRY),
    };
}

const row = (cells) => console.log(`| ${cells.join(' | ')} |`);
const kib = (bytes) => round(bytes / 1024, bytes < 100 * 1024 ? 1 : 0);

async function main(names) {
    const patient = `${ONE_OF_EACH}limits: { wait: 60000 }`; /* tolerate other load on the machine */
    await withDaemon(patient, { core: CORES > 1 ? SERVER_CORE : undefined, builtIn: true }, async (daemon) => {
        const { layers } = await daemon.json('/default.json');
        const known = layers.map(({ name }) => name).filter((name) => !name.startsWith('field.'));
        insist(names.every((name) => known.includes(name)), `layers are ${known.join(' ')}`);
        console.log('CPU ms per cold tile / KiB per tile; then KiB on disk, at a typical zoom');
        row(['layer', ...ZOOMS.map((zoom) => `z${zoom}`), 'on disk']);
        row(['---', ...ZOOMS.map(() => '---'), '---']);
        for (const layer of names.length ? names : known)
            for (const scale of Object.keys(SQUARES)) {
                const costs = [];
                for (const zoom of ZOOMS)
                    costs.push(await measure(daemon, layer, zoom, scale));
                row([`\`${layer}\`${scale && ` ${scale}`}`,
                    ...costs.map(({ ms, bytes }) => `${round(ms, ms < 10 ? 2 : 1)} / ${kib(bytes)}`),
                    kib(median(costs.map(({ disk }) => disk)))]);
            }
    });
}

main(process.argv.slice(2)).catch((error) => {
    console.error(`sizing: ${error.message}`);
    process.exit(1);
});
