// What is known of the values of each operation.

/** Where an interval lies on a line that is logarithmic to both sides of zero: -1 to 1. */
function placeOnLine(value, end) {
  if (value === null) return end;
  const size = Math.min(1, Math.log10(1 + Math.abs(value) * 1000) / 12);
  return Math.sign(value) * size;
}

function showRanges(state, box) {
  const { ranges, model, graph } = state.compile.report;
  const promised = model.inputs.filter(({ range }) => range);
  if (promised.length)
    box.append(
      panel(
        "Promises",
        make(
          "table",
          {},
          make(
            "tbody",
            {},
            promised.map(({ name, range }) =>
              make(
                "tr",
                {},
                make("td", {}, make("b", { text: name })),
                make("td", { text: `${numberText(range[0]) || "-inf"} to ${numberText(range[1]) || "inf"}` }),
              ),
            ),
          ),
        ),
      ),
    );
  if (!ranges.length) {
    box.append(
      make("p", {
        class: "empty",
        text: "Nothing is known of any value but its type. --input-range makes promises from which more follows.",
      }),
    );
    return null;
  }
  const end = (value, text) => (value === null ? text : numberText(value));
  const columns = [
    { name: "Operation", value: ({ op }) => op },
    { name: "ONNX nodes", value: ({ nodes }) => nodes.map((node) => graph.nodes[node].name).join(" ") },
    { name: "Type", value: ({ type }) => type, show: ({ type }) => make("code", { text: type }) },
    { name: "Lowest", value: ({ low }) => low ?? -Infinity, show: ({ low }) => end(low, "-inf"), isNumber: true },
    { name: "Highest", value: ({ high }) => high ?? Infinity, show: ({ high }) => end(high, "inf"), isNumber: true },
    { name: "NaN", value: ({ nan }) => (nan ? "possible" : "never") },
    {
      name: "-inf to 0 to inf",
      value: ({ low, high }) => (high ?? Infinity) - (low ?? -Infinity),
      show: ({ low, high }) => {
        const from = placeOnLine(low, -1),
          to = placeOnLine(high, 1);
        return make(
          "div",
          { class: "range", role: "presentation" },
          make("i", { style: `left: ${50 + 50 * from}%; right: ${50 - 50 * to}%` }),
          make("b"),
        );
      },
    },
  ];
  const shownRows = ranges.slice(0, 4000);
  const { table, elements } = makeSortedTable(columns, shownRows, {
    sort: { by: -1, down: false },
    label: "Value ranges",
    className: "ranges-table",
  });
  box.append(
    make(
      "section",
      { class: "panel" },
      make("p", {
        class: "note",
        text:
          "After the graph stage: what follows from constants, from the ranges that inputs are promised to have, and from operations that bound their results. " +
          "Operations of which no more is known than their type are left out.",
      }),
      table,
    ),
  );
  state.onQuery = () => {
    const query = state.query.toLowerCase();
    for (const [row, element] of elements)
      element.hidden = Boolean(query) && !`${row.op} ${columns[1].value(row)}`.toLowerCase().includes(query);
  };
  return null;
}
