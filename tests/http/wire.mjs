// HTTP/1.1 over a plain socket, for requests that a client library does not send and responses
// that it hides. Not a test.

import net from 'node:net';
import { WAIT, patience } from './program.mjs';

/* How long to wait for the end of a connection, in ms: shorter than the daemon's limit for idle ones, 75 s. */
export const CLOSE_LIMIT = 30000;

const BODILESS = (method, status) =>
    method === 'HEAD' || status === 204 || status === 304 || status < 200;

/*
 * The first response in BUFFER to a request with METHOD: { status, headers, body, length }, or
 * null if it is incomplete. Repeated headers are joined with a comma. A response that the end of
 * the connection delimits is complete if ENDED is true.
 */
export function parseAnswer(buffer, method, ended) {
    const split = buffer.indexOf('\r\n\r\n');
    if (split < 0)
        return null;
    const [statusLine, ...lines] = buffer.toString('latin1', 0, split).split('\r\n');
    const match = /^HTTP\/1\.[01] (\d{3})/.exec(statusLine);
    if (!match)
        throw new Error(`not an HTTP status line: ${JSON.stringify(statusLine)}`);
    const status = Number(match[1]);
    const headers = {};
    for (const line of lines) {
        const colon = line.indexOf(':');
        const name = line.slice(0, colon).toLowerCase();
        const value = line.slice(colon + 1).trim();
        headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
    }
    const start = split + 4;
    const answer = (body, end) => ({ status, headers, body, length: end });
    if (BODILESS(method, status))
        return answer(Buffer.alloc(0), start);
    if (/chunked/i.test(headers['transfer-encoding'] ?? ''))
        return parseChunks(buffer, start, answer);
    if (headers['content-length'] !== undefined) {
        const end = start + Number(headers['content-length']);
        return buffer.length < end ? null : answer(buffer.subarray(start, end), end);
    }
    return ended ? answer(buffer.subarray(start), buffer.length) : null;
}

function parseChunks(buffer, start, answer) {
    const parts = [];
    for (let at = start; ;) {
        const eol = buffer.indexOf('\r\n', at);
        if (eol < 0)
            return null;
        const size = parseInt(buffer.toString('latin1', at, eol), 16);
        const end = eol + 2 + size + 2;
        if (buffer.length < end)
            return null;
        if (size === 0)
            return answer(Buffer.concat(parts), end);
        parts.push(buffer.subarray(eol + 2, eol + 2 + size));
        at = end;
    }
}

class Connection {
    constructor(socket) {
        this.socket = socket;
        this.buffer = Buffer.alloc(0);
        this.received = 0;
        this.ended = false;
        this.error = null;
        this.listeners = new Set();
        socket.on('data', (bytes) => {
            this.received += bytes.length;
            this.buffer = Buffer.concat([this.buffer, bytes]);
            this.wake();
        });
        socket.on('error', (error) => { this.error = error; });
        for (const event of ['end', 'close'])
            socket.on(event, () => { this.ended = true; this.wake(); });
    }

    wake() {
        for (const listener of [...this.listeners])
            listener();
    }

    send(bytes) {
        this.socket.write(bytes);
        return this;
    }

    /* Close the sending side alone. */
    finish(bytes) {
        this.socket.end(bytes);
        return this;
    }

    /* Wait until ready() is not null and return its value; null after LIMIT ms. */
    until(ready, limit) {
        return new Promise((resolve, reject) => {
            const finish = (settle, value) => {
                clearTimeout(alarm);
                this.listeners.delete(check);
                settle(value);
            };
            const check = () => {
                try {
                    const value = ready();
                    if (value !== null)
                        finish(resolve, value);
                } catch (error) {
                    finish(reject, error);
                }
            };
            const alarm = setTimeout(() => finish(resolve, null), patience(limit));
            this.listeners.add(check);
            check();
        });
    }

    /* The next complete response; throws if the connection ends or LIMIT ms pass first. */
    async answer(method = 'GET', limit = WAIT) {
        const found = await this.until(() => {
            const answer = parseAnswer(this.buffer, method, this.ended);
            if (answer || !this.ended)
                return answer;
            const cause = this.error ? ` (${this.error.code})` : '';
            throw new Error(`connection ended${cause} after ${this.received} bytes, ` +
                `in mid-response: ${JSON.stringify(this.buffer.toString('latin1', 0, 200))}`);
        }, limit);
        if (!found)
            throw new Error(`no complete response within ${limit} ms; so far: ` +
                JSON.stringify(this.buffer.toString('latin1', 0, 200)));
        this.buffer = this.buffer.subarray(found.length);
        return found;
    }

    /* Whether the peer closes within LIMIT ms. */
    async closed(limit = CLOSE_LIMIT) {
        return (await this.until(() => (this.ended ? true : null), limit)) === true;
    }

    close() {
        this.socket.destroy();
    }
}

/* A connection to { host, port }, from localAddress if given; rejects if it is refused. */
export function connect({ host, port, localAddress }, limit = WAIT) {
    return new Promise((resolve, reject) => {
        const socket = net.connect({ host, port, localAddress, noDelay: true, allowHalfOpen: true });
        const alarm = setTimeout(() => {
            socket.destroy();
            reject(new Error(`no connection to ${host}:${port} within ${limit} ms`));
        }, patience(limit));
        socket.once('error', (error) => { clearTimeout(alarm); reject(error); });
        socket.once('connect', () => {
            clearTimeout(alarm);
            socket.removeAllListeners('error');
            resolve(new Connection(socket));
        });
    });
}

/*
 * Send BYTES and read one response for each of METHODS: { answers, closed, rest }. closed: the
 * daemon ended the connection within CLOSE_LIMIT ms after the last response (0: do not wait).
 * rest: bytes after the last response.
 */
export async function exchange(address, bytes,
    { methods = ['GET'], limit = WAIT, closeLimit = 0 } = {}) {
    const connection = await connect(address);
    try {
        connection.send(bytes);
        const answers = [];
        for (const method of methods)
            answers.push(await connection.answer(method, limit));
        const closed = closeLimit > 0 && await connection.closed(closeLimit);
        return { answers, closed, rest: connection.buffer };
    } finally {
        connection.close();
    }
}

/* A request as text: request('GET', '/healthz', { Host: 'a' }). */
export function request(method, target, headers = { Host: 'farlands.test' }) {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`;
}
