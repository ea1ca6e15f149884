// The table of refused requests: heads as bytes, and the result with each version of libmicrohttpd, which itself refuses
// some. Not a test.

import fs from 'node:fs';
import { connect, request } from './wire.mjs';

export const START = 'GET /healthz HTTP/1.1\r\n';
const END = '\r\n\r\n';
export const repeat = (text, length) => text.repeat(Math.ceil(length / text.length)).slice(0, length);
const lines = (count, line) => Array.from({ length: count }, (_, i) => line(i)).join('');
export const withHost = (rest) => `${START}Host: a\r\n${rest}\r\n`;
const visible = (code) => `0x${code.toString(16).padStart(2, '0')}`;

/* Rows of a name, the bytes of a connection, and the status with which Farlands refuses it, if it gets to see it. */
export const requestLines = [
    ['nothing but a method', `GET${END}`, 400],
    ['no version', `GET /healthz${END}`, 400],
    ['no version, and a space', `GET /healthz ${END}`, 400],
    ['no URL', `GET HTTP/1.1${END}`, 400],
    ['an empty URL', `GET  HTTP/1.1\r\nHost: a${END}`, 400],
    ['two spaces before the URL', `GET  /healthz HTTP/1.1\r\nHost: a${END}`, 400],
    ['two spaces after the URL', `GET /healthz  HTTP/1.1\r\nHost: a${END}`, 400],
    ['a space at the end', `GET /healthz HTTP/1.1 \r\nHost: a${END}`, 400],
    ['a space at the beginning', ` GET /healthz HTTP/1.1\r\nHost: a${END}`, 400],
    ['a tab for a space', `GET\t/healthz HTTP/1.1\r\nHost: a${END}`, 400],
    ['a tab after the URL', `GET /healthz\tHTTP/1.1\r\nHost: a${END}`, 400],
    ['a space in the URL', `GET /heal thz HTTP/1.1\r\nHost: a${END}`, 400],
    ['two versions', `GET /healthz HTTP/1.1 HTTP/1.1\r\nHost: a${END}`, 400],
    ['no method', ` /healthz HTTP/1.1\r\nHost: a${END}`, 400],
    ['a colon in the method', `GE:T /healthz HTTP/1.1\r\nHost: a${END}`, 400],
    ['a header first', `Host: a\r\n${START}\r\n`, 400],
    ['TLS', `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03${repeat('\x00\x11', 40)}`, 400],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505],
    ['SOCKS', '\x05\x01\x00', 400],
    ['a NUL', '\0', 400],
    ['a carriage return alone', `\rGET /healthz HTTP/1.1\r\nHost: a${END}`, 400],
    ['a line feed first', `\n${withHost('')}`, 400],
    ['the line ends with a line feed', `GET /healthz HTTP/1.1\nHost: a${END}`, 400],
    ['the line ends with CR CR LF', `GET /healthz HTTP/1.1\r\r\nHost: a${END}`, 400],
    ...['HTTP/1', 'HTTP/1.', 'HTTP/1.10', 'HTTP/11', 'HTTP/1.a', 'HTTP/a.1', 'http/1.1', 'Http/1.1',
        'HTTP 1.1', 'HTTPS/1.1', 'HTTP/+1.1', 'HTTP/1,1', 'ICY', 'HTTP/', '/1.1', 'HTTP/01.1',
        'HTTP/1.1\0'].map((version) =>
        [`version ${version}`, `GET /healthz ${version}\r\nHost: a${END}`, 400]),
    ...['HTTP/0.9', 'HTTP/0.0', 'HTTP/2.0', 'HTTP/3.0', 'HTTP/9.9'].map((version) =>
        [`version ${version}`, `GET /healthz ${version}\r\nHost: a${END}`, 505]),
    ...['POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'BREW', 'get', 'GETT', 'GE', 'M-SEARCH', '!#$%&',
        '-', repeat('A', 100), repeat('A', 4000)].map((method) =>
        [`method ${method.slice(0, 20)}`, `${method} /healthz HTTP/1.1\r\nHost: a${END}`, 405]),
    ['CONNECT', `CONNECT a:80 HTTP/1.1\r\nHost: a:80${END}`, 405],
    ...['"', '(', ')', ',', '/', ':', ';', '<', '=', '>', '?', '@', '[', '\\', ']', '{', '}', '\x01',
        '\x7f', '\x80', '\xff'].flatMap((c) => [
        [`a method with ${visible(c.charCodeAt())}`, `GE${c}T /healthz HTTP/1.1\r\nHost: a${END}`, 400],
        [`a method that begins with ${visible(c.charCodeAt())}`,
            `${c}GET /healthz HTTP/1.1\r\nHost: a${END}`, 400]]),
    ...['"', '#', '<', '>', '\\', '^', '`', '{', '|', '}', '\0', '\x01', '\x0b', '\x1f', '\x7f', '\x80',
        '\xff', '\r', '\xc3\xb6'].map((c) =>
        [`a URL with ${visible(c.charCodeAt())}`, `GET /healthz?a=${c} HTTP/1.1\r\nHost: a${END}`, 400]),
];

export const hosts = [
    ['no headers', `${START}\r\n`, 400],
    ['no Host', `${START}Accept: */*${END}`, 400],
    ['no Host, HTTP/1.2', `GET /healthz HTTP/1.2${END}`, 400],
    ['a folded Host', `${START}Host:\r\n a${END}`, 400],
    ['a Host folded by a tab', `${START}Host:\r\n\ta${END}`, 400],
    ['a space before Host', `${START} Host: a${END}`, 400],
    ['a space before the colon of Host', `${START}Host : a${END}`, 400],
    ['two Hosts', `${START}Host: a\r\nHost: b${END}`, 400],
    ['the same Host twice', `${START}Host: a\r\nHost: a${END}`, 400],
    ['two Hosts apart', `${START}Host: a\r\nAccept: */*\r\nhOST: b${END}`, 400],
    ['two Hosts in HTTP/1.0', `GET /healthz HTTP/1.0\r\nHost: a\r\nHost: b${END}`, 400],
    ['no Host with an absolute URL', `GET http://a/healthz HTTP/1.1${END}`, 400],
    ['two Hosts with an absolute URL', `GET http://a/healthz HTTP/1.1\r\nHost: a\r\nHost: a${END}`, 400],
    ['an absolute URL without a host', `GET http:///healthz HTTP/1.1\r\nHost: a${END}`, 400],
    ['an absolute URL of nothing', `GET http:// HTTP/1.1\r\nHost: a${END}`, 400],
    ['an absolute URL with only a query', `GET http://?a HTTP/1.1\r\nHost: a${END}`, 400],
    ['an absolute URL with a user', `GET http://u@a/healthz HTTP/1.1\r\nHost: a${END}`, 400],
    ['an absolute URL with a password', `GET http://u:p@a/healthz HTTP/1.1\r\nHost: a${END}`, 400],
];

const lengths = ['+5', '-1', '+0', '-0', '5', '1', '00', '0x0', '0x5', '0,0', '0, 0', '5, 5', ' 5', '0 ', '0\t',
    '', ' ', '5a', 'a', '1e1', '0.0', '99999999999999999999', '18446744073709551615', '18446744073709551616',
    repeat('9', 400), repeat('0', 400), '0;', '"0"', '\x0b0', '0\x0c', '\xa00', '٠'];

export const bodies = [
    ...lengths.flatMap((length) => [
        [`Content-Length: ${JSON.stringify(length.slice(0, 30))}`,
            withHost(`Content-Length: ${length}\r\n`), 400],
        [`a body of ${JSON.stringify(length.slice(0, 30))}`,
            `${withHost(`Content-Length: ${length}\r\n`)}hello`, 400]]),
    ['two lengths of 0', withHost('Content-Length: 0\r\nContent-Length: 0\r\n'), 400],
    ['two lengths', withHost('Content-Length: 0\r\ncontent-length: 5\r\n'), 400],
    ['a length before Host', `${START}Content-Length: 5\r\nHost: a${END}hello`, 400],
    ['a folded length', withHost('Content-Length:\r\n 5\r\n'), 400],
    ['a length with a space before the colon', withHost('Content-Length : 5\r\n'), 400],
    ['a length, and no Host', `${START}Content-Length: +5${END}`, 400],
    ['HTTP/1.0 with a length', `GET /healthz HTTP/1.0\r\nContent-Length: 5${END}hello`, 400],
    ...['chunked', 'Chunked', 'identity', 'gzip', 'gzip, chunked', 'chunked, chunked', 'xchunked', 'chunked;a=b',
        '', ' ', '"chunked"', 'chunked\t', '\x0bchunked'].flatMap((coding) => [
        [`Transfer-Encoding: ${JSON.stringify(coding)}`, withHost(`Transfer-Encoding: ${coding}\r\n`), 400],
        [`a body in ${JSON.stringify(coding)}`,
            `${withHost(`Transfer-Encoding: ${coding}\r\n`)}5\r\nhello\r\n0\r\n\r\n`, 400],
        [`a length and ${JSON.stringify(coding)}`,
            withHost(`Content-Length: 0\r\nTransfer-Encoding: ${coding}\r\n`), 400],
        [`${JSON.stringify(coding)} and a length`,
            withHost(`Transfer-Encoding: ${coding}\r\nContent-Length: 6\r\n`), 400]]),
    ['a malformed chunk', `${withHost('Transfer-Encoding: chunked\r\n')}zz\r\n`, 400],
    ['a chunk of 2^80 bytes', `${withHost('Transfer-Encoding: chunked\r\n')}1${repeat('0', 20)}\r\n`, 400],
    ['Expect', withHost('Expect: 100-continue\r\n'), 417],
    ['Expect and a request', withHost('Expect: 100-continue\r\n') + withHost(''), 417],
    ['Expect of something else', withHost('Expect: tea\r\n'), 417],
    ['an empty Expect', withHost('Expect:\r\n'), 417],
    ['POST with a body', 'POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello', 405],
    ['POST with a wrong length', 'POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nhello', 405],
    ['POST in chunks', 'POST /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n', 405],
    ['POST with Expect', 'POST /healthz HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n', 405],
];

export const headers = [
    ['a line without a colon', withHost('X-A\r\n'), 400],
    ['the first line without a colon', `${START}X-A\r\nHost: a${END}`, 400],
    ['a line of a space', withHost(' \r\n'), 400],
    ['a line of a tab', withHost('\t\r\n'), 400],
    ['a folded line', withHost('X-A: b\r\n c\r\n'), 400],
    ['a line folded by a tab', withHost('X-A: b\r\n\tc\r\n'), 400],
    ['a folded first line', `${START} X-A: b\r\nHost: a${END}`, 400],
    ['a fold that hides a length', withHost('X-A: b\r\n Content-Length: 5\r\n'), 400],
    ['an empty name', withHost(': b\r\n'), 400],
    ['a space before the colon', withHost('X-A : b\r\n'), 400],
    ['a tab before the colon', withHost('X-A\t: b\r\n'), 400],
    ['a space in a name', withHost('X A: b\r\n'), 400],
    ['a request line among them', withHost(START), 400],
    ['a line feed alone', `${START}Host: a\nX-A: b${END}`, 400],
    ['only line feeds', 'GET /healthz HTTP/1.1\nHost: a\n\n', 400],
    ['a line feed at the end', `${START}Host: a\r\n\n`, 400],
    ['a carriage return in a value', withHost('X-A: b\rc\r\n'), 400],
    ['CR CR LF', withHost('X-A: b\r\r\n'), 400],
    ['CR CR LF at the end', `${START}Host: a\r\n\r\r\n`, 400],
    ['a NUL in a name', withHost('X\0A: b\r\n'), 400],
    ['a NUL before the colon', withHost('X-A\0: b\r\n'), 400],
    ['a NUL before a line end', withHost('X-A: b\0\r\n'), 400],
    ['a NUL for a line end', `${START}Host: a\0${END}`, 400],
    ...[...Array(32).keys(), 127].filter((code) => code !== 9 && code !== 10 && code !== 13).map((code) =>
        [`a value with ${visible(code)}`, withHost(`X-A: b${String.fromCharCode(code)}c\r\n`), 400]),
    ...['"', '(', ')', ',', '/', ';', '<', '=', '>', '?', '@', '[', '\\', ']', '{', '}', ' ', '\t', '\x7f', '\x80',
        '\xff', '\x01', '\0'].map((c) =>
        [`a name with ${visible(c.charCodeAt())}`, withHost(`X${c}A: b\r\n`), 400]),
];

export const limits = [
    ...[8193, 9000, 12000, 14000, 16000, 16384, 20000, 40000, 200000].flatMap((length) => [
        [`a URL of ${length}`, request('GET', `/${repeat('a', length - 1)}`), 414],
        [`a URL of ${length} slashes`, request('GET', repeat('/', length)), 414],
        [`a query of ${length}`, request('GET', `/healthz?${repeat('a=b&', length - 9)}`), 414]]),
    ['a method of 20 kB', `${repeat('A', 20000)} / HTTP/1.1\r\nHost: a${END}`, 414],
    ['a line of 20 kB without spaces', repeat('A', 20000), 414],
    ['a URL of 20 kB without an end', `GET /${repeat('a', 20000)}`, 414],
    ...[12300, 14000, 15900, 16000, 16384, 20000, 40000, 200000].flatMap((size) => [
        [`a header of ${size}`, withHost(`X-A: ${repeat('b', size)}\r\n`), 431],
        [`a used header of ${size}`, withHost(`Referer: ${repeat('b', size)}\r\n`), 431],
        [`a Host of ${size}`, `${START}Host: ${repeat('b', size)}${END}`, 431],
        [`a cookie of ${size}`, withHost(`Cookie: ${repeat('b', size)}\r\n`), 431],
        [`many cookies in ${size}`, withHost(`Cookie: ${repeat('a=b;', size)}\r\n`), 431],
        [`a name of ${size}`, withHost(`${repeat('X', size)}: b\r\n`), 431]]),
    ...[2000, 3000, 10000].map((count) =>
        [`${count} headers`, withHost(lines(count, (i) => `X-${i}: b\r\n`)), 431]),
    ['2000 times a used header', withHost(lines(2000, () => 'Range:\r\n')), 431],
    ['a header of 20 kB without an end', `${START}Host: a\r\nX-A: ${repeat('b', 20000)}`, 431],
    ['a cookie of 8 kB, and 9 kB', withHost(`Cookie: ${repeat('a', 8000)}\r\nX-A: ${repeat('b', 9000)}\r\n`), 431],
];

/* Sent by a client that then closes its sending side. */
export const incomplete = ['G', 'GET', 'GET /healthz', START.trimEnd(), START, `${START}Ho`, `${START}Host: a\r\n`,
    `${START}Host: a\r\n\r`, `${START}Host: a\r\nX-A: b`].map((bytes) => [JSON.stringify(bytes), bytes, 400]);

/* Unambiguous requests, each with another one behind it: both are served, and the connection stays open. */
const KEPT = '200+200 open';
export const unusual = [
    ['empty lines first', `\r\n\r\n${withHost('')}`, KEPT],
    ['20 kB of empty lines first', `${repeat('\r\n', 20000)}${withHost('')}`, KEPT],
    ['an empty line after it', `${withHost('')}\r\n`, KEPT],
    ['no space after a colon', `${START}Host:a${END}`, KEPT],
    ['many spaces after a colon', `${START}Host:  \t a${END}`, KEPT],
    ['spaces at the end of a value', `${START}Host: a  \r\nX-A: b\t${END}`, KEPT],
    ['an empty value', withHost('X-A:\r\n'), KEPT],
    ['an empty Host', `${START}Host:${END}`, KEPT],
    ['a tab in a value', withHost('X-A: b\tc\r\n'), KEPT],
    ['high bytes in a value', withHost('X-A: \xff\xfe\r\n'), KEPT],
    ['Content-Length: 0', withHost('Content-Length: 0\r\n'), KEPT],
    ['HTTP/1.2', `GET /healthz HTTP/1.2\r\nHost: a${END}`, KEPT],
    ['100 headers', withHost(lines(100, (i) => `X-${i}: b\r\n`)), KEPT],
    ['220 headers', withHost(lines(220, (i) => `X-${i}: b\r\n`)), KEPT],
    ['900 headers', withHost(lines(900, (i) => `X-${i}: b\r\n`)), KEPT],
    ['1000 cookies', withHost(`Cookie: ${repeat('a=b; ', 5000)}\r\n`), KEPT],
    ['cookies of 12,000 bytes', withHost(`Cookie: ${repeat('a=b;', 12000)}\r\n`), KEPT],
    ['a URL of 8 KiB', request('GET', `/healthz?${repeat('a', 8183)}`), KEPT],
    ['a URL of 8 KiB and headers', `GET /healthz?${repeat('a', 8183)} HTTP/1.1\r\nHost: a\r\n` +
        `Referer: ${repeat('b', 3900)}${END}`, KEPT],
    ['8000 parameters', request('GET', `/healthz?${repeat('&', 8000)}`), KEPT],
    ['400 times a used header', withHost(lines(400, () => 'X-Forwarded-For: 10.0.0.1\r\n')), KEPT],
    ['a Referer of 12,000 bytes', withHost(`Referer: ${repeat('b', 12000)}\r\n`), KEPT],
].map(([name, bytes, outcome]) => [name, `${bytes}${request('GET', '/readyz')}`, outcome]);

/*
 * What becomes of the rows that do not get their status: for each table and each pair of outcomes, with libmicrohttpd
 * 0.9 and 1.0, the rows' names.
 */
const EXCEPTIONS = JSON.parse(fs.readFileSync(new URL('framing.json', import.meta.url)));

/* The expected outcome of a ROW of TABLE with a VERSION of libmicrohttpd. */
export function expectedOutcome(table, [name, , status], version) {
    const pairs = Object.entries(EXCEPTIONS[table] ?? {}).filter(([, names]) => names.includes(name));
    if (pairs.length > 1)
        throw new Error(`${table}: ${name} has two pairs of outcomes`);
    return pairs.length === 0 ? `${status}` : pairs[0][0].split(' | ')[version.startsWith('0.') ? 0 : 1];
}

/*
 * Send BYTES, in pieces of PIECE bytes if given, and wait until the connection ends. Returns what came: the statuses,
 * "-" for none, then "*" if the page is libmicrohttpd's own, then "open" if the daemon does not close within LIMIT ms.
 * A version that appends a second head to its page has two statuses.
 */
export async function outcomeOf(daemon, bytes, { piece, finish = false, limit = 3000 } = {}) {
    const connection = await connect(daemon);
    try {
        const data = Buffer.from(bytes, 'latin1');
        for (let at = 0; piece && at < data.length; at += piece)
            connection.send(data.subarray(at, at + piece));
        if (finish)
            connection.finish(data);
        else if (!piece)
            connection.send(data);
        const closed = await connection.closed(limit);
        const text = connection.buffer.toString('latin1');
        const statuses = [...text.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map(([, status]) => status);
        const own = statuses.length > 0 && !text.includes('Access-Control-Allow-Origin');
        return `${statuses.join('+') || '-'}${own ? '*' : ''}${closed ? '' : ' open'}`;
    } finally {
        connection.close();
    }
}
