// The manual pages and the shell completion are complete.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ALL, NAMES } from './layers.mjs';
import { BINARY, TIMEOUT, run } from './program.mjs';
import { eachRow } from './table.mjs';

const file = (name) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const COMPLETION = file('server/commands/farlands.bash');
const manual = fs.readFileSync(file('server/commands/farlands.1'), 'utf8').replace(/\\-/g, '-');

/* The options in TEXT, such as --config and -o, sorted and without duplicates. */
const options = (text) => [...new Set(text.match(/(?<![\w-])(--[a-z][a-z-]*|-[a-z])(?![\w-])/g))].sort();

/* The completions that bash offers for the last of WORDS. */
function completions(...words) {
    const script = `compopt() { :; }; . "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _farlands
        printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', script, 'bash', COMPLETION, BINARY, ...words], { encoding: 'utf8' })
        .split('\n').filter(Boolean);
}

describe('the manual pages and the completion have', { timeout: TIMEOUT }, () => {
    it('exactly the commands and options of --help', async () => {
        const help = (await run(['--help'])).stdout.toString();
        const commands = [...new Set(help.match(/(?<=^ {4}farlands )[a-z-]+/gm))].filter((name) => name[0] !== '-');
        const written = options(manual.slice(manual.indexOf('.SH OPTIONS'), manual.indexOf('.SH EXIT')));
        for (const command of commands) {
            assert.ok(new RegExp(`^\\.B farlands ${command}$`, 'm').test(manual), `${command} is not in the manual page`);
            assert.ok(completions('').includes(command), `${command} is not completed`);
        }
        assert.deepEqual(options(help).filter((name) => !['--version', '--help'].includes(name)), written);
    });

    it('the options of each command', () => {
        const complete = ['serve', 'tile', 'render', 'describe', 'check-config'].flatMap((command) => completions(command, '-'));
        const written = options(manual.slice(manual.indexOf('.SH OPTIONS'), manual.indexOf('.SH EXIT')));
        assert.deepEqual([...new Set(complete)].filter((name) => name !== '--help').sort(), written);
    });

    it('every layer', () => {
        assert.ok(NAMES.length >= 7, `layers: ${NAMES}`);
        assert.deepEqual(completions('render', '--layer', ''), Object.keys(ALL));   // of the built-in worlds
    });

    it('completions for every position', () => eachRow([
        [['ser'], ['serve']],
        [['serve', '--l'], ['--listen']],
        [['render', '--layer', 'relief,hi'], ['relief,hillshade']],
        [['render', '--scale', ''], ['1', '2']],
        [['render', '--bbox', ''], []],
        [['describe', '--pl'], ['--places']],
        [['describe', '--seed', ''], []],
        [['tile', 'default/gr'], ['default/gray/']],
        [['tile', 'default/gray/1'], []],
        [['check-config', COMPLETION.slice(0, -1)], [COMPLETION]],
        [['serve', '--config', COMPLETION.slice(0, -1)], [COMPLETION]],
        [['nothing', '-'], []],
    ], ([words, expected]) => assert.deepEqual(completions(...words), expected)));

    it('every key of the configuration', () => {
        const page = execFileSync('awk', ['-f', file('config/key_path.awk'), '-f', file('config/yaml_to_man.awk'),
            file('config/farlands.yaml')], { encoding: 'utf8' });
        const tables = ['config/daemon/daemon_options.c', 'config/world/world_options.c'].map((name) => fs.readFileSync(file(name), 'utf8'));
        const keys = tables.join('').matchAll(/^ {4,}(?:\{|[A-Z]+\()"([a-z_.]+)"/gm);
        let count = 0;
        for (const [, key] of keys) {
            assert.ok(new RegExp(`^\\.BR \\S*\\b${key}(?![\\w.])`, 'm').test(page), `${key} is not in farlands.yaml(5)`);
            count++;
        }
        assert.ok(count > 20, `${count} keys`);
    });
});
