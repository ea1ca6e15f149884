// Attack 12: samples far apart. In worlds with rivers each sample takes a search of its own, about 40 ms of a core.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Faults } from '../faults/faults.mjs';
import { TIMEOUT, eventually, scratch } from '../http/program.mjs';
import { assertError, eachRow } from '../http/table.mjs';
import { connect, request } from '../http/wire.mjs';
import { ANYWHERE, FAR, FAR_REGION, FAR_VOLUME, SEED, rowsOf, urls } from './rows.mjs';
import { DAEMON_CORES, Meter, coldTiles, fromOneAndFour, sparesLoops, withDaemon, workUntil } from './scene.mjs';

/* What would take a core an hour or more. */
const ENDLESS = [
    `/default/region.png?x=0&y=0&width=512&height=512${FAR}`,
    `/default/region.f32?x=0&y=0&width=4097&height=4097${FAR}`,
    `/default/region.u8?x=0&y=0&width=512&height=512${FAR}&field=biome`,
    `/alps/region.f32?x=0&y=0&width=512&height=512${FAR}&field=surface`,
    `/archipelago/region.png?x=0&y=0&width=1024&height=1024&step=65536`,
    `/default/volume.f32?x=0&y=0&z=0&width=4096&height=4096&depth=1${FAR}`,
];

/* What takes a core seconds, and is accepted. */
const LONG = [
    ['a row of heights', `/default/region.f32?x=0&y=0&width=400&height=1${FAR}`],
    ['rows of biomes', `/default/region.u8?x=0&y=0&width=200&height=2${FAR}&field=biome`],
    ['a picture', `/default/region.png?x=0&y=0&width=22&height=22&step=65536`],
    ['a volume', `/default/volume.f32?x=0&y=0&z=0&width=14&height=14&depth=1${FAR}`],
];

const isRunning = async (daemon) => await daemon.metric('farlands_renders_running') > 0;

/* Connections that ask for TARGET at different places, while a render thread is at work for them. */
async function begin(daemon, target, count) {
    assert.ok(await eventually(async () => !await isRunning(daemon)), 'the work of others goes on');
    const connections = await Promise.all(Array.from({ length: count }, () => connect(daemon)));
    connections.forEach((connection, i) => connection.send(request('GET', target.replace('x=0', `x=${i}`))));
    assert.ok(await eventually(async () => connections[0].received > 0 || await isRunning(daemon)), 'not begun');
    assert.doesNotMatch(connections[0].buffer.toString('latin1', 0, 20), / 413 /, 'refused');
    return connections;
}

describe('attack 12: samples far apart', { timeout: TIMEOUT }, () => {
    rowsOf('12').forEach((row) => fromOneAndFour(...row));

    /* The only render thread is busy until clear(): none of these has needed it. */
    it('12c what would take hours is refused without a render thread', () => {
        const faults = new Faults(scratch());
        return withDaemon({ builtIn: true, env: faults.env, limits: 'queue: 1000' }, async (daemon) => {
            faults.hold('encode');
            const { connections } = await daemon.queue(Array.from({ length: 4 * DAEMON_CORES }, (_, i) => `/default/relief/12/5/${i}.png`));
            const calculations = await daemon.metric('farlands_calculations_total');
            await eachRow(ENDLESS, async (target) => {
                const answer = await daemon.get(target, {}, { limit: 30000 });
                assertError(answer, 413, /\d/);
            });
            assert.equal(await daemon.metric('farlands_calculations_total'), calculations, 'it is calculated');
            faults.clear();
            connections.forEach((connection) => connection.close());
        });
    });

    /* Within a block of samples; but in the first 100 ms nobody looks, as most requests have ended by then. */
    it('12d what takes seconds is given up if its client leaves', (t) => withDaemon({ builtIn: true }, async (daemon) => {
        const meter = await Meter.of(daemon);
        await eachRow(LONG, async ([what, target]) => {
            const abandoned = await daemon.metric('farlands_abandoned_total');
            const [connection] = await begin(daemon, target, 1);
            const tiles = await workUntil(daemon, meter, 20 * DAEMON_CORES, () => connection.close(), async () => !await isRunning(daemon) &&
                await daemon.metric('farlands_abandoned_total') > abandoned);
            t.diagnostic(`12d: ${what}: the work of ${tiles} tiles of ${meter.tile.toFixed(1)} ms`);
        });
    }));

    /* What would not end within limits.drain, in which a core renders some 600 tiles, ends at once. */
    it('12e what takes longer than the drain is given up at SIGTERM', (t) => eachRow(LONG, ([what, target]) =>
        withDaemon({ builtIn: true, limits: 'drain: 8' }, async (daemon) => {
            const meter = await Meter.of(daemon);
            const connections = await begin(daemon, target, 8 * DAEMON_CORES);
            const tiles = await workUntil(daemon, meter, 100 * DAEMON_CORES, () => daemon.kill(), () => !daemon.program.running);
            t.diagnostic(`12e: ${what}: the work of ${tiles} tiles`);
            connections.forEach((connection) => connection.close());
        })));

    /* As a cold tile, they are handed to a render thread. */
    it('12f event loops compute none of it', (t) => sparesLoops(t, [
        ['regions of far samples', 3, 16, ['--url', FAR_REGION], coldTiles()],
        ['far volumes', 3, 8, ['--url', FAR_VOLUME], coldTiles()],
        ['heights of other seeds', 3, 40, ['--url', `/default:${SEED}/height?${ANYWHERE}`], coldTiles()],
        ['refused regions', 15, 200, urls(ENDLESS)],
    ]));
});
