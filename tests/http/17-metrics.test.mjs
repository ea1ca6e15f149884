// The metrics for Prometheus: the text format and the values.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Faults } from '../preload/preload.mjs';
import { useDaemon, withDaemon } from './daemon.mjs';
import { TIMEOUT, eventually, scratch, scratchFile } from './program.mjs';
import { eachRow } from './table.mjs';

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABELS = /^(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*"(?:,(?!$)|$))*$/;

/*
 * Parse a text as { name: { type, samples: [{ name, labels, le, value }] } } and check the rules of
 * format 0.0.4: the lines of a family are contiguous, HELP and TYPE come once before its samples, no
 * sample is repeated, and the buckets of a histogram are cumulative up to +Inf, which is its count.
 */
function parseMetrics(text) {
    assert.ok(text.endsWith('\n'), 'the text must end with a line feed');
    const families = {}, seen = new Set();
    let current;
    for (const line of text.slice(0, -1).split('\n')) {
        const comment = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/.exec(line);
        if (comment?.[1] === 'HELP') {
            assert.ok(!families[comment[2]], `${comment[2]}: twice`);
            families[comment[2]] = current = { name: comment[2], help: comment[3], samples: [] };
            continue;
        }
        if (comment) {
            assert.ok(current?.name === comment[2] && !current.type && !current.samples.length, line);
            assert.ok(['counter', 'gauge', 'histogram'].includes(comment[3]), line);
            current.type = comment[3];
            continue;
        }
        const [, name, labels = '', value] = SAMPLE.exec(line) ?? assert.fail(`not a sample: ${line}`);
        assert.match(labels, LABELS, line);
        assert.ok(current?.type, `no TYPE before ${line}`);
        const suffix = name.slice(current.name.length);
        assert.ok(name.startsWith(current.name) &&
            (current.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']).includes(suffix), line);
        assert.ok(Number.isFinite(Number(value)), line);
        assert.ok(!seen.has(`${name}{${labels}}`), `twice: ${line}`);
        seen.add(`${name}{${labels}}`);
        current.samples.push({ name, labels, le: /\ble="([^"]*)"/.exec(labels)?.[1], value: Number(value) });
    }
    for (const family of Object.values(families))
        checkFamily(family);
    return families;
}

function checkFamily({ name, type, samples }) {
    assert.ok(samples.length, `${name}: no samples`);
    if (type === 'counter')
        assert.ok(name.endsWith('_total'), name);
    if (type !== 'histogram')
        return;
    const buckets = samples.filter((sample) => sample.name === `${name}_bucket`);
    const bounds = buckets.map(({ le }) => Number(le.replace('+Inf', 'Infinity')));
    assert.equal(bounds.at(-1), Infinity, name);
    assert.deepEqual(bounds, [...bounds].sort((a, b) => a - b), name);
    assert.deepEqual(buckets.map(({ value }) => value), [...buckets.map(({ value }) => value)].sort((a, b) => a - b));
    const count = samples.filter((sample) => sample.name === `${name}_count`);
    assert.equal(count.length, 1);
    assert.equal(count[0].value, buckets.at(-1).value, name);
    assert.equal(samples.filter((sample) => sample.name === `${name}_sum`).length, 1);
}

const COUNTERS = ['requests', 'tiles_rendered', 'cache_hits', 'cache_misses', 'coalesced', 'calculations', 'shed', 'limited', 'responses_refused',
    'abandoned', 'late', 'cache_faults', 'cache_refused', 'connections', 'connections_closed', 'reloads',
    'access_log_dropped', 'loop_blocked', 'accept_failures'];
const GAUGES = ['cache_bytes', 'cache_limit_bytes', 'cache_files', 'cache_limit_files', 'cache_open', 'cache_suspended',
    'queue_length', 'queue_limit', 'response_bytes', 'response_limit_bytes', 'renders_running', 'longest_slice_seconds', 'terrains', 'connections', 'ready', 'start_time_seconds', 'build_info'];

describe('the metrics', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon();
    const text = async () => (await daemon.bytes('/metrics')).toString();

    it('follow the text format', async () => {
        const families = parseMetrics(await text());
        const expected = {
            ...Object.fromEntries(COUNTERS.map((name) => [`farlands_${name}_total`, 'counter'])),
            ...Object.fromEntries(GAUGES.map((name) => [`farlands_${name}`, 'gauge'])),
            process_resident_memory_bytes: 'gauge', process_open_fds: 'gauge',
            farlands_request_seconds: 'histogram', farlands_render_seconds: 'histogram',
        };
        assert.deepEqual(Object.fromEntries(Object.values(families).map(({ name, type }) => [name, type])), expected);
    });

    it('pass promtool, if installed', async (test) => {
        const { error, status, stdout, stderr } =
            spawnSync('promtool', ['check', 'metrics'], { input: await text(), encoding: 'utf8' });
        if (error?.code === 'ENOENT')
            return test.skip('no promtool');
        assert.equal(status, 0, stdout + stderr);
        assert.equal(stdout + stderr, '');
    });

    it('have the same names after many different requests', async () => {
        const names = async () => [...(await daemon.metrics()).keys()];
        const before = await names();
        await eachRow(['/nowhere', '/default/relief/10/7/7.png', '/default/gray/1/2/3', '/default.json',
            '/default/height/10/7/7.f32', '/%00', '/worlds.json?a', '/default/height?x=1&y=2'],
        (target) => daemon.get(target));
        await daemon.request('POST', '/');
        assert.deepEqual(await names(), before);
    });

    it('count requests and renders', async () => {
        const before = await daemon.metrics();
        await daemon.bytes('/default/relief/11/70/70.png');
        await daemon.bytes('/default/relief/11/70/70.png');
        const after = await daemon.metrics();
        const rise = (name) => after.get(name) - before.get(name);
        assert.equal(rise('farlands_request_seconds_count'), 2 + 1, 'two and the first /metrics');
        assert.equal(rise('farlands_render_seconds_count'), 1);
        assert.ok(rise('farlands_render_seconds_sum') > 0);
    });

    it('measure the duration of requests and renders', () => {
        const faults = new Faults(scratch()), DAY = 86400;
        return withDaemon(async (other) => {
            faults.hold('encode');              // the render ends only after the day
            const pending = other.get('/default/relief/11/70/70.png', {}, { agent: false });
            /* A miss is counted as a render begins; one that is about to begin is already running. */
            assert.ok(await eventually(async () => await other.metric('farlands_cache_misses_total') === 1));
            const before = await other.metrics();
            other.agent.destroy();              // as the daemon closes connections that were idle for a day
            faults.advance('steady', DAY);
            faults.clear();
            await pending;
            let after;
            assert.ok(await eventually(async () => {
                after = await other.metrics();
                return after.get('farlands_render_seconds_count') === 1;
            }));
            for (const what of ['request', 'render']) {
                const sum = after.get(`farlands_${what}_seconds_sum`) - before.get(`farlands_${what}_seconds_sum`);
                assert.ok(sum >= DAY && sum < 2 * DAY, `${what}: ${sum} s`);
            }
        }, { env: faults.env });
    });

    it('report the current state', async () => {
        const now = await daemon.metrics();
        assert.equal(now.get('farlands_ready'), 1);
        assert.ok(now.get('process_resident_memory_bytes') > 1e6);
        const openFiles = () => fs.readdirSync(`/proc/${daemon.pid}/fd`).length;
        /* In the end: a tile that was rendered a moment ago may still be open for storing. */
        const isExact = () => eventually(async () => await daemon.metric('process_open_fds') === openFiles());
        const connections = await daemon.metric('farlands_connections');
        assert.ok(connections >= 1 && await isExact(), `${openFiles()} files, ${connections} connections`);
        const sockets = await Promise.all(Array.from({ length: 20 }, () => daemon.connect()));
        assert.ok(await eventually(async () => await daemon.metric('farlands_connections') >= connections + 20));
        assert.ok(await isExact(), `${openFiles()} files`);
        for (const socket of sockets)
            socket.close();
        assert.ok(await eventually(async () => await daemon.metric('farlands_connections') < connections + 20));
    });

    it('have the time when it started, by the system\'s clock', () => {
        const faults = new Faults(scratch()), YEARS = 1e9;
        const start = async (check) => withDaemon(async (other) => check(await other.metric('farlands_start_time_seconds')), { env: faults.env });
        return start(async (now) => {
            faults.advance('wall', YEARS);
            await start((later) => assert.ok(now > 1.7e9 && later >= now + YEARS && later < now + 1.1 * YEARS, `${now}, ${later}`));
        });
    });

    it('describe the build', async () => {
        const [info] = [...(await daemon.metrics()).keys()].filter((name) => name.startsWith('farlands_build_info'));
        assert.match(info, /^farlands_build_info\{version="\d+\.\d+\.\d+",kernel="(scalar|avx2|avx512|neon)",generator="\d+"\}$/);
        assert.ok(daemon.readyLine.includes(`kernel ${/kernel="(\w+)"/.exec(info)[1]}`), daemon.readyLine);
    });
});

/* The expressions in docker/'s dashboard and alerts, as [title, expression]. */
function watchedExpressions() {
    const file = (name) => fs.readFileSync(new URL(`../../docker/${name}`, import.meta.url), 'utf8');
    const { panels, templating } = JSON.parse(file('grafana/dashboards/farlands.json'));
    const rows = panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr]));
    rows.push(...templating.list.filter(({ definition }) => definition).map((one) => [one.name, one.definition]));
    /* In the rules an expression is on the line of expr: or, after >-, on the indented lines below. */
    const rules = file('prometheus/alerts.yml')
        .matchAll(/- alert: (\w+)\n +expr: (?:>-((?:\n {10,}.*)+)|(.*))/g);
    for (const [, name, folded, plain] of rules)
        rows.push([name, (folded ?? plain).trim().replace(/\s+/g, ' ')]);
    return rows;
}

describe('the dashboard and the alerts', { timeout: TIMEOUT }, () => {
    const daemon = useDaemon();
    const expressions = watchedExpressions();

    it('have expressions', () => {
        assert.ok(expressions.length > 30, `${expressions.length} expressions`);
        assert.ok(expressions.some(([name]) => name === 'FarlandsShedding'));
    });

    it('use only metrics that exist', async () => {
        const series = [...(await daemon.metrics()).keys()];
        await eachRow(expressions, ([, expression]) => {
            const metrics = expression.replace(/"[^"]*"/g, '').match(/\b(?:farlands|process)_\w+/g) ?? [];
            assert.ok(metrics.length || expression.startsWith('up{'), 'no metric');
            for (const metric of metrics)
                assert.ok(series.some((one) => one.split('{')[0] === metric), `no ${metric}`);
            /* Labels other than those that Prometheus adds. */
            for (const [, label, value] of expression.matchAll(/\b(\w+)="(\w+)"/g))
                assert.ok(label === 'job' || series.some((one) => one.includes(`${label}="${value}"`)), `${label}="${value}"`);
        });
    });

    it('use every metric', async () => {
        const watched = new Set(expressions.flatMap(([, expression]) => expression.match(/\b(?:farlands|process)_\w+/g) ?? []));
        const names = [...(await daemon.metrics()).keys()].map((one) => one.split('{')[0].replace(/_(sum|count)$/, '_bucket'));
        assert.deepEqual([...new Set(names)].filter((name) => !watched.has(name)), ['farlands_build_info']);
    });

    it('pass promtool, if installed', (test) => {
        const rules = ['groups:', '  - name: dashboard', '    rules:', ...expressions
            .filter(([, expression]) => !expression.startsWith('label_values('))
            .flatMap(([, expression], i) => [`      - record: panel:${i}`,
                `        expr: ${JSON.stringify(expression.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*'))}`])];
        for (const args of [
            ['check', 'rules', scratchFile('rules.yml', rules.join('\n'))],
            ['check', 'config', fileURLToPath(new URL('../../docker/prometheus/prometheus.yml', import.meta.url))],
            ['test', 'rules', fileURLToPath(new URL('alerts.yml', import.meta.url))],
        ]) {
            const { error, status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
            if (error?.code === 'ENOENT')
                return test.skip('no promtool');
            assert.equal(status, 0, stdout + stderr);
        }
    });
});
