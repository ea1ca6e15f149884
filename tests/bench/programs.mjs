// The HTTP benchmarks' processes (the daemon, nginx, the load generator) and their CPU time. All
// end with this process.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Daemon } from '../http/daemon.mjs';
import { scratch, scratchFile } from '../http/program.mjs';
export { cpuSeconds } from '../http/streams.mjs';
import { ENDLESS, runLoad, startLoad } from '../load/client.mjs';

/* Debian's nginx is in /usr/sbin, which is not on every user's PATH. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };

const children = new Set();
process.on('exit', () => {
    for (const child of children)
        child.kill('SIGKILL');
});

/* A process that ends with this one; child.output is its output, child.ended a promise. */
export function start(program, args) {
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    children.add(child);
    child.output = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'])
        child[stream].setEncoding('utf8').on('data', (text) => { child.output[stream] += text; });
    child.ended = new Promise((resolve) => {
        child.on('error', resolve);
        child.on('close', resolve);
    }).finally(() => children.delete(child));
    return child;
}

/* Run a program to its end. Returns its standard output. */
async function run(program, args) {
    const child = start(program, args);
    await child.ended;
    if (child.exitCode !== 0)
        throw new Error(`${program} ${args.join(' ')}: ${child.output.stderr.slice(0, 2000)}`);
    return child.output.stdout;
}

export async function has(program) {
    return run('sh', ['-c', `command -v ${program}`]).then(() => true, () => false);
}

export function residentBytes(pid) {
    return 1024 * Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
}

/* Pin every thread of the process to one core. */
export function pin(pid, core) {
    execFileSync('taskset', ['-a', '-c', '-p', String(core), String(pid)], { env });
}

/* A daemon with its own cache, pinned to CORE if given; of the program BINARY, if that is another one. */
export async function farlands(config, { cache, core, binary, builtIn } = {}) {
    const daemon = await new Daemon({ config: `log: error\n${config}`, cache, binary, builtIn }).start();
    if (core !== undefined)
        pin(daemon.pid, core);
    return daemon;
}

async function freePort() {
    const server = net.createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address();
    server.close();
    await once(server, 'close');
    return port;
}

/*
 * One worker, as fast as nginx gets: files and sizes cached, no log, connections kept open.
 * sending: the directives for sending files.
 */
function nginxConfig(folder, root, port, sending) {
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ');
    return `daemon off; master_process off; worker_processes 1;
        ${process.getuid() === 0 ? 'user root;' : ''}
        pid ${folder}/pid; error_log ${folder}/error crit;
        events { use epoll; worker_connections 4096; multi_accept on; }
        http {
            ${temporary}
            types { image/png png; }
            access_log off; log_not_found off; server_tokens off; etag on;
            ${sending} aio off; tcp_nodelay on;
            keepalive_timeout 600; keepalive_requests 1000000000;
            open_file_cache max=100000 inactive=3600s; open_file_cache_valid 3600s;
            server { listen 127.0.0.1:${port} backlog=4096; root ${root}; }
        }\n`;
}

/* nginx on CORE, serving files below ROOT: { pid, port, stop() }; sending as above. */
export async function nginx(root, { core, sending }) {
    const folder = scratch();
    const port = await freePort();
    const file = path.join(folder, 'nginx.conf');
    fs.writeFileSync(file, nginxConfig(folder, root, port, sending));
    const child = start('taskset', ['-c', String(core), 'nginx', '-p', folder, '-e',
        path.join(folder, 'error'), '-c', file]);
    const stop = () => child.kill('SIGTERM') && child.ended;
    for (let tries = 0; tries < 100 && child.exitCode === null; tries++) {
        if (await head({ port }, '/').catch(() => null))
            return { pid: child.pid, port, stop };
        await sleep(20);
    }
    throw new Error(`nginx does not start: ${child.output.stderr}`);
}

/* The status and headers of a HEAD. */
export function head({ port }, target, headers = {}) {
    return new Promise((resolve, reject) => {
        http.request({ host: '127.0.0.1', port, method: 'HEAD', path: target, headers, agent: false })
            .on('response', (answer) => resolve({ status: answer.statusCode, headers: answer.headers }))
            .on('error', reject).end();
    });
}

/* The tiles of an area, row by row, in steps of STRIDE; of a large area the first of them. */
function area([prefix, firstX, firstY, width, count, stride = 1]) {
    return Array.from({ length: Math.min(count, 100000) }, (_, asked) => {
        const i = asked * stride % count;
        return `${prefix}/${firstX + i % width}/${firstY + Math.floor(i / width)}.png`;
    });
}

/*
 * Requests as fast as they are answered: { rate, requests }. tiles: of an area, in turn, instead of TARGET. headers:
 * lines 'Name: value'. Anything but 2xx and 3xx is an error.
 */
export async function rush(server, { target = '/', tiles, headers = [], seconds, connections = 64, core }) {
    /* The daemon's own limit: it responds within that time, if only with 503. */
    const { stream: { load }, seconds: took } = await runLoad(server, ['--seconds', seconds, '--grace', 10, '--closed',
        '--connections', connections, '--in-order', '--urls', scratchFile('urls', (tiles ? area(tiles) : [target]).join('\n')),
        ...headers.flatMap((line) => ['--header', line])], { prefix: core === undefined ? [] : ['taskset', '-c', String(core)] });
    const bad = [...Object.entries(load.errors).filter(([, count]) => count), ...Object.keys(load.status).filter((code) => code >= 400)];
    if (bad.length > 0)
        throw new Error(`load: ${bad.join(' ')}`);
    return { rate: load.answered / took, requests: load.answered };
}

/* The report of open_loop with ARGS, at high priority if allowed, since real clients have their own machines. */
export const openLoop = ({ port }, args) =>
    runLoad({ port }, args, { prefix: process.getuid() === 0 ? ['nice', '-n', '-10'] : [] });

/* Open COUNT connections, send one request on each, and keep them open until close() is called. */
export async function idle({ port }, count, target) {
    const load = startLoad({ port }, [...ENDLESS, '--closed', '--pause', 1e6, '--connections', count, '--url', target]);
    await load.until(({ answered }) => answered >= count);
    return { answered: load.progress().answered, close: () => load.stop() };
}
