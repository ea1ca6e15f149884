// Hostile clients, a process of their own: node attacker.mjs '{"port": 8080, ...}', see DEFAULTS. It prints "ready"
// when its connections are open, and at its end, after `seconds` or SIGTERM, its counts as JSON.

import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const DEFAULTS = {
    host: '127.0.0.1', port: 0, socketPath: null,
    sources: ['127.0.0.2'],     // addresses to connect from, in turn
    connections: 1,
    seconds: 10,
    request: '',                // bytes; {A..B} is a random whole number
    pipelined: 1,               // requests sent at once
    /*
     * flood: the next request follows each response; rate: not more than so many a second in all
     * hold: requests are repeated every `every` seconds, and responses are discarded
     * stall: nothing is read
     * slow: responses are read at `rate` bytes a second; the next request follows
     * drip: the request is sent, then `drip` a byte every `every` seconds
     */
    mode: 'flood',
    rate: 0,
    obeys: false,               // waits for Retry-After seconds after a 503
    every: 25,
    drip: 'X-A: ',
    renew: 0,                   // connections are closed and opened again after so many seconds
};

const plan = { ...DEFAULTS, ...JSON.parse(process.argv[2]) };
const counts = { opened: 0, failed: 0, closed: 0, bytes: 0, statuses: {} };
const end = Date.now() + 1000 * plan.seconds;
const going = () => Date.now() < end;
let due = Date.now();

/* Nothing outlives the attack, whatever hangs. */
setTimeout(finish, 1000 * plan.seconds);
process.on('SIGTERM', finish);

function finish() {
    process.stdout.write(`${JSON.stringify(counts)}\n`, () => process.exit());
}

function random(text) {
    return text.replace(/\{(-?\d+)\.\.(-?\d+)\}/g, (_, first, last) =>
        String(Number(first) + Math.floor(Math.random() * (Number(last) - Number(first) + 1))));
}

const requests = () => Array.from({ length: plan.pipelined }, () => random(plan.request)).join('');

/* Waits for this request's turn if there is a rate. */
async function turn() {
    if (plan.mode !== 'flood' || !plan.rate)
        return;
    const now = Date.now();
    due = Math.max(due, now) + 1000 / plan.rate;
    if (due > now + 1)
        await sleep(due - now);
}

/*
 * Calls each({ status, retryAfter, close }) at the end of each response, whose body is not kept. Bodies have a length or
 * are chunked.
 */
function responses(socket, each) {
    let head = '', left = 0, answer = null;
    socket.on('data', (bytes) => {
        for (let text = bytes; text.length > 0;) {
            if (!answer) {
                head += text.toString('latin1');
                const end = head.indexOf('\r\n\r\n');
                if (end < 0)
                    return;
                const field = (name) => new RegExp(`^${name}: *(.*)\r$`, 'im').exec(head.slice(0, end + 2))?.[1];
                text = Buffer.from(head.slice(end + 4), 'latin1');
                left = field('transfer-encoding') ? Infinity : Number(field('content-length') ?? 0);
                answer = { status: Number(head.slice(9, 12)), retryAfter: Number(field('retry-after') ?? 1),
                    close: field('connection') === 'close' };
                head = '';
            }
            if (left === Infinity && text.toString('latin1', text.length - 5) === '0\r\n\r\n')
                left = text.length;
            const taken = Math.min(left, text.length);
            left -= taken;
            text = text.subarray(taken);
            if (left === 0) {
                each(answer);
                answer = null;
            }
        }
    });
}

/* Sends the next request after each response. */
function flood(socket) {
    responses(socket, async ({ status, retryAfter, close }) => {
        counts.statuses[status] = (counts.statuses[status] ?? 0) + 1;
        if (plan.obeys && status === 503)
            await sleep(1000 * retryAfter);
        await turn();
        if (close)
            socket.destroy();
        else
            socket.write(requests());
    });
}

/* Reads at `rate` bytes a second. */
function slow(socket) {
    let began = Date.now(), received = 0;
    socket.on('data', (bytes) => {
        if (received === 0)
            began = Date.now();
        received += bytes.length;
        socket.pause();
        setTimeout(() => socket.resume(), Math.max(0, began + 1000 * received / plan.rate - Date.now()));
    });
}

const MODES = {
    flood,
    slow,
    stall: (socket) => socket.pause(),
    hold(socket) {
        socket.resume();
        const timer = setInterval(() => socket.write(requests()), 1000 * plan.every);
        socket.on('close', () => clearInterval(timer));
    },
    drip(socket) {
        let sent = 0;
        socket.resume();
        const timer = setInterval(() => socket.write(plan.drip[Math.min(sent++, plan.drip.length - 1)]), 1000 * plan.every);
        socket.on('close', () => clearInterval(timer));
    },
};

/* One connection: resolves when it has sent its first request, or was refused. */
function attack(i) {
    return new Promise((resolve) => {
        const socket = plan.socketPath ? net.connect(plan.socketPath)
            : net.connect({ host: plan.host, port: plan.port, localAddress: plan.sources[i % plan.sources.length], noDelay: true });
        let opened = false;
        socket.on('data', (bytes) => { counts.bytes += bytes.length; });
        socket.on('connect', async () => {
            opened = true;
            counts.opened++;
            MODES[plan.mode](socket);
            resolve();
            if (plan.renew)
                setTimeout(() => socket.destroy(), 1000 * plan.renew);
            await turn();
            socket.write(requests());
        });
        socket.on('error', () => {});
        socket.on('close', async () => {
            counts[opened ? 'closed' : 'failed']++;
            resolve();
            await sleep(opened && plan.mode !== 'drip' ? 10 : 500);
            if (going())
                attack(i);
        });
    });
}

async function open() {
    for (let i = 0; i < plan.connections && going(); i += 64)
        await Promise.all(Array.from({ length: Math.min(64, plan.connections - i) }, (_, j) => attack(i + j)));
}

/* A daemon that does not let all of them in is attacked by the others. */
await Promise.race([open(), sleep(3000)]);
process.stdout.write('ready\n');
