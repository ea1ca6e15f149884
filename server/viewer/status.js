/* The status line: errors and confirmations. */
import { $ } from './world.js';

let timer = 0;
let expected = null;

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

/* From now on sayWhy() says that the world NAME opens once the server responds; null: no such world. */
export function expect(name) {
    expected = name;
}

export function sayWhy(error) {
    const next = expected === null ? 'retrying…' : `“${expected}” opens when it responds…`;
    say(error.status ? `The server responded: ${error.message}` : `Server unreachable, ${next}`);
}

export const saysServer = () => $('status').textContent.startsWith('Server');
