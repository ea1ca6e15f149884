// Restarts under load with a socket from the service manager: no request fails.

import { setTimeout as sleep } from 'node:timers/promises';
import { load } from '../http/load.mjs';
import { withManager } from '../http/manager.mjs';
import { eventually, scratchFile, withFractal } from '../http/program.mjs';
import { connect, request } from '../http/wire.mjs';
import { between, extent, numbers, soak } from './soak.mjs';

const ROUNDS = extent(100, 10);
// Nothing is shed, even on a slow machine.
const patient = scratchFile('patient.yaml', withFractal('limits: { wait: 60000 }'));
const hit = (i) => `/default/gray/9/1/${i % 50}.png`;
const miss = (i) => `/default/relief/12/${i}/5.png`;

/* Clients that open a new connection for each request. */
function reconnecting(address, count) {
    const state = { going: true, answers: 0, failures: [] };
    const all = Promise.all(numbers(count).map(async (n) => {
        for (let i = n; state.going; i++) {
            let connection;
            try {
                connection = await connect(address);
                const answer = await connection.send(request('GET', hit(i))).answer();
                if (answer.status !== 200)
                    throw new Error(`status ${answer.status}`);
                state.answers++;
            } catch (error) {
                state.failures.push(`GET ${hit(i)} on a new connection: ${error.message}`);
            }
            connection?.close();
        }
    }));
    return { state, stop: () => { state.going = false; return all.then(() => state); } };
}

soak('restarts', (problem, say) => withManager(['tcp 127.0.0.1 0'], async (manager) => {
    let service = await manager.startReady();
    const clients = load(manager.address, (i) => (i % 5 ? hit(i) : miss(i)), 12);
    const others = reconnecting(manager.address, 4);
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
