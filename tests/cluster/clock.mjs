// The time of day as a program sees it, which a test puts forward. Not a test.

import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const LIBRARY = process.env.CLOCK
    ?? fileURLToPath(new URL('../../build/tests/cluster/clock.so', import.meta.url));

export class Clock {
    /* It stands in a file of FOLDER. */
    constructor(folder) {
        if (!fs.existsSync(LIBRARY))
            throw new Error(`${LIBRARY} is missing: make check-cluster builds it`);
        this.file = path.join(folder, 'clock');
        this.ahead = 0n;
        fs.writeFileSync(this.file, Buffer.alloc(8));
    }

    /* Forward by SECONDS, from now on: timers last as long as ever. */
    later(seconds) {
        this.ahead += BigInt(seconds);
        const bytes = Buffer.alloc(8);
        bytes.writeBigInt64LE(this.ahead);
        const fd = fs.openSync(this.file, 'r+');
        fs.writeSync(fd, bytes);
        fs.closeSync(fd);
    }

    /* What the program's environment is to have. */
    get env() {
        return { LD_PRELOAD: LIBRARY, CLOCK_FILE: this.file };
    }
}
