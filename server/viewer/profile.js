/* The height profile along a line that the user draws on the plane. */
/* global L */
import { $, RETRY, blocksText, clamp, grouped, metres, plain, sleep, step, withinLimit } from './world.js';
import { makeChart } from './chart.js';
import { valuesAt } from './ground.js';
import { lineOf, makeSurvey } from './survey.js';
import { say, saysServer, sayWhy } from './status.js';

const HINT = 'Click two or more points on the map, or press Enter to take its center.';
const HINT_TOUCH = 'Tap two or more points on the map.';
const LINE = { color: '#fff', weight: 2.5, opacity: 1, className: 'profile-line', interactive: false };
const DOT = { radius: 5, color: '#0b2545', weight: 2, fillColor: '#fff', fillOpacity: 1, interactive: false };

const csv = (places) => ['x,y,distance,height\n', ...places.map(({ x, y, far, height }) =>
    `${plain(x)},${plain(y)},${plain(far)},${height}\n`)];

function save(name, parts, type) {
    const url = URL.createObjectURL(new Blob(parts, { type }));
    Object.assign(document.createElement('a'), { href: url, download: name }).click();
    setTimeout(URL.revokeObjectURL, 60000, url);
}

export function makeProfile(viewer, plane, { changed }) {
    const line = L.polyline([], LINE);
    const dots = L.layerGroup();
    const marker = L.circleMarker([0, 0], { ...DOT, radius: 6, color: '#fff', fillColor: '#d4502a' });
    let active = false;
    let points = [];              // each has its `grain`
    let survey = null;            // for the line through the points
    let chart = null;
    let looked = null;            // the place under the pointer

    function draw() {
        const places = points.map(plane.toLatLng);
        line.setLatLngs(places);
        dots.clearLayers();
        for (const place of places)
            dots.addLayer(L.circleMarker(place, DOT));
        for (const id of ['profile-figure', 'profile-facts', 'profile-note', 'profile-save'])
            $(id).hidden = points.length < 2;
        $('profile-hint').hidden = points.length >= 2;
        $('profile-undo').disabled = !points.length;
    }

    const digits = () => (survey.line.grain < 1 ? 3 : 1);

    function show() {
        const { lowest, highest, done, line } = survey;
        $('profile-note').textContent = note();
        $('profile-save').disabled = !done;
        $('profile-chart').setAttribute('aria-busy', String(!done));
        if (!lowest)
            return;
        for (const [id, { height }] of [['profile-low', lowest], ['profile-high', highest]]) {
            $(id).value = height;
            $(id).textContent = metres(height, digits());
        }
        $('profile-length').textContent = blocksText(line.length);
        $('profile-chart').setAttribute('aria-valuemax', Math.round(line.length));
        $('profile-chart').setAttribute('aria-label', `Heights along ${blocksText(line.length)}, `
            + `from ${metres(lowest.height, digits())} to ${metres(highest.height, digits())}: arrow keys move along the line`);
    }

    function note() {
        const { done, count, places, stride, line: { grain } } = survey;
        if (!done)
            return `Measuring… ${Math.floor(100 * Math.min(1, places.size / count))}\u202f%`;
        const all = grouped(String(count));
        if (stride > 1)
            return `Lowest and highest of ${all} places, ${blocksText(stride * grain)} apart, then refined`;
        return grain === 1 ? `Lowest and highest of all ${all} blocks` : `Lowest and highest of ${all} places, ${plain(grain)} blocks apart`;
    }

    /* Measure heights for a survey of WORLD; null if CURRENT returns false. */
    async function measure(world, places, current) {
        for (let delay = RETRY.first; current(); delay = Math.min(delay * 2, RETRY.most)) {
            try {
                const heights = await valuesAt(world, places);
                if (delay > RETRY.first && saysServer())
                    say('');
                return current() ? heights : null;
            } catch (error) {
                if (current())
                    sayWhy(error);
            }
            await sleep(delay);
        }
        return null;
    }

    /* Measure the line through the points, and stop measuring the previous one. */
    function renew() {
        point(null);
        survey = chart = null;
        draw();
        if (points.length < 2)
            return;
        const { world } = viewer;
        const line = lineOf(points, Math.min(...points.map(({ grain }) => grain)));
        const mine = makeSurvey(line, (places) => measure(world, places, () => survey === mine), (places) => {
            chart.add(places);
            show();
        });
        survey = mine;
        chart = makeChart(line.length);
        show();
        mine.run();
    }

    function add(place) {
        const { world } = viewer;
        const grain = Math.min(1, step(world, Math.round(plane.map.getZoom())));
        const [x, y] = [place.x, place.y].map((blocks) => Math.round(blocks / grain) * grain);
        if (!withinLimit(world, [x, y]))
            return say(`The world ends at ±${grouped(String(world.limits.coordinate))} blocks.`, { ms: 6000 });
        if (points.length && points.at(-1).x === x && points.at(-1).y === y)
            return;
        points.push({ x, y, grain });
        renew();
    }

    function undo() {
        points.pop();
        renew();
    }

    /* Mark PLACE on the chart and the map; null: none. */
    function point(place) {
        looked = place ?? null;
        $('profile-cursor').hidden = $('profile-value').hidden = !looked;
        if (!looked) {
            marker.remove();
            return;
        }
        $('profile-cursor').style.left = `${chart.share(looked.far)}%`;
        $('profile-value').textContent = `${metres(looked.height, digits())} at ${blocksText(looked.far)}`;
        $('profile-chart').setAttribute('aria-valuenow', Math.round(looked.far));
        $('profile-chart').setAttribute('aria-valuetext', $('profile-value').textContent);
        marker.setLatLng(plane.toLatLng(looked)).addTo(plane.map);
    }

    function saveTable() {
        const places = [...survey.places.values()].sort((a, b) => a.n - b.n);
        save(`${viewer.world.name.replace(':', '-')}-profile.csv`, csv(places), 'text/csv');
    }

    function start() {
        active = true;
        $('profile').hidden = false;
        $('profile-hint').textContent = matchMedia('(pointer: coarse)').matches ? HINT_TOUCH : HINT;
        $('profile-button').setAttribute('aria-pressed', 'true');
        for (const part of [line, dots])
            part.addTo(plane.map);
        plane.map.doubleClickZoom.disable();
        plane.map.getContainer().classList.add('drawing');
        draw();
        changed(true);
    }

    function end() {
        if (!active)
            return;
        active = false;
        if ($('profile').contains(document.activeElement))
            plane.focus();
        $('profile').hidden = true;
        $('profile-button').setAttribute('aria-pressed', 'false');
        points = [];
        renew();
        for (const part of [line, dots])
            part.remove();
        plane.map.doubleClickZoom.enable();
        plane.map.getContainer().classList.remove('drawing');
        changed(false);
    }

    function onChartMove({ clientX }) {
        const { left, width } = $('profile-chart').getBoundingClientRect();
        point(survey.nearest(survey.line.near(clamp((clientX - left) / width, 0, 1) * survey.line.length)));
    }

    function onChartKey(event) {
        const { line: { last }, stride, count } = survey;
        const pixel = Math.max(1, Math.round(count / $('profile-chart').clientWidth)) * stride;
        const page = Math.ceil(last / 10);
        const steps = { ArrowLeft: -pixel, ArrowDown: -pixel, ArrowRight: pixel, ArrowUp: pixel, PageDown: -page, PageUp: page,
            Home: -last, End: last };
        if (!(event.key in steps))
            return;
        event.preventDefault();
        point(survey.nearest(clamp((looked?.n ?? 0) + steps[event.key], 0, last)));
    }

    plane.map.on('click', ({ latlng }) => { if (active) add(plane.toBlocks(latlng)); });
    plane.map.getContainer().addEventListener('keydown', (event) => {
        if (!active)
            return;
        if (event.key === 'Enter')
            add(plane.place());
        else if (event.key === 'Backspace')
            undo();
    });
    $('profile-button').addEventListener('click', () => (active ? end() : start()));
    $('profile-undo').addEventListener('click', undo);
    $('profile-save').addEventListener('click', saveTable);
    $('profile-low').addEventListener('click', () => point(survey.lowest));
    $('profile-high').addEventListener('click', () => point(survey.highest));
    $('profile-close').addEventListener('click', end);
    $('profile-chart').addEventListener('pointermove', onChartMove);
    $('profile-chart').addEventListener('pointerdown', onChartMove);
    $('profile-chart').addEventListener('pointerleave', () => point(null));
    $('profile-chart').addEventListener('keydown', onChartKey);
    document.addEventListener('keydown', ({ key }) => { if (key === 'Escape') end(); });
    addEventListener('resize', () => chart?.paint());

    return { end, renew };
}
