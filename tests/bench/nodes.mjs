// Several nodes behind HAProxy, configured by docker/haproxy: what each further node adds for cold
// tiles, and what the proxy costs.

import { Haproxy, NODE_YAML, Nodes } from '../cluster/cluster.mjs';
import { COLD, median, round, say } from './measure.mjs';
import { cpuSeconds, has, rush } from './programs.mjs';
import { allot, removeGroups } from './quota.mjs';

/* A node's share of a core: three nodes, the proxy and the load fit into two cores. */
const SHARE = 0.25;
const COUNTS = [1, 2, 3];
const ROUNDS = 3, SECONDS = 3;
/* Requests in progress per node: full load, at which the proxy bounds a node's share, and less. */
const BUSY = 96, CALM = 32;
/* Cold tiles are spread over an area of many 8 x 8 blocks of tiles, each visited once. */
const AREA = { columns: 256, rows: 4096, stride: 618033 };

/* docker/node.yaml with one thread of each kind, and a long wait so that other load refuses no tile. */
const CONFIG = `${NODE_YAML.replace(/^limits:$/m, 'limits:\n  wait: 10000')}\nshards: 1\nthreads: 1\nlog: error\n`;

const cpuOf = (programs) => programs.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);

/* Tiles per second and per second of node CPU, the busiest node's share, and proxy CPU per request. */
async function coldRun(nodes, proxy, count, connections, n) {
    const before = await nodes.metric('farlands_tiles_rendered_total');
    const cpu = cpuOf(nodes.all), own = proxy ? cpuSeconds(proxy.pid) : 0;
    const begun = process.hrtime.bigint();
    const { requests } = await rush(proxy ?? nodes.all[0], { connections: connections * count, seconds: SECONDS,
        tiles: [COLD, 0, n * AREA.rows, AREA.columns, AREA.columns * AREA.rows, AREA.stride] });
    const seconds = Number(process.hrtime.bigint() - begun) / 1e9;
    const each = (await nodes.metric('farlands_tiles_rendered_total')).map((after, i) => after - before[i]);
    const tiles = each.reduce((sum, one) => sum + one);
    return {
        rate: tiles / seconds, thrift: tiles / (cpuOf(nodes.all) - cpu), most: Math.max(...each) / tiles,
        proxy: proxy ? 1e6 * (cpuSeconds(proxy.pid) - own) / requests : 0,
    };
}

/* A hot tile, with and without the proxy: CPU of proxy and node per request, in microseconds. */
async function hotRun(node, proxy, target) {
    const cpu = cpuSeconds(node.pid), own = proxy ? cpuSeconds(proxy.pid) : 0;
    const { requests } = await rush(proxy ?? node, { target, seconds: SECONDS });
    return {
        node: 1e6 * (cpuSeconds(node.pid) - cpu) / requests,
        proxy: proxy ? 1e6 * (cpuSeconds(proxy.pid) - own) / requests : 0,
    };
}

const typical = (runs, what) => median(runs.map((run) => run[what]));

async function cold(nodes, proxies) {
    const kinds = [['direct', null, 1, BUSY], ...COUNTS.map((count) => [count, proxies[count - 1], count, BUSY]),
        ['calm', proxies.at(-1), COUNTS.at(-1), CALM]];
    const runs = new Map(kinds.map(([name]) => [name, []]));
    for (let i = 0; i < ROUNDS; i++)
        for (const [j, [name, ...how]] of (i % 2 ? [...kinds].reverse() : kinds).entries())
            runs.get(name).push(await coldRun(nodes, ...how, kinds.length * i + j));
    const [one, direct] = [runs.get(1), runs.get('direct')];
    say('nodes/cold-1', `${round(typical(one, 'rate') / typical(direct, 'rate'))}x direct  ` +
        `(${round(typical(one, 'rate'), 0)} and ${round(typical(direct, 'rate'), 0)} tiles/s, ` +
        `${SHARE} of a core a node)`);
    const against = (name, many, text) => {
        const ratios = many.map(({ rate }, i) => rate / one[i].rate);
        say(`nodes/${name}`, `${round(median(ratios))}x one  (${round(Math.min(...ratios))} to ` +
            `${round(Math.max(...ratios))}; ${round(typical(many, 'rate'), 0)} tiles/s, of which the busiest node rendered ` +
            `${round(100 * typical(many, 'most'), 0)} %; a tile costs ` +
            `${round(typical(one, 'thrift') / typical(many, 'thrift'))}x the CPU${text})`);
    };
    for (const count of COUNTS.slice(1))
        against(`cold-${count}`, runs.get(count), '');
    against(`calm-${COUNTS.at(-1)}`, runs.get('calm'), `; ${CALM} under way a node, where load is not bounded`);
    return typical(runs.get(COUNTS.at(-1)), 'proxy');
}

/* A small tile and a large one. */
const HOT = ['/default/gray/6/27/29.png', '/default/relief/8/122/122.png'];

/* The cost of proxying hot tiles. MISS: proxy CPU for a cold tile, in microseconds. */
async function hot(miss) {
    const nodes = await new Nodes(1, { config: CONFIG }).start();
    const proxy = await new Haproxy(nodes.authorities).start();
    try {
        await proxy.awaitUp(1);
        for (const target of HOT) {
            const { length } = await proxy.bytes(target);
            const through = [], direct = [];
            for (let i = 0; i < ROUNDS; i++) {
                through.push(await hotRun(nodes.all[0], proxy, target));
                direct.push(await hotRun(nodes.all[0], null, target));
            }
            say('nodes/proxy', `${round(typical(through, 'proxy'), 0)} us cpu/request  (a tile of ${round(length / 1024, 0)} ` +
                `KiB in memory; the node takes ${round(typical(through, 'node'), 1)} itself, and ` +
                `${round(typical(direct, 'node'), 1)} without a proxy)`);
        }
        say('nodes/proxy-cold', `${round(miss, 0)} us cpu/request  (relief tiles that must be rendered)`);
    } finally {
        await proxy.stop();
        await nodes.stop();
    }
}

export async function nodes() {
    if (!await has('haproxy'))
        return console.log('http/nodes: skipped: no haproxy; make bench-deps installs it');
    const all = new Nodes(COUNTS.at(-1), { config: CONFIG });
    const proxies = [];
    let miss = NaN;
    try {
        await all.start();
        for (const count of COUNTS)
            proxies.push(await new Haproxy(all.authorities.slice(0, count)).start());
        await Promise.all(proxies.map((proxy, i) => proxy.awaitUp(COUNTS[i])));
        if (all.all.every(({ pid }) => allot(pid, SHARE)))
            miss = await cold(all, proxies);
        else
            console.log('http/nodes: cold tiles skipped: limiting nodes to a share of a core ' +
                'needs root and CPU control groups');
    } finally {
        for (const proxy of proxies)
            await proxy.stop();
        await all.stop();
        removeGroups();
    }
    await hot(miss);
}
