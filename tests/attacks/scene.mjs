// An honest client beside an attack: its times and refusals before and during it, the daemon's memory, and how soon
// the daemon is ready afterwards. Not a test.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cpuSeconds } from '../faults/faults.mjs';
import { Daemon } from '../http/daemon.mjs';
import { Manager } from '../http/manager.mjs';
import { eventually, patience, scratchFile, withFractal } from '../http/program.mjs';
import { connect, exchange, request } from '../http/wire.mjs';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const OPEN_LOOP = process.env.OPEN_LOOP ?? here('../../build/tests/load/open_loop');
const MIB = 1 << 20;

/*
 * The daemon has a core of its own, so that clients, which have machines of their own in life, do not take its time; a
 * second one if there are three. Attackers give way to the honest client. Nothing is pinned if there is one core.
 */
const CORES = os.cpus().length;
const DAEMON_CORES = CORES > 2 ? 2 : 1;
const pinned = (core, command) => (CORES > 1 ? ['taskset', '-c', String(core), ...command] : command);

const HONEST = '127.0.0.1';
export const ATTACKERS = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5'];
export const EVERYONE = `${ATTACKERS[0]}-${ATTACKERS.at(-1)}`;

/* The honest client's tiles: one again and again, and always new ones at places far apart, of several scales. */
export const HOT = '/default/gray/11/900/1.png';
const HOT_RATE = 200;
let used = 0;
export function coldTiles() {
    const first = 1e8 + 2e6 * used++;
    return [9, 10, 11, 12, 13].flatMap((zoom) => ['--url', `/default/relief/${zoom}/{0..31}/{${first}..${first + 1e6}}.png`]);
}
const SECONDS = { before: 2.5, settle: 0.7, during: 3.5 };

/*
 * The daemon's memory in MiB. Its bound is that of docker/README.md without the system's buffers, which do not count as
 * the process's.
 */
const CACHE = 16, WAITING = 64;
const memoryBound = (connections) =>
    Math.round(CACHE + WAITING + 16 + (5 + 3) * DAEMON_CORES + connections * (128 - 64) / 1024);

/*
 * The targets; times in ms. With one core a render that runs keeps the event loop waiting until the scheduler takes the
 * core from it, at a tick of 4 ms; the host of a virtual machine takes as much now and then. So p99 may be FLOOR_MS on
 * any machine. If an honest client alone has a p99 above BUSY_MS, other programs take the machine's time, and four times
 * as much would prove nothing.
 */
const TIMES = 4, FLOOR_MS = 10, BUSY_MS = 20, REFUSED = 0.05, READY_MS = 1000;

/* Why rows are skipped: see network.sh. */
const network = process.env.ATTACKS_NETWORK ?? 'none';
export const noNetwork = network === 'none' ? 'needs a network namespace: run make check-attacks as root' : false;
export const noIpv6 = network === 'inside' ? false : noNetwork || 'IPv6 is not available';

const children = new Set();
process.on('exit', () => {
    for (const child of children)
        child.kill('SIGKILL');
});

function start(command) {
    const child = spawn(command[0], command.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] });
    children.add(child);
    child.text = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'])
        child[stream].setEncoding('utf8').on('data', (text) => { child.text[stream] += text; });
    child.ended = new Promise((resolve) => {
        child.on('error', resolve);
        child.on('close', resolve);
    }).finally(() => children.delete(child));
    return child;
}

/* open_loop's report of STREAMS, { NAME: stream }. */
async function openLoop(daemon, seconds, streams, { nice = 0, grace = 1 } = {}) {
    const child = start(pinned(CORES - 1, ['nice', '-n', String(nice), OPEN_LOOP, '--json', '-', '--seconds', String(seconds),
        '--grace', String(grace), '--seed', String(Date.now() % 1e6), ...streams, `127.0.0.1:${daemon.port}`]));
    await child.ended;
    assert.equal(child.exitCode, 0, `open_loop: ${child.text.stderr}`);
    return Object.fromEntries(JSON.parse(child.text.stdout).streams.map((stream) => [stream.name, stream]));
}

/* --- The daemon ------------------------------------------------------------------ */

/* CONFIG after the resources that attacks are measured against; false: no file. */
const configured = (config) => (config === false ? undefined
    : `log: error\nshards: ${DAEMON_CORES}\nthreads: ${DAEMON_CORES}\ncache: { memory: ${CACHE}M }\n` +
        `limits: { memory: ${WAITING}M }\n${config}`);

const pin = (pid) => (CORES > 1
    ? execFileSync('taskset', ['-a', '-c', '-p', `0-${DAEMON_CORES - 1}`, String(pid)]) : null);

export async function startDaemon({ config = '', ...options } = {}) {
    const daemon = await new Daemon({ config: configured(config), ...options }).start();
    pin(daemon.pid);
    return daemon;
}

/* A `start` for withstand(): the daemon inherits SOCKETS, of which the first is TCP; see manager.c. */
export const inheriting = (sockets) => async ({ config = '' }) => {
    for (const socket of sockets.filter((one) => one.startsWith('unix')))
        fs.rmSync(socket.split(' ')[1], { force: true });
    const manager = new Manager(sockets, { args: ['--config', scratchFile('farlands.yaml', withFractal(configured(config)))] });
    assert.ok(await eventually(() => manager.ports.length === sockets.length), manager.log);
    const service = await manager.startReady();
    pin(service.pid);
    return Object.assign(new Daemon({ cache: false }), {
        host: '127.0.0.1', port: manager.ports[0], ports: manager.ports, pid: service.pid,
        kill: () => process.kill(service.pid, 'SIGKILL'), stop: () => manager.close(),
    });
};

/* The most memory that the process has had, in MiB. */
const peakMemory = (pid) =>
    Math.round(Number(/^VmHWM:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'latin1'))[1]) / 1024);

/* --- The honest client ------------------------------------------------------------ */

/* Tiles rendered during WORK for a second of the daemon's CPU. */
async function thrift(daemon, work) {
    const of = async () => [await daemon.rendered(), cpuSeconds(daemon.pid)];
    const [tiles, cpu] = await of();
    const result = await work();
    const [after, used] = await of();
    return { result, thrift: (after - tiles) / (used - cpu) };
}

/* Cold tiles a second that the daemon renders for a client alone: { rate, thrift }. */
async function capacityOf(daemon) {
    const { result: { load }, thrift: most } = await thrift(daemon, () => openLoop(daemon, 1.5,
        ['--rate', '100000', '--connections', '16', ...coldTiles()], { grace: 0 }));
    return { rate: load.status[200].count / 1.5, thrift: most };
}

const round = (value) => Number(value.toFixed(value < 10 ? 2 : 0));

/*
 * { hot: { p50, p99, lost }, cold: { p50, p99, refused } }: ms; lost and refused are shares. Its connections have been let
 * in, for which admission() is the measure.
 */
async function honest(daemon, seconds, { rate, headers }) {
    const { hot, cold: missed } = await openLoop(daemon, seconds, ['--settle', '0.5',
        '--stream', 'hot', '--rate', String(HOT_RATE), '--connections', '4', '--source', HONEST, ...headers, '--url', HOT,
        '--stream', 'cold', '--poisson', '--rate', String(rate), '--connections', '64', '--source', HONEST, ...headers,
        ...coldTiles()]);
    const lost = (stream) => 1 - (stream.status[200]?.count ?? 0) / stream.due;
    return {
        hot: { p50: round(hot.all.p50), p99: round(hot.all.p99), lost: round(lost(hot)), lag: round(hot.lag.p99) },
        cold: { p50: round(missed.all.p50), p99: round(missed.all.p99), refused: round(lost(missed)), count: missed.due },
    };
}

/* The same without an attack; the best of up to three, because another program may take the machine's time. */
async function honestAlone(daemon, load) {
    let best = await honest(daemon, SECONDS.before, load);
    for (let again = 0; again < 2 && best.hot.p99 > FLOOR_MS; again++) {
        const next = await honest(daemon, SECONDS.before, load);
        best = next.hot.p99 < best.hot.p99 ? next : best;
    }
    return best;
}

/* Ms until /readyz and a new tile are answered with 200 within a second each. */
async function readyAfter(daemon) {
    const began = performance.now();
    const ok = async (target) => {
        try {
            const { answers } = await exchange({ host: daemon.host, port: daemon.port, localAddress: HONEST },
                request('GET', target), { limit: 1000 });
            return answers[0].status === 200;
        } catch {
            return false;
        }
    };
    await eventually(async () => await ok('/readyz') && await ok(`/default/relief/14/7/${used++}.png`), 20000);
    return Math.round(performance.now() - began);
}

/* Mebibytes a second of the region of 4097 x 4097 floats at TARGET that a client receives within the first SECONDS. */
async function pace(daemon, target, seconds) {
    const whole = 4 * 4097 * 4097;
    const connection = await connect({ host: daemon.host, port: daemon.port, localAddress: HONEST });
    const path = target.replace(/\{0\.\.(\d+)\}/g, (_, last) => String(Math.floor(Math.random() * last)));
    let received = 0;
    connection.socket.removeAllListeners('data');
    connection.socket.on('data', (bytes) => {
        received += bytes.length;
        connection.wake();
    });
    connection.send(request('GET', path));
    const began = performance.now();
    await connection.until(() => (received >= whole || connection.ended ? true : null), 1000 * seconds);
    const took = (performance.now() - began) / 1000;
    connection.close();
    return round(received / MIB / Math.max(took, 0.001));
}

/*
 * For withstand(): the honest client also receives the large response at TARGET, at half the pace before the attack or
 * more: two clients share the machine.
 */
export const keepsPace = (target, seconds = 2) => ({
    calm: async (daemon) => ({ pace: await pace(daemon, target, seconds) }),
    check: async (daemon, calm) => ({ pace: await pace(daemon, target, seconds), calm }),
    judge: ({ pace: mebibytes, calm }) => assert.ok(mebibytes >= calm.pace / 2,
        `${mebibytes} MiB/s of a large region, ${calm.pace} without the attack`),
});

/* Ms until each of COUNT new connections from ADDRESS, one after another, has its first response. */
export async function admission(daemon, address, count) {
    const times = [];
    for (let i = 0; i < count; i++) {
        const began = performance.now();
        await exchange({ host: daemon.host, port: daemon.port, localAddress: address }, request('GET', '/healthz'),
            { limit: 3000 }).catch(() => {});
        times.push(Math.round(performance.now() - began));
    }
    return times;
}

/* The daemon's CPU in ms for a request of STREAM, options of open_loop, as fast as they are answered. */
export async function cpuOf(daemon, stream) {
    const before = cpuSeconds(daemon.pid);
    const { load } = await openLoop(daemon, 1, ['--rate', '100000', '--connections', '16', '--source', ATTACKERS[0], ...stream], { grace: 0 });
    return 1000 * (cpuSeconds(daemon.pid) - before) / load.answered;
}

/* --- Attacks ----------------------------------------------------------------------- */

/* Open-loop attackers: streams of open_loop for SECONDS. */
export const floods = (...stream) => (daemon, seconds) => {
    let report;
    const done = openLoop(daemon, seconds, stream.map(String), { nice: 19, grace: 0 }).then((streams) => { report = streams; });
    return {
        ready: null,
        async stop() {
            await done;
            assert.ok(Object.values(report).every(({ answered }) => answered > 0), 'no attack: nothing was answered');
        },
        result: () => Object.values(report).map(({ due, status, errors }) =>
            ({ due, ...Object.fromEntries(Object.entries(status).map(([code, { count }]) => [code, count])), ...errors })),
    };
};

/* Attackers of attacker.mjs with this PLAN, at the SOCKET-th of the daemon's sockets. */
export const attackers = ({ socket = 0, ...plan }) => (daemon, seconds) => {
    const child = start(pinned(CORES - 1, ['nice', '-n', '19', process.execPath, here('attacker.mjs'),
        JSON.stringify({ host: daemon.host, port: daemon.ports?.[socket] ?? daemon.port, seconds: 4 * seconds, ...plan })]));
    const result = () => JSON.parse(child.text.stdout.split('\n').at(-2));
    return {
        result,
        ready: eventually(() => child.text.stdout.includes('ready') || child.exitCode !== null, 15000),
        async stop() {
            child.kill();
            await child.ended;
            assert.match(child.text.stdout, /ready\n\{.*\}\n/, `the attack failed: ${child.exitCode} ${child.signalCode} ${child.text.stderr}`);
            assert.ok(result().opened > plan.connections / 2, `no attack: ${JSON.stringify(result())}`);
        },
    };
};

/* One line of JSON for each run of a row, in the file that ATTACKS_JSON names. */
function record(row) {
    if (process.env.ATTACKS_JSON)
        fs.appendFileSync(process.env.ATTACKS_JSON, `${JSON.stringify(row)}\n`);
}

function describeRow({ row, before, during, memory, bound, ready, blocked, calm, pace: mebibytes }) {
    const ms = (before, during, name) => `${name} ${before.p50} / ${during.p50} ms, p99 ${before.p99} / ${during.p99} ms`;
    return `${row}: before / during: ${ms(before.hot, during.hot, 'hot p50')}; ${ms(before.cold, during.cold, 'cold p50')}; ` +
        `cold refused ${round(100 * before.cold.refused)} / ${round(100 * during.cold.refused)} %; ` +
        `memory ${memory} of ${bound} MiB; ready after ${ready} ms; loop blocked ${blocked}` +
        (calm ? `; a large region ${calm.pace} / ${mebibytes} MiB/s` : '');
}

/* The targets. */
function assertTargets({ before, during, memory, bound, ready, blocked }) {
    const allowed = Math.max(TIMES * before.hot.p99, patience(FLOOR_MS));
    const failures = [
        [before.hot.p99 > patience(BUSY_MS), `the machine is busy: hot p99 ${before.hot.p99} ms before the attack`],
        [during.hot.lost > 0, `${100 * during.hot.lost} % of the hot tiles lost`],
        [during.hot.p99 > allowed, `hot p99 ${during.hot.p99} ms, at most ${allowed} expected`],
        [during.cold.refused > REFUSED, `${round(100 * during.cold.refused)} % of the cold tiles refused`],
        [memory > bound, `${memory} MiB of memory, at most ${bound} expected`],
        [ready > patience(READY_MS), `ready after ${ready} ms`],
        [blocked > 0, `an event loop was blocked ${blocked} times`],
    ].filter(([failed]) => failed).map(([, text]) => text);
    assert.ok(failures.length === 0, failures.join('; '));
}

/*
 * The honest client before and during an attack:
 * config, env     of the daemon; or start(), instead of startDaemon
 * header          of the honest client
 * attack          floods() or attackers(), or a list
 * calm, check     measure something more before and during the attack; check(daemon, calm()) goes into the result
 * judge           asserts more of the result than the targets
 */
async function scene(row, { config, env, start = startDaemon, header, attack, calm, check }) {
    const daemon = await start({ config, env });
    try {
        await daemon.bytes(HOT);
        const capacity = await capacityOf(daemon);
        const rate = Math.max(10, Math.round(capacity.rate / 10));
        const load = { rate, headers: header ? ['--header', header] : [] };
        const before = await honestAlone(daemon, load);
        const calmed = await calm?.(daemon);
        const attacks = [attack].flat().map((begin) => begin(daemon, SECONDS.settle + SECONDS.during + 1.5, rate));
        await Promise.all(attacks.map(({ ready }) => ready));
        await sleep(1000 * SECONDS.settle);
        const { result: during, thrift: rendered } = await thrift(daemon, () => honest(daemon, SECONDS.during, load));
        const connections = await daemon.metric('farlands_connections');
        const checked = await check?.(daemon, calmed);
        await Promise.all(attacks.map(({ stop }) => stop()));
        const ready = await readyAfter(daemon);
        return {
            row, rate, before, during, goodput: round(rendered / capacity.thrift), ready,
            memory: peakMemory(daemon.pid), bound: memoryBound(connections),
            blocked: await daemon.metric('farlands_loop_blocked_total'), ...checked, attack: attacks.map(({ result }) => result()),
        };
    } finally {
        daemon.kill('SIGKILL');
        await daemon.stop();
    }
}

/*
 * Run a row's scene and assert its targets. A row that fails is run once more, since another program may have taken the
 * machine's time; the second result counts.
 */
export async function withstand(t, row, { judge = () => {}, ...options }) {
    const attempt = async () => {
        const measured = await scene(row, options);
        record(measured);
        t.diagnostic(describeRow(measured));
        assertTargets(measured);
        judge(measured);
    };
    await attempt().catch(async (error) => {
        t.diagnostic(`${row}: failed, and runs once more: ${error.message}`);
        await attempt();
    });
}
