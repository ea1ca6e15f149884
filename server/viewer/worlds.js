/* The menu of worlds: each with a picture, its name, and its description from the configuration. */
import { $, clamp, findLayer, getWorld, regionAddress, startPlace, step } from './world.js';
import { makePopup } from './popup.js';

const PICTURE = { width: 168, height: 105 };     // px
const FAR = 4;                    // first-view pixels per picture pixel
const STEPS = [2 ** -10, 2 ** 20];       // blocks between a region's samples

/* The address of a picture for WORLD's first view; null if WORLD has no pictures. */
function pictureOf(world) {
    const layer = findLayer(world, 'relief');
    if (!layer)
        return null;
    const { x, y, zoom } = startPlace(world);
    const grain = clamp(FAR * step(world, zoom), ...STEPS);
    const first = (middle, size) => (Math.round(middle / grain) - Math.floor(size / 2)) * grain;
    const box = { x: first(x, PICTURE.width), y: first(y, PICTURE.height), step: grain, ...PICTURE };
    return regionAddress(world, box, 'png', layer);
}

/* `choose` is called with the chosen world's name. */
export function makeWorldMenu({ choose }) {
    const menu = $('worlds');
    const list = menu.querySelector('[role=menu]');
    const popup = makePopup(menu, { closed: () => $('world').focus({ preventScroll: true }) });
    let shown = { catalogue: [], chosen: null };

    /* Request a document and a picture once their item is in sight. */
    const sight = new IntersectionObserver((entries) => {
        for (const { target, isIntersecting } of entries)
            if (isIntersecting) {
                sight.unobserve(target);
                paint(target).catch(() => {});           // the name remains
            }
    }, { root: menu, rootMargin: '100px' });

    async function paint(item) {
        const picture = pictureOf(await getWorld(item.dataset.name));
        if (picture)
            item.querySelector('img').src = picture;
    }

    function itemOf({ name, about, fingerprint }) {
        const item = Object.assign(document.createElement('button'), { type: 'button', tabIndex: -1 });
        Object.assign(item.dataset, { name, fingerprint });
        item.setAttribute('role', 'menuitemradio');
        item.setAttribute('aria-checked', String(name === shown.chosen));
        const title = Object.assign(document.createElement('strong'), { textContent: name });
        item.append(Object.assign(new Image(PICTURE.width, PICTURE.height), { alt: '' }), title);
        if (about)
            item.append(Object.assign(document.createElement('span'), { className: 'quiet', textContent: about }));
        item.addEventListener('click', () => choose(name));
        sight.observe(item);
        return item;
    }

    /* An item keeps its picture if its world is unchanged. */
    function fill() {
        const old = new Map([...list.children].map((item) => [`${item.dataset.name} ${item.dataset.fingerprint}`, item]));
        list.replaceChildren(...shown.catalogue.map((world) => {
            const item = old.get(`${world.name} ${world.fingerprint}`) ?? itemOf(world);
            item.setAttribute('aria-checked', String(world.name === shown.chosen));
            return item;
        }));
    }

    $('world').addEventListener('click', ({ detail }) => {
        if (detail && popup.dismissed())      // a press on the button closes the menu, too
            return;
        fill();
        const { left, bottom } = $('world').getBoundingClientRect();
        popup.open({ x: left, y: bottom }, list.querySelector('[aria-checked=true]'));
    });

    return {
        /* CATALOGUE is the list in /worlds.json, and CHOSEN the shown world's name. */
        show(catalogue, chosen) {
            shown = { catalogue, chosen };
            const single = catalogue.every(({ name }) => name === chosen);
            $('world').hidden = single;
            $('world-name').hidden = !single;
            $('world-name').textContent = $('world-chosen').textContent = chosen;
        },
    };
}
