// Two compiles side by side: other targets, other versions of Kiln, other options.

/** Launches of both that compute the same ONNX nodes. What is fused otherwise is joined until both sides have the same nodes. */
function matchLaunches(a, b) {
  const key = (launch) => launch.names.join(" ") || launch.kernel.name;
  const rows = [],
    rest = [[], []],
    waiting = new Map();
  for (const launch of b.launches) {
    if (!waiting.has(key(launch))) waiting.set(key(launch), []);
    waiting.get(key(launch)).push(launch);
  }
  const taken = new Set();
  for (const launch of a.launches) {
    const other = waiting.get(key(launch))?.shift();
    if (other) {
      rows.push([[launch], [other]]);
      taken.add(other);
    } else rest[0].push(launch);
  }
  rest[1] = b.launches.filter((launch) => !taken.has(launch));
  return [...rows, ...joinByNodes(rest)].sort(([x, u], [y, v]) => (x[0]?.index ?? u[0].index) - (y[0]?.index ?? v[0].index));
}

/** Connected components of launches that share nodes. */
function joinByNodes(sides) {
  const parent = new Map(),
    owner = new Map();
  const root = (launch) => {
    while (parent.get(launch) !== launch) launch = parent.get(launch);
    return launch;
  };
  for (const side of sides)
    for (const launch of side) {
      parent.set(launch, launch);
      for (const name of launch.names) {
        if (owner.has(name)) parent.set(root(launch), root(owner.get(name)));
        else owner.set(name, launch);
      }
    }
  const groups = new Map();
  sides.forEach((side, i) =>
    side.forEach((launch) => {
      const top = root(launch);
      if (!groups.has(top)) groups.set(top, [[], []]);
      groups.get(top)[i].push(launch);
    }),
  );
  return [...groups.values()];
}

function classify([left, right]) {
  if (!left.length) return "only in B";
  if (!right.length) return "only in A";
  if (left.length > 1 || right.length > 1) return "fused otherwise";
  const [a] = left,
    [b] = right;
  if (a.algorithm !== b.algorithm) return "other kernel";
  if ((a.group?.plan ?? "") !== (b.group?.plan ?? "")) return "other plan";
  return a.kernel.shapes !== b.kernel.shapes || a.bytes !== b.bytes || a.flops !== b.flops ? "other sizes" : "same";
}

function delta(a, b) {
  if (!(a >= 0) || !(b >= 0) || a === b) return "";
  const part = a > 0 ? (b - a) / a : Infinity;
  return make("span", {
    class: b > a ? "delta-up" : "delta-down",
    text: Number.isFinite(part) ? `${b > a ? "+" : "\u2212"}${(100 * Math.abs(part)).toFixed(Math.abs(part) < 0.1 ? 1 : 0)} %` : "new",
  });
}

function showCompare(state, box) {
  const { all } = state;
  if (all.length < 2) {
    box.append(
      make(
        "section",
        { class: "panel" },
        make("h2", { text: "Nothing to compare with" }),
        make(
          "p",
          { class: "note" },
          "A report of several targets, such as ",
          make("code", { text: "--target=x86-64-v3,x86-64-v4" }),
          ", can compare them. ",
          make("code", { text: "kiln report MODEL -o new.html --compare old.html" }),
          " compares with a report that was made before: by another version of Kiln, with other options, or of another model.",
        ),
      ),
    );
    return null;
  }
  state.pair ??= [0, 1];
  const choice = (side, label) =>
    make(
      "label",
      { class: "field" },
      label,
      make(
        "select",
        {
          "aria-label": label,
          onchange: (event) => {
            state.pair[side] = Number(event.target.value);
            refill();
          },
        },
        all.map((compile, i) => make("option", { value: i, text: compile.label, selected: i === state.pair[side] })),
      ),
    );
  const area = make("div");
  const refill = () => area.replaceChildren(...compareTwo(state, all[state.pair[0]], all[state.pair[1]]));
  box.append(
    make(
      "section",
      { class: "panel" },
      make("div", { class: "tools", style: "border: 0; padding: 0; gap: 18px" }, choice(0, "A"), choice(1, "B")),
    ),
    area,
  );
  refill();
  state.onQuery = () => {
    const query = state.query.toLowerCase();
    for (const row of area.querySelectorAll("#differences tbody tr"))
      row.hidden = Boolean(query) && !row.textContent.toLowerCase().includes(query);
  };
  return null;
}

function compareTwo(state, a, b) {
  const rows = matchLaunches(a, b).map((row) => [classify(row), ...row]);
  const changed = rows.filter(([kind]) => kind !== "same");
  const isTimed = a.bench && b.bench;
  const facts = [
    ["Launches", a.launches.length, b.launches.length, String],
    ["Kernels", a.raw.kernels.length, b.raw.kernels.length, String],
    ["Arena", a.arenaBytes, b.arenaBytes, bytesText],
    ["Weights", a.weightBytes, b.weightBytes, bytesText],
    ["Arithmetic", a.flops, b.flops, workText],
    ["Bytes moved", a.bytes, b.bytes, bytesText],
    ["Emitted C++", codeSize(a), codeSize(b), bytesText],
    ...(isTimed ? [["Median", a.bench.median_ms, b.bench.median_ms, timeText]] : []),
  ];
  const settings = [
    ["Target", (c) => c.raw.target],
    ["Options", (c) => (c.report.options ?? []).join(" ") || "none"],
    ["Kiln", (c) => c.report.version ?? ""],
    ["Accuracy", (c) => c.report.model.accuracy],
    ["Vectors", (c) => `${c.raw.machine.vector_bits} bits`],
    ["Counted for", (c) => c.sizesText || "fixed sizes"],
  ];
  return [
    panel(
      "Summary",
      makeTable(
        "facts",
        ["", "A", "B", "from A to B"],
        [
          ...facts.map(([name, x, y, text]) =>
            make(
              "tr",
              {},
              make("td", { text: name }),
              make("td", { text: text(x) }),
              make("td", { text: text(y) }),
              make("td", {}, delta(x, y)),
            ),
          ),
          ...settings.map(([name, value]) =>
            make(
              "tr",
              {},
              make("td", { text: name }),
              make("td", { text: value(a) }),
              make("td", { text: value(b) }),
              make("td", { text: value(a) === value(b) ? "" : "differs" }),
            ),
          ),
        ],
      ),
    ),
    panel(
      `Kernels: ${changed.length} of ${rows.length} differ`,
      changed.length ? null : make("p", { class: "empty", text: "Every kernel is the same." }),
      makeTable(
        "differences",
        ["", "ONNX nodes", "A", "B", isTimed ? "Time" : "Bytes", ""],
        [...changed, ...rows.filter(([kind]) => kind === "same")].map(([kind, left, right]) => {
          const sum = (list) =>
            list.length
              ? list.reduce((total, launch) => total + (isTimed ? (launch.ms ?? 0) : Math.max(0, launch.bytes)) * launch.calls, 0)
              : -1;
          const show = isTimed ? timeText : bytesText,
            x = sum(left),
            y = sum(right);
          return make(
            "tr",
            {},
            make("td", {}, make("span", { class: `chip ${kind === "same" ? "" : "bad"}`, text: kind })),
            make("td", { text: shorten([...new Set([...left, ...right].flatMap(({ names }) => names.map(bareName)))].join(", "), 120) }),
            make("td", {}, describeSide(left)),
            make("td", {}, describeSide(right)),
            make("td", { class: "number", text: `${x < 0 ? "" : show(x)}${x >= 0 && y >= 0 ? " \u2192 " : ""}${y < 0 ? "" : show(y)}` }),
            make("td", {}, delta(x, y)),
          );
        }),
      ),
    ),
  ];
}

const codeSize = (compile) => compile.raw.kernels.reduce((sum, { code }) => sum + code.length, 0);

function describeSide(launches) {
  return launches.map((launch) =>
    withTip(make("div", {}, make("code", { text: launch.algorithm })), `${launch.kernel.reason}\n${launch.group?.plan ?? ""}`.trim()),
  );
}
