// Godot's physics on the terrain of a world: a ball comes to rest at the server's height.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { useDaemon } from '../http/daemon.mjs';
import { patience, scratch } from '../http/program.mjs';
import { eachRow } from '../http/table.mjs';

const PROJECT = fileURLToPath(new URL('godot', import.meta.url));

/* For Godot's logs and settings. */
const home = scratch();

describe('Godot', { timeout: patience(900000) }, () => {
    const daemon = useDaemon({ builtIn: true });

    it('lets a ball rest on the ground', () => eachRow([
        ['alps', 20000, -30000], ['alps', -40000, 52000], ['default', '-1099511627776', '4398046791104'], ['default', '4503599627364000', -400000],
    ], async ([world, x, y]) => {
        const environment = { ...process.env, LANG: 'en', no_proxy: '*', HOME: home, XDG_CONFIG_HOME: home,
            XDG_CACHE_HOME: home, XDG_DATA_HOME: home, FARLANDS_URL: `http://${daemon.authority}/${world}`,
            FARLANDS_X: String(x), FARLANDS_Y: String(y) };
        const { stdout } = await promisify(execFile)('godot3-server', ['--path', PROJECT],
            { timeout: patience(300000), env: environment })
            .catch((error) => assert.fail(`${error.message}\n${error.stdout}`));
        assert.match(stdout, /^rests .* off by [+-]0\.0[012]\d+, of 0\.0[012]\d+$/m);
        const [, slope, accepted] = /slope ([\d.]+)[^]* of ([\d.]+)$/m.exec(stdout);
        assert.ok(Number(slope) > 2 * Number(accepted), `an offset of one block, or mirrored terrain, would not be detected: ${stdout}`);
    }));
});
