// Clients that take their time: ten seconds for a request to arrive, not longer.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertPeace, withDaemon } from './daemon.mjs';
import { assertStatus } from './table.mjs';
import { BINARY, patience, scratch, scratchFile } from './program.mjs';
import { connect, request } from './wire.mjs';

const HALF = 'GET /healthz HTTP/1.1\r\nHo';
const LIMIT = 12500;

describe('half a request', { timeout: patience(60000), concurrency: true }, () => {
    it('is closed', () => withDaemon(async (daemon) => {
        const connections = await Promise.all(Array.from({ length: 4 }, () => daemon.connect()));
        for (const connection of connections)
            connection.send(HALF);
        // A byte a second is not silence, and not a request either.
        const drip = setInterval(() => {
            if (!connections[0].ended)
                connections[0].send('o');
        }, 1000);
        try {
            const waits = connections.map((connection) => connection.closed(LIMIT));
            await sleep(1000);
            assertStatus(await daemon.get('/healthz'), 200);
            assert.deepEqual(await Promise.all(waits), [true, true, true, true], 'closed');
            assertStatus(await daemon.get('/healthz'), 200);
        } finally {
            clearInterval(drip);
            for (const connection of connections)
                connection.close();
        }
    }));

    it('is closed also behind a whole one, on the same connection', () => withDaemon(async (daemon) => {
        const connection = await daemon.connect();
        assertStatus(await connection.send(request('GET', '/healthz')).answer(), 200);
        const drip = setInterval(() => connection.ended || connection.send('G'), 1000);
        try {
            assert.ok(await connection.closed(LIMIT + 4000), 'left open');
        } finally {
            clearInterval(drip);
            connection.close();
        }
    }));

    it('does not hold up the end', () => withDaemon(async (daemon) => {
        const connection = await daemon.connect();
        connection.send(HALF);
        await sleep(50);
        assertPeace(await daemon.stop('SIGTERM', LIMIT));
        connection.close();
    }));
});

describe('a log that nobody reads', { timeout: patience(60000) }, () => {
    it('holds up no request', async () => {
        const config = scratchFile('debug.yaml', 'log: debug\n');
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
