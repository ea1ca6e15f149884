#include "map_documents.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/values/exact_numbers.h"
#include "server/layers/layer.h"
#include "server/world/tile.h"

/* As in TileJSON. */
enum { WMTS_MAX_ZOOM = 25 };

/* GDAL counts pixels in int: there are 2^30 per side at this zoom. */
enum { GDAL_MAX_ZOOM = 22 };

enum { PATH_MAX_BYTES = WORLD_SEEDED_NAME_MAX + 16 };

struct xml {
    FILE *out;
    char *text;
    size_t length;
};

static bool xml_begin(struct xml *xml, const char *base)
{
    assert(!strpbrk(base, "<>&\"'"));
    xml->out = open_memstream(&xml->text, &xml->length);
    return xml->out;
}

/* Complete the text. False if out of memory. */
static bool xml_flush(struct xml *xml)
{
    return fflush(xml->out) == 0 && !ferror(xml->out);
}

static void xml_free(struct xml *xml)
{
    fclose(xml->out);
    free(xml->text);
}

static struct blob *xml_end(struct xml *xml)
{
    struct blob *blob = xml_flush(xml) ? blob_copy(xml->text, xml->length) : NULL;
    xml_free(xml);
    return blob;
}

/* LAYER's pictures; TILE is the placeholders for zoom, x and y. */
static void print_tile_url(FILE *out, const struct world *world, int layer, int field,
                           const char *base, const char *tile)
{
    char name[LAYER_NAME_MAX];
    fprintf(out, "%s/%s/%s/%s.png?v=%s", base, world->name, layer_name(world, layer, field, name),
            tile, world->fingerprints.tile[layer]);
}

int wmts_max_zoom(const struct world *world)
{
    const int zoom = world_max_zoom(world, 1);
    return zoom < WMTS_MAX_ZOOM ? zoom : WMTS_MAX_ZOOM;
}

static void print_get(FILE *out, const char *encoding, const char *base, const char *path)
{
    fprintf(out,
            "<ows:Get xlink:href=\"%s/%s\"><ows:Constraint name=\"GetEncoding\">"
            "<ows:AllowedValues><ows:Value>%s</ows:Value></ows:AllowedValues></ows:Constraint>"
            "</ows:Get>",
            base, path, encoding);
}

/* The operation's URLs: PATH (RESTful), first so that OpenLayers takes it, and then by keys and
 * values. */
static void print_operation(FILE *out, const char *name, const char *base, const char *path,
                            const char *service)
{
    fprintf(out, "<ows:Operation name=\"%s\"><ows:DCP><ows:HTTP>", name);
    print_get(out, "RESTful", base, path);
    print_get(out, "KVP", base, service);
    fputs("</ows:HTTP></ows:DCP></ows:Operation>\n", out);
}

static void print_layer(FILE *out, const struct world *world, int layer, const char *base)
{
    const char *name = world->name, *encoding = layers[layer].encoding;

    fprintf(out, "<Layer>\n<ows:Title>%s %s</ows:Title>\n", name, layers[layer].name);
    fprintf(
        out,
        "<ows:Abstract>Layer %s of the world %s, an endless seeded terrain%s%s</ows:Abstract>\n",
        layers[layer].name, name, encoding ? "; heights encoded as " : "",
        encoding ? encoding : "");
    fputs("<ows:WGS84BoundingBox><ows:LowerCorner>-180 -85.0511287798066</ows:LowerCorner>"
          "<ows:UpperCorner>180 85.0511287798066</ows:UpperCorner></ows:WGS84BoundingBox>\n",
          out);
    fprintf(out, "<ows:Identifier>%s:%s</ows:Identifier>\n", name, layers[layer].name);
    fputs("<ows:BoundingBox crs=\"urn:ogc:def:crs:EPSG::3857\">"
          "<ows:LowerCorner>-20037508.342789244 -20037508.342789244</ows:LowerCorner>"
          "<ows:UpperCorner>20037508.342789244 20037508.342789244</ows:UpperCorner>"
          "</ows:BoundingBox>\n"
          "<Style isDefault=\"true\"><ows:Identifier>default</ows:Identifier></Style>\n"
          "<Format>image/png</Format>\n",
          out);
    fprintf(out, "<TileMatrixSetLink><TileMatrixSet>" WMTS_SET "</TileMatrixSet>",
            wmts_max_zoom(world));
    fputs("</TileMatrixSetLink>\n"
          "<ResourceURL format=\"image/png\" resourceType=\"tile\" template=\"",
          out);
    print_tile_url(out, world, layer, 0, base, "{TileMatrix}/{TileCol}/{TileRow}");
    fputs("\"/>\n</Layer>\n", out);
}

/* Web Mercator's zooms up to MOST: by the standard, a pixel is 0.28 mm wide. */
static void print_matrix_set(FILE *out, int most)
{
    static const double radius = 6378137, pixel = 0.00028;
    char corner[REAL_TEXT], scale[REAL_TEXT];

    real_format(M_PI * radius, corner);
    fprintf(
        out,
        "<TileMatrixSet>\n<ows:Identifier>" WMTS_SET "</ows:Identifier>\n"
        "<ows:SupportedCRS>urn:ogc:def:crs:EPSG::3857</ows:SupportedCRS>\n"
        "<WellKnownScaleSet>urn:ogc:def:wkss:OGC:1.0:GoogleMapsCompatible</WellKnownScaleSet>\n",
        most);
    for (int z = 0; z <= most; z++) {
        real_format(ldexp(2 * M_PI * radius / TILE_SIZE / pixel, -z), scale);
        fprintf(out,
                "<TileMatrix><ows:Identifier>%d</ows:Identifier>"
                "<ScaleDenominator>%s</ScaleDenominator><TopLeftCorner>-%s %s</TopLeftCorner>"
                "<TileWidth>%d</TileWidth><TileHeight>%d</TileHeight>"
                "<MatrixWidth>%d</MatrixWidth><MatrixHeight>%d</MatrixHeight></TileMatrix>\n",
                z, scale, corner, corner, TILE_SIZE, TILE_SIZE, 1 << z, 1 << z);
    }
    fputs("</TileMatrixSet>\n", out);
}

static void print_contents(FILE *out, const struct world *first, int count, const char *base)
{
    uint32_t zooms = 0; /* bit z: a world has zooms up to z */

    fputs("<Contents>\n", out);
    for (const struct world *world = first; world < first + count; world++) {
        zooms |= UINT32_C(1) << wmts_max_zoom(world);
        for (int i = 0; layers[i].name; i++)
            if (world_lists(world, i))
                print_layer(out, world, i, base);
    }
    for (int z = 0; z <= WMTS_MAX_ZOOM; z++)
        if (zooms >> z & 1)
            print_matrix_set(out, z);
    fputs("</Contents>\n", out);
}

struct blob *document_wmts(const struct world *first, int count, const char *self, const char *base)
{
    char document[PATH_MAX_BYTES], service[PATH_MAX_BYTES];
    struct xml xml;

    snprintf(document, sizeof document, "%s.xml", self);
    snprintf(service, sizeof service, "%s?", self);
    if (!xml_begin(&xml, base))
        return NULL;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<Capabilities xmlns=\"http://www.opengis.net/wmts/1.0\" "
          "xmlns:ows=\"http://www.opengis.net/ows/1.1\" "
          "xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
          "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
          "xsi:schemaLocation=\"http://www.opengis.net/wmts/1.0 "
          "http://schemas.opengis.net/wmts/1.0/wmtsGetCapabilities_response.xsd\" "
          "version=\"1.0.0\">\n"
          "<ows:ServiceIdentification><ows:Title>Farlands</ows:Title>"
          "<ows:ServiceType>OGC WMTS</ows:ServiceType>"
          "<ows:ServiceTypeVersion>1.0.0</ows:ServiceTypeVersion></ows:ServiceIdentification>\n"
          "<ows:OperationsMetadata>\n",
          xml.out);
    print_operation(xml.out, "GetCapabilities", base, document, service);
    print_operation(xml.out, "GetTile", base, "", service);
    fputs("</ows:OperationsMetadata>\n", xml.out);
    print_contents(xml.out, first, count, base);
    fprintf(xml.out, "<ServiceMetadataURL xlink:href=\"%s/%s\"/>\n</Capabilities>\n", base,
            document);
    return xml_end(&xml);
}

/* TEXT from a request: XML must not have bytes in another encoding. */
static void print_text(FILE *out, const char *text)
{
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            putc('?', out);
        else if (strchr("<>&\"", *text))
            fprintf(out, "&#%d;", *text);
        else
            putc(*text, out);
}

struct blob *document_wmts_exception(const char *code, const char *locator, const char *why)
{
    struct xml xml;

    if (!xml_begin(&xml, ""))
        return NULL;
    fprintf(xml.out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<ows:ExceptionReport xmlns:ows=\"http://www.opengis.net/ows/1.1\" "
            "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
            "xsi:schemaLocation=\"http://www.opengis.net/ows/1.1 "
            "http://schemas.opengis.net/ows/1.1.0/owsExceptionReport.xsd\" "
            "version=\"1.1.0\" xml:lang=\"en\">\n"
            "<ows:Exception exceptionCode=\"%s\" locator=\"",
            code);
    print_text(xml.out, locator);
    fputs("\"><ows:ExceptionText>", xml.out);
    print_text(xml.out, why);
    fputs("</ows:ExceptionText></ows:Exception>\n</ows:ExceptionReport>\n", xml.out);
    return xml_end(&xml);
}

static int gdal_zoom(const struct world_config *config)
{
    return config->native_zoom < GDAL_MAX_ZOOM ? config->native_zoom : GDAL_MAX_ZOOM;
}

/* A file for GDAL's driver WMS, which knows it by the first bytes: no XML declaration. */
static void print_gdal_wms(FILE *out, const struct world *world, int layer, int field,
                           const char *base)
{
    static const struct {
        int bands;
        const char *type;
    } pixels[] = {
        [PIXEL_GRAY8] = {1, "Byte"},   [PIXEL_GRAY16] = {1, "UInt16"}, [PIXEL_RGB8] = {3, "Byte"},
        [PIXEL_PICTURE] = {3, "Byte"}, [PIXEL_INDEX8] = {1, "Byte"},
    };
    const struct world_config *config = world->config;
    const int64_t side = (INT64_C(256) << config->native_zoom) * FARLANDS_UNIT;
    const int64_t west = config->origin[0], north = -config->origin[1];
    char left[BLOCKS_TEXT], top[BLOCKS_TEXT], right[BLOCKS_TEXT], bottom[BLOCKS_TEXT];

    fputs("<GDAL_WMS>\n  <Service name=\"TMS\"><ServerUrl>", out);
    print_tile_url(out, world, layer, field, base, "${z}/${x}/${y}");
    fprintf(out,
            "</ServerUrl></Service>\n"
            "  <DataWindow>\n"
            "    <UpperLeftX>%s</UpperLeftX><UpperLeftY>%s</UpperLeftY>\n"
            "    <LowerRightX>%s</LowerRightX><LowerRightY>%s</LowerRightY>\n"
            "    <TileLevel>%d</TileLevel><TileCountX>1</TileCountX><TileCountY>1</TileCountY>\n"
            "    <YOrigin>top</YOrigin>\n"
            "  </DataWindow>\n",
            blocks_format(west, left), blocks_format(north, top), blocks_format(west + side, right),
            blocks_format(north - side, bottom), gdal_zoom(config));
    fprintf(out, "  <BlockSizeX>%d</BlockSizeX><BlockSizeY>%d</BlockSizeY>\n", TILE_SIZE,
            TILE_SIZE);
    fprintf(out,
            "  <BandsCount>%d</BandsCount><DataType>%s</DataType>\n"
            "</GDAL_WMS>\n",
            pixels[layers[layer].pixel].bands, pixels[layers[layer].pixel].type);
}

/* Escape XML, which has no &, as an element's text. */
static void print_escaped(FILE *out, const char *xml)
{
    for (; *xml; xml++)
        if (*xml == '<')
            fputs("&lt;", out);
        else
            putc(*xml, out);
}

/* A file for GDAL's driver VRT: CONTENT's picture, as the WMS file describes it, with the offset
 * and scale of its numbers. */
static void print_gdal_vrt(FILE *out, const struct content *content, const char *wms)
{
    const struct world_config *config = content->world->config;
    const double min = (double)content->range.min, max = (double)content->range.max;
    const bool metres = content->field == world_height_field(content->world) ||
                        world_is_surface(content->world, content->field);
    const int zoom = gdal_zoom(config), side = TILE_SIZE << zoom;
    const int64_t pixel = INT64_C(1) << (config->native_zoom - zoom);
    char left[BLOCKS_TEXT], top[BLOCKS_TEXT], offset[REAL_TEXT], scale[REAL_TEXT];

    blocks_format(config->origin[0], left);
    blocks_format(-config->origin[1], top);
    real_format(min, offset);
    real_format((max - min) / UINT16_MAX, scale);
    fprintf(out,
            "<VRTDataset rasterXSize=\"%d\" rasterYSize=\"%d\">\n"
            "  <GeoTransform>%s, %" PRId64 ", 0, %s, 0, %" PRId64 "</GeoTransform>\n"
            "  <VRTRasterBand dataType=\"UInt16\" band=\"1\">\n"
            "    <ColorInterp>Gray</ColorInterp>%s<Offset>%s</Offset><Scale>%s</Scale>\n"
            "    <SimpleSource><SourceBand>1</SourceBand><SourceFilename>",
            side, side, left, pixel, top, -pixel, metres ? "<UnitType>m</UnitType>" : "", offset,
            scale);
    print_escaped(out, wms);
    /* QGIS derives colors from GDAL's overviews of the whole, which are 0 without the
     * rectangles. */
    fprintf(out,
            "</SourceFilename>\n"
            "      <SrcRect xOff=\"0\" yOff=\"0\" xSize=\"%d\" ySize=\"%d\"/>\n"
            "      <DstRect xOff=\"0\" yOff=\"0\" xSize=\"%d\" ySize=\"%d\"/>\n"
            "    </SimpleSource>\n"
            "  </VRTRasterBand>\n"
            "</VRTDataset>\n",
            side, side, side, side);
}

struct blob *document_gdal(const struct world *world, int layer, int field, const char *base)
{
    const struct content content = world_content(world, layer, field);
    struct xml wms, vrt;

    if (!xml_begin(&wms, base))
        return NULL;
    print_gdal_wms(wms.out, world, layer, field, base);
    if (layers[layer].pixel != PIXEL_GRAY16)
        return xml_end(&wms);
    struct blob *blob = NULL;
    if (xml_flush(&wms) && xml_begin(&vrt, base)) {
        print_gdal_vrt(vrt.out, &content, wms.text);
        blob = xml_end(&vrt);
    }
    xml_free(&wms);
    return blob;
}
