// Prints the results of make bench-attacks as one table, before and during the attack: tests/attacks/table.mjs
// build/attacks.json

import fs from 'node:fs';

const [file] = process.argv.slice(2);
const lines = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim().split('\n').filter(Boolean) : [];
/* A row that failed has run once more; the second result counts. */
const results = [...new Map(lines.map((line) => JSON.parse(line)).map((result) => [result.row, result])).values()];
const lost = ({ asked, served }) => (100 * (1 - served / asked)).toFixed(1);
const both = ({ before, during }, stream, time) => `${before ? before[stream][time] : '-'} / ${during[stream][time]}`;

const COLUMNS = [
    ['attack', ({ row }) => row],
    ['hot p50, ms', (result) => both(result, 'hot', 'p50')],
    ['hot p99, ms', (result) => both(result, 'hot', 'p99')],
    ['cold p50, ms', (result) => both(result, 'cold', 'p50')],
    ['cold p99, ms', (result) => both(result, 'cold', 'p99')],
    ['hot lost, %', ({ during }) => lost(during.hot)],
    ['cold refused, %', ({ during }) => lost(during.cold)],
    ['ready, ms', ({ ready }) => ready ?? 'never'],
    ['SIGTERM, ms', ({ end }) => (end ? end.failed ? `${end.ms}, not ended` : end.ms : '-')],
    ['memory, MiB', ({ memory, bound }) => `${memory} of ${bound}`],
    ['loop blocked', ({ blocked }) => blocked],
];

const table = [COLUMNS.map(([title]) => title), ...results.map((result) => COLUMNS.map(([, cell]) => String(cell(result))))];
const widths = COLUMNS.map((_, i) => Math.max(...table.map((cells) => cells[i].length)));
const line = (cells) => `| ${cells.map((cell, i) => cell.padEnd(widths[i])).join(' | ')} |`;
console.log([line(table[0]), line(widths.map((width) => '-'.repeat(width))), ...table.slice(1).map(line)].join('\n'));
