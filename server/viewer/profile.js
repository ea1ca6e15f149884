/* The height profile along a line that the user draws on the plane. */
/* global L */
import { $, blocksText, grouped, metres, snap, withinLimit } from './world.js';
import { heightAt } from './ground.js';
import { say, sayWhy } from './status.js';

const SAMPLES = 64;
const AT_ONCE = 4;                // concurrent requests
const HINT = 'Click two or more points on the map, or press Enter to take its centre.';
const HINT_TOUCH = 'Tap two or more points on the map.';
const LINE = { color: '#fff', weight: 2.5, opacity: 1, className: 'profile-line', interactive: false };
const DOT = { radius: 5, color: '#0b2545', weight: 2, fillColor: '#fff', fillOpacity: 1, interactive: false };

const distance = (a, b) => Math.hypot(b.x - a.x, b.y - a.y);

/* COUNT points, evenly spaced along the line through POINTS, each with its distance `far`. */
function along(points, count) {
    const legs = points.slice(1).map((point, i) => distance(points[i], point));
    const length = legs.reduce((sum, leg) => sum + leg, 0);
    return Array.from({ length: count }, (_, n) => {
        const far = length * n / (count - 1);
        let [leg, left] = [0, far];
        while (leg < legs.length - 1 && left > legs[leg])
            left -= legs[leg++];
        const share = legs[leg] ? Math.min(1, left / legs[leg]) : 0;
        const [a, b] = [points[leg], points[leg + 1]];
        return { x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share, far };
    });
}

export function makeProfile(viewer, plane, { changed }) {
    const line = L.polyline([], LINE);
    const dots = L.layerGroup();
    const marker = L.circleMarker([0, 0], { ...DOT, radius: 6, color: '#fff', fillColor: '#d4502a' });
    let active = false;
    let points = [];
    let samples = [];
    let measuring = null;         // the samples being measured
    let looked = -1;              // the sample under the pointer

    const length = () => samples.at(-1)?.far ?? 0;
    const known = () => samples.filter(({ height }) => height !== undefined);

    function draw() {
        const places = points.map(plane.toLatLng);
        line.setLatLngs(places);
        dots.clearLayers();
        for (const place of places)
            dots.addLayer(L.circleMarker(place, DOT));
        $('profile-chart').hidden = $('profile-facts').hidden = points.length < 2;
        $('profile-hint').hidden = points.length >= 2;
        $('profile-undo').disabled = !points.length;
    }

    /* Draw into a box of 100 by 100, with water below sea level. */
    function paint() {
        const heights = known().map(({ height }) => height);
        if (!heights.length)
            return;
        const [low, high] = [Math.min(...heights), Math.max(...heights)];
        const room = Math.max(high - low, 1e-3) * 0.12;
        const level = (height) => 100 * (high + room - height) / (high - low + 2 * room);
        const top = known().map(({ far, height }) => `${(100 * far / length()).toFixed(2)},${level(height).toFixed(2)}`);
        const [first, last] = [top[0].split(',')[0], top.at(-1).split(',')[0]];
        $('profile-land').setAttribute('d', `M${first},100L${top.join('L')}L${last},100Z`);
        $('profile-edge').setAttribute('d', `M${top.join('L')}`);
        const sea = Math.min(Math.max(level(0), 0), 100);
        $('profile-sea').setAttribute('y', sea);
        $('profile-sea').setAttribute('height', 100 - sea);
        $('profile-high').textContent = metres(high);
        $('profile-low').textContent = metres(low);
        $('profile-length').textContent = blocksText(length());
        $('profile-chart').setAttribute('aria-label', `Heights along ${blocksText(length())}, `
            + `from ${metres(low)} to ${metres(high)}: arrow keys move along the line`);
        $('profile-chart').dataset.samples = heights.length;
    }

    async function measure() {
        const { world } = viewer;
        const zoom = plane.map.getZoom();
        const mine = along(points, SAMPLES);
        samples = measuring = mine;
        looked = -1;
        point(-1);
        const queue = mine.values();
        const worker = async () => {
            for (const sample of queue) {
                if (measuring !== mine)
                    return;
                const { height } = await heightAt(world, snap(world, sample.x, zoom), snap(world, sample.y, zoom));
                sample.height = height;
                if (measuring === mine)
                    paint();
            }
        };
        try {
            await Promise.all(Array.from({ length: AT_ONCE }, worker));
        } catch (error) {
            if (measuring === mine)
                sayWhy(error);
        }
    }

    function add(place) {
        if (!withinLimit(viewer.world, [place.x, place.y]))
            return say(`The world ends at ±${grouped(String(viewer.world.limits.coordinate))} blocks.`, { ms: 6000 });
        const last = points.at(-1);
        if (last && distance(last, place) === 0)
            return;
        points.push(place);
        draw();
        if (points.length > 1)
            measure();
    }

    function undo() {
        points.pop();
        samples = [];
        measuring = null;
        point(-1);
        draw();
        if (points.length > 1)
            measure();
    }

    /* Mark sample N on the chart and the map; -1: none. */
    function point(n) {
        looked = n;
        const sample = samples[n];
        const seen = sample?.height !== undefined;
        $('profile-cursor').hidden = $('profile-value').hidden = !seen;
        if (!seen) {
            marker.remove();
            return;
        }
        const share = 100 * sample.far / length();
        $('profile-cursor').style.left = `${share}%`;
        $('profile-value').textContent = `${metres(sample.height, 1)} at ${blocksText(sample.far || 0)}`;
        $('profile-chart').setAttribute('aria-valuenow', n);
        $('profile-chart').setAttribute('aria-valuetext', $('profile-value').textContent);
        marker.setLatLng(plane.toLatLng(sample)).addTo(plane.map);
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
        samples = [];
        measuring = null;
        for (const part of [line, dots, marker])
            part.remove();
        plane.map.doubleClickZoom.enable();
        plane.map.getContainer().classList.remove('drawing');
        changed(false);
    }

    function onChartMove({ clientX }) {
        const { left, width } = $('profile-chart').getBoundingClientRect();
        point(Math.min(Math.max(Math.round((clientX - left) / width * (SAMPLES - 1)), 0), SAMPLES - 1));
    }

    function onChartKey(event) {
        const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -8, PageUp: 8, Home: -SAMPLES, End: SAMPLES };
        if (!(event.key in steps))
            return;
        event.preventDefault();
        point(Math.min(Math.max(looked + steps[event.key], 0), SAMPLES - 1));
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
    $('profile-close').addEventListener('click', end);
    $('profile-chart').addEventListener('pointermove', onChartMove);
    $('profile-chart').addEventListener('pointerdown', onChartMove);
    $('profile-chart').addEventListener('pointerleave', () => point(-1));
    $('profile-chart').addEventListener('keydown', onChartKey);
    document.addEventListener('keydown', ({ key }) => { if (key === 'Escape') end(); });

    return { end };
}
