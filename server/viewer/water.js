/* Water in a world with rivers: as text, and where it flows. */
/* global L */
import { blocksText, getJson, metres, quantity } from './world.js';
import { say, sayWhy } from './status.js';

const LINE = { color: '#fff', weight: 2.5, opacity: 1, className: 'profile-line', interactive: false };

/* True if WORLD may have water. */
export const hasWater = ({ fields }) => Boolean(fields?.water?.water && fields.river?.river && fields.bank?.bank);

const deep = (depth, digits) => `${metres(depth, digits)} deep`;

/* The water at a place, from /height, as text; null on land. WATER may be null. */
export function waterText(water) {
    if (!water?.kind)
        return null;
    const { water: level, depth, river: order, width, kind } = water;
    if (kind === 'river')
        return `River, ${metres(width, width < 10 ? 1 : 0)} wide, ${deep(depth, 1)}, of order ${quantity(order, 0)}, at ${metres(level)}`;
    return kind === 'lake' ? `Lake at ${metres(level)}, ${deep(depth)}` : `Sea, ${deep(depth)}`;
}

const lengthOf = (places) => places.reduce((sum, { x, y }, i) => sum + (i && Math.hypot(x - places[i - 1].x, y - places[i - 1].y)), 0);

/* The water's way from a place, as a line on PLANE. `viewer` has the current world and view. */
export function makeCourse(viewer, plane) {
    const line = L.polyline([], LINE);
    let asked = 0;

    function end() {
        asked++;
        line.remove();
    }

    /* Follow the water from (X, Y), exact decimals as text. */
    async function follow(x, y) {
        end();
        const mine = asked;
        const { world } = viewer;
        const places = [{ x: Number(x), y: Number(y) }];
        line.setLatLngs([]).addTo(plane.map);
        try {
            for (let part = `downstream?x=${x}&y=${y}&limit=4000`; part;) {
                const { geometry: { coordinates }, properties } = await getJson(`${world.name}/${part}`);
                if (asked !== mine)
                    return;
                places.push(...coordinates.map(([east, south]) => ({ x: east, y: south })));
                line.setLatLngs(places.map(plane.toLatLng));
                part = properties.next;
                const goal = properties.end === 'sea' ? 'the sea' : 'a lake without an outlet';
                if (!part)
                    say(`${blocksText(lengthOf(places))} to ${goal}.`, { ms: 6000, calm: true });
            }
        } catch (error) {
            if (asked === mine)
                sayWhy(error);
        }
    }

    document.addEventListener('keydown', ({ key }) => { if (key === 'Escape') end(); });

    /* True if there may be water to follow, and the view can draw its way. */
    return { follow, end, offered: () => hasWater(viewer.world) && viewer.view === plane };
}
