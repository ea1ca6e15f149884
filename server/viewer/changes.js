/* Follows a watched configuration on the server: errors, and worlds that have changed. */
import { $, getJson, sleep } from './world.js';

const PAUSE = 250;                // ms between two requests, most answered from the browser's cache after a 304

/* While the page is hidden, nobody looks. */
async function shown() {
    while (document.hidden)
        await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }));
}

function showError(error) {
    if ($('broken-why').textContent === (error ?? ''))
        return;
    $('broken-why').textContent = error ?? '';
    $('broken').hidden = !error;
}

/* Poll PATH until the server no longer has it. Calls `changed` at the start and whenever the worlds have changed, and
 * each time once more later, because the first requests may reach a server thread that still has the old worlds. */
export async function follow(path, changed) {
    for (let worlds = null, calls = 0; ; await sleep(PAUSE)) {
        await shown();
        try {
            const seen = await getJson(path);
            showError(seen.error);
            if (seen.worlds !== worlds)
                calls = 2;
            worlds = seen.worlds;
            if (calls > 0)
                await changed();
            calls = Math.max(calls - 1, 0);
        } catch (error) {
            if (error.status === 404)
                return showError(null);
        }
    }
}
