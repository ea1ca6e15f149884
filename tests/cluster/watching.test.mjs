// Monitoring many nodes: the metrics in docker/'s dashboard and alerts exist in the nodes and in HAProxy's
// exporter.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Daemon } from '../http/daemon.mjs';
import { eventually, patience, scratchFile } from '../http/program.mjs';
import { eachRow } from '../http/table.mjs';
import { Haproxy, Nodes } from './cluster.mjs';
import { DOCKER, document, filesEnding, text } from './manifests.mjs';

/* The expressions of the dashboard and of the rules: [title, expression] each. */
function expressions() {
    const { panels, templating } = JSON.parse(text('grafana/dashboards/nodes.json'));
    const rules = document('prometheus/cluster-alerts.yml').groups.flatMap((group) => group.rules);
    return {
        panels: panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr])),
        variables: templating.list.filter(({ definition }) => definition).map((one) => [one.name, one.definition]),
        rules: rules.map(({ alert, expr }) => [alert, expr]),
    };
}

describe('monitoring many nodes', { timeout: patience(60000) }, () => {
    const nodes = new Nodes(2);
    const { panels, variables, rules } = expressions();
    let proxy, series;

    before(async () => {
        await nodes.start();
        proxy = await new Haproxy(nodes.authorities).start();
        await proxy.awaitUp(2);
        const exporter = { ...proxy.stats, agent: undefined };
        const answer = await Daemon.prototype.request.call(exporter, 'GET', '/metrics');
        assert.equal(answer.status, 200);
        const lines = [answer.body.toString(), (await nodes.all[0].bytes('/metrics')).toString()].join('\n').split('\n');
        series = lines.filter((line) => line && !line.startsWith('#')).map((line) => line.slice(0, line.lastIndexOf(' ')));
    });
    after(async () => {
        await proxy?.stop();
        await nodes.stop();
    });

    it('queries only metrics and labels that exist', async () => {
        await eachRow([...panels, ...variables, ...rules], ([, expression]) => {
            const wanted = [...expression.matchAll(/\b((?:haproxy|farlands|process)_\w+|up)\b(?:\{([^}]*)\})?/g)];
            assert.ok(wanted.length > 0, 'no metric in it');
            for (const [, name, labels = ''] of wanted) {
                /* Without the labels that the scraper adds, and the dashboard's variable. */
                const own = labels.split(',').filter((label) => label && !/^(job|instance)=/.test(label));
                assert.ok(name === 'up' || series.some((one) => one.split('{')[0] === name &&
                    own.every((label) => one.includes(label))), `no ${name}{${own}}`);
            }
        });
    });

    it('HAProxy\'s metrics count the active nodes', async () => {
        const active = async () => {
            const answer = await Daemon.prototype.request.call({ ...proxy.stats, agent: undefined }, 'GET', '/metrics');
            return Number(/^haproxy_backend_active_servers\{proxy="nodes"\} (\d+)$/m.exec(answer.body)[1]);
        };
        assert.equal(await active(), 2);
        nodes.all[1].kill('SIGKILL');
        assert.ok(await eventually(async () => await active() === 1), 'still 2');
    });

    it('docker/README.md describes every alert', () => {
        const alerts = ['alerts', 'cluster-alerts'].flatMap((name) => document(`prometheus/${name}.yml`).groups)
            .flatMap((group) => group.rules).map(({ alert }) => alert);
        const described = [...text('README.md').matchAll(/^\| `(Farlands\w+)` \|/gm)].map((match) => match[1]);
        assert.deepEqual(described, alerts);
    });

    it('promtool accepts the rules, and their tests pass', async () => {
        const recorded = ['groups:', '  - name: dashboard', '    rules:', ...panels.flatMap(([, expression], i) => [
            `      - record: panel:${i}`,
            `        expr: ${JSON.stringify(expression.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*'))}`])];
        await eachRow([
            ['check', 'rules', scratchFile('rules.yml', recorded.join('\n'))],
            ...filesEnding('.yml').filter((file) => /^prometheus\/(prometheus|cluster)\.yml$/.test(file))
                .map((file) => ['check', 'config', path.join(DOCKER, file)]),
            ['test', 'rules', fileURLToPath(new URL('alerts.yml', import.meta.url))],
        ], (args) => {
            const { error, status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
            assert.ifError(error);
            assert.equal(status, 0, stdout + stderr);
        });
    });
});
