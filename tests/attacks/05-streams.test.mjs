// Attack 5: slow readers take all slots of streamed responses.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { patience } from '../http/program.mjs';
import { request } from '../http/wire.mjs';
import { ATTACKERS, attackers, noNetwork, pace, withstand } from './scene.mjs';

const LARGE = '/default/region.f32?x={0..1000000}&y={0..1000000}&width=4097&height=4097';
const MOST_SECONDS = 3;

describe('attack 5: slow streams', { timeout: patience(120000), skip: noNetwork }, () => {
    /* Half of the machine: two clients share it. */
    it('5a 47 KB/s on 32 connections from two addresses: a large region of another client', (t) => withstand(t, '5a', {
        attack: attackers({ mode: 'slow', rate: 47000, connections: 32, sources: ATTACKERS.slice(0, 2), request: request('GET', LARGE) }),
        calm: async (daemon) => ({ pace: await pace(daemon, LARGE, MOST_SECONDS) }),
        check: async (daemon, calm) => ({ pace: await pace(daemon, LARGE, MOST_SECONDS), calm }),
        judge: ({ pace: mebibytes, calm }) => assert.ok(mebibytes >= calm.pace / 2,
            `${mebibytes} MiB/s of a large region, ${calm.pace} without the attack`),
    }));
});
