// What docker/kubernetes/prerender.yaml does, with its own commands: a list of tiles for each shard, and
// ask.sh, which has the nodes render them.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import http from 'node:http';
import { once } from 'node:events';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { patience, scratch, scratchFile } from '../http/program.mjs';
import { DOCKER, document } from './manifests.mjs';

/* A program as it ends: { code, stdout, stderr }. */
const outcome = (program, args, env) => new Promise((resolve) => {
    execFile(program, args, { env: { ...process.env, ...env }, timeout: patience(60000), killSignal: 'SIGKILL' },
        (error, stdout, stderr) => resolve({ code: error ? error.code ?? error.signal : 0, stdout, stderr }));
});

const ask = (list, base, env = {}) => outcome('sh', [path.join(DOCKER, 'kubernetes/ask.sh'), list, base],
    { TMPDIR: scratch(), no_proxy: '*', ...env });

describe('ask.sh', { timeout: patience(60000) }, () => {
    const requests = [];
    let server, base, answer, underWay = 0, most = 0;

    before(async () => {
        server = http.createServer(async (request, response) => {
            requests.push({ url: request.url, priority: request.headers.priority });
            most = Math.max(most, ++underWay);
            await answer(request, response);
            underWay--;
        }).listen(0, '127.0.0.1');
        await once(server, 'listening');
        base = `http://127.0.0.1:${server.address().port}`;
    });
    after(() => server.close());

    const paths = (count) => Array.from({ length: count }, (_, i) => `/default/relief/9/${i}/-7@2x.png`);
    const asking = async (list, env, reply) => {
        requests.length = most = 0;
        answer = reply;
        return ask(scratchFile('list', list.map((one) => `${one}\n`).join('')), base, env);
    };
    const fine = async (request, response) => response.end('tile');

    it('asks for each path once, in the background', async () => {
        const list = paths(700);
        const { code, stdout, stderr } = await asking(list, {}, fine);
        assert.equal(code, 0, stderr);
        assert.deepEqual(requests.map(({ url }) => url).sort(), [...list].sort());
        assert.deepEqual([...new Set(requests.map(({ priority }) => priority))], ['u=7']);
        assert.equal(stdout, '700 of 700 tiles are there\n');
    });

    it('takes paths without a slash, and a base with one, or with a path', async () => {
        base += '/terrain/';
        const { code } = await asking(['default/relief/1/0/0.png', '/default/relief/1/1/0.png'], {}, fine);
        base = base.replace('/terrain/', '');
        assert.equal(code, 0);
        assert.deepEqual(requests.map(({ url }) => url).sort(),
            ['/terrain/default/relief/1/0/0.png', '/terrain/default/relief/1/1/0.png']);
    });

    it('asks for no more at once than it is told, also where it comes again', async () => {
        const busy = new Set();
        const { code, stderr } = await asking(paths(900), { AT_ONCE: '3' }, async (request, response) => {
            await new Promise((resolve) => { setTimeout(resolve, 5); });
            if (Number(request.url.split('/')[4]) % 300 === 7 && !busy.has(request.url)) {
                busy.add(request.url);
                response.writeHead(503, { 'Retry-After': '1' });
            }
            response.end('{}');
        });
        assert.equal(code, 0, stderr);
        assert.equal(requests.length, 903);
        assert.ok(most > 1 && most <= 3, `${most} at once`);
    });

    it('names what cannot be had, has the rest, and says so', async () => {
        const { code, stdout, stderr } = await asking(paths(5), {}, async (request, response) => {
            response.statusCode = request.url.includes('/3/') ? 404 : 200;
            response.end('{}');
        });
        assert.equal(code, 1);
        assert.equal(stdout, '4 of 5 tiles are there\n');
        assert.match(stderr, /^404 http:\S+\/default\/relief\/9\/3\/-7@2x\.png .*\n$/);
        assert.equal(requests.length, 5, 'it insists on what is not there');
    });

    it('has nothing to do with an empty list', async () => {
        const { code, stdout } = await asking([], {}, fine);
        assert.deepEqual([code, stdout, requests.length], [0, '', 0]);
    });

    it('fails without its list', async () => {
        assert.notEqual((await ask('/nowhere/list', base)).code, 0);
    });
});

describe('the Job that renders before anyone asks', () => {
    const job = document('kubernetes/prerender.yaml').spec.jobTemplate.spec;
    const [init] = job.template.spec.initContainers;

    it('has a shard for each of its pods', () => {
        const [, shards] = /--shard "\$JOB_COMPLETION_INDEX\/(\d+)"/.exec(init.args[0]);
        assert.equal(job.completionMode, 'Indexed');
        assert.equal(Number(shards), job.completions);
    });
});
