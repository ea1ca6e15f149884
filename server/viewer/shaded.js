/* A layer on the plane: heights or a field in shades of gray. All tiles share one range of values, so there are no
 * seams. */
/* global L */
import { numbersOf, tileAddress, tileExists } from './world.js';
import { extentOf, readValues, shade } from './stretch.js';
import { fetchTile, numbersIn } from './tiles.js';

/* Besides Leaflet's, the options have `world`, `layer` and `stretch`. */
export const Shaded = L.GridLayer.extend({
    initialize(options) {
        L.GridLayer.prototype.initialize.call(this, options);
        this.shown = new Map();   // canvas -> its coordinates and values
        this.range = null;
        this.asked = 0;
        this.on('tileunload', ({ tile }) => {
            this.shown.get(tile)?.stop.abort();
            this.shown.delete(tile);
        });
        this.on('load', this.restretch);
    },

    getEvents() {
        return { ...L.GridLayer.prototype.getEvents.call(this), moveend: this.onRest, resize: this.onRest };
    },

    onRest() {
        this._onMoveEnd();
        this.restretch();
    },

    createTile(coords, done) {
        const { world } = this.options;
        const canvas = L.DomUtil.create('canvas');
        if (tileExists(world, coords))
            this.loadTile(canvas, coords).then(() => done(null, canvas), (error) => {
                if (error.name !== 'AbortError')
                    done(error, canvas);
            });
        else
            L.Util.requestAnimFrame(() => done(null, canvas));
        return canvas;
    },

    async loadTile(canvas, coords) {
        const { world, layer } = this.options;
        const tile = { coords, values: null, stop: new AbortController() };
        this.shown.set(canvas, tile);
        const numbers = numbersOf(world, layer);
        canvas.dataset.src = tileAddress(world, numbers.layer, coords, window.devicePixelRatio > 1);
        const pixels = await numbersIn(await fetchTile(canvas.dataset.src, tile.stop.signal), numbers.layer);
        tile.stop.signal.throwIfAborted();
        canvas.width = canvas.height = pixels.width;
        tile.values = readValues(pixels, numbers);
        this.asked ||= L.Util.requestAnimFrame(this.restretch, this);
        if (this.range)
            this.paint(canvas, tile);
    },

    paint(canvas, { values }) {
        const context = canvas.getContext('2d');
        const pixels = context.createImageData(canvas.width, canvas.height);
        shade(values, pixels, this.range);
        context.putImageData(pixels, 0, 0);
    },

    /* Adapt the range to the values in the window, but not below the scene: it shares the range, and hides the
     * plane. */
    restretch() {
        this.asked = 0;
        if (this._map?.getContainer().inert)
            return;
        const { world, layer, stretch } = this.options;
        const zoom = this._map?.getZoom();
        const { min, max } = this._map?.getPixelBounds() ?? {};
        let [low, high] = [Infinity, -Infinity];
        for (const { coords: { x, y, z }, values } of this.shown.values()) {
            if (!values || z !== zoom)
                continue;
            const part = (edge, at) => edge / world.tile_size - at;
            const extent = extentOf(values, [part(min.x, x), part(min.y, y), part(max.x, x), part(max.y, y)]);
            [low, high] = [Math.min(low, extent[0]), Math.max(high, extent[1])];
        }
        if (low > high)
            return;
        const range = stretch.see(world, layer, [low, high], !this.isLoading());
        if (range === this.range)
            return;
        this.range = range;
        for (const [canvas, tile] of this.shown)
            if (tile.values)
                this.paint(canvas, tile);
    },
});
