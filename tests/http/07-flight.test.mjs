// Concurrent requests: one render per tile however many clients request it, and all
// get a response.

import assert from 'node:assert/strict';
import http from 'node:http';
import { describe, it } from 'node:test';
import { useDaemon, withDaemon } from './daemon.mjs';
import { SLOWEST_WORLD, TIMEOUT, eventually, fewer } from './program.mjs';
import { decodePng, pngChunks } from './png.mjs';
import { assertStatus, eachRow } from './table.mjs';
import { request } from './wire.mjs';

describe('many requests', { timeout: TIMEOUT }, () => {
    // A long wait limit, so that a slow machine sheds none of hundreds of cold tiles.
    const daemon = useDaemon({ config: 'limits: { wait: 60000 }\n' });
    /* One connection per request. */
    const concurrent = { agent: new http.Agent({ keepAlive: false, maxSockets: Infinity }) };

    it('for one cold tile share one render', () => eachRow([
        ['/default/relief/10/100/100@2x.png', 'relief'],
        ['/default/relief/-5/1/-1.png', 'relief'],
        ['/default/gray/10/100/100.png', 'gray'],
        ['/default/height/10/100/100@2x.png', 'height'],
        ['/default/height/10/101/100@2x.f32', 'height'],
        ['/default/relief/10/101/100@2x.webp', 'relief'],
    ], async ([tile, layer]) => {
        const before = await daemon.metrics();
        const answers = await Promise.all(Array.from({ length: 64 }, () => daemon.get(tile, {}, concurrent)));
        const after = await daemon.metrics();
        const rise = (name) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
        for (const answer of answers) {
            assertStatus(answer, 200);
            assert.ok(answer.body.equals(answers[0].body), 'different bytes');
            assert.equal(answer.headers.etag, answers[0].headers.etag);
        }
        assert.equal(rise(`farlands_tiles_rendered_total{layer="${layer}",format="${tile.split('.').at(-1)}"}`), 1, 'renders');
        assert.ok(rise('farlands_cache_misses_total') >= 1, 'misses');
        const shared = rise('farlands_coalesced_total') + rise('farlands_cache_hits_total{tier="memory"}');
        assert.ok(shared >= 63, `${shared} requests shared the render, expected 63`);
        assert.equal(rise('farlands_requests_total{code="200"}'), 64 + 1, 'requests including /metrics');
    }));

    it('for one cold tile on one connection share one render', async () => {
        const tile = '/default/relief/10/200/200@2x.png';
        const before = await daemon.rendered();
        const { answers } = await daemon.raw(request('GET', tile).repeat(20),
            { methods: Array(20).fill('GET') });
        for (const answer of answers)
            assert.ok(answer.status === 200 && answer.body.equals(answers[0].body));
        assert.equal(await daemon.rendered(), before + 1);
    });

    it('for different cold tiles all succeed', async () => {
        const count = fewer(300);
        const tiles = Array.from({ length: count }, (_, i) =>
            `/default/${['relief', 'gray', 'height'][i % 3]}/9/${i % 20}/${200 + Math.floor(i / 20)}.png`);
        const before = await daemon.rendered();
        const answers = await Promise.all(tiles.map((tile) => daemon.get(tile, {}, concurrent)));
        assert.equal(await daemon.rendered(), before + count);
        assert.equal(new Set(answers.map(({ headers }) => headers.etag)).size, count, 'ETags');
        assert.equal(new Set(answers.map(({ body }) => body.toString('latin1'))).size, count, 'pictures');
        await eachRow(tiles.map((tile, i) => [tile, i]), async ([tile, i]) => {
            assertStatus(answers[i], 200);
            pngChunks(answers[i].body);
            if (i % 10 === 0) {
                assert.equal(decodePng(answers[i].body).width, 256);
                assert.deepEqual(await daemon.bytes(tile), answers[i].body, 'second request');
            }
        });
        assert.equal(await daemon.rendered(), before + count, 'rendered again');
    });

    it('log the steps of a fetch once, at the level debug', () => withDaemon(async (other) => {
        const tiles = ['relief/9/3/4.png', 'height/9/3/4.f32'];
        for (const tile of [...tiles, ...tiles])
            await other.bytes(`/default/${tile}`);
        for (const tile of tiles) {
            const steps = () => [...other.stderr.matchAll(/tile [0-9a-f]+\/(\S+): ([A-Z]+)$/gm)]
                .filter(([, path]) => path === tile).map(([, , step]) => step);
            await eventually(() => steps().includes('END'));
            // A tile may be looked for on disk, and be rendered in slices.
            const known = steps().filter((step, i, all) => step !== 'READ' && step !== all[i - 1]);
            assert.deepEqual(known, ['RENDER', 'KEEP', 'ANSWER', 'END'], tile);
        }
    }, { config: 'log: debug\n' }));

    const HOT = '/default/relief/10/1/1.png';
    /* Run check(daemon, queued) after HOT was rendered, while requests for TILES, which take much longer than the check, wait. */
    const whilePending = (tiles, headers, check) => withDaemon(async (other) => {
        await other.bytes(HOT);
        const connections = await Promise.all(tiles.map(() => other.connect()));
        connections.forEach((connection, i) => connection.send(request('GET', tiles[i], { Host: 'a', ...headers })));
        const queued = () => other.metric('farlands_queue_length');
        assert.ok(await eventually(async () => await queued() > tiles.length / 2), `${await queued()} wait`);
        await check(other, queued);
        for (const connection of connections)
            connection.close();
    }, { config: `threads: 1\nlimits: { wait: 60000 }\nworlds: [{ name: default }, ${SLOWEST_WORLD}]\n` });
    const slowTiles = Array.from({ length: 20 }, (_, i) => `/slow/normal/13/${i}/78.png`);

    it('in the background do not delay an interactive request for the same tile', () =>
        whilePending(slowTiles, { Priority: 'u=7' }, async (other, queued) => {
            assertStatus(await other.get(slowTiles.at(-1)), 200);
            assert.ok(await queued() > slowTiles.length / 4, `it waited until ${await queued()} were left`);
        }));

    it('do not delay hits', () => whilePending(slowTiles, {}, async (other, queued) => {
        for (let hit = 0; hit < 20; hit++)
            await other.bytes(HOT);
        assert.ok(await queued() > slowTiles.length / 4, `they waited until ${await queued()} were left`);
    }));
});
