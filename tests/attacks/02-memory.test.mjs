// Attack 2: clients that request and do not read, so that responses wait in memory.

import { describe, it } from 'node:test';
import { patience } from '../http/program.mjs';
import { ATTACKERS, EVERYONE, attackers, keepsPace, noNetwork, withstand } from './scene.mjs';

/* In a world of one octave a mebibyte takes a millisecond to compute. */
const CONFIG = 'worlds: [{ name: default, seeds: any }, { name: plain, noise: { octaves: 1 } }]\n';
const stall = (connections, sources, target) =>
    attackers('--closed', '--stall', 2, '--connections', connections, '--source', sources, '--url', target);
const REGION = '/plain/region.f32?x={0..1000000}&y={0..1000000}&width=512&height=512';
const STREAM = '/plain/region.f32?x={0..1000000}&y={0..1000000}&width=4097&height=4097';

describe('attack 2: readers that stall', { timeout: patience(240000), skip: noNetwork }, () => {
    it('2a regions of 2^18 samples on 1,000 connections from one address', (t) => withstand(t, '2a', {
        attack: stall(1000, ATTACKERS[0], REGION), config: CONFIG,
    }));

    it('2b regions of 2^18 samples on 3,600 connections from four addresses', (t) => withstand(t, '2b', {
        attack: stall(3600, EVERYONE, REGION), config: CONFIG, ...keepsPace(STREAM),
    }));

    it('2c large tiles, 1,000 of them, on 3,600 connections from four addresses', (t) => withstand(t, '2c', {
        attack: stall(3600, EVERYONE, '/plain/height/12/{0..24}/{0..39}@2x.f32'), config: CONFIG,
    }));

    it('2d streams on 256 connections from four addresses', (t) => withstand(t, '2d', {
        attack: stall(256, EVERYONE, STREAM), config: CONFIG,
    }));
});
