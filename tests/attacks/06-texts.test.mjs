// Attack 6: configurations and worlds whose time to read grows faster than their size.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { BINARY, eventually, patience, run, scratch, scratchFile } from '../http/program.mjs';
import { assertStatus, eachRow } from '../http/table.mjs';
import { connect, request } from '../http/wire.mjs';
import { TIMED, startDaemon } from './scene.mjs';

const READ_WORLD = process.env.READ_WORLD ?? path.join(path.dirname(BINARY), 'tests/attacks/read_world');
const fill = (size, each) => {
    const parts = [];
    for (let length = 0, i = 0; length < size; i++)
        length += parts[parts.push(each(i)) - 1].length;
    return parts.join('');
};

/* Texts of about SIZE bytes. */
const HOSTILE = [
    ['anchors', (size) => `[${fill(size, (i) => `&${i} x,`)}x]\n`],
    ['anchors and aliases', (size) => `a: &a x\nb: [${fill(size, () => '*a,')}x]\n`],
    ['laughs', () => `a: &a [x,x,x,x,x,x,x,x,x]\n${fill(600, (i) => `a${i}: &b${i} [${`*${i ? `b${i - 1}` : 'a'},`.repeat(9)}x]\n`)}`],
    ['nested lists', (size) => '['.repeat(size)],
    ['nested mappings', (size) => '{a: '.repeat(size / 4)],
    ['indented mappings', (size) => fill(size, (i) => `${' '.repeat(i)}a:\n`)],
    ['keys', (size) => fill(size, (i) => `k${i}: 1\n`)],
    ['equal keys', (size) => fill(size, () => 'log: info\n')],
    ['worlds', (size) => `worlds:\n${fill(size, (i) => `  - { name: w${i} }\n`)}`],
    ['a long scalar', (size) => `log: ${'a'.repeat(size)}\n`],
    ['folded lines', (size) => `log: "${' a\n'.repeat(size / 3)}"\n`],
    ['comments', (size) => '#\n'.repeat(size / 2)],
    ['tags', (size) => `[${fill(size, (i) => `!t${i} x,`)}x]\n`],
    ['directives', (size) => `${fill(size, (i) => `%TAG !t${i}! tag:a\n`)}--- x\n`],
];

async function seconds(work) {
    const began = performance.now();
    await work();
    return (performance.now() - began) / 1000;
}

describe('attack 6: hostile texts', { timeout: patience(240000) }, () => {
    it('6a check-config ends, if times count in proportion to the size', async (t) => {
        const times = [];
        await eachRow(HOSTILE, async ([what, text]) => {
            const check = async (size) => {
                const file = scratchFile('hostile.yaml', text(size));
                return seconds(async () => {
                    const { code } = await run(['check-config', file], { limit: 60000 });
                    assert.ok([0, 2].includes(code), `exit code ${code}`);
                });
            };
            const few = TIMED && await check(250000), many = await check(1000000);
            times.push(`${what} ${TIMED && few.toFixed(2)} and ${many.toFixed(2)} s`);
            assert.ok(!TIMED || many < 0.5 && many < 6 * few + 0.1, `250 KB take ${few} s, 1 MB ${many} s`);
        }).finally(() => t.diagnostic(`6a: ${times.join(', ')}`));
    });

    it('6b farlands_world_new ends for a world with a megabyte of junk, if times count within 50 ms', async (t) => {
        const daemon = await startDaemon();
        const world = (await daemon.bytes('/default.json')).toString().trim();
        daemon.kill('SIGKILL');
        await daemon.stop();
        const junk = (text) => `${world.slice(0, -1)},"urls":${text}}`;
        const numbers = (each) => `[${fill(1e6 - world.length, each)}0]`;
        const times = [];
        await eachRow([
            ['numbers', junk(numbers(() => '1,'))],
            ['texts', junk(numbers((i) => `"${i}",`)), 0],
            ['keys', junk(`{${fill(1e6 - world.length, (i) => `"k${i}":1,`)}"z":1}`), 0],
            ['anchors', junk(numbers((i) => `&${i} 1,`))],
            ['nesting', junk(`${'['.repeat(5e5 - world.length)}${']'.repeat(5e5 - world.length)}`)],
        ], ([what, text, code]) => {
            // The fastest of three, because hosts of virtual machines take turns with their speed.
            const [result] = Array.from({ length: TIMED ? 3 : 1 }, () => JSON.parse(execFileSync(READ_WORLD, { input: text, timeout: patience(60000) })))
                .sort((one, other) => one.ms - other.ms);
            times.push(`${what} ${result.ms} ms (${result.code})`);
            assert.ok(!TIMED || result.ms < 50, `${result.ms} ms`);
            assert.equal(result.code, code ?? result.code);
            assert.ok([0, -22].includes(result.code), `code ${result.code}`);
        }).finally(() => t.diagnostic(`6b: ${times.join(', ')}`));
    });

    it('6c a FIFO as configuration: the daemon accepts connections, and obeys SIGTERM', async () => {
        const file = scratchFile('farlands.yaml', 'worlds: [{ name: default }]\n');
        const daemon = await startDaemon({ config: false, args: ['--config', file] });
        try {
            fs.rmSync(file);
            execFileSync('mkfifo', [file]);
            daemon.kill('SIGHUP');
            const refused = () => /refused|reload|regular/i.test(daemon.stderr);
            await eventually(refused, 30000);
            for (let i = 0; i < 3; i++) {
                const connection = await connect(daemon);
                assertStatus(await connection.send(request('GET', '/healthz')).answer('GET', 30000), 200);
                connection.close();
            }
            assert.ok(refused(), `no message about the FIFO: ${daemon.stderr}`);
            const { late, code } = await daemon.stop('SIGTERM', 30000);
            assert.ok(!late, 'SIGTERM is not obeyed');
            assert.equal(code, 0);
        } finally {
            daemon.kill('SIGKILL');
        }
    });

    /* The file is read by a thread of its own: until it is read, others are let in and served. */
    it('6d reloads of a hostile file, one after another: nobody waits', async () => {
        const file = path.join(scratch(), 'farlands.yaml');
        fs.writeFileSync(file, 'worlds: [{ name: default }]\n');
        const daemon = await startDaemon({ config: false, args: ['--config', file] });
        const refused = async () => {
            const { answers: [answer] } = await daemon.raw(request('GET', '/metrics'), { limit: 30000 });
            return Number(/^farlands_reloads_total\{result="refused"\} (\d+)$/m.exec(answer.body)[1]);
        };
        const threads = () => fs.readdirSync(`/proc/${daemon.pid}/task`).length;
        try {
            fs.writeFileSync(file, HOSTILE.find(([what]) => what === 'keys')[1](1000000));
            const seen = [];
            /* New connections that are let in and answered while there is a thread more, which reads: of one reload,
             * because at a thread's end one may be counted by chance. */
            const more = async () => {
                const before = await refused(), idle = threads();
                let reads, isRefused, count = 0;
                daemon.kill('SIGHUP');
                do {
                    reads = threads() > idle;
                    isRefused = await refused() > before;
                    count += reads && threads() > idle;
                } while (!isRefused);
                seen.push(count);
                return count >= 10;
            };
            assert.ok(await eventually(more, 60000), `connections that were let in while the text was read: ${seen}`);
        } finally {
            daemon.kill('SIGKILL');
            await daemon.stop();
        }
    });
});
