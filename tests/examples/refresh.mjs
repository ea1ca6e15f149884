// Rewrites the documents' examples that depend on the default world: run node tests/examples/refresh.mjs after a change to
// config/worlds/default.yaml. Then documents.test.mjs checks the examples. Not a test.

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Daemon } from '../http/daemon.mjs';
import { floats } from '../http/grid.mjs';

const TREE = fileURLToPath(new URL('../..', import.meta.url));
const daemon = await new Daemon({ builtIn: true }).start();

/* True if a box has what its tests want: sky at the top, ground in a corner and in nine of ten columns, a hollow. */
function holds(density, side) {
    let columns = 0, hollows = 0;
    for (let column = 0; column < side * side; column++) {
        let below = false;
        for (let z = side - 1; z >= 0; z--) {
            const ground = density[side * side * z + column] > 0;
            if (ground && z === side - 1)
                return false;
            hollows += below && !ground;
            below ||= ground;
        }
        columns += below;
    }
    return density[0] > 0 && columns > side * side * 0.9 && hollows > side ** 3 / 50;
}

const WAYS = [[1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]];

/* The URL of the nearest such box of SIDE samples to x, y, in eight directions. */
async function box(whole, before, x, y, z, after, side) {
    for (let away = 0; away < 1 << 16; away += 32)
        for (const [east, south] of WAYS) {
            const [left, top] = [Number(x) + away * east, Number(y) + away * south];
            const { height } = await daemon.json(`/default/height?x=${left + side / 2}&y=${top + side / 2}`);
            for (const up of [Math.round(height) - side + 4, Math.round(height - side / 2)]) {
                const target = `${before}?x=${left}&y=${top}&z=${up}${after}`;
                if (height > 0 && holds(floats(await daemon.bytes(target)), Number(side)))
                    return target;
            }
        }
    throw new Error(`${whole}: no box with a hollow near it`);
}

/* The first place east of x, y from which there is a spawn. */
async function spawn(whole, before, x, after) {
    for (let east = Number(x); ; east += 2000)
        if ((await daemon.get(`${before}?x=${east}${after}`)).status === 200)
            return `${before}?x=${east}${after}`;
}

async function replaced(text, pattern, by) {
    const found = [...text.matchAll(pattern)];
    for (const match of found)
        text = text.replace(match[0], await by(...match));
    return text;
}

const [middle] = floats(await daemon.bytes('/default/region.f32?x=12.5&y=-3&width=1&height=1'));
try {
    for (const name of ['README.md', 'server/README.md', 'server/CLIENTS.md']) {
        const old = readFileSync(`${TREE}/${name}`, 'utf8');
        let text = await replaced(old, /(\/default\/volume\.f32)\?x=(-?\d+)&y=(-?\d+)&z=(-?\d+)(&width=(\d+)&height=\6&depth=\6)/g, box);
        text = await replaced(text, /(\/default\/spawn)\?x=(-?\d+)(&y=[^"]*)/g, spawn);
        text = await replaced(text, /(curl "http:\/\/127\.0\.0\.1:8080(\/default\/heights?\?[^"]*)"\n {4})\{.*\}/g,
            async (whole, curl, target) => curl + String(await daemon.bytes(target)).trim());
        text = text.replace(/(which prints )-?[\d.]+:/, (whole, says) => `${says}${middle}:`);
        if (text !== old)
            console.log(name);
        writeFileSync(`${TREE}/${name}`, text);
    }
} finally {
    await daemon.quit();
}
