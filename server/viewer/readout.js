/* The readout: the block under the cursor, its height or the field that the layer shows, the zoom and the scale. */
import { $, RETRY, blocksText, fieldOf, getWorld, grouped, isUnchanged, sleep, snap, step, valueText, withinLimit } from './world.js';
import { valueAt, valueHere } from './ground.js';
import { say, sayWhy } from './status.js';

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

/* `viewer` has the current world and view. Callbacks: `read` with each value, null if there is none; `renewed` if the
 * world has changed. */
export function makeReadout(viewer, { read, renewed }) {
    let point = null;             // the mouse; null: read the centre of the map
    let wanted = null;
    let shown = null;
    let busy = false;
    let ailing = false;
    let looked = performance.now();

    function noHeight(text) {
        show('height', '', text);
        read(null);
    }

    function showValue({ world, field, digits }, value) {
        show('height', String(value), valueText(world, field, value, digits));
        read(value);
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
        const { zoom } = view.place();
        const at = point ? view.at(point) : view.place();
        $('crosshair').hidden = point !== null;
        $('readout').setAttribute('aria-label', point ? 'Under the cursor' : 'At the centre');
        show('zoom', String(zoom), grouped(String(Math.round(zoom * 10) / 10)));
        showScale(step(world, zoom));
        if (!at) {
            $('height').dataset.stale = '';
            return;
        }
        const [x, y] = [at.x, at.y].map((blocks) => snap(world, blocks, zoom));
        show('x', x, grouped(x));
        show('y', y, grouped(y));
        if (!withinLimit(world, [x, y].map(Number))) {
            wanted = null;
            noHeight('outside');
            delete $('height').dataset.stale;
            return;
        }
        const digits = step(world, zoom) < 1 ? 3 : 1;
        const field = fieldOf(layer);
        $('height-name').textContent = field === 'height' ? 'Height' : 'Field';
        const key = `${world.name} ${world.fingerprint} ${field} ${x} ${y} ${digits}`;
        if (key === shown) {
            delete $('height').dataset.stale;
            return;
        }
        const here = valueHere(world, x, y, field);
        if (here !== undefined) {
            wanted = null;
            shown = key;
            showValue({ world, field, digits }, here);
            delete $('height').dataset.stale;
            look(world);
            return;
        }
        shown = null;
        wanted = { world, field, x, y, digits, key };
        $('height').dataset.stale = '';
        ask();
    }

    /* One request at a time; intermediate positions of the cursor are skipped. */
    async function ask() {
        if (busy)
            return;
        busy = true;
        while (wanted) {
            const asked = wanted;
            const { world, field, x, y, key } = asked;
            wanted = null;
            try {
                const { value, fingerprint } = await valueAt(world, x, y, field);
                if (fingerprint !== world.fingerprint && viewer.world === world)
                    renewed(await getWorld(world.name));
                if (shown)        // computed in the meantime
                    continue;
                showValue(asked, value);
                if (!wanted) {
                    shown = key;
                    delete $('height').dataset.stale;
                }
                if (ailing && !viewer.view.ailing())
                    say('');
                ailing = false;
            } catch (error) {
                if (shown)
                    continue;
                noHeight('–');
                ailing = true;
                sayWhy(error);
                setTimeout(update, 2 * RETRY.first);
            }
            await sleep(PAUSE);
        }
        busy = false;
    }

    function centre() {
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

    return { update, centre, follow };
}
