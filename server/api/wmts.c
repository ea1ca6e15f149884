#include <stdio.h>
#include <string.h>

#include "server/api/handlers.h"
#include "server/api/map_documents.h"
#include "server/routing/resolve.h"

static const char *code_name(enum wmts_code code)
{
    static const char *const names[] = {
        [WMTS_MISSING_PARAMETER_VALUE] = "MissingParameterValue",
        [WMTS_INVALID_PARAMETER_VALUE] = "InvalidParameterValue",
        [WMTS_OPERATION_NOT_SUPPORTED] = "OperationNotSupported",
        [WMTS_VERSION_NEGOTIATION_FAILED] = "VersionNegotiationFailed",
        [WMTS_TILE_OUT_OF_RANGE] = "TileOutOfRange",
    };
    return names[code];
}

void wmts_respond_fault(struct request_context *context, const struct wmts_fault *fault,
                        const char *why)
{
    response_state(context, wmts_status(fault->code), "application/xml",
                   document_wmts_exception(code_name(fault->code), fault->locator, why));
}

/* Check that NUMBER is a row or column of the matrix, which has SIDE of each. */
static unsigned check_range(const char *name, int64_t number, int64_t side,
                            struct wmts_fault *fault, char *why)
{
    if (number >= 0 && number < side)
        return 0;
    return wmts_reject(fault, why, WMTS_TILE_OUT_OF_RANGE, name,
                       "%s: expected 0 to %lld at this tilematrix", name, (long long)side - 1);
}

/* Check that the capabilities have the tile. */
static unsigned check_tile(const struct world *world, const struct route *route,
                           struct wmts_fault *fault, char why[ROUTE_WHY])
{
    const int zooms = wmts_max_zoom(world);
    char set[ROUTE_WORD];
    int field;
    const int layer = resolve_layer(world, route, &field, why);

    if (layer < 0)
        return wmts_reject(fault, why, WMTS_INVALID_PARAMETER_VALUE, "layer",
                           "layer: world %.40s has no layer \"%.40s\"; the capabilities list them",
                           world->name, route->layer);
    if (!world_lists(world, layer))
        return wmts_reject(fault, why, WMTS_INVALID_PARAMETER_VALUE, "layer",
                           "layer: the capabilities have no fields such as \"%.40s\"",
                           route->layer);
    snprintf(set, sizeof set, WMTS_SET, zooms);
    if (strcmp(route->set, set) != 0)
        return wmts_reject(fault, why, WMTS_INVALID_PARAMETER_VALUE, "tilematrixset",
                           "tilematrixset: \"%.40s\" is not %s, that of this world", route->set,
                           set);
    if (route->z < 0 || route->z > zooms)
        return wmts_reject(fault, why, WMTS_INVALID_PARAMETER_VALUE, "tilematrix",
                           "tilematrix: expected 0 to %d in this world", zooms);
    const unsigned status = check_range("tilerow", route->y, INT64_C(1) << route->z, fault, why);
    return status ? status : check_range("tilecol", route->x, INT64_C(1) << route->z, fault, why);
}

void wmts_respond(struct service *service, struct request_context *context,
                  const struct world *world, const struct route *route, const char *why)
{
    struct wmts_fault fault = {WMTS_INVALID_PARAMETER_VALUE, "layer"};
    char text[ROUTE_WHY];

    if (!world)
        wmts_respond_fault(context, &fault, why);
    else if (check_tile(world, route, &fault, text))
        wmts_respond_fault(context, &fault, text);
    else
        tiles_respond(service, context, world, route);
}
