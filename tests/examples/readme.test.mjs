// Runs the commands of README.md and of the HTTP reference, and compares the output that they show.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { example, examples } from '../clients/readme.mjs';
import { useDaemon } from '../http/daemon.mjs';
import { decodePng } from '../http/png.mjs';
import { BINARY, patience, scratch } from '../http/program.mjs';

const exec = promisify(execFile);

/* An HTTP error fails the command. */
const CURL = 'curl() { command curl --fail --silent --show-error "$@"; }';

describe('README', { timeout: patience(120000) }, () => {
    const daemon = useDaemon();
    const directory = scratch();
    const base = () => `http://${daemon.authority}`;

    async function sh(script) {
        const { stdout } = await exec('bash', ['-ec', `${CURL}\n${script}`],
            { cwd: directory, timeout: patience(60000), env: { ...process.env, no_proxy: '*' } });
        return stdout;
    }

    for (const [document, count] of [['README.md', 4], ['server/README.md', 5]])
        it(`runs the commands of ${document}`, async () => {
            const blocks = examples(document, base()).filter((block) => block.startsWith('curl'));
            assert.ok(blocks.length >= count, `${blocks.length} blocks`);
            for (const block of blocks) {
                const lines = block.replaceAll('build/farlands', BINARY).split('\n');
                const printed = lines.filter((line) => line.startsWith('{'));
                const stdout = await sh(lines.filter((line) => !line.startsWith('{')).join('\n'));
                if (printed.length)
                    assert.deepEqual(stdout.trim().split(/\n|(?<=\})(?=\{)/), printed);
            }
        });

    it('downloads the files that they name', () => {
        const size = (name) => statSync(path.join(directory, name)).size;
        assert.equal(decodePng(readFileSync(path.join(directory, '32.png'))).width, 256);
        assert.equal(decodePng(readFileSync(path.join(directory, 'tile.png'))).width, 512);
        for (const x of [30, 31, 32, 33])
            for (const y of [31, 32, 33])
                assert.ok(size(`tiles/6/${x}/${y}.png`) > 0);
        assert.equal(size('chunk.f32'), 4 * 17 ** 2);
        assert.equal(size('caves.f32'), 4 * 17 ** 3);
        assert.equal(size('far.r16'), 2 * 1025 ** 2);
    });

    it('shows valid configurations', async () => {
        writeFileSync(path.join(directory, 'worlds.yaml'), example('name: islands'));
        await exec(BINARY, ['check-config', path.join(directory, 'worlds.yaml')]);
        writeFileSync(path.join(directory, 'site.yaml'), example('public_url:'));
        await exec(BINARY, ['check-config', path.join(directory, 'site.yaml')]);
    });
});
