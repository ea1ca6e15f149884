// Attack 11: small requests with a high cost, and bytes that other programs do not expect.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { compile, loadTerrain } from '../../server/viewer/farlands.js';
import { BINARY, eventually, patience, scratchFile, withFractal } from '../http/program.mjs';
import { eachRow } from '../http/table.mjs';
import { ATTACKERS, HOT, TIMED, attackers, cpuOf, withDaemon, withstand } from './scene.mjs';

const PROXIES = 'proxies: [127.0.0.0/8, 10.0.0.0/8]\n';
/* The longest chain that a head of 12 KiB holds. */
const CHAIN = `X-Forwarded-For: 192.0.2.1, ${Array.from({ length: 1100 }, (_, i) => `10.0.0.${i % 10}`).join(',')}`;

describe('attack 11: headers and documents', { timeout: patience(240000) }, () => {
    it('11a 1,100 listed proxies in X-Forwarded-For', (t) => withstand(t, '11a', {
        config: PROXIES,
        attack: attackers('--rate', 6000, '--connections', 400, '--source', ATTACKERS[0], '--header', CHAIN, '--url', HOT),
    }));

    /* 0.1 ms at most, as all that is done on an event loop. libmicrohttpd searches a long line byte by byte, twice. */
    it('11b their CPU', { skip: TIMED ? false : 'measures time: make bench-attacks' }, (t) => withDaemon({ config: PROXIES }, async (daemon) => {
        await daemon.bytes(HOT);
        const plain = await cpuOf(daemon, ['--url', HOT]);
        t.diagnostic(`11b: hot ${plain.toFixed(3)} ms`);
        await eachRow([
            ['1,100 proxies', 0.1, () => ['--header', CHAIN, '--url', HOT]],
            ['documents of seeds', 0.1, () => ['--url', '/default:{0..1000000000}.json']],
            ['TileJSON of seeds', 0.1, () => ['--url', '/default:{0..1000000000}/relief.json']],
            ['304s of seeds', 0.1, () => ['--header', 'If-None-Match: *', '--url', '/default:{0..1000000000}/relief/6/31/32.png']],
        ], async ([what, most, stream]) => {
            const ms = await cpuOf(daemon, stream());
            t.diagnostic(`11b: ${what} ${ms.toFixed(3)} ms`);
            assert.ok(ms < most, `${ms.toFixed(3)} ms, at most ${most.toFixed(3)} expected`);
        });
    }));

    it('11c control characters of clients do not reach stderr', () => withDaemon({
        config: false, args: ['--config', scratchFile('farlands.yaml', withFractal('log: debug'))],
    }, async (daemon) => {
        for (const control of ['\x1b[31m', '\x9b31m', '\xc2\x9b31m', '\xc2\x85', '\x7f'])
            for (const head of [`GET /${control} HTTP/1.1\r\nHost: a`, `GET /healthz HTTP/1.1\r\nHost: a${control}`,
                `GET /healthz HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${control}\r\nUser-Agent: ${control}`,
                `${control} /healthz HTTP/1.1\r\nHost: a`])
                await daemon.raw(Buffer.from(`${head}\r\n\r\n`, 'latin1'), { limit: 2000 }).catch(() => {});
        assert.ok(await eventually(() => daemon.stderr.includes('debug')), 'nothing is logged');
        const text = Buffer.concat(daemon.program.stderr).toString('latin1')
            .replace(/\xc2[\xa0-\xbf]|[\xc3-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/g, '');
        assert.doesNotMatch(text, /[\0-\x09\x0b-\x1f\x7f-\x9f]/);
    }));

    it('11d farlands.js refuses sizes that are no whole numbers', () => withDaemon({}, async (daemon) => {
        const wasm = await compile(fs.readFileSync(path.join(path.dirname(BINARY), 'farlands.wasm')));
        const terrain = await loadTerrain(wasm, (await daemon.bytes('/default.json')).toString());
        const at = { x: 0n, y: 0n };
        await eachRow([[1.5, 1], [1, 1.5], [2.999, 3.999], [-1, -1], [NaN, 1], [Infinity, 1], ['2', 2.5], [65536.5, 1.5], [2 ** 32 + 2, 2]],
            ([width, height]) => {
                assert.throws(() => terrain.heights({ ...at, width, height }), RangeError);
                assert.throws(() => terrain.densities({ ...at, z: 0n, width, height, depth: 1 }), RangeError);
                assert.throws(() => terrain.densities({ ...at, z: 0n, width: 1, height: width, depth: height }), RangeError);
            });
        assert.equal(terrain.heights({ ...at, width: 2, height: 3 }).length, 6);
    }));
});
