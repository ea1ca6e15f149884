// Prints hashes of random graphs, computed in WebAssembly, one per line: the beginning of the lines from bits.c.
//
//   node tests/proofs/graph_bits.mjs build/tests/proofs/graph_bits.wasm COUNT
import { readFileSync } from 'node:fs';

const [file, count] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(file));
const PER_INSTANCE = 25; // an instance never frees memory
const imports = { farlands: { strtod: () => NaN } };
const hex = (half) => (half >>> 0).toString(16).padStart(8, '0');

let instance;
for (let number = 0; number < Number(count); number++) {
    if (number % PER_INSTANCE === 0) {
        instance = new WebAssembly.Instance(module, imports).exports;
        instance._initialize();
    }
    const lower = hex(instance.graph_bits_half(number, 0));
    console.log(`${hex(instance.graph_bits_half(number, 1))}${lower}`);
}
