// The data with what follows from it: which launch uses whose results, what each costs, and what kind of kernel it is.

/** Kinds of kernels: the colour, the words of the legend, and the beginnings of the names of algorithms. */
const families = [
  ["conv", "convolution", /^(conv|winograd|deform)/],
  ["product", "product", /^(gemm|matmul|product|gathered|row_product)/],
  ["state", "attention, recurrence", /^(attention|lstm|gru|rnn|recurrent)/],
  ["rows", "softmax, norm, pooling", /^(softmax|norm|reduce|pool|axis|layer|instance|group_norm|rms|scan|arg|top)/],
  ["move", "data movement", /^(transpose|concat|copy|pad|gather|scatter|interleave|resize|slice|move|tile|reverse)/],
  ["element", "element-wise", /^(loops|element|map)/],
  ["other", "other", /./],
];

/** What is part of most groups and says nothing. */
const silentOperations = new Set(["broadcast_to", "reshape", "splat"]);

const familyOf = (algorithm) => families.find(([, , pattern]) => pattern.test(algorithm))[0];

class Launch {
  constructor(compile, raw, index) {
    this.raw = raw;
    this.index = index;
    this.kernel = compile.raw.kernels[raw.kernel];
    this.group = raw.group >= 0 ? compile.raw.groups[raw.group] : null;
    this.nodes = raw.nodes;
    this.names = raw.nodes.map((node) => compile.report.graph.nodes[node].name);
    this.algorithm = this.kernel.algorithm;
    this.family = familyOf(this.algorithm);
    this.calls = raw.measured?.calls ?? Math.max(1, raw.calls ?? 1);
    this.flops = raw.measured?.flops ?? raw.flops;
    this.bytes = raw.measured?.bytes ?? raw.bytes;
    this.ms = raw.measured?.ms;
    this.from = new Map(); // launch or input: bytes
    this.to = new Map();
  }
  /** What is fused, as words. */
  get operations() {
    const words = (this.group?.operations ?? []).map(({ op }) => op).filter((op) => !silentOperations.has(op));
    return words.join(" + ");
  }
  get title() {
    return this.names.map(bareName).join(", ") || this.kernel.name;
  }
  get intensity() {
    return this.flops > 0 && this.bytes > 0 ? this.flops / this.bytes : null;
  }
}

class Compile {
  constructor(report, raw, origin) {
    this.report = report;
    this.raw = raw;
    this.origin = origin;
    this.launches = raw.launches.map((launch, i) => new Launch(this, launch, i));
    this.bench = raw.bench ?? null;
    this.connect();
    this.estimate();
    this.readWeights();
  }
  get label() {
    const sizes = this.raw.sizes ? ` (${this.raw.sizes})` : "";
    return `${this.origin ? `${this.origin}: ` : ""}${this.raw.target}${sizes}`;
  }

  /** A launch reads what earlier launches wrote into the same buffers. */
  connect() {
    this.inputs = new Map();
    this.outputs = new Map();
    const writers = new Map();
    this.launches.forEach((launch) => {
      for (const number of launch.raw.reads) {
        const buffer = this.raw.buffers[number];
        if (buffer.kind === "input") this.link(this.inputs, number, launch);
        for (const writer of writers.get(number) ?? []) {
          if (writer === launch) continue;
          launch.from.set(writer.index, buffer.bytes);
          writer.to.set(launch.index, buffer.bytes);
        }
      }
      for (const number of launch.raw.writes) {
        if (launch.raw.reads.includes(number) || !writers.has(number)) writers.set(number, [launch]);
        else writers.get(number).push(launch);
        if (this.raw.buffers[number].kind === "output") this.link(this.outputs, number, launch);
      }
    });
  }
  link(map, number, launch) {
    if (!map.has(number)) map.set(number, new Set());
    map.get(number).add(launch.index);
  }

  /** The time of a launch in vector multiply-adds, by the target's peaks; with measured times, those. */
  estimate() {
    const { peaks, rates, caches } = this.raw.machine;
    let total = 0;
    for (const launch of this.launches) {
      const peak = peaks[launch.kernel.operands] ?? peaks.real;
      const level = ["L1", "L2", "L3"].find((name) => launch.bytes <= caches[name]) ?? "memory";
      launch.level = level;
      launch.bound = Math.max(0, launch.flops) / peak > Math.max(0, launch.bytes) / rates[level] ? "arithmetic" : level;
      launch.estimate = Math.max(Math.max(0, launch.flops) / peak, Math.max(0, launch.bytes) / rates[level]) * launch.calls;
      launch.cost = this.bench ? (launch.ms ?? 0) * launch.calls : launch.estimate;
      total += launch.cost;
    }
    for (const launch of this.launches) launch.share = total > 0 ? launch.cost / total : 0;
    this.total = total;
  }

  /** One row for each place among the weights, with the launches that read it. */
  readWeights() {
    const readers = new Map();
    this.launches.forEach((launch) => {
      for (const number of launch.raw.reads) {
        const buffer = this.raw.buffers[number];
        if (buffer.kind !== "weight") continue;
        if (!readers.has(buffer.name)) readers.set(buffer.name, []);
        readers.get(buffer.name).push(launch);
      }
    });
    const places = new Map();
    for (const weight of this.raw.weights) {
      const known = places.get(weight.offset);
      const own = readers.get(weight.symbol) ?? [];
      if (known) known.readers.push(...own);
      else places.set(weight.offset, { ...weight, readers: [...own] });
    }
    this.weights = [...places.values()].sort((a, b) => b.bytes - a.bytes || a.offset - b.offset);
    this.weightBytes = this.weights.reduce((sum, weight) => sum + weight.bytes, 0);
  }

  get flops() {
    return this.launches.reduce((sum, launch) => sum + Math.max(0, launch.flops) * launch.calls, 0);
  }
  get bytes() {
    return this.launches.reduce((sum, launch) => sum + Math.max(0, launch.bytes) * launch.calls, 0);
  }
  get arena() {
    return this.raw.buffers.filter((buffer) => buffer.kind === "arena" && buffer.offset >= 0 && buffer.bytes > 0);
  }
  get arenaBytes() {
    if (this.raw.workspace_bytes >= 0) return this.raw.workspace_bytes;
    return this.arena.reduce((most, buffer) => Math.max(most, buffer.offset + buffer.bytes), 0);
  }
  /** The bytes that are in use during each launch, and those that lie below the highest of them. */
  get memory() {
    if (this.memoryRows) return this.memoryRows;
    const at = this.launches.map(() => []);
    for (const buffer of this.arena)
      for (let time = Math.max(0, buffer.first); time <= buffer.last && time < at.length; ++time) at[time].push(buffer);
    this.memoryRows = at.map((alive) => {
      // Two buffers in one place, of which a launch writes one over the other, count once.
      let live = 0,
        end = 0;
      for (const { offset, bytes } of alive.sort((a, b) => a.offset - b.offset)) {
        live += Math.max(0, offset + bytes - Math.max(offset, end));
        end = Math.max(end, offset + bytes);
      }
      return { live, top: end, buffers: alive };
    });
    return this.memoryRows;
  }
  /** The launch that computes an ONNX node; undefined if none does alone or at all. */
  launchOf(node) {
    if (!this.byNode) {
      this.byNode = new Map();
      for (const launch of this.launches) for (const each of launch.nodes) if (!this.byNode.has(each)) this.byNode.set(each, launch);
    }
    return this.byNode.get(node);
  }
  /** Sizes of dynamic dimensions that the numbers are for, as text. */
  get sizesText() {
    return Object.entries(this.raw.counted_for)
      .map(([name, size]) => `${name} = ${size}`)
      .join(", ");
  }
}

/** The compiles of this report, then those of the reports that it is compared with. */
function readCompiles(data) {
  const own = data.compiles.map((raw) => new Compile(data, raw, ""));
  const others = (data.others ?? []).flatMap((other) => other.compiles.map((raw) => new Compile(other, raw, other.from)));
  return { own, all: [...own, ...others] };
}
