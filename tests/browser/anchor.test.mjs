/* Unit tests of anchor.js, which maps the infinite plane to MapLibre's square. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as anchors from '../../server/viewer/anchor.js';

const WORLD = { native_zoom: 16, origin: [-8388608, -8388608], tile_size: 256 };
const PLACES = [
    { x: 0, y: 0, zoom: 6 },
    { x: -123456.5, y: 654321.25, zoom: 12 },
    { x: 8388608, y: -8388608, zoom: 16 },
    { x: -7.0625, y: 3, zoom: 26 },
    { x: 5e9, y: -7e11, zoom: -26 },
    { x: 5e9, y: -7e11, zoom: -3.4 },
    { x: 2 ** 52 - 3, y: -(2 ** 52) + 5, zoom: 16 },
];

/* MapLibre's tile of zoom Z that contains a place, and the position in it, by Web Mercator. */
function tileOf({ lng, lat }, z) {
    const south = (1 - Math.asinh(Math.tan(lat * Math.PI / 180)) / Math.PI) / 2;
    const [x, y] = [(lng / 360 + 0.5) * 2 ** z, south * 2 ** z];
    return { z, x: Math.floor(x), y: Math.floor(y), in: [x - Math.floor(x), y - Math.floor(y)] };
}

for (const place of PLACES) {
    const name = `${place.x}, ${place.y} at ${place.zoom}`;
    const anchor = anchors.anchorAt(WORLD, place);

    test(`${name}: every tile from COARSEST on is a tile of the world that covers the same blocks`, () => {
        for (let z = anchors.COARSEST; z <= anchors.LOOK + 5; z++) {
            const tile = tileOf(anchors.toLngLat(anchor, place), z);
            const found = anchors.worldTile(anchor, tile);
            assert.ok(Number.isInteger(found.x) && Number.isInteger(found.y), JSON.stringify(found));
            assert.equal(found.z - z, Math.round(place.zoom) - anchors.LOOK);
            const side = 256 * 2 ** (16 - found.z);
            const at = [WORLD.origin[0] + (found.x + tile.in[0]) * side, WORLD.origin[1] + (found.y + tile.in[1]) * side];
            const pixel = 2 ** (16 - place.zoom);
            const [dx, dy] = [at[0] - place.x, at[1] - place.y];
            assert.ok(Math.hypot(dx, dy) <= Math.max(0.01 * pixel, 2), `zoom ${z}: ${dx}, ${dy} blocks off`);
        }
    });

    test(`${name}: round trip`, () => {
        const back = anchors.toBlocks(anchor, anchors.toLngLat(anchor, place));
        const pixel = 2 ** (16 - place.zoom);
        assert.ok(Math.hypot(back.x - place.x, back.y - place.y) <= Math.max(1e-6 * pixel, 1e-15 * 2 ** 52), JSON.stringify(back));
        assert.ok(Math.abs(anchors.worldZoom(anchor, anchors.cameraZoom(anchor, place.zoom)) - place.zoom) < 1e-12);
        assert.ok(anchors.serves(anchor, place));
        assert.ok(Math.abs(anchors.toLngLat(anchor, place).lat) < 3, 'near the equator');
    });
}

test('an anchor serves only places near it', () => {
    const place = { x: 0, y: 0, zoom: 6 };
    const anchor = anchors.anchorAt(WORLD, place);
    const edge = anchor.side / 64;
    assert.ok(anchors.serves(anchor, { ...place, x: anchor.middle[0] + 0.9 * edge }));
    assert.ok(!anchors.serves(anchor, { ...place, x: anchor.middle[0] - 1.1 * edge }));
    assert.ok(!anchors.serves(anchor, { ...place, zoom: 2 }));
    assert.ok(!anchors.serves(anchor, { ...place, zoom: 12 }));
});

test('vertical and horizontal scale are equal', () => {
    const anchor = anchors.anchorAt(WORLD, { x: 0, y: 0, zoom: 6 });
    const across = 40030228.884 * 1000 / anchor.side;      // of 1000 blocks, in MapLibre's metres
    assert.ok(Math.abs(1000 * anchors.trueHeights(anchor, { x: 0, y: 0 }) / across - 1) < 0.002);
});
