// What a kernel is: ONNX nodes, the group that they became, the kernel that computes it, its buffers, and its C++.

function pairs(rows) {
  return make(
    "dl",
    { class: "pairs" },
    rows
      .filter(([, value]) => value !== "" && value !== null && value !== undefined)
      .map(([name, value]) => [make("dt", { text: name }), make("dd", {}, value)]),
  );
}

function showDetails(state, launch) {
  const box = find("details");
  box.hidden = !launch;
  box.replaceChildren();
  if (!launch) return;
  const { compile } = state;
  const close = make("button", {
    type: "button",
    class: "close",
    text: "\u2715",
    "aria-label": "Close",
    onclick: () => state.select(null, false),
  });
  box.append(
    close,
    make(
      "h2",
      {},
      make("span", { class: "dot", style: `background: var(--${launch.family})` }),
      `${launch.index + 1}. ${launch.algorithm}`,
    ),
    make("div", { class: "note", text: launch.kernel.reason || "the only kernel for such work" }),
  );
  box.append(
    make("h3", { text: "ONNX nodes" }),
    make("div", {}, launch.nodes.length ? launch.nodes.map((node) => makeNodeChip(state, node)) : "none"),
  );
  if (launch.group) box.append(make("h3", { text: "Fused group" }), ...describeGroup(compile, launch.group));
  box.append(make("h3", { text: "Work" }), describeWork(compile, launch));
  box.append(make("h3", { text: "Buffers" }), describeBuffers(state, launch));
  if (launch.kernel.refused.length) box.append(make("h3", { text: "Kernels that were refused" }), makeRefusals(launch.kernel.refused));
  box.append(...describeCode(compile, launch));
  box.scrollTop = 0;
}

function makeNodeChip(state, node) {
  const row = state.compile.report.graph.nodes[node];
  const show = () => {
    state.graphKind = "onnx";
    state.shown = null;
    state.open("graph");
  };
  return withTip(
    make("button", { type: "button", class: "chip", text: row.name, onclick: show }),
    `${row.type || row.name}\nshows the ONNX graph`,
  );
}

/** What is known of the values of an operation, as text. */
function describeRange(compile, op, nodes) {
  const row = compile.report.ranges.find((each) => each.op === op && each.nodes.join() === nodes.join());
  return row
    ? ` in [${row.low === null ? "-inf" : numberText(row.low)}, ${row.high === null ? "inf" : numberText(row.high)}]${row.nan ? " or NaN" : ""}`
    : "";
}

function describeGroup(compile, group) {
  const steps = make(
    "ol",
    { class: "steps" },
    group.operations.map(({ op, type, nodes, proof }) =>
      make(
        "li",
        {},
        make("b", { text: op }),
        ` ${nodes.map((node) => bareName(compile.report.graph.nodes[node].name)).join(", ")}`,
        make("div", { class: "type", text: `${type}${describeRange(compile, op, nodes)}` }),
        proof ? make("div", {}, make("span", { class: "chip good", text: "proved" }), proof) : null,
      ),
    ),
  );
  const form = group.form === "plain" ? "" : group.form;
  return [
    steps,
    pairs([
      ["form", form],
      ["plan", group.plan ? make("code", { class: "mono", text: group.plan }) : ""],
    ]),
  ];
}

function describeWork(compile, launch) {
  const times = compile.bench && launch.raw.measured;
  return pairs([
    ["operations", workText(launch.flops)],
    ["bytes moved", bytesText(launch.bytes)],
    ["intensity", launch.intensity ? `${numberText(Number(launch.intensity.toPrecision(3)))} operations per byte` : ""],
    ["bound by", launch.bound === "arithmetic" ? "arithmetic" : launch.bound],
    [
      "time",
      times
        ? `${timeText(launch.ms)} (${(launch.flops / launch.ms / 1e6).toFixed(1)} Gop/s, ${percentText(launch.raw.measured.roofline)} of what the roofline allows)`
        : "",
    ],
    [compile.bench ? "part of the run" : "estimated part", percentText(launch.share)],
    [
      "launched",
      [
        launch.raw.calls < 0 ? "as often as a loop runs" : launch.raw.calls > 1 ? `${launch.raw.calls} times` : "",
        launch.raw.conditional ? "if a condition holds" : "",
      ]
        .filter(Boolean)
        .join(", "),
    ],
    ["threads", launch.raw.parallel ? "share it" : "one"],
    ["exponentials", launch.kernel.ulp ? `within ${launch.kernel.ulp} ulp` : ""],
    ["shapes", launch.kernel.shapes],
  ]);
}

function describeBuffers(state, launch) {
  const { compile } = state;
  const row = (number, how) => {
    const buffer = compile.raw.buffers[number];
    const weight = buffer.kind === "weight" ? compile.raw.weights.find(({ symbol }) => symbol === buffer.name) : null;
    const others = compile.launches.filter(
      (other) => other !== launch && (how === "reads" ? other.raw.writes : other.raw.reads).includes(number),
    );
    const partners =
      buffer.kind === "weight"
        ? []
        : others.slice(0, 6).map((other) =>
            make("button", {
              type: "button",
              class: "link",
              text: `${other.index + 1}`,
              "aria-label": `kernel ${other.index + 1}, ${other.algorithm}`,
              onclick: () => state.select(other, false),
            }),
          );
    const place = buffer.kind === "arena" && buffer.offset >= 0 ? `at ${buffer.offset.toLocaleString("en")}` : "";
    return make(
      "tr",
      {},
      make("td", { text: how }),
      make(
        "td",
        {},
        weight ? weight.name : buffer.name || "buffer",
        " ",
        make("span", {
          class: "hint",
          text: weight ? `${weight.type}${weight.packed ? `, stored as ${weight.packed}` : ""}` : `${buffer.kind} ${place}`,
        }),
      ),
      make("td", { class: "number", text: bytesText(weight ? weight.bytes : buffer.bytes) }),
      make(
        "td",
        { class: "near" },
        partners.length
          ? [
              how === "reads" ? "from " : "to ",
              ...partners.flatMap((link, i) => (i ? [", ", link] : [link])),
              others.length > 6 ? ", ..." : "",
            ]
          : "",
      ),
    );
  };
  return make(
    "table",
    {},
    make(
      "tbody",
      {},
      launch.raw.reads.map((number) => row(number, "reads")),
      launch.raw.writes.map((number) => row(number, "writes")),
    ),
  );
}

function makeRefusals(refused) {
  return make(
    "table",
    {},
    make(
      "tbody",
      {},
      refused.map(({ algorithm, reason }) =>
        make("tr", {}, make("td", {}, make("code", { text: algorithm })), make("td", { text: reason })),
      ),
    ),
  );
}

function describeCode(compile, launch) {
  const { kernel } = launch;
  const sharers = compile.launches.filter((other) => other.raw.kernel === launch.raw.kernel).length;
  const code = make("pre", { class: "code", tabindex: 0, "aria-label": `C++ of ${kernel.function}` }, highlight(kernel.code));
  const copy = make("button", {
    type: "button",
    text: "Copy",
    onclick: async () => {
      await navigator.clipboard?.writeText(kernel.code);
      announce("copied");
    },
  });
  return [
    make("div", { class: "code-head" }, make("h3", { text: "Emitted C++" }), copy),
    make(
      "p",
      { class: "note" },
      make("code", { class: "mono", text: kernel.function }),
      sharers > 1 ? `, which ${sharers} launches share` : "",
    ),
    code,
  ];
}
