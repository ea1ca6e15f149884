// The commands of docker/kubernetes/prerender.yaml: a list of tiles for each shard, and ask.sh, which
// requests them from the nodes.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import { once } from 'node:events';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { BINARY, patience, scratch, scratchFile } from '../http/program.mjs';
import { eachRow } from '../http/table.mjs';
import { Haproxy, NODE_YAML, Nodes } from './cluster.mjs';
import { DOCKER, document, documents } from './manifests.mjs';

/* Run a program: resolves to { code, stdout, stderr }. */
const outcome = (program, args, env) => new Promise((resolve) => {
    execFile(program, args, { env: { ...process.env, ...env }, timeout: patience(60000), killSignal: 'SIGKILL' },
        (error, stdout, stderr) => resolve({ code: error ? error.code ?? error.signal : 0, stdout, stderr }));
});

/* Fewer zooms than in the manifests. */
const ZOOMS = '0-2';

const ask = (list, base, env = {}) => outcome('sh', [path.join(DOCKER, 'kubernetes/ask.sh'), list, base],
    { TMPDIR: scratch(), no_proxy: '*', ...env });

describe('ask.sh', { timeout: patience(60000) }, () => {
    const requests = [];
    let server, base, answer, pending = 0, most = 0;

    before(async () => {
        server = http.createServer(async (request, response) => {
            requests.push({ url: request.url, priority: request.headers.priority });
            most = Math.max(most, ++pending);
            await answer(request, response);
            pending--;
        }).listen(0, '127.0.0.1');
        await once(server, 'listening');
        base = `http://127.0.0.1:${server.address().port}`;
    });
    after(() => server.close());

    const paths = (count) => Array.from({ length: count }, (_, i) => `/default/relief/9/${i}/-7@2x.png`);
    const request = async (list, env, reply) => {
        requests.length = most = 0;
        answer = reply;
        return ask(scratchFile('list', list.map((one) => `${one}\n`).join('')), base, env);
    };
    const succeed = async (_, response) => response.end('tile');

    it('requests each path once, with background priority', async () => {
        const list = paths(700);
        const { code, stdout, stderr } = await request(list, {}, succeed);
        assert.equal(code, 0, stderr);
        assert.deepEqual(requests.map(({ url }) => url).sort(), [...list].sort());
        assert.deepEqual([...new Set(requests.map(({ priority }) => priority))], ['u=7']);
        assert.equal(stdout, '700 of 700 tiles are there\n');
    });

    it('accepts paths without a slash, and a base with a slash or a path', async () => {
        base += '/terrain/';
        const { code } = await request(['default/relief/1/0/0.png', '/default/relief/1/1/0.png'], {}, succeed);
        base = base.replace('/terrain/', '');
        assert.equal(code, 0);
        assert.deepEqual(requests.map(({ url }) => url).sort(),
            ['/terrain/default/relief/1/0/0.png', '/terrain/default/relief/1/1/0.png']);
    });

    it('limits concurrent requests, also when it retries', async () => {
        const busy = new Set();
        let three;
        const all = new Promise((resolve) => { three = resolve; });
        const { code, stderr } = await request(paths(900), { AT_ONCE: '3' }, async (request, response) => {
            if (pending === 3)
                three();
            await all;          // the first respond when there are three
            await new Promise((resolve) => { setTimeout(resolve, 5); });
            if (Number(request.url.split('/')[4]) % 300 === 7 && !busy.has(request.url)) {
                busy.add(request.url);
                response.writeHead(503, { 'Retry-After': '1' });
            }
            response.end('{}');
        });
        assert.equal(code, 0, stderr);
        assert.equal(requests.length, 903);
        assert.equal(most, 3);
    });

    it('reports failed tiles and requests the others', async () => {
        const { code, stdout, stderr } = await request(paths(5), {}, async (request, response) => {
            response.statusCode = request.url.includes('/3/') ? 404 : 200;
            response.end('{}');
        });
        assert.equal(code, 1);
        assert.equal(stdout, '4 of 5 tiles are there\n');
        assert.match(stderr, /^404 http:\S+\/default\/relief\/9\/3\/-7@2x\.png .*\n$/);
        assert.equal(requests.length, 5, 'it retries a 404');
    });

    it('does nothing for an empty list', async () => {
        const { code, stdout } = await request([], {}, succeed);
        assert.deepEqual([code, stdout, requests.length], [0, '', 0]);
    });

    it('fails without its list', async () => {
        assert.notEqual((await ask('/nowhere/list', base)).code, 0);
    });
});

describe('the prerender Job', { timeout: patience(120000) }, () => {
    const job = document('kubernetes/prerender.yaml').spec.jobTemplate.spec;
    const [init] = job.template.spec.initContainers, [main] = job.template.spec.containers;
    const TILES = 2 * (1 + 4 + 16);
    const nodes = new Nodes(3);
    let proxy;

    before(async () => {
        await nodes.start();
        proxy = await new Haproxy(nodes.authorities).start();
        await proxy.awaitUp(3);
    });
    after(async () => {
        await proxy?.stop();
        await nodes.stop();
    });

    /* Run one pod's commands, with paths of this machine and few zooms: list the tiles, then request them. */
    async function pod(index) {
        const bin = scratch(), work = scratch();
        fs.symlinkSync(BINARY, path.join(bin, 'farlands'));
        const config = scratchFile('node.yaml', NODE_YAML);
        const [shell, flag] = init.command;
        const script = init.args[0].replace('/etc/farlands/node.yaml', config).replace('/list/', `${work}/`)
            .replace(/--zoom \S+/, `--zoom ${ZOOMS}`);
        const listing = await outcome(shell, [flag, script],
            { PATH: `${bin}:${process.env.PATH}`, JOB_COMPLETION_INDEX: String(index) });
        assert.equal(listing.code, 0, `${script}: ${listing.stderr}`);
        const [, , list, base] = main.command;
        assert.equal(base, 'http://farlands');
        const result = await ask(list.replace('/list', work), `http://${proxy.authority}`,
            Object.fromEntries(main.env.filter(({ name }) => name === 'AT_ONCE').map(({ name, value }) => [name, value])));
        return { paths: fs.readFileSync(path.join(work, 'tiles'), 'utf8').trim().split('\n'), ...result };
    }

    it('has a shard for each of its pods', () => {
        const [, shards] = /--shard "\$JOB_COMPLETION_INDEX\/(\d+)"/.exec(init.args[0]);
        assert.equal(job.completionMode, 'Indexed');
        assert.equal(Number(shards), job.completions);
    });

    it('renders every tile once, on the node that will serve it', async () => {
        const pods = await Promise.all(Array.from({ length: job.completions }, (_, i) => pod(i)));
        await eachRow(pods, ({ code, stderr }) => assert.equal(code, 0, stderr));
        const paths = pods.flatMap((one) => one.paths);
        assert.equal(new Set(paths).size, TILES);
        assert.equal(paths.length, TILES, 'a tile is in two shards');
        assert.equal(await nodes.sum('farlands_tiles_rendered_total'), TILES);

        await Promise.all(paths.map((one) => proxy.bytes(one.replace(/^\/*/, '/'))));
        assert.equal(await nodes.sum('farlands_tiles_rendered_total'), TILES, 'a tile is rendered again');
        assert.equal(await nodes.sum('farlands_cache_hits_total'), TILES);
    });
});

describe('the archive Job', { timeout: patience(60000) }, () => {
    const [pod] = documents('kubernetes/archive.yaml').filter(({ kind }) => kind === 'Job').map((one) => one.spec.template.spec);
    const [container] = pod.containers;

    it('writes its archive and its cache to the volume', async () => {
        const volumes = Object.fromEntries(container.volumeMounts.map(({ name, mountPath }) => [name, [mountPath, scratch()]]));
        const volume = volumes.archive[1];
        fs.copyFileSync(new URL('../../docker/node.yaml', import.meta.url), path.join(volumes.config[1], 'node.yaml'));
        const args = container.args.map((word) => Object.values(volumes)
            .reduce((text, [mountPath, directory]) => text.replace(`=${mountPath}/`, `=${directory}/`), word)
            .replace(/^--zoom=.*/, `--zoom=${ZOOMS}`));
        const { code, stderr } = await outcome(BINARY, args);
        assert.equal(code, 0, stderr);
        assert.ok(fs.statSync(path.join(volume, 'relief.mbtiles')).size > 10000);
        assert.ok(fs.existsSync(path.join(volume, 'cache')));
    });
});
