/* The view in the address bar: #world/layer/zoom/x/y in blocks; in three dimensions also /3d/pitch/bearing and, if
 * chosen, /exaggeration. A link to share has the same as a query, ?place=..., because servers do not see the hash; so a
 * link's preview can show the place. */
import { parseBlocks, snap } from './world.js';

const rounded = (number, digits) => String(Number(number.toFixed(digits)));

export function formatHash(world, layer, { x, y, zoom, scene }) {
    const parts = [world.name, layer, rounded(zoom, 2), snap(world, x, zoom), snap(world, y, zoom)];
    if (scene)
        parts.push('3d', rounded(scene.pitch, 1), rounded(scene.bearing, 1));
    if (scene?.heights)
        parts.push(String(scene.heights));
    return `#${parts.join('/')}`;
}

export function parseHash(hash) {
    const [name, layer, ...rest] = hash.slice(1).split('/');
    const known = /^\w[\w.-]*(:\d{1,20})?$/.test(name) ? name : null;
    const [zoom, x, y] = rest.slice(0, 3).map(parseBlocks);
    const whole = rest.length >= 3 && [zoom, x, y].every(Number.isFinite);
    const place = { name: known, layer, ...(whole ? { zoom, x, y } : {}) };
    if (rest[3] !== '3d')
        return whole && rest.length === 3 ? place : { name: known, layer };
    const [pitch, bearing, heights] = rest.slice(4).map(parseBlocks);
    const scene = { heights: heights >= 1 ? heights : null };
    if (Number.isFinite(pitch) && Number.isFinite(bearing))
        Object.assign(scene, { pitch, bearing });
    return { ...place, scene };
}

export const linkOf = (hash) => `?place=${hash.slice(1)}`;

/* URL's place as a hash, or "". */
export function hashIn(url) {
    const place = url.searchParams.get('place');
    return url.hash || (place ? `#${place}` : '');
}
