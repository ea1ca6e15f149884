/* The readout: the block under the cursor with height, surface, the shown field's value, climate and water; the zoom
 * and the scale. */
import { $, RETRY, blocksText, clamp, fieldOf, getWorld, grouped, isUnchanged, metres, quantity, sleep, snap, step,
    withinLimit } from './world.js';
import { biomesOf, chipOf, climateFields } from './biomes.js';
import { measure, measureHere } from './ground.js';
import { say, sayWhy } from './status.js';
import { hasWater, waterText } from './water.js';

const PAUSE = 60;                 // ms between height requests
const LOOK = 10000;               // ms between checks for a changed world
const SCALE_WIDTH = 120;          // px, the longest scale bar

function show(id, value, text) {
    $(id).value = value;
    $(id).textContent = text;
}

function showScale(blocks) {
    const longest = SCALE_WIDTH * blocks;
    const power = 10 ** Math.floor(Math.log10(longest));
    const round = [5, 2, 1].find((digit) => digit * power <= longest) * power;
    $('scale-bar').style.width = `${round / blocks}px`;
    $('scale-label').textContent = blocksText(round);
}

/* Digits after the point for values of LAYER's field, to 1/100,000 of the range. */
const digitsOf = ({ range: [low, high] }) => clamp(Math.ceil(5 - Math.log10(high - low)), 0, 9);

/* True if overhangs or caves may move a world's ground from its heights. */
const hasCaves = ({ volume }) => volume?.overhangs.amplitude > 0 || volume?.caverns.size > 0 || volume?.tunnels.radius > 0;

/* The fields to read in LAYER: its own, and WORLD's climate. */
const namesOf = (world, layer) => [...new Set([fieldOf(layer) ?? [], climateFields(world)].flat())];

/* `viewer` has the current world, layer and view. Callbacks: `read` with each height, or value of the layer's field,
 * null if there is none; `renewed` if the world has changed. */
export function makeReadout(viewer, { read, renewed }) {
    let point = null;             // the mouse; null: read the map's center
    let wanted = null;
    let shown = null;
    let busy = false;
    let ailing = false;
    let looked = performance.now();

    function showNothing(text) {
        show('height', '', text);
        for (const id of ['surface', 'field', 'biome', 'climate', 'water'])
            show(id, '', '–');
        read(null);
    }

    function setStale(stale) {
        for (const id of ['height', 'surface', 'field', 'biome', 'climate', 'water'])
            $(id).toggleAttribute('data-stale', stale);
    }

    function showBiome(id, world) {
        const row = biomesOf(world).find((one) => one.id === id);
        show('biome', String(id), row?.name ?? String(id));
        if (row)
            $('biome').prepend(chipOf(row.color));
        $('biome').title = row?.name ?? '';
    }

    function showMeasure({ height, surface, water, fields }, { world, layer, digits }) {
        const value = fields[fieldOf(layer)] ?? null;
        show('height', String(height), metres(height, digits));
        show('surface', String(surface), metres(surface, digits));
        if (value !== null)
            show('field', String(value), quantity(value, digitsOf(layer), layer.unit));
        if (fields.biome !== undefined && biomesOf(world))
            showBiome(fields.biome, world);
        const { temperature, humidity } = fields;
        const parts = [temperature === undefined ? [] : quantity(temperature, 0, '°C'), humidity === undefined ? [] : quantity(100 * humidity, 0, '%')];
        show('climate', parts.flat().join(' '), parts.flat().join(', '));
        const text = waterText(water) ?? '';
        show('water', text, text || '–');
        $('water').title = text;
        read(value ?? height);
    }

    /* Heights computed in the page do not reveal that the server's world has changed. */
    async function look(world) {
        if (performance.now() - looked < LOOK)
            return;
        looked = performance.now();
        const fresh = await getWorld(world.name).catch(() => world);     // tiles report a dead server
        if (!isUnchanged(world, fresh) && viewer.world === world)
            renewed(fresh);
    }

    function update() {
        const { world, layer, view } = viewer;
        if (!view)
            return;
        const field = fieldOf(layer);
        $('field-box').hidden = field === null;
        $('surface-box').hidden = !hasCaves(world);
        $('field-name').textContent = field ?? '';
        const names = namesOf(world, layer);
        $('biome-box').hidden = !names.includes('biome') || !biomesOf(world);
        $('climate-box').hidden = !climateFields(world).some((name) => name !== 'biome');
        $('water-box').hidden = !hasWater(world);
        const { zoom } = view.place();
        const at = point ? view.at(point) : view.place();
        $('crosshair').hidden = point !== null;
        $('readout').setAttribute('aria-label', point ? 'Under the cursor' : 'At the center');
        show('zoom', String(zoom), grouped(String(Math.round(zoom * 10) / 10)));
        showScale(step(world, zoom));
        if (!at) {
            setStale(true);
            return;
        }
        const [x, y] = [at.x, at.y].map((blocks) => snap(world, blocks, zoom));
        show('x', x, grouped(x));
        show('y', y, grouped(y));
        if (!withinLimit(world, [x, y].map(Number))) {
            wanted = shown = null;
            showNothing('outside');
            setStale(false);
            return;
        }
        const digits = step(world, zoom) < 1 ? 3 : 1;
        const key = `${world.name} ${world.fingerprint} ${field} ${x} ${y} ${digits}`;
        if (key === shown) {
            setStale(false);
            return;
        }
        const here = measureHere(world, x, y, names);
        if (here !== undefined) {
            wanted = null;
            shown = key;
            showMeasure(here, { world, layer, digits });
            setStale(false);
            look(world);
            return;
        }
        shown = null;
        wanted = { world, layer, x, y, digits, key };
        setStale(true);
        ask();
    }

    /* One request at a time; intermediate positions of the cursor are skipped. */
    async function ask() {
        if (busy)
            return;
        busy = true;
        while (wanted) {
            const { world, layer, x, y, digits, key } = wanted;
            wanted = null;
            try {
                const measured = await measure(world, x, y, namesOf(world, layer));
                if (measured.fingerprint !== world.fingerprint && viewer.world === world)
                    renewed(await getWorld(world.name));
                if (shown || viewer.layer !== layer)        // computed in the meantime, or another field's
                    continue;
                showMeasure(measured, { world, layer, digits });
                if (!wanted) {
                    shown = key;
                    setStale(false);
                }
                if (ailing && !viewer.view.ailing())
                    say('');
                ailing = false;
            } catch (error) {
                if (shown)
                    continue;
                showNothing('–');
                ailing = true;
                sayWhy(error);
                setTimeout(update, 2 * RETRY.first);
            }
            await sleep(PAUSE);
        }
        busy = false;
    }

    function center() {
        point = null;
        update();
    }

    /* During a drag the block under the cursor stays the same. */
    function follow(pane) {
        const onPointer = ({ pointerType, buttons, clientX, clientY }) => {
            if (pointerType === 'touch' || buttons)
                return;
            point = { x: clientX, y: clientY };
            update();
        };
        pane.addEventListener('pointermove', onPointer);
        pane.addEventListener('pointerup', onPointer);
        pane.addEventListener('pointerdown', ({ pointerType }) => {
            if (pointerType === 'touch')
                point = null;
        });
        pane.addEventListener('keydown', () => { point = null; });
    }

    return { update, center, follow };
}
