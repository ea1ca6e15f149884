/* The world in three dimensions, in MapLibre: pictures draped over heights. anchor.js says where. */
/* global maplibregl */
import { RETRY, address, clamp, deepestZoom, findLayer, getHeight, heightsOf, reachable, sleep, snap, tileAddress, tileExists } from './world.js';
import { COARSEST, anchorAt, cameraZoom, serves, toBlocks, toLngLat, trueHeights, worldTile, worldZoom } from './anchor.js';
import { suitable } from './heights.js';
import { saysServer, say, sayWhy } from './status.js';

const PROTOCOL = 'farlands';
const PITCH = { first: 65, most: 75 };
const PAINTED = 5000;             // ms, the longest wait for a stage's tiles
const TURN = 900;                 // ms, to tilt or to flatten
const FINEST = 22;                // MapLibre's last tile zoom that is sharp
const dark = matchMedia('(prefers-color-scheme: dark)');

const SKIES = {
    light: { 'sky-color': '#6ba4d8', 'horizon-color': '#dbe8f2', 'fog-color': '#dbe8f2' },
    dark: { 'sky-color': '#0d1b30', 'horizon-color': '#3a5270', 'fog-color': '#31465f' },
};

const sky = () => ({ ...SKIES[dark.matches ? 'dark' : 'light'], 'sky-horizon-blend': 0.6, 'horizon-fog-blend': 0.7,
    'fog-ground-blend': 0.75 });

/* ---- The library ---- */

let library = null;

function load() {
    library ??= new Promise((resolve, reject) => {
        const css = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: address('viewer/maplibre-gl.css') });
        const script = Object.assign(document.createElement('script'), { src: address('viewer/maplibre-gl-csp.js') });
        script.onload = () => {
            maplibregl.setWorkerUrl(address('viewer/maplibre-gl-csp-worker.js'));
            maplibregl.addProtocol(PROTOCOL, answer);
            resolve();
        };
        script.onerror = () => {
            library = null;
            reject(new Error('three dimensions did not load'));
        };
        document.head.prepend(css);      // before the page's own style, which has the last word
        document.head.append(script);
    });
    return library;
}

/* Whether the CPU draws, as it does on many a virtual machine: it had better draw less. */
function drawnInSoftware() {
    const gl = document.createElement('canvas').getContext('webgl2');
    const names = gl.getExtension('WEBGL_debug_renderer_info');
    const name = gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
    gl.getExtension('WEBGL_lose_context')?.loseContext();
    return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

/* ---- Tiles ---- */

const stages = new Map();         // by number, for the protocol is one for all of them
let lastStage = 0;

/* farlands://stage/layer/z/x/y, MapLibre's own z, x and y. */
async function answer({ url }, { signal }) {
    const [, number, layerName, ...zxy] = /^farlands:\/\/(\d+)\/([\w-]+)\/(\d+)\/(\d+)\/(\d+)$/.exec(url);
    const { world, anchor } = stages.get(Number(number)) ?? {};
    if (!world)
        throw new Error('a tile of a stage that is gone');
    const heights = layerName === 'heights' ? heightsOf(world) : null;
    const [z, x, y] = zxy.map(Number);
    const tile = worldTile(anchor, { z, x, y });
    if (!tileExists(world, tile))
        return { data: blank(world.tile_size, heights) };
    const layer = heights?.layer ?? findLayer(world, layerName);
    const picture = await fetchTile(tileAddress(world, layer, tile, !heights && window.devicePixelRatio > 1), signal);
    return { data: heights && world.range[1] > 0 ? await level(picture, heights) : await picture.arrayBuffer() };
}

/* As the plane does, a tile that did not arrive is asked for again, until nobody wants it. */
async function fetchTile(url, signal) {
    for (let delay = RETRY.first; ; delay = Math.min(delay * 2, RETRY.most)) {
        try {
            const response = await fetch(url, { signal });
            if (response.ok) {
                if (delay > RETRY.first && saysServer())
                    say('');
                return await response.blob();
            }
            sayWhy({ status: response.status, message: (await response.json()).error });
        } catch (error) {
            if (signal.aborted)
                throw error;
            sayWhy(error);
        }
        await sleep(delay);
        signal.throwIfAborted();
    }
}

function canvasOf(side) {
    const canvas = new OffscreenCanvas(side, side);
    return [canvas, canvas.getContext('2d', { willReadFrequently: true })];
}

/* 0 metres, red, green and blue. */
function seaLevel({ unit, offset }) {
    const number = Math.round(offset / unit);
    return [number >> 16, number >> 8 & 255, number & 255];
}

/* What lies beyond the coordinate limit: no picture, and the level of the sea. */
function blank(side, heights) {
    const [canvas, context] = canvasOf(side);
    context.fillStyle = heights ? `rgb(${seaLevel(heights)})` : 'transparent';
    context.fillRect(0, 0, side, side);
    return canvas.transferToImageBitmap();
}

/* Water lies flat; the picture on it still shows its depth. */
async function level(picture, heights) {
    const image = await createImageBitmap(picture, { premultiplyAlpha: 'none', colorSpaceConversion: 'none' });
    const [canvas, context] = canvasOf(image.width);
    context.drawImage(image, 0, 0);
    const pixels = context.getImageData(0, 0, image.width, image.height);
    const { data } = pixels;
    const [red, green, blue] = seaLevel(heights);
    for (let i = 0; i < data.length; i += 4)
        if ((data[i] - red || data[i + 1] - green || data[i + 2] - blue) < 0)
            [data[i], data[i + 1], data[i + 2]] = [red, green, blue];
    context.putImageData(pixels, 0, 0);
    return canvas.transferToImageBitmap();
}

/* ---- A stage: one map, on one anchor ---- */

/* Heights count from where the reader looks: far up, at deep zooms, floats would tremble. */
async function groundAt(world, { x, y, zoom }) {
    try {
        return Math.max(0, (await getHeight(world, snap(world, x, zoom), snap(world, y, zoom))).height);
    } catch {
        return 0;
    }
}

function tileZooms(world, { shift }, place) {
    const fits = (zoom) => clamp(zoom - shift, COARSEST, FINEST);
    /* Beyond where a sample's width is a few of its steps, heights would be stairs. */
    const smooth = Math.floor(world.native_zoom - Math.log2(4 * heightsOf(world).unit));
    const deepest = deepestZoom(world, place);
    return { minzoom: fits(world.limits.zoom[0]), maxzoom: fits(deepest), heights: fits(Math.min(deepest, smooth)) };
}

function styleOf(number, { world, layer, anchor }, place, ground) {
    const { minzoom, maxzoom, heights } = tileZooms(world, anchor, place);
    const { unit, offset } = heightsOf(world);
    const from = (name) => [`${PROTOCOL}://${number}/${name}/{z}/{x}/{y}`];
    return {
        version: 8,
        sources: {
            heights: { type: 'raster-dem', tiles: from('heights'), tileSize: world.tile_size, minzoom, maxzoom: heights,
                encoding: 'custom', redFactor: 65536 * unit, greenFactor: 256 * unit, blueFactor: unit, baseShift: offset + ground },
            picture: { type: 'raster', tiles: from(layer.name), tileSize: world.tile_size, minzoom, maxzoom },
        },
        layers: [
            { id: 'sea', type: 'background', paint: { 'background-color': '#0b2545' } },
            { id: 'picture', type: 'raster', source: 'picture', paint: { 'raster-fade-duration': 0 } },
        ],
        sky: sky(),
    };
}

const cameraOf = (anchor, place, { pitch = 0, bearing = 0 } = {}) => ({
    center: toLngLat(anchor, place), zoom: cameraZoom(anchor, place.zoom), pitch, bearing,
});

/* `moved` hears every change of the view, `rested` its end, `heightsChanged` the factor shown. */
export function makeScene(container, { moved, rested, heightsChanged }) {
    let stage = null;             // the one in view
    let coming = null;            // the one that will be, and why it may no longer be wanted
    let chosen = null;            // the reader's factor of heights
    const soft = drawnInSoftware();

    async function raise(world, layer, place) {
        const anchor = anchorAt(world, place);
        const next = { number: ++lastStage, world, layer, anchor, element: document.createElement('div'), map: null };
        coming = next;
        const [ground] = await Promise.all([groundAt(world, place), load()]);
        if (coming !== next)
            return null;
        next.element.className = 'stage';
        next.element.dataset.number = next.number;
        container.prepend(next.element);         // behind the one in view
        stages.set(next.number, next);
        next.map = new maplibregl.Map({
            container: next.element,
            style: styleOf(next.number, next, place, ground),
            ...cameraOf(anchor, place, place.scene),
            minZoom: cameraZoom(anchor, Math.max(world.limits.zoom[0], worldZoom(anchor, COARSEST + 3))),
            maxZoom: Math.min(cameraZoom(anchor, deepestZoom(world, place)), FINEST),
            maxPitch: PITCH.most,
            renderWorldCopies: false,
            attributionControl: false,
            fadeDuration: 0,
            pixelRatio: soft ? 1 : Math.min(2, window.devicePixelRatio),
            canvasContextAttributes: { antialias: !soft },
            locale: { 'Map.Title': 'Terrain in three dimensions: arrow keys pan, with shift they turn and tilt; plus and minus zoom' },
        });
        const { map } = next;
        map.on('error', ({ error }) => {
            if (stages.has(next.number) && !/abort/i.test(error?.name ?? ''))
                console.warn('farlands:', error?.message);
        });
        map.once('style.load', () => {
            map.setTerrain({ source: 'heights', exaggeration: 1 });
            for (const id of ['heights', 'picture'])
                map.setSourceTileLodParams(6, soft ? 1.5 : 3, id);
            raiseHeights(next);
        });
        await Promise.race([map.once('idle'), sleep(PAINTED)]);
        if (coming !== next) {
            strike(next);
            return null;
        }
        return next;
    }

    function strike(old) {
        stages.delete(old?.number);
        old?.map?.remove();
        old?.element.remove();
    }

    const placeOn = ({ map, anchor, exactly }) => {
        const { lng, lat } = map.getCenter();
        const still = exactly && exactly.lng === lng && exactly.lat === lat;
        const blocks = still ? exactly.place : toBlocks(anchor, { lng, lat });
        const zoom = worldZoom(anchor, map.getZoom());
        return {
            x: blocks.x, y: blocks.y, zoom: Math.abs(zoom - Math.round(zoom)) < 1e-6 ? Math.round(zoom) : zoom,
            scene: { pitch: map.getPitch(), bearing: map.getBearing(), heights: chosen },
        };
    };

    /* There to the last digit, whatever the sphere's sines make of it. */
    function look(on, place) {
        on.map.jumpTo(cameraOf(on.anchor, place, place.scene));
        on.exactly = { ...on.map.getCenter(), place: { x: place.x, y: place.y } };
    }

    function factorAt(on) {
        return chosen ?? suitable(on.world, Math.round(worldZoom(on.anchor, on.map.getZoom())));
    }

    /* setTerrain would make a second set of textures at every touch of the slider. */
    function raiseHeights(on) {
        const { map, anchor, world } = on;
        if (!map?.terrain)
            return;
        const factor = factorAt(on);
        map.terrain.exaggeration = factor * trueHeights(anchor, toBlocks(anchor, map.getCenter()));
        map.triggerRepaint();
        if (on === stage || !stage)
            heightsChanged(factor, chosen, world);
    }

    /* A new stage is set behind the one in view and painted before it takes its place: a world, a layer
     * or an anchor changes without a blink. While it is, the old one moves on. */
    async function enter(world, layer, wanted) {
        const place = reachable(world, wanted);
        chosen = place.scene?.heights ?? null;
        const next = await raise(world, layer, place).catch((error) => {
            strike(coming);
            coming = null;
            throw error;
        });
        if (!next)
            return false;
        const old = stage;
        if (old?.following === next) {
            while (old.map.isMoving())
                await old.map.once('moveend');
            if (coming !== next)
                return strike(next);
            look(next, placeOn(old));
        } else {
            look(next, place);
        }
        coming = null;
        stage = next;
        next.map.on('movestart', () => { next.moving = true; });
        next.map.on('move', moved);
        next.map.on('moveend', onRest);
        next.map.on('resize', moved);
        if (old?.element.contains(document.activeElement))
            next.map.getCanvas().focus({ preventScroll: true });
        strike(old);
        raiseHeights(next);
        moved();
        return true;
    }

    function onRest() {
        if (!stage)
            return;
        stage.moving = false;
        raiseHeights(stage);
        moved();
        const place = placeOn(stage);
        if (!coming && !serves(stage.anchor, place)) {
            const { world, layer } = stage;
            const reached = enter(world, layer, place);
            stage.following = coming;
            reached.catch(sayWhy);
        }
        rested();
    }

    dark.addEventListener('change', () => stage?.map.setSky(sky()));

    return {
        enter,
        place: () => placeOn(stage),
        /* Null while the view moves: to find what lies under a pixel the heights are drawn once more. */
        at({ x, y }) {
            if (stage.moving)
                return null;
            return toBlocks(stage.anchor, stage.map.unproject([x, y]));
        },
        go(wanted) {
            const place = reachable(stage.world, { ...wanted, scene: { ...placeOn(stage).scene, ...wanted.scene } });
            if (!serves(stage.anchor, place))
                return enter(stage.world, stage.layer, place);
            chosen = place.scene.heights;
            look(stage, place);
            raiseHeights(stage);
            return true;
        },
        showLayer: (layer) => enter(stage.world, layer, placeOn(stage)),
        zoomBy: (count) => stage.map.easeTo({ zoom: Math.round(stage.map.getZoom() + count) }),
        zoomRange: () => [stage.world.limits.zoom[0], deepestZoom(stage.world, placeOn(stage))],
        ailing: () => false,
        focus: () => stage.map.getCanvas().focus({ preventScroll: true }),
        setHeights(factor) {
            chosen = factor;
            raiseHeights(stage);
            rested();
        },
        tilt: () => stage.map.easeTo({ pitch: PITCH.first, duration: TURN }),
        north: () => stage.map.easeTo({ bearing: 0 }),
        /* Seen from above, at a zoom that the plane has too. */
        async flatten() {
            const { map, anchor } = stage;
            const zoom = cameraZoom(anchor, Math.round(worldZoom(anchor, map.getZoom())));
            if (map.getPitch() < 0.01 && Math.abs(map.getBearing()) < 0.01 && map.getZoom() === zoom)
                return;
            const end = map.once('moveend');
            map.easeTo({ pitch: 0, bearing: 0, zoom, duration: TURN });
            await end;
        },
        clear() {
            const last = stage;
            coming = stage = null;
            strike(last);
        },
    };
}
