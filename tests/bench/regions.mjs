// The load of game servers: many players who stream regions, and the largest region.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { scratchFile } from '../http/program.mjs';
import { CORES, ONE_OF_EACH, insist, median, round, say, withDaemon } from './measure.mjs';
import { cpuSeconds, openLoop } from './programs.mjs';

/*
 * A player who walks 4 blocks per second and sees 8 squares of 16 blocks in each direction needs 17
 * new squares every 4 seconds.
 */
const PLAYERS = 1000, CELLS = 16, SEES = 8, SPEED = 4, SECONDS = 5;
const FRONT = 2 * SEES + 1;
const RATE = PLAYERS * FRONT * SPEED / CELLS;

/* The squares that players need. They start far apart, so no square is requested twice. */
function walks() {
    const urls = [];
    for (let player = 0; player < PLAYERS; player++) {
        const x = (player % 32 - 16) * 65536, y = (Math.floor(player / 32) - 16) * 65536;
        for (let i = 0; i < FRONT * Math.ceil(SPEED * SECONDS / CELLS); i++)
            urls.push(`/default/region.f32?x=${x + CELLS * (SEES + Math.floor(i / FRONT))}&` +
                `y=${y + CELLS * (i % FRONT - SEES)}&width=${CELLS + 1}&height=${CELLS + 1}`);
    }
    return scratchFile('urls', `${urls.join('\n')}\n`);
}

/* The number of requests without a 200, and their outcomes. */
function failures({ due, status, errors }) {
    const kinds = { ...errors };
    for (const [code, { count }] of Object.entries(status))
        if (code !== '200')
            kinds[code] = count;
    const said = Object.entries(kinds).filter(([, count]) => count).map(([kind, count]) => `${count} ${kind}`);
    return [due - (status[200]?.count ?? 0), said.length ? `: ${said.join(', ')}` : ''].join('');
}

/* One connection and one source address per player. */
export const regions = () => withDaemon('threads: 0', {}, async (daemon) => {
    const urls = walks(), rounds = [];
    for (let i = 0; i < 3; i++) {
        const cpu = cpuSeconds(daemon.pid);
        const report = await openLoop(daemon, ['--seconds', String(SECONDS), '--stream', 'players', '--poisson',
            '--rate', String(RATE), '--connections', String(PLAYERS), '--source', '127.0.1.0-127.0.4.231',
            '--urls', urls]);
        const { players } = report.stream;
        rounds.push({ ...players, cpu: (cpuSeconds(daemon.pid) - cpu) / players.answered,
            generator: report.cpu_seconds / report.seconds });
    }
    const failed = rounds.map(failures);
    const typical = (value) => median(rounds.map(value));
    say('regions', `p99 ${round(typical(({ all }) => all.p99))} ms, errors ${failed.join(' and ')}  (p50 ` +
        `${round(typical(({ all }) => all.p50))}, p99.9 ${round(typical(({ all }) => all.p999))}, of it the ` +
        `generator's own lag p99 ${round(typical(({ lag }) => lag.p99))}; ${PLAYERS} players, ` +
        `${round(RATE / PLAYERS)} regions/s each; the daemon ${round(typical(({ cpu }) => 1e6 * cpu), 0)} us of CPU ` +
        `a region, the generator ${round(typical(({ generator }) => generator))} of ${CORES} cores)`);
});

const SIDE = 4097;

/* Milliseconds for the kernel and one copy, measured by bench_region. */
function leastMs() {
    const program = process.env.BENCH_REGION ??
        fileURLToPath(new URL('../../build/tests/bench/bench_region', import.meta.url));
    const line = /region\/4097 +kernel ([\d.]+) ms +copy ([\d.]+) ms/.exec(execFileSync(program).toString());
    return { kernel: Number(line[1]), copy: Number(line[2]) };
}

/* Milliseconds until curl has received the region whose west edge is block X. */
function curlMs(daemon, x) {
    const url = `http://127.0.0.1:${daemon.port}/default/region.f32?x=${x}&y=0&width=${SIDE}&height=${SIDE}`;
    const [status, bytes, seconds] = execFileSync('curl', ['--silent', '--noproxy', '*', '--max-time', '60', '-o',
        '/dev/null', '-w', '%{http_code} %{size_download} %{time_total}', url]).toString().split(' ');
    insist(status === '200' && Number(bytes) === 4 * SIDE * SIDE, `region: ${status}, ${bytes} bytes`);
    return 1000 * Number(seconds);
}

/* One render thread, compared with one thread that does nothing else. */
export const region = () => withDaemon(ONE_OF_EACH, {}, async (daemon) => {
    const rounds = [];
    for (let i = 0; i < 5; i++) {
        const { kernel, copy } = leastMs();
        const cpu = cpuSeconds(daemon.pid);
        const took = curlMs(daemon, 100000 * i);
        rounds.push({ kernel, copy, took, cpu: 1000 * (cpuSeconds(daemon.pid) - cpu) });
    }
    const typical = (value) => round(median(rounds.map(value)), 2);
    say('region', `${typical(({ kernel, copy, took }) => took / (kernel + copy))}x kernel and copy  ` +
        `(${typical(({ took }) => took)} ms of ${typical(({ kernel }) => kernel)} and ${typical(({ copy }) => copy)} ` +
        `for ${SIDE} x ${SIDE} float32; of CPU, HTTP included, ` +
        `${typical(({ kernel, copy, cpu }) => cpu / (kernel + copy))}x)`);
});
