// A wall clock that a test sets ahead for a program. Not a test.

import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const LIBRARY = process.env.CLOCK
    ?? fileURLToPath(new URL('../../build/tests/cluster/clock.so', import.meta.url));

export class Clock {
    /* The clock is a file in DIRECTORY. */
    constructor(directory) {
        if (!fs.existsSync(LIBRARY))
            throw new Error(`${LIBRARY} is missing: make check-cluster builds it`);
        this.file = path.join(directory, 'clock');
        this.ahead = 0n;
        fs.writeFileSync(this.file, Buffer.alloc(8));
    }

    /* Set it SECONDS further ahead. Timers do not change. */
    later(seconds) {
        this.ahead += BigInt(seconds);
        const bytes = Buffer.alloc(8);
        bytes.writeBigInt64LE(this.ahead);
        const fd = fs.openSync(this.file, 'r+');
        fs.writeSync(fd, bytes);
        fs.closeSync(fd);
    }

    /* Variables for the program's environment. */
    get env() {
        return { LD_PRELOAD: LIBRARY, CLOCK_FILE: this.file };
    }
}
