
// Threads: workers share the memory of a model, and take parts of its kernels' tasks.
//
// They speak through cells of 32 bits. What a launch is: 0, its number, which wakes workers; 1, whether its parts may be taken; 2, the task's place in the
// table; 3, its argument; 4, how many tasks; 5, in how many parts; 6, whether a part has failed; 7, whether the caller sleeps; 8, whether it is all over; 9, the
// number of threads, for parts of three sizes. What all of them change has lines of the cache for itself: 16, the next part; 32, the workers within a launch.
const cellBytes = 256;
const workerStackBytes = 1 << 20;
const mostTasks = 2 ** 31 - 1;

/**
 * Takes parts of a launch until there are none. Its text runs in workers, too, so it refers to nothing around it.
 * To take a part costs 0.1 us, since threads change the same cell. So there are three for each thread, of 3/6, 2/6 and 1/6 of its share: the last ones are small,
 * and threads end at about the same time.
 */
function takeParts(cells, table) {
  const task = table.get(cells[2]), argument = cells[3], tasks = cells[4], parts = cells[5], threads = cells[9];
  const begin = (part) => {
    if (!threads) return BigInt(part);
    const round = Math.floor(part / threads), before = threads * [0, 3, 5, 6][round];
    return BigInt(Math.floor((tasks * (before + (part - round * threads) * (3 - round))) / (6 * threads)));
  };
  for (let part = Atomics.add(cells, 16, 1); part < parts; part = Atomics.add(cells, 16, 1)) task(argument, begin(part), begin(part + 1));
}

/**
 * All that a worker does: for a worker of the program's own, a module with `import { serve } from "./NAME.mjs"; serve();`.
 * A worker comes in before it looks whether there is something to take, and the caller waits for all who are in: nobody takes parts of the wrong launch.
 */
export function serve(take = takeParts) {
  const begin = (port, { module, memory, stack, control, spins }) => {
    const { exports } = new WebAssembly.Instance(module, { env: { memory } });
    exports.__stack_pointer.value = stack;
    const cells = new Int32Array(memory.buffer, control, 64);
    port.postMessage("ready");
    for (let seen = 0; ; ) {
      for (let i = 0; i < spins && Atomics.load(cells, 0) === seen; ++i);
      if (Atomics.load(cells, 0) === seen) Atomics.wait(cells, 0, seen);
      seen = Atomics.load(cells, 0);
      if (Atomics.load(cells, 8)) return;
      Atomics.add(cells, 32, 1);
      try {
        if (Atomics.load(cells, 1)) take(cells, exports.__indirect_function_table);
      } catch {
        exports.__stack_pointer.value = stack;
        Atomics.store(cells, 6, 1);
      }
      if (Atomics.sub(cells, 32, 1) === 1 && Atomics.load(cells, 7)) Atomics.notify(cells, 32);
    }
  };
  const answer = (port, task) => {
    try {
      begin(port, task);
    } catch (error) {
      port.postMessage(`${error}`);
    }
  };
  if (typeof postMessage === "function") globalThis.addEventListener("message", ({ data }) => answer(globalThis, data), { once: true });
  else import(/* webpackIgnore: true */ /* @vite-ignore */ "node:worker_threads").then(({ parentPort }) => parentPort.once("message", (task) => answer(parentPort, task)));
}

/** A worker that serves, of the text of this module: it has no file of its own that a page must find. */
async function startWorker() {
  const text = `(${serve})(${takeParts})`;
  if (typeof Worker !== "undefined") {
    const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    const worker = new Worker(url, { type: "module" });
    const release = () => URL.revokeObjectURL(url);
    worker.addEventListener("message", release, { once: true });
    return worker;
  }
  const { Worker: NodeWorker } = await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:worker_threads");
  return new NodeWorker(text, { eval: true, execArgv: [] });
}

/** Whether threads of this host may share memory: pages must be isolated from other origins. */
function canShare() {
  return typeof SharedArrayBuffer !== "undefined" && typeof Atomics !== "undefined" && globalThis.crossOriginIsolated !== false;
}

/** The module with its memory imported as `env.memory` and shared: only the sections of imports and of the memory differ. Also the pages that it begins with. */
function shareMemory(bytes) {
  const parts = [bytes.subarray(0, 8)];
  let pages = 0, hasImports = false;
  forEachSection(bytes, (id, start, begin, end) => {
    if (id === 5) {
      // One memory: its flags, and the pages at least.
      pages = readNumber(bytes, begin + 2).value;
      return;
    }
    if (id > 1 && !hasImports) {
      const limits = [3, ...encodeNumber(1), ...encodeNumber(65536)];
      const imports = [1, 3, 0x65, 0x6e, 0x76, 6, 0x6d, 0x65, 0x6d, 0x6f, 0x72, 0x79, 2, ...limits];
      parts.push(new Uint8Array([2, imports.length, ...imports]));
      hasImports = true;
    }
    parts.push(bytes.subarray(start, end));
  });
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return { bytes: whole, pages };
}

/** A memory that may grow to 4 GiB, or to less where an engine reserves the whole and refuses. */
function makeSharedMemory(initial) {
  for (const maximum of [65536, 32768, 16384]) {
    try {
      return new WebAssembly.Memory({ initial, maximum, shared: true });
    } catch {
      // Try less.
    }
  }
  throw new RangeError("no shared memory");
}

/** The workers of one model. */
class Workers {
  #workers = [];
  #cells;
  #table;
  #canSleep = true;
  #spins;

  /** Starts them on the instance `exports`; where one of them does not come up, none is left. */
  static async start(count, make, { module, exports, memory, layout }) {
    const started = new Workers();
    started.#cells = new Int32Array(memory.buffer, layout.control, cellBytes / 4);
    started.#table = exports.__indirect_function_table;
    const processors = globalThis.navigator?.hardwareConcurrency ?? Infinity;
    started.#spins = count < processors ? 20000 : 0;
    try {
      const ready = [];
      for (let i = 0; i < count; ++i) {
        const worker = await make();
        started.#workers.push(worker);
        const isUp = isReady(worker);
        isUp.catch(() => {}); // the next worker may fail before this one
        ready.push(isUp);
        const stack = layout.stacks + (i + 1) * workerStackBytes;
        worker.postMessage({ module, memory, stack, control: layout.control, spins: started.#spins });
      }
      await Promise.all(ready);
    } catch (error) {
      started.end();
      throw error;
    }
    // In Node, workers that wait do not keep a program from ending.
    for (const worker of started.#workers) worker.unref?.();
    return started;
  }

  get count() {
    return this.#workers.length;
  }

  /** The hook parallel_for. Whatever goes wrong is kept until the run is over, since nothing is thrown through a model. */
  run(tasks, task, argument) {
    const cells = this.#cells, table = this.#table;
    if (tasks > mostTasks || !this.#workers.length) return table.get(task)(argument, 0n, tasks);
    cells[2] = task;
    cells[3] = argument;
    cells[4] = Number(tasks);
    const threads = this.#workers.length + 1;
    cells[5] = Math.min(cells[4], 3 * threads);
    cells[9] = cells[4] > 3 * threads ? threads : 0;
    Atomics.store(cells, 16, 0);
    Atomics.store(cells, 1, 1);
    Atomics.add(cells, 0, 1);
    Atomics.notify(cells, 0, cells[5] - 1);
    try {
      takeParts(cells, table);
    } finally {
      Atomics.store(cells, 1, 0);
      this.#wait();
    }
    if (Atomics.exchange(cells, 6, 0)) throw new WebAssembly.RuntimeError("a worker has failed");
  }

  /** Until no worker is in. A page's own thread must not sleep. */
  #wait() {
    const cells = this.#cells;
    for (let i = 0; i < this.#spins; ++i) if (Atomics.load(cells, 32) === 0) return;
    Atomics.store(cells, 7, this.#canSleep ? 1 : 0);
    for (let inside = Atomics.load(cells, 32); inside !== 0; inside = Atomics.load(cells, 32)) {
      if (!this.#canSleep) continue;
      try {
        Atomics.wait(cells, 32, inside);
      } catch {
        this.#canSleep = false;
      }
    }
    Atomics.store(cells, 7, 0);
  }

  /** Workers return from their wait before they are told to end: Deno's do not hear it there. */
  end() {
    Atomics.store(this.#cells, 8, 1);
    Atomics.add(this.#cells, 0, 1);
    Atomics.notify(this.#cells, 0);
    for (const worker of this.#workers.splice(0)) worker.terminate();
  }
}

/** Fulfilled when the worker has an instance of its own. */
function isReady(worker) {
  const listen = (name, handle) => (worker.addEventListener ? worker.addEventListener(name, handle) : worker.on(name, handle));
  return new Promise((resolve, reject) => {
    listen("message", (event) => {
      const said = event?.data ?? event;
      if (said === "ready") resolve();
      else reject(new Error(`${said}`));
    });
    listen("exit", () => reject(new Error("the worker has ended"))); // Node's
    listen("error", (event) => {
      event.preventDefault?.();
      reject(new Error(event.message));
    });
  });
}
