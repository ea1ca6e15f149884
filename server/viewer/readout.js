/* The block under the cursor, its height, the zoom and the scale. */
import { $, RETRY, blocksText, getWorld, grouped, metres, sleep, snap, step, withinLimit } from './world.js';
import { heightAt, heightHere } from './ground.js';
import { say, sayWhy } from './status.js';

const PAUSE = 60;                 // ms between two height requests
const LOOK = 10000;               // ms between two looks whether the world is still the same
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

/* Of `viewer`, the world and the view that are now in sight. `read` hears each height, null
 * where there is none; `renewed` hears of a world that is no longer the same. */
export function makeReadout(viewer, { read, renewed }) {
    let point = null;             // of the mouse; without one, the map's centre is read
    let wanted = null;
    let shown = null;
    let busy = false;
    let ailing = false;
    let looked = performance.now();

    function noHeight(text) {
        show('height', '', text);
        read(null);
    }

    function showHeight(height, digits) {
        show('height', String(height), metres(height, digits));
        read(height);
    }

    /* A height that is computed here says nothing of the server, whose world may have changed. */
    async function look(world) {
        if (performance.now() - looked < LOOK)
            return;
        looked = performance.now();
        const fresh = await getWorld(world.name).catch(() => world);     // tiles tell of a server that is gone
        if (fresh.fingerprint !== world.fingerprint && viewer.world === world)
            renewed(fresh);
    }

    function update() {
        const { world, view } = viewer;
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
            noHeight('no land');
            delete $('height').dataset.stale;
            return;
        }
        const digits = step(world, zoom) < 1 ? 3 : 1;
        const key = `${world.name} ${world.fingerprint} ${x} ${y} ${digits}`;
        if (key === shown) {
            delete $('height').dataset.stale;
            return;
        }
        const here = heightHere(world, x, y);
        if (here !== undefined) {
            wanted = null;
            shown = key;
            showHeight(here, digits);
            delete $('height').dataset.stale;
            look(world);
            return;
        }
        shown = null;
        wanted = { world, x, y, digits, key };
        $('height').dataset.stale = '';
        ask();
    }

    /* One request in flight; whatever the cursor passed meanwhile is never asked. */
    async function ask() {
        if (busy)
            return;
        busy = true;
        while (wanted) {
            const { world, x, y, digits, key } = wanted;
            wanted = null;
            try {
                const { height, fingerprint } = await heightAt(world, x, y);
                if (fingerprint !== world.fingerprint && viewer.world === world)
                    renewed(await getWorld(world.name));
                if (shown)        // computed meanwhile
                    continue;
                showHeight(height, digits);
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

    /* A drag takes the block along, so there is nothing to read until it ends. */
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
