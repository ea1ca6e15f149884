// Attack 7: a few clients hold all connections.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { patience } from '../http/program.mjs';
import { request } from '../http/wire.mjs';
import { ATTACKERS, admission, attackers, withstand } from './scene.mjs';

describe('attack 7: held connections', { timeout: patience(120000) }, () => {
    it('7a 4,096 connections from four addresses, with a request each 25 s', (t) => withstand(t, '7a', {
        attack: attackers({ mode: 'hold', connections: 4096, sources: ATTACKERS, request: request('GET', '/healthz') }),
        check: async (daemon) => ({ admitted: await admission(daemon, '127.0.0.9', 10) }),
        judge: ({ admitted }) => assert.ok(Math.max(...admitted) <= patience(1000),
            `an outsider waits ${admitted} ms to be let in`),
    }));

    it('7b 4,096 connections from four addresses that send nothing', (t) => withstand(t, '7b', {
        attack: attackers({ mode: 'hold', connections: 4096, sources: ATTACKERS, request: '' }),
        check: async (daemon) => ({ admitted: await admission(daemon, '127.0.0.9', 10) }),
        judge: ({ admitted }) => assert.ok(Math.max(...admitted) <= patience(1000),
            `an outsider waits ${admitted} ms to be let in`),
    }));
});
