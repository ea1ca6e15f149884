/* The menu for a place, opened by the right button, a long press or the menu key. */
import { $, address, clamp, fieldOf, grouped, heightPath, plain, regionAddress, snap, step, withinLimit } from './world.js';
import { copy } from './clipboard.js';
import { makePopup } from './popup.js';
import { say } from './status.js';

const LONG = 500;                 // ms, a long press
const STILL = 5;                  // px: less movement is still a click; a finger is less steady
const STILL_FINGER = 12;
const FORMATS = [
    { extension: 'f32', label: 'Float metres', bytes: 4 },
    { extension: 'r16', label: '16-bit heights', bytes: 2 },
    { extension: 'png', label: '16-bit heights', bytes: 2 },
    { extension: 'png', label: 'Picture', shown: true },
];
const STEPS = [2 ** -10, 2 ** 20];       // blocks between a region's samples

/* ---- The region that the window shows ---- */

/* The samples in a box of WIDTH x HEIGHT pixels around PLACE: one per pixel, or the finest step that the server's
 * limits allow. Samples lie on multiples of the step. Null if even the coarsest step has too many samples. */
export function regionOf(world, place, { width, height }) {
    const { side, coordinate } = world.limits;
    const pixel = step(world, place.zoom);
    const allowed = pixel * Math.max(width, height) / (side - 2);
    const grain = clamp(2 ** Math.max(Math.round(Math.log2(pixel)), Math.ceil(Math.log2(allowed))), ...STEPS);
    const most = Math.floor(coordinate / grain);
    const axis = (center, pixels) => {
        const half = pixels * pixel / 2;
        const first = clamp(Math.floor((center - half) / grain), -most, most);
        return { first: first * grain, count: clamp(Math.ceil((center + half) / grain), first, most) - first + 1 };
    };
    const [x, y] = [axis(place.x, width), axis(place.y, height)];
    const region = { x: x.first, y: y.first, width: x.count, height: y.count, step: grain };
    return Math.max(x.count, y.count) > side ? null : region;
}

function bytesText(count) {
    const [unit, digits] = count < 1e6 ? ['kB', count / 1e3] : ['MB', count / 1e6];
    return `${digits < 10 ? digits.toFixed(1) : Math.round(digits)}\u202f${unit}`;
}

/* ---- The menu ---- */

/* `viewer` has the current world and view; `link` returns the view's address; `course` shows a water course. */
export function makeContextMenu(viewer, { link, course }) {
    const menu = $('context');
    const popup = makePopup(menu, { closed: () => viewer.view.focus() });
    let pressed = null;           // the pointer that may open the menu

    async function copyText(text, what) {
        try {
            await copy(text);
            say(`${what} copied`, { ms: 2000, calm: true });
        } catch {
            say(`The browser denied access to the clipboard: ${text}`);
        }
    }

    function showPlace(at) {
        const { world, layer, view } = viewer;
        const [x, y] = at ? [at.x, at.y].map((blocks) => snap(world, blocks, view.place().zoom)) : [NaN, NaN];
        const inside = withinLimit(world, [x, y].map(Number));
        $('context-title').textContent = inside ? `${grouped(x)}, ${grouped(y)}` : 'Outside of the world';
        for (const item of menu.querySelectorAll('[data-of=place]'))
            item.hidden = !inside;
        $('context-water').hidden ||= !course.offered();
        $('context-water').onclick = () => course.follow(x, y);
        const height = address(heightPath(world, x, y, [fieldOf(layer) ?? []].flat()));
        $('context-height').href = inside ? height : '';
        $('context-place').onclick = () => copyText(`${x} ${y}`, 'Place');
        $('context-height-link').onclick = () => copyText(height, 'Link');
    }

    function download(region, { extension, label, bytes, shown }) {
        const { world } = viewer;
        const { x, y, width, height } = region;
        const layer = shown ? viewer.layer : null;
        const full = bytes ? bytesText(width * height * bytes) : '';
        const item = document.createElement('a');
        const size = Object.assign(document.createElement('span'), { className: 'quiet' });
        size.textContent = shown ? `png, ${layer.name}` : extension === 'png' ? `png, below ${full}` : `${extension}, ${full}`;
        item.append(label, size);
        item.href = regionAddress(world, region, extension, layer);
        item.download = [world.name.replace(':', '-'), ...(shown ? [layer.name] : []), plain(x), plain(y), `${width}x${height}.${extension}`].join('_');
        return item;
    }

    function showRegion() {
        const { world, view } = viewer;
        const region = regionOf(world, view.place(), { width: innerWidth, height: innerHeight });
        const blocks = region && `${grouped(plain(region.step))} ${region.step === 1 ? 'block' : 'blocks'}`;
        const shape = region && `${region.width} × ${region.height} samples, ${blocks} apart`;
        const title = region ? `Download this region: ${shape}` : 'Too large to download: zoom in';
        const downloads = (region ? FORMATS : []).map((format) => download(region, format));
        for (const item of downloads) {
            item.setAttribute('role', 'menuitem');
            item.tabIndex = -1;
        }
        $('context-region').textContent = title;
        $('context-downloads').setAttribute('aria-label', title);
        $('context-downloads').replaceChildren($('context-region'), ...downloads);
    }

    function open(point) {
        const { view } = viewer;
        const at = view?.at(point);
        if (at === undefined || at === null)      // the view moves
            return;
        showPlace(at);
        showRegion();
        popup.open(point);
    }

    $('context-view').addEventListener('click', () => copyText(link(), 'Link'));
    menu.addEventListener('contextmenu', (event) => event.preventDefault());

    /* ---- Pointers and keys on a view ---- */

    function press({ isPrimary, pointerType, clientX: x, clientY: y }) {
        clearTimeout(pressed?.timer);
        const finger = pointerType === 'touch';
        pressed = { x, y, finger, held: true, still: isPrimary };        // not primary: a second finger
        if (finger && isPrimary)
            pressed.timer = setTimeout(openPressed, LONG);
    }

    function openPressed() {
        clearTimeout(pressed.timer);
        if (!pressed.still || pressed.opened)
            return;
        pressed.opened = true;
        open(pressed);
    }

    function move(event) {
        if (!pressed?.held)
            return;
        if (pressed.finger && pressed.opened) {
            event.stopPropagation();      // the map stays where it is until the finger is lifted
        } else if (event.type === 'pointermove') {
            const distance = Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y);
            pressed.still &&= distance <= (pressed.finger ? STILL_FINGER : STILL);
            if (!pressed.still)
                clearTimeout(pressed.timer);
        }
    }

    function release() {
        if (!pressed?.held)
            return;
        pressed.held = false;
        clearTimeout(pressed.timer);
        if (pressed.asked)
            openPressed();
        else if (pressed.opened || popup.dismissed())
            swallowClick();
    }

    /* Neither the end of a long press nor a click that only closes the menu is a click on the map. */
    function swallowClick() {
        const swallow = (event) => {
            event.preventDefault();
            event.stopPropagation();
        };
        addEventListener('click', swallow, { capture: true, once: true });
        setTimeout(() => removeEventListener('click', swallow, true), 50);
    }

    /* Some browsers send this event at the button's press, others at its release. The menu opens at the release,
     * because movement in between turns the scene. */
    function onContextMenu(event) {
        event.preventDefault();
        if (pressed?.held && !pressed.finger)
            pressed.asked = true;
        else if (pressed)
            openPressed();
    }

    function onMenuKey(event) {
        if (event.key !== 'ContextMenu' && !(event.key === 'F10' && event.shiftKey))
            return;
        event.preventDefault();
        pressed = null;                   // it causes a contextmenu event, too
        open({ x: innerWidth / 2, y: innerHeight / 2 });
    }

    for (const pane of [$('plane'), $('scene')]) {
        pane.addEventListener('pointerdown', press, true);
        pane.addEventListener('contextmenu', onContextMenu);
        pane.addEventListener('keydown', onMenuKey);
    }
    for (const type of ['pointermove', 'touchmove'])
        addEventListener(type, move, true);
    for (const type of ['pointerup', 'pointercancel'])
        addEventListener(type, release, true);

    return { close: popup.close };
}
