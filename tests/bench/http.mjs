// The daemon over HTTP against nginx, which serves the same bytes from files; what a cold tile
// costs; what a flood of cold tiles does to the others. One line a figure:
//   node tests/bench/http.mjs [NAME...]     e.g. hot flood; all without names
// With two cores the daemon has one and wrk the other, unless a line is about both.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { BINARY, scratch } from '../http/program.mjs';
import {
    cpuSeconds, farlands, has, head, idle, nginx, openLoop, residentBytes, start, wrk,
} from './programs.mjs';

const SERVER_CORE = 0;
const CLIENT_CORE = 1;
const CORES = os.cpus().length;
const ROUNDS = 5;
const SECONDS = 2;

/* Grey tiles of the default world, around 10 KiB each, that a client asks for again and again. */
const FEW = { prefix: '/default/gray/6', x: 22, y: 22, width: 20, count: 400 };
/* Tiles that nobody asked for before: each area below is used once. */
const COLD = '/default/relief/10';
const area = (y) => [COLD, 0, y, 1000, 1e6];

const median = (values) => [...values].sort((a, b) => a - b)[(values.length - 1) >> 1];
const round = (value, digits = 2) => Number(value.toFixed(digits));
const say = (name, text) => console.log(`http/${name}`.padEnd(26), text);

function insist(holds, message) {
    if (!holds)
        throw new Error(message);
}

/* The tile in FEW whose size is nearest 12 KiB, and all of them as files for nginx, each as it came. */
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

/* One run of wrk: requests a second, and microseconds of the server's CPU for each. */
async function once(server, load, seconds = SECONDS) {
    const before = cpuSeconds(server.pid);
    const { rate, requests } = await wrk(server, { seconds, core: CLIENT_CORE, ...load });
    return { rate, requests, cpu: (cpuSeconds(server.pid) - before) / requests * 1e6 };
}

/* Ours and nginx in turn, the first to go changing; ratios of neighbours. */
async function duel(name, ours, theirs) {
    const us = [], them = [];
    for (let i = 0; i < ROUNDS; i++)
        for (const mine of i % 2 ? [true, false] : [false, true])
            (mine ? us : them).push(await once(...(mine ? ours : theirs)));
    const ratios = us.map(({ rate }, i) => rate / them[i].rate);
    const thrift = us.map(({ cpu }, i) => them[i].cpu / cpu);
    const typical = (runs, what) => median(runs.map((run) => run[what]));
    say(name, `${round(median(ratios))}x nginx  (${round(Math.min(...ratios))} to ` +
        `${round(Math.max(...ratios))}; ${round(typical(us, 'rate'), 0)} and ` +
        `${round(typical(them, 'rate'), 0)} requests/s; ${round(median(thrift))}x by CPU, ` +
        `${round(typical(us, 'cpu'), 1)} and ${round(typical(them, 'cpu'), 1)} us a request)`);
    return us.reduce((sum, { requests }) => sum + requests, 0);
}

async function tiers(daemon) {
    const metrics = await daemon.metrics();
    return {
        memory: metrics.get('farlands_cache_hits_total{tier="memory"}'),
        disk: metrics.get('farlands_cache_hits_total{tier="disk"}'),
        rendered: await daemon.rendered(),
    };
}

/* The ways in which nginx sends a file. */
const SENDING = {
    sendfile: 'sendfile on; tcp_nopush off;',
    'sendfile and nopush': 'sendfile on; tcp_nopush on;',
    writev: 'sendfile off; output_buffers 1 64k;',
};

/* nginx in that way which takes the least CPU here for such a tile. */
async function fastestNginx(world) {
    const costs = [];
    for (const way of [...Object.keys(SENDING), ...Object.keys(SENDING).reverse()]) {
        const server = await nginx(world.root, { core: SERVER_CORE, sending: SENDING[way] });
        costs.push({ way, cpu: (await once(server, { target: world.hot }, 1)).cpu });
        await server.stop();
    }
    costs.sort((a, b) => a.cpu - b.cpu);
    const [{ way }] = costs;
    say('nginx', `${way}  (${costs.map((cost) => `${cost.way} ${round(cost.cpu, 1)}`).join(', ')} us of ` +
        `CPU a request; a tile of ${round(world.size / 1024, 1)} KiB)`);
    return nginx(world.root, { core: SERVER_CORE, sending: SENDING[way] });
}

async function withNginx(world, compare) {
    world.nginx ??= await fastestNginx(world);
    await compare(world.nginx);
}

const ONE = 'shards: 1\nthreads: 1\n';

async function withDaemon(config, options, check) {
    const daemon = await farlands(config, options);
    try {
        await check(daemon);
    } finally {
        daemon.kill('SIGKILL');
        await daemon.stop();
    }
}

/* One tile that is in memory. */
const hot = (world) => withNginx(world, (rival) =>
    withDaemon(ONE, { cache: world.cache, core: SERVER_CORE }, async (daemon) => {
        await daemon.bytes(world.hot);
        const before = await tiers(daemon);
        const requests = await duel('hot', [daemon, { target: world.hot }], [rival, { target: world.hot }]);
        const after = await tiers(daemon);
        insist(after.memory - before.memory >= requests && after.rendered === before.rendered,
            'hot: not served from memory');
    }));

/* The same, asked for with its ETag. */
const notModified = (world) => withNginx(world, (rival) =>
    withDaemon(ONE, { cache: world.cache, core: SERVER_CORE }, async (daemon) => {
        const load = async (server) => {
            const { headers: { etag } } = await head(server, world.hot);
            const { status } = await head(server, world.hot, { 'If-None-Match': etag });
            insist(status === 304, `304: ${status}`);
            return { target: world.hot, headers: [`If-None-Match: ${etag}`] };
        };
        await duel('304', [daemon, await load(daemon)], [rival, await load(rival)]);
    }));

/* Many tiles, none of them in memory; both have the kernel's page cache. */
const disk = (world) => withNginx(world, (rival) =>
    withDaemon(`${ONE}cache: { memory: 0 }`, { cache: world.cache, core: SERVER_CORE }, async (daemon) => {
        const load = { tiles: [FEW.prefix, FEW.x, FEW.y, FEW.width, FEW.count] };
        const before = await tiers(daemon);
        const requests = await duel('disk', [daemon, load], [rival, load]);
        const after = await tiers(daemon);
        insist(after.disk - before.disk >= 0.99 * requests && after.rendered === before.rendered,
            `disk: of ${requests}, ${after.disk - before.disk} from disk`);
    }));

/* What a tile costs that must be rendered, everything included: HTTP, line, cache. */
const cold = () => withDaemon(ONE, { core: SERVER_CORE }, async (daemon) => {
    const cpu = cpuSeconds(daemon.pid), rendered = await daemon.rendered();
    await wrk(daemon, { tiles: area(0), connections: 8, seconds: 3, core: CLIENT_CORE });
    const tiles = await daemon.rendered() - rendered;
    say('cold', `${round((cpuSeconds(daemon.pid) - cpu) / tiles * 1e3)} ms cpu/tile  ` +
        `(${round(tiles / 3, 0)} tiles/s on one core)`);
});

/* Seconds that one tile's noise, layer and PNG take, by the benchmark of tiles. */
function renderSeconds() {
    const program = process.env.BENCH_TILE ??
        fileURLToPath(new URL('../../build/tests/bench/bench_tile', import.meta.url));
    const line = /tile\/relief-256\/z10 +noise (\d+) us +layer (\d+) us +png (\d+) us/
        .exec(execFileSync(program).toString());
    return line.slice(1).reduce((sum, us) => sum + Number(us) / 1e6, 0);
}

const tilesASecond = async (daemon, y) => {
    const begun = process.hrtime.bigint(), rendered = await daemon.rendered();
    await wrk(daemon, { tiles: area(y), connections: 4 * CORES, seconds: 3 });
    const tiles = await daemon.rendered() - rendered;
    return tiles / (Number(process.hrtime.bigint() - begun) / 1e9);
};

/* How much of all cores goes into rendering when that is all there is to do. wrk takes its part. */
const coldThroughput = () => withDaemon('threads: 0', {}, async (daemon) => {
    const ideal = CORES / renderSeconds();
    const rate = await tilesASecond(daemon, 2000);
    say('cold-throughput', `${round(rate / ideal)} of cores/(noise+layer+png)  ` +
        `(${round(rate, 0)} of ${round(ideal, 0)} tiles/s on ${CORES} cores)`);
});

const HOT_STREAM = (world) => ['--stream', 'hot', '--rate', '2000', '--connections', '32',
    '--url', world.hot];
const FLOOD_STREAM = (rate, connections, y) => ['--stream', 'flood', '--poisson', '--rate', String(rate),
    '--connections', String(connections), '--source', '127.0.0.2-127.0.0.9',
    '--url', `${COLD}/{0..99999}/{${y}..${y + 99999}}.png`];
const LIMITS = 'limits: { connections: 4096 }\ncache: { disk: 20G }\n';

/* Ten times as many cold tiles as can be rendered, beside clients of one tile in memory. */
const flood = (world) => withDaemon(`threads: 0\n${LIMITS}`, { cache: undefined }, async (daemon) => {
    const seconds = 4;
    await daemon.bytes(world.hot);
    const capacity = await tilesASecond(daemon, 4000);
    const load = (...streams) =>
        openLoop(daemon, ['--seconds', String(seconds), '--grace', '3', ...streams.flat()]);

    const calm = (await load(HOT_STREAM(world))).stream.hot;
    const busy = (await load(HOT_STREAM(world), FLOOD_STREAM(0.7 * capacity, 256, 1000000))).stream.hot;
    const rendered = await daemon.rendered();
    const report = await load(HOT_STREAM(world), FLOOD_STREAM(10 * capacity, 2400, 2000000));
    const goodput = (await daemon.rendered() - rendered) / report.seconds;
    const { hot: hits, flood: cold } = report.stream;
    const shed = cold.status[503] ?? { count: 0, retry_after: 0, p99: 0 };

    const odd = Object.keys(cold.status).filter((status) => status !== '200' && status !== '503');
    insist(odd.length === 0, `flood: answered ${odd}`);
    insist(shed.retry_after === shed.count, `flood: ${shed.count} 503, ${shed.retry_after} Retry-After`);
    say('hot-p99-under-flood', `${round(hits.all.p99 / calm.all.p99, 1)}x  (${round(hits.all.p99)} ms, ` +
        `${round(calm.all.p99)} alone, ${round(busy.all.p99)} beside 0.7 of the miss capacity; ` +
        `of it the generator's own lag ${round(hits.lag.p99)}, ${round(calm.lag.p99)}, ` +
        `${round(busy.lag.p99)} ms)`);
    say('goodput-under-flood', `${round(goodput / capacity)}  (${round(goodput, 0)} of ` +
        `${round(capacity, 0)} tiles/s; the generator took ` +
        `${round(report.cpu_seconds / report.seconds)} of ${CORES} cores)`);
    const lost = Object.entries(cold.errors).filter(([, count]) => count)
        .map(([kind, count]) => `, ${count} ${kind}`).join('');
    say('shed-under-flood', `p99 ${round(shed.p99)} ms  (of ${cold.due} due ${shed.count} 503 with ` +
        `Retry-After, ${cold.status[200]?.count ?? 0} rendered${lost}; hits lost ` +
        `${hits.due - (hits.status[200]?.count ?? 0)} of ${hits.due})`);
});

/* From the start of the process to the line that says it serves; an empty cache. */
async function ready() {
    const times = [];
    for (let i = 0; i < 9; i++) {
        const begun = process.hrtime.bigint();
        const child = start(BINARY, ['serve', '--listen', '127.0.0.1:0', '--cache', scratch()]);
        await Promise.race([child.ended, new Promise((resolve) => { child.stdout.once('data', resolve); })]);
        times.push(Number(process.hrtime.bigint() - begun) / 1e6);
        insist(child.output.stdout.includes('serving'), `ready: ${child.output.stderr}`);
        child.kill();
        await child.ended;
    }
    say('ready', `${round(median(times), 0)} ms  (${round(Math.min(...times), 0)} to ` +
        `${round(Math.max(...times), 0)}; start to "serving" line)`);
}

/* Memory with many connections that each asked for one tile in memory and wait to ask again. */
async function rss(world) {
    const hard = execFileSync('sh', ['-c', 'ulimit -Hn']).toString().trim();
    const count = Math.min(10000, hard === 'unlimited' ? Infinity : Number(hard) - 1000);
    const config = `${ONE}limits: { connections: ${count + 100}, connections_per_client: 0 }`;
    await withDaemon(config, { cache: world.cache }, async (daemon) => {
        await daemon.bytes(world.hot);
        const before = residentBytes(daemon.pid);
        const crowd = await idle(daemon, count, world.hot);
        const resident = residentBytes(daemon.pid);
        insist(crowd.stream.answered >= count, `rss: ${crowd.stream.answered} answered`);
        await crowd.close();
        say('rss', `${round((resident - world.size) / 2 ** 20, 1)} MiB above the memory cache, with ` +
            `${count} idle connections  (${round((resident - before) / count / 1024, 1)} KiB each; ` +
            `${round(before / 2 ** 20, 1)} MiB without)`);
    });
}

/* One loop and two, on all cores, which they share with wrk. */
const shards = (world) => withDaemon('shards: 1\nthreads: 1', { cache: world.cache }, (one) =>
    withDaemon('shards: 2\nthreads: 1', { cache: world.cache }, async (two) => {
        const rates = [[], []];
        for (const which of [0, 1, 1, 0]) {
            const daemon = [one, two][which];
            await daemon.bytes(world.hot);
            rates[which].push((await wrk(daemon, { target: world.hot, seconds: SECONDS })).rate);
        }
        const [a, b] = rates.map((all) => Math.max(...all));
        say('shards', `2 are ${round(b / a)}x 1  (${round(b, 0)} and ${round(a, 0)} requests/s, ` +
            `${CORES} cores shared with wrk)`);
    }));

/* What these figures are worth: what others do on this machine while nothing of ours runs. */
async function neighbours() {
    const idle = () => os.cpus().reduce((sum, { times }) => sum + times.idle, 0);
    const before = idle();
    await sleep(1000);
    const busy = 1 - (idle() - before) / (1000 * CORES);
    if (busy > 0.05)
        say('neighbours', `${round(100 * busy, 0)} % of the CPU is taken by others: believe ratios by ` +
            'CPU rather than those by time');
}

const BENCHES = {
    hot, 304: notModified, disk, cold, 'cold-throughput': coldThroughput, flood, ready, rss, shards,
};

async function main(names) {
    for (const program of ['nginx', 'wrk', 'taskset'])
        if (!await has(program))
            return console.log(`http: skipped, for there is no ${program}; make bench-deps installs it`);
    if (CORES < 2)
        return console.log('http: skipped, for it takes two cores');
    const unknown = names.filter((name) => !(name in BENCHES));
    insist(unknown.length === 0, `no bench ${unknown}; there are ${Object.keys(BENCHES).join(' ')}`);
    await neighbours();
    const world = await prepare();
    for (const [name, bench] of Object.entries(BENCHES))
        if (names.length === 0 || names.includes(name))
            await bench(world);
    await world.nginx?.stop();
}

main(process.argv.slice(2)).catch((error) => {
    console.error(`http: ${error.message}`);
    process.exit(1);
});
