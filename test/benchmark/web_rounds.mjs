// One side of test/benchmark/web: MODULE.mjs:FORM*THREADS, with *wall at the end for the time by the clock, or PACKAGE:MODEL.onnx, then NAME=FILE.npy for each
// input, then the folder for outputs. It says what the start and the first run took, in CPU time of all threads, and answers the seconds of a turn with the CPU
// time of a run, of the main thread alone, in milliseconds; by the clock, it is the least of its runs.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const numpyTypes = {
  "<f4": ["float32", Float32Array], "<f8": ["float64", Float64Array], "<f2": ["float16", Uint16Array], "|u1": ["uint8", Uint8Array],
  "|i1": ["int8", Int8Array], "|b1": ["bool", Uint8Array], "<i4": ["int32", Int32Array], "<i8": ["int64", BigInt64Array],
};

function readNpy(path) {
  const bytes = readFileSync(path);
  const start = 10 + bytes.readUInt16LE(8);
  const header = bytes.toString("latin1", 10, start);
  const [type, array] = numpyTypes[header.match(/'descr': '([^']*)'/)[1]];
  const dims = header.match(/'shape': \(([^)]*)\)/)[1].split(",").filter((text) => text.trim()).map(Number);
  return { type, dims, data: new array(bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + bytes.length)) };
}

// A function that runs the model once and gives its outputs by name, or a promise of them, as the package's own function does: only promises are awaited, since
// each wait takes about as long as the smallest model.

async function loadKiln(module, wanted, inputs) {
  const [form, threads] = wanted.split("*");
  const { load, info } = await import(pathToFileURL(module));
  const model = await load({ forms: [form], threads: Number(threads) });
  if (model.threads !== Number(threads)) throw new Error(`${model.threads} threads`);
  const given = Object.fromEntries(info.inputs.map(({ name }) => [name, inputs[name]]));
  return () => model.run(given);
}

async function loadOnnxRuntime(folder, path, inputs) {
  const ort = await import(pathToFileURL(`${folder}/dist/ort.node.min.mjs`));
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = "error";
  const session = await ort.InferenceSession.create(readFileSync(path), { executionProviders: ["wasm"], graphOptimizationLevel: "all", logSeverityLevel: 3 });
  const given = Object.fromEntries(session.inputNames.map((name) => [name, new ort.Tensor(inputs[name].type, inputs[name].data, inputs[name].dims)]));
  return () => session.run(given);
}

/** Milliseconds that this thread has computed, as the kernel counts them. */
const cpuTime = () => Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "latin1").split(" ")[0]) / 1e6;

const [side, ...rest] = process.argv.slice(2);
const outputs = rest.pop();
const at = side.lastIndexOf(":"), isWall = side.endsWith("*wall");
const inputs = Object.fromEntries(rest.map((text) => [text.slice(0, text.lastIndexOf("=")), readNpy(text.slice(text.lastIndexOf("=") + 1))]));
/** Milliseconds that all threads have computed. */
const allTime = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const listThreads = () => readdirSync("/proc/self/task").map(Number);
/** The main thread to the first CPU and workers to the others: beside other work, a system may leave them all on one for seconds. */
const pin = (workers) => {
  const set = (thread, cpu) => execFileSync("taskset", ["-p", "-c", `${cpu}`, `${thread}`]);
  const others = Math.max(availableParallelism() - 1, 1);
  set(process.pid, 0);
  workers.forEach((thread, index) => set(thread, 1 + (index % others)));
};
// Node's own threads for files are there before the workers.
await Promise.all([1, 2, 3, 4].map(() => readFile(process.argv[1])));
const threadsBefore = listThreads();
const start = allTime();
const run = await (side.endsWith(".onnx") ? loadOnnxRuntime : loadKiln)(side.slice(0, at), side.slice(at + 1), inputs);
const loaded = allTime() - start;
const results = await run();
const first = allTime() - start;
if (isWall && availableParallelism() > 1) pin(listThreads().filter((thread) => !threadsBefore.includes(thread)));
mkdirSync(outputs, { recursive: true });
Object.entries(results).forEach(([name, value], index) => {
  const data = value.data ?? value;
  const type = Object.values(numpyTypes).findIndex(([, array]) => data instanceof array);
  if (type < 0) return;
  writeFileSync(`${outputs}/${index}.json`, JSON.stringify({ name, type: Object.keys(numpyTypes)[type] }));
  writeFileSync(`${outputs}/${index}.bin`, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
});
console.log(`loaded ${loaded} ${first}`);

for await (const line of createInterface({ input: process.stdin })) {
  const end = performance.now() + 1000 * Number(line);
  let runs = 0, step = 1, least = Infinity;
  const before = cpuTime();
  while (performance.now() < end) {
    const start = performance.now();
    for (let i = 0; i < step; ++i) {
      const results = run();
      if (results instanceof Promise) await results;
    }
    least = Math.min(least, (performance.now() - start) / step);
    runs += step;
    if (!isWall) step = Math.min(2 * step, 64);
  }
  console.log(isWall ? least : (cpuTime() - before) / runs);
}
process.exit(0);
