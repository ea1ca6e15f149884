// The rules of TileJSON 3.0.0, from its schema and its text. Not a test.

import assert from 'node:assert/strict';

const isText = (value) => typeof value === 'string';
const isZoom = (value) => Number.isInteger(value) && value >= 0 && value <= 30;
const isVersion = (value) => isText(value) && /^\d+\.\d+\.\d+\w?[\w\d]*$/.test(value);
const listOf = (check) => (value) => Array.isArray(value) && value.every(check);
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isVectorLayer = (value) => isObject(value) && isText(value.id) && isObject(value.fields)
    && Object.values(value.fields).every(isText);

const REQUIRED = ['tilejson', 'tiles'];
const KEYS = {
    tilejson: isVersion, tiles: listOf(isText), vector_layers: listOf(isVectorLayer),
    attribution: isText, bounds: listOf(Number.isFinite), center: listOf(Number.isFinite),
    data: listOf(isText), description: isText, fillzoom: isZoom, grids: listOf(isText),
    legend: isText, maxzoom: isZoom, minzoom: isZoom, name: isText, scheme: isText,
    template: isText, version: isVersion,
};

export function assertTileJson(document) {
    for (const key of REQUIRED)
        assert.ok(key in document, `${key} is missing`);
    for (const [key, check] of Object.entries(KEYS))
        assert.ok(!(key in document) || check(document[key]), `${key}: ${JSON.stringify(document[key])}`);
    // Rules that are in the text alone.
    const { tiles, minzoom = 0, maxzoom = 30, bounds = [-180, -85.0512, 180, 85.0512], center, scheme = 'xyz' } = document;
    assert.ok(tiles.length > 0, 'no tiles');
    for (const template of tiles) {
        assert.equal(new URL(template).href.split('/')[0], template.split('/')[0], `not absolute: ${template}`);
        for (const part of ['{z}', '{x}', '{y}'])
            assert.ok(template.includes(part), `no ${part} in ${template}`);
    }
    assert.ok(minzoom <= maxzoom, `zooms ${minzoom} to ${maxzoom}`);
    assert.ok(['xyz', 'tms'].includes(scheme), scheme);
    const [west, south, east, north] = bounds;
    assert.equal(bounds.length, 4);
    assert.ok(-180 <= west && west < east && east <= 180, `bounds ${bounds}`);
    assert.ok(-90 <= south && south < north && north <= 90, `bounds ${bounds}`);
    if (!center)
        return;
    const [longitude, latitude, zoom] = center;
    assert.equal(center.length, 3);
    assert.ok(west <= longitude && longitude <= east, `center ${center}`);
    assert.ok(south <= latitude && latitude <= north, `center ${center}`);
    assert.ok(isZoom(zoom) && minzoom <= zoom && zoom <= maxzoom, `center ${center}`);
}
