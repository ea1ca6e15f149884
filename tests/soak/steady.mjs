// Hours of use in minutes: good and bad clients, reloads, a cache that is always full. At the end
// descriptors, threads, memory and all gauges are the same as at the beginning.

import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { withDaemon } from '../http/daemon.mjs';
import { eventually, scratchFile } from '../http/program.mjs';
import { connect, request } from '../http/wire.mjs';
import { everyone } from './clients.mjs';
import { extent, measure, numbers, sanitized, short, soak } from './soak.mjs';

const SECONDS = extent(420, 45);
const PHASES = short ? 3 : 7;           // the first is the warm-up
const MEBIBYTES_MORE = 12;
const PER_CLIENT = 120, MISSES = 24;

const text = (octaves) => `shards: 2
access_log: ${scratchFile('access.log', '')}
limits: { connections: 200, connections_per_client: ${PER_CLIENT}, misses_per_client: ${MISSES}, queue: 32 }
cache: { memory: 8M, disk: 24M, files: 2000 }
log: error
worlds: [{ name: alpha, noise: { octaves: ${octaves} } }, { name: beta }]
`;
const texts = [text(5), text(6)].map((each, _, [first]) => each.replace(/access_log: .*/, /access_log: .*/.exec(first)[0]));
const file = scratchFile('changing.yaml', texts[0]);

/* Reload every second until stopped, every third time with a broken file. */
function reloading(daemon) {
    let going = true;
    const all = (async () => {
        for (let i = 0; going; i++) {
            fs.writeFileSync(`${file}.new`, i % 3 === 2 ? 'worlds: 3\n' : texts[i % 2]);
            fs.renameSync(`${file}.new`, file);
            daemon.kill('SIGHUP');
            await sleep(1000);
        }
    })();
    return () => { going = false; return all; };
}

const IDLE = { farlands_connections: 1, farlands_queue_length: 0, farlands_renders_running: 0 };

/* Wait until nothing is pending. If a gauge never becomes idle, that is a problem. */
async function rest(daemon, problem, phase) {
    let metrics;
    daemon.agent.destroy();
    const at = (name) => metrics.get(name);
    const quiet = await eventually(async () => {
        metrics = await daemon.metrics();
        return Object.entries(IDLE).every(([name, value]) => at(name) === value);
    });
    if (!quiet)
        problem(`phase ${phase}: ${Object.keys(IDLE).map((name) => `${name} ${at(name)}`).join(', ')} when idle`);
    return metrics;
}

/* Open as many connections and misses as this client may have: if an old one is still counted, the last fails. */
async function assertUncounted(daemon, problem, phase) {
    const before = await daemon.metrics();
    daemon.agent.destroy();
    await sleep(200);
    const connections = await Promise.all(numbers(PER_CLIENT).map(() => connect(daemon)));
    const answers = await Promise.all(connections.map((connection, i) => connection.send(request('GET',
        i < MISSES ? `/beta/gray/10/${phase}/${i}.png` : '/healthz')).answer().then(({ status }) => status, ({ message }) => message)));
    const refused = answers.filter((outcome) => outcome !== 200);
    if (refused.length > 0)
        problem(`phase ${phase}: ${refused.length} of ${PER_CLIENT} refused: ${refused[0]}`);
    connections.forEach((connection) => connection.close());
    await sleep(200);
    const after = await daemon.metrics();
    for (const name of ['farlands_limited_total', 'farlands_connections_closed_total{reason="limit"}'])
        if (after.get(name) !== before.get(name))
            problem(`phase ${phase}: ${name} ${before.get(name)} -> ${after.get(name)}`);
}

function compare(first, last, problem) {
    if (last.files > first.files + 2)
        problem(`files open: ${first.files} -> ${last.files}`);
    if (last.threads !== first.threads)
        problem(`threads: ${first.threads} -> ${last.threads}`);
    if (!sanitized && last.mebibytes > first.mebibytes + MEBIBYTES_MORE)
        problem(`memory: ${first.mebibytes} -> ${last.mebibytes} MiB`);
}

soak('steady', (problem, say) => withDaemon(async (daemon) => {
    const measured = [];
    let answers = 0, others = 0;
    for (const phase of numbers(PHASES)) {
        const clients = everyone(daemon);
        const stop = reloading(daemon);
        await sleep(1000 * SECONDS / PHASES);
        await stop();
        const result = await clients.stop();
        result.failures.forEach((text) => problem(`phase ${phase}: ${text}`));
        answers += result.answers;
        others += Object.values(result.done).reduce((sum, times) => sum + times, 0);
        await rest(daemon, problem, phase);
        await assertUncounted(daemon, problem, phase);
        await rest(daemon, problem, phase);
        measured.push(measure(daemon.pid));
    }
    const [first, last] = [measured[0], measured.at(-1)];
    compare(first, last, problem);
    const metrics = await daemon.metrics();
    const reloads = ['ok', 'refused'].map((result) => metrics.get(`farlands_reloads_total{result="${result}"}`));
    if (metrics.get('farlands_cache_bytes{tier="disk"}') > 24 << 20)
        problem(`the disk cache holds ${metrics.get('farlands_cache_bytes{tier="disk"}')} bytes`);
    await daemon.quit();
    say(`${answers} responses, ${others} actions of bad clients, ${reloads.join('+')} reloads, ` +
        `${metrics.get('farlands_connections_closed_total{reason="deadline"}')} closed by deadlines, ` +
        `MiB ${measured.map(({ mebibytes }) => mebibytes.toFixed(1)).join(' ')}, ` +
        `files ${first.files} -> ${last.files}, threads ${last.threads}`);
}, { args: ['--config', file] }));
