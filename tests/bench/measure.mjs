// Shared by the HTTP benchmarks: cores, tiles to request, printing figures. Not a benchmark.

import os from 'node:os';
import { cpuSeconds, farlands, rush } from './programs.mjs';

export const SERVER_CORE = 0;
export const CLIENT_CORE = 1;
export const CORES = os.cpus().length;

/* Gray tiles of the default world, about 10 KiB each, requested again and again. */
export const FEW = { prefix: '/default/gray/6', x: 22, y: 22, width: 20, count: 400 };
/*
 * Tiles that a daemon with a fresh cache must render. In few columns, because each is a directory
 * of the cache, and map clients also request adjacent tiles.
 */
export const COLD = '/default/relief/10';
export const COLUMNS = 32;
export const COLD_TILES = [COLD, 0, 0, COLUMNS, 1e6];

export const median = (values) => [...values].sort((a, b) => a - b)[(values.length - 1) >> 1];
export const round = (value, digits = 2) => Number(value.toFixed(digits));
export const say = (name, text) => console.log(`http/${name}`.padEnd(26), text);

export function insist(holds, message) {
    if (!holds)
        throw new Error(message);
}

export const ONE_OF_EACH = 'shards: 1\nthreads: 1\n';

export async function withDaemon(config, options, check) {
    const daemon = await farlands(config, options);
    try {
        await check(daemon);
    } finally {
        daemon.kill('SIGKILL');
        await daemon.stop();
    }
}

/* Tiles rendered during RUN: per second, and per second of the daemon's CPU. */
export async function rendering(daemon, run) {
    const begun = process.hrtime.bigint(), cpu = cpuSeconds(daemon.pid);
    const before = await daemon.rendered();
    const result = await run();
    const seconds = Number(process.hrtime.bigint() - begun) / 1e9;
    const tiles = await daemon.rendered() - before;
    return { result, rate: tiles / seconds, thrift: tiles / (cpuSeconds(daemon.pid) - cpu) };
}

/* Cold tiles at full load. */
export const allOut = (daemon) => rendering(daemon, () =>
    rush(daemon, { tiles: COLD_TILES, connections: 4 * CORES, seconds: 3 }));
