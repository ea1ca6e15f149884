// During an upgrade that changes the world, nodes have two fingerprints, and a URL with either may reach any
// node. A node must not send its own tile as immutable for a URL with the other fingerprint.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eachRow } from '../http/table.mjs';
import { patience } from '../http/program.mjs';
import { Haproxy, NODE_YAML, Nodes } from './cluster.mjs';

const world = (seed) => `${NODE_YAML}\nworlds:\n  - name: default\n    seed: ${seed}\n`;

describe('nodes during a change of the world', { timeout: patience(60000) }, () => {
    const old = new Nodes(1, { config: world(1) }), renewed = new Nodes(2, { config: world(2) });
    let proxy, documents;

    before(async () => {
        await Promise.all([old.start(), renewed.start()]);
        proxy = await new Haproxy([...old.authorities, ...renewed.authorities]).start();
        await proxy.awaitUp(3);
        documents = await Promise.all([old, renewed].map(({ all }) => all[0].json('/default.json')));
        for (const target of versioned)
            assert.notEqual(...versionsOf(target));
    });
    after(async () => {
        await proxy?.stop();
        await Promise.all([old.stop(), renewed.stop()]);
    });

    const HOUR = 'public, max-age=3600', YEAR = 'public, max-age=31536000, immutable', REVALIDATE = 'no-cache';
    /* Resources whose URL templates have ?v=. */
    const versioned = [...Array.from({ length: 24 }, (_, i) => `/default/gray/9/${8 * i}/3.png?`),
        '/default/height/16/1/1.f32?', '/default/region.r16?x=0&y=0&width=5&height=5&',
        '/default/volume.f32?x=0&y=0&z=0&width=2&height=2&depth=2&'];

    /* The fingerprints of the old and of the new world, as their URL templates have them. */
    const versionsOf = (target) => documents.map(({ urls, layers }) => {
        const [, , name] = target.split(/[/.?]/);
        return (layers.find((layer) => layer.name === name)?.tiles ?? urls[name]).match(/v=(\w+)$/)[1];
    });

    it('make their own version immutable, and require revalidation of another', async () => {
        const seen = new Set();
        await eachRow(versioned.flatMap((target) => versionsOf(target).map((v) => `${target}v=${v}`)), async (target) => {
            const { status, headers } = await proxy.get(target);
            const node = headers['farlands-node'] === 'node1' ? 0 : 1, own = versionsOf(target)[node];
            assert.equal(status, 200);
            assert.equal(headers['cache-control'], target.endsWith(own) ? YEAR : REVALIDATE);
            seen.add(`${node} ${target.endsWith(own)}`);
        });
        assert.equal(seen.size, 4, `not every node got every version: ${[...seen]}`);
    });

    it('allow an hour for URLs without version, and require revalidation of documents', async () => {
        await eachRow([['/default/height?x=1&y=2', HOUR], ['/default/heights?at=1,2', HOUR], ['/default/gray/9/1/3.png', HOUR],
            ['/worlds.json', REVALIDATE], ['/default.json', REVALIDATE], ['/default/relief.json', REVALIDATE],
        ], async ([target, expected]) => {
            assert.equal((await proxy.get(target)).headers['cache-control'], expected);
        });
    });

    it('give the tiles of each world different ETags', async () => {
        const [target] = versioned;
        const [before, after] = await Promise.all([old, renewed].map(({ all }) => all[0].get(target)));
        assert.notEqual(before.headers.etag, after.headers.etag);
        const changed = await renewed.all[0].get(target, { 'If-None-Match': before.headers.etag });
        assert.equal(changed.status, 200);
        assert.equal((await renewed.all[0].get(target, { 'If-None-Match': after.headers.etag })).status, 304);
    });
});
