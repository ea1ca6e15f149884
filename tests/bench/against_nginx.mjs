// Tiles from memory, from disk and 304s, compared with nginx serving the same bytes from files:
// both on one core in turn, the load on another.

import { cpuSeconds, head, nginx, rush } from './programs.mjs';
import {
    CLIENT_CORE, FEW, ONE_OF_EACH, SERVER_CORE, insist, median, round, say, withDaemon,
} from './measure.mjs';

const ROUNDS = 5;
const SECONDS = 2;

/* One run: requests per second, and the server's CPU per request in microseconds. */
async function once(server, load, seconds = SECONDS) {
    const before = cpuSeconds(server.pid);
    const { rate, requests } = await rush(server, { seconds, core: CLIENT_CORE, ...load });
    return { rate, requests, cpu: (cpuSeconds(server.pid) - before) / requests * 1e6 };
}

/* Run farlands and nginx in turn, alternating which is first; ratios of adjacent runs. */
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

/* nginx's ways of sending a file. */
const SENDING = {
    sendfile: 'sendfile on; tcp_nopush off;',
    'sendfile and nopush': 'sendfile on; tcp_nopush on;',
    writev: 'sendfile off; output_buffers 1 64k;',
};

/* nginx, configured in the way that takes the least CPU on this machine for such a tile. */
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

/* One tile in memory. */
export const hot = (world) => withNginx(world, (rival) =>
    withDaemon(ONE_OF_EACH, { cache: world.cache, core: SERVER_CORE }, async (daemon) => {
        await daemon.bytes(world.hot);
        const before = await tiers(daemon);
        const requests = await duel('hot', [daemon, { target: world.hot }], [rival, { target: world.hot }]);
        const after = await tiers(daemon);
        insist(after.memory - before.memory >= requests && after.rendered === before.rendered,
            'hot: not served from memory');
    }));

/* The same tile, requested with its ETag. */
export const notModified = (world) => withNginx(world, (rival) =>
    withDaemon(ONE_OF_EACH, { cache: world.cache, core: SERVER_CORE }, async (daemon) => {
        const load = async (server) => {
            const { headers: { etag } } = await head(server, world.hot);
            const { status } = await head(server, world.hot, { 'If-None-Match': etag });
            insist(status === 304, `304: ${status}`);
            return { target: world.hot, headers: [`If-None-Match: ${etag}`] };
        };
        await duel('304', [daemon, await load(daemon)], [rival, await load(rival)]);
    }));

/* Many tiles, none of them in memory; both servers have the kernel's page cache. */
export const disk = (world) => withNginx(world, (rival) =>
    withDaemon(`${ONE_OF_EACH}cache: { memory: 0 }`, { cache: world.cache, core: SERVER_CORE },
        async (daemon) => {
            const load = { tiles: [FEW.prefix, FEW.x, FEW.y, FEW.width, FEW.count] };
            const before = await tiers(daemon);
            const requests = await duel('disk', [daemon, load], [rival, load]);
            const after = await tiers(daemon);
            insist(after.disk - before.disk >= 0.99 * requests && after.rendered === before.rendered,
                `disk: of ${requests}, ${after.disk - before.disk} from disk`);
        }));
