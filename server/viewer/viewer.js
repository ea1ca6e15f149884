/* The map page: an endless plane of tiles, with the block under the cursor read out. */
/* global L */

const START_CELL = 1024;          // px, the side of the broadest octave's cell in the first view
const START_LAYER = 'relief';
const PROBE_PAUSE = 60;           // ms between two height requests
const REQUEST_TIMEOUT = 10000;
const RETRY = { first: 1500, most: 30000 };
const SCALE_WIDTH = 120;          // px, the longest scale bar
const EXACT = 2 ** 53;            // a double holds every whole number below this
const LABELS = { gray: 'Gray', 'terrain-rgb': 'Terrain-RGB' };

const $ = (id) => document.getElementById(id);
const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/* y grows south like the tile rows do; one unit is 2^native_zoom blocks. */
const crs = L.extend({}, L.CRS.Simple, { transformation: new L.Transformation(1, 0, 1, 0) });

const map = L.map('map', {
    crs,
    zoomControl: false,
    attributionControl: false,
    fadeAnimation: !calm,
    zoomAnimation: !calm,
    inertia: !calm,
    wheelPxPerZoomLevel: 120,     // a notch is a zoom
});

let catalogue = [];
let world = null;
let layer = null;
let terrain = null;
const probe = { point: null, wanted: null, shown: null, busy: false, ailing: false };

/* ---- Numbers ---- */

/* Plain decimals on the lattice of 1/1024 block: no exponent, no "-0". */
function plain(blocks) {
    const fixed = (Math.round(blocks * 1024) / 1024).toFixed(10).replace(/\.?0+$/, '');
    return fixed === '-0' ? '0' : fixed;
}

function grouped(decimal) {
    const [whole, fraction] = decimal.replace('-', '\u2212').split('.');
    const groups = whole.replace(/\B(?=(\d{3})+$)/g, '\u202f');
    return fraction ? `${groups}.${fraction}` : groups;
}

function parseBlocks(text) {
    const decimal = text.replace(/\u2212/g, '-').replace(/\u202f/g, '');
    return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(decimal) ? Number(decimal) : NaN;
}

const step = (zoom, { native_zoom: native } = world) => 2 ** (native - zoom);
/* Where a world is met first: a few of its broadest features fill the view. */
function startPlace({ native_zoom: native, noise, limits }) {
    const zoom = Math.round(native + Math.log2(START_CELL / noise.wavelength));
    return { zoom: clamp(zoom, limits.zoom[0], limits.zoom[1]), x: 0, y: 0 };
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const withinLimit = ({ limits }, blocks) => blocks.every((b) => Math.abs(b) <= limits.coordinate);

/* As exact as a pixel is: whole blocks, or the fraction of a block that a pixel shows. */
function snap(blocks, zoom) {
    const grain = Math.min(1, step(zoom));
    return plain(Math.round(blocks / grain) * grain);
}

function toBlocks(latlng) {
    const unit = 2 ** world.native_zoom;
    return { x: world.origin[0] + latlng.lng * unit, y: world.origin[1] + latlng.lat * unit };
}

function toLatLng({ x, y }) {
    const unit = 2 ** world.native_zoom;
    return L.latLng((y - world.origin[1]) / unit, (x - world.origin[0]) / unit);
}

/* Leaflet counts pixels in doubles, so far out the deepest zooms would tear: stop before. */
function deepestZoom({ x, y }) {
    const reach = Math.max(Math.abs(x - world.origin[0]), Math.abs(y - world.origin[1]), 1);
    const exact = Math.floor(Math.log2(EXACT / reach) + world.native_zoom - 1e-6);
    return clamp(exact, world.limits.zoom[0], world.limits.zoom[1]);
}

/* ---- Requests ---- */

/* "./" keeps a world called name:seed from being read as a URL scheme. */
const address = (path) => new URL(`./${path}`, document.baseURI).href;

async function getJson(path) {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), REQUEST_TIMEOUT);
    try {
        const response = await fetch(address(path), { signal: stop.signal });
        const body = await response.json();
        if (!response.ok)
            throw Object.assign(new Error(body.error), { status: response.status });
        body.fingerprint ??= response.headers.get('Farlands-Fingerprint');
        return body;
    } finally {
        clearTimeout(timer);
    }
}

function say(message) {
    if ($('status').textContent !== message)
        $('status').textContent = message;
    $('status').hidden = !message;
}

function sayWhy(error) {
    say(error.status ? `The server answers: ${error.message}` : 'Server unreachable, retrying…');
}

/* ---- Tiles ---- */

const Terrain = L.TileLayer.extend({
    getTileUrl({ x, y, z }) {
        const { world, layer } = this.options;
        const dense = window.devicePixelRatio > 1 && z <= world.limits.zoom_2x[1];
        const path = layer.tiles.replace('{z}', z).replace('{x}', x).replace('{y}', y);
        return address(dense ? path.replace('.png', '@2x.png') : path);
    },

    /* The server has nothing beyond the coordinate limit: leave such squares to the sea. */
    createTile(coords, done) {
        const { world } = this.options;
        const side = world.tile_size * step(coords.z, world);
        const edge = (axis, index) => world.origin[axis] + index * side;
        if (withinLimit(world, [edge(0, coords.x), edge(0, coords.x + 1), edge(1, coords.y), edge(1, coords.y + 1)]))
            return L.TileLayer.prototype.createTile.call(this, coords, keepTrying(done));
        const blank = document.createElement('div');
        L.Util.requestAnimFrame(() => done(null, blank));
        return blank;
    },
});

const failed = new Set();
let retryDelay = RETRY.first;
let retryTimer = 0;

/* The old tiles stay underneath until the new ones cover them. */
function showLayer(chosen) {
    const old = terrain;
    layer = chosen;
    terrain = new Terrain('', {
        world,
        layer,
        tileSize: world.tile_size,
        minZoom: world.limits.zoom[0],
        maxZoom: world.limits.zoom[1],
        keepBuffer: 2,
        updateWhenZooming: false,
    });
    terrain.on('tileload tileunload tileabort', ({ tile }) => settle(tile));
    terrain.addTo(map);
    if (old) {
        const remove = () => old.remove();
        terrain.once('load', () => setTimeout(remove, 250));
        setTimeout(remove, 2500);
    }
    for (const button of $('layers').querySelectorAll('input')) {
        button.checked = button.value === chosen.name;
        if (button.checked)
            button.parentElement.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }
    rememberPlace();
}

/* A tile that failed counts as still loading, so that Leaflet keeps its coarser parent in view. */
function keepTrying(done) {
    return (error, tile) => (error ? retryLater(tile) : done(null, tile));
}

function retryLater(tile) {
    failed.add(tile);
    if (!retryTimer)
        retryTimer = setTimeout(retry, retryDelay);
}

function settle(tile) {
    if (failed.delete(tile) && !failed.size) {
        retryDelay = RETRY.first;
        say('');
    }
}

/* Ask for the world first: it tells a server that is gone from one that is busy or changed. */
async function retry() {
    const { name, fingerprint } = world;
    try {
        const fresh = await getJson(`${name}.json`);
        if (world.name === name && fresh.fingerprint !== fingerprint)
            enterWorld(fresh, placeNow());
        if (failed.size)
            say('Some tiles did not arrive, retrying…');
        for (const tile of failed)
            tile.setAttribute('src', tile.getAttribute('src'));
    } catch (error) {
        sayWhy(error);
    }
    retryDelay = Math.min(retryDelay * 2, RETRY.most);
    retryTimer = failed.size ? setTimeout(retry, retryDelay) : 0;
}

/* ---- Worlds and places ---- */

function placeNow() {
    return { ...toBlocks(map.getCenter()), zoom: map.getZoom(), layer: layer.name };
}

function enterWorld(next, place) {
    world = next;
    if (terrain)
        terrain.remove();
    terrain = null;
    failed.clear();
    probe.shown = null;
    map.setMinZoom(world.limits.zoom[0]);
    document.title = `Farlands: ${world.name}`;
    $('seed').textContent = `seed ${world.seed}`;
    showWorldNames();
    showLayerButtons();
    go(place);
    showLayer(findLayer(place.layer));
}

function go(wanted) {
    const place = { ...startPlace(world), ...wanted };
    const most = world.limits.coordinate;
    const at = { x: clamp(place.x, -most, most), y: clamp(place.y, -most, most) };
    const deepest = deepestZoom(at);
    if (deepest > map.getMaxZoom())
        map.setMaxZoom(deepest);
    /* reset: exactly there; a pan would stop at a whole pixel. */
    map.setView(toLatLng(at), clamp(Math.round(place.zoom), world.limits.zoom[0], deepest), { reset: true });
}

const pictures = () => world.layers.filter(({ extensions }) => extensions.includes('png'));

function findLayer(name) {
    const named = (wanted) => pictures().find((candidate) => candidate.name === wanted);
    return named(name) || named(START_LAYER) || pictures()[0];
}

function showWorldNames() {
    const names = catalogue.map(({ name }) => name);
    if (!names.includes(world.name))
        names.push(world.name);
    $('world').replaceChildren(...names.map((name) => new Option(name, name, false, name === world.name)));
    $('world').hidden = names.length < 2;
    $('world-name').hidden = names.length > 1;
    $('world-name').textContent = world.name;
}

function showLayerButtons() {
    const buttons = pictures().map(({ name }) => {
        const label = document.createElement('label');
        const input = Object.assign(document.createElement('input'), { type: 'radio', name: 'layer', value: name });
        const text = document.createElement('span');
        text.textContent = LABELS[name] || name[0].toUpperCase() + name.slice(1);
        label.append(input, text);
        return label;
    });
    $('layers').replaceChildren($('layers').querySelector('legend'), ...buttons);
    $('layers').hidden = false;
}

/* #world/layer/zoom/x/y, in blocks. */
function hashNow() {
    const { x, y, zoom } = placeNow();
    return `#${world.name}/${layer.name}/${zoom}/${snap(x, zoom)}/${snap(y, zoom)}`;
}

function readHash() {
    const [name, layerName, ...rest] = location.hash.slice(1).split('/');
    const [zoom, x, y] = rest.map(parseBlocks);
    const known = /^\w[\w.-]*(:\d{1,20})?$/.test(name) ? name : null;
    const whole = rest.length === 3 && [zoom, x, y].every(Number.isFinite);
    return { name: known, layer: layerName, ...(whole ? { zoom, x, y } : {}) };
}

let hashTimer = 0;
function rememberPlace() {
    clearTimeout(hashTimer);
    hashTimer = setTimeout(() => history.replaceState(null, '', hashNow()), 120);
}

/* The next move gets an entry of its own in the history: the back button returns here. */
function leavePlace() {
    clearTimeout(hashTimer);
    history.replaceState(null, '', hashNow());
    history.pushState(null, '', hashNow());
}

async function followHash() {
    if (!catalogue.length)
        return;
    const place = readHash();
    const name = place.name || catalogue[0].name;
    clearTimeout(hashTimer);
    if (world && world.name === name) {
        go(place);
        if (layer.name !== findLayer(place.layer).name)
            showLayer(findLayer(place.layer));
        return;
    }
    try {
        enterWorld(await getJson(`${name}.json`), place);
    } catch (error) {
        if (error.status !== 404 || name === catalogue[0].name)
            throw error;
        enterWorld(await getJson(catalogue[0].url), place);
        say(`There is no world “${name}” here; this is “${world.name}”.`);
        setTimeout(say, 6000, '');
    }
}

/* ---- Read-out ---- */

function show(id, value, text) {
    $(id).value = value;
    $(id).textContent = text;
}

/* Without a mouse, the block at the map's centre is read. */
function readOut() {
    if (!world)
        return;
    const zoom = map.getZoom();
    const latlng = probe.point ? map.containerPointToLatLng(probe.point) : map.getCenter();
    const { x, y } = toBlocks(latlng);
    const at = [x, y].map((blocks) => snap(blocks, Math.round(zoom)));
    $('crosshair').hidden = probe.point !== null;
    $('readout').setAttribute('aria-label', probe.point ? 'Under the cursor' : 'At the centre');
    show('zoom', String(zoom), grouped(String(Math.round(zoom * 10) / 10)));
    show('x', at[0], grouped(at[0]));
    show('y', at[1], grouped(at[1]));
    showScale(zoom);
    if (!withinLimit(world, at.map(Number))) {
        probe.wanted = null;
        show('height', '', 'no land');
        delete $('height').dataset.stale;
        return;
    }
    const path = `${world.name}/height?x=${at[0]}&y=${at[1]}`;
    const digits = step(zoom) < 1 ? 3 : 1;
    if (path === probe.shown && digits === probe.digits)
        return;
    probe.shown = null;
    probe.digits = digits;
    probe.wanted = { path, digits };
    $('height').dataset.stale = '';
    askHeights();
}

/* One request in flight; whatever the cursor passed meanwhile is never asked. */
async function askHeights() {
    if (probe.busy)
        return;
    probe.busy = true;
    while (probe.wanted) {
        const { path, digits } = probe.wanted;
        probe.wanted = null;
        try {
            const { height, fingerprint } = await getJson(path);
            if (fingerprint !== world.fingerprint && path.startsWith(`${world.name}/`))
                enterWorld(await getJson(`${world.name}.json`), placeNow());
            show('height', String(height), `${grouped(height.toFixed(digits))} m`);
            if (!probe.wanted) {
                probe.shown = path;
                delete $('height').dataset.stale;
            }
            if (probe.ailing && !failed.size)
                say('');
            probe.ailing = false;
        } catch (error) {
            show('height', '', '–');
            probe.ailing = true;
            sayWhy(error);
            setTimeout(readOut, 2 * RETRY.first);
        }
        await sleep(PROBE_PAUSE);
    }
    probe.busy = false;
}

function showScale(zoom) {
    const longest = SCALE_WIDTH * step(zoom);
    const power = 10 ** Math.floor(Math.log10(longest));
    const round = [5, 2, 1].find((digit) => digit * power <= longest) * power;
    const order = clamp(Math.floor(Math.log10(round * 1.0001) / 3), 0, 5);
    const count = Number((round / 1000 ** order).toPrecision(1));
    $('scale-bar').style.width = `${round / step(zoom)}px`;
    const prefix = order ? `\u202f${'kMGTP'[order - 1]}` : '';
    $('scale-label').textContent = `${count}${prefix} ${count === 1 && !order ? 'block' : 'blocks'}`;
}

/* ---- Controls ---- */

function onMoveEnd() {
    const deepest = deepestZoom(toBlocks(map.getCenter()));
    if (deepest !== map.getMaxZoom())
        map.setMaxZoom(deepest);
    if (terrain)
        rememberPlace();
}

function showZoomLimits() {
    $('zoom-in').disabled = map.getZoom() >= map.getMaxZoom();
    $('zoom-out').disabled = map.getZoom() <= map.getMinZoom();
}

function goToTyped(event) {
    event.preventDefault();
    const [x, y, ...rest] = $('place').value.trim().split(/[\s,;]+/).map(parseBlocks);
    const valid = Number.isFinite(x) && Number.isFinite(y) && !rest.length && withinLimit(world, [x, y]);
    $('place').setAttribute('aria-invalid', String(!valid));
    if (!valid)
        return say(`Enter block coordinates as x, y, each within ±${grouped(plain(world.limits.coordinate))}.`);
    say('');
    probe.point = null;
    leavePlace();
    go({ x, y, zoom: map.getZoom() });
    readOut();
}

function listen() {
    const pane = map.getContainer();
    pane.addEventListener('pointermove', (event) => {
        if (event.pointerType === 'touch')
            return;
        probe.point = map.mouseEventToContainerPoint(event);
        readOut();
    });
    pane.addEventListener('pointerdown', (event) => {
        if (event.pointerType === 'touch')
            probe.point = null;
    });
    pane.addEventListener('keydown', () => { probe.point = null; });
    map.on('move zoom moveend resize', readOut);
    map.on('moveend', onMoveEnd);
    map.on('zoomend zoomlevelschange', showZoomLimits);
    $('zoom-in').addEventListener('click', () => map.zoomIn());
    $('zoom-out').addEventListener('click', () => map.zoomOut());
    $('home').addEventListener('click', () => { leavePlace(); go(startPlace(world)); });
    $('goto').addEventListener('submit', goToTyped);
    $('place').addEventListener('input', () => { $('place').removeAttribute('aria-invalid'); say(''); });
    $('layers').addEventListener('change', ({ target }) => { leavePlace(); showLayer(findLayer(target.value)); });
    $('world').addEventListener('change', changeWorld);
    addEventListener('hashchange', () => followHash().catch(sayWhy));
}

async function changeWorld() {
    const place = placeNow();
    try {
        const next = await getJson(`${$('world').value}.json`);
        place.zoom += next.native_zoom - world.native_zoom;
        leavePlace();
        enterWorld(next, place);
    } catch (error) {
        $('world').value = world.name;
        sayWhy(error);
    }
}

async function start() {
    for (let delay = RETRY.first; ; delay = Math.min(delay * 2, RETRY.most)) {
        try {
            catalogue = (await getJson('worlds.json')).worlds;
            await followHash();
            break;
        } catch (error) {
            sayWhy(error);
            await sleep(delay);
        }
    }
    if (!failed.size && $('status').textContent.startsWith('Server'))
        say('');
}

listen();
start();
