// Runs a program of WebAssembly that asks a system like WASI's for its input, output and clock: `node runner.mjs PROGRAM`.
import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { WASI } from "node:wasi";

// Node 20 has it behind this flag, later ones always.
if (parseInt(process.versions.node) < 21) setFlagsFromString("--experimental-wasm-relaxed-simd");
const wasi = new WASI({ version: "preview1", env: process.env, returnOnExit: true });
const module = new WebAssembly.Module(readFileSync(process.argv[2]));
process.exitCode = wasi.start(new WebAssembly.Instance(module, wasi.getImportObject()));
