// Signals at any moment: right after the start, twice, in bursts, with connections that wait to be
// accepted. The daemon exits on SIGTERM and never crashes.

import { setTimeout as sleep } from 'node:timers/promises';
import { Daemon } from '../http/daemon.mjs';
import { end, launch, scratch, scratchFile, withFractal } from '../http/program.mjs';
import { request } from '../http/wire.mjs';
import { between, extent, numbers, soak } from './soak.mjs';

const ROUNDS = extent(300, 40);
const cache = scratch();
const config = scratchFile('small.yaml', withFractal('shards: 2\nthreads: 1\nlimits: { connections: 20, drain: 600 }'));
const args = ['serve', '--listen', '127.0.0.1:0', '--cache', cache, '--config', config];

function spin(microseconds) {
    for (const until = process.hrtime.bigint() + BigInt(Math.round(1000 * microseconds)); process.hrtime.bigint() < until;)
        ;
}

const isClean = ({ code, signal, late, stderr }) =>
    !late && code === 0 && signal === null && !/Assert|Sanitizer|runtime error|gave up/.test(stderr);

const started = () => new Daemon({ cache, args: ['--config', config] }).start();

/* Each runs one daemon and returns its result, which must be a clean exit. */
const SCENARIOS = {
    async 'SIGTERM right after the start'() {
        const program = launch(args);
        await sleep(between(0, 30));
        program.child.kill('SIGTERM');
        const result = await end(program, 10000);
        // Before it serves, the signal has its default action.
        return result.signal === 'SIGTERM' && result.stdout.length === 0 ? { ...result, code: 0, signal: null } : result;
    },
    async 'SIGHUPs as soon as it serves'() {
        const daemon = await started();
        for (const _ of numbers(50))
            daemon.kill('SIGHUP');
        return daemon.stop();
    },
    async 'two SIGTERMs, idle'() {
        const daemon = await started();
        daemon.kill('SIGTERM');
        spin(between(0, 200));
        return daemon.stop(Math.random() < 0.5 ? 'SIGTERM' : 'SIGINT');
    },
    async 'two SIGTERMs, with clients'() {
        const daemon = await started();
        const connections = await Promise.all(numbers(12).map(() => daemon.connect()));
        connections.forEach((connection, i) => i % 3 &&
            connection.send(request('GET', i % 2 ? `/default/relief/12/${Math.floor(between(0, 1e6))}/${i}@2x.png` : '/healthz')));
        await sleep(between(0, 20));
        daemon.kill('SIGTERM');
        await sleep(between(0, 700));
        const result = await daemon.stop();
        connections.forEach((connection) => connection.close());
        return result;
    },
    async 'two SIGTERMs, with requests in between'() {
        const daemon = await started();
        daemon.kill('SIGSTOP');
        const connections = await Promise.all(numbers(12).map(() => daemon.connect()));
        connections.forEach((connection, i) =>
            connection.send(request('GET', `/default/relief/12/${Math.floor(between(0, 1e6))}/${i}@2x.png`)));
        daemon.kill('SIGTERM');
        daemon.kill('SIGCONT');
        spin(between(0, 1500));
        const result = await daemon.stop();
        connections.forEach((connection) => connection.close());
        return result;
    },
    async 'SIGHUP, SIGTERM and SIGINT in a burst'() {
        const daemon = await started();
        for (const i of numbers(30)) {
            daemon.kill(['SIGHUP', 'SIGHUP', 'SIGTERM', 'SIGINT'][i % 4]);
            spin(between(0, 100));
        }
        return daemon.ended();
    },
    async 'SIGTERM with connections in the backlog'() {
        const daemon = await started();
        const connections = await Promise.all(numbers(60).map(() => daemon.connect()));
        const answers = connections.map((connection) => connection.send(request('GET', '/healthz')).answer('GET', 8000)
            .then(({ status }) => status, (error) => error.message));
        await Promise.all(answers.slice(0, 20));
        await sleep(between(0, 20));
        daemon.kill('SIGTERM');
        const failed = (await Promise.all(answers)).filter((outcome) => outcome !== 200);
        connections.forEach((connection) => connection.close());
        const result = await daemon.ended();
        if (failed.length > 0)
            result.problem = `${failed.length} of ${answers.length} connections got no response: ${failed[0]}`;
        return result;
    },
};

soak('signals', async (problem, say) => {
    const scenarios = Object.entries(SCENARIOS);
    for (const round of numbers(ROUNDS)) {
        const [name, run] = scenarios[round % scenarios.length];
        const result = await run();
        if (result.problem)
            problem(`${name}: ${result.problem}`);
        if (!isClean(result))
            problem(`${name}: ${JSON.stringify({ ...result, stdout: undefined })}`);
        if (/drain timed out/.test(result.stderr))
            problem(`${name}: connections were left after the drain's limit`);
    }
    say(`${ROUNDS} daemons in ${scenarios.length} scenarios`);
});
