// Faults that users meet in the built-in worlds and that are known, each with a test that says what is right. Such a test
// is written as any other, by known() instead of it(). As long as it fails as its row says, it counts as passed, and the
// summary lists it as TODO; if it fails in another way, or passes, it has failed. Whoever mends a fault removes the row:
// without one known() is it(). Not a test.

import assert from 'node:assert/strict';
import { it } from 'node:test';

/* FILE and TEST: where the test is, and its title. HAPPENS: what it fails with today. EXPECTED: what users should get. */
export const KNOWN = [
    { file: 'tests/clients/gdal.test.mjs', test: 'opens heights of every zoom by URL', happens: /3 of 3 rows failed/,
        expected: '`height` has tiles below zoom 10, too, of filtered ground' },
    { file: 'tests/clients/gdal.test.mjs', test: 'shows the whole of height.xml', happens: /262144/,
        expected: 'overviews down to one tile; today QGIS needs a million tiles at full extent' },
    { file: 'tests/clients/gdal.test.mjs', test: 'reads heights from the WMTS at zoom 0', happens: /ERROR 1: GDALWMS: Unable to open/,
        expected: 'heights; today each request is 404' },
    { file: 'tests/clients/meshes.test.mjs', test: 'of three.js, at zoom 0', happens: /RangeError|404/, expected: 'a mesh of 257 x 257 samples' },
    { file: 'tests/clients/meshes.test.mjs', test: 'of deck.gl, at zoom 1', happens: /404 for/, expected: 'tiles of `height`; today 404' },
    { file: 'tests/clients/meshes.test.mjs', test: 'of Cesium, from 20,000 km', happens: /404 for/,
        expected: 'the planet; today its first tile, 0/0/0, is 404' },
    { file: 'tests/http/14-metadata.test.mjs', test: 'have heights at zoom 0', happens: /3 of 3 rows failed[^]*10 !== 0/,
        expected: 'minzoom 0 in the TileJSON of `height`' },
    { file: 'tests/http/20-points.test.mjs', test: 'puts players on land', happens: /rows failed[^]*under water/,
        expected: '/spawn without `min` finds dry land in a world with a sea' },
    { file: 'tests/http/36-maps.test.mjs', test: 'have the heights that they name', happens: /status 404/,
        expected: 'tiles of `height` from zoom 0 on' },
    { file: 'tests/http/43-water.test.mjs', test: 'is sea where a river crosses it', happens: /2 of 5 rows failed[^]*a dam/,
        expected: 'a sea without dams below river mouths' },
];

/* Run CHECK, the test of ROW, which is to fail as it says. Returns what to print. */
export async function fails({ happens, expected }, check) {
    let failure = null;
    try {
        await check();
    } catch (error) {
        failure = error;
    }
    assert.ok(failure, 'passes now: remove its row from tests/known.mjs');
    if (!happens.test(failure.message))
        throw failure;
    return `known: ${happens.source}; expected: ${expected}`;
}

export function known(title, ...rest) {
    const row = KNOWN.find(({ test }) => test === title);
    const check = rest.pop();
    it(title, ...rest, row ? async (t) => t.todo(await fails(row, () => check(t))) : check);
}
