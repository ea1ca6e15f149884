// Restarts under load with a socket from the service manager: no request fails.

import { setTimeout as sleep } from 'node:timers/promises';
import { load } from '../load/client.mjs';
import { withManager } from '../http/manager.mjs';
import { eventually, scratchFile, withFractal } from '../http/program.mjs';
import { between, extent, soak } from './soak.mjs';

const ROUNDS = extent(100, 10);
// Nothing is shed, even on a slow machine.
const patient = scratchFile('patient.yaml', withFractal('limits: { wait: 60000 }'));
const HIT = '/default/gray/9/1/{0..49}.png', MISS = '/default/relief/12/{0..1000000}/5.png';

soak('restarts', (problem, say) => withManager(['tcp 127.0.0.1 0'], async (manager) => {
    let service = await manager.startReady();
    const clients = load(manager.address, [HIT, HIT, HIT, HIT, MISS], 12);
    const others = load(manager.address, [HIT], 4, { headers: ['Connection: close'] });
    for (let round = 0; round < ROUNDS; round++) {
        await sleep(between(20, 500));
        const next = round % 3 ? null : await manager.startReady();      // both run for a while
        await manager.stop(service);
        service = next ?? await manager.startReady();
        if (service.notifications.join() !== 'READY=1')
            problem(`round ${round}: notifications ${service.notifications}`);
    }
    await eventually(() => clients.state.answers + others.state.answers >= 20 * ROUNDS);
    const results = [await clients.stop(), await others.stop()];
    await manager.stop(service);
    for (const { failures } of results)
        failures.forEach(problem);
    const answers = results.reduce((sum, each) => sum + each.answers, 0);
    if (answers < 20 * ROUNDS)
        problem(`${answers} responses: no load`);
    say(`${ROUNDS} restarts, ${answers} responses`);
}, { args: ['--config', patient] }));
