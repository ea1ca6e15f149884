// Attack 13: always new seeds, because each seed is a world of its own.

import { describe, it } from 'node:test';
import { TIMEOUT } from '../http/program.mjs';
import { MATCHES, SEED, SEED_TILE, rowsOf } from './rows.mjs';
import { attackersAt, fromOneAndFour, inheriting, noIpv6, sparesLoops, withstand } from './scene.mjs';

describe('attack 13: new seeds', { timeout: TIMEOUT }, () => {
    rowsOf('13').forEach((row) => fromOneAndFour(...row));

    it('13e documents and tiles of new seeds, from 256 addresses of one /64', { skip: noIpv6 }, (t) => withstand(t, '13e', {
        builtIn: true,
        start: inheriting(['tcp 127.0.0.1 0', 'tcp ::1 0']),
        attack: attackersAt(({ ports }) => ({ host: '::1', port: ports[1] }), '--closed', '--connections', 512,
            '--source', 'fd00:0:0:1::1-fd00:0:0:1::100', '--url', `/default:${SEED}.json`, '--url', SEED_TILE),
    }));

    /* A document has 50 KB, which the loop copies and sends. */
    it('13f event loops do little for a document, a 304 and a 404', (t) => sparesLoops(t, [
        ['documents', 15, 300, ['--url', `/default:${SEED}.json`]],
        ['documents of alps', 15, 300, ['--url', `/alps:${SEED}.json`]],
        ['TileJSON', 8, 300, ['--url', `/default:${SEED}/relief.json`]],
        ['WMTS', 15, 300, ['--url', `/default:${SEED}/wmts.xml`]],
        ['304s', 8, 300, [...MATCHES, '--url', `/default:${SEED}/relief/6/31/32.png`]],
        ['404s', 8, 300, ['--url', `/default:${SEED}/nowhere/6/31/32.png`]],
    ]));
});
