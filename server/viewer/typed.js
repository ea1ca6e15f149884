/* Places as people type or paste them: block coordinates in many notations, and links to this viewer. Depends neither
 * on the page nor on a view. */
import { grouped, plain, withinLimit } from './world.js';
import { hashIn, parseHash } from './place.js';

const ENTER = 'Enter x, y in blocks, such as 100, -200, or a link to this viewer';

/* "050" is no number of its own: it ends a number with thousands separators. */
const PLAIN = /^[+-]?(?!0\d\d$)(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const GROUPED = /^[+-]?[1-9]\d{0,2}([, '_])\d{3}(\1\d{3})*(\.\d+)?$/;

function numberOf(text) {
    const bare = GROUPED.test(text) ? text.replace(/[, '_]/g, '') : text;
    return PLAIN.test(bare) ? Number(bare) : NaN;
}

/* Every pair of numbers that TEXT can mean. A separator that occurs once, the strongest first, stands between x and y.
 * Otherwise both numbers have thousands separators, as in 1,000,2,000; three numbers are not two. */
function readings(text) {
    const found = [/;/g, /,\s/g, /\s/g, /,/g].map((separator) => [...text.matchAll(separator)]);
    const single = found.find(({ length }) => length === 1);
    const fits = (part) => !Number.isNaN(numberOf(part)) && (single || GROUPED.test(part));
    return (single ?? [...text.matchAll(/[,\s]/g)])
        .map(({ index }) => [text.slice(0, index), text.slice(index + 1)].map((part) => part.trim()))
        .filter((parts) => parts.every(fits))
        .map((parts) => parts.map(numberOf));
}

/* The pair in "x=100 y=200", "Y: 200, X: 100" or "x:100,y:200"; or null. */
function labelled(text) {
    const [, first, a, second, b] = /^([xy])\s*[=:]?\s*([^xy]+?)[\s,;&]*([xy])\s*[=:]?\s*([^xy]+)$/i.exec(text) ?? [];
    if (!first || first.toLowerCase() === second.toLowerCase())
        return null;
    const pair = [a, b].map(numberOf);
    return first.toLowerCase() === 'x' ? pair : pair.reverse();
}

/* Why TEXT, without labels, is not one pair of numbers. */
function whyNot(text) {
    const parts = text.split(/[\s,;]+/).filter(Boolean);
    const odd = parts.find((part) => !/^[+-]?(\d[\d']*\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(part));
    if (!parts.length)
        return `${ENTER}.`;
    if (odd)
        return `“${odd}” is not a number. ${ENTER}.`;
    if (parts.length === 1 || (parts.length === 2 && !Number.isNaN(numberOf(text))))
        return `“${text}” is only one number. ${ENTER}.`;
    if (/^[+-]?\d+,\d+[\s;]+[+-]?\d+,\d+$/.test(text))
        return `Decimals have a point, not a comma: ${text.replace(/,/g, '.')}.`;
    return `“${text}” can be read in several ways. Put a semicolon between x and y, such as 1,000; 2,000.`;
}

function tryUrl(text, home) {
    try {
        return new URL(text, home);
    } catch {
        return null;
    }
}

/* { hash } from a link to the viewer at HOME, or { why } it is no such link. TEXT may lack the scheme. */
function linked(text, home) {
    const url = /^[#?]/.test(text) ? tryUrl(text, home)
        : tryUrl(/^[a-z]+:\/\//i.test(text) ? text : `${home.protocol}//${text}`);
    if (url?.host !== home.host)
        return { why: `That link leads to ${url?.host || 'nowhere'}, and this viewer is at ${home.host}.` };
    const hash = hashIn(url);
    if (url.pathname !== home.pathname || !parseHash(hash).name)
        return { why: 'That link leads to no place in this viewer. Such links end with #world/layer/zoom/x/y or ?place=world/layer/zoom/x/y.' };
    return { hash };
}

/* What TEXT means in WORLD: { x, y } in blocks, { hash } from a link, or { why } it is neither. HOME is the page's
 * URL. */
export function parseTyped(text, world, home) {
    if (/^\s*[a-z]+:\/\/|#|\?place=/i.test(text))
        return linked(text.trim(), new URL(home));
    const bare = text.replace(/\u2212/g, '-').replace(/[\u202f\u2009"]/g, '').replace(/\s+/g, ' ').trim()
        .replace(/^[([{<](.*)[)\]}>]$/, '$1').replace(/^[?\s]+|[,;\s]+$/g, '');
    const pair = labelled(bare);
    const pairs = pair ? [pair] : readings(bare);
    if (pairs.length !== 1 || pairs[0].some(Number.isNaN))
        return { why: whyNot(bare.replace(/(^|[\s,;&])[xy]\s*[=:]?\s*(?=[\d.+-])/gi, '$1')) };
    const [x, y] = pairs[0];
    if (!withinLimit(world, [x, y]))
        return { why: `That place is outside the world, which ends at ±${grouped(plain(world.limits.coordinate))} blocks.` };
    return { x, y };
}
