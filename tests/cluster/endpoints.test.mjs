// Every endpoint, with every parameter, through every proxy in docker/: the response equals the daemon's own. The daemon's
// errors list the endpoints and the parameters. So every addition to the router is tested here, and a proxy that drops its
// query is noticed.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { patience } from '../http/program.mjs';
import { assertStatus, eachRow } from '../http/table.mjs';
import { Haproxy, Nodes } from './cluster.mjs';
import { EDGES, Origin } from './edges.mjs';
import { Nginx } from './nginx.mjs';
import { BASE, PATHS } from './paths.mjs';

/* With all fields that an endpoint needs. */
const WORLDS = `${fs.readFileSync(new URL('../worlds/rivers.yaml', import.meta.url), 'utf8').trimEnd()}
      water: { water: { of: height, drain: valleys } }\n`;
const HOST = 'tiles.example.org';

/* Good queries of each endpoint of a world. */
const QUERIES = {
    height: ['x=100&y=200', 'x=100.5&y=-200&fields=height,ground'],
    heights: ['at=0,0;100,200', 'at=0%2C0%3B100%2C200&fields=ground'],
    spawn: ['x=0&y=0', 'x=0&y=0&min=1&max=900&slope=0.5'],
    downstream: ['x=100&y=200', 'x=100&y=200&limit=2'],
    'region.f32': ['x=-16&y=0&width=3&height=2&step=4', 'x=0&y=0&width=2&height=2&field=ground&v=0123456789abcdef'],
    'volume.f32': ['x=0&y=0&z=0&width=2&height=2&depth=2'],
};
const WMTS_TILE = 'SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=rivers:relief&STYLE=default&FORMAT=image%2Fpng' +
    '&TILEMATRIXSET=GoogleMapsCompatible_Level25&TILEMATRIX=2&TILEROW=1&TILECOL=1';

/* Good queries of the rest, which ignores most. */
const OTHERS = {
    '/': ['', 'place=rivers/relief/8/1/2', 'a=b'],
    '/worlds.json': ['', 'a=b'],
    '/wmts.xml': ['', 'SERVICE=WMTS&REQUEST=GetCapabilities', 'service=WMTS&request=GetTile', 'Request='],
    '/wmts': ['', 'service=WMTS&request=GetCapabilities&a=b', WMTS_TILE, `token=1&${WMTS_TILE}`, WMTS_TILE.replace('COL=1', 'COL=9'),
        'SERVICE=WMTS&REQUEST=GetFeatureInfo'],
    '/robots.txt': ['', 'a=b'],
    '/favicon.ico': ['', 'v=2'],
    '/apple-touch-icon.png': [''],
    '/{world}.json': ['', 'a=b'],
    '{layer}.json': ['', 'format=webp', 'a=b&format=png'],
    '{layer}.xml': ['', 'a=b'],
    'wmts.xml': ['', 'request=GetCapabilities', 'REQUEST=GetFeatureInfo', WMTS_TILE],
    wmts: ['', 'a=b', WMTS_TILE],
    '{z}/{x}/{y}.png': ['', 'border=1', 'v=0123456789abcdef', 'a=b&border=1&c=d'],
};

const FRONTS = {
    haproxy: async (origin) => {
        const proxy = await new Haproxy([origin.authority]).start();
        await proxy.awaitUp(1);
        return proxy;
    },
    balancer: (origin) => new Nginx('balancer.conf.template',
        Object.fromEntries([1, 2, 3].map((i) => [`FARLANDS_NODE_${i}`, origin.authority]))).start(),
    ...Object.fromEntries(Object.entries(EDGES).map(([name, { make }]) => [name, (origin) => make(origin).start()])),
    ...Object.fromEntries(Object.entries(PATHS).map(([name, { make }]) => [name, (origin) => make(origin).start()])),
};

/* What DAEMON answers to what is not there. */
const errorAt = async (daemon, target) => JSON.parse((await daemon.get(`${daemon.base}${target}`, { Host: HOST })).body).error;
const listed = (text, after) => text.slice(text.indexOf(after) + after.length).split(', ');

/* The URL of a query of NAME, which an error at the root or below a world lists. */
function urlOf(name, query) {
    const path = name.startsWith('{z}') ? `/rivers/relief/12/2048/2048.${name.split('.')[1]}`
        : name === '/{world}.json' ? '/rivers.json'
            : name.startsWith('/') ? name : `/rivers/${name.replace('{layer}', 'relief')}`;
    return query ? `${path}?${query}` : path;
}

/* All URLs: each endpoint with its good queries, and with a bad value of each of its parameters. */
async function urlsOf(daemon) {
    const top = listed(await errorAt(daemon, '/nothing'), 'there are ');
    const below = listed(await errorAt(daemon, '/rivers/nothing'), 'has ');
    const urls = [];

    assert.ok(top.length >= 3 && below.length >= 9, `${top} ${below}`);
    for (const name of ['/worlds.json', ...top, ...below, '{z}/{x}/{y}.png']) {
        const queries = QUERIES[name] ?? OTHERS[name];
        assert.ok(queries, `${name}: an endpoint without a query in this test`);
        urls.push(...queries.map((query) => [urlOf(name, query), true]));
        if (name in QUERIES) {
            const parameters = listed(await errorAt(daemon, urlOf(name, 'qqqqqqqq=1')), 'expected ');
            assert.ok(parameters.every((parameter) => /^[a-z_]+$/.test(parameter)), `${name}: ${parameters}`);
            urls.push(...parameters.map((parameter) => [urlOf(name, `${parameter}=!&x=1`), false]));
        }
    }
    const page = (await daemon.bytes(`${daemon.base}/`)).toString();
    urls.push(...[...page.matchAll(/(?:href|src)="(viewer\/[^"]+)"/g)].map(([, file]) => [`/${file}`, true]));
    urls.push(['/nothing', false], ['/rivers/nothing', false], ['/rivers/nothing?x=1', false], ['/nowhere/height?x=0&y=0', false]);
    return urls.map(([url, good]) => [`${daemon.base}${url}`, good]);
}

const KEPT = ['content-type', 'etag', 'cache-control', 'farlands-fingerprint', 'farlands-origin', 'farlands-step'];

/* What must not depend on the way of a response. */
const essence = ({ status, headers, body }) => ({
    status, body: body.toString('latin1'), ...Object.fromEntries(KEPT.map((name) => [name, headers[name]])),
});

for (const [name, start] of Object.entries(FRONTS))
    describe(`all endpoints through ${name}`, { timeout: patience(120000), skip: PATHS[name]?.missing }, () => {
        const base = name in PATHS ? BASE : '';
        let origin, proxy;
        before(async () => {
            origin = await new Origin(base ? `base_path: ${base}\n${WORLDS}` : WORLDS).start();
            origin.base = base;
            proxy = await start(origin);
        });
        after(async () => {
            await proxy?.stop();
            await origin.stop();
        });

        it('respond as the daemon does, at the first request and at the second', async () => {
            const urls = await urlsOf(origin);
            await eachRow(urls, async ([url, good]) => {
                const direct = await origin.get(url, { Host: HOST });
                if (good && !/request|wmts\?a=b/i.test(url))
                    assertStatus(direct, 200);
                for (let i = 0; i < 2; i++)
                    assert.deepEqual(essence(await proxy.get(url, { Host: HOST })), essence(direct));
            });
        });

        it('have numbers in the form that each client accepts', () => eachRow([
            [{}, undefined], [{ 'Accept-Encoding': 'gzip, deflate, br' }, 'gzip'], [{}, undefined], [{ 'Accept-Encoding': 'gzip' }, 'gzip'],
            [{ 'Accept-Encoding': 'gzip', Range: 'bytes=4-11' }, undefined], [{ Range: 'bytes=4-11' }, undefined],
            [{ 'Accept-Encoding': 'br' }, undefined],
        ], async ([headers, coding]) => {
            /* nginx may answer the range of a response that it does not keep with all of it. */
            for (const format of headers.Range ? ['r16', 'f32'] : ['r16', 'f32?v=0123456789abcdef']) {
                const url = `${base}/rivers/height/12/2050/2048.${format}`;
                const [direct, passed] = [await origin.get(url, { Host: HOST, ...headers }), await proxy.get(url, { Host: HOST, ...headers })];
                assert.deepEqual(essence(passed), essence(direct));
                assert.equal(direct.headers['content-encoding'], coding);
                assert.equal(passed.headers['content-encoding'], coding);
            }
        }));

        it('respond to preflights', async () => eachRow(await urlsOf(origin), async ([url]) => {
            const answer = await proxy.request('OPTIONS', url, {
                Host: HOST, Origin: 'https://map.example.org', 'Access-Control-Request-Method': 'GET',
            });
            assertStatus(answer, 204);
        }));
    });
