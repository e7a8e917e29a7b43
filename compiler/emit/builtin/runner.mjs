// Runs a program of WebAssembly that asks a system like WASI's for its input, output and clock: `node runner.mjs PROGRAM`.
import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { WASI } from "node:wasi";

// Node 20 has it behind this flag, later ones always.
if (parseInt(process.versions.node) < 21) setFlagsFromString("--experimental-wasm-relaxed-simd");
try {
  const wasi = new WASI({ version: "preview1", env: process.env, returnOnExit: true });
  const module = new WebAssembly.Module(readFileSync(process.argv[2]));
  // As functions of JavaScript: called directly from optimised code, those of Node 20 abort after a memory has grown.
  const imports = wasi.getImportObject();
  for (const [name, call] of Object.entries(imports.wasi_snapshot_preview1)) imports.wasi_snapshot_preview1[name] = (...given) => call(...given);
  process.exitCode = wasi.start(new WebAssembly.Instance(module, imports));
} catch (error) {
  // One line, for who reads the last line only: a stack of calls would hide what is wrong, such as a memory that the system does not give.
  console.error(`${error}`.split("\n")[0]);
  process.exitCode = 1;
}
