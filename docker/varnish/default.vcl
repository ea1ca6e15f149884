vcl 4.1;

# A cache in front of one node or of a balancer, like nginx/edge.conf.template, for Varnish 7.1 or later:
#
#   varnishd -a :80 -f /etc/varnish/default.vcl -s malloc,10g -s Transient=malloc,1g -p http_gzip_support=off
#
# Transient bounds the parts of regions that slow clients have not received yet. gzip is off because the origin
# compresses, with a separate ETag. List this Varnish in `proxies` of the origin's farlands.yaml.

backend origin {
    .host = "farlands";
    .port = "8080";
    .connect_timeout = 1s;
    .first_byte_timeout = 65s; # a spawn search takes up to 60 s
    .between_bytes_timeout = 30s;
}

# The TLS proxy in front: its X-Forwarded-For, -Proto, -Host and -Port are believed.
acl trusted {
    "0.0.0.0"; # none
}

sub vcl_recv {
    if (req.method != "GET" && req.method != "HEAD" && req.method != "OPTIONS") {
        return (synth(405, "method: expected GET, HEAD or OPTIONS"));
    }
    if (req.http.Transfer-Encoding || (req.http.Content-Length && req.http.Content-Length != "0")) {
        return (synth(413, "request bodies are not accepted"));
    }
    if (req.url ~ "/(healthz|readyz|metrics)(\?|$)") {
        if (req.url == "/healthz") {
            return (synth(200, "ok"));
        }
        return (synth(404, "nothing is at this URL"));
    }

    if (client.ip !~ trusted) {
        set req.http.X-Forwarded-For = client.ip;
        set req.http.X-Forwarded-Proto = "http";
        set req.http.X-Forwarded-Host = req.http.Host;
        unset req.http.X-Forwarded-Port;
    }
    unset req.http.X-Forwarded-Prefix;
    unset req.http.Forwarded;
    unset req.http.Cookie;
    unset req.http.Authorization;

    # Normalize Accept-Encoding to two values.
    if (req.http.Accept-Encoding ~ "(?i)(^|,)\s*gzip\s*(,|$|;\s*q=(1|0\.\d*[1-9]))") {
        set req.http.Accept-Encoding = "gzip";
    } else {
        unset req.http.Accept-Encoding;
    }

    # Ignore several ranges, as the daemon does.
    if (req.http.Range ~ ",") {
        unset req.http.Range;
    }
    # A range is cut from plain numbers.
    if (req.http.Range) {
        unset req.http.Accept-Encoding;
    }

    if (req.method == "OPTIONS") {
        return (pass);
    }
    if (req.url ~ "^[^?]*/spawn\?") {
        set req.http.X-Kind = "answer";
    } else if (req.url ~ "^[^?]*/-?\d+/-?\d+/-?\d+(@2x)?\.\w+(\?|$)") {
        # The cache key, and the URL for the origin: the path, and only border and v of the query.
        set req.http.X-Kind = "tile";
        set req.http.X-Query = "";
        if (req.url ~ "[?&]border=") {
            set req.http.X-Query = regsub(req.url, "^.*?[?&](border=[^&]*).*$", "?\1");
        }
        if (req.url ~ "[?&]v=[0-9a-f]{16}(&|$)") {
            set req.http.X-Query = req.http.X-Query + regsub(req.http.X-Query, "^.*$", "&")
                + regsub(req.url, "^.*?[?&](v=[0-9a-f]{16})(&.*)?$", "\1");
            set req.http.X-Query = regsub(req.http.X-Query, "^&", "?");
        }
        set req.url = regsub(req.url, "\?.*$", "") + req.http.X-Query;
        unset req.http.X-Query;
    } else if (req.url ~ "(?i)^[^?]*/wmts\?(.*&)?request=gettile(&|$)") {
        # Tiles of WMTS by keys and values, as QGIS requests them: any key may matter, so the cache key is the whole URL.
        set req.http.X-Kind = "tile";
    } else if (req.url ~ "^[^?]*/(wmts\.xml)?\?(.*&)?(place|(?i)request)="
        || req.url !~ "^[^?]*/([^/?]+\.(json|xml|txt|ico)|apple-touch-icon[^/?]*\.png|viewer/[^/?]+)?(\?|$)") {
        # Everything else passes through as it is made, with its whole query, Range and If-None-Match, and is not
        # cached: regions, volumes, heights, courses, one for every place, from 0.04 ms of work to 64 MiB. So do the
        # viewer's page for a link to a place, which has a preview of it, and WMTS with a request.
        return (pass);
    } else {
        # Documents and the viewer: the path, and of a TileJSON's query the format of the tiles.
        set req.http.X-Kind = "page";
        set req.http.X-Query = "";
        if (req.url ~ "^[^?]*/[^/?]+/[^/?]+\.json\?(.*&)?format=") {
            set req.http.X-Query = regsub(req.url, "^.*?[?&](format=[^&]*).*$", "?\1");
        }
        set req.url = regsub(req.url, "\?.*$", "") + req.http.X-Query;
        unset req.http.X-Query;
        # Serve stale pages only if the origin is away, which is known after a request to it: see vcl_deliver.
        if (req.restarts == 0) {
            set req.grace = 0s;
        } else {
            set req.grace = 1d;
        }
    }
    return (hash);
}

# The origin's Vary adds the rest: the Host for TileJSON, Accept-Encoding for the viewer.
sub vcl_hash {
    hash_data(req.url);
    return (lookup);
}

sub vcl_backend_fetch {
    unset bereq.http.X-Kind;
}

sub vcl_backend_response {
    # Never cache errors. A stale copy is served instead, if there is one. Without one, requests for the same URL
    # do not wait for each other for one second.
    if (beresp.status >= 500 && bereq.is_bgfetch) {
        return (abandon);
    }
    if (bereq.uncacheable) {
        return (deliver);
    }
    if (beresp.status != 200) {
        set beresp.uncacheable = true;
        set beresp.ttl = 1s;
        return (deliver);
    }
    # Serve stale copies while one request revalidates by ETag.
    if (beresp.http.Cache-Control == "no-cache") {
        # Viewer, TileJSON, worlds: revalidated after 10 s here, and before each use by browsers.
        set beresp.ttl = 10s;
        set beresp.grace = 1d;
    } else if (beresp.http.Cache-Control ~ "max-age") {
        set beresp.grace = 30d;
    }
    return (deliver);
}

sub vcl_backend_error {
    if (bereq.is_bgfetch) {
        return (abandon);
    }
    set beresp.status = 503;
    set beresp.http.Content-Type = "application/json";
    set beresp.http.Access-Control-Allow-Origin = "*";
    set beresp.http.Cross-Origin-Resource-Policy = "cross-origin";
    set beresp.http.Timing-Allow-Origin = "*";
    set beresp.http.Cache-Control = "no-store";
    set beresp.http.Retry-After = "1";
    set beresp.body = """{"error":"no server is available; retry later"}
""";
    set beresp.ttl = 0s;
    set beresp.grace = 0s;
    return (deliver);
}

sub vcl_deliver {
    if (resp.status == 503 && req.http.X-Kind == "page" && req.restarts == 0) {
        return (restart);
    }
    # Varnish would compare * with the ETag.
    if (req.http.If-None-Match == "*") {
        set req.http.If-None-Match = resp.http.ETag;
    }
    unset resp.http.X-Varnish;
    # RFC 9211.
    if (obj.uncacheable) {
        set resp.http.Cache-Status = "farlands-edge; fwd=bypass";
    } else if (obj.hits == 0) {
        set resp.http.Cache-Status = "farlands-edge; fwd=uri-miss";
    } else if (obj.ttl > 0s) {
        set resp.http.Cache-Status = "farlands-edge; hit";
    } else {
        set resp.http.Cache-Status = "farlands-edge; hit; detail=stale";
    }
}

sub vcl_synth {
    set resp.http.Content-Type = "application/json";
    set resp.http.Access-Control-Allow-Origin = "*";
    set resp.http.Cross-Origin-Resource-Policy = "cross-origin";
    set resp.http.Timing-Allow-Origin = "*";
    set resp.http.Cache-Control = "no-store";
    if (resp.status == 405) {
        set resp.http.Allow = "GET, HEAD, OPTIONS";
    }
    if (resp.status == 200) {
        set resp.body = """{"status":"ok"}
""";
    } else {
        set resp.body = {"{"error":""} + resp.reason + """"}
""";
    }
    return (deliver);
}
