// Signals at any moment: right after the start, twice, in a storm, with connections that wait to
// be accepted. The daemon ends on SIGTERM and never crashes.

import { setTimeout as sleep } from 'node:timers/promises';
import { Daemon } from '../http/daemon.mjs';
import { end, launch, patience, scratch, scratchFile } from '../http/program.mjs';
import { request } from '../http/wire.mjs';
import { between, extent, numbers, soak } from './soak.mjs';

const ROUNDS = extent(300, 40);
const cache = scratch();
const config = scratchFile('small.yaml', 'shards: 2\nthreads: 1\nlimits: { connections: 20 }\n');
const args = ['serve', '--listen', '127.0.0.1:0', '--cache', cache, '--config', config];

function spin(microseconds) {
    for (const until = process.hrtime.bigint() + BigInt(Math.round(1000 * microseconds)); process.hrtime.bigint() < until;)
        ;
}

const inPeace = ({ code, signal, late, stderr }) =>
    !late && code === 0 && signal === null && !/Assert|Sanitizer|runtime error|gave up/.test(stderr);

const started = () => new Daemon({ cache, args: ['--config', config] }).start();

/* Each plays one round and returns an end, which must be exit code 0 or one that `or` allows. */
const GAMES = {
    async 'SIGTERM right after the start'() {
        const program = launch(args);
        await sleep(between(0, 30));
        program.child.kill('SIGTERM');
        const result = await end(program, 10000);
        // Before it serves, a signal ends it like any program.
        return result.signal === 'SIGTERM' && result.stdout.length === 0 ? { ...result, code: 0, signal: null } : result;
    },
    async 'SIGHUP as soon as it says that it serves'() {
        const daemon = await started();
        for (const _ of numbers(50))
            daemon.kill('SIGHUP');
        return daemon.stop();
    },
    async 'two SIGTERMs, with nothing to do'() {
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
    async 'two SIGTERMs, with requests that come in between'() {
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
    async 'SIGHUP, SIGTERM and SIGINT as they come'() {
        const daemon = await started();
        for (const i of numbers(30)) {
            daemon.kill(['SIGHUP', 'SIGHUP', 'SIGTERM', 'SIGINT'][i % 4]);
            spin(between(0, 100));
        }
        return daemon.ended();
    },
    async 'SIGTERM while others wait to be let in'() {
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
            result.problem = `${failed.length} of ${answers.length} had connected and got no answer: ${failed[0]}`;
        return result;
    },
};

soak('signals', async (problem, say) => {
    const games = Object.entries(GAMES);
    for (const round of numbers(ROUNDS)) {
        const [name, play] = games[round % games.length];
        const begun = Date.now();
        const result = await play();
        if (result.problem)
            problem(`${name}: ${result.problem}`);
        if (!inPeace(result))
            problem(`${name}: ${JSON.stringify({ ...result, stdout: undefined })}`);
        if (Date.now() - begun > patience(9000))
            problem(`${name}: took ${Date.now() - begun} ms`);
    }
    say(`${ROUNDS} lives of ${games.length} kinds`);
});
