// Many nodes behind HAProxy with the unchanged configuration in docker/haproxy: each metatile has one
// node, and no request fails when a node dies, drains or is added.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually, patience } from '../http/program.mjs';
import { load, underLoad } from '../load/client.mjs';
import { Haproxy, Names, Nodes, PATIENT_YAML, assertNoneFail, assertShare, moved, owners } from './cluster.mjs';

const METATILE = 8;

/* Tiles all over the plane, a few in each of many metatiles: { target, metatile }. */
function tiles() {
    const list = [];
    const worlds = ['default', 'default:42'];
    const kinds = [['relief', ['png', '@2x.png']], ['height', ['r16', 'f32']], ['hillshade', ['png']]];
    const add = (world, layer, z, x, y, kind) => list.push({
        target: `/${world}/${layer}/${z}/${x}/${y}${kind.startsWith('@') ? kind : `.${kind}`}`,
        metatile: [world, layer, z, Math.floor(x / METATILE), Math.floor(y / METATILE)].join(' '),
    });
    for (const world of worlds)
        for (const [layer, endings] of kinds)
            for (const [z, middle] of [[-3, 0], [4, 0], [9, -1], [14, -100000], [16, 70000]])
                for (const [dx, dy] of [[-9, -1], [-8, 0], [-1, -8], [0, -9], [7, 8]])
                    for (const ending of endings)
                        add(world, layer, z, middle + dx, middle + dy, ending);
    return list;
}

function shuffled(list) {
    let state = 1;
    const random = () => (state = state * 48271 % 2147483647) / 2147483647;
    return list.map((item) => [random(), item]).sort(([a], [b]) => a - b).map(([, item]) => item);
}

/* Request all TARGETS with COUNT clients, and call visit(target, answer) for each response. */
async function requestAll(proxy, targets, count, visit) {
    const left = [...targets];
    await Promise.all(Array.from({ length: count }, async () => {
        for (let target; (target = left.pop());)
            visit(target, await proxy.get(target));
    }));
}

describe('three nodes behind HAProxy', { timeout: patience(120000) }, () => {
    /* The fourth is added in the last test. */
    const nodes = new Nodes(4, { config: PATIENT_YAML });
    let proxy;
    before(async () => {
        await nodes.start();
        nodes.all[3].kill();
        proxy = await new Haproxy(nodes.authorities).start();
        await proxy.awaitUp(3);
    });
    after(async () => {
        await proxy?.stop();
        await nodes.stop();
    });

    it('render each tile once, and each metatile of 8 x 8 tiles on one node', async (t) => {
        const all = tiles();
        const metatile = new Map(all.map((tile) => [tile.target, tile.metatile]));
        const nodesOf = new Map();
        const targets = shuffled([...all, ...all, ...all].map((tile) => tile.target));
        await requestAll(proxy, targets, 16, (target, { status, headers }) => {
            assert.equal(status, 200, target);
            const place = metatile.get(target);
            nodesOf.set(place, (nodesOf.get(place) ?? new Set()).add(headers['farlands-node']));
        });
        const encoded = all.map(({ target }) => target.replace('default', '%64efault').replace('@', '%40').replace('.', '%2E'));
        await requestAll(proxy, encoded, 16, (target, { status, headers }) => {
            assert.equal(status, 200, target);
            nodesOf.get(metatile.get(decodeURIComponent(target))).add(headers['farlands-node']);
        });
        assert.equal(await nodes.sum('farlands_tiles_rendered_total'), metatile.size);
        for (const [place, names] of nodesOf)
            assert.equal(names.size, 1, `${place} is on ${[...names]}`);
        const shares = (await nodes.metric('farlands_tiles_rendered_total'))
            .map((count) => count / metatile.size);
        t.diagnostic(`${metatile.size} tiles of ${nodesOf.size} places: ` +
            shares.map((share) => `${(100 * share).toFixed(1)} %`).join(', '));
        for (const share of shares)
            assert.ok(share > 0.15 && share < 0.55, `shares are ${shares}`);
    });

    /* One tile in each of many metatiles, so that each node has a share. */
    const hot = Array.from({ length: 300 }, (_, i) =>
        `/default/relief/12/${METATILE * (i % 20)}/${-METATILE * Math.floor(i / 20)}.png`);
    /* Of eight requests six are for these, one is for a new tile, and one for a large body. */
    const targets = hot.flatMap((target, i) => (i % 6 ? [target]
        : [target, '/default/relief/13/{0..1000000}/3.png', `/default/height/12/${METATILE * (i / 6 % 20)}/0.f32`]));

    /* Run WORK under the load of 30 clients, and assert that no request fails. */
    async function undisturbed(work, killed) {
        const CLIENTS = 30;
        const retried = () => proxy.log.filter(({ retries }) => retries > 0).length;
        const before = retried();
        const { answers, failures } = await underLoad(load(proxy, targets, CLIENTS, { pause: 10 }), async (clients) => {
            const more = async () => {
                const { answers } = clients.state;
                assert.ok(await eventually(() => clients.state.answers > answers + 200), 'few responses');
            };
            await more();
            await work();
            await more();
            return clients.stop();
        });
        assertNoneFail({ answers, failures }, CLIENTS, killed);
        return `${answers} requests, ${retried() - before} of them retried on another node`;
    }

    for (const [event, signal, index] of [['dies', 'SIGKILL', 1], ['drains', 'SIGTERM', 2]])
        it(`lose no request when one ${event} and restarts`, async (t) => {
            const name = `node${index + 1}`;
            const all = await owners(proxy, hot);

            t.diagnostic(await undisturbed(async () => {
                nodes.all[index].kill(signal);
                await nodes.all[index].ended();
                await proxy.awaitUp(2);
            }, signal === 'SIGKILL'));
            const others = await owners(proxy, hot);
            t.diagnostic(`${name} ${event}: ${assertShare(others, all, name, 3)}`);

            t.diagnostic(await undisturbed(async () => {
                await nodes.restart(index);
                await proxy.awaitUp(3);
            }));
            assert.equal(moved(all, await owners(proxy, hot)), 0, 'the owners differ from before');
        });

    it('lose no request when a fourth is added, which takes its share', async (t) => {
        const three = await owners(proxy, hot);
        t.diagnostic(await undisturbed(async () => {
            await nodes.restart(3);
            await proxy.awaitUp(4);
        }));
        t.diagnostic(assertShare(three, await owners(proxy, hot), 'node4', 4));
    });
});

describe('three nodes with host names', { timeout: patience(60000) }, () => {
    it('keep their tiles when one changes its address', async () => {
        const nodes = await new Nodes(3).start();
        const addressOf = (i) => [`node${i}.test`, nodes.all[i].host];
        const names = await new Names(Object.fromEntries([0, 1, 2].map(addressOf))).start();
        /* The fourth is configured, but has no address yet. */
        const proxy = new Haproxy([...nodes.all.map((node, i) => `node${i}.test:${node.port}`), 'node3.test:8080'],
            { env: { FARLANDS_DNS: names.authority } });
        try {
            await proxy.start();
            await proxy.awaitUp(3);
            const places = Array.from({ length: 60 }, (_, i) => `/default/relief/8/${METATILE * i}/0.png`);
            const before = await owners(proxy, places);
            nodes.all[1].kill();
            await nodes.move(1);
            names.addresses['node1.test'] = nodes.all[1].host;
            /* Its old address no longer responds, so a response in its name comes from the new one. */
            const back = async () => moved(before, await owners(proxy, places)) === 0;
            assert.ok(await eventually(back), 'the owners differ from before');
        } finally {
            await proxy.stop();
            await nodes.stop();
            names.stop();
        }
    });
});
