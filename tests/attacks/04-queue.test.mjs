// Attack 4: one client fills the render queue.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { patience } from '../http/program.mjs';
import { ATTACKERS, EVERYONE, TIMED, attackers, attackersAt, coldTiles, inheriting, noIpv6, sharesEqually, withstand } from './scene.mjs';

/* Few samples in many rows. */
const VOLUME = '/default/volume.f32?x={-1000000..1000000}&y={-1000000..1000000}&z=0&width=1&height=63&depth=4097';
const LARGE = '/default/relief/13/{0..31}/{0..100000000}@2x.png';
const at = (connections, source, url, ...more) =>
    ['--closed', '--pause', 30, '--connections', connections, '--source', source, '--url', url, ...more];

describe('attack 4: a full queue', { timeout: patience(240000) }, () => {
    it('4a narrow volumes from one address that obeys Retry-After', (t) => withstand(t, '4a', {
        attack: attackers(...at(480, ATTACKERS[0], VOLUME, '--obey')),
    }));

    it('4b large tiles on 500 connections from one address', (t) => withstand(t, '4b', {
        attack: attackers(...at(500, ATTACKERS[0], LARGE)), ...sharesEqually,
    }));

    it('4c large tiles on 512 connections from 256 addresses of one /64', { skip: noIpv6 }, (t) => withstand(t, '4c', {
        start: inheriting(['tcp 127.0.0.1 0', 'tcp ::1 0']),
        attack: attackersAt(({ ports }) => ({ host: '::1', port: ports[1] }),
            ...at(512, 'fd00:0:0:1::1-fd00:0:0:1::100', LARGE)),
        ...sharesEqually,
    }));

    it('4d ten times the cold tiles that can be rendered, from four addresses', (t) => withstand(t, '4d', {
        attack: attackers('--grace', 120, '--rate', 5000, '--poisson', '--connections', 2000, '--source', EVERYONE, ...coldTiles()),
        judge({ goodput, rendered, during, attack: [{ 200: served }] }) {
            assert.ok(served + during.cold.served >= 0.9 * rendered, `${rendered} tiles rendered for ${served + during.cold.served} responses`);
            // On a shared machine the CPU of a tile varies by a third; make bench-http compares medians.
            assert.ok(!TIMED || goodput >= 0.5, `${goodput} of the tiles for the same CPU`);
        },
    }));

    it('4e all of it at once, from four addresses', (t) => withstand(t, '4e', {
        attack: attackers(...[[VOLUME], [LARGE], ['/default/spawn?x={0..1000000}&y=0&min=5999'],
            ['/default/region.png?x={0..1000000}&y=0&width=512&height=512', '--header', 'Priority: u=7']].flatMap(([url, ...more], i) =>
            ['--stream', `a${i}`, ...at(250, ATTACKERS[i], url, ...more)])),
    }));

    /* Clients behind a proxy are clients of their own. */
    it('4f large tiles on 500 connections from one address behind the honest client\'s proxy', (t) => withstand(t, '4f', {
        config: 'proxies: [127.0.0.0/8]\n',
        header: 'X-Forwarded-For: 192.0.2.1',
        attack: attackers(...at(500, ATTACKERS[0], LARGE, '--header', 'X-Forwarded-For: 192.0.2.2')),
        ...sharesEqually,
    }));
});
