// Kills daemons with SIGKILL again and again while they store tiles in a cache that is too small:
// no response and no file is ever wrong, and the cache never exceeds its quota.
//
//     node tests/soak/crash.mjs [ROUNDS [SEED]]        20 rounds take about 15 s

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Daemon } from '../http/daemon.mjs';
import { eventually, patience, scratch } from '../http/program.mjs';

const ROUNDS = Number(process.argv[2] ?? 20);
const SEED = Number(process.argv[3] ?? Date.now() % 2 ** 31);
const QUOTA = { bytes: 3 << 20, files: 400 };
const TILES = 600;
const CLIENTS = 8;      // concurrent requests
const SAMPLE = 10;      // rounds between two checks of all files

/* mulberry32: from 0 to below - 1. */
let state = SEED;
function chance(below) {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
}

const CONFIG = `
log: error
cache: { disk: ${QUOTA.bytes >> 20}M, files: ${QUOTA.files}, memory: 0 }
limits: { connections_per_client: 0, misses_per_client: 0 }
`;
const LAYERS = ['relief', 'gray', 'height', 'hillshade'];
const tiles = Array.from({ length: TILES }, () => `${LAYERS[chance(4)]}/${18 + chance(7)}/` +
    `${chance(40) - 20}/${chance(40) - 20}${chance(8) ? '' : '@2x'}.png`);

/* The files below DIRECTORY, by path and kind, and their disk usage. */
function scan(directory) {
    const seen = { bytes: 0, files: 0, tiles: [], temporaries: [] };
    const enter = (name) => {
        const status = fs.lstatSync(path.join(directory, name));
        seen.bytes += status.blocks * 512;
        seen.files++;
        if (status.isDirectory())
            for (const entry of fs.readdirSync(path.join(directory, name)))
                enter(path.join(name, entry));
        else if (name.startsWith('.new-'))
            seen.temporaries.push(name);
        else if (name !== '.usage')
            seen.tiles.push(name);
    };
    enter('');
    return seen;
}

function checkQuota(cache, when) {
    const seen = scan(cache);
    assert.ok(seen.bytes <= QUOTA.bytes, `${when}: ${seen.bytes} bytes`);
    assert.ok(seen.files <= QUOTA.files, `${when}: ${seen.files} files`);
    return seen;
}

/* Assert that every tile in the cache equals a new render. */
function checkFiles(cache, { fingerprints, fresh }, when) {
    const seen = checkQuota(cache, when);
    for (const name of seen.tiles) {
        const [fingerprint, layer] = name.split('/');
        const tile = path.relative(fingerprint, name);
        assert.equal(fingerprint, fingerprints[layer], `${when}: a stray file ${name}`);
        assert.ok(fresh.has(tile), `${when}: a stray file ${name}`);
        assert.ok(fs.readFileSync(path.join(cache, name)).equals(fresh.get(tile)),
            `${when}: ${name} differs from a fresh render`);
    }
    return seen.tiles.length;
}

async function renderAll() {
    const daemon = await new Daemon().start();
    const fingerprints = {}, fresh = new Map();
    for (const layer of LAYERS)
        fingerprints[layer] = await daemon.fingerprintOf(`/default/${layer}`);
    for (const tile of tiles)
        fresh.set(tile, await daemon.bytes(`/default/${tile}`));
    await daemon.quit();
    return { fingerprints, fresh };
}

/* Request tiles until the daemon is killed; returns the number of responses. */
async function fetchTiles(daemon, fresh, life) {
    let answers = 0;
    while (!life.over) {
        const tile = tiles[chance(TILES)];
        const answer = await daemon.get(`/default/${tile}`).catch(() => null);
        if (!answer)
            return answers;
        assert.ok(answer.status === 200 || answer.status === 503, `${tile}: ${answer.status}`);
        if (answer.status === 200)
            assert.ok(answer.body.equals(fresh.get(tile)), `a wrong response for ${tile}`);
        answers += answer.status === 200;
    }
    return answers;
}

/* Assert that temporary files of killed daemons are removed soon. */
async function checkSwept(cache, left) {
    const exists = (name) => fs.existsSync(path.join(cache, name));
    assert.ok(await eventually(() => !left.some(exists)),
        `temporaries remain: ${left.filter(exists)}`);
}

/* Run one or two daemons for a moment; returns the number of responses. */
async function round(cache, fresh) {
    const left = scan(cache).temporaries;
    const life = { over: false };
    const daemons = Array.from({ length: chance(3) ? 1 : 2 },
        () => new Daemon({ cache, config: CONFIG }));
    try {
        await Promise.all(daemons.map((daemon) => daemon.start()));
        const fetching = daemons.flatMap((daemon) =>
            Array.from({ length: CLIENTS }, () => fetchTiles(daemon, fresh, life)));
        await checkSwept(cache, left);
        for (const daemon of daemons) {
            await sleep(patience(chance(250)));
            daemon.kill('SIGKILL');
        }
        life.over = true;
        const answers = await Promise.all(fetching);
        return answers.reduce((sum, count) => sum + count, 0);
    } finally {
        life.over = true;
        for (const daemon of daemons) {
            if (daemon.program?.running)
                daemon.kill('SIGKILL');
            await daemon.ended();
        }
    }
}

console.log(`crash: ${ROUNDS} rounds, seed ${SEED}`);
const rendered = await renderAll(), { fresh } = rendered;
const cache = scratch();
let answers = 0, most = 0, abandoned = 0;
for (let i = 1; i <= ROUNDS; i++) {
    const when = `seed ${SEED}, round ${i}`;
    answers += await round(cache, fresh);
    const seen = checkQuota(cache, when);
    most = Math.max(most, seen.bytes);
    abandoned += seen.temporaries.length;
    if (i % SAMPLE === 0 || i === ROUNDS)
        console.log(`${when}: ${answers} responses, ${abandoned} temporaries left, at most ` +
            `${most} bytes; ${checkFiles(cache, rendered, when)} tiles are right`);
}
assert.ok(answers > ROUNDS, 'hardly any responses');
