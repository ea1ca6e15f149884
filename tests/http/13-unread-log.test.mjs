// A log pipe without a reader. Slow clients are tested in tests/faults/03-clients.test.mjs.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { assertStatus } from './table.mjs';
import { BINARY, patience, scratch, scratchFile, withFractal } from './program.mjs';
import { connect, request } from './wire.mjs';

describe('a log pipe that nobody reads', { timeout: patience(60000) }, () => {
    it('does not block requests', async () => {
        const config = scratchFile('debug.yaml', withFractal('log: debug'));
        const child = spawn(BINARY, ['serve', '--listen', '127.0.0.1:0', '--cache', scratch(), '--config', config],
            { stdio: ['ignore', 'pipe', 'pipe'] });       // stderr is a pipe that is never read
        try {
            const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
            const port = Number(/:(\d+)\//.exec(line)[1]);
            const connection = await connect({ host: '127.0.0.1', port });
            for (let i = 0; i < 4000; i++)
                assertStatus(await connection.send(request('GET', '/healthz')).answer(), 200);
            connection.close();
            child.kill('SIGTERM');
            const [code] = await once(child, 'exit');
            assert.equal(code, 0);
        } finally {
            child.kill('SIGKILL');
        }
    });
});
