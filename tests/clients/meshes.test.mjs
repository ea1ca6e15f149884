// Cesium, deck.gl and three.js: meshes from tiles with a border, which meet without cracks. tests/examples/pages has the
// pages.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useDaemon } from '../http/daemon.mjs';
import { decimal, floats, sameFloat, unitsAt } from '../http/grid.mjs';
import { decodePng } from '../http/png.mjs';
import { patience } from '../http/program.mjs';
import { eachRow } from '../http/table.mjs';
import { PATIENT, useBrowser, userPage } from './pages.mjs';

const SMALL = { viewport: { width: 200, height: 200 } };        // WebGL in software
const BEHIND = [255, 0, 255];       // the background, which no relief has

/* A block's place on the web map, whose square begins at block -2^23. */
function lngLat(place) {
    const [u, v] = place.map((block) => block / 2 ** 24 + 0.5);
    return [360 * u - 180, Math.atan(Math.sinh(Math.PI * (1 - 2 * v))) * 180 / Math.PI];
}

function blockAt([longitude, latitude]) {
    const v = 0.5 - Math.asinh(Math.tan(latitude * Math.PI / 180)) / (2 * Math.PI);
    return [longitude / 360 + 0.5, v].map((part) => (part - 0.5) * 2 ** 24);
}

describe('meshes', { timeout: patience(900000) }, () => {
    const daemon = useDaemon({ builtIn: true, config: PATIENT });
    const visit = useBrowser(['--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist']);

    /* Open a page, with what it makes: window.view, window.map or window.viewer, as READY says. */
    async function open(name, ready, options) {
        const visited = await visit.file(userPage(name, `http://${daemon.authority}`), { ...options, ...SMALL });
        await visited.page.waitForFunction(ready);
        await visited.page.evaluate(EDGES);
        return visited;
    }
    const openThree = (hash) => open('three', () => window.view?.scene.children.length === 9, { hash });
    const openDeck = () => open('deck', () => window.map?.setProps);     // there is a `map` before: the element
    const openCesium = () => open('cesium', () => window.viewer, { served: true });     // its workers need a server

    /* The height at sample (I, J) of a tile: that of its place from zoom 10 on. */
    async function heightAt([z, x, y], i, j) {
        if (z < 10)
            return floats(await daemon.bytes(`/default/height/${z}/${x}/${y}.f32?border=1`))[257 * j + i];
        const [east, south] = [unitsAt(z, x, i), unitsAt(z, y, j)].map(decimal);
        return (await daemon.json(`/default/height?x=${east}&y=${south}`)).height;
    }

    /* The place of sample (I, J) of a tile, in blocks. */
    const placeOf = ([z, x, y], i, j) => [unitsAt(z, x, i), unitsAt(z, y, j)].map((units) => Number(units) / 1024);

    /* Assert that HEIGHT at a place is one of a mesh of zoom Z: between the samples around it. */
    async function assertNear(height, z, place) {
        const step = 2 ** (16 - z);
        const [west, north] = place.map((block) => Math.floor(block / step) * step);
        const heights = await Promise.all([[0, 0], [1, 0], [0, 1], [1, 1]].map(([i, j]) => {
            const [column, row] = [west / step + 2 ** (z + 7) + i, north / step + 2 ** (z + 7) + j];
            const tile = [column, row].map((sample) => Math.floor(sample / 256));
            return heightAt([z, ...tile], column - 256 * tile[0], row - 256 * tile[1]);
        }));
        const error = 0.001 + 2 ** (8 - z);        // of the depth of a pixel, or of a ray
        assert.ok(height > Math.min(...heights) - error && height < Math.max(...heights) + error,
            `${height} at ${place}, between the samples ${heights}`);
    }

    /*
     * Assert that the meshes of the four tiles around the corner of tile (X, Y) have their corners exactly at the
     * terrain, and that neighbors share their edges: edges(TILE) is what edgesOf() in a page makes of a mesh.
     */
    async function assertExact([z, x, y], edges) {
        const tiles = [[-1, -1], [0, -1], [-1, 0], [0, 0]].map(([i, j]) => [z, x + i, y + j]);
        const meshes = [];
        for (const tile of tiles) {
            const mesh = await edges(tile);
            meshes.push(mesh);
            for (const [side, n, i, j] of [['north', 0, 0, 0], ['north', 256, 256, 0], ['south', 0, 0, 256],
                ['south', 256, 256, 256], ['west', 100, 0, 100], ['east', 200, 256, 200]]) {
                const [east, south, height] = mesh[side][n];
                const expected = await heightAt(tile, i, j);
                assert.deepEqual([east, south], placeOf(tile, i, j), `sample ${i}, ${j} of ${tile}`);
                assert.ok(sameFloat(height, expected), `${height} at sample ${i}, ${j} of ${tile}, not ${expected}`);
            }
        }
        const [northWest, northEast, southWest, southEast] = meshes;
        for (const [side, a, opposite, b] of [['east', northWest, 'west', northEast], ['east', southWest, 'west', southEast],
            ['south', northWest, 'north', southWest], ['south', northEast, 'north', southEast]]) {
            assert.equal(a[side].length, 257);
            assert.deepEqual(a[side], b[opposite], `a crack between ${side} and ${opposite}`);
        }
    }

    /* A function for pages: the edges of a mesh; vertex(i, j) is [east, south, height] of sample (i, j), in blocks. */
    const EDGES = `window.edgesOf = (vertex) => {
        const along = (at) => Array.from({ length: 257 }, (_, n) => vertex(...at(n)));
        return { north: along((n) => [n, 0]), south: along((n) => [n, 256]),
            west: along((n) => [0, n]), east: along((n) => [256, n]) };
    };`;

    /* Assert that ground covers the whole view PAGE, without a pixel of the background. */
    async function assertCovered(page) {
        const { samples, width, height } = decodePng(await page.screenshot());
        let behind = 0;
        for (let n = 0; n < 3 * width * height; n += 3)
            behind += BEHIND.every((value, channel) => samples[n + channel] === value);
        assert.equal(behind, 0, 'pixels of the background');
        assert.ok(new Set(samples).size > 2, 'the view is empty');
    }

    it('of three.js', async () => {
        const { page } = await openThree();
        await assertCovered(page);
        await eachRow([[10, 512, 512], [16, 32768, 32700], [20, -3, 7]], async (tile) => {
            const [z] = tile;
            await assertExact(tile, (at) => page.evaluate(async (place) => {
                const mesh = await window.view.ground(...place);
                mesh.updateMatrixWorld();
                const { position } = mesh.geometry.attributes;
                return window.edgesOf((i, j) => {
                    const vertex = new window.view.THREE.Vector3().fromBufferAttribute(position, 257 * j + i);
                    const { x: east, y: up, z: south } = vertex.applyMatrix4(mesh.matrixWorld);
                    return [east, south, up];
                });
            }, at));
            const seen = await page.evaluate(async ([level, right, down]) => {
                const { THREE, ground } = window.view;
                const scene = new THREE.Scene();
                scene.background = new THREE.Color(0xff00ff);
                for (const [i, j] of [[-1, -1], [0, -1], [-1, 0], [0, 0]])
                    scene.add(await ground(level, right + i, down + j));
                const side = 256 * 2 ** (16 - level);
                const middle = scene.children[3].position.clone().add(new THREE.Vector3(-side / 2, 0, -side / 2));
                const camera = new THREE.OrthographicCamera(-side, side, side, -side, 1, 20001);
                camera.position.copy(middle).setY(10000);
                camera.up.set(0, 0, -1);
                camera.lookAt(middle);
                scene.add(camera);
                const renderer = new THREE.WebGLRenderer();
                renderer.setSize(200, 200);
                document.body.replaceChildren(renderer.domElement);
                renderer.render(scene, camera);
                return [[0.25, -0.5], [-0.125, 0.75]].map(([i, j]) => {
                    const place = middle.clone().add(new THREE.Vector3(i * side, 10000, j * side));
                    return new THREE.Raycaster(place, new THREE.Vector3(0, -1, 0)).intersectObjects(scene.children)[0]?.point.y;
                });
            }, tile);
            await assertCovered(page);
            await assertNear(seen[0], z, placeOf(tile, 64, -128));
            await assertNear(seen[1], z, placeOf(tile, -32, 192));
        });
    });

    /* Assert that a page has requested heights of COUNT zooms. What is not there is an error of the page. */
    function assertZooms(urls, count) {
        const zooms = new Set(urls.map((url) => /\/default\/height\/(\d+)\//.exec(url)?.[1]).filter(Boolean));
        assert.ok(zooms.size >= count, `zooms ${[...zooms]}`);
    }

    it('of three.js, at zoom 0', async () => {
        const { page } = await openThree('#0/0/0');
        const ups = new Set(await page.evaluate(() => {
            const { position } = window.view.scene.children.find((mesh) => mesh.position.length() === 0).geometry.attributes;
            return Array.from({ length: position.count }, (_, n) => position.getY(n));
        }));
        for (const height of floats(await daemon.bytes('/default/height/0/0/0.f32?border=1')))
            assert.ok(ups.has(height), `no ${height} in the mesh`);
    });

    it('of deck.gl, at zooms 1 to 12', async () => {
        const { page, urls } = await openDeck();
        for (const zoom of [1, 4, 9, 12]) {
            await page.evaluate((z) => window.map.setProps({ initialViewState: { longitude: 1, latitude: 1, zoom: z - 1 } }), zoom);
            await page.waitForFunction((level) => {
                const layers = window.map.layerManager.getLayers();
                return layers.every((one) => one.isLoaded) && layers.some((one) => one.props.tile?.index.z === level);
            }, zoom);
        }
        assertZooms(urls, 4);
    });

    it('of Cesium, from 20,000 km', async () => {
        const { page, urls } = await openCesium();
        await page.evaluate('viewer.camera.setView({ destination: Cesium.Cartesian3.fromDegrees(0, 0, 20000000) })');
        await page.waitForFunction(() => window.viewer.scene.globe.tilesLoaded && window.viewer.scene.globe._surface._tilesToRender.length > 0);
        assertZooms(urls, 1);
    });

    it('of deck.gl', async () => {
        const { page } = await openDeck();
        await page.addStyleTag({ content: '#map { background: #f0f }' });
        await page.evaluate(`window.layer = map.props.layers[0];
            window.shown = () => map.layerManager.getLayers().filter((one) => one instanceof deck.SimpleMeshLayer
                && one.parent.state.tileset.selectedTiles.includes(one.props.tile));`);
        await eachRow([[10, 512, 512], [20, 524291, 524280]], async (tile) => {
            const [z] = tile;
            const [longitude, latitude] = lngLat(placeOf(tile, 0, 0));
            const height = await heightAt(tile, 0, 0);
            await page.evaluate(([view, zRange]) => window.map.setProps({
                initialViewState: view, layers: [window.layer.clone({ zRange })],
            }), [{ longitude, latitude, zoom: z - 1, position: [0, 0, height] }, [height, height]]);
            await page.waitForFunction(([level, right, down]) => {
                const meshes = window.shown();
                return window.map.layerManager.getLayers().every((layer) => layer.isLoaded) && meshes.length === 4
                    && meshes.every(({ props: { tile: { index } } }) => index.z === level && Math.abs(index.x - right) < 2
                        && Math.abs(index.y - down) < 2);
            }, tile);
            await assertExact(tile, (at) => page.evaluate((place) => {
                const { props } = window.shown().find(({ props: { tile: { index } } }) =>
                    [index.z, index.x, index.y].join() === place.join());
                const { value } = props.mesh.attributes.positions;
                const [east, north] = props.coordinateOrigin;       // 512 units are 2^24 blocks
                return window.edgesOf((i, j) => {
                    const [right, up, height] = value.subarray(3 * (257 * j + i));
                    return [(east + right - 256) * 32768, (256 - north - up) * 32768, height];
                });
            }, at));
            await assertCovered(page);
        });
        const { coordinate } = await page.evaluate(() => window.map.pickObject({ x: 130, y: 60, unproject3D: true }));
        await assertNear(coordinate[2], 20, blockAt(coordinate));
    });

    it('of Cesium', async () => {
        const { page, urls } = await openCesium();
        await page.evaluate(`window.drawn = () => viewer.scene.globe._surface._tilesToRender;
            viewer.scene.globe.baseColor = viewer.scene.backgroundColor = Cesium.Color.MAGENTA;
            viewer.camera.setView({ destination: Cesium.Cartesian3.fromDegrees(0, 0, 20000) });
        `);
        const level = await (await page.waitForFunction(() => {
            const tiles = window.drawn(), [{ level: first = 0 } = {}] = tiles;
            if (tiles.length !== 4 || first < 8 || !tiles.every(({ level, data }) => level === first && data.mesh
                && data.imagery.every(({ readyImagery }) => readyImagery)))
                return 0;
            window.viewer.useDefaultRenderLoop = false;     // these tiles stay
            return first;
        })).jsonValue();
        await assertExact([level, 2 ** (level - 1), 2 ** (level - 1)], async (tile) => {
            const { north, south, west, east } = await page.evaluate((place) => {
                const { mesh } = window.drawn().find((one) => [one.level, one.x, one.y].join() === place.join()).data;
                return window.edgesOf((i, j) => {
                    const { x, y, z } = mesh.encoding.decodePosition(mesh.vertices, 257 * j + i, new window.Cesium.Cartesian3());
                    const { longitude, latitude } = window.Cesium.Cartographic.fromCartesian({ x, y, z });
                    return [longitude, latitude, mesh.encoding.decodeHeight(mesh.vertices, 257 * j + i)];
                });
            }, tile);
            /* Cesium's places are 32-bit metres. */
            const inBlocks = ([longitude, latitude, height]) => [...blockAt([longitude, latitude]
                .map((angle) => angle * 180 / Math.PI)).map((block) => Math.round(block) + 0), height];
            return { north: north.map(inBlocks), south: south.map(inBlocks), west: west.map(inBlocks), east: east.map(inBlocks) };
        });
        await assertCovered(page);
        assert.ok(urls.some((url) => url.includes('/default/relief/')), 'no tiles of relief');
        const place = lngLat([1234, 567]);
        const seen = await page.evaluate(([longitude, latitude]) => window.viewer.scene.globe
            .getHeight(window.Cesium.Cartographic.fromDegrees(longitude, latitude)), place);
        await assertNear(seen, level, [1234, 567]);
        /* Within a tile it takes equal steps of latitude for equal rows, so it is exact only at corners. */
        await eachRow([[10, 512, 512], [16, 32768, 32700], [22, 2097160, 1], [25, 5, 33554400]], async (tile) => {
            const height = await page.evaluate(async ([z, [longitude, latitude]]) => {
                const { Cesium, viewer } = window;
                const [{ height: sampled }] = await Cesium.sampleTerrain(viewer.terrainProvider, z,
                    [Cesium.Cartographic.fromDegrees(longitude, latitude)]);
                return sampled;
            }, [tile[0], lngLat(placeOf(tile, 0, 0))]);
            const expected = await heightAt(tile, 0, 0);
            assert.ok(Math.abs(height - expected) < 1e-4, `${height}, not ${expected}`);
        });
    });
});
