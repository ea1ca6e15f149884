/* The page: connects views and panels, which do not depend on each other. */
import { $, RETRY, address, fieldOf, findLayer, getJson, getWorld, sceneHeightsOf, sleep, startPlace } from './world.js';
import { formatHash, hashIn, linkOf, parseHash } from './place.js';
import { labelOf, rootOf, showLayers, showSeed, typedSeed } from './menus.js';
import { copy } from './clipboard.js';
import { biomesIn } from './biomes.js';
import { makeContextMenu } from './context.js';
import { makeHeights } from './heights.js';
import { makeJourney } from './journey.js';
import { makeLegend } from './legend.js';
import { makePlane } from './plane.js';
import { makeProfile } from './profile.js';
import { makeReadout } from './readout.js';
import { expect, say, saysServer, sayWhy } from './status.js';
import { makeStretch } from './stretch.js';
import { parseTyped } from './typed.js';
import { makeCourse } from './water.js';
import { makeWorldMenu } from './worlds.js';

let catalogue = [];
let scene = null;                 // created when first entered
let awaiting = 0;                 // number of worlds requested, to detect a superseded one
let switching = 0;                // number of view switches, to detect a superseded one
let missing = null;               // the field layer in the address that the world does not have

const viewer = { world: null, layer: null, view: null };
const stretch = makeStretch(() => legend.show(viewer.world, viewer.layer));
const legend = makeLegend(stretch, (on) => {
    stretch.on = on;
    showLayer();
});
const readout = makeReadout(viewer, { read: legend.mark, renewed: renew });
const plane = makePlane($('plane'), { ...callbacks(() => plane), renewed: renew, stretch });
const heights = makeHeights((factor) => { scene.setHeights(factor); });
const profile = makeProfile(viewer, plane, {
    changed: (active) => document.body.classList.toggle('profiling', active),
});

const course = makeCourse(viewer, plane);
const menu = makeContextMenu(viewer, { link: () => linkNow(), course });

const journey = makeJourney(viewer, {
    go: (place) => goTo(place, 'fly'),
    goToWorld: async (name, placeIn) => Boolean(await enterWorld(name, placeIn)),
});

const worlds = makeWorldMenu({ choose: (name) => enterWorld(name, startPlace).catch(sayWhy) });

const inScene = () => scene !== null && viewer.view === scene;

/* A view's callbacks; ignored while the view is hidden. */
function callbacks(which) {
    return {
        moved: () => { if (viewer.view === which()) showMove(); },
        rested: () => {
            if (viewer.view !== which())
                return;
            rememberPlace();
            lookForBiomes();
        },
    };
}

function showMove() {
    const [least, most] = viewer.view.zoomRange();
    const { zoom, scene: camera } = viewer.view.place();
    $('zoom-in').disabled = zoom >= most;
    $('zoom-out').disabled = zoom <= least;
    legend.zoom(zoom);
    $('needle').style.rotate = `${-(camera?.bearing ?? 0)}deg`;
    readout.update();
    menu.close();
}

/* Let the legend list the biomes in view. */
async function lookForBiomes() {
    const { world, view } = viewer;
    if (!view || !legend.listsBiomes())
        return;
    const place = view.place();
    const found = await biomesIn(world, place, { width: innerWidth, height: innerHeight }).catch(() => []);      // tiles report a dead server
    const now = viewer.view.place();
    if (found.length && viewer.world === world && ['x', 'y', 'zoom'].every((key) => now[key] === place[key]))
        legend.showBiomes(found);
}

/* ---- The address bar ---- */

const layerName = () => missing ?? viewer.layer.name;
const hashNow = () => formatHash(viewer.world, layerName(), viewer.view.place());

let hashTimer = 0;
function rememberPlace() {
    clearTimeout(hashTimer);
    hashTimer = setTimeout(() => history.replaceState(null, '', hashNow()), 120);
}

/* Add a history entry, so that the back button returns here. */
function leavePlace() {
    clearTimeout(hashTimer);
    history.replaceState(null, '', hashNow());
    history.pushState(null, '', hashNow());
}

async function followHash() {
    if (!catalogue.length)
        return;
    const place = parseHash(location.hash);
    const name = place.name || catalogue[0].name;
    clearTimeout(hashTimer);
    if (viewer.world?.name === name) {
        stopAwaiting();
        return visit(viewer.world, place);
    }
    try {
        const world = await awaitWorld(name);
        if (world)
            await visit(world, place);
    } catch (error) {
        if (![400, 404].includes(error.status) || name === catalogue[0].name)
            throw error;              // 400: invalid seed
        await visit(await getWorld(catalogue[0].name), place);
        say(`No world “${name}”; showing “${viewer.world.name}”.`, { ms: 6000 });
    }
}

/* ---- Worlds and views ---- */

function stopAwaiting() {
    awaiting++;
    expect(null);
    if (saysServer() && !viewer.view?.ailing())
        say('');
}

/* The world NAME; null if another one was requested meanwhile. Retries while the server is unreachable or broken. */
async function awaitWorld(name) {
    stopAwaiting();
    const mine = awaiting;
    for (let delay = RETRY.first; mine === awaiting; delay = Math.min(delay * 2, RETRY.most)) {
        try {
            const world = await getWorld(name);
            if (mine !== awaiting)
                break;
            if (delay > RETRY.first)
                say('');
            expect(null);
            return world;
        } catch (error) {
            if (mine !== awaiting)
                break;
            if (error.status < 500)
                throw error;
            expect(name);
            sayWhy(error);
        }
        await sleep(delay);
    }
    return null;
}

/* While somebody edits a graph, a field may go and come back: the address bar keeps it, and the view shows it again. */
function noteMissing(world, layer, name) {
    const was = missing;
    missing = name !== layer.name && fieldOf({ name: name ?? '' }) !== null ? name : null;
    if (missing === was)
        return;
    say(missing ? `“${world.name}” has no field “${fieldOf({ name })}”; showing ${labelOf(layer)}.` : '', { ms: 15000 });
}

/* Show WORLD at PLACE, in the scene if the place has one. */
async function visit(world, place) {
    const layer = findLayer(world, place.layer);
    noteMissing(world, layer, place.layer);
    const was = viewer.world;
    const same = { world: world === was, layer: layer === viewer.layer };
    Object.assign(viewer, { world, layer });
    if (was?.name !== world.name)
        profile.end();
    if (was?.fingerprint !== world.fingerprint)
        course.end();
    document.title = `Farlands: ${world.name}`;
    worlds.show(catalogue, rootOf(world));
    showSeed(world);
    showLayers(world, layer);
    legend.show(world, layer);
    if (place.scene && sceneMissing()) {
        place = { ...place, scene: undefined };
        say(`${sceneMissing()}; showing two dimensions.`, { ms: 15000 });
    }
    if (!place.scene) {
        showPlane(place, same);
        if (was?.fingerprint !== world.fingerprint)
            profile.renew();
    } else if (inScene() && same.world && same.layer) {
        await scene.go(place);
    } else {
        await showScene(place);
    }
}

function renew(fresh) {
    visit(fresh, { ...viewer.view.place(), layer: layerName() }).catch(sayWhy);
}

function show(view) {
    viewer.view = view;
    const deep = view !== plane;
    document.body.classList.toggle('deep', deep);
    $('plane').inert = deep;
    $('scene').inert = !deep;
    $('mode').setAttribute('aria-pressed', String(deep));
    $('mode').setAttribute('aria-disabled', String(Boolean(sceneMissing())));
    $('mode').title = sceneMissing() ?? (deep ? 'Two dimensions (3)' : 'Three dimensions (3)');
    $('heights').hidden = $('north').hidden = !deep;
    $('profile-button').disabled = deep;
    showMove();
    rememberPlace();
    lookForBiomes();
}

function showPlane(place, same) {
    switching++;
    $('mode').removeAttribute('aria-busy');
    if (same.world && viewer.view === plane) {
        plane.go(place);
        if (!same.layer)
            plane.showLayer(viewer.layer);
    } else {
        plane.enter(viewer.world, viewer.layer, place);
    }
    show(plane);
    scene?.clear();
}

async function showScene(place) {
    const mine = ++switching;
    const { world, layer } = viewer;
    if (!viewer.view) {           // shown meanwhile, and the view to return to
        plane.enter(world, layer, place);
        show(plane);
    }
    $('mode').setAttribute('aria-busy', 'true');
    try {
        const { makeScene } = await import('./scene.js');
        scene ??= makeScene($('scene'), {
            ...callbacks(() => scene),
            heightsChanged: heights.show,
            stretch,
        });
        profile.end();
        const reached = mine === switching && await scene.enter(world, layer, place);
        if (!reached || mine !== switching)
            return;
        const focused = $('plane').contains(document.activeElement);
        show(scene);
        if (focused)
            scene.focus();
        if (place.scene.pitch === undefined)
            scene.tilt();
    } catch (error) {
        if (mine === switching)
            say(`Three dimensions are unavailable: ${error.message}.`);
    } finally {
        if (mine === switching)
            $('mode').removeAttribute('aria-busy');
    }
}

/* From above, at a whole zoom, both views look the same, so the switch is invisible. */
async function flattenScene() {
    const mine = ++switching;
    const { world, layer } = viewer;
    await scene.flatten();
    if (mine !== switching)
        return;
    plane.enter(world, layer, scene.place());
    await plane.painted();
    if (mine !== switching)
        return;
    const focused = $('scene').contains(document.activeElement);
    show(plane);
    if (focused)
        plane.focus();
    scene.clear();
}

function toggleMode() {
    if (sceneMissing())
        return say(`${sceneMissing()}.`, { ms: 6000 });
    if (!viewer.view || $('mode').hasAttribute('aria-busy'))
        return;
    leavePlace();
    if (inScene())
        flattenScene().catch(sayWhy);
    else
        showScene({ ...plane.place(), scene: {} });
}

const webgl = Boolean(document.createElement('canvas').getContext('webgl2'));

function sceneMissing() {
    if (!webgl)
        return 'Three dimensions need WebGL 2, which this browser does not offer';
    if (viewer.world && !sceneHeightsOf(viewer.world))
        return 'Three dimensions need the layer terrarium or terrain-rgb, which this world does not serve';
    return null;
}

/* The worlds in a watched configuration have changed. */
async function refresh() {
    catalogue = (await getJson('worlds.json')).worlds;
    const { world } = viewer;
    const root = catalogue.find(({ name }) => name === rootOf(world)) ?? catalogue[0];
    const fresh = await getWorld(root.name === rootOf(world) && root.seeds === 'any' ? world.name : root.name);
    while (!inScene() && $('mode').hasAttribute('aria-busy'))      // on the way into the scene
        await sleep(50);
    if (viewer.world !== world)
        return;
    worlds.show(catalogue, rootOf(world));
    if (JSON.stringify(fresh) !== JSON.stringify(world))
        renew(fresh);
}

/* ---- Controls ---- */

/* Show the world NAME at the place that PLACEIN returns for it, or at the present place; null if another world was
 * requested meanwhile. */
async function enterWorld(name, placeIn = () => ({})) {
    const next = await awaitWorld(name);
    if (!next)
        return null;
    leavePlace();
    await visit(next, { ...viewer.view.place(), ...placeIn(next), layer: layerName() });
    return next;
}

function changeSeed(event) {
    event.preventDefault();
    const seed = typedSeed();
    if (seed === null)
        return say('Enter a seed: a number, or any other text.');
    say('');
    enterWorld(`${rootOf(viewer.world)}:${seed}`).catch(sayWhy);
}

function showLayer() {
    legend.show(viewer.world, viewer.layer);
    lookForBiomes();
    readout.update();
    Promise.resolve(viewer.view.showLayer(viewer.layer)).catch(sayWhy);
}

function changeLayer({ target }) {
    const { world } = viewer;
    leavePlace();
    missing = null;
    viewer.layer = findLayer(world, target.value);
    showLayers(world, viewer.layer);
    showLayer();
    const checked = $('layers').querySelector('input:checked') ?? $('more');
    checked.focus({ preventScroll: true });
    rememberPlace();
}

/* HOW names a view's function: go, or fly. */
function goTo(place, how = 'go') {
    leavePlace();
    Promise.resolve(viewer.view[how](place)).catch(sayWhy);
    readout.center();
    rememberPlace();
}

function goToTyped(event) {
    event.preventDefault();
    const { x, y, hash, why } = parseTyped($('place').value, viewer.world, document.baseURI);
    $('place').setAttribute('aria-invalid', String(Boolean(why)));
    say(why ?? '');
    if (hash)
        goToHash(hash);
    else if (!why)
        goTo({ x, y, zoom: viewer.view.place().zoom });
}

function goToHash(hash) {
    leavePlace();
    history.replaceState(null, '', hash);
    followHash().catch(sayWhy);
}

const linkNow = () => address(linkOf(hashNow()));

async function copyLink() {
    clearTimeout(hashTimer);
    history.replaceState(null, '', hashNow());
    try {
        await copy(linkNow());
        $('link').classList.add('done');
        setTimeout(() => $('link').classList.remove('done'), 2000);
        say('Link copied', { ms: 2000, calm: true });
    } catch {
        say('The browser denied access to the clipboard; the link is in the address bar.', { ms: 6000 });
    }
}

function onKey(event) {
    const { key, target, ctrlKey, altKey, metaKey } = event;
    if (ctrlKey || altKey || metaKey || target.closest('input, select, textarea'))
        return;
    if (key === '3')
        toggleMode();
    else if (key === 't' && viewer.view)
        journey.open();
    else if (key === 'p' && !$('profile-button').disabled)
        $('profile-button').click();
}

function listen() {
    readout.follow($('plane'));
    readout.follow($('scene'));
    const click = (id, run) => $(id).addEventListener('click', () => { if (viewer.view) run(); });
    click('zoom-in', () => viewer.view.zoomBy(1));
    click('zoom-out', () => viewer.view.zoomBy(-1));
    click('home', () => goTo(startPlace(viewer.world)));
    click('mode', toggleMode);
    click('north', () => scene.north());
    click('link', copyLink);
    $('goto').addEventListener('submit', goToTyped);
    $('place').addEventListener('input', () => { $('place').removeAttribute('aria-invalid'); say(''); });
    $('layers').addEventListener('change', changeLayer);
    $('seed-form').addEventListener('submit', changeSeed);
    $('seed-input').addEventListener('input', () => { $('seed-input').removeAttribute('aria-invalid'); say(''); });
    document.addEventListener('keydown', onKey);
    addEventListener('hashchange', () => followHash().catch(sayWhy));
    $('legend').addEventListener('toggle', lookForBiomes);
    $('legend').open = innerWidth > 620 && innerHeight > 520;
}

async function start() {
    if (new URL(location).searchParams.has('place'))
        history.replaceState(null, '', location.pathname + hashIn(new URL(location)));
    for (let delay = RETRY.first; ; delay = Math.min(delay * 2, RETRY.most)) {
        try {
            const { worlds: all, changes } = await getJson('worlds.json');
            catalogue = all;
            await followHash();
            if (changes)
                import('./changes.js').then(({ follow }) => follow(changes, refresh)).catch(sayWhy);
            break;
        } catch (error) {
            sayWhy(error);
            await sleep(delay);
        }
    }
    if (viewer.view && !viewer.view.ailing() && saysServer())
        say('');
}

listen();
start();
