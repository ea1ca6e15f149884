// A caching edge and its origin daemon. Not a test.

import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Daemon } from '../http/daemon.mjs';
import { scratch } from '../http/program.mjs';
import { Nginx } from './nginx.mjs';
import { Varnish } from './varnish.mjs';

/* make(origin) returns an edge of that origin, not started yet. lasting: the cache survives restarts. */
export const EDGES = {
    nginx: {
        lasting: true,
        make: (origin) => new Nginx('edge.conf.template', {
            FARLANDS_ORIGIN: origin.authority, FARLANDS_EDGE_CACHE: scratch(), FARLANDS_EDGE_SIZE: '1g',
        }, { clock: true }),
    },
    varnish: { lasting: false, make: (origin) => new Varnish(origin) },
};

/* Not 127.0.0.1, from which clients connect: no outgoing connection takes the port of a stopped daemon. */
const ADDRESS = `127.1.${1 + process.pid % 250}.100`;

/* A daemon behind an edge: receives the requests that the edge cannot serve from its cache. */
export class Origin extends Daemon {
    constructor(config = '', { cache, listen = `${ADDRESS}:0` } = {}) {
        super({ config: `proxies: [127.0.0.1]\nlog: error\n${config}`, cache, listen });
        this.text = config;
        this.reads = 0;         // its own requests, which do not count
    }

    /* { asked, same, rendered }: requests, responses with 304 and renders since the call that returned BEFORE. */
    async since(before) {
        const now = await this.counts();
        return {
            asked: now.asked - before.asked,
            same: now.same - before.same,
            rendered: now.rendered - before.rendered,
        };
    }

    /* A request is counted on completion, moments after its client has the response: read until nothing changes. */
    async counts() {
        for (let last, now; ; last = now, await sleep(10)) {
            now = await this.read();
            if (isDeepStrictEqual(now, last))
                return now;
        }
    }

    async read() {
        const metrics = [...await this.metrics()];
        const sum = (name) => metrics.filter(([sample]) => sample.startsWith(name)).reduce((all, [, value]) => all + value, 0);
        return {
            asked: sum('farlands_requests_total') - this.reads++,
            same: sum('farlands_requests_total{code="304"}'),
            rendered: sum('farlands_tiles_rendered_total'),
        };
    }

    /* Start a new daemon with empty caches at the address of this one, which has stopped. */
    again(config = this.text) {
        return new Origin(config, { listen: this.authority }).start();
    }
}
