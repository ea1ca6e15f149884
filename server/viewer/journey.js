/* The menu "Take me somewhere": finds a place, goes there, and says in words what it is. */
import { $, clamp, getRegion, grouped, metres, quantity, startPlace } from './world.js';
import { biomesOf } from './biomes.js';
import { REACH, findBiome, findCoast, findPeak, randomPlace } from './explore.js';
import { valuesAt } from './ground.js';
import { makePopup } from './popup.js';
import { randomSeed } from './seed.js';
import { say, sayWhy } from './status.js';

const SHOWN = 20000;              // ms that a message stays
const SPAN = { coast: 12288, peak: 6144 };       // blocks that the window shows around a place
const PATCH = 6;                  // the same for a biome, in widths of its patch
const ZOOMS = [-7, -6, -5, -4, -3, -2];          // for random places in turn, from the native zoom: 9 to 14

const WINDS = ['east', 'south-east', 'south', 'south-west', 'west', 'north-west', 'north', 'north-east'];

/* Distance and direction from A to B: "34 km north-east". y grows south. */
export function wayTo(a, b) {
    const [dx, dy] = [b.x - a.x, b.y - a.y];
    const far = Math.hypot(dx, dy);
    if (far < 1)
        return 'here';
    const length = far < 1000 ? metres(far) : quantity(far / 1000, far < 9950 ? 1 : 0, 'km');
    return `${length} ${WINDS[(Math.round(4 * Math.atan2(dy, dx) / Math.PI) + 8) % 8]}`;
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);
const kilometres = (blocks) => quantity(blocks / 1000, 0, 'km');

/* The whole zoom at which the window shows at least about SPAN blocks. */
function zoomFor(world, span) {
    const zoom = Math.round(world.native_zoom - Math.log2(span / Math.min(innerWidth, innerHeight)));
    return clamp(zoom, world.native_zoom + ZOOMS[0], world.native_zoom + ZOOMS.at(-1));
}

/* `viewer` has the current world and view; `go` shows a place; `goToWorld` shows a world by name, at its first view. */
export function makeJourney(viewer, { go, goToWorld }) {
    const popup = makePopup($('journey'), { closed: () => $('journey-button').focus({ preventScroll: true }) });
    let trips = 0;                // to detect a superseded search
    let randoms = 0;
    let seen = { of: null };      // what was shown in a world, and is not shown again

    function seenIn(world) {
        if (seen.of !== world.fingerprint)
            seen = { of: world.fingerprint, coast: [], peak: [], biome: new Set() };
        return seen;
    }

    /* A function of a place: true if no shown place of KIND is near. */
    const isNew = (world, kind) => (place) =>
        seenIn(world)[kind].every(({ x, y }) => Math.hypot(place.x - x, place.y - y) > SPAN[kind] / 2);

    const heightsIn = (world) => (box) => getRegion(world, box);

    async function coast(world, from) {
        const found = await findCoast(heightsIn(world), from, isNew(world, 'coast'));
        if (!found)
            return { why: `No coast within ${kilometres(REACH.coast)}.` };
        seenIn(world).coast.push(found);
        return { ...found, zoom: zoomFor(world, SPAN.coast), words: `Coast, ${wayTo(from, found)}` };
    }

    async function peak(world, from) {
        const found = await findPeak(heightsIn(world), from, isNew(world, 'peak'));
        if (!found)
            return { why: `No land within ${kilometres(REACH.peak)}.` };
        seenIn(world).peak.push(found);
        const what = found.hill ? 'Hill' : 'Peak';
        return { ...found, zoom: zoomFor(world, Math.max(SPAN.peak, found.wide)), words: `${what}, ${metres(found.height)}, ${wayTo(from, found)}` };
    }

    /* Once all biomes within reach have been shown, they count as new again. */
    async function biome(world, from) {
        const { biome: known } = seenIn(world);
        const find = () => findBiome((box) => getRegion(world, box, 'biome'), from, (id) => !known.has(id));
        let found = await find();
        if (!found && known.size) {
            known.clear();
            found = await find();
        }
        if (!found)
            return { why: `No other biome within ${kilometres(REACH.biome)}.` };
        known.add(found.id);
        const row = biomesOf(world).find(({ id }) => id === found.id);
        return { ...found, zoom: zoomFor(world, PATCH * found.wide), words: `${capital(row?.name ?? `Biome ${found.id}`)}, ${wayTo(from, found)}` };
    }

    async function random(world, from) {
        const zoom = world.native_zoom + ZOOMS[randoms++ % ZOOMS.length];
        const span = 2 ** (world.native_zoom - zoom) * Math.min(innerWidth, innerHeight);
        const found = await randomPlace((places) => valuesAt(world, places), span);
        return { ...found, zoom, words: `A random place, ${wayTo(from, found)}` };
    }

    /* PLACE, or the nearest place around which every box lies inside the world. */
    function searchable({ limits: { coordinate } }, { x, y }) {
        const most = Math.max(coordinate - 2 * Math.max(...Object.values(REACH)), 0);
        return { x: clamp(x, -most, most), y: clamp(y, -most, most) };
    }

    const FINDERS = { coast, peak, biome, random };

    async function search(kind) {
        const { world, view } = viewer;
        const found = await FINDERS[kind](world, searchable(world, view.place()));
        if (viewer.world !== world)
            return;
        if (found.why)
            say(found.why, { ms: SHOWN });
        else {
            go({ x: found.x, y: found.y, zoom: found.zoom });
            say(`${found.words}.`, { ms: SHOWN, calm: true });
        }
    }

    async function seed() {
        const { world } = viewer;
        const number = randomSeed();
        if (await goToWorld(`${world.name.split(':')[0]}:${number}`, startPlace))
            say(`Seed ${grouped(number)}.`, { ms: SHOWN, calm: true });
    }

    /* While a search runs, `aria-busy` is set; a later search supersedes an earlier one. */
    async function travel(kind) {
        const mine = ++trips;
        $('journey-button').setAttribute('aria-busy', 'true');
        try {
            await (kind === 'seed' ? seed() : search(kind));
        } catch (error) {
            sayWhy(error);
        }
        if (mine === trips)
            $('journey-button').removeAttribute('aria-busy');
    }

    function open() {
        const { world } = viewer;
        $('journey-biome').hidden = !biomesOf(world);
        $('journey-seed').hidden = world.seeds !== 'any';
        const { left, top } = $('journey-button').getBoundingClientRect();
        popup.open({ x: left, y: top });
    }

    for (const item of $('journey').querySelectorAll('[role=menuitem]'))
        item.addEventListener('click', () => travel(item.dataset.to));
    $('journey-button').addEventListener('click', ({ detail }) => {
        if (viewer.view && !(detail && popup.dismissed()))      // a press on the button closes the menu, too
            open();
    });

    return { open };
}
