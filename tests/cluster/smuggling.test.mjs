// Malformed heads through HAProxy, nginx and Varnish: no second request hides in such a head. A proxy uses its connections
// to the daemon for many clients, so a hidden request would give one client another client's response.

import { after, before, describe, it } from 'node:test';
import * as framing from '../http/framing.mjs';
import { patience } from '../http/program.mjs';
import { assertError, eachRow } from '../http/table.mjs';
import { request } from '../http/wire.mjs';
import { Haproxy, Nodes } from './cluster.mjs';
import { EDGES, Origin } from './edges.mjs';

const ROWS = ['requestLines', 'hosts', 'bodies', 'headers', 'unusual']
    .flatMap((table) => framing[table].map(([name, bytes]) => [`${table}: ${name}`, bytes]));
/* Of a client behind the same proxy. Their errors name their world. */
const CANARIES = 3;

/* Each starts a daemon and a proxy in front of it: { proxy, stop() }. */
const FRONTS = {
    haproxy: async () => {
        const nodes = await new Nodes(1).start();
        const proxy = await new Haproxy(nodes.authorities).start();
        await proxy.awaitUp(1);
        return { proxy, stop: async () => { await proxy.stop(); await nodes.stop(); } };
    },
    ...Object.fromEntries(Object.entries(EDGES).map(([name, { make }]) => [name, async () => {
        const origin = await new Origin().start();
        const proxy = await make(origin).start();
        return { proxy, stop: async () => { await proxy.stop(); await origin.stop(); } };
    }])),
};

for (const [name, start] of Object.entries(FRONTS))
    describe(`malformed heads through ${name}`, { timeout: patience(120000) }, () => {
        let front;
        before(async () => { front = await start(); });
        after(() => front?.stop());

        it('give no other client a response that is not its own', () => eachRow([...ROWS.entries()], async ([i, [, bytes]]) => {
            // The hidden request could begin anywhere in what follows the head.
            const hidden = `0\r\n\r\n${request('GET', `/hidden${i}.json`)}${request('GET', `/hidden${i}.json`)}`;
            await framing.outcomeOf(front.proxy, bytes + hidden, { limit: 20 });
            for (let canary = 0; canary < CANARIES; canary++) {
                const answer = await front.proxy.get(`/canary${i}x${canary}.json`, {}, { agent: false });
                assertError(answer, 404, new RegExp(`canary${i}x${canary}\\b`));
            }
        }));
    });
