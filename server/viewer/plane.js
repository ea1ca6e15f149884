/* The world in two dimensions: an endless plane of tiles in Leaflet. */
/* global L */
import { RETRY, clamp, deepestZoom, getWorld, isUnchanged, reachable, step, tileAddress, tileExists } from './world.js';
import { Shaded } from './shaded.js';
import { say, sayWhy } from './status.js';

const PAINTED = 2500;             // ms, timeout for a view's tiles
const FLIGHT = 32;                // the longest flight, in widths of the window
const FLIGHT_TIME = 1.5;          // s

const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;

/* y grows south, as tile rows do; one unit is 2^native_zoom blocks. */
const crs = L.extend({}, L.CRS.Simple, { transformation: new L.Transformation(1, 0, 1, 0) });

const Terrain = L.TileLayer.extend({
    getTileUrl(coords) {
        const { world, layer } = this.options;
        return tileAddress(world, layer, coords, window.devicePixelRatio > 1);
    },

    /* Outside the world the sea's color is visible. */
    createTile(coords, done) {
        const { world, onFail } = this.options;
        if (tileExists(world, coords)) {
            /* A failed tile counts as loading, so that its coarser parent stays visible. */
            const keepTrying = (error, tile) => (error ? onFail(tile) : done(null, tile));
            return L.TileLayer.prototype.createTile.call(this, coords, keepTrying);
        }
        const blank = document.createElement('div');
        L.Util.requestAnimFrame(() => done(null, blank));
        return blank;
    },
});

const gridOf = ({ native_zoom: native, tile_size: side, origin, limits }) => JSON.stringify([native, side, origin, limits]);
const isSamePlace = (a, b) => ['x', 'y', 'zoom'].every((key) => a[key] === b[key]);

/* Callbacks: `moved` on every change of the view, `rested` at the end, `renewed` if the world has changed. */
export function makePlane(container, { moved, rested, renewed, stretch }) {
    const map = L.map(container, {
        crs,
        zoomControl: false,
        attributionControl: false,
        fadeAnimation: !calm,
        zoomAnimation: !calm,
        inertia: !calm,
        wheelPxPerZoomLevel: 120,     // one notch per zoom
    });
    const failed = new Set();
    let retryDelay = RETRY.first;
    let retryTimer = 0;
    let world = null;
    let terrain = null;

    function toLatLng({ x, y }) {
        const unit = 2 ** world.native_zoom;
        return L.latLng((y - world.origin[1]) / unit, (x - world.origin[0]) / unit);
    }

    function toBlocks({ lat, lng }) {
        const unit = 2 ** world.native_zoom;
        return { x: world.origin[0] + lng * unit, y: world.origin[1] + lat * unit };
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

    /* Request the world first, to tell a dead server from a busy one or a changed world. */
    async function retry() {
        const asked = world;
        try {
            const fresh = await getWorld(asked.name);
            if (world === asked && !isUnchanged(asked, fresh))
                renewed(fresh);
            if (failed.size)
                say('Some tiles failed to load; retrying…');
            for (const tile of failed)
                tile.setAttribute('src', tile.getAttribute('src'));
        } catch (error) {
            sayWhy(error);
        }
        retryDelay = Math.min(retryDelay * 2, RETRY.most);
        retryTimer = failed.size ? setTimeout(retry, retryDelay) : 0;
    }

    function go(wanted) {
        const place = reachable(world, wanted);
        const deepest = deepestZoom(world, place);
        if (deepest > map.getMaxZoom())
            map.setMaxZoom(deepest);
        /* reset, because a pan would stop at a whole pixel */
        map.setView(toLatLng(place), clamp(Math.round(place.zoom), world.limits.overview, deepest), { reset: true });
    }

    /* Fly to WANTED unless it is so far that the way would show nothing. */
    function fly(wanted) {
        const place = reachable(world, wanted);
        const now = placeNow();
        const span = step(world, Math.min(place.zoom, now.zoom)) * Math.max(innerWidth, innerHeight);
        if (calm || Math.hypot(place.x - now.x, place.y - now.y) > FLIGHT * span)
            return go(place);
        map.flyTo(toLatLng(place), Math.round(place.zoom), { duration: FLIGHT_TIME });
        /* Layers load the last zoom's tiles at its event, which Leaflet omits if the last frame was there already. */
        map.once('moveend', () => map.fire('zoom'));
    }

    /* The old tiles stay underneath until the new ones cover them. */
    function showLayer(layer) {
        const old = terrain;
        const options = {
            world,
            tileSize: world.tile_size,
            minZoom: world.limits.overview,
            maxZoom: world.limits.zoom[1],
            keepBuffer: 2,
            updateWhenZooming: false,
        };
        terrain = stretch.applies(world, layer) ? new Shaded({ ...options, layer, stretch })
            : new Terrain('', { ...options, layer, onFail: retryLater });
        terrain.on('tileload tileunload tileabort', ({ tile }) => settle(tile));
        terrain.addTo(map);
        if (old) {
            const remove = () => old.remove();
            terrain.once('load', () => setTimeout(remove, 250));
            setTimeout(remove, PAINTED);
        }
    }

    const placeNow = () => ({ ...toBlocks(map.getCenter()), zoom: map.getZoom() });

    /* A changed world at the same place keeps its old tiles until the new ones cover them. */
    function enter(next, layer, place) {
        const renewed = terrain && next.name === world.name && gridOf(next) === gridOf(world) && isSamePlace(place, placeNow());
        world = next;
        failed.clear();
        if (!renewed) {
            terrain?.remove();
            terrain = null;
            map.setMinZoom(world.limits.overview);
            go(place);
        }
        showLayer(layer);
    }

    map.on('move zoom moveend zoomend zoomlevelschange resize', moved);
    map.on('moveend', () => {
        const deepest = deepestZoom(world, toBlocks(map.getCenter()));
        if (deepest !== map.getMaxZoom())
            map.setMaxZoom(deepest);
        rested();
    });

    return {
        map,
        go,
        fly,
        showLayer,
        enter,
        toLatLng,
        toBlocks,
        place: placeNow,
        at: ({ x, y }) => toBlocks(map.containerPointToLatLng([x, y])),
        zoomBy: (count) => map.setZoom(map.getZoom() + count),
        zoomRange: () => [map.getMinZoom(), map.getMaxZoom()],
        ailing: () => failed.size > 0,
        focus: () => container.focus({ preventScroll: true }),
        painted: () => new Promise((resolve) => {
            setTimeout(resolve, terrain.isLoading() ? PAINTED : 0);
            terrain.once('load', () => setTimeout(resolve, 250));
        }),
    };
}
