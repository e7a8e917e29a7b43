// All launches as a table that sorts.

/** A table whose columns sort: {name, value of a row, text or element of a row, isNumber}. */
function makeSortedTable(columns, rows, { sort, onSort, onRow, label, className }) {
  const body = make("tbody"),
    heads = [];
  let { by, down } = sort;
  const elements = new Map();
  const order = () => {
    // Before anything is chosen, in the order of the rows.
    const value = by < 0 ? () => 0 : columns[by].value;
    const sorted = rows
      .map((row, i) => [value(row), i])
      .sort(([a, i], [b, j]) => {
        const way = typeof a === "string" ? a.localeCompare(b, "en") : (a ?? -1) - (b ?? -1);
        return (down ? -way : way) || i - j;
      });
    body.append(...sorted.map(([, i]) => elements.get(rows[i])));
    heads.forEach((head, i) => head.setAttribute("aria-sort", i !== by ? "none" : down ? "descending" : "ascending"));
  };
  columns.forEach((column, i) =>
    heads.push(
      make(
        "th",
        { scope: "col", class: column.isNumber ? "number" : null },
        make("button", {
          type: "button",
          text: column.name,
          onclick: () => {
            down = by === i ? !down : Boolean(column.isNumber);
            by = i;
            onSort?.({ by, down });
            order();
          },
        }),
      ),
    ),
  );
  for (const row of rows) {
    const element = make(
      "tr",
      { class: onRow ? "pick" : null },
      columns.map((column) =>
        make("td", { class: column.isNumber ? "number" : null }, column.show ? column.show(row) : String(column.value(row))),
      ),
    );
    if (onRow) element.addEventListener("click", (event) => event.target.closest("button") || onRow(row, event));
    elements.set(row, element);
  }
  order();
  const table = make("table", { "aria-label": label, class: className ?? "rows-table" }, make("thead", {}, make("tr", {}, heads)), body);
  return { table, elements };
}

function showKernels(state, box) {
  const { compile } = state;
  const columns = [
    { name: "#", value: ({ index }) => index + 1, isNumber: true },
    {
      name: "Kernel",
      value: ({ algorithm }) => algorithm,
      show: (launch) => [
        make("span", { class: "dot", style: `background: var(--${launch.family})` }),
        make("button", { type: "button", class: "link", text: launch.algorithm, onclick: () => state.select(launch, true) }),
      ],
    },
    {
      name: "ONNX nodes",
      value: ({ title }) => title,
      show: (launch) => [
        make("span", { text: shorten(launch.title, 160) }),
        make("div", { class: "hint", text: shorten(launch.operations, 120) }),
      ],
    },
    { name: "Work", value: ({ flops }) => flops, show: ({ flops }) => workText(flops), isNumber: true },
    { name: "Bytes", value: ({ bytes }) => bytes, show: ({ bytes }) => bytesText(bytes), isNumber: true },
    {
      name: "Work/byte",
      value: ({ intensity }) => intensity,
      show: ({ intensity }) => (intensity === null ? "" : numberText(Number(intensity.toPrecision(3)))),
      isNumber: true,
    },
    { name: "Bound by", value: ({ bound }) => bound },
  ];
  if (compile.bench)
    columns.push(
      { name: "Time", value: ({ ms }) => ms ?? -1, show: ({ ms }) => timeText(ms), isNumber: true },
      {
        name: "Gop/s",
        value: ({ ms, flops }) => (ms > 0 ? flops / ms / 1e6 : -1),
        show: ({ ms, flops }) => (ms > 0 ? (flops / ms / 1e6).toFixed(1) : ""),
        isNumber: true,
      },
      {
        name: "Roofline",
        value: ({ raw }) => raw.measured?.roofline ?? -1,
        show: ({ raw }) => (raw.measured ? percentText(raw.measured.roofline) : ""),
        isNumber: true,
      },
    );
  columns.push({
    name: compile.bench ? "Part" : "Est. part",
    value: ({ share }) => share,
    show: ({ share }) => percentText(share),
    isNumber: true,
  });
  const { table, elements } = makeSortedTable(columns, compile.launches, {
    sort: state.sort && state.sort.by < columns.length ? state.sort : { by: 0, down: false },
    onSort: (sort) => (state.sort = sort),
    onRow: (launch) => state.select(launch, false),
    label: "Kernels",
  });
  const none = make("p", { class: "empty", text: "No kernel has this in its name, its nodes or its operations.", hidden: true });
  box.append(
    make(
      "section",
      { class: "panel" },
      make("p", {
        class: "note",
        text: compile.bench
          ? "In the order in which they are launched, with the times that were measured."
          : "In the order in which they are launched. The part of the time is an estimate: the larger of work at the target's peak and bytes at the bandwidth of the cache that holds them.",
      }),
      table,
      none,
    ),
  );
  state.onSelect = (launch) => {
    for (const element of table.querySelectorAll(".selected")) element.classList.remove("selected");
    elements.get(launch)?.classList.add("selected");
  };
  state.onQuery = () => {
    const query = state.query.toLowerCase();
    let shown = 0;
    for (const [launch, element] of elements) {
      element.hidden =
        Boolean(query) && !`${launch.algorithm} ${launch.names.join(" ")} ${launch.operations}`.toLowerCase().includes(query);
      shown += !element.hidden;
    }
    none.hidden = shown > 0;
  };
  state.onSelect(state.selected);
  return null;
}
