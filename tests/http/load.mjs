// The clients of tests/load, for suites that name this file. Not a test.

export { load, underLoad } from '../load/client.mjs';
