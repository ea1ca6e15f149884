// Cost and throughput of cold tiles, and how a flood of cold tiles affects other clients.

import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cpuSeconds, openLoop, rush } from './programs.mjs';
import {
    CLIENT_CORE, COLD, COLUMNS, CORES, ONE_OF_EACH, SERVER_CORE, allOut, insist, median,
    rendering, round, say, withDaemon,
} from './measure.mjs';

const BENCH_TILE = process.env.BENCH_TILE ??
    fileURLToPath(new URL('../../build/tests/bench/bench_tile', import.meta.url));

/*
 * Tiles to request, as rush() takes them. WALK: a viewport that moves west, four tiles high, so that each
 * column is a directory of its own with four files. APART: each tile is in a directory of its own.
 */
const WALK = { prefix: '/default/relief', zoom: 10, tiles: [0, 0, 20000, 4 * 20000 + 1, 20000] };
const APART = { prefix: '/default/relief', zoom: 16, tiles: [0, 0, 40000, 40000 * 40000, 617283951] };

/* The CPU seconds of one of the first COUNT of these tiles, noise, layer and PNG alone. */
function renderAlone({ prefix, zoom, tiles }, count) {
    const args = [path.basename(prefix), zoom, ...tiles, count].map(String);
    const out = execFileSync('taskset', ['-c', String(SERVER_CORE), BENCH_TILE, ...args]).toString();
    return Number(/render ([\d.]+) us/.exec(out)[1]) / 1e6;
}

/* A daemon with an empty cache renders tiles for SECONDS: the CPU seconds and the number of tiles. */
async function coldTiles({ prefix, zoom, tiles }, binary, seconds) {
    let result;
    await withDaemon(ONE_OF_EACH, { core: SERVER_CORE, binary }, async (daemon) => {
        const cpu = cpuSeconds(daemon.pid), rendered = await daemon.rendered();
        await rush(daemon, { tiles: [`${prefix}/${zoom}`, ...tiles], connections: 8, seconds, core: CLIENT_CORE });
        await sleep(300); /* tiles are stored after they were sent */
        const count = await daemon.rendered() - rendered;
        result = { cpu: (cpuSeconds(daemon.pid) - cpu) / count, count };
    });
    return result;
}

/* The cost of a cold tile in the daemon against that of its render, and against those of the program BEFORE, if set. */
async function coldRatio(name, what) {
    const us = (seconds) => round(seconds * 1e6, 0);
    const binaries = process.env.BEFORE ? [undefined, process.env.BEFORE] : [undefined];
    const rounds = [];
    for (let i = 0; i < 3; i++) {
        const runs = [];
        for (const binary of i % 2 ? [...binaries].reverse() : binaries)
            runs.push(await coldTiles(what, binary, 3));
        if (i % 2)
            runs.reverse();
        const render = renderAlone(what, 1500);
        rounds.push({ render, costs: runs.map(({ cpu }) => cpu), rate: runs[0].count / 3 });
    }
    const typical = (value) => median(rounds.map(value));
    say(`cold-${name}`, `${round(typical(({ render, costs }) => costs[0] / render))}x the render's CPU  ` +
        `(${us(typical(({ costs }) => costs[0]))} us, render ${us(typical(({ render }) => render))}, ` +
        `around it ${us(typical(({ render, costs }) => costs[0] - render))}; ${round(typical(({ rate }) => rate), 0)} tiles/s` +
        (binaries.length > 1 ? `; before ${round(typical(({ render, costs }) => costs[1] / render))}x, ` +
            `${us(typical(({ costs }) => costs[1]))} us, around it ${us(typical(({ render, costs }) => costs[1] - render))}` : '') + ')');
}

/* The full cost of a tile that must be rendered: HTTP, queue, render, cache. */
export async function cold() {
    await coldRatio('walk', WALK);
    await coldRatio('apart', APART);
}

/* Seconds for one tile's noise, layer and PNG, measured by bench_tile. */
function renderSeconds() {
    const line = /tile\/relief-256\/z10 +noise (\d+) us +layer (\d+) us +png (\d+) us/
        .exec(execFileSync(BENCH_TILE).toString());
    return line.slice(1).reduce((sum, us) => sum + Number(us) / 1e6, 0);
}

/* The share of all cores that goes into rendering at full load. The load takes its part. */
export const coldThroughput = () => withDaemon('threads: 0', {}, async (daemon) => {
    const ideal = 1 / renderSeconds();
    const { rate, thrift } = await allOut(daemon);
    say('cold-throughput', `${round(rate / ideal / CORES)} of cores/(noise+layer+png)  ` +
        `(${round(rate, 0)} of ${round(CORES * ideal, 0)} tiles/s on ${CORES} cores; ` +
        `${round(thrift / ideal)} of the CPU that the daemon took)`);
});

const LIMITS = 'limits: { connections: 4096 }\ncache: { disk: 20G }\n';
const hotStream = (world) => ['--stream', 'hot', '--rate', '2000', '--connections', '32',
    '--url', world.hot];
const floodStream = (rate, connections, y) => ['--stream', 'flood', '--poisson', '--rate', String(rate),
    '--connections', String(connections), '--source', '127.0.0.2-127.0.0.9',
    '--url', `${COLD}/{0..${COLUMNS - 1}}/{${y}..${y + 1e6 - 1}}.png`];

/* Check the responses to a flood. */
function inspect({ status }) {
    const odd = Object.keys(status).filter((code) => code !== '200' && code !== '503');
    insist(odd.length === 0, `flood: answered ${odd}`);
    const { count = 0, retry_after: polite = 0 } = status[503] ?? {};
    insist(count === polite, `flood: ${count} 503, ${polite} with Retry-After`);
}

/* Clients of a hot tile: alone, beside a fully used renderer, and during the flood. */
async function floodRound(daemon, world, capacity, n) {
    const load = async (...streams) =>
        openLoop(daemon, ['--seconds', '2', '--grace', '2', ...streams.flat()]);
    const alone = (await load(hotStream(world))).stream;
    const some = floodStream(0.7 * capacity, 256, (2 * n + 1) * 1e7);
    const beside = (await load(hotStream(world), some)).stream;
    const drowned = await rendering(daemon, () =>
        load(hotStream(world), floodStream(10 * capacity, 2400, (2 * n + 2) * 1e7)));
    inspect(drowned.result.stream.flood);
    return { alone: alone.hot, beside: beside.hot, drowned: drowned.result.stream.hot,
        flood: drowned.result.stream.flood, rate: drowned.rate, thrift: drowned.thrift,
        generator: drowned.result.cpu_seconds / drowned.result.seconds };
}

/* Ten times as many cold tiles as can be rendered, beside clients of one hot tile. */
export const flood = (world) => withDaemon(`threads: 0\n${LIMITS}`, {}, async (daemon) => {
    await daemon.bytes(world.hot);
    const capacity = await allOut(daemon);
    const rounds = [];
    for (let n = 0; n < 3; n++)
        rounds.push(await floodRound(daemon, world, capacity.rate, n));
    const typical = (value) => median(rounds.map(value));
    const p99 = (which) => round(typical((one) => one[which].all.p99));
    const sum = (value) => rounds.reduce((total, one) => total + value(one), 0);

    say('hot-p99-under-flood', `${round(p99('drowned') / p99('alone'), 1)}x  (${p99('drowned')} ms, ` +
        `${p99('alone')} alone, ${p99('beside')} beside 0.7 of the miss capacity; of it the generator's ` +
        `own lag ${['drowned', 'alone', 'beside'].map((which) =>
            round(typical((one) => one[which].lag.p99))).join(', ')})`);
    say('goodput-under-flood', `${round(typical(({ rate }) => rate) / capacity.rate)}  ` +
        `(${round(typical(({ rate }) => rate), 0)} of ${round(capacity.rate, 0)} tiles/s; by the daemon's ` +
        `CPU ${round(typical(({ thrift }) => thrift) / capacity.thrift)}; the generator took ` +
        `${round(typical(({ generator }) => generator))} of ${CORES} cores)`);
    const failed = Object.keys(rounds[0].flood.errors).map((kind) =>
        [kind, sum((one) => one.flood.errors[kind])]).filter(([, count]) => count);
    say('shed-under-flood', `p99 ${round(typical((one) => one.flood.status[503]?.p99 ?? 0))} ms  (of ` +
        `${sum((one) => one.flood.due)} ${sum((one) => one.flood.status[503]?.count ?? 0)} 503 with ` +
        `Retry-After, ${sum((one) => one.flood.status[200]?.count ?? 0)} rendered` +
        failed.map(([kind, count]) => `, ${count} ${kind}`).join('') +
        `; of the hot ${sum(({ drowned }) => drowned.due - (drowned.status[200]?.count ?? 0))} failed)`);
});
