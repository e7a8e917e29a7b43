// The first tab: the model, sizes, where the time goes.

function card(number, what) {
  return make("div", { class: "card" }, make("div", { class: "number", text: number }), make("div", { class: "what", text: what }));
}

function showOverview(state, box) {
  const { compile } = state,
    { model, graph } = compile.report;
  const nodes = graph.nodes.filter(({ kind }) => kind === "node").length;
  const kernels = compile.raw.kernels.length;
  box.append(
    make(
      "div",
      { class: "cards" },
      card(nodes.toLocaleString("en"), nodes === 1 ? "ONNX node" : "ONNX nodes"),
      card(compile.launches.length.toLocaleString("en"), `launches of ${count(kernels, "kernel")}`),
      compile.bench
        ? card(
            timeText(compile.bench.median_ms),
            `median of ${count(compile.bench.runs, "run")}, ${count(compile.bench.threads, "thread")}`,
          )
        : null,
      card(workText(compile.flops), "arithmetic of a run"),
      card(bytesText(compile.bytes), "moved by kernels"),
      card(bytesText(compile.weightBytes), "weights"),
      card(bytesText(compile.arenaBytes), "arena"),
      card(compile.raw.layout_conversions < 0 ? "none" : String(compile.raw.layout_conversions), "conversions of layout"),
    ),
  );
  if (compile.sizesText)
    box.append(make("p", { class: "note", text: `Work and memory are counted for ${compile.sizesText}; --run-dim gives other sizes.` }));
  box.append(make("div", { class: "columns" }, panelSignature(compile), panelShares(state), panelLargest(state), panelCompile(compile)));
  return null;
}

const panel = (title, ...content) => make("section", { class: "panel" }, make("h2", { text: title }), ...content);

function panelSignature(compile) {
  const { model } = compile.report;
  const row = (how) => (tensor) =>
    make(
      "tr",
      {},
      make("td", { text: how }),
      make("td", {}, make("b", { text: tensor.name })),
      make("td", {}, make("code", { text: tensor.type })),
      make("td", {
        class: "hint",
        text: tensor.range ? `${numberText(tensor.range[0]) || "-inf"} to ${numberText(tensor.range[1]) || "inf"}` : (tensor.layout ?? ""),
      }),
    );
  const dims = model.dimensions.map((dim) =>
    make(
      "tr",
      {},
      make("td", { text: "dimension" }),
      make("td", {}, make("b", { text: dim.name })),
      make("td", { text: dim.bound ? `computed, at most ${dim.bound}` : `${dim.min} to ${dim.max}` }),
      make("td"),
    ),
  );
  return panel(
    "Signature",
    make(
      "div",
      { class: "scroll" },
      make("table", {}, make("tbody", {}, model.inputs.map(row("input")), model.outputs.map(row("output")), dims)),
    ),
  );
}

/** Where the time goes, by kinds of kernels. */
function panelShares(state) {
  const { compile } = state,
    shares = new Map();
  for (const { family, share } of compile.launches) shares.set(family, (shares.get(family) ?? 0) + share);
  const rows = families
    .filter(([name]) => shares.has(name))
    .sort((a, b) => shares.get(b[0]) - shares.get(a[0]))
    .map(([name, words]) =>
      make(
        "tr",
        {},
        make("td", {}, make("span", { class: "dot", style: `background: var(--${name})` }), words),
        make(
          "td",
          { style: "width: 38%" },
          make("div", { class: "bar" }, make("i", { style: `width: ${100 * shares.get(name)}%; background: var(--${name})` })),
        ),
        make("td", { class: "number", text: percentText(shares.get(name)) }),
      ),
    );
  const how = compile.bench ? "Measured." : "Estimated from the target's peaks; --bench measures.";
  return panel("Where the time goes", make("p", { class: "note", text: how }), make("table", {}, make("tbody", {}, rows)));
}

function panelLargest(state) {
  const { compile } = state;
  const largest = [...compile.launches].sort((a, b) => b.cost - a.cost || a.index - b.index).slice(0, 8);
  return panel(
    compile.bench ? "The longest kernels" : "The kernels that are estimated longest",
    make(
      "table",
      {},
      make(
        "tbody",
        {},
        largest.map((launch) =>
          make(
            "tr",
            {},
            make(
              "td",
              {},
              make("button", {
                type: "button",
                class: "link",
                text: `${launch.index + 1}. ${launch.algorithm}`,
                onclick: () => state.select(launch, false),
              }),
              make("div", { class: "hint", text: shorten(launch.title, 90) }),
            ),
            make("td", { class: "number", text: compile.bench ? timeText(launch.ms * launch.calls) : workText(launch.flops) }),
            make("td", { class: "number", text: percentText(launch.share) }),
          ),
        ),
      ),
    ),
  );
}

function panelCompile(compile) {
  const { model, options, version, file } = compile.report,
    { machine } = compile.raw;
  const features = machine.features.join(" ");
  return panel(
    "Compile",
    pairs([
      ["model", file ?? ""],
      ["target", `${compile.raw.target} (${machine.cpu})`],
      ["vectors", `${machine.vector_bits} bits, ${machine.registers} registers`],
      [
        "caches",
        Object.entries(machine.caches)
          .map(([name, bytes]) => `${name} ${bytesText(bytes)}`)
          .join(", "),
      ],
      ["features", features],
      ["options", options?.length ? make("code", { class: "mono", text: options.join(" ") }) : "none"],
      ["accuracy", model.accuracy],
      ["rounding", model.rounding.join("; ")],
      ["compiler", version ? `Kiln ${version}` : ""],
      [
        "measured",
        compile.bench?.peak_gflops
          ? `${compile.bench.peak_gflops.toFixed(0)} GFLOP/s; ${compile.bench.bandwidth.map(({ name, gbps }) => `${name} ${gbps.toFixed(0)}`).join(", ")} GB/s`
          : "",
      ],
    ]),
    make("h3", { text: "Operators", style: "margin: 14px 0 8px" }),
    make(
      "div",
      {},
      Object.entries(model.operators)
        .sort((a, b) => b[1] - a[1])
        .map(([name, number]) => make("span", { class: "chip", text: `${name} ${number}` })),
    ),
  );
}
