// A daemon below a site's path, behind nginx and Caddy with the files in docker/: the path is in all URLs, and clients cannot
// forge headers. endpoints.test.mjs requests every endpoint through them.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { patience } from '../http/program.mjs';
import { assertStatus, eachRow } from '../http/table.mjs';
import { Origin } from './edges.mjs';
import { BASE, PATHS } from './paths.mjs';

const HOST = 'example.org';

for (const [name, { missing, make }] of Object.entries(PATHS))
    describe(name, { timeout: patience(120000), skip: missing }, () => {
        let origin, proxy;
        before(async () => {
            origin = await new Origin(`base_path: ${BASE}\nlimits: { wait: 60000 }\n`).start();
            proxy = await make(origin).start();
        });
        after(async () => {
            await proxy?.stop();
            await origin.stop();
        });

        it('serves the viewer, and leads to it', async () => {
            const answer = await proxy.get(BASE, { Host: HOST });
            assertStatus(answer, 308);
            assert.match(answer.headers.location, /^(?:http:\/\/example\.org)?\/terrain\/$/);
            assertStatus(await proxy.get(`${BASE}/`, { Host: HOST }), 200);
        });

        it('has the path in URLs, which work', async () => {
            const { tiles: [tiles] } = JSON.parse((await proxy.get(`${BASE}/default/relief.json`, { Host: `${HOST}:81` })).body);
            assert.match(tiles, /^http:\/\/example\.org:81\/terrain\/default\/relief\/\{z\}/);
            const tile = new URL(tiles.replace('{z}/{x}/{y}', '3/4/4'));
            assert.deepEqual(await proxy.bytes(tile.pathname + tile.search), await origin.bytes(`${BASE}/default/relief/3/4/4.png`));
        });

        it('believes no forged header', async () => {
            const answer = await proxy.get(`${BASE}/default/relief.json`, {
                Host: HOST, 'X-Forwarded-For': '1.2.3.4', 'X-Forwarded-Host': 'evil.test', 'X-Forwarded-Proto': 'https',
                'X-Forwarded-Port': '666', 'X-Forwarded-Prefix': '/evil', Forwarded: 'host=evil.test;proto=https',
            });
            assert.match(JSON.parse(answer.body).tiles[0], /^http:\/\/example\.org\/terrain\/default\//);
        });

        it('keeps what is not for clients', () => eachRow([['metrics'], ['healthz'], ['readyz']], async ([path]) =>
            assertStatus(await proxy.get(`${BASE}/${path}`, { Host: HOST }), 404)));
    });
