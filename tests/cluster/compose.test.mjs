// docker/compose*.yaml and the files that they mount: every reference resolves, and the settings agree.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { BINARY, run } from '../http/program.mjs';
import { eachRow } from '../http/table.mjs';
import { SBIN } from './cluster.mjs';
import { DOCKER, DRAIN, PROXY_DRAIN, document, documents, filesEnding, proxyVariables, seconds } from './manifests.mjs';

const FILES = filesEnding('.yaml').filter((file) => /^compose.*\.yaml$/.test(file));
const services = (file) => Object.entries(document(file).services).map(([name, service]) => ({ file, name, ...service }));
const ALL = FILES.flatMap(services);
const isFarlands = ({ image }) => image === 'farlands';
const isProxy = ({ image }) => image.startsWith('haproxy');

it('every YAML file in docker/ parses', async () => {
    await eachRow(filesEnding('.yaml', '.yml'), (file) => {
        for (const one of documents(file))
            assert.ok(one && typeof one === 'object', 'an empty document');
    });
});

describe('docker compose', () => {
    it('has a file with one node and a file with three', () => {
        const counts = FILES.map((file) => [file, services(file).filter(isFarlands).length]);
        assert.deepEqual(counts, [['compose.cluster.yaml', 3], ['compose.yaml', 1]]);
    });

    it('mounts files that exist and volumes that are declared', async () => {
        await eachRow(ALL, ({ file, volumes = [] }) => {
            for (const [source] of volumes.map((volume) => volume.split(':')))
                if (source.startsWith('.'))
                    assert.ok(fs.existsSync(path.join(DOCKER, source)), `${source} does not exist`);
                else
                    assert.ok(source in document(file).volumes, `${source} is not declared`);
        });
    });

    it('pins the same release of each image everywhere', async () => {
        const releases = new Map();
        await eachRow(ALL, ({ image, build }) => {
            if (build) {
                assert.ok(fs.existsSync(path.join(DOCKER, build.context, build.dockerfile)));
                return;
            }
            const [, name, tag] = /^([^:]+):(v?\d+\.\d+\.\d+)$/.exec(image) ?? assert.fail(`${image} is not a release`);
            assert.equal(releases.get(name) ?? tag, tag, `${name} also has tag ${releases.get(name)}`);
            releases.set(name, tag);
        });
    });

    it('has a grace period longer than the drain', async () => {
        await eachRow(ALL.filter((one) => isFarlands(one) || isProxy(one)), (service) => {
            const needed = isProxy(service) ? PROXY_DRAIN : DRAIN;
            assert.ok(seconds(service.stop_grace_period) > needed, `${service.stop_grace_period}, not more than ${needed} s`);
        });
    });

    it('hardens the services, and publishes ports on loopback only', async () => {
        await eachRow(ALL, (service) => {
            for (const port of service.ports ?? [])
                assert.match(port, /^127\.0\.0\.1:\d+:\d+$/);
            if (!isFarlands(service) && !isProxy(service))
                return;
            assert.equal(service.read_only, true);
            assert.deepEqual(service.cap_drop, ['ALL']);
            assert.deepEqual(service.security_opt, ['no-new-privileges:true']);
        });
    });

    it('depends on services that exist', async () => {
        await eachRow(ALL, ({ file, depends_on: others = [] }) => {
            for (const other of others)
                assert.ok(other in document(file).services, `no ${other}`);
        });
    });
});

describe('three nodes of compose.cluster.yaml', () => {
    const all = services('compose.cluster.yaml');
    const nodes = all.filter(isFarlands), [proxy] = all.filter(isProxy);
    const port = document('node.yaml').listen.split(':').at(-1);
    const published = (service) => service.ports.map((one) => one.split(':').at(-1));

    it('mount the configuration that their command names, which is valid', async () => {
        await eachRow(nodes, ({ command, volumes }) => {
            const file = command[command.indexOf('--config') + 1];
            assert.ok(volumes.includes(`./node.yaml:${file}:ro`), `${volumes}`);
            assert.ok(volumes.some((volume) => volume.endsWith(`:${document('node.yaml').cache.path}`)), `${volumes}`);
        });
        const { code, stderr } = await run(['check-config', path.join(DOCKER, 'node.yaml')]);
        assert.equal(code, 0, `${BINARY}: ${stderr}`);
    });

    it('have caches of their own', () => {
        const caches = nodes.map(({ volumes }) => volumes.find((volume) => !volume.startsWith('.')));
        assert.equal(new Set(caches).size, nodes.length, `${caches}`);
    });

    it('are the nodes of the proxy', () => {
        const { environment } = proxy;
        assert.deepEqual(Object.keys(environment).filter((name) => !proxyVariables().has(name)), [], 'unknown variables');
        assert.deepEqual(nodes.map(({ name }, i) => [`FARLANDS_NODE_${i + 1}`, `${name}:${port}`]),
            Object.entries(environment).filter(([name]) => name.startsWith('FARLANDS_NODE_')));
        assert.deepEqual(published(proxy), [environment.FARLANDS_BIND.split(':').at(-1)]);
    });

    it('are scraped by Prometheus, and the proxy is, too', () => {
        const targets = Object.fromEntries(document('prometheus/cluster.yml').scrape_configs
            .map((job) => [job.job_name, job.static_configs.flatMap((one) => one.targets)]));
        assert.deepEqual(targets.farlands, nodes.map(({ name }) => `${name}:${port}`));
        assert.deepEqual(targets.haproxy, [`${proxy.name}${proxy.environment.FARLANDS_STATS}`]);
    });

    it('have a configuration that HAProxy accepts', () => {
        const files = proxy.command.filter((word) => word.endsWith('.cfg'));
        assert.equal(files.length, 2);
        const args = files.flatMap((file) => ['-f', path.join(DOCKER, 'haproxy', path.basename(file))]);
        const { error, status, stderr } = spawnSync('haproxy', ['-c', ...args],
            { env: { ...SBIN, ...proxy.environment }, encoding: 'utf8' });
        assert.ifError(error);
        assert.equal(status, 0, stderr);
        assert.ok(proxy.volumes.includes('./haproxy:/etc/haproxy:ro') && files.every((file) => file.startsWith('/etc/haproxy/')));
    });
});
