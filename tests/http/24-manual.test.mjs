// The manual page and the completion know what --help knows.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { NAMES } from './layers.mjs';
import { BINARY, run, patience } from './program.mjs';
import { eachRow } from './table.mjs';

const file = (name) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const COMPLETION = file('server/commands/farlands.bash');
const manual = fs.readFileSync(file('server/commands/farlands.1'), 'utf8').replace(/\\-/g, '-');
const completion = fs.readFileSync(COMPLETION, 'utf8');

/* --config and -o, sorted, each once. */
const options = (text) => [...new Set(text.match(/(?<![\w-])(--[a-z][a-z-]*|-[a-z])(?![\w-])/g))].sort();

/* What bash offers for the last of WORDS. */
function offered(...words) {
    const script = `compopt() { :; }; . "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _farlands
        printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', script, 'bash', COMPLETION, BINARY, ...words], { encoding: 'utf8' })
        .split('\n').filter(Boolean);
}

describe('what the manual page and the completion know', { timeout: patience(30000) }, () => {
    it('every option and command of --help, and no other', async () => {
        const help = (await run(['--help'])).stdout.toString();
        const commands = [...new Set(help.match(/(?<=^ {4}farlands )[a-z-]+/gm))].filter((name) => name[0] !== '-');
        const written = options(manual.slice(manual.indexOf('.SH OPTIONS'), manual.indexOf('.SH EXIT')));
        for (const command of commands) {
            assert.ok(new RegExp(`^\\.B farlands ${command}$`, 'm').test(manual), `${command} is not in the manual page`);
            assert.ok(offered('').includes(command), `${command} is not completed`);
        }
        assert.deepEqual(options(help).filter((name) => !['--version', '--help'].includes(name)), written);
    });

    it('the options of each command', () => {
        const complete = ['serve', 'tile', 'render', 'check-config'].flatMap((command) => offered(command, '-'));
        const written = options(manual.slice(manual.indexOf('.SH OPTIONS'), manual.indexOf('.SH EXIT')));
        assert.deepEqual([...new Set(complete)].filter((name) => name !== '--help').sort(), written);
    });

    it('every layer', () => {
        assert.ok(NAMES.length >= 7, `layers: ${NAMES}`);
        assert.deepEqual(offered('render', '--layer', ''), NAMES);
    });

    it('what may come next', () => eachRow([
        [['ser'], ['serve']],
        [['serve', '--l'], ['--listen']],
        [['render', '--layer', 'relief,hi'], ['relief,hillshade']],
        [['render', '--scale', ''], ['1', '2']],
        [['render', '--bbox', ''], []],
        [['tile', 'default/gr'], ['default/gray/']],
        [['tile', 'default/gray/1'], []],
        [['check-config', COMPLETION.slice(0, -1)], [COMPLETION]],
        [['serve', '--config', COMPLETION.slice(0, -1)], [COMPLETION]],
        [['nothing', '-'], []],
    ], ([words, expected]) => assert.deepEqual(offered(...words), expected)));

    it('every key of the configuration', () => {
        const page = execFileSync('awk', ['-f', file('config/yaml_to_man.awk'), file('config/farlands.yaml')], { encoding: 'utf8' });
        const tables = ['config/daemon_options.c', 'config/world_options.c'].map((name) => fs.readFileSync(file(name), 'utf8'));
        const keys = tables.join('').matchAll(/^ {4,}(?:\{|[A-Z]+\()"([a-z_.]+)"/gm);
        let count = 0;
        for (const [, key] of keys) {
            assert.ok(new RegExp(`^\\.BR \\S*\\b${key}(?![\\w.])`, 'm').test(page), `${key} is not in farlands.yaml(5)`);
            count++;
        }
        assert.ok(count > 20, `${count} keys`);
    });
});
