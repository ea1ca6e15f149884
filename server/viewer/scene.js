/* The world in three dimensions: pictures over heights in MapLibre, positioned by anchor.js. */
/* global maplibregl */
import { address, clamp, deepestZoom, fieldOf, getHeight, numbersOf, reachable, sceneHeightsOf, sleep, snap, step, tileAddress,
    tileExists, withinLimit } from './world.js';
import { COARSEST, anchorAt, cameraZoom, serves, toBlocks, toLngLat, trueHeights, worldTile, worldZoom } from './anchor.js';
import { valuesAt } from './ground.js';
import { suitable } from './heights.js';
import { sayWhy } from './status.js';
import { canvasOf, fetchTile, numbersIn, pixelsOf } from './tiles.js';

const PROTOCOL = 'farlands';
const PITCH = { first: 65, most: 75 };
const GRID = 11;                  // values per side, to derive a range of shades
const PAINTED = 5000;             // ms, timeout for a stage's tiles
const TURN = 900;                 // ms, duration of tilting and flattening
const FLIGHT_TIME = 1500;         // ms
const FINEST = 22;                // the last tile zoom that MapLibre draws sharply
const SHADES = 'color-relief-color';
const dark = matchMedia('(prefers-color-scheme: dark)');

const SKIES = {
    light: { 'sky-color': '#6ba4d8', 'horizon-color': '#dbe8f2', 'fog-color': '#dbe8f2' },
    dark: { 'sky-color': '#0d1b30', 'horizon-color': '#3a5270', 'fog-color': '#31465f' },
};

const sky = () => ({ ...SKIES[dark.matches ? 'dark' : 'light'], 'sky-horizon-blend': 0.6, 'horizon-fog-blend': 0.7,
    'fog-ground-blend': 0.75 });

/* The color behind the canvas, which is empty between the farthest ground and the horizon: otherwise the plane below
 * would be visible there. */
const haze = () => sky()['horizon-color'];

/* ---- The library ---- */

let library = null;

function load() {
    library ??= new Promise((resolve, reject) => {
        const css = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: address('viewer/maplibre-gl.css') });
        const script = Object.assign(document.createElement('script'), { src: address('viewer/maplibre-gl-csp.js') });
        script.onload = () => {
            maplibregl.setWorkerUrl(address('viewer/maplibre-gl-csp-worker.js'));
            maplibregl.addProtocol(PROTOCOL, loadTile);
            resolve();
        };
        script.onerror = () => {
            library = null;
            reject(new Error('the map library failed to load'));
        };
        document.head.prepend(css);      // before the page's own style, which takes precedence
        document.head.append(script);
    });
    return library;
}

/* True if WebGL runs on the CPU, as on many virtual machines; then the scene draws less. */
function drawnInSoftware() {
    const gl = document.createElement('canvas').getContext('webgl2');
    const names = gl.getExtension('WEBGL_debug_renderer_info');
    const name = gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
    gl.getExtension('WEBGL_lose_context')?.loseContext();
    return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

/* ---- Tiles ---- */

const stages = new Map();         // by number, because all share one protocol
let lastStage = 0;

/* Load farlands://stage/source/z/x/y, with MapLibre's z, x and y. The source is "heights", "shades" or "picture". */
async function loadTile({ url }, { signal }) {
    const [, number, source, ...zxy] = /^farlands:\/\/(\d+)\/(\w+)\/(\d+)\/(\d+)\/(\d+)$/.exec(url);
    const { world, layer, anchor } = stages.get(Number(number)) ?? {};
    if (!world)
        throw new Error('the stage of this tile was removed');
    const numbers = { heights: sceneHeightsOf(world), shades: numbersOf(world, layer), picture: null }[source];
    const [z, x, y] = zxy.map(Number);
    const tile = worldTile(anchor, { z, x, y });
    if (!tileExists(world, tile))
        return { data: blank(world.tile_size, numbers) };
    const shown = numbers?.layer ?? layer;
    const picture = await fetchTile(tileAddress(world, shown, tile, !numbers && window.devicePixelRatio > 1), signal);
    if (source === 'heights' && world.range[1] > 0)
        return { data: await level(picture, numbers) };
    return { data: source === 'shades' && fieldOf(shown) !== null ? await shadesIn(picture, shown) : await picture.arrayBuffer() };
}

/* Convert PICTURE, with 16-bit shades, to a picture that MapLibre can read. */
async function shadesIn(picture, layer) {
    const pixels = await numbersIn(picture, layer);
    const [canvas, context] = canvasOf(pixels.width);
    context.putImageData(pixels, 0, 0);
    return canvas.transferToImageBitmap();
}

/* The color that encodes 0 metres, or the value nearest to 0. */
function seaLevel({ unit, offset }) {
    const number = clamp(Math.round(offset / unit), 0, 0xffffff);
    return [number >> 16, number >> 8 & 255, number & 255];
}

/* A tile outside the world: no picture, and heights at sea level. */
function blank(side, numbers) {
    const [canvas, context] = canvasOf(side);
    context.fillStyle = numbers ? `rgb(${seaLevel(numbers)})` : 'transparent';
    context.fillRect(0, 0, side, side);
    return canvas.transferToImageBitmap();
}

/* Raise the sea floor to sea level; the picture still shows the depth. */
async function level(picture, heights) {
    const { canvas, context, pixels } = await pixelsOf(picture);
    const { data } = pixels;
    const [red, green, blue] = seaLevel(heights);
    for (let i = 0; i < data.length; i += 4)
        if ((data[i] - red || data[i + 1] - green || data[i + 2] - blue) < 0)
            [data[i], data[i + 1], data[i + 2]] = [red, green, blue];
    context.putImageData(pixels, 0, 0);
    return canvas.transferToImageBitmap();
}

/* ---- Stages: one map on one anchor each ---- */

/* Heights are relative to the viewed point's, because at deep zooms floats of absolute heights would jitter. */
async function groundAt(world, { x, y, zoom }) {
    try {
        const { height, water } = await getHeight(world, snap(world, x, zoom), snap(world, y, zoom));
        return Math.max(0, height, water ?? 0);
    } catch {
        return 0;
    }
}

function tileZooms(world, { shift }, place) {
    const fits = (zoom) => clamp(zoom - shift, COARSEST, FINEST);
    /* At deeper zooms the encoding's steps would show as stairs. */
    const smooth = Math.floor(world.native_zoom - Math.log2(4 * sceneHeightsOf(world).unit));
    const deepest = deepestZoom(world, place);
    return { minzoom: fits(world.limits.zoom[0]), maxzoom: fits(deepest), heights: fits(Math.min(deepest, smooth)) };
}

/* LAYER's lowest and highest value around PLACE, about as far as one sees in an element of this size. */
async function extentAround(world, layer, { x, y, zoom, scene }, { clientWidth: width, clientHeight: height }) {
    const reach = step(world, zoom) * (1 + (scene?.pitch ?? PITCH.first) / PITCH.most);
    const part = (i) => i / (GRID - 1) - 0.5;
    const places = Array.from({ length: GRID ** 2 }, (_, i) => (
        { x: x + width * reach * part(i % GRID), y: y + height * reach * part(Math.floor(i / GRID)) }));
    const values = await valuesAt(world, places.filter((one) => withinLimit(world, [one.x, one.y])), fieldOf(layer));
    return [Math.min(...values), Math.max(...values)];
}

/* Shades from black to white over a range of values; tiles have them relative to BASE. */
const shades = ([low, high], base) => ['interpolate', ['linear'], ['elevation'], low - base, '#000', high - base, '#fff'];

/* Shades of heights are relative to the ground, shades of fields to 0. */
const baseOf = ({ layer, ground }) => (fieldOf(layer) === null ? ground : 0);

/* RANGE is for shades, null for pictures. */
function styleOf(stage, place, range) {
    const { number, world, layer, anchor, ground } = stage;
    const { minzoom, maxzoom, heights } = tileZooms(world, anchor, place);
    const from = (name) => ({ tiles: [`${PROTOCOL}://${number}/${name}/{z}/{x}/{y}`], tileSize: world.tile_size, minzoom });
    const encoded = ({ unit, offset }, base) => ({ type: 'raster-dem', encoding: 'custom',
        redFactor: 65536 * unit, greenFactor: 256 * unit, blueFactor: unit, baseShift: offset + base });
    return {
        version: 8,
        sources: {
            heights: { ...from('heights'), ...encoded(sceneHeightsOf(world), ground), maxzoom: heights },
            picture: range ? { ...from('shades'), ...encoded(numbersOf(world, layer), baseOf(stage)),
                maxzoom: fieldOf(layer) === null ? heights : maxzoom }
                : { ...from('picture'), type: 'raster', maxzoom },
        },
        layers: [
            { id: 'sea', type: 'background', paint: { 'background-color': '#0b2545' } },
            { id: 'picture', source: 'picture', ...(range ? { type: 'color-relief', paint: { [SHADES]: shades(range, baseOf(stage)) } }
                : { type: 'raster', paint: { 'raster-fade-duration': 0 } }) },
        ],
        sky: sky(),
    };
}

const cameraOf = (anchor, place, { pitch = 0, bearing = 0 } = {}) => ({
    center: toLngLat(anchor, place), zoom: cameraZoom(anchor, place.zoom), pitch, bearing,
});

/* MapLibre takes the viewed tile's lowest height to derive how far the view reaches, so lower ground farther away is
 * cut off below the horizon. Instead, use the lowest height in all displayed tiles. */
function seeLowGround({ terrain }) {
    terrain.getMinTileElevationForLngLatZoom = () => Math.min(0, ...terrain.tileManager.getRenderableTiles()
        .map(({ tileID }) => terrain.getMinMaxElevation(tileID).minElevation ?? 0));
}

/* Callbacks: `moved` on every change of the view, `rested` at the end, `heightsChanged` with the exaggeration. */
export function makeScene(container, { moved, rested, heightsChanged, stretch }) {
    let stage = null;             // the visible one
    let coming = null;            // the one being prepared
    let chosen = null;            // the user's exaggeration; null: the default
    const soft = drawnInSoftware();

    async function raise(world, layer, place) {
        const anchor = anchorAt(world, place);
        const next = { number: ++lastStage, world, layer, anchor, element: document.createElement('div'), map: null };
        coming = next;
        const [ground, range] = await Promise.all([groundAt(world, place), stretch.applies(world, layer) ? rangeAt(world, layer, place) : null, load()]);
        if (coming !== next)
            return null;
        Object.assign(next, { ground, range });
        next.element.className = 'stage';
        next.element.dataset.number = next.number;
        next.element.style.backgroundColor = haze();
        container.prepend(next.element);         // behind the visible one
        stages.set(next.number, next);
        next.map = new maplibregl.Map({
            container: next.element,
            style: styleOf(next, place, range),
            ...cameraOf(anchor, place, place.scene),
            minZoom: cameraZoom(anchor, Math.max(world.limits.overview, worldZoom(anchor, COARSEST + 3))),
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
            seeLowGround(map);
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

    /* Keep the exact coordinates, which the round trip through the sphere would change. */
    function look(on, place) {
        on.map.jumpTo(cameraOf(on.anchor, place, place.scene));
        on.exactly = { ...on.map.getCenter(), place: { x: place.x, y: place.y } };
    }

    async function rangeAt(world, layer, place) {
        try {
            return stretch.see(world, layer, await extentAround(world, layer, place, container), true);
        } catch {
            return stretch.rangeOf(world, layer);        // tiles report a dead server
        }
    }

    /* Adapt the shades to the values around the place. */
    async function restretch(on) {
        if (!on.range)
            return;
        const range = await rangeAt(on.world, on.layer, placeOn(on));
        if (on !== stage || range === on.range)
            return;
        on.range = range;
        on.map.setPaintProperty('picture', SHADES, shades(range, baseOf(on)));
    }

    function factorAt(on) {
        return chosen ?? suitable(on.world, Math.round(worldZoom(on.anchor, on.map.getZoom())));
    }

    /* setTerrain would create new textures at every change of the slider. */
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

    /* Paint a new stage behind the visible one before it takes over, so that a world, a layer or an anchor changes
     * without flicker. Meanwhile the old stage stays interactive. */
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
        restretch(next);              // the plane may have changed the range meanwhile
        moved();
        return true;
    }

    function onRest() {
        if (!stage)
            return;
        stage.moving = false;
        raiseHeights(stage);
        restretch(stage);
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

    dark.addEventListener('change', () => {
        if (!stage)
            return;
        stage.map.setSky(sky());
        stage.element.style.backgroundColor = haze();
    });

    return {
        enter,
        place: () => placeOn(stage),
        /* Null while the view moves, because each lookup renders the heights again. */
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
        /* Fly to WANTED if the sphere has both places. */
        fly(wanted) {
            const place = reachable(stage.world, { ...wanted, scene: placeOn(stage).scene });
            if (!serves(stage.anchor, place))
                return enter(stage.world, stage.layer, place);
            const camera = cameraOf(stage.anchor, place, place.scene);
            stage.exactly = { ...camera.center, place: { x: place.x, y: place.y } };
            stage.map.flyTo({ ...camera, duration: FLIGHT_TIME });
            return true;
        },
        showLayer: (layer) => enter(stage.world, layer, placeOn(stage)),
        zoomBy: (count) => stage.map.easeTo({ zoom: Math.round(stage.map.getZoom() + count) }),
        zoomRange: () => [stage.world.limits.overview, deepestZoom(stage.world, placeOn(stage))],
        ailing: () => false,
        focus: () => stage.map.getCanvas().focus({ preventScroll: true }),
        setHeights(factor) {
            chosen = factor;
            raiseHeights(stage);
            rested();
        },
        tilt: () => stage.map.easeTo({ pitch: PITCH.first, duration: TURN }),
        north: () => stage.map.easeTo({ bearing: 0 }),
        /* Turn to a view from above at a whole zoom, because the plane has only those. */
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
