// Reloads under load, every second one with an invalid file: no request fails, resource usage does not grow.

import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { withDaemon } from '../http/daemon.mjs';
import { eventually, scratchFile } from '../http/program.mjs';
import { load } from '../load/client.mjs';
import { extent, measure, sanitized, soak } from './soak.mjs';

const ROUNDS = extent(100, 20);
const BROKEN = ['worlds: [\n', 'worlds: 3\n', 'sede: 1\n', 'limits: { queue: -1 }\n', 'listen: 127.0.0.1:1\nshards: 63\n', null];

const good = (i) => `limits: { connections: ${100 + i}, queue: ${300 + i}, wait: 60000 }
cache: { memory: ${4 + i % 5}M, disk: ${64 + i % 3}M }
worlds:
  - name: alpha
    noise: { octaves: ${4 + i % 6} }
  - name: side${i % 7}
`;

const file = scratchFile('changing.yaml', good(0));

soak('reloads', (problem, say) => withDaemon(async (daemon) => {
    const clients = load(daemon, ['/alpha/gray/9/1/{0..59}.png', '/alpha/relief/12/{0..1000000}/5.png', '/alpha.json',
        '/worlds.json', '/alpha/height?x=1&y=2'], 12);
    let before = null;

    for (let round = 0; round < 2 * ROUNDS; round++) {
        const text = round % 2 ? BROKEN[(round >> 1) % BROKEN.length] : good(round);
        const result = round % 2 ? 'refused' : 'ok';
        const done = await daemon.reloads(result);
        if (text === null)
            fs.rmSync(file);
        else
            fs.writeFileSync(file, text);
        daemon.kill('SIGHUP');
        if (!await eventually(async () => await daemon.reloads(result) > done))
            problem(`round ${round}: not ${result}: ${text}`);
        if (round === ROUNDS)       // warmed up after half of them
            before = measure(daemon.pid);
    }
    await sleep(500);
    const after = measure(daemon.pid);
    const { answers, failures } = await clients.stop();
    failures.forEach(problem);
    if (!sanitized && after.mebibytes > before.mebibytes + 8)
        problem(`memory grew from ${before.mebibytes} to ${after.mebibytes} MiB`);
    if (after.threads !== before.threads || after.files > before.files + 8)
        problem(`from ${JSON.stringify(before)} to ${JSON.stringify(after)}`);
    if (await daemon.reloads('ok') !== ROUNDS || await daemon.reloads('refused') !== ROUNDS)
        problem(`${await daemon.reloads('ok')} good and ${await daemon.reloads('refused')} refused`);
    await daemon.quit();
    say(`${ROUNDS} good, ${ROUNDS} refused, ${answers} responses, ` +
        `${before.mebibytes.toFixed(1)} -> ${after.mebibytes.toFixed(1)} MiB`);
}, { args: ['--config', file] }));
