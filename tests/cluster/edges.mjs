// A caching edge and its origin daemon. Not a test.

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
    }

    /* { asked, same, rendered }: requests, responses with 304 and renders since the call that returned BEFORE. */
    async since(before) {
        const now = await this.counts();
        return {
            asked: now.asked - before.asked - 1,        // this request
            same: now.same - before.same,
            rendered: now.rendered - before.rendered,
        };
    }

    async counts() {
        let asked = 0, same = 0, rendered = 0;
        for (const [name, value] of await this.metrics()) {
            if (name.startsWith('farlands_requests_total'))
                asked += value;
            if (name === 'farlands_requests_total{code="304"}')
                same = value;
            if (name.startsWith('farlands_tiles_rendered_total'))
                rendered += value;
        }
        return { asked, same, rendered };
    }

    /* Start a new daemon with empty caches at the address of this one, which has stopped. */
    again(config = this.text) {
        return new Origin(config, { listen: this.authority }).start();
    }
}
