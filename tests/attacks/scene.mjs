// An honest client beside an attack: its responses, the daemon's memory, and whether the daemon is ready afterwards. With
// LATENCIES=1, which make bench-attacks sets, also its times with and without the attack. Not a test.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Daemon, assertPeace } from '../http/daemon.mjs';
import { Manager } from '../http/manager.mjs';
import { WAIT, eventually, scratchFile, withFractal } from '../http/program.mjs';
import { cpuSeconds } from '../http/streams.mjs';
import { eachRow } from '../http/table.mjs';
import { exchange, request } from '../http/wire.mjs';
import { ENDLESS, runLoad, startLoad } from '../load/client.mjs';

const MIB = 1 << 20;
/* Times are asserted on a quiet machine alone; counts hold on any. */
export const TIMED = Boolean(process.env.LATENCIES);

/*
 * The daemon has a core of its own, so that clients, which have machines of their own in life, do not take its time; a
 * second one if there are three, or as many as ATTACK_CORES says. Where times count, attackers give way to the honest client; on a busy machine they would
 * get nowhere. Nothing is pinned if there is one core.
 */
const CORES = os.cpus().length;
export const DAEMON_CORES = Number(process.env.ATTACK_CORES) || (CORES > 2 ? 2 : 1);
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
/* What a render thread has besides in worlds with fields and a drain, such as the built-in ones: of the last two. */
const FIELDS = 3 + 2 * (24 + 24);
const memoryBound = (connections, builtIn) =>
    Math.round(CACHE + WAITING + 16 + (5 + 3 + (builtIn ? FIELDS : 0)) * DAEMON_CORES + connections * (128 - 64) / 1024);

/*
 * The targets of TIMED; times in ms. With one core a render that runs keeps the event loop waiting until the scheduler
 * takes the core from it, at a tick of 4 ms; the host of a virtual machine takes as much now and then. So p99 may be
 * FLOOR_MS on any machine. An event loop counts as blocked after a second, which a busy machine alone takes from it.
 */
const TIMES = 4, FLOOR_MS = 10, REFUSED = 0.05, READY_MS = 1000, END_MS = 5000;

/*
 * Processor times count in cold tiles of the honest client's, each 10 to 30 ms of a core, measured in the same run: numbers are
 * the same on any machine, also if it is busy.
 * SHARE: beside N attackers with shares as large as its own, the render threads do the work of N + 1 tiles for each that it
 * gets, and more if slices are long: at most SHARE times as much. END_CPU: the CPU in s of a core from SIGTERM to the daemon's
 * end. In END_MS it cannot have had more than half of that; a daemon that takes twice as long has.
 */
const SHARE = 3, END_CPU = 10;

/* Why rows are skipped: see network.sh. */
const network = process.env.ATTACKS_NETWORK ?? 'none';
export const noNetwork = network === 'none' ? 'needs a network namespace: run make check-attacks as root' : false;
export const noIpv6 = network === 'inside' ? false : noNetwork || 'IPv6 is not available';

/* The streams of open_loop's report for the honest client, by name. */
const measured = async (daemon, seconds, streams, grace = 1) => (await runLoad(daemon, ['--seconds', seconds, '--grace', grace,
    '--seed', Date.now() % 1e6, ...streams], { prefix: pinned(0) })).stream;

/* A function that returns the milliseconds since then. */
function stopwatch() {
    const began = performance.now();
    return () => Math.round(performance.now() - began);
}

/* --- The daemon ------------------------------------------------------------------ */

/*
 * CONFIG after the resources that attacks are measured against; false: no file. Where times do not count, a render may
 * wait as long as it must, so that only an unfair queue refuses the honest client's.
 */
const configured = (config, limits = '') => (config === false ? undefined
    : `log: error\nshards: ${DAEMON_CORES}\nthreads: ${DAEMON_CORES}\ncache: { memory: ${CACHE}M }\n` +
        `limits: { memory: ${WAITING}M${TIMED ? '' : ', wait: 60000'}${limits && `, ${limits}`} }\n${config}`);

const pin = (pid) => (CORES > 1
    ? execFileSync('taskset', ['-a', '-c', '-p', `0-${DAEMON_CORES - 1}`, String(pid)]) : null);

/* LIMITS: more of them, in YAML. The other options are those of Daemon. */
export async function startDaemon({ config = '', limits, ...options } = {}) {
    const daemon = await new Daemon({ config: configured(config, limits), ...options }).start();
    pin(daemon.pid);
    return daemon;
}

/* The same for one check; it is killed at the end, if it still runs. */
export async function withDaemon(options, check) {
    const daemon = await startDaemon(options);
    try {
        return await check(daemon);
    } finally {
        daemon.kill('SIGKILL');
        await daemon.stop();
    }
}

/* A `start` for withstand(): the daemon inherits SOCKETS, of which the first is TCP; see manager.c. */
export const inheriting = (sockets) => async ({ config = '', builtIn, limits }) => {
    for (const socket of sockets.filter((one) => one.startsWith('unix')))
        fs.rmSync(socket.split(' ')[1], { force: true });
    const text = configured(config, limits);
    const manager = new Manager(sockets, { args: ['--config', scratchFile('farlands.yaml', builtIn ? text : withFractal(text))] });
    assert.ok(await eventually(() => manager.ports.length === sockets.length), manager.log);
    const service = await manager.startReady();
    pin(service.pid);
    return Object.assign(new Daemon({ cache: false }), {
        host: '127.0.0.1', port: manager.ports[0], ports: manager.ports, pid: service.pid,
        kill: () => process.kill(service.pid, 'SIGKILL'), stop: () => manager.close(),
    });
};

/* The most memory that the process has had, in MiB. */
export const peakMemory = (pid) =>
    Math.round(Number(/^VmHWM:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'latin1'))[1]) / 1024);

/* --- Processor times --------------------------------------------------------------- */

/* COUNT requests of STREAM, options of open_loop, on a few connections, as fast as they are answered; none is lost. */
export async function repeat(daemon, count, stream) {
    const { load } = await measured(daemon, 300, ['--closed', '--requests', count, '--connections', Math.min(4, count), '--source', HONEST, ...stream]);
    assert.equal(load.answered, count, 'requests are lost');
    return load;
}

/* The CPU in ms that each of its threads has had. */
const threadTimes = (pid) => new Map(fs.readdirSync(`/proc/${pid}/task`).map((thread) =>
    [thread, Number(fs.readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]) / 1e6]));

/* What a daemon's event loops and its other threads do, in ms of CPU; what they need for a hot and for a cold tile. */
export class Meter {
    /* Event loops are the threads whose CPU grows with hot tiles. */
    static async of(daemon, count = 2000) {
        const meter = Object.assign(new Meter(), { pid: daemon.pid });
        await daemon.bytes(HOT);
        const before = threadTimes(daemon.pid);
        await repeat(daemon, count, ['--url', HOT]);
        const grown = [...threadTimes(daemon.pid)].map(([thread, ms]) => [ms - (before.get(thread) ?? 0), thread])
            .sort(([one], [other]) => other - one).slice(0, DAEMON_CORES);
        meter.loops = grown.map(([, thread]) => thread);
        meter.hot = grown.reduce((sum, [ms]) => sum + ms, 0) / count;
        const { rest } = await meter.during(() => repeat(daemon, COUNTS.cold, coldTiles()));
        meter.tile = rest / COUNTS.cold;
        return meter;
    }

    /* { loop, rest } */
    read() {
        const sum = { loop: 0, rest: 0 };
        for (const [thread, ms] of threadTimes(this.pid))
            sum[this.loops.includes(thread) ? 'loop' : 'rest'] += ms;
        return sum;
    }

    /* { result, loop, rest }: of WORK, and what it takes. */
    async during(work) {
        const before = this.read();
        const result = await work();
        const after = this.read();
        return { result, loop: after.loop - before.loop, rest: after.rest - before.rest };
    }

    /* The work of all threads but event loops, in tiles. */
    tiles({ rest }) {
        return round(rest / this.tile);
    }
}

/*
 * The daemon's work in tiles of METER from ACT() until DONE(); fails if that never comes, or after the work of MOST tiles.
 */
export async function workUntil(daemon, meter, most, act, done) {
    const first = cpuSeconds(daemon.pid);
    let tiles = 0;
    await act();
    const ended = await eventually(async () => {
        try {
            tiles = Math.round(1000 * (cpuSeconds(daemon.pid) - first) / meter.tile);
        } catch {
            // It has ended.
        }
        return tiles > most || await done();
    }, WAIT);
    assert.ok(tiles <= most, `it has done the work of ${tiles} tiles, at most ${Math.round(most)} expected`);
    assert.ok(ended, 'never');
    return tiles;
}

/*
 * Assert for each of ROWS, [what, times, count, stream, control], that COUNT requests of STREAM take the event loops at most
 * TIMES the CPU of as many of CONTROL, by default hot tiles, so that they compute nothing: these are options of open_loop.
 */
export const sparesLoops = (t, rows, options) => withDaemon({ builtIn: true, ...options }, async (daemon) => {
    const meter = await Meter.of(daemon);
    const each = async (count, stream) => {
        const { result: { status }, loop } = await meter.during(() => repeat(daemon, count, stream));
        assert.ok(!status[503], 'refused');
        return { ms: loop / count, statuses: Object.keys(status).join(', ') };
    };
    await eachRow(rows, async ([what, most, count, stream, control]) => {
        const expected = control ? (await each(count, control)).ms : meter.hot;
        const { ms, statuses } = await each(count, stream);
        const times = round(ms / expected);
        t.diagnostic(`${what} (${statuses}): ${round(1000 * ms)} us of a loop, ${times} times ${control ? 'its control' : 'a hot tile'}`);
        assert.ok(times <= most, `${times} times the CPU of ${control ? 'its control' : 'a hot tile'}, at most ${most} expected`);
    });
});

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

/* Ms until /readyz and a new tile are answered with 200; Infinity if they never are. */
async function readyAfter(daemon) {
    const time = stopwatch();
    const ok = (target) => exchange({ host: daemon.host, port: daemon.port, localAddress: HONEST }, request('GET', target))
        .then(({ answers }) => answers[0].status === 200, () => false);
    return await eventually(async () => await ok('/readyz') && await ok(`/default/relief/14/7/${used++}.png`), 60000) ? time() : Infinity;
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
        const time = stopwatch();
        await load.until(({ bytes }) => bytes >= PART || TIMED && time() > 2000);
        const seconds = time() / 1000;
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
            const time = stopwatch();
            const { answers } = await exchange({ host: daemon.host, port: daemon.port, localAddress: '127.0.0.9' }, request('GET', '/healthz'),
                { limit: 30000 });
            assert.equal(answers[0].status, 200, 'an outsider is refused');
            admitted.push(time());
        }
        return { admitted };
    },
    judge: ({ admitted }) => assert.ok(!TIMED || Math.max(...admitted) <= 1000, `an outsider waits ${admitted} ms to be let in`),
});

/*
 * For withstand(): new connections have their turn. Between two requests of a client that opens a connection for each, the
 * daemon handles those of a few of its turns, 32 each. With a loop that takes new connections when it has nothing else to do,
 * it would be thousands.
 */
const PASSED = 1000;
export const takesTurns = {
    check: async (daemon) => {
        const COUNT = 20, sums = [];
        while (sums.length <= COUNT) {
            const { answers: [{ body }] } = await exchange({ host: daemon.host, port: daemon.port, localAddress: HONEST },
                request('GET', '/metrics'), { limit: 120000 });
            sums.push([...String(body).matchAll(/^farlands_requests_total\{.*\} (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0));
        }
        /* Of half of them: a machine that is busy delays the other client, too. */
        const passed = sums.slice(1).map((sum, i) => sum - sums[i]).sort((a, b) => a - b);
        return { passed: passed[COUNT / 2] };
    },
    judge: ({ passed }) => assert.ok(passed > 0 && passed <= PASSED, `${passed} other requests for one on a new connection, at most ${PASSED} expected`),
};

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

/* The attacks of LIST one after another, each for SECONDS, and from the first again. */
export const oneAfterAnother = (list, seconds) => (daemon) => {
    let current = list[0](daemon), stopped = false;
    const ready = current.ready();
    const turns = (async () => {
        for (let i = 1; !stopped; i++) {
            await sleep(1000 * seconds);
            await current.stop();
            current = stopped ? null : list[i % list.length](daemon);
        }
        return current ? current.stop() : [];
    })();
    return {
        ready: () => ready,
        stop() {
            stopped = true;
            return turns;
        },
    };
};

/* One line of JSON for each run of a row, in the file that ATTACKS_JSON names. */
function record(row) {
    if (process.env.ATTACKS_JSON)
        fs.appendFileSync(process.env.ATTACKS_JSON, `${JSON.stringify(row)}\n`);
}

const percent = ({ asked, served }) => round(100 * (1 - served / asked));

function describeRow({ row, before, during, memory, bound, ready, blocked, calm, pace, passed, share, end }) {
    const ms = (name) => `${name} p50 ${before[name].p50} / ${during[name].p50} ms, p99 ${before[name].p99} / ${during[name].p99} ms`;
    return `${row}: ${before ? `before / during: ${ms('hot')}; ${ms('cold')}; ready after ${ready} ms; ` : ''}` +
        `hot ${during.hot.served} of ${during.hot.asked}, cold ${during.cold.served} of ${during.cold.asked}; ` +
        `memory ${memory} of ${bound} MiB` + (before ? `; loop blocked ${blocked}` : '') +
        (passed ? `; ${passed} others handled for a new connection` : '') +
        (share ? `; ${share} of its share rendered` : '') + (end ? `; SIGTERM: ${TIMED ? `${end.ms} ms, ` : ''}the work of ${end.tiles} tiles` : '') +
        (pace && TIMED ? `; a large region ${calm.mebibytes} / ${pace.mebibytes} MiB/s` : '');
}

/* The targets. */
function assertTargets({ before, during, memory, bound, ready, blocked, builtIn, share, end }) {
    const allowed = before && Math.max(TIMES * before.hot.p99, FLOOR_MS);
    const failures = [
        [percent(during.hot) > 0, `${percent(during.hot)} % of the hot tiles lost`],
        [percent(during.cold) > (TIMED || builtIn ? 100 * REFUSED : 0), `${percent(during.cold)} % of the cold tiles refused`],
        [memory > bound, `${memory} MiB of memory, at most ${bound} expected`],
        [TIMED && during.hot.p99 > allowed, `hot p99 ${during.hot.p99} ms, at most ${allowed} expected`],
        [TIMED && blocked > 0, `an event loop was blocked ${blocked} times`],
        [ready === Infinity || TIMED && ready > READY_MS, `ready after ${ready} ms`],
        [share > SHARE, `${share} of its share is rendered while the honest client waits, at most ${SHARE} times expected`],
        [end?.failed, `after SIGTERM: ${end?.failed}`],
        [TIMED && end?.ms > END_MS, `ends ${end?.ms} ms after SIGTERM`],
    ].filter(([failed]) => failed).map(([, text]) => text);
    assert.ok(failures.length === 0, failures.join('; '));
}

/* SIGTERM to the daemon while ATTACKS begin once more: { ms, tiles: its work until it ends, failed: why it does not }. */
async function endUnder(daemon, meter, attack) {
    const attacks = [attack].flat().map((begin) => begin(daemon));
    const end = { tiles: 0 };
    let time;
    try {
        await Promise.all(attacks.map(({ ready }) => ready()));
        time = stopwatch();
        end.tiles = await workUntil(daemon, meter, 1000 * END_CPU * DAEMON_CORES / meter.tile, () => daemon.kill(), () => !daemon.program.running);
        assertPeace(await daemon.ended());
    } catch (error) {
        end.failed = error.message;
    }
    end.ms = time?.();
    await Promise.all(attacks.map(({ stop }) => stop()));
    return end;
}

/*
 * The honest client during an attack, and before it if times count:
 * config, env     of the daemon, limits: more of them; or start(), instead of startDaemon
 * builtIn         it serves the built-in worlds, gives CLIENTS attackers no more than their shares, and ends after SIGTERM
 * header          of the honest client
 * seconds         how long the attack is measured if times count
 * most            the most connections at a time, if they are not all there at the end
 * attack          attackers(), or a list
 * calm, check     measure something more before and during the attack; check(daemon, calm()) goes into the result
 * judge           asserts more of the result than the targets
 */
async function scene(row, { config, env, limits, builtIn = false, clients = 1, start = startDaemon, header, seconds = SECONDS.during, most, attack, calm, check }) {
    const daemon = await start({ config, env, limits, builtIn });
    try {
        await daemon.bytes(HOT);
        const meter = builtIn && await Meter.of(daemon);
        const headers = header ? ['--header', header] : [];
        const capacity = TIMED && await capacityOf(daemon);
        const rate = TIMED && Math.max(10, Math.round(capacity.rate / 10));
        const before = TIMED && await honestAlone(daemon, headers, rate);
        const calmed = TIMED && await calm?.(daemon);
        const first = await daemon.rendered();
        const attacks = [attack].flat().map((begin) => begin(daemon));
        await Promise.all(attacks.map(({ ready }) => ready()));
        await sleep(1000 * SECONDS.settle);         // the attack takes effect; less would make it weaker
        const work = meter && meter.read();
        const { result: during, rendered: meanwhile, thrift: rendered } = await thrift(daemon, () => honest(daemon, headers, seconds, rate));
        const share = meter && !TIMED && round((meter.read().rest - work.rest) / (meter.tile * COUNTS.cold * (clients + 1)));
        const connections = await daemon.metric('farlands_connections');
        const checked = await check?.(daemon, calmed);
        const results = (await Promise.all(attacks.map(({ stop }) => stop()))).flat();
        const rendering = await daemon.rendered() - first;
        const ready = await readyAfter(daemon);
        const memory = peakMemory(daemon.pid), blocked = await daemon.metric('farlands_loop_blocked_total');
        const end = meter && daemon.program && await endUnder(daemon, meter, attack);
        return {
            row, rate, before, during, goodput: TIMED && round(rendered / capacity.thrift), rendered: rendering, meanwhile, ready,
            memory, bound: memoryBound(most ?? connections, builtIn), blocked, builtIn, share, end, ...checked, attack: results,
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

/*
 * Two tests: the attack of STREAM(), options of open_loop, beside the honest client of the built-in worlds, from one address and
 * from four. STREAM gets true if it is four.
 */
export function fromOneAndFour(row, what, stream, { skip = false, ...options } = {}) {
    for (const [suffix, from, clients, source] of [['one', 'one address', 1, ATTACKERS[0]], ['four', 'four addresses', 4, EVERYONE]])
        it(`${row} ${what}, from ${from}`, { skip }, (t) => withstand(t, `${row}-${suffix}`, {
            builtIn: true, clients, attack: attackers(...stream(clients > 1), '--source', source), ...options,
        }));
}
