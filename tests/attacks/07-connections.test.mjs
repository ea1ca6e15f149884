// Attack 7: a few clients hold all connections.

import { describe, it } from 'node:test';
import { patience } from '../http/program.mjs';
import { EVERYONE, attackers, letsIn, withstand } from './scene.mjs';

const HELD = ['--connections', 4096, '--source', EVERYONE];

describe('attack 7: held connections', { timeout: patience(240000) }, () => {
    it('7a 4,096 connections from four addresses, with a request each 25 s', (t) => withstand(t, '7a', {
        attack: attackers('--closed', '--pause', 25000, ...HELD, '--url', '/healthz'),
        ...letsIn(10),
    }));

    it('7b 4,096 connections from four addresses that send nothing', (t) => withstand(t, '7b', {
        attack: attackers('--rate', 0, ...HELD),
        ...letsIn(10),
    }));
});
