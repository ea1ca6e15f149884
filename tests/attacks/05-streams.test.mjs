// Attack 5: slow readers take all slots of streamed responses.

import { describe, it } from 'node:test';
import { patience } from '../http/program.mjs';
import { ATTACKERS, attackers, keepsPace, noNetwork, withstand } from './scene.mjs';

const LARGE = '/default/region.f32?x={0..1000000}&y={0..1000000}&width=4097&height=4097';

describe('attack 5: slow streams', { timeout: patience(240000), skip: noNetwork }, () => {
    it('5a 47 KB/s on 32 connections from two addresses', (t) => withstand(t, '5a', {
        attack: attackers('--closed', '--pace', 47000, '--connections', 32, '--source', `${ATTACKERS[0]}-${ATTACKERS[1]}`, '--url', LARGE),
        ...keepsPace(LARGE),
    }));
});
