// Clients that do not read: a daemon in a container with the size from docker/README.md is not killed,
// and other clients are served. And clients that view all built-in worlds.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, describe, it } from 'node:test';
import { withDaemon } from '../http/daemon.mjs';
import { eventually, patience } from '../http/program.mjs';
import { assertStatus } from '../http/table.mjs';

const MEBIBYTE = 1 << 20;
const CACHE = 16 * MEBIBYTE, RESPONSES = 32 * MEBIBYTE, CONNECTIONS = 1100, THREADS = 2, SHARDS = 2;
/* docker/README.md, Sizing. */
const FIGURE = CACHE + RESPONSES + (16 + 5 * THREADS + 3 * SHARDS) * MEBIBYTE + CONNECTIONS * 128 * 1024;

const config = `threads: ${THREADS}
shards: ${SHARDS}
cache: { memory: ${CACHE} }
limits: { memory: ${RESPONSES}, connections: ${CONNECTIONS}, wait: 60000 }
`;

const sanitized = patience(1) > 1;

/* A control group with a limit of memory: version 2, where sockets count, or version 1. */
class Group {
    static #parents = [
        ['/sys/fs/cgroup', 'memory.max', ['memory.peak']],
        ['/sys/fs/cgroup/memory', 'memory.limit_in_bytes',
            ['memory.max_usage_in_bytes', 'memory.kmem.tcp.max_usage_in_bytes']],
    ];

    /* Throws if this user may not. */
    constructor(limit) {
        const found = Group.#parents.find(([parent, file]) => {
            this.directory = path.join(parent, `farlands-test-${process.pid}`);
            fs.mkdirSync(this.directory);
            if (fs.existsSync(path.join(this.directory, file)))
                return true;
            fs.rmdirSync(this.directory);
            return false;
        });
        if (!found)
            throw new Error('no memory controller');
        [, this.limitFile, this.peaks] = found;
        this.#write(this.limitFile, limit);
        // Version 1 counts the memory of sockets once they have a limit.
        if (this.peaks.length > 1)
            this.#write('memory.kmem.tcp.limit_in_bytes', limit);
    }

    #write(file, value) {
        fs.writeFileSync(path.join(this.directory, file), `${value}`);
    }

    add(pid) {
        this.#write('cgroup.procs', pid);
    }

    get peak() {
        return this.peaks.map((file) => Number(fs.readFileSync(path.join(this.directory, file), 'latin1')))
            .reduce((a, b) => a + b);
    }

    remove() {
        fs.rmdirSync(this.directory);
    }
}

let column = 0;
const region = () => `/default/region.f32?x=${512 * ++column}&y=77&width=512&height=512`;

/* Connections from ADDRESS that request regions and read nothing but the beginning of errors. */
class StalledReaders {
    constructor(daemon, address, count) {
        this.daemon = daemon;
        this.address = address;
        this.statuses = {};
        this.sockets = new Set();
        for (let i = 0; i < count; i++)
            this.#open();
    }

    #open() {
        const socket = net.connect({ host: this.daemon.host, port: this.daemon.port, localAddress: this.address });
        const ask = () => socket.write(`GET ${region()} HTTP/1.1\r\nHost: a\r\n\r\n`);
        this.sockets.add(socket);
        socket.on('connect', ask);
        socket.on('data', (bytes) => {
            const status = bytes.toString('latin1', 9, 12);
            this.statuses[status] = (this.statuses[status] ?? 0) + 1;
            if (status === '200')
                socket.pause();
            else
                setTimeout(ask, 200);
        });
        socket.on('error', () => {});
        socket.on('close', () => {
            this.sockets.delete(socket);
            if (!this.ended)
                setTimeout(() => this.#open(), 200);
        });
    }

    leave() {
        this.ended = true;
        this.sockets.forEach((socket) => socket.destroy());
    }
}

describe('readers of 1 MiB each that stall, 256 from each of four addresses', { timeout: patience(300000) }, () => {
    const groups = [];
    after(() => groups.forEach((group) => group.remove()));

    it('take no more memory than docker/README.md says, and others are served', (test) => withDaemon(async (daemon) => {
        let group;
        try {
            if (sanitized)
                throw new Error('sanitizers keep freed memory');
            group = new Group(FIGURE);
            groups.push(group);
            group.add(daemon.pid);
        } catch (error) {
            test.diagnostic(`without a control group: ${error.message}`);
        }
        const hot = '/default/relief/6/31/32.png';
        await daemon.bytes(hot);
        const attackers = [2, 3, 4, 5].map((i) => new StalledReaders(daemon, `127.0.0.${i}`, 256));
        let held = 0;
        const cold = [];
        // Until all have read and were refused, and others have asked often.
        const enough = () => cold.length >= 100 && held > RESPONSES / 2 &&
            attackers.every(({ statuses }) => statuses['200'] > 0 && statuses['503'] > 0);
        while (!enough()) {
            assertStatus(await daemon.get(hot), 200);
            cold.push((await daemon.get(region())).status);
            held = Math.max(held, await daemon.metric('farlands_response_bytes'));
            await sleep(20);
        }
        const peak = group?.peak;
        const resident = 1024 * Number(/^VmHWM:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${daemon.pid}/status`, 'latin1'))[1]);
        test.diagnostic(`${held} bytes of responses, ${resident} resident, ${peak} in the control group, ` +
            `at most ${FIGURE}; ${cold.length} regions for others`);
        attackers.forEach((attacker) => attacker.leave());
        assert.ok(daemon.program.running);
        assert.ok(held <= RESPONSES, `${held} bytes of responses`);
        const refused = cold.filter((status) => status !== 200).length;
        assert.ok(refused <= cold.length / 20, `${refused} of ${cold.length} regions for others refused`);
        if (!sanitized) {
            assert.ok(resident <= FIGURE, `${resident} bytes resident`);
            assert.ok(!group || peak <= FIGURE, `${peak} bytes in the control group`);
        }
        assert.ok(await eventually(async () => await daemon.metric('farlands_response_bytes') === 0), 'not released');
    }, { config }));
});

describe('tiles of all built-in worlds and of other seeds', { timeout: patience(300000) }, () => {
    /* docker/README.md, Sizing; each of them has fields and a drain, and a thread keeps two. */
    const most = CACHE + RESPONSES + (16 + (8 + 48 + 48) * THREADS + 3 * SHARDS) * MEBIBYTE;

    it('take no more memory than docker/README.md says', { skip: sanitized && 'sanitizers keep freed memory' }, (test) =>
        withDaemon(async (daemon) => {
            for (const world of ['default', 'archipelago', 'alps:7', 'default:5']) {
                const tiles = Array.from({ length: 40 }, (_, i) => {
                    const zoom = 6 + i % 10, middle = 2 ** (zoom - 1);
                    return `/${world}/relief/${zoom}/${middle + 3 * i}/${middle - i}@2x.png`;
                });
                await Promise.all([0, 1, 2, 3].map(async () => {
                    while (tiles.length > 0)
                        await daemon.bytes(tiles.pop());
                }));
            }
            const status = fs.readFileSync(`/proc/${daemon.pid}/status`, 'latin1');
            const resident = 1024 * Number(/^VmHWM:\s+(\d+)/m.exec(status)[1]);
            test.diagnostic(`${resident} resident, at most ${most}`);
            assert.ok(resident <= most, `${resident} bytes resident`);
        }, { config, builtIn: true }));
});
