// Runs FOLDER/model.mjs on the inputs of FOLDER/inputs.json and writes outputs.json, for test/web/run.
import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath, pathToFileURL } from "node:url";

const folder = process.argv[2];
const { info, load, KilnError } = await import(pathToFileURL(`${folder}/model.mjs`));
const arrays = {
  f32: Float32Array, f64: Float64Array, f16: Uint16Array, bf16: Uint16Array, bool: Uint8Array, u8: Uint8Array, i8: Int8Array, u16: Uint16Array,
  i16: Int16Array, u32: Uint32Array, i32: Int32Array, u64: BigUint64Array, i64: BigInt64Array,
};

/** Elements of a sequence have their own rows in `info`, whose types they need. */
const given = JSON.parse(await readFile(`${folder}/inputs.json`, "utf8"));
let next = 0;
async function toTensor(value) {
  const { type } = info.inputs[next++];
  if (value.texts) return { data: value.texts, dims: value.dims };
  const bytes = await readFile(value.file);
  const array = arrays[type];
  if (bytes.length % array.BYTES_PER_ELEMENT) throw new Error(`a file of ${bytes.length} bytes is no tensor of ${type}`);
  return { data: new array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)), dims: value.dims };
}

function decodeImage(bytes, { format }) {
  const pixels = execFileSync(fileURLToPath(new URL("decode-image", import.meta.url)), [format], { input: bytes, maxBuffer: 1 << 28 });
  return { data: new Uint8Array(pixels.subarray(8)), width: pixels.readUInt32LE(0), height: pixels.readUInt32LE(4) };
}

try {
  const inputs = {};
  for (const [name, value] of Object.entries(given)) {
    inputs[name] = Array.isArray(value) ? [] : await toTensor(value);
    if (Array.isArray(value)) for (const element of value) inputs[name].push(await toTensor(element));
  }
  const model = await load({ decodeImage });
  const results = Object.values(model.run(inputs)).flatMap((value) => (Array.isArray(value) && typeof value[0] !== "string" ? value : [value]));
  const outputs = [];
  let index = 0;
  for (const { name, type, dims } of info.outputs) {
    const result = results[index++];
    const data = result.dims ? result.data : result;
    const output = { name, type, dims: result.dims ?? dims.map(Number) };
    if (type === "string") {
      output.texts = data;
    } else {
      output.file = `${folder}/output_${index}`;
      await writeFile(output.file, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    }
    outputs.push(output);
  }
  await writeFile(`${folder}/outputs.json`, JSON.stringify(outputs));
} catch (error) {
  console.error(error instanceof KilnError ? error.message : error);
  process.exit(1);
}
