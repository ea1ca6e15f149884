// An honest client beside an attack: what it gets, the daemon's memory, and whether the daemon is ready afterwards. With
// LATENCIES=1, which make bench-attacks sets, also its times beside those without the attack. Not a test.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Daemon } from '../http/daemon.mjs';
import { Manager } from '../http/manager.mjs';
import { eventually, scratchFile, withFractal } from '../http/program.mjs';
import { cpuSeconds } from '../http/streams.mjs';
import { exchange, request } from '../http/wire.mjs';
import { ENDLESS, runLoad, startLoad } from '../load/client.mjs';

const MIB = 1 << 20;
/* Times are asserted on a quiet machine alone; counts hold on any. */
export const TIMED = Boolean(process.env.LATENCIES);

/*
 * The daemon has a core of its own, so that clients, which have machines of their own in life, do not take its time; a
 * second one if there are three. Where times count, attackers give way to the honest client; on a busy machine they would
 * get nowhere. Nothing is pinned if there is one core.
 */
const CORES = os.cpus().length;
const DAEMON_CORES = CORES > 2 ? 2 : 1;
const pinned = (nice) => [...CORES > 1 ? ['taskset', '-c', CORES - 1] : [], 'nice', '-n', nice].map(String);

const HONEST = '127.0.0.1';
export const ATTACKERS = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5'];
export const EVERYONE = `${ATTACKERS[0]}-${ATTACKERS.at(-1)}`;

/* The honest client's tiles: one again and again, and always new ones at places far apart, of several scales. */
export const HOT = '/default/gray/11/900/1.png';
let used = 0;
export function coldTiles() {
    const first = 1e8 + 2e6 * used++;
    return [9, 10, 11, 12, 13].flatMap((zoom) => ['--url', `/default/relief/${zoom}/{0..31}/{${first}..${first + 1e6}}.png`]);
}
const COUNTS = { hot: 400, cold: 24 };
const SECONDS = { before: 2.5, settle: 0.7, during: 3.5 };

/*
 * The daemon's memory in MiB. Its bound is that of docker/README.md without the system's buffers, which do not count as
 * the process's.
 */
const CACHE = 16, WAITING = 64;
const memoryBound = (connections) =>
    Math.round(CACHE + WAITING + 16 + (5 + 3) * DAEMON_CORES + connections * (128 - 64) / 1024);

/*
 * The targets of TIMED; times in ms. With one core a render that runs keeps the event loop waiting until the scheduler
 * takes the core from it, at a tick of 4 ms; the host of a virtual machine takes as much now and then. So p99 may be
 * FLOOR_MS on any machine. An event loop counts as blocked after a second, which a busy machine alone takes from it.
 */
const TIMES = 4, FLOOR_MS = 10, REFUSED = 0.05, READY_MS = 1000;

/* Why rows are skipped: see network.sh. */
const network = process.env.ATTACKS_NETWORK ?? 'none';
export const noNetwork = network === 'none' ? 'needs a network namespace: run make check-attacks as root' : false;
export const noIpv6 = network === 'inside' ? false : noNetwork || 'IPv6 is not available';

/* The streams of open_loop's report for the honest client, by name. */
const measured = async (daemon, seconds, streams, grace = 1) => (await runLoad(daemon, ['--seconds', seconds, '--grace', grace,
    '--seed', Date.now() % 1e6, ...streams], { prefix: pinned(0) })).stream;

/* --- The daemon ------------------------------------------------------------------ */

/*
 * CONFIG after the resources that attacks are measured against; false: no file. Where times do not count, a render may
 * wait as long as it must, so that only an unfair queue refuses the honest client's.
 */
const configured = (config) => (config === false ? undefined
    : `log: error\nshards: ${DAEMON_CORES}\nthreads: ${DAEMON_CORES}\ncache: { memory: ${CACHE}M }\n` +
        `limits: { memory: ${WAITING}M${TIMED ? '' : ', wait: 60000'} }\n${config}`);

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

/* Tiles rendered during WORK, and how many for a second of the daemon's CPU. */
async function thrift(daemon, work) {
    const of = async () => [await daemon.rendered(), cpuSeconds(daemon.pid)];
    const [tiles, cpu] = await of();
    const result = await work();
    const [after, used] = await of();
    return { result, rendered: after - tiles, thrift: (after - tiles) / (used - cpu) };
}

/* Cold tiles a second that the daemon renders for a client alone: { rate, thrift }. */
async function capacityOf(daemon) {
    const { result: { load }, thrift: most } = await thrift(daemon, () => measured(daemon, 1.5,
        ['--closed', '--connections', '16', ...coldTiles()], 0));
    return { rate: load.status[200].count / 1.5, thrift: most };
}

const round = (value) => Number(value.toFixed(value < 10 ? 2 : 0));
const counts = (stream) => ({ asked: stream.due, served: stream.status[200]?.count ?? 0 });

/*
 * { hot, cold }: what the honest client asks and is served, one request after another on a few connections. RATE: it
 * asks for a hot tile every 5 ms and so many cold ones a second, and its times in ms count, too. Its connections have
 * been let in, for which admission() is the measure.
 */
async function honest(daemon, headers, seconds, rate) {
    const stream = (name, connections, count, ...how) => ['--stream', name, '--connections', connections, '--source', HONEST,
        ...headers, ...rate ? ['--rate', ...how] : ['--closed', '--requests', count]];
    const { hot, cold } = await measured(daemon, rate ? seconds : 300, ['--settle', rate ? 0.5 : 0,
        ...stream('hot', 4, COUNTS.hot, 200), '--url', HOT,
        ...stream('cold', rate ? 64 : 4, COUNTS.cold, rate, '--poisson'), ...coldTiles()]);
    const of = ({ all, lag, ...one }) => ({ ...counts(one), p50: round(all.p50), p99: round(all.p99), lag: round(lag.p99) });
    return { hot: of(hot), cold: of(cold) };
}

/* The same without an attack; the best of up to three, because another program may take the machine's time. */
async function honestAlone(daemon, headers, rate) {
    let best = await honest(daemon, headers, SECONDS.before, rate);
    for (let again = 0; again < 2 && best.hot.p99 > FLOOR_MS; again++) {
        const next = await honest(daemon, headers, SECONDS.before, rate);
        best = next.hot.p99 < best.hot.p99 ? next : best;
    }
    return best;
}

/* Ms until /readyz and a new tile are answered with 200; fails if they never are. */
async function readyAfter(daemon) {
    const began = performance.now();
    const ok = (target) => exchange({ host: daemon.host, port: daemon.port, localAddress: HONEST }, request('GET', target))
        .then(({ answers }) => answers[0].status === 200, () => false);
    assert.ok(await eventually(async () => await ok('/readyz') && await ok(`/default/relief/14/7/${used++}.png`), 60000),
        'not ready after the attack');
    return Math.round(performance.now() - began);
}

/*
 * For withstand(): the honest client also receives the first PART bytes of the large response at TARGET, at half the pace
 * before the attack or more if times count: two clients share the machine.
 */
export function keepsPace(target) {
    const PART = TIMED ? 64 * MIB : 16 * MIB;
    /* { received, mebibytes }, a second */
    async function pace(daemon) {
        const load = startLoad(daemon, [...ENDLESS, '--closed', '--connections', 1, '--source', HONEST, '--grace', 0, '--url', target],
            { prefix: pinned(0) });
        const began = performance.now();
        await load.until(({ bytes }) => bytes >= PART || TIMED && performance.now() - began > 2000);
        const seconds = (performance.now() - began) / 1000;
        const { stream: { load: { bytes, status } } } = await load.stop();
        return { received: bytes, others: Object.keys(status).filter((code) => code !== '200'), mebibytes: round(bytes / MIB / seconds) };
    }
    return {
        calm: pace,
        check: async (daemon, calm) => ({ pace: await pace(daemon), calm }),
        judge: ({ pace: { received, others, mebibytes }, calm }) => {
            assert.deepEqual(others, [], 'a large region is refused');
            if (TIMED)
                assert.ok(mebibytes >= calm.mebibytes / 2, `${mebibytes} MiB/s of a large region, ${calm.mebibytes} without the attack`);
            else
                assert.ok(received >= PART, `${received} bytes of a large region`);
        },
    };
}

/*
 * For withstand(): clients have equal shares of the render threads. Each of the honest client's cold tiles waits for a
 * render or two; with one queue for all it would wait for hundreds, 128 of them for each tile that is asked.
 */
export const sharesEqually = {
    judge: ({ meanwhile, during: { cold: { asked } } }) => assert.ok(TIMED || meanwhile < 40 * asked,
        `${meanwhile} renders while ${asked} cold tiles were asked`),
};

/* For withstand(): COUNT new connections from another address, one after another, have their responses. */
export const letsIn = (count) => ({
    check: async (daemon) => {
        const admitted = [];
        for (let i = 0; i < count; i++) {
            const began = performance.now();
            const { answers } = await exchange({ host: daemon.host, port: daemon.port, localAddress: '127.0.0.9' }, request('GET', '/healthz'),
                { limit: 30000 });
            assert.equal(answers[0].status, 200, 'an outsider is refused');
            admitted.push(Math.round(performance.now() - began));
        }
        return { admitted };
    },
    judge: ({ admitted }) => assert.ok(!TIMED || Math.max(...admitted) <= 1000, `an outsider waits ${admitted} ms to be let in`),
});

/* The daemon's CPU in ms for a request of STREAM, options of open_loop, as fast as they are answered. */
export async function cpuOf(daemon, stream) {
    const before = cpuSeconds(daemon.pid);
    const { load } = await measured(daemon, 1, ['--closed', '--connections', '16', '--source', ATTACKERS[0], ...stream], 0);
    return 1000 * (cpuSeconds(daemon.pid) - before) / load.answered;
}

/* --- Attacks ----------------------------------------------------------------------- */

/* Attackers until they are stopped: streams of open_loop, at the SOCKET-th of the daemon's sockets or at { socketPath }. */
export const attackers = (...stream) => attackersAt((daemon) => daemon, ...stream);
export const attackersAt = (where, ...stream) => (daemon) => {
    const load = startLoad(where(daemon), [...ENDLESS, '--grace', 0, '--seed', Date.now() % 1e6, ...stream], { prefix: pinned(TIMED ? 19 : 0) });
    const connections = stream.reduce((sum, word, i) => sum + (stream[i - 1] === '--connections' ? word : 0), 0);
    const silent = ['--stall', '--pace', '--rate 0'].some((words) => stream.join(' ').includes(words));
    return {
        async ready() {
            assert.ok(await load.until(({ opened, answered }) => opened >= connections / 2 && (silent || answered > 0)),
                `no attack: ${JSON.stringify(load.progress())}`);
        },
        async stop() {
            const { streams } = await load.stop();
            return streams.map(({ opened, due, status, errors }) =>
                ({ opened, due, ...Object.fromEntries(Object.entries(status).map(([code, { count }]) => [code, count])), ...errors }));
        },
    };
};

/* One line of JSON for each run of a row, in the file that ATTACKS_JSON names. */
function record(row) {
    if (process.env.ATTACKS_JSON)
        fs.appendFileSync(process.env.ATTACKS_JSON, `${JSON.stringify(row)}\n`);
}

const percent = ({ asked, served }) => round(100 * (1 - served / asked));

function describeRow({ row, before, during, memory, bound, ready, blocked, calm, pace }) {
    const ms = (name) => `${name} p50 ${before[name].p50} / ${during[name].p50} ms, p99 ${before[name].p99} / ${during[name].p99} ms`;
    return `${row}: ${before ? `before / during: ${ms('hot')}; ${ms('cold')}; ready after ${ready} ms; ` : ''}` +
        `hot ${during.hot.served} of ${during.hot.asked}, cold ${during.cold.served} of ${during.cold.asked}; ` +
        `memory ${memory} of ${bound} MiB` + (before ? `; loop blocked ${blocked}` : '') +
        (pace && TIMED ? `; a large region ${calm.mebibytes} / ${pace.mebibytes} MiB/s` : '');
}

/* The targets. */
function assertTargets({ before, during, memory, bound, ready, blocked }) {
    const allowed = before && Math.max(TIMES * before.hot.p99, FLOOR_MS);
    const failures = [
        [percent(during.hot) > 0, `${percent(during.hot)} % of the hot tiles lost`],
        [percent(during.cold) > (TIMED ? 100 * REFUSED : 0), `${percent(during.cold)} % of the cold tiles refused`],
        [memory > bound, `${memory} MiB of memory, at most ${bound} expected`],
        [TIMED && during.hot.p99 > allowed, `hot p99 ${during.hot.p99} ms, at most ${allowed} expected`],
        [TIMED && blocked > 0, `an event loop was blocked ${blocked} times`],
        [TIMED && ready > READY_MS, `ready after ${ready} ms`],
    ].filter(([failed]) => failed).map(([, text]) => text);
    assert.ok(failures.length === 0, failures.join('; '));
}

/*
 * The honest client during an attack, and before it if times count:
 * config, env     of the daemon; or start(), instead of startDaemon
 * header          of the honest client
 * attack          attackers(), or a list
 * calm, check     measure something more before and during the attack; check(daemon, calm()) goes into the result
 * judge           asserts more of the result than the targets
 */
async function scene(row, { config, env, start = startDaemon, header, attack, calm, check }) {
    const daemon = await start({ config, env });
    try {
        await daemon.bytes(HOT);
        const headers = header ? ['--header', header] : [];
        const capacity = TIMED && await capacityOf(daemon);
        const rate = TIMED && Math.max(10, Math.round(capacity.rate / 10));
        const before = TIMED && await honestAlone(daemon, headers, rate);
        const calmed = TIMED && await calm?.(daemon);
        const first = await daemon.rendered();
        const attacks = [attack].flat().map((begin) => begin(daemon));
        await Promise.all(attacks.map(({ ready }) => ready()));
        await sleep(1000 * SECONDS.settle);         // the attack takes effect; less would make it weaker
        const { result: during, rendered: meanwhile, thrift: rendered } = await thrift(daemon, () => honest(daemon, headers, SECONDS.during, rate));
        const connections = await daemon.metric('farlands_connections');
        const checked = await check?.(daemon, calmed);
        const results = (await Promise.all(attacks.map(({ stop }) => stop()))).flat();
        const rendering = await daemon.rendered() - first;
        const ready = await readyAfter(daemon);
        return {
            row, rate, before, during, goodput: TIMED && round(rendered / capacity.thrift), rendered: rendering, meanwhile, ready,
            memory: peakMemory(daemon.pid), bound: memoryBound(connections),
            blocked: await daemon.metric('farlands_loop_blocked_total'), ...checked, attack: results,
        };
    } finally {
        daemon.kill('SIGKILL');
        await daemon.stop();
    }
}

/*
 * Run a row's scene and assert its targets. If times count, a row that fails is run once more, since another program may
 * have taken the machine's time; the second result counts.
 */
export async function withstand(t, row, { judge = () => {}, ...options }) {
    const attempt = async () => {
        const result = await scene(row, options);
        record(result);
        t.diagnostic(describeRow(result));
        assertTargets(result);
        judge(result);
    };
    await attempt().catch(async (error) => {
        if (!TIMED)
            throw error;
        t.diagnostic(`${row}: failed, and runs once more: ${error.message}`);
        await attempt();
    });
}
