
// From here on, the text is the same for every model.

const arrays = {
  f32: Float32Array, f64: Float64Array, f16: Uint16Array, bf16: Uint16Array, bool: Uint8Array, u8: Uint8Array, i8: Int8Array, u16: Uint16Array,
  i16: Int16Array, u32: Uint32Array, i32: Int32Array, u64: BigUint64Array, i64: BigInt64Array,
};
const stringBytes = 16; // kiln_string: a pointer, padding, and a length of 64 bits
const pageBytes = 65536;
const mostFormBytes = 1 << 30; // what an engine takes for a module
const mostBytes = 65536 * pageBytes;
const contextBytes = 48; // kiln_context without its communicator: four words, and four hooks with a pointer each
const status = { invalid: 1, bounds: 3, mismatch: 4, memory: 8, weights: 10, unreadable: 11, image: 19, largeImage: 20, size: 21 };

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

/** A number of variable length, and where it ends. */
function readNumber(bytes, at) {
  let value = 0;
  for (let factor = 1; ; factor *= 128) {
    const byte = bytes[at++];
    value += (byte & 127) * factor;
    if (!(byte & 128)) return { value, end: at };
  }
}

function encodeNumber(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value & 127) | 128);
  return [...bytes, value];
}

/** `visit(id, start, begin, end)` for each section of a module, whose contents begin behind its head. */
function forEachSection(bytes, visit) {
  for (let at = 8; at < bytes.length; ) {
    const size = readNumber(bytes, at + 1);
    visit(bytes[at], at, size.end, size.end + size.value);
    at = size.end + size.value;
  }
}

const toBytes = (data) => (ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data));

/** Bytes from the front on: of an array, of a file where there is Node, or of what fetch() answers, as they arrive. */
class Source {
  #rest = new Uint8Array(0);
  #pull; // the next bytes, and none at the end; a file takes the array for them
  #file;

  static async open(given) {
    let source = await given;
    if (typeof source === "string" || source instanceof URL) {
      const url = new URL(source, import.meta.url);
      if (url.protocol === "file:" && typeof process !== "undefined" && process.versions?.node) return Source.#openFile(url);
      source = await fetch(url);
    }
    const opened = new Source();
    // Node takes 40 ms to make the class Response, so nothing is compared with it.
    if (typeof source.arrayBuffer !== "function") {
      opened.#rest = toBytes(source);
    } else {
      if (source.ok === false) throw new KilnError(status.unreadable, `${source.url} (HTTP status ${source.status})`);
      const reader = source.body?.getReader();
      opened.#pull = reader && (async () => (await reader.read()).value);
    }
    return opened;
  }

  static async #openFile(url) {
    const { open } = await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:fs/promises");
    const opened = new Source(), file = await open(url);
    opened.#file = file;
    opened.#pull = async (target = new Uint8Array(1 << 16)) => target.subarray(0, (await file.read(target, 0, Math.min(target.length, 1 << 30), null)).bytesRead);
    return opened;
  }

  /** At least so many of the next bytes, or all that are left. */
  async peek(size) {
    while (this.#rest.length < size) {
      const more = await this.#pull?.();
      if (!more?.length) break;
      const both = new Uint8Array(this.#rest.length + more.length);
      both.set(this.#rest);
      both.set(more, this.#rest.length);
      this.#rest = both;
    }
    return this.#rest;
  }

  skip(size) {
    this.#rest = this.#rest.subarray(size);
  }

  /** Fills an array and tells how much of it there was. */
  async fill(target) {
    let filled = Math.min(this.#rest.length, target.length);
    target.set(this.#rest.subarray(0, filled));
    this.skip(filled);
    while (filled < target.length) {
      const more = this.#file ? await this.#pull(target.subarray(filled)) : await this.#pull?.();
      if (!more?.length) break;
      const size = Math.min(more.length, target.length - filled);
      if (!this.#file) target.set(more.subarray(0, size), filled);
      this.#rest = this.#file ? this.#rest : more.subarray(size);
      filled += size;
    }
    return filled;
  }

  async take(size) {
    const bytes = new Uint8Array(size);
    return bytes.subarray(0, await this.fill(bytes));
  }

  async close() {
    await this.#file?.close();
  }
}

/** The custom sections that stand before the weights, by name, and the number of bytes of the weights, which come next. */
async function readForms(source) {
  const forms = new Map();
  source.skip((await source.peek(8)).length < 8 ? 0 : 8);
  for (;;) {
    let head = await source.peek(32);
    if (!head.length) return { forms, weightsBytes: 0 };
    const size = readNumber(head, 1), length = readNumber(head, size.end), begin = length.end + length.value;
    head = await source.peek(begin);
    const name = new TextDecoder().decode(head.subarray(length.end, begin)), bytes = size.end + size.value - begin;
    source.skip(begin);
    if (name === "weights" || !(bytes > 0)) return { forms, weightsBytes: bytes };
    forms.set(name, await source.take(Math.min(bytes, mostFormBytes)));
  }
}

/** Writes what is left of a source into memory as it arrives, which must be as much as there is room for. */
async function readInto(target, source) {
  const filled = await source.fill(target);
  if (filled !== target.length) throw new KilnError(status.weights, `${filled} bytes instead of ${target.length}`);
  if ((await source.peek(1)).length) throw new KilnError(status.weights, `more than ${target.length} bytes`);
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

// What demands call: division that rounds down, and up; a divisor below 1 counts as 1, as in a run.
const kiln_floor_div = (number, by) => Math.floor(number / Math.max(by, 1));
const kiln_ceil_div = (number, by) => Math.ceil(number / Math.max(by, 1));
const kiln_floor_mod = (number, by) => (by < 1 ? 0 : number - kiln_floor_div(number, by) * by);
const kiln_ceil_to = (number, by) => kiln_ceil_div(number, by) * by;
const [kiln_max, kiln_min] = [Math.max, Math.min];

/** The first demand that these sizes do not meet, of those with a status if one is given. */
const findFault = (sizes, code) => signature.demands.find((demand) => demand.status === (code ?? demand.status) && !demand.holds(sizes));
/** "height 33: must be a multiple of 32 (Add 'p')" */
const inWords = ({ symbols, words }, sizes) => `${symbols.map((i) => `${signature.symbols[i].name} ${sizes[i]}`).join(", ")}: ${words}`;

/** What is wrong with these sizes of the model's dimensions, by their names; "" if nothing is. */
export function explain(dims) {
  const sizes = signature.symbols.slice(0, signature.given).map(({ name }) => {
    if (!Number.isInteger(dims?.[name])) throw new KilnError(0, `explain(): expected a whole number for the dimension '${name}'`);
    return dims[name];
  });
  const fault = findFault(sizes);
  return fault ? inWords(fault, sizes) : "";
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
    const { name } = symbols[i];
    if (sizes[i] === undefined) throw new KilnError(0, `no input has the size of '${name}': give it as run(inputs, { dims: { '${name}': SIZE } })`);
  }
  check(sizes, status.bounds);
  signature.inputs.forEach((tensor, index) => {
    const dims = getDims(tensor, sizes);
    if (dims.some((dim, axis) => dim !== tensors[index].dims[axis]))
      throw new KilnError(status.mismatch, `input '${tensor.name}' is [${tensors[index].dims}], expected [${dims}] for ${describe(tensor)}`);
  });
  check(sizes, status.mismatch);
  return sizes;
}

const check = (sizes, code) => {
  const fault = findFault(sizes, code);
  if (fault) throw new KilnError(fault.status, inWords(fault, sizes));
};

/** Where a model's data lie. Threads have cells to speak through and stacks, in front of the weights. */
function layOut(heapBase, threads) {
  const layout = { context: align(heapBase) };
  let end = layout.context + align(contextBytes);
  const take = (bytes) => {
    const at = end;
    end += align(bytes);
    return at;
  };
  layout.control = take(threads > 1 ? cellBytes : 0);
  layout.stacks = take((threads - 1) * workerStackBytes);
  layout.weights = take(signature.weights.bytes);
  layout.dims = take(8 * signature.symbols.length);
  layout.inputs = take(4 * signature.inputs.length);
  layout.outputs = take(4 * signature.outputs.length);
  layout.arena = end;
  return layout;
}

/** Grows a memory to at least `end` bytes. */
function growTo(memory, end) {
  const missing = end - memory.buffer.byteLength;
  if (missing <= 0) return;
  try {
    if (end > mostBytes) throw new RangeError();
    memory.grow(Math.ceil(missing / pageBytes));
  } catch {
    throw new KilnError(status.memory, `${end} bytes are needed`);
  }
}

/** An instance with workers that share its memory; nothing where the host cannot. */
async function startShared(code, { threads, makeWorker }) {
  if (!(threads > 1) || !canShare()) return undefined;
  try {
    code.shared ??= shareMemory(code.bytes);
    code.sharedModule ??= await WebAssembly.compile(code.shared.bytes);
    const module = code.sharedModule, memory = makeSharedMemory(code.shared.pages);
    const { exports } = await WebAssembly.instantiate(module, { env: { memory } });
    const layout = layOut(exports.__heap_base.value, threads);
    growTo(memory, layout.arena);
    return { exports, memory, layout, workers: await Workers.start(threads - 1, makeWorker, { module, exports, memory, layout }) };
  } catch {
    return undefined;
  }
}

async function startAlone(code) {
  code.module ??= await WebAssembly.compile(code.bytes);
  const { exports } = await WebAssembly.instantiate(code.module, {});
  const layout = layOut(exports.__heap_base.value, 1);
  growTo(exports.memory, layout.arena);
  return { exports, memory: exports.memory, layout, workers: null };
}

/** A function of JavaScript as one of WebAssembly, which tables take: a module that exports what it imports. Types are 0x7f for i32 and 0x7e for i64. */
function wrapHook(parameters, results, hook) {
  const type = [1, 0x60, parameters.length, ...parameters, results.length, ...results];
  const bytes = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, type.length, ...type, 2, 7, 1, 1, 0x65, 1, 0x66, 0, 0, 7, 5, 1, 1, 0x66, 0, 0];
  return new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(bytes)), { e: { f: hook } }).exports.f;
}

/** Ends a run that needs a picture which is yet to come. */
class AwaitedPicture extends Error {
  constructor(promise) {
    super("a picture is awaited");
    this.promise = promise;
  }
}

/** Pixels of the format that the model wants, from the same or from four bytes each: red, green, blue and alpha, which is left out. */
function writePixels(data, format, channels, target) {
  if (data.length === target.length) {
    target.set(data);
    return;
  }
  for (let from = 0, to = 0; to < target.length; from += 4, to += channels) {
    const r = data[from], g = data[from + 1], b = data[from + 2];
    if (channels === 1) target[to] = (r * 19595 + g * 38470 + b * 7471 + 0x8000) >> 16;
    else target.set(format === "bgr" ? [b, g, r] : [r, g, b], to);
  }
}

/** The hook parallel_for of a model's first run: engines replace the code that they make first when a function is called again, not while it runs. */
function runInPieces(table, tasks, task, argument) {
  const run = table.get(task), pieces = tasks < 8n ? tasks : 8n;
  for (let i = 0n; i < pieces; ++i) run(argument, (tasks * i) / pieces, (tasks * (i + 1n)) / pieces);
}

/** A model with memory of its own. `load` makes the first one, `clone` further ones; each runs one thing at a time. */
export class Model {
  #code;
  #settings;
  #exports;
  #memory;
  #workers;
  #run;
  #layout;
  #context; // 0 is NULL: one thread, no hooks
  #plan = null;
  #hasRun = false;
  #fault = null; // what a hook has thrown
  #pictures = null; // those that runAsync() has awaited

  /** Made by load() and clone(). */
  constructor(form, code, settings, { exports, memory, layout, workers }) {
    this.form = form;
    this.#code = code;
    this.#settings = settings;
    this.#exports = exports;
    this.#memory = memory;
    this.#workers = workers;
    this.#layout = layout;
    this.#run = exports[`${signature.name}_run`];
    this.#setHooks();
  }

  static async make(form, code, settings, fill) {
    const model = new Model(form, code, settings, (await startShared(code, settings)) ?? (await startAlone(code)));
    try {
      await fill(model.#memoryOf(model.#layout.weights, signature.weights.bytes));
      if (!signature.symbols.length) model.#place([]);
    } catch (error) {
      model.close();
      throw error;
    }
    return model;
  }

  /** Another model with the same weights and code, which can run something else. */
  clone() {
    this.#checkOpen();
    const weights = () => this.#memoryOf(this.#layout.weights, signature.weights.bytes);
    return Model.make(this.form, this.#code, this.#settings, (target) => target.set(weights()));
  }

  /** The threads of a run, this one among them. */
  get threads() {
    return 1 + (this.#workers?.count ?? 0);
  }

  /** Ends the workers; the model runs no more. */
  close() {
    this.#workers?.end();
    this.#workers = null;
    this.#exports = null;
  }

  /** Kernels have been compiled in earnest: from now on they run whole. */
  #settle() {
    this.#hasRun = true;
    if (this.#workers) return;
    new Uint32Array(this.#memory.buffer, this.#context, contextBytes / 4)[4] = 0;
    if (!this.#settings.decodeImage) this.#context = 0;
  }

  #checkOpen() {
    if (!this.#exports) throw new KilnError(0, "the model is closed");
  }

  /** kiln_context of a run, with functions in the module's table. */
  #setHooks() {
    const table = this.#exports.__indirect_function_table;
    const add = (parameters, results, hook) => {
      const at = table.grow(1);
      table.set(at, wrapHook(parameters, results, hook));
      return at;
    };
    this.#context = this.#layout.context;
    const fields = new Uint32Array(this.#memory.buffer, this.#context, contextBytes / 4).fill(0);
    fields.set([1, contextBytes, this.threads]);
    const runParts = this.#workers ? (...launch) => this.#workers.run(...launch) : (...launch) => runInPieces(table, ...launch);
    fields[4] = add([0x7f, 0x7e, 0x7f, 0x7f], [], (_, ...launch) => this.#guard(() => runParts(...launch)));
    if (this.#settings.decodeImage) fields[10] = add([0x7f, 0x7f], [0x7f], (_, image) => this.#guard(() => this.#decode(image)) ?? status.image);
  }

  /** Nothing is thrown through the model's own functions: it is kept until they return. */
  #guard(action) {
    try {
      return action();
    } catch (error) {
      this.#fault ??= error;
      return undefined;
    }
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
    this.#checkOpen();
    const tensors = readInputs(inputs);
    if (signature.symbols.length) this.#place(bindSizes(tensors, options.dims));
    this.#write(tensors);
    const stack = this.#exports.__stack_pointer, top = stack.value;
    let code;
    try {
      code = this.#call(this.#plan.workspace);
    } catch (error) {
      stack.value = top; // what has ended on the way
      throw error;
    }
    if (!this.#hasRun) this.#settle();
    const fault = this.#fault;
    this.#fault = null;
    if (fault) throw fault;
    if (code) throw new KilnError(code);
    return this.#read(options.copy ?? true);
  }

  /** The same for a model whose `decodeImage` answers with promises: what they give is kept, and the run begins again. */
  async runAsync(inputs, options = {}) {
    const pictures = [];
    for (;;) {
      this.#pictures = { known: pictures, next: 0 };
      try {
        return this.run(inputs, options);
      } catch (error) {
        if (!(error instanceof AwaitedPicture)) throw error;
        pictures.push(await error.promise);
      } finally {
        this.#pictures = null;
      }
    }
  }

  /** The arguments that a model has: sizes if some are dynamic, weights if there are any. */
  #call(workspace) {
    const { dims, inputs, outputs, weights } = this.#layout;
    if (signature.symbols.length && signature.weights.bytes) return this.#run(dims, inputs, outputs, weights, workspace, this.#context);
    if (signature.symbols.length) return this.#run(dims, inputs, outputs, workspace, this.#context);
    if (signature.weights.bytes) return this.#run(inputs, outputs, weights, workspace, this.#context);
    return this.#run(inputs, outputs, workspace, this.#context);
  }

  /** The hook decode_image: fields of kiln_image to those of the answer. */
  #decode(at) {
    const { buffer } = this.#memory;
    const words = new Uint32Array(buffer, at, 14), [, , size, , maxHeight, , maxWidth] = words;
    const format = ["rgb", "bgr", "grayscale"][words[12]], channels = words[13];
    const { known, next } = this.#pictures ?? { known: [], next: 0 };
    const picture = next < known.length ? known[next] : this.#settings.decodeImage(this.#memoryOf(words[0], size).slice(), { format, channels, maxHeight, maxWidth });
    if (typeof picture?.then === "function") {
      picture.then(undefined, () => {});
      throw this.#pictures ? new AwaitedPicture(picture) : new KilnError(0, "decodeImage answers with a promise: call runAsync()");
    }
    if (this.#pictures) {
      known[next] = picture;
      ++this.#pictures.next;
    }
    if (!picture) return status.image;
    const { data, width, height } = picture;
    if (!(width > 0 && height > 0) || !(data?.length === width * height * channels || data?.length === width * height * 4))
      throw new KilnError(0, `decodeImage: expected { data, width, height } with ${channels} or 4 bytes a pixel`);
    if (height > maxHeight || width > maxWidth) return status.largeImage;
    writePixels(data, format, channels, this.#memoryOf(words[1], width * height * channels));
    new BigInt64Array(buffer, at + 32, 2).set([BigInt(height), BigInt(width)]);
    return 0;
  }

  #memoryOf(at, bytes) {
    return new Uint8Array(this.#memory.buffer, at, bytes);
  }

  /** Where everything of a run with these sizes lies. */
  #place(sizes) {
    const key = sizes.slice(0, signature.given).join();
    if (this.#plan?.key === key) return;
    this.#plan = null;
    const dims = new BigInt64Array(this.#memory.buffer, this.#layout.dims, signature.symbols.length);
    sizes.forEach((size, i) => (dims[i] = BigInt(size ?? 0)));
    let end = this.#layout.arena;
    const take = (bytes) => {
      const at = end;
      end += align(Math.max(bytes, 1));
      return at;
    };
    const put = (tensor, elements) => ({ at: take(elements * elementBytes(tensor)), elements, view: null });
    const inputs = signature.inputs.map((tensor) => put(tensor, count(getDims(tensor, sizes))));
    const outputs = signature.outputs.map((tensor) => put(tensor, tensor.most ? tensor.most(sizes) : count(getDims(tensor, sizes))));
    const size = this.#exports[`${signature.name}_workspace_size`](this.#layout.dims) >>> 0;
    if (size === 0xffffffff) throw new KilnError(status.size);
    const workspace = take(size);
    growTo(this.#memory, end);
    new Uint32Array(this.#memory.buffer, this.#layout.inputs, inputs.length).set(inputs.map((input) => input.at));
    new Uint32Array(this.#memory.buffer, this.#layout.outputs, outputs.length).set(outputs.map((output) => output.at));
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
    growTo(this.#memory, free + bytes + 1);
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
      return new TextDecoder().decode(this.#memoryOf(records.getUint32(i * stringBytes, true), size).slice());
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
      const computed = new BigInt64Array(this.#memory.buffer, this.#layout.dims, symbols.length);
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

/** The best of the forms that this engine has. One that it lacks is refused at the first instruction that it does not know. */
async function compileBest(found, forms) {
  for (const form of signature.forms) {
    if (!forms.includes(form) || !found.has(form)) continue;
    const bytes = found.get(form);
    try {
      return { form, code: { bytes, module: await WebAssembly.compile(bytes) } };
    } catch (error) {
      if (!(error instanceof WebAssembly.CompileError)) throw error;
    }
  }
  throw new KilnError(0, `this engine runs none of the forms that are asked for (${forms.join(", ")}), or the file is another model's`);
}

/**
 * Loads the model in the best form that this engine has. `wasm` and `weights` are a URL, a Response, or the bytes; `forms` limits the choice. `threads` is
 * how many share a run, where the host allows it; `makeWorker` gives workers that serve() in place of the module's own.
 */
export async function load({ wasm = wasmUrl(), weights = weightsUrl?.(), forms = signature.forms, threads = 1, makeWorker = startWorker, decodeImage } = {}) {
  if (!Number.isInteger(threads) || threads < 1) throw new KilnError(0, `threads: expected a whole number from 1 on, got ${threads}`);
  const source = await Source.open(wasm);
  try {
    const { forms: found, weightsBytes } = await readForms(source);
    const { form, code } = await compileBest(found, forms);
    if (!signature.weights.file && weightsBytes !== signature.weights.bytes) throw new KilnError(status.weights);
    const fill = async (target) => {
      const from = signature.weights.file ? await Source.open(weights) : source;
      await readInto(target, from).finally(() => from.close());
    };
    return await Model.make(form, code, { threads, makeWorker, decodeImage }, fill);
  } finally {
    await source.close();
  }
}
