// Attack 4: one client fills the queue of renders.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { patience } from '../http/program.mjs';
import { request } from '../http/wire.mjs';
import { ATTACKERS, EVERYONE, attackers, coldTiles, floods, inheriting, noIpv6, withstand } from './scene.mjs';

/* Few samples in many rows. */
const VOLUME = request('GET', '/default/volume.f32?x={-1000000..1000000}&y={-1000000..1000000}&z=0&width=1&height=63&depth=4097');
const LARGE_TILE = '/default/relief/13/{0..31}/{0..100000000}@2x.png';
const LARGE = request('GET', LARGE_TILE);

describe('attack 4: a full queue', { timeout: patience(120000) }, () => {
    it('4a narrow volumes from one address that obeys Retry-After', (t) => withstand(t, '4a', {
        attack: attackers({ connections: 480, request: VOLUME, obeys: true }),
    }));

    it('4b large tiles on 500 connections from one address', (t) => withstand(t, '4b', {
        attack: attackers({ connections: 500, request: LARGE }),
    }));

    it('4c large tiles on 512 connections from 256 addresses of one /64', { skip: noIpv6 }, (t) => withstand(t, '4c', {
        start: inheriting(['tcp 127.0.0.1 0', 'tcp ::1 0']),
        attack: attackers({ connections: 512, socket: 1, host: '::1', request: LARGE,
            sources: Array.from({ length: 256 }, (_, i) => `fd00:0:0:1::${(i + 1).toString(16)}`) }),
    }));

    it('4d ten times the cold tiles that can be rendered, from four addresses', (t) => withstand(t, '4d', {
        attack: (daemon, seconds, rate) => floods('--rate', Math.round(100 * rate), '--poisson', '--connections', 2000,
            '--source', EVERYONE, ...coldTiles())(daemon, seconds),
        /* On a shared machine the CPU of a tile varies by a third; make bench-http compares medians. */
        judge: ({ goodput }) => assert.ok(goodput >= 0.5, `${goodput} of the tiles for the same CPU`),
    }));

    it('4e all of it at once, from four addresses', (t) => withstand(t, '4e', {
        attack: [VOLUME, LARGE, request('GET', '/default/spawn?x={0..1000000}&y=0&min=5999'),
            request('GET', '/default/region.png?x={0..1000000}&y=0&width=512&height=512', { Host: 'a', Priority: 'u=7' })].map((each, i) =>
            attackers({ connections: 250, sources: [ATTACKERS[i]], request: each })),
    }));

    /* Clients behind a proxy are clients of their own. */
    it('4f large tiles on 500 connections from one address behind the honest client\'s proxy', (t) => withstand(t, '4f', {
        config: 'proxies: [127.0.0.0/8]\n',
        header: 'X-Forwarded-For: 192.0.2.1',
        attack: attackers({ connections: 500, request: request('GET', LARGE_TILE, { Host: 'a', 'X-Forwarded-For': '192.0.2.2' }) }),
    }));
});
