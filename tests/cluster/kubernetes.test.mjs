// docker/kubernetes: every reference resolves, and related numbers agree.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { assertStatus, eachRow } from '../http/table.mjs';
import { patience } from '../http/program.mjs';
import { Haproxy, Nodes } from './cluster.mjs';
import { DOCKER, DRAIN, PROXY_DRAIN, bytes, document, documents, kustomized, proxyVariables, text } from './manifests.mjs';

const APPLIED = kustomized('.');
/* The ConfigMap that a command in its comment creates. */
const [, archived, from] = /^# +kubectl create configmap (\S+) --from-file=docker\/(\S+)$/m.exec(text('kubernetes/archive.yaml'));
const ALL = [...APPLIED, ...documents('kubernetes/archive.yaml'),
    { kind: 'ConfigMap', metadata: { name: archived }, data: { [path.basename(from)]: text(from) } }];
const ofKind = (...kinds) => ALL.filter(({ kind }) => kinds.includes(kind));
const named = (kind, name) => ofKind(kind).find((one) => one.metadata.name === name);
const title = ({ kind, metadata }) => `${kind} ${metadata.name}`;

/* { title, template, pod } of all objects that create pods, including jobTemplates of CronJobs. */
const WORKLOADS = ofKind('StatefulSet', 'Deployment', 'Job', 'CronJob').map((object) => {
    const spec = object.spec.jobTemplate?.spec ?? object.spec;
    return { title: title(object), object, spec, template: spec.template, pod: spec.template.spec };
});
const SERVING = WORKLOADS.filter(({ object }) => ['StatefulSet', 'Deployment'].includes(object.kind));
const CONTAINERS = WORKLOADS.flatMap(({ title: of, pod }) => [...pod.initContainers ?? [], ...pod.containers]
    .map((container) => ({ of, name: container.name, container, pod })));
const NODES = named('StatefulSet', 'farlands'), PROXY = named('Deployment', 'farlands-proxy');
const NODE_YAML = document('node.yaml');

const selects = (selector, labels) => Object.entries(selector).every(([key, value]) => labels[key] === value);
const chosen = (selector) => SERVING.filter(({ template }) => selects(selector, template.metadata.labels));
const ports = ({ containers }) => containers.flatMap((container) => container.ports ?? []);
const environment = ({ env = [] }) => Object.fromEntries(env.map(({ name, value }) => [name, value]));

describe('kubectl apply -k', () => {
    it('gets the objects that this test parses', () => {
        const { error, status, stdout, stderr } = spawnSync('kubectl', ['kustomize', DOCKER], { encoding: 'utf8' });
        assert.ifError(error);
        assert.equal(status, 0, stderr);
        const kinds = [...stdout.matchAll(/^kind: (\w+)$/gm)].map((match) => match[1]);
        assert.deepEqual(kinds.sort(), APPLIED.map(({ kind }) => kind).sort());
        /* There the names of ConfigMaps have suffixes, also in references. */
        for (const { metadata } of APPLIED.filter(({ kind }) => kind === 'ConfigMap'))
            assert.ok(stdout.match(new RegExp(` name: ${metadata.name}-\\w{10}$`, 'gm')).length >= 2, metadata.name);
        assert.ok(!/image: \S*farlands$/m.test(stdout), 'an image without a tag');
    });

    it('gets unique names', () => {
        const names = ALL.map(title);
        assert.deepEqual(names, [...new Set(names)]);
    });

    it('gets selectors that match pods', async () => {
        await eachRow(SERVING, ({ spec, template }) => {
            assert.ok(selects(spec.selector.matchLabels, template.metadata.labels));
            for (const { labelSelector } of template.spec.topologySpreadConstraints)
                assert.deepEqual(labelSelector, spec.selector);
        });
        await eachRow(ofKind('Service'), ({ spec }) => {
            const [workload, ...others] = chosen(spec.selector);
            assert.ok(workload && others.length === 0, `the selected workloads: ${chosen(spec.selector).map((one) => one.title)}`);
            for (const { targetPort } of spec.ports)
                assert.ok(ports(workload.pod).some(({ name }) => name === targetPort), `no port ${targetPort}`);
        });
    });

    it('gets mounts of volumes and files that exist', async () => {
        await eachRow(WORKLOADS, ({ pod }) => {
            for (const { name, configMap, persistentVolumeClaim: claim } of pod.volumes) {
                assert.ok(!configMap || named('ConfigMap', configMap.name), `no ConfigMap ${configMap?.name}`);
                assert.ok(!claim || named('PersistentVolumeClaim', claim.claimName), `no claim ${claim?.claimName}`);
                assert.ok([...pod.initContainers ?? [], ...pod.containers].some(({ volumeMounts }) =>
                    volumeMounts.some((mount) => mount.name === name)), `${name} is not mounted`);
            }
        });
        await eachRow(CONTAINERS, ({ container, pod }) => {
            for (const { name } of container.volumeMounts)
                assert.ok(pod.volumes.some((volume) => volume.name === name), `no volume ${name}`);
            /* Files that its command names. */
            const words = [...container.command ?? [], ...container.args ?? []].join(' ').split(/\s+/);
            for (const { name, mountPath } of container.volumeMounts) {
                const { configMap } = pod.volumes.find((volume) => volume.name === name);
                for (const word of configMap ? words.filter((one) => one.startsWith(`${mountPath}/`)) : [])
                    assert.ok(path.basename(word) in named('ConfigMap', configMap.name).data, `no file ${word}`);
            }
        });
    });

    it('renders the worlds of node.yaml', async () => {
        const renders = CONTAINERS.map(({ of, container }) => ({ of, words: [...container.command ?? [], ...container.args ?? []].join(' ') }))
            .filter(({ words }) => /\brender /.test(words));
        assert.deepEqual(renders.map(({ of }) => of).sort(), ['CronJob farlands-prerender', 'Job farlands-archive']);
        await eachRow(renders, ({ words }) => assert.match(words, /--config[= ]\/etc\/farlands\/node\.yaml\b/));
    });

    it('meets the restricted profile of the Pod Security Standards', async () => {
        await eachRow(CONTAINERS, ({ container, pod }) => {
            assert.equal(pod.securityContext.runAsNonRoot, true);
            assert.ok(pod.securityContext.runAsUser > 0);
            assert.deepEqual(pod.securityContext.seccompProfile, { type: 'RuntimeDefault' });
            assert.deepEqual(container.securityContext, {
                allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] },
            });
            assert.equal(pod.automountServiceAccountToken, false);
            const { requests, limits } = container.resources;
            assert.ok(requests.cpu && bytes(requests.memory) <= bytes(limits.memory), JSON.stringify(container.resources));
        });
        const user = Number(/^USER (\d+):\1$/m.exec(text('Dockerfile'))[1]);
        await eachRow(CONTAINERS.filter(({ container }) => /farlands(:|$)/.test(container.image)), ({ pod }) => {
            assert.deepEqual([pod.securityContext.runAsUser, pod.securityContext.fsGroup], [user, user]);
        });
    });

    it('gets a release of each image', async () => {
        const { images } = document('kustomization.yaml');
        await eachRow(CONTAINERS, ({ container: { image } }) => {
            const own = images.find(({ name }) => name === image);
            assert.match(own ? `${own.newName}:${own.newTag}` : image, /^[^:]+:\d+\.\d+\.\d+$/);
        });
        const compose = document('compose.cluster.yaml').services.proxy.image;
        assert.equal(PROXY.spec.template.spec.containers[0].image, compose, 'HAProxy\'s release differs from compose');
    });
});

describe('nodes in Kubernetes', () => {
    const { spec } = NODES, pod = spec.template.spec, [container] = pod.containers;
    const proxied = environment(PROXY.spec.template.spec.containers[0]);
    const autoscaler = named('HorizontalPodAutoscaler', 'farlands').spec;

    it('have names from a headless service, and the proxy lists as many as the autoscaler allows', () => {
        const service = named('Service', spec.serviceName);
        assert.equal(service.spec.clusterIP, 'None');
        assert.equal(service.spec.publishNotReadyAddresses, true);
        const listed = Object.entries(proxied).filter(([name]) => name.startsWith('FARLANDS_NODE_'));
        assert.deepEqual(listed, Array.from({ length: autoscaler.maxReplicas }, (_, i) => [`FARLANDS_NODE_${i + 1}`,
            `${NODES.metadata.name}-${i}.${service.metadata.name}.$(NAMESPACE).svc.cluster.local:${service.spec.ports[0].port}`]));
        assert.deepEqual(Object.keys(proxied).filter((name) => name !== 'NAMESPACE' && !proxyVariables().has(name)), []);
        /* $(NAMESPACE) is only replaced in variables after its definition. */
        assert.ok(Object.keys(proxied).indexOf('NAMESPACE') < Object.keys(proxied).indexOf('FARLANDS_NODE_1'));
    });

    it('are scaled by the autoscaler', () => {
        const { scaleTargetRef: target } = autoscaler;
        assert.deepEqual([target.kind, target.name], [NODES.kind, NODES.metadata.name]);
        assert.equal(spec.replicas, undefined, 'applying it again would undo the autoscaler');
        assert.ok(autoscaler.minReplicas >= 2 && autoscaler.minReplicas <= autoscaler.maxReplicas);
        assert.ok(autoscaler.metrics.every(({ resource }) => container.resources.requests[resource.name]));
    });

    it('can be drained one at a time', async () => {
        await eachRow(ofKind('PodDisruptionBudget'), (budget) => {
            const [workload, ...others] = chosen(budget.spec.selector.matchLabels);
            assert.ok(workload && others.length === 0);
            assert.equal(budget.spec.maxUnavailable, 1);
            assert.ok((workload.spec.replicas ?? autoscaler.minReplicas) > 1);
        });
        assert.equal(ofKind('PodDisruptionBudget').length, SERVING.length);
    });

    it('have a grace period longer than preStop and drain', async () => {
        const rows = [[NODES, DRAIN], [PROXY, PROXY_DRAIN]];
        await eachRow(rows, ([{ spec: { template } }, drain]) => {
            const [, pause] = template.spec.containers[0].lifecycle.preStop.exec.command;
            assert.ok(template.spec.terminationGracePeriodSeconds > Number(pause) + drain);
        });
    });

    it('have enough disk and memory', () => {
        const cache = pod.volumes.find(({ name }) => name === 'cache').emptyDir;
        assert.ok(bytes(cache.sizeLimit) > bytes(NODE_YAML.cache.disk), `${cache.sizeLimit} for ${NODE_YAML.cache.disk}`);
        for (const { 'ephemeral-storage': storage } of [container.resources.requests, container.resources.limits])
            assert.ok(bytes(storage) >= bytes(cache.sizeLimit), storage);
        assert.ok(container.volumeMounts.some(({ mountPath }) => mountPath === NODE_YAML.cache.path));
        /* docker/README.md, Sizing: 260 MiB with four cores, 128 KiB per connection, and the two limits. */
        const { connections, memory } = NODE_YAML.limits;
        const needed = bytes(NODE_YAML.cache.memory) + 260 * 2 ** 20 + 128 * 1024 * connections + bytes(memory);
        for (const { memory: room } of [container.resources.requests, container.resources.limits])
            assert.ok(bytes(room) > needed, `${needed} bytes`);
    });

    it('listen on their container ports', () => {
        assert.deepEqual(ports(pod).map(({ containerPort }) => containerPort), [Number(NODE_YAML.listen.split(':').at(-1))]);
        assert.deepEqual(ports(PROXY.spec.template.spec).map(({ containerPort }) => `:${containerPort}`),
            [proxied.FARLANDS_BIND, proxied.FARLANDS_STATS]);
    });
});

describe('probes and scrapers in Kubernetes', { timeout: patience(60000) }, () => {
    const nodes = new Nodes(1);
    let proxy;
    before(async () => {
        await nodes.start();
        proxy = await new Haproxy(nodes.authorities).start();
        await proxy.awaitUp(1);
    });
    after(async () => {
        await proxy?.stop();
        await nodes.stop();
    });

    const probes = SERVING.flatMap(({ title: of, pod }) => ['startupProbe', 'livenessProbe', 'readinessProbe']
        .map((kind) => ({ of, kind, probe: pod.containers[0][kind], pod }))).filter(({ probe }) => probe);

    it('use endpoints that respond', async () => {
        assert.ok(probes.length >= 5);
        await eachRow(probes, async ({ of, kind, probe: { httpGet }, pod }) => {
            assert.ok(ports(pod).some(({ name }) => name === httpGet.port), `no port ${httpGet.port}`);
            assert.equal(httpGet.path, kind === 'readinessProbe' ? '/readyz' : '/healthz');
            assertStatus(await (of.includes('proxy') ? proxy : nodes.all[0]).get(httpGet.path), 200);
        });
    });

    it('have annotations for endpoints that respond', async () => {
        await eachRow(SERVING, ({ pod, template: { metadata: { annotations } } }) => {
            assert.deepEqual([annotations['prometheus.io/scrape'], annotations['prometheus.io/path']], ['true', '/metrics']);
            assert.ok(ports(pod).some(({ containerPort }) => String(containerPort) === annotations['prometheus.io/port']));
        });
        assertStatus(await nodes.all[0].get('/metrics'), 200);
    });
});
