// The daemon over HTTP: against nginx, cold, under a flood, beside slow clients; time to ready, and memory. One line
// per figure:
//   node tests/bench/http.mjs [NAME...]     e.g. hot flood; all without names
// On two cores the daemon has one and the load the other, unless a line is about both.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BINARY, scratch } from '../http/program.mjs';
import { disk, hot, notModified } from './against_nginx.mjs';
import { cold, coldThroughput, flood } from './flood.mjs';
import { CORES, FEW, ONE_OF_EACH, insist, median, round, say, withDaemon } from './measure.mjs';
import { nodes } from './nodes.mjs';
import { farlands, has, idle, residentBytes, rush, start } from './programs.mjs';
import { region, regions } from './regions.mjs';
import { slow } from './slow.mjs';

/* Write the tiles in FEW as files for nginx. Returns the one nearest 12 KiB. */
async function prepare() {
    const cache = scratch(), root = scratch();
    const daemon = await farlands('threads: 0', { cache });
    let best = { off: Infinity };
    for (let i = 0; i < FEW.count; i++) {
        const target = `${FEW.prefix}/${FEW.x + i % FEW.width}/${FEW.y + Math.floor(i / FEW.width)}.png`;
        const png = await daemon.bytes(target);
        fs.mkdirSync(path.dirname(root + target), { recursive: true });
        fs.writeFileSync(root + target, png);
        const off = Math.abs(png.length - 12 * 1024);
        if (off < best.off)
            best = { off, target, size: png.length };
    }
    await daemon.quit();
    insist(best.size > 8192 && best.size < 16384, `no tile of 8 to 16 KiB, but ${best.size} bytes`);
    return { cache, root, hot: best.target, size: best.size };
}

/* From the start of the process to its "serving" line, with an empty cache. */
async function ready() {
    const times = [];
    for (let i = 0; i < 9; i++) {
        const begun = process.hrtime.bigint();
        const child = start(BINARY, ['serve', '--listen', '127.0.0.1:0', '--cache', scratch()]);
        await Promise.race([child.ended, once(child.stdout, 'data')]);
        times.push(Number(process.hrtime.bigint() - begun) / 1e6);
        insist(child.output.stdout.includes('serving'), `ready: ${child.output.stderr}`);
        child.kill();
        await child.ended;
    }
    say('ready', `${round(median(times), 0)} ms  (${round(Math.min(...times), 0)} to ` +
        `${round(Math.max(...times), 0)}; start to "serving" line)`);
}

/* Memory with many idle connections, each of which has fetched one hot tile. */
async function rss(world) {
    const hard = execFileSync('sh', ['-c', 'ulimit -Hn']).toString().trim();
    const count = Math.min(10000, hard === 'unlimited' ? Infinity : Number(hard) - 1000);
    const config = `${ONE_OF_EACH}limits: { connections: ${count + 100}, connections_per_client: 0 }`;
    await withDaemon(config, { cache: world.cache }, async (daemon) => {
        await daemon.bytes(world.hot);
        const before = residentBytes(daemon.pid);
        const crowd = await idle(daemon, count, world.hot);
        const resident = residentBytes(daemon.pid);
        insist(crowd.answered >= count, `rss: ${crowd.answered} answered`);
        await crowd.close();
        say('rss', `${round((resident - world.size) / 2 ** 20, 1)} MiB above the memory cache, with ` +
            `${count} idle connections  (${round((resident - before) / count / 1024, 1)} KiB each; ` +
            `${round(before / 2 ** 20, 1)} MiB without)`);
    });
}

/* One event loop and two, on all cores, shared with the load. */
const shards = (world) => withDaemon('shards: 1\nthreads: 1', { cache: world.cache }, (one) =>
    withDaemon('shards: 2\nthreads: 1', { cache: world.cache }, async (two) => {
        const rates = [[], []];
        for (const which of [0, 1, 1, 0]) {
            const daemon = [one, two][which];
            await daemon.bytes(world.hot);
            rates[which].push((await rush(daemon, { target: world.hot, seconds: 2 })).rate);
        }
        const [a, b] = rates.map((all) => Math.max(...all));
        say('shards', `2 are ${round(b / a)}x 1  (${round(b, 0)} and ${round(a, 0)} requests/s, ` +
            `${CORES} cores shared with the load)`);
    }));

/* Reliability of the figures: the load of other programs while nothing of ours runs. */
async function neighbors() {
    const idle = () => os.cpus().reduce((sum, { times }) => sum + times.idle, 0);
    const before = idle();
    await sleep(1000);
    const busy = 1 - (idle() - before) / (1000 * CORES);
    if (busy > 0.05)
        say('neighbors', `${round(100 * busy, 0)} % of the CPU is taken by others: believe ratios by ` +
            'CPU rather than those by time');
}

/* They run in this order. */
const BENCHES = new Map([
    ['hot', hot], ['304', notModified], ['disk', disk], ['cold', cold],
    ['cold-throughput', coldThroughput], ['flood', flood], ['slow', slow], ['ready', ready], ['rss', rss],
    ['shards', shards], ['regions', regions], ['region', region], ['nodes', nodes],
]);

async function main(names) {
    for (const program of ['nginx', 'taskset', 'curl'])
        if (!await has(program))
            return console.log(`http: skipped: no ${program}; make bench-deps installs it`);
    if (CORES < 2)
        return console.log('http: skipped: needs two cores');
    const unknown = names.filter((name) => !BENCHES.has(name));
    insist(unknown.length === 0, `no benchmark ${unknown}; expected ${[...BENCHES.keys()].join(' ')}`);
    await neighbors();
    const world = await prepare();
    for (const [name, bench] of BENCHES)
        if (names.length === 0 || names.includes(name))
            await bench(world);
    await world.nginx?.stop();
}

main(process.argv.slice(2)).catch((error) => {
    console.error(`http: ${error.message}`);
    process.exit(1);
});
