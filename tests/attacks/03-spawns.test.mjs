// Attack 3: searches that find nothing and take a core until their limit.

import { describe, it } from 'node:test';
import path from 'node:path';
import { patience, scratch } from '../http/program.mjs';
import { ATTACKERS, attackers, attackersAt, inheriting, withstand } from './scene.mjs';

const SPAWNS = ['--closed', '--pause', 30, '--connections', 1035,
    '--url', '/default/spawn?x={-100000000..100000000}&y={-100000000..100000000}&min=5999&slope=0.0001'];

describe('attack 3: hopeless spawns', { timeout: patience(240000) }, () => {
    it('3a 1,035 searches from three addresses', (t) => withstand(t, '3a', {
        attack: attackers(...SPAWNS, '--source', `${ATTACKERS[0]}-${ATTACKERS[2]}`),
    }));

    /* Its peer is no listed proxy, so all that comes through it is one client. */
    it('3b 1,035 searches through a Unix socket, without the header of a proxy', (t) => {
        const socketPath = path.join(scratch(), 'farlands.socket');
        return withstand(t, '3b', {
            start: inheriting(['tcp 127.0.0.1 0', `unix ${socketPath}`]),
            attack: attackersAt(() => ({ socketPath }), ...SPAWNS),
        });
    });
});
