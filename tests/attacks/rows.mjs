// Attacks on the built-in worlds, as [row, description, stream(four), options]. The stream is open_loop's options without
// addresses, for one address or for four; the options are withstand()'s. Not a test.

import { BUILT_IN, scratchFile } from '../http/program.mjs';
import { HOT, takesTurns } from './scene.mjs';

export const urls = (list) => list.flatMap((url) => ['--url', url]);

/* --- Samples far apart. In worlds with rivers each takes a search of its own, some 40 ms of a core. ---- */

export const ANYWHERE = 'x={-1000000000..1000000000}&y={-1000000000..1000000000}';
export const FAR = '&step=1048576';
export const FAR_REGION = `/default/region.f32?${ANYWHERE}&width=4&height=1${FAR}`;
export const FAR_VOLUME = `/default/volume.f32?${ANYWHERE}&z=0&width=3&height=3&depth=1${FAR}`;
const FAR_REGIONS = [
    `/default/region.png?${ANYWHERE}&width=512&height=512${FAR}`,
    `/default/region.f32?${ANYWHERE}&width=4097&height=1${FAR}`,
    `/default/region.u8?${ANYWHERE}&width=64&height=4${FAR}&field=biome`,
    `/default/region.f32?${ANYWHERE}&width=64&height=64${FAR}&field=surface`,
    `/default/region.png?${ANYWHERE}&width=257&height=257&step=65536`,
    `/default/region.f32?${ANYWHERE}&width=512&height=1${FAR}`,
    FAR_REGION,
];

/* --- Always new seeds --------------------------------------------------------------------------------- */

export const SEED = '{0..1000000000}';
export const MATCHES = ['--header', 'If-None-Match: *'];
export const SEED_TILE = `/default:${SEED}/gray/16/{0..65535}/{0..65535}.png`;

/* --- Searches and lists ------------------------------------------------------------------------------- */

export const HOPELESS = 'min=5999&slope=0.0001';
const FIELDS = 'alpine,arid,bank,base,biome,broad,coast,continent,hills,humidity,plateau,river,temperature,uplift,valleys,water';
/* Lists of 500 places. */
const lists = () => scratchFile('lists', Array.from({ length: 40 }, () => `/default/heights?fields=${FIELDS}&at=${Array.from({ length: 500 },
    () => `${Math.floor(1e7 * Math.random())},${Math.floor(1e6 * Math.random())}`).join(';')}`).join('\n'));

/* --- Headers ------------------------------------------------------------------------------------------- */

/* 500 of them are 10 KB. */
export const TAGS = Array.from({ length: 500 }, (_, i) => `"${String(i).padStart(16, '0')}"`).join(', ');

const PAUSED = ['--closed', '--pause', 30];

export const ROWS = [
    ['12a', 'regions of far samples whose clients leave', () => [...PAUSED, '--connections', 64, '--abandon', '0.7@200', ...urls(FAR_REGIONS)]],
    ['12b', 'volumes of nine far samples', () => ['--rate', 40, '--connections', 16, '--url', FAR_VOLUME]],
    ['13a', 'documents of new seeds', (four) => ['--closed', '--connections', four ? 100 : 64, '--url', `/default:${SEED}.json`]],
    ['13b', 'documents, 304s and 404s of new seeds on 1,000 connections', () => ['--closed', '--connections', 1000, ...MATCHES,
        ...urls(['.json', '/relief.json', '/wmts.xml', '/relief/6/31/32.png', '/nowhere/6/31/32.png'].map((end) => `/default:${SEED}${end}`))]],
    // They wait for renders, with what belongs to their worlds. Some connections are left to the honest client.
    ['13c', 'tiles of new seeds on all connections', (four) => [...PAUSED, '--connections', four ? 4096 : 1024, '--url', SEED_TILE],
        { limits: 'connections: 4300' }],
    ['13d', 'heights, regions, volumes and tiles of new seeds of three worlds', () => [...PAUSED, '--connections', 400, ...urls(BUILT_IN.flatMap((world) => [
        'height?x={0..1000000}&y=7', 'region.f32?x={0..1000000}&y=0&width=17&height=17', 'volume.f32?x={0..1000000}&y=0&z=0&width=9&height=9&depth=9',
        'relief/12/{0..4095}/{0..4095}.png'].map((end) => `/${world}:${SEED}/${end}`)))]],
    ['14a', 'hopeless spawns in three worlds', () => [...PAUSED, '--connections', 400, ...urls(BUILT_IN.map((world) => `/${world}/spawn?${ANYWHERE}&${HOPELESS}`))]],
    ['14b', 'heights of 500 far places with 16 fields', () => [...PAUSED, '--connections', 64, '--urls', lists()]],
    ['15a', 'If-None-Match with 500 tags', () => ['--closed', '--connections', 200, '--header', `If-None-Match: ${TAGS}`, '--url', HOT], takesTurns],
    ['15b', '/wmts.xml on 1,000 connections', () => ['--closed', '--connections', 1000, '--url', '/wmts.xml'], takesTurns],
];

/* The rows of a file, such as '12'. */
export const rowsOf = (file) => ROWS.filter(([row]) => row.startsWith(file));
