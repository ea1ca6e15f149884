// limits.memory: responses that wait for their readers are counted, bounded in all and per client,
// and released however they end.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { blocks, target } from './boxes.mjs';
import { useDaemon, withDaemon } from './daemon.mjs';
import { TIMEOUT, eventually, scratchFile, withFractal } from './program.mjs';
import { open } from './streams.mjs';
import { assertError, assertStatus, eachRow } from './table.mjs';

const MEBIBYTE = 1 << 20;
const LIMIT = 8 * MEBIBYTE;

let column = 0;
const place = (form, sides) => target([blocks(8192 * ++column), 0n], sides, { form });
/* Targets that were not requested before, and the most memory that each holds: a stream has two
 * pieces, or four if its reader had to wait. */
const region = () => place('f32', [512, 512]);
const stream = () => place('f32', [2049, 2049]);
const tile = () => `/default/height/16/${++column}/99@2x.f32`;
const KINDS = [
    ['region', region, MEBIBYTE],
    ['tile', tile, MEBIBYTE],
    ['stream', stream, 4.1 * MEBIBYTE],
    ['picture', () => place('png', [4097, 4097]), 2.1 * MEBIBYTE],
];

const config = `limits: { memory: ${LIMIT} }\nproxies: [127.0.0.1, unix]\ncache: { memory: 1M }\n`;
const from = (client) => ({ 'X-Forwarded-For': client });

const held = (daemon) => daemon.metric('farlands_response_bytes');
const refused = (daemon) => daemon.metric('farlands_responses_refused_total');
const isReleased = (daemon) => eventually(async () => await held(daemon) === 0);

const MANY = 40;

/* Readers of responses that read their heads alone, as many as are needed until BYTES are held, or
 * until one is refused. */
async function stall(daemon, bytes, next, client) {
    const readers = [];
    let last;
    do {
        last = await open(daemon, next(), from(client));
        readers.push(last);
        await sleep(20); // not longer on a slow machine: those that stall for 10 s are reset
    } while (last.status === 200 && readers.length < MANY &&
        (bytes === Infinity || await held(daemon) < bytes));
    return readers;
}

const leave = (readers) => readers.forEach((reader) => reader.leave());

describe('limits.memory', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon({ config, unix: true });

    const answers = (path, client) =>
        eventually(async () => (await daemon.get(path, from(client))).status === 200);

    it('is in the metrics', async () => {
        assert.equal(await daemon.metric('farlands_response_limit_bytes'), LIMIT);
        assert.ok(await isReleased(daemon));
    });

    it('is by default an eighth of the memory, from 64 MiB to 1 GiB', () => withDaemon(async (other) => {
        const limit = await other.metric('farlands_response_limit_bytes');
        assert.ok(limit >= 64 * MEBIBYTE && limit <= 1024 * MEBIBYTE, `${limit}`);
    }));

    it('leaves others as much as one client holds', () => eachRow(KINDS, async ([, next, most]) => {
        const before = await refused(daemon);
        const readers = await stall(daemon, Infinity, next, '192.0.2.1');
        try {
            const { status, headers } = readers.at(-1);
            assert.equal(status, 503);
            assert.match(headers['retry-after'], /^[1-9]\d*$/);
            const bytes = await held(daemon);
            assert.ok(Math.abs(bytes - LIMIT / 2) <= most / 2, `${bytes} held`);
            assertError(await daemon.get(next(), from('192.0.2.1')), 503, /this client reads too slowly/);
            assert.equal(await refused(daemon), before + 2);
            // Another client is served, and the same client gets what needs no memory.
            assertStatus(await daemon.get(next(), from('192.0.2.2')), 200);
            assertStatus(await daemon.get('/healthz', from('192.0.2.1')), 200);
            // What takes at most 2 KiB needs none.
            assert.ok(await answers(target([0n, 0n], [1, 1]), '192.0.2.1'));
            // When its responses have been read, the client may have others.
            await Promise.all(readers.slice(0, -1).map((reader) => reader.rest()));
            assert.ok(await answers(next(), '192.0.2.1'));
        } finally {
            leave(readers);
        }
        assert.ok(await isReleased(daemon), `${await held(daemon)} bytes are not released`);
    }));

    it('counts tiles of the cache that are read slowly, each once', () => withDaemon(async (other) => {
        const hot = Array.from({ length: 5 }, tile);
        for (const one of [...hot, ...hot])
            assertStatus(await other.get(one), 200);
        const readers = [];
        let next = 0;
        // Two readers of each of four tiles.
        for (let i = 0; i < 8; i++)
            readers.push(await stall(other, Math.min(i + 1, 4) * MEBIBYTE, () => hot[next++ % 4], '192.0.2.1'));
        assert.equal(await held(other), 4 * MEBIBYTE);
        assert.equal(await refused(other), 0);
        // A reader of the fifth would hold more than is left, and is cut off.
        const fifth = await open(other, hot[4], from('192.0.2.1'));
        await assert.rejects(fifth.rest(), /cut/);
        assert.equal(await refused(other), 1);
        // The others finish, and nothing is held.
        await Promise.all(readers.flat().map((reader) => reader.rest()));
        assert.ok(await isReleased(other), `${await held(other)} bytes are not released`);
        leave(readers.flat());
        assert.equal(await other.rendered(), 5);
    }, { config: config.replace('1M', '64M'), unix: true }));

    it('returns to zero after aborts of all kinds', async () => {
        for (let round = 0; round < 3; round++) {
            const opened = await Promise.allSettled(Array.from({ length: 40 }, (_, i) => {
                const [, next] = KINDS[i % KINDS.length];
                return open(daemon, next(), from(`192.0.2.${i % 5}`));
            }));
            const readers = opened.filter(({ value }) => value).map(({ value }) => value);
            readers.filter((_, i) => i % 3 === 0).forEach((reader) => reader.flow());
            await sleep(50 * round);
            leave(readers);
        }
        // Clients that leave before the response begins.
        const early = Array.from({ length: 20 }, (_, i) => daemon.connect().then((connection) => {
            connection.send(Buffer.from(`GET ${KINDS[i % 4][1]()} HTTP/1.1\r\nHost: a\r\n\r\n`));
            setTimeout(() => connection.close(), i);
        }));
        await Promise.all(early);
        assert.ok(await isReleased(daemon), `${await held(daemon)} bytes are not released`);
        // Another client than those that left: their last renders may still end now.
        for (const [, next] of KINDS) {
            assertStatus(await daemon.get(next(), from('192.0.2.9')), 200);
            assert.ok(await isReleased(daemon));
        }
    });

    it('can be changed by a reload', async () => {
        const file = scratchFile('changing.yaml', withFractal(config));
        await withDaemon(async (other) => {
            const readers = await stall(other, 3 * MEBIBYTE, region, '192.0.2.1');
            fs.writeFileSync(file, withFractal(config.replace(`${LIMIT}`, '2G')));
            other.kill('SIGHUP');
            assert.ok(await eventually(async () => await other.metric('farlands_response_limit_bytes') === 2048 * MEBIBYTE));
            const more = await stall(other, 8 * MEBIBYTE, region, '192.0.2.1');
            assert.equal(more.at(-1).status, 200);
            leave([...readers, ...more]);
            assert.ok(await isReleased(other));
        }, { args: ['--config', file], unix: true });
    });
});
