// The two graphs of a report: kernels as they are launched, and the ONNX nodes that they compute.

const boxWidth = 226;

/** Kernels as they are launched, with the model's inputs and outputs. */
function makeKernelGraph(compile) {
  const nodes = [],
    edges = [],
    most = Math.max(...compile.launches.map(({ share }) => share), 1e-9);
  const add = (node) => nodes.push(node) - 1;
  const signature = (number) => compile.raw.buffers[number];
  const ends = (number, what) => ({
    lines: [shorten(signature(number).name, 34), `${what}, ${bytesText(signature(number).bytes)}`],
    width: 190,
    height: 46,
    family: "",
    label: `${what} ${signature(number).name}, ${bytesText(signature(number).bytes)}`,
  });
  // In the order in which things are ready: inputs, launches, outputs.
  for (const [number, readers] of compile.inputs) {
    const at = add(ends(number, "input"));
    for (const reader of readers) edges.push([at, reader]);
  }
  const first = nodes.length;
  for (const edge of edges) edge[1] += first;
  for (const launch of compile.launches) {
    add({
      lines: [launch.algorithm, launch.operations || launch.title, launch.title],
      width: boxWidth,
      height: 64,
      family: launch.family,
      share: launch.share / most,
      launch,
      label: describeLaunch(compile, launch),
    });
    for (const from of launch.from.keys()) edges.push([first + from, first + launch.index]);
  }
  for (const [number, writers] of compile.outputs) {
    const at = add(ends(number, "output"));
    for (const writer of writers) edges.push([first + writer, at]);
  }
  return { nodes, edges, find: (launch) => first + launch.index };
}

/** The ONNX nodes as they are in the file, each in the colour of the kernel that computes it. */
function makeOnnxGraph(compile) {
  const { graph } = compile.report;
  const nodes = graph.nodes.map((row, i) => {
    const launch = row.kind === "node" ? compile.launchOf(i) : null;
    if (row.kind !== "node")
      return {
        lines: [shorten(row.name, 34), `${row.kind} ${row.type}`],
        width: 190,
        height: 46,
        family: "",
        label: `${row.kind} ${row.name} ${row.type}`,
      };
    const where = launch ? `computed by kernel ${launch.index + 1}, ${launch.algorithm}` : "needs no kernel";
    return {
      lines: [row.op || row.name, bareName(row.name), launch ? `${launch.index + 1}  ${launch.algorithm}` : "no kernel"],
      width: boxWidth,
      height: 64,
      family: launch?.family ?? "move",
      share: 0,
      launch,
      label: `${row.name}\n${row.type}\n${where}`,
    };
  });
  return { nodes, edges: graph.edges.map(([from, to]) => [from, to]), find: (launch) => launch.nodes[launch.nodes.length - 1] ?? -1 };
}

function describeLaunch(compile, launch) {
  const time = compile.bench ? `, ${timeText(launch.ms)}` : "";
  return (
    `Kernel ${launch.index + 1} of ${compile.launches.length}: ${launch.algorithm}\n${launch.operations || "moves data"}\n${launch.names.join(" ")}\n` +
    `${workText(launch.flops)}, ${bytesText(launch.bytes)}${time}, ${percentText(launch.share)} of ${compile.bench ? "the time" : "the estimated time"}`
  );
}

function showGraph(state, box) {
  const { compile } = state;
  let view = null;
  const tools = make("div", { class: "tools" });
  const area = make("div", { class: "canvas-box" });
  const open = (kind) => {
    state.graphKind = kind;
    view?.close();
    area.replaceChildren();
    const graph = kind === "onnx" ? makeOnnxGraph(compile) : makeKernelGraph(compile);
    const label = kind === "onnx" ? "Graph of ONNX nodes" : "Graph of kernels";
    view = new GraphView(
      area,
      graph.nodes,
      graph.edges,
      (number, focuses) => state.select(graph.nodes[number]?.launch ?? null, focuses),
      label,
    );
    const refresh = () => {
      view.selected = state.selected ? graph.find(state.selected) : -1;
      const query = state.query.toLowerCase();
      view.marked = query ? new Set(graph.nodes.map((_, v) => v).filter((v) => graph.nodes[v].label.toLowerCase().includes(query))) : null;
      view.redraw();
    };
    state.onSelect = (launch, wasHere) => {
      refresh();
      if (launch && !wasHere) view.reveal(view.selected);
    };
    state.onQuery = () => {
      refresh();
      const [hit] = view.marked ?? [];
      if (hit !== undefined) view.reveal(hit);
    };
    state.onStyle = () => view.restyle();
    refresh();
    if (state.selected) requestAnimationFrame(() => view.reveal(view.selected));
  };
  const button = (text, label, action) => make("button", { type: "button", text, "aria-label": label, title: label, onclick: action });
  tools.append(
    makeChoice(
      "Graph",
      [
        ["kernels", "Kernels"],
        ["onnx", "ONNX nodes"],
      ],
      state.graphKind,
      open,
    ),
    makeLegend(compile),
    make("span", { class: "spacer" }),
    make(
      "span",
      { class: "zoom" },
      button("\u2212", "Zoom out", () => view.zoom(0.8)),
      button("+", "Zoom in", () => view.zoom(1.25)),
      button("Fit", "Show all", () => view.fit()),
    ),
  );
  box.classList.add("fill");
  box.append(
    tools,
    area,
    make("div", {
      class: "keys",
      id: "graph-keys",
      text: "Arrow keys follow edges, Enter opens, + - 0 zoom. Drag to move, Ctrl + wheel to zoom.",
    }),
  );
  open(state.graphKind);
  return () => view.close();
}

function makeLegend(compile) {
  const used = new Set(compile.launches.map(({ family }) => family));
  return make(
    "span",
    { class: "legend" },
    families
      .filter(([name]) => used.has(name))
      .map(([name, words]) => make("span", {}, make("span", { class: "dot", style: `background: var(--${name})` }), words)),
  );
}
