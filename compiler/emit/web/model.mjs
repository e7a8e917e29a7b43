
// From here on, the text is the same for every model.

const arrays = {
  f32: Float32Array, f64: Float64Array, f16: Uint16Array, bf16: Uint16Array, bool: Uint8Array, u8: Uint8Array, i8: Int8Array, u16: Uint16Array,
  i16: Int16Array, u32: Uint32Array, i32: Int32Array, u64: BigUint64Array, i64: BigInt64Array,
};
const stringBytes = 16; // kiln_string: a pointer, padding, and a length of 64 bits
const pageBytes = 65536;
const mostBytes = 65536 * pageBytes;
const status = { invalid: 1, bounds: 3, mismatch: 4, memory: 8, weights: 10, unreadable: 11, size: 21 };

/** An error of a model: `status` is a kiln_status, and 0 for wrong uses of this module. */
export class KilnError extends Error {
  constructor(code, detail) {
    const text = signature.statuses[code];
    super(`${signature.name}: ${[text, detail].filter(Boolean).join(": ")}`);
    this.name = "KilnError";
    this.status = code;
  }
}

const align = (bytes) => Math.ceil(bytes / 64) * 64;
const isStatic = (tensor) => Array.isArray(tensor.dims);
const getDims = (tensor, sizes) => (isStatic(tensor) ? tensor.dims : tensor.dims(sizes));
const count = (dims) => dims.reduce((product, dim) => product * dim, 1);
for (const tensor of [...signature.inputs, ...signature.outputs]) if (isStatic(tensor)) tensor.elements = count(tensor.dims);
const elementBytes = (tensor) => (tensor.type === "string" ? stringBytes : arrays[tensor.type].BYTES_PER_ELEMENT);

/** The custom sections of a module by name. */
function readSections(bytes) {
  let at = 8;
  const number = () => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++];
      value += (byte & 127) * factor;
      if (!(byte & 128)) return value;
    }
  };
  const sections = new Map();
  while (at < bytes.length) {
    const id = bytes[at++];
    const size = number();
    const end = at + size;
    if (id === 0) {
      const length = number();
      sections.set(new TextDecoder().decode(bytes.subarray(at, at + length)), bytes.subarray(at + length, end));
    }
    at = end;
  }
  return sections;
}

/** What `fetch` answers, or the same for a file where there is no page. */
async function open(source) {
  const given = await source;
  if (typeof Response !== "undefined" && given instanceof Response) return given;
  if (given instanceof ArrayBuffer || ArrayBuffer.isView(given)) return given;
  const url = new URL(given, import.meta.url);
  if (url.protocol === "file:" && typeof process !== "undefined" && process.versions?.node) {
    const { readFile } = await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:fs/promises");
    return readFile(url);
  }
  return fetch(url);
}

function checkResponse(response) {
  if (!response.ok) throw new KilnError(status.unreadable, `${response.url} (HTTP status ${response.status})`);
}

function toBytes(buffer) {
  return buffer instanceof ArrayBuffer ? new Uint8Array(buffer) : new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}

async function readAll(source) {
  const opened = await open(source);
  if (opened instanceof ArrayBuffer || ArrayBuffer.isView(opened)) return toBytes(opened);
  checkResponse(opened);
  return new Uint8Array(await opened.arrayBuffer());
}

/** Writes a file into memory as it arrives. */
async function readInto(target, source) {
  const opened = await open(source);
  let filled = 0;
  const add = (bytes) => {
    if (filled + bytes.length > target.length) throw new KilnError(status.weights, `more than ${target.length} bytes`);
    target.set(bytes, filled);
    filled += bytes.length;
  };
  if (opened instanceof ArrayBuffer || ArrayBuffer.isView(opened)) {
    add(toBytes(opened));
  } else {
    checkResponse(opened);
    const reader = opened.body.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) add(part.value);
  }
  if (filled !== target.length) throw new KilnError(status.weights, `${filled} bytes instead of ${target.length}`);
}

/** Inputs or outputs as programs name them: tensors, and lists of the tensors of a sequence. */
function listSlots(tensors, isOutput) {
  const slots = [];
  const lists = signature.lists.filter((list) => list.isOutput === isOutput);
  for (let index = 0; index <= tensors.length; ) {
    const list = lists.find((each) => each.first === index && !each.done);
    if (list) {
      list.done = true;
      slots.push({ name: list.name, first: index, count: Math.max(list.count, 0), isList: list.isSequence, isHidden: list.isBytes || list.count < 0 });
      index += Math.max(list.count, 0);
    } else if (index < tensors.length) {
      slots.push({ name: tensors[index].name, first: index, count: 1, isList: false, isHidden: false });
      index += 1;
    } else {
      break;
    }
  }
  return slots;
}

const inputSlots = listSlots(signature.inputs, false);
const outputSlots = listSlots(signature.outputs, true);
const givenSlots = inputSlots.filter((slot) => !slot.isHidden);

function listTensors(tensors, slots) {
  const isHidden = (index) => slots.some((slot) => slot.isHidden && slot.first === index && slot.count > 0);
  return tensors.filter((_, index) => !isHidden(index)).map(({ name, type, texts }) => ({ name, type, dims: [...texts] }));
}

function describe(tensor) {
  return `${tensor.type}[${tensor.texts.join(",")}]`;
}

/** `{ data, dims }` of what a program gives as a tensor, checked. */
function readTensor(tensor, value) {
  const wrong = (text) => new KilnError(0, `input '${tensor.name}': ${text}`);
  if (value === undefined || value === null) throw wrong("is missing");
  const isPair = !ArrayBuffer.isView(value) && !Array.isArray(value) && typeof value === "object" && "data" in value;
  let data = isPair ? value.data : value;
  let { dims, elements } = tensor;
  if (isPair && value.dims) {
    dims = Array.from(value.dims, Number);
    if (dims.length !== tensor.texts.length) throw wrong(`has ${dims.length} dimensions, expected ${describe(tensor)}`);
    if (!dims.every((dim) => Number.isSafeInteger(dim) && dim >= 0)) throw wrong(`dims [${dims}] are not all whole numbers`);
    elements = count(dims);
  } else if (elements === undefined) {
    throw wrong(`has dynamic dimensions, ${describe(tensor)}: expected { data, dims }`);
  }
  if (tensor.type === "string") {
    if (!Array.isArray(data) || !data.every((text) => typeof text === "string")) throw wrong("expected an array of strings");
  } else {
    const wanted = arrays[tensor.type];
    const isHalf = tensor.type === "f16" && typeof Float16Array !== "undefined" && data instanceof Float16Array;
    if (isHalf || (data instanceof Uint8ClampedArray && wanted === Uint8Array)) data = new wanted(data.buffer, data.byteOffset, data.length);
    if (!(data instanceof wanted)) throw wrong(`expected a ${wanted.name} for ${describe(tensor)}, got ${data?.constructor?.name ?? typeof data}`);
  }
  if (data.length !== elements) throw wrong(`has ${data.length} elements, expected ${elements} for ${describe(tensor)}`);
  return { data, dims };
}

/** The tensors of all inputs in order. */
function readInputs(inputs) {
  if (inputs === null || typeof inputs !== "object") throw new KilnError(0, "run() takes an object with the inputs by name");
  const tensors = new Array(signature.inputs.length);
  for (const slot of givenSlots) {
    const value = inputs[slot.name];
    if (slot.isList && (!Array.isArray(value) || value.length !== slot.count))
      throw new KilnError(0, `input '${slot.name}': expected an array of ${slot.count} tensors`);
    for (let i = 0; i < slot.count; ++i) tensors[slot.first + i] = readTensor(signature.inputs[slot.first + i], slot.isList ? value[i] : value);
  }
  const names = Object.keys(inputs), known = givenSlots.map((slot) => slot.name);
  const unknown = names.length > known.length && names.find((name) => !known.includes(name));
  if (unknown) throw new KilnError(0, `the model has no input '${unknown}', but: ${known.join(", ")}`);
  return tensors;
}

/** The size of each symbol, from the inputs' dimensions and those that the program gives. */
function bindSizes(tensors, given) {
  const { symbols, given: known } = signature;
  const sizes = symbols.map((symbol) => (given && symbol.name in given ? Number(given[symbol.name]) : undefined));
  signature.inputs.forEach((tensor, index) =>
    tensor.symbols?.forEach((symbol, axis) => {
      if (symbol >= 0 && symbol < known && sizes[symbol] === undefined) sizes[symbol] = tensors[index].dims[axis];
    }));
  for (let i = 0; i < known; ++i) {
    const { name, min, max } = symbols[i];
    if (sizes[i] === undefined) throw new KilnError(0, `no input has the size of '${name}': give it as run(inputs, { dims: { '${name}': SIZE } })`);
    if (sizes[i] < min || sizes[i] > max) throw new KilnError(status.bounds, `'${name}' is ${sizes[i]}, not in ${min} to ${max}`);
  }
  signature.inputs.forEach((tensor, index) => {
    const dims = getDims(tensor, sizes);
    if (dims.some((dim, axis) => dim !== tensors[index].dims[axis]))
      throw new KilnError(status.mismatch, `input '${tensor.name}' is [${tensors[index].dims}], expected [${dims}] for ${describe(tensor)}`);
  });
  return sizes;
}

/** A model with memory of its own. `load` makes the first one, `clone` further ones; each runs one thing at a time. */
export class Model {
  #module;
  #exports;
  #memory;
  #run;
  #weights; // where they lie, and what lies behind them
  #dims;
  #inputs;
  #outputs;
  #arena;
  #plan = null;

  /** Made by load() and clone(). */
  constructor(form, module, instance) {
    this.form = form;
    this.#module = module;
    this.#exports = instance.exports;
    this.#memory = instance.exports.memory;
    this.#run = instance.exports[`${signature.name}_run`];
    this.#weights = align(instance.exports.__heap_base.value);
    this.#dims = this.#weights + align(signature.weights.bytes);
    this.#inputs = this.#dims + align(8 * signature.symbols.length);
    this.#outputs = this.#inputs + align(4 * signature.inputs.length);
    this.#arena = this.#outputs + align(4 * signature.outputs.length);
    this.#grow(this.#arena);
  }

  static async make(form, module, fill) {
    const model = new Model(form, module, await WebAssembly.instantiate(module, {}));
    await fill(model.#memoryOf(model.#weights, signature.weights.bytes));
    if (!signature.symbols.length) model.#place([]);
    return model;
  }

  /** Another model with the same weights and code, which can run something else. */
  clone() {
    return Model.make(this.form, this.#module, (target) => target.set(this.#memoryOf(this.#weights, signature.weights.bytes)));
  }

  /** Bytes of memory that the model has. */
  get memoryBytes() {
    return this.#memory.buffer.byteLength;
  }

  /** The array in the model's memory that an input of static shape is copied to. What is written there need not be copied: give the array itself to run(). */
  input(name) {
    const index = signature.inputs.findIndex((tensor) => tensor.name === name);
    if (index < 0 || !this.#plan || signature.inputs[index].type === "string") throw new KilnError(0, `'${name}' is no input of static shape`);
    this.#refresh();
    return this.#plan.inputs[index].view;
  }

  run(inputs, options = {}) {
    const tensors = readInputs(inputs);
    if (signature.symbols.length) this.#place(bindSizes(tensors, options.dims));
    this.#write(tensors);
    const code = this.#call(this.#plan.workspace);
    if (code) throw new KilnError(code);
    return this.#read(options.copy ?? true);
  }

  /** The arguments that a model has: sizes if some are dynamic, weights if there are any. No context: one thread, no hooks. */
  #call(workspace) {
    if (signature.symbols.length && signature.weights.bytes) return this.#run(this.#dims, this.#inputs, this.#outputs, this.#weights, workspace, 0);
    if (signature.symbols.length) return this.#run(this.#dims, this.#inputs, this.#outputs, workspace, 0);
    if (signature.weights.bytes) return this.#run(this.#inputs, this.#outputs, this.#weights, workspace, 0);
    return this.#run(this.#inputs, this.#outputs, workspace, 0);
  }

  #memoryOf(at, bytes) {
    return new Uint8Array(this.#memory.buffer, at, bytes);
  }

  #grow(end) {
    const missing = end - this.#memory.buffer.byteLength;
    if (missing <= 0) return;
    try {
      if (end > mostBytes) throw new RangeError();
      this.#memory.grow(Math.ceil(missing / pageBytes));
    } catch {
      throw new KilnError(status.memory, `${end} bytes are needed`);
    }
  }

  /** Where everything of a run with these sizes lies. */
  #place(sizes) {
    const key = sizes.slice(0, signature.given).join();
    if (this.#plan?.key === key) return;
    this.#plan = null;
    const dims = new BigInt64Array(this.#memory.buffer, this.#dims, signature.symbols.length);
    sizes.forEach((size, i) => (dims[i] = BigInt(size ?? 0)));
    let end = this.#arena;
    const take = (bytes) => {
      const at = end;
      end += align(Math.max(bytes, 1));
      return at;
    };
    const put = (tensor, elements) => ({ at: take(elements * elementBytes(tensor)), elements, view: null });
    const inputs = signature.inputs.map((tensor) => put(tensor, count(getDims(tensor, sizes))));
    const outputs = signature.outputs.map((tensor) => put(tensor, tensor.most ? tensor.most(sizes) : count(getDims(tensor, sizes))));
    const size = this.#exports[`${signature.name}_workspace_size`](this.#dims) >>> 0;
    if (size === 0xffffffff) throw new KilnError(status.size);
    const workspace = take(size);
    this.#grow(end);
    new Uint32Array(this.#memory.buffer, this.#inputs, inputs.length).set(inputs.map((input) => input.at));
    new Uint32Array(this.#memory.buffer, this.#outputs, outputs.length).set(outputs.map((output) => output.at));
    this.#plan = { key, sizes, inputs, outputs, workspace, end, buffer: null };
  }

  /** Arrays end with the buffer that they show, which growing replaces. */
  #refresh() {
    const { buffer } = this.#memory;
    if (this.#plan.buffer === buffer) return;
    this.#plan.buffer = buffer;
    const show = (tensor, { at, elements }) => (tensor.type === "string" ? null : new arrays[tensor.type](buffer, at, elements));
    this.#plan.inputs.forEach((input, i) => (input.view = show(signature.inputs[i], input)));
    this.#plan.outputs.forEach((output, i) => (output.view = show(signature.outputs[i], output)));
  }

  #write(tensors) {
    const { inputs, end } = this.#plan;
    let free = end;
    tensors.forEach(({ data }, i) => {
      if (signature.inputs[i].type === "string") free = this.#writeStrings(inputs[i].at, data, free);
    });
    this.#refresh();
    tensors.forEach(({ data }, i) => {
      const { view } = inputs[i];
      if (view && !(data.buffer === view.buffer && data.byteOffset === view.byteOffset)) view.set(data);
    });
  }

  #writeStrings(at, texts, free) {
    const encoded = texts.map((text) => new TextEncoder().encode(text));
    const bytes = encoded.reduce((sum, text) => sum + text.length, 0);
    this.#grow(free + bytes + 1);
    const records = new DataView(this.#memory.buffer, at, texts.length * stringBytes);
    encoded.forEach((text, i) => {
      this.#memoryOf(free, text.length).set(text);
      records.setUint32(i * stringBytes, free, true);
      records.setBigInt64(i * stringBytes + 8, BigInt(text.length), true);
      free += text.length;
    });
    return free;
  }

  #readStrings(at, elements) {
    const records = new DataView(this.#memory.buffer, at, elements * stringBytes);
    return Array.from({ length: elements }, (_, i) => {
      const size = Number(records.getBigInt64(i * stringBytes + 8, true));
      return new TextDecoder().decode(this.#memoryOf(records.getUint32(i * stringBytes, true), size));
    });
  }

  #readTensor(index, sizes, copy) {
    const tensor = signature.outputs[index];
    const { at, view } = this.#plan.outputs[index];
    if (tensor.type !== "string" && tensor.elements !== undefined) return copy ? new arrays[tensor.type](view) : view;
    const dims = getDims(tensor, sizes);
    const elements = count(dims);
    if (tensor.type === "string") {
      const texts = this.#readStrings(at, elements);
      return isStatic(tensor) ? texts : { data: texts, dims };
    }
    return { data: copy ? view.slice(0, elements) : view.subarray(0, elements), dims };
  }

  #read(copy) {
    let { sizes } = this.#plan;
    const { symbols, given } = signature;
    if (symbols.length > given) {
      const computed = new BigInt64Array(this.#memory.buffer, this.#dims, symbols.length);
      sizes = sizes.map((size, i) => (i < given ? size : Number(computed[i])));
    }
    const results = {};
    for (const slot of outputSlots) {
      if (slot.isHidden) continue;
      if (slot.isList) results[slot.name] = Array.from({ length: slot.count }, (_, i) => this.#readTensor(slot.first + i, sizes, copy));
      else results[slot.name] = this.#readTensor(slot.first, sizes, copy);
    }
    return results;
  }
}

/** The model's inputs and outputs as data; the elements of a sequence one by one. */
export const info = Object.freeze({
  name: signature.name,
  inputs: listTensors(signature.inputs, inputSlots),
  outputs: listTensors(signature.outputs, outputSlots),
});

/** Loads the model in the best form that this engine has. `wasm` and `weights` are a URL, a Response, or the bytes; `forms` limits the choice. */
export async function load({ wasm = wasmUrl(), weights = weightsUrl?.(), forms = signature.forms } = {}) {
  const sections = readSections(await readAll(wasm));
  const form = signature.forms.find((each) => forms.includes(each) && sections.has(each) && WebAssembly.validate(sections.get(each)));
  if (!form) throw new KilnError(0, `this engine runs none of the forms that are asked for (${forms.join(", ")}), or the file is another model's`);
  const embedded = sections.get("weights");
  if (!signature.weights.file && (embedded?.length ?? 0) !== signature.weights.bytes) throw new KilnError(status.weights);
  const module = await WebAssembly.compile(sections.get(form));
  return Model.make(form, module, (target) => (signature.weights.file ? readInto(target, weights) : embedded && target.set(embedded)));
}
