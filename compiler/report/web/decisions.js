// What the compiler chose: the form of composites, what was proved, why kernels were chosen, and which ones were refused.

function showDecisions(state, box) {
  box.append(...[panelComposites(state), panelProofs(state), panelReasons(state), panelRefusals(state)].filter(Boolean));
  return null;
}

const launchLink = (state, launch) =>
  make("button", {
    type: "button",
    class: "link",
    text: `${launch.index + 1}. ${launch.algorithm}`,
    onclick: () => state.select(launch, true),
  });

/** At most a few of many, and how many more. */
function someLinks(state, launches, most = 6) {
  return [
    launches.slice(0, most).map((launch, i) => [i ? ", " : "", launchLink(state, launch)]),
    launches.length > most ? `, and ${launches.length - most} more` : "",
  ];
}

function panelComposites(state) {
  const { composites } = state.compile.raw;
  if (!composites.length) return panel("Composites", make("p", { class: "empty", text: "The model has no composite." }));
  const head = ["Composite", "ONNX nodes", "Form", "Reason", "Bytes whole", "Bytes split"];
  return panel(
    `Composites (${composites.length})`,
    make("p", {
      class: "note",
      text: "Operations such as softmax stay whole where the target has a kernel for them that moves fewer bytes than their parts do.",
    }),
    makeTable(
      "composites",
      head,
      composites.map((row) =>
        make(
          "tr",
          {},
          make("td", {}, make("b", { text: row.composite })),
          make("td", { text: shorten(row.nodes ?? "", 120) }),
          make(
            "td",
            {},
            make("span", { class: `chip ${row.form === "fused" ? "good" : ""}`, text: row.form === "fused" ? "whole" : row.form }),
          ),
          make("td", { text: row.reason }),
          make("td", { class: "number", text: row.fused_bytes >= 0 ? bytesText(row.fused_bytes) : "" }),
          make("td", { class: "number", text: row.split_bytes >= 0 ? bytesText(row.split_bytes) : "" }),
        ),
      ),
      4,
    ),
  );
}

function panelProofs(state) {
  const proofs = state.compile.launches.flatMap((launch) =>
    (launch.group?.operations ?? []).filter(({ proof }) => proof).map(({ op, proof }) => [launch, op, proof]),
  );
  if (!proofs.length) return null;
  return panel(
    "Proofs",
    make(
      "table",
      { id: "proofs" },
      make(
        "tbody",
        {},
        proofs.map(([launch, op, proof]) =>
          make("tr", {}, make("td", {}, launchLink(state, launch)), make("td", { text: op }), make("td", { text: proof })),
        ),
      ),
    ),
  );
}

/** Launches by what is said of them: rows [key, launches], those of most time first. */
function groupLaunches(rows) {
  const groups = new Map();
  for (const [key, launch] of rows) {
    if (!groups.has(key)) groups.set(key, new Set());
    groups.get(key).add(launch);
  }
  const share = (launches) => [...launches].reduce((sum, launch) => sum + launch.share, 0);
  return [...groups].map(([key, launches]) => [key, [...launches], share(launches)]).sort((a, b) => b[2] - a[2]);
}

/** A table of what groupLaunches() gives: a kernel, what is said of it, the launches and their part of the time. */
function makeGroupTable(state, id, title, groups) {
  const rows = groups.map(([key, launches, share]) => {
    const [algorithm, reason] = key.split("\u0000");
    return make(
      "tr",
      {},
      make("td", {}, make("code", { text: algorithm })),
      make("td", { text: shorten(reason, 400) }),
      make("td", {}, someLinks(state, launches, 3)),
      make("td", { class: "number", text: percentText(share) }),
    );
  });
  return makeTable(id, ["Kernel", title, "Launches", "Part"], rows, 3);
}

function panelReasons(state) {
  const groups = groupLaunches(
    state.compile.launches.map((launch) => [`${launch.algorithm.split(" ")[0]}\u0000${launch.kernel.reason}`, launch]),
  );
  return panel("Kernels and reasons", makeGroupTable(state, "reasons", "Reason", groups));
}

function panelRefusals(state) {
  const groups = groupLaunches(
    state.compile.launches.flatMap((launch) =>
      launch.kernel.refused.map(({ algorithm, reason }) => [`${algorithm}\u0000${reason}`, launch]),
    ),
  );
  if (!groups.length)
    return panel("Refused kernels", make("p", { class: "empty", text: "Every group has the first kernel of the list for such work." }));
  return panel(
    "Refused kernels",
    make("p", {
      class: "note",
      text: "Kernels that come before the chosen one in the list for such work, and why they do not compute it.",
    }),
    makeGroupTable(state, "refusals", "Why not", groups),
  );
}
