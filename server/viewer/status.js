/* The status line: errors and confirmations. */
import { $ } from './world.js';

let timer = 0;

/* Show MESSAGE until the next one, or for MS milliseconds. */
export function say(message, { ms = 0, calm = false } = {}) {
    const status = $('status');
    clearTimeout(timer);
    if (status.textContent !== message)
        status.textContent = message;
    status.hidden = !message;
    status.classList.toggle('calm', calm);
    if (ms)
        timer = setTimeout(say, ms, '');
}

export function sayWhy(error) {
    say(error.status ? `The server responded: ${error.message}` : 'Server unreachable, retrying…');
}

export const saysServer = () => $('status').textContent.startsWith('Server');
