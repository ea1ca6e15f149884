// Capabilities of a Web Map Tile Service, and the rules of OGC 07-057r7, from its schemas and its text. Not a test.

import assert from 'node:assert/strict';

/* TEXT, XML without comments, as { name, attributes, children, text }. Entities, &lt; and those of numbers, are left as they
 * are. */
export function parseXml(text) {
    const root = { name: '', attributes: {}, children: [], text: '' };
    const open = [root];
    let end = 0;
    for (const match of text.matchAll(/<([?/]?)([\w:]+)((?: [\w:]+="(?:[^"<>&]|&#\d+;)*")*) ?([?/]?)>/g)) {
        const [tag, before, name, attributes, after] = match;
        open[0].text += text.slice(end, match.index);
        end = match.index + tag.length;
        if (before === '/') {
            assert.equal(open.shift().name, name);
        } else if (before !== '?') {
            const element = { name, children: [], text: '', attributes: Object.fromEntries(
                [...attributes.matchAll(/ ([\w:]+)="([^"]*)"/g)].map(([, key, value]) => [key, value])) };
            open[0].children.push(element);
            if (after !== '/')
                open.unshift(element);
        }
        assert.doesNotMatch(open[0].text, /<|&(?!lt;|#\d+;)/);
    }
    assert.deepEqual(open, [root]);
    assert.equal(text.slice(end).trim(), '');
    assert.equal(root.children.length, 1);
    return root.children[0];
}

/* The elements at a PATH of names below ELEMENT. */
export const all = (element, ...path) => path.reduce((elements, name) =>
    elements.flatMap(({ children }) => children.filter((child) => child.name === name)), [element]);

export function one(element, ...path) {
    const found = all(element, ...path);
    assert.equal(found.length, 1, path.join('/'));
    return found[0];
}

export const textOf = (element, ...path) => one(element, ...path).text;

/* The children that the schemas allow, in their order, and those that clients need: any number (*), some (+), one or
 * none (?). */
const SCHEMA = {
    Capabilities: 'ows:ServiceIdentification? ows:ServiceProvider? ows:OperationsMetadata? Contents Themes* ' +
        'ServiceMetadataURL*',
    'ows:ServiceIdentification': 'ows:Title* ows:Abstract* ows:Keywords* ows:ServiceType ows:ServiceTypeVersion+',
    'ows:OperationsMetadata': 'ows:Operation ows:Operation+',
    'ows:Operation': 'ows:DCP+',
    'ows:DCP': 'ows:HTTP',
    'ows:HTTP': 'ows:Get+',
    'ows:Get': 'ows:Constraint*',
    'ows:Constraint': 'ows:AllowedValues',
    'ows:AllowedValues': 'ows:Value+',
    Contents: 'Layer* TileMatrixSet*',
    Layer: 'ows:Title* ows:Abstract* ows:WGS84BoundingBox? ows:Identifier ows:BoundingBox* Style+ Format+ ' +
        'TileMatrixSetLink+ ResourceURL*',
    'ows:WGS84BoundingBox': 'ows:LowerCorner ows:UpperCorner',
    'ows:BoundingBox': 'ows:LowerCorner ows:UpperCorner',
    Style: 'ows:Title* ows:Identifier',
    TileMatrixSetLink: 'TileMatrixSet TileMatrixSetLimits?',
    TileMatrixSetLimits: 'TileMatrixLimits+',
    TileMatrixLimits: 'TileMatrix MinTileRow MaxTileRow MinTileCol MaxTileCol',
    TileMatrixSet: 'ows:Identifier ows:SupportedCRS WellKnownScaleSet? TileMatrix+',
    TileMatrix: 'ows:Identifier ScaleDenominator TopLeftCorner TileWidth TileHeight MatrixWidth MatrixHeight',
};

function assertSchema(element) {
    const names = element.children.map(({ name }) => `${name} `).join('');
    if (names === '')
        return;
    const pattern = (SCHEMA[element.name] ?? '').replace(/([\w:]+)([*+?]?) ?/g, '($1 )$2');
    assert.match(names, new RegExp(`^${pattern}$`), element.name);
    assert.equal(element.text.trim(), '', element.name);
    element.children.forEach(assertSchema);
}

/* The layers of a parsed document, with the identifiers of their sets of tile matrices and their URL templates. */
export const layersOf = (capabilities) => all(capabilities, 'Contents', 'Layer').map((layer) => ({
    name: textOf(layer, 'ows:Identifier'),
    set: textOf(layer, 'TileMatrixSetLink', 'TileMatrixSet'),
    template: one(layer, 'ResourceURL').attributes.template,
}));

export const fill = (template, z, x, y) =>
    template.replace('{TileMatrix}', z).replace('{TileCol}', x).replace('{TileRow}', y);

/* The URL of OPERATION by keys and values. */
export const kvpOf = (capabilities, operation) => all(capabilities, 'ows:OperationsMetadata', 'ows:Operation')
    .filter(({ attributes }) => attributes.name === operation)
    .flatMap((found) => all(found, 'ows:DCP', 'ows:HTTP', 'ows:Get'))
    .find((get) => textOf(get, 'ows:Constraint', 'ows:AllowedValues', 'ows:Value') === 'KVP').attributes['xlink:href'];

export function assertWmts(capabilities) {
    assert.equal(capabilities.name, 'Capabilities');
    assert.equal(capabilities.attributes.version, '1.0.0');
    assert.equal(capabilities.attributes.xmlns, 'http://www.opengis.net/wmts/1.0');
    assert.equal(capabilities.attributes['xmlns:ows'], 'http://www.opengis.net/ows/1.1');
    assertSchema(capabilities);
    assert.equal(textOf(capabilities, 'ows:ServiceIdentification', 'ows:ServiceType'), 'OGC WMTS');
    assert.deepEqual(all(capabilities, 'ows:OperationsMetadata', 'ows:Operation').map(({ attributes }) =>
        attributes.name).sort(), ['GetCapabilities', 'GetTile']);
    for (const operation of all(capabilities, 'ows:OperationsMetadata', 'ows:Operation'))
        assert.deepEqual(all(operation, 'ows:DCP', 'ows:HTTP', 'ows:Get').map((get) =>
            textOf(get, 'ows:Constraint', 'ows:AllowedValues', 'ows:Value')), ['RESTful', 'KVP']);
    const layers = layersOf(capabilities);
    const sets = all(capabilities, 'Contents', 'TileMatrixSet');
    const names = sets.map((set) => textOf(set, 'ows:Identifier'));
    for (const list of [layers.map(({ name }) => name), names])
        assert.equal(new Set(list).size, list.length, `twice: ${list}`);
    assert.deepEqual([...new Set(layers.map(({ set }) => set))].sort(), [...names].sort(), 'sets that layers have');
    for (const layer of all(capabilities, 'Contents', 'Layer')) {
        const { attributes: { format, resourceType, template } } = one(layer, 'ResourceURL');
        assert.deepEqual([format, resourceType], [textOf(layer, 'Format'), 'tile']);
        assert.match(template, /^https?:\/\/[^{}]+\/\{TileMatrix\}\/\{TileCol\}\/\{TileRow\}[^{}]*$/);
        assert.equal(all(layer, 'Style').filter(({ attributes }) => attributes.isDefault === 'true').length, 1);
    }
    for (const set of sets) {
        assert.equal(textOf(set, 'ows:SupportedCRS'), 'urn:ogc:def:crs:EPSG::3857');
        all(set, 'TileMatrix').forEach((matrix, z) => {
            const numbers = ['ows:Identifier', 'TileWidth', 'TileHeight', 'MatrixWidth', 'MatrixHeight'];
            assert.deepEqual(numbers.map((name) => textOf(matrix, name)), [z, 256, 256, 2 ** z, 2 ** z].map(String));
            // Annex E.4 has these digits; a pixel is 0.28 mm.
            const scale = 559082264.0287178 / 2 ** z;
            assert.ok(Math.abs(textOf(matrix, 'ScaleDenominator') / scale - 1) < 1e-12, `scale at ${z}`);
            const [left, top] = textOf(matrix, 'TopLeftCorner').split(' ').map(Number);
            assert.equal(left, -top);
            assert.ok(Math.abs(2 * top / 2 ** z / 256 - scale * 0.00028) < 1e-9, `width at ${z}`);
        });
    }
}
