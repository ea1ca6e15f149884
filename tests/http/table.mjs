// Runs a check over the rows of a table, one after another or all at once, and reports each
// row that failed, with its input. Not a test.

import assert from 'node:assert/strict';
import { inspect } from 'node:util';

export async function eachRow(rows, check, { atOnce = false } = {}) {
    assert.ok(rows.length > 0, 'the table is empty');
    const failures = [];
    const checkRow = async (row) => {
        try {
            await check(row);
        } catch (error) {
            failures.push(`${inspect(row, { depth: 4, breakLength: 100 })}\n    ` +
                String(error?.message ?? error).replaceAll('\n', '\n    '));
        }
    };
    if (atOnce)
        await Promise.all(rows.map(checkRow));
    else
        for (const row of rows)
            await checkRow(row);
    if (failures.length > 0)
        assert.fail(`${failures.length} of ${rows.length} rows failed\n\n${failures.join('\n\n')}`);
}

/* EXPECTED is one status, or a list if the contract leaves a choice. */
export function assertStatus(answer, expected) {
    const choices = [expected].flat();
    assert.ok(choices.includes(answer.status),
        `status ${answer.status}, expected ${choices.join(' or ')}: ` +
        answer.body.toString('latin1', 0, 300));
}

/* An error response: JSON, open to all origins, not to be stored. */
export function assertError(answer, status, names) {
    assertStatus(answer, status);
    assert.match(answer.headers['content-type'] ?? '(no Content-Type)', /^application\/json\b/);
    assert.equal(answer.headers['cache-control'], 'no-store');
    assert.equal(answer.headers['access-control-allow-origin'], '*');
    assert.equal(answer.headers['cross-origin-resource-policy'], 'cross-origin');
    assert.equal(answer.headers['timing-allow-origin'], '*');
    const { error } = JSON.parse(answer.body);
    assert.equal(typeof error, 'string');
    assert.ok(error.length > 0, 'the message is empty');
    if (names)
        assert.match(error, names);
}

/* Headers that may differ between two responses for the same resource. */
const INCIDENTAL = ['date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding'];

export function lasting(headers) {
    return Object.fromEntries(Object.entries(headers).filter(([name]) => !INCIDENTAL.includes(name)));
}
