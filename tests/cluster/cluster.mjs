// Several daemons on loopback as nodes behind a proxy, each with its own cache, and HAProxy with
// the configurations in docker/. Not a test.

import assert from 'node:assert/strict';
import dgram from 'node:dgram';
import fs from 'node:fs';
import net from 'node:net';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Daemon } from '../http/daemon.mjs';
import { end, eventually, launch } from '../http/program.mjs';

const docker = (file) => fileURLToPath(new URL(`../../docker/${file}`, import.meta.url));

/* A node's configuration, from docker/. */
export const NODE_YAML = fs.readFileSync(docker('node.yaml'), 'utf8');

/* The same for tests in which no request may be shed, on however busy a machine. */
export const PATIENT_YAML = NODE_YAML.replace(/^limits:$/m, 'limits:\n  wait: 60000');

/* Debian's haproxy and nginx are in directories that some users' PATH lacks. */
export const SBIN = { PATH: `${process.env.PATH}:/usr/sbin:/sbin` };

/*
 * The address of node I of this process. Clients connect from 127.0.0.1; because nodes have other
 * addresses, no outgoing connection takes the port of a stopped node before it starts again.
 */
const address = (i) => `127.1.${1 + process.pid % 250}.${i + 1}`;

export class Nodes {
    /* config: YAML text, in place of docker/node.yaml. */
    constructor(count, { config = NODE_YAML } = {}) {
        this.config = config;
        this.all = Array.from({ length: count }, (_, i) =>
            new Daemon({ config, listen: `${address(i)}:0` }));
    }

    async start() {
        await Promise.all(this.all.map((node) => node.start()));
        return this;
    }

    get authorities() {
        return this.all.map((node) => node.authority);
    }

    /* Restart node I at the same address, with the same cache. */
    async restart(i) {
        const { cache, authority } = this.all[i];
        await this.all[i].ended();
        this.all[i] = new Daemon({ config: this.config, cache, listen: authority });
        await this.all[i].start();
    }

    /* Restart node I at another address, with the same cache. */
    async move(i) {
        const { cache, port } = this.all[i];
        await this.all[i].ended();
        this.all[i] = new Daemon({ config: this.config, cache, listen: `${address(100 + i)}:${port}` });
        await this.all[i].start();
    }

    get running() {
        return this.all.filter((node) => node.program?.running);
    }

    /* Daemon.metric() of each running node. */
    metric(...what) {
        return Promise.all(this.running.map((node) => node.metric(...what)));
    }

    async sum(...what) {
        return (await this.metric(...what)).reduce((sum, value) => sum + value, 0);
    }

    async stop() {
        await Promise.all(this.all.map((node) => node.stop('SIGKILL')));
    }
}

/* A listening socket on a free loopback port, for a program to inherit: { server, fd, port }. */
async function listening() {
    const server = net.createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { server, fd: server._handle.fd, port: server.address().port };
}

/* HAProxy with the files of docker/haproxy, with the request methods of Daemon. */
export class Haproxy extends Daemon {
    /* addresses: HOST:PORT of each node. env: other variables of the configuration. bind: options
     * of its address for clients; with these it need not speak plain HTTP. */
    constructor(addresses, { env = {}, bind = '', files = ['haproxy.cfg', 'nodes.cfg'] } = {}) {
        super({ cache: false });
        this.args = files.flatMap((file) => ['-f', docker(`haproxy/${file}`)]).concat('-db');
        this.env = { ...SBIN, FARLANDS_SLOWSTART: '1s', ...env };
        this.bind = bind;
        addresses.forEach((address, i) => { this.env[`FARLANDS_NODE_${i + 1}`] = address; });
    }

    async start() {
        const tiles = await listening(), stats = await listening();
        this.program = launch(this.args, {
            ...this.env, FARLANDS_BIND: `fd@3 ${this.bind}`, FARLANDS_STATS: 'fd@4',
        }, { binary: 'haproxy', fds: [tiles.fd, stats.fd] });
        /* HAProxy has inherited the socket; this process has accepted no connection. */
        tiles.server.close();
        stats.server.close();
        this.host = '127.0.0.1';
        this.port = tiles.port;
        this.authority = `${this.host}:${this.port}`;
        this.stats = { host: this.host, port: stats.port };
        this.pid = this.program.child.pid;
        if (!await eventually(async () => !this.program.running || await this.answers()) ||
            !this.program.running) {
            const result = await end(this.program, 0);
            throw new Error(`HAProxy does not start: ${result.error ?? result.stderr}`);
        }
        return this;
    }

    answers() {
        return (this.bind ? this.statistics() : this.get('/healthz')).then(() => true, () => false);
    }

    /* The statistics of backends and nodes: { pxname, svname, status, weight, scur, ... }. */
    async statistics() {
        const answer = await this.request.call({ ...this.stats, agent: undefined }, 'GET', '/;csv');
        const [names, ...rows] = answer.body.toString().replace(/^# /, '').trim().split('\n')
            .map((line) => line.split(','));
        return rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]])));
    }

    /* The nodes that are up and have their full weight. */
    async up() {
        return (await this.statistics())
            .filter((row) => row.pxname === 'nodes' && row.svname !== 'BACKEND' &&
                row.status.startsWith('UP') && row.weight === '100')
            .map((row) => row.svname);
    }

    /* Pending requests. */
    async current() {
        return (await this.statistics()).filter((row) => row.svname === 'BACKEND')
            .reduce((sum, row) => sum + Number(row.scur), 0);
    }

    async awaitUp(count, limit = 60000) {
        assert.ok(await eventually(async () => (await this.up()).length === count, limit),
            `${await this.up()} are up, not ${count}; ${this.stdout.slice(-2000)}`);
    }

    /* The log, one entry per request: { client, backend, node, status, bytes, retries, end, request }. */
    get log() {
        const line = /^(\S+) (\S+)\/(\S+) (-?\d+) (\d+) -?\d+ -?\d+ (\+?\d+) (\S+) "(.*)"$/gm;
        return [...this.stdout.matchAll(line)].map((match) => ({
            client: match[1], backend: match[2], node: match[3], status: Number(match[4]),
            bytes: Number(match[5]), retries: Number(match[6]), end: match[7], request: match[8],
        }));
    }

    stop() {
        return super.stop('SIGKILL');
    }
}

/* A name server: addresses maps names to IPv4 addresses. Other names do not exist. */
export class Names {
    constructor(addresses) {
        this.addresses = addresses;
        this.socket = dgram.createSocket('udp4');
        this.socket.on('message', (query, { port, address }) =>
            this.socket.send(this.answer(query), port, address));
    }

    async start() {
        this.socket.bind(0, '127.0.0.1');
        await once(this.socket, 'listening');
        this.authority = `127.0.0.1:${this.socket.address().port}`;
        return this;
    }

    /* RFC 1035, section 4.1: repeats the question; adds an A record if it asks for one. */
    answer(query) {
        const labels = [];
        let at = 12;
        for (; query[at] > 0; at += 1 + query[at])
            labels.push(query.toString('latin1', at + 1, at + 1 + query[at]));
        const wantsA = query.readUInt16BE(at + 1) === 1;
        const found = this.addresses[labels.join('.')];
        const record = found && wantsA
            ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...found.split('.').map(Number)] : [];
        return Buffer.concat([query.subarray(0, 2), Buffer.from([0x81, found ? 0x80 : 0x83, 0, 1, 0,
            record.length ? 1 : 0, 0, 0, 0, 0]), query.subarray(12, at + 5), Buffer.from(record)]);
    }

    stop() {
        this.socket.close();
    }
}

/* A map from each of TARGETS to the name of the node that serves it. Sequential. */
export async function owners(proxy, targets) {
    const owner = new Map();
    for (const target of targets) {
        const answer = await proxy.get(target);
        assert.equal(answer.status, 200, `GET ${target}: ${answer.body.subarray(0, 300)}`);
        owner.set(target, answer.headers['farlands-node']);
    }
    return owner;
}

/* No request of CLIENTS, a number, fails while nodes come and go. A node that is KILLED cuts what it is sending: the
 * proxy cannot ask another one, because the client has the head already. */
export function assertNoneFail({ answers, failures }, clients, killed = false) {
    const isCut = (failure) => killed && Number(failure.match(/^(\d+) cut$/)?.[1]) <= clients;
    assert.deepEqual(failures.filter((failure) => !isCut(failure)), [], `${answers} answered`);
}

/* The number of keys of BEFORE with another value in AFTER. */
export function moved(before, after) {
    return [...before].filter(([key, value]) => after.get(key) !== value).length;
}

/* Between WITHOUT a node and HAVING it, only the share of NAME, one of COUNT nodes, has moved. */
export function assertShare(without, having, name, count) {
    for (const [target, node] of having)
        if (node !== name)
            assert.equal(without.get(target), node, `${target} moved, but does not belong to ${name}`);
    const share = moved(without, having) / having.size;
    assert.ok(Math.abs(share - 1 / count) < 0.1, `${share} of the places moved`);
    return `${(100 * share).toFixed(1)} % of ${having.size} places moved`;
}
