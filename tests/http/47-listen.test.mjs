// Where the daemon listens, and how it reports what it cannot use at the start.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { withDaemon } from './daemon.mjs';
import { BINARY, TIMEOUT, scratch, scratchFile } from './program.mjs';
import { assertStatus, eachRow } from './table.mjs';

const docker = (file) => fs.readFileSync(fileURLToPath(new URL(`../../docker/${file}`, import.meta.url)), 'utf8');
const CONTAINER = { FARLANDS_IN_CONTAINER: '1' };

/* The exit status of the image's health check, for PORT in place of its own. */
function health(port) {
    const [, json] = /HEALTHCHECK[^[]*CMD (\[.*\])\n/.exec(docker('Dockerfile'));
    const [program, ...args] = JSON.parse(json);
    const hexadecimal = port.toString(16).toUpperCase().padStart(4, '0');
    const own = args.map((arg) => arg.replaceAll('8080', port).replaceAll('1F90', hexadecimal));
    assert.ok(own.at(-1).includes(port) && own.at(-1).includes(hexadecimal));
    return spawnSync(program, own, { encoding: 'utf8' }).status;
}

describe('listen', { timeout: TIMEOUT }, () => {
    it('on a name means all of its addresses', () => withDaemon(async (daemon) => {
        const others = [...daemon.stderr.matchAll(/listening on (?:\[(.*)\]|([\d.]+)):(\d+), too/g)];
        const hosts = [daemon.host, ...others.map(([, v6, v4, port]) => {
            assert.equal(Number(port), Number(daemon.port));
            return v6 ?? v4;
        })];
        assert.equal(new Set(hosts).size, hosts.length);
        const named = spawnSync('getent', ['ahosts', 'localhost'], { encoding: 'utf8' }).stdout;
        const known = [...named.matchAll(/^(\S+)/gm)].map(([, host]) => host);
        assert.ok(hosts.every((host) => known.includes(host.replace(/[[\]]/g, ''))), `${hosts}, not ${known}`);
        assert.ok(hosts.includes('127.0.0.1') || !known.includes('127.0.0.1'), `${hosts}`);
        for (const host of hosts)
            assertStatus(await daemon.request.call({ host: host.replace(/[[\]]/g, ''), port: daemon.port }, 'GET', '/healthz'), 200);
    }, { listen: 'localhost:0', config: 'log: info\n' }));

    it('on the loopback of a container warns, and fails the health check of the image', () => eachRow([
        ['127.0.0.1:0', CONTAINER, true, 1], ['127.0.0.2:0', CONTAINER, true, 1], ['localhost:0', CONTAINER, true, 1],
        ['0.0.0.0:0', CONTAINER, false, 0], ['127.0.0.1:0', {}, false, 1],
    ], ([listen, env, warns, status]) => withDaemon(async (daemon) => {
        assert.equal(/warning listen: .*expected listen: 0\.0\.0\.0:8080$/m.test(daemon.stderr), warns, daemon.stderr);
        assert.equal(health(Number(daemon.port)), status);
    }, { listen, env })));

    it('fails the health check of the image if nothing does', async () => {
        let port;
        await withDaemon((daemon) => { port = Number(daemon.port); }, { listen: '0.0.0.0:0' });
        assert.equal(health(port), 1);
    });
});

describe('what cannot be used', { timeout: TIMEOUT }, () => {
    it('is told by a metric if it is the cache', () => eachRow([
        [scratchFile('file', ''), 0], ['/dev/null/none', 0], [scratch(), 1],
    ], ([cache, open]) => withDaemon(async (daemon) => {
        assert.equal(await daemon.metric('farlands_cache_open'), open);
        assert.equal(/warning no disk cache/.test(daemon.stderr), !open, daemon.stderr);
        assertStatus(await daemon.get('/default/relief/11/3/7.png'), 200);
    }, { cache })));

    it('names the user if permission is missing', { skip: process.getuid() !== 0 && 'needs root, to be another user' }, () => {
        const file = scratchFile('secret.yaml', 'threads: 1\n');
        const copy = `${scratch()}/farlands`;
        fs.chmodSync(file, 0o600);
        fs.copyFileSync(BINARY, copy);
        for (let directory = copy; directory !== '/tmp' && directory !== '/'; directory = directory.slice(0, directory.lastIndexOf('/')) || '/')
            fs.chmodSync(directory, 0o755);
        const { status, stderr } = spawnSync(copy, ['check-config', file], { uid: 12345, gid: 12345, encoding: 'utf8' });
        assert.equal(status, 2);
        assert.match(stderr, /secret\.yaml: cannot be read: Permission denied for user 12345; expected a regular file/);
        const named = spawnSync(copy, ['check-config', file], { uid: 65534, gid: 65534, encoding: 'utf8' });
        assert.match(named.stderr, /Permission denied for user nobody \(65534\); expected/);
    });
});

describe('the systemd unit', () => {
    it('restarts until an address is there', () => {
        const unit = docker('debian/farlands.service');
        assert.match(unit, /^\[Unit\][^[]*^StartLimitIntervalSec=0$/m);
        assert.match(unit, /^\[Service\][^[]*^RestartSec=2$/m);
        assert.match(unit, /^Restart=on-failure$/m);
    });
});
