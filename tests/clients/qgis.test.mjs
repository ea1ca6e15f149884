// QGIS, through its Python: the heights by URL and the WMTS, from the whole extent to a place. Skipped if python3-qgis is
// missing, because installing it takes 160 packages.

import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, it } from 'node:test';
import { useDaemon } from '../http/daemon.mjs';
import { patience, scratch } from '../http/program.mjs';
import { eachRow } from '../http/table.mjs';
import { PATIENT } from './pages.mjs';

const PYTHON = '/usr/bin/python3';      // Debian's, which has Debian's packages
const installed = spawnSync(PYTHON, ['-c', 'import qgis.core']).status === 0;

/* Opens the source argv[2] by the provider argv[1] and prints its extent, the values of band 1 at points, and the colors in views. */
const SCRIPT = `
import json, sys
from qgis.core import (QgsApplication, QgsContrastEnhancement, QgsMapRendererSequentialJob, QgsMapSettings,
    QgsPointXY, QgsRasterLayer, QgsRectangle)
from qgis.PyQt.QtCore import QSize
provider, source, points, views = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), json.loads(sys.argv[4])
QgsApplication.setPrefixPath('/usr', True)
application = QgsApplication([], False)
application.initQgis()
layer = QgsRasterLayer(source, 'farlands', provider)
assert layer.isValid(), layer.error().message()
if provider == 'gdal':         # as its window does when a layer is added
    layer.setContrastEnhancement(QgsContrastEnhancement.StretchToMinimumMaximum)
extent = layer.extent()
def colors(view):
    settings = QgsMapSettings()
    settings.setLayers([layer])
    settings.setDestinationCrs(layer.crs())
    settings.setOutputSize(QSize(256, 256))
    settings.setExtent(QgsRectangle(*view))
    job = QgsMapRendererSequentialJob(settings)
    job.start()
    job.waitForFinished()
    image = job.renderedImage()
    return len({image.pixel(x, y) for x in range(0, 256, 4) for y in range(0, 256, 4)})
print(json.dumps({
    'extent': [extent.xMinimum(), extent.yMinimum(), extent.xMaximum(), extent.yMaximum()],
    'values': [layer.dataProvider().sample(QgsPointXY(*point), 1)[0] for point in points],
    'colors': [colors(view) for view in views]}))
`;

describe('QGIS', { timeout: patience(900000), skip: !installed && 'python3-qgis is not installed' }, () => {
    const daemon = useDaemon({ builtIn: true, config: PATIENT });
    const home = scratch();

    async function open(provider, source, points, views) {
        const { stdout } = await promisify(execFile)(PYTHON, ['-c', SCRIPT, provider, source, JSON.stringify(points), JSON.stringify(views)], {
            timeout: patience(300000),
            env: { ...process.env, no_proxy: '*', HOME: home, XDG_RUNTIME_DIR: home, QT_QPA_PLATFORM: 'offscreen' },
        });
        return JSON.parse(stdout.trim().split('\n').at(-1));
    }

    const around = (half) => [-half, -half, half, half];

    it('shows height.xml in metres and blocks, north up', async () => {
        const points = [[12, -4], [-3000, 2000], [123456, 789012]];
        const { extent, values, colors } = await open('gdal', `http://${daemon.authority}/default/height.xml`,
            points.map(([x, y]) => [x + 0.5, -y - 0.5]), [around(2 ** 23), around(100000)]);
        assert.deepEqual(extent, around(2 ** 23));
        await eachRow(points.map((point, i) => [point, values[i]]), async ([[x, y], seen]) => {
            const { height } = await daemon.json(`/default/height?x=${x}&y=${y}`);
            assert.ok(Math.abs(seen - height) < 0.11, `${seen}, not ${height}`);
        });
        assert.ok(colors.every((count) => count > 20), `${colors} colors`);
    });

    it('shows the WMTS at its extent, and a place', async () => {
        const edge = Math.PI * 6378137;
        const { extent, colors } = await open('wms', 'crs=EPSG:3857&format=image/png&layers=default:relief&styles=default' +
            `&tileMatrixSet=GoogleMapsCompatible_Level25&url=http://${daemon.authority}/wmts.xml`, [], [around(edge), around(200000), around(2000)]);
        assert.ok(extent.every((at, i) => Math.abs(at - around(edge)[i]) < 1), `${extent}`);
        assert.ok(colors.every((count) => count > 20), `${colors} colors`);
    });
});
