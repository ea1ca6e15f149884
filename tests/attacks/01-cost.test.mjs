// Attack 1: work that looks cheap runs on the event loops, ahead of everyone else's requests.

import { describe, it } from 'node:test';
import { patience } from '../http/program.mjs';
import { ATTACKERS, EVERYONE, attackers, withstand } from './scene.mjs';

/* A column of samples in rows far apart: 1,560 rows of noise for few samples. */
const narrow = (world) =>
    `/${world}/region.f32?x={-1000000000..1000000000}&y={-1000000000..1000000000}&width=1&height=1560&step=1048576`;
const SEEDS = '{0..1000000000}';
const CELLS = 'worlds: [{ name: default }, { name: cells, noise: { basis: cellular } }]\n';

describe('attack 1: light requests', { timeout: patience(240000) }, () => {
    it('1a narrow regions from one address', (t) => withstand(t, '1a', {
        attack: attackers('--rate', 4000, '--connections', 64, '--source', ATTACKERS[0], '--url', narrow('default')),
    }));

    it('1b narrow regions on 1,000 connections from four addresses, with AVX2', (t) => withstand(t, '1b', {
        attack: attackers('--rate', 4000, '--connections', 1000, '--source', EVERYONE, '--url', narrow('default')),
        env: process.arch === 'x64' ? { FARLANDS_KERNEL: 'avx2' } : {},
    }));

    it('1c narrow regions of a cellular world, 390 a second from one address', (t) => withstand(t, '1c', {
        attack: attackers('--rate', 390, '--connections', 64, '--source', ATTACKERS[0], '--url', narrow('cells')),
        config: CELLS,
    }));

    it('1d documents and heights of ever new seeds, and 304s, from four addresses', (t) => withstand(t, '1d', {
        attack: attackers(
            '--stream', 'documents', '--rate', 8000, '--connections', 400, '--source', EVERYONE,
            ...['.json', '/relief.json', '/height?x={-1000000..1000000}&y=7'].flatMap((end) => ['--url', `/default:${SEEDS}${end}`]),
            '--stream', 'conditional', '--rate', 4000, '--connections', 100, '--source', EVERYONE, '--header', 'If-None-Match: *',
            ...['.json', '/relief/6/31/32.png'].flatMap((end) => ['--url', `/default:${SEEDS}${end}`])),
    }));
});
