/* A menu over the map: its position, its keys, and everything that closes it. */
import { clamp } from './world.js';

const MARGIN = 8;                 // px between the menu and the window's edge

/* MENU is a panel with a role "menu" inside. `closed` is called if it closes while it has the focus. */
export function makePopup(menu, { closed }) {
    let dismissed = false;        // by the last press
    const items = () => [...menu.querySelectorAll('[role^=menuitem]')].filter((item) => !item.hidden);

    /* Beside POINT, and inside the window. */
    function position({ x, y }) {
        const { width, height } = menu.getBoundingClientRect();
        const left = x + width + MARGIN <= innerWidth ? x : x - width;
        const top = y + height + MARGIN <= innerHeight ? y : y - height;
        menu.style.left = `${clamp(left, MARGIN, Math.max(MARGIN, innerWidth - width - MARGIN))}px`;
        menu.style.top = `${clamp(top, MARGIN, Math.max(MARGIN, innerHeight - height - MARGIN))}px`;
    }

    /* Of all items, Tab reaches only the focused one. */
    function focus(item, options) {
        for (const each of items())
            each.tabIndex = each === item ? 0 : -1;
        item.focus(options);
    }

    /* With the focus on FIRST, or on the first item. */
    function open(point, first = null) {
        menu.hidden = false;
        menu.scrollTop = 0;
        position(point);
        focus(first ?? items()[0], { preventScroll: !first });
    }

    function close() {
        if (menu.hidden)
            return;
        const focused = menu.contains(document.activeElement) || document.activeElement === document.body;
        menu.hidden = true;
        if (focused)
            closed();
    }

    function onKey(event) {
        const { key } = event;
        const all = items();
        const at = all.indexOf(document.activeElement);
        const next = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: -1 }[key];
        event.stopPropagation();          // the page's own keys
        if (next !== undefined)
            focus(all.at(next % all.length));
        else if (key === ' ')
            document.activeElement.click();
        else if (key === 'Escape' || key === 'Tab')
            close();
        else
            return;
        event.preventDefault();
    }

    menu.addEventListener('keydown', onKey);
    menu.addEventListener('click', ({ target }) => {
        if (target.closest('[role^=menuitem]'))
            close();
    });
    addEventListener('pointerdown', ({ target }) => {
        dismissed = !menu.hidden && !menu.contains(target);
        if (dismissed)
            close();
    }, true);
    addEventListener('blur', close);

    /* `dismissed` is true if the last press of a pointer closed the menu. */
    return { open, close, dismissed: () => dismissed };
}
