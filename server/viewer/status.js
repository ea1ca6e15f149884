/* The one line that tells the reader what is wrong, or was done. */
import { $ } from './world.js';

let timer = 0;

/* Until something else is said, or for MS. */
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
    say(error.status ? `The server answers: ${error.message}` : 'Server unreachable, retrying…');
}

export const saysServer = () => $('status').textContent.startsWith('Server');
