// Weights as a treemap: areas are bytes.

/** Squarified rectangles for [weight, bytes], the largest first. */
function squarify(items, x, y, width, height) {
  const result = [];
  let rest = items.reduce((sum, [, bytes]) => sum + bytes, 0),
    start = 0;
  const worst = (sum, least, most, side, scale) => {
    const thickness = (sum * scale) / side;
    return Math.max((most * scale) / thickness / thickness, (thickness * thickness) / (least * scale));
  };
  while (start < items.length && rest > 0 && width > 0 && height > 0) {
    const side = Math.min(width, height),
      scale = (width * height) / rest;
    let end = start + 1,
      sum = items[start][1];
    let best = worst(sum, sum, sum, side, scale);
    while (end < items.length) {
      const next = worst(sum + items[end][1], items[end][1], items[start][1], side, scale);
      if (next > best) break;
      best = next;
      sum += items[end++][1];
    }
    const thickness = (sum * scale) / side;
    let at = 0;
    for (let i = start; i < end; ++i) {
      const length = (items[i][1] * scale) / thickness;
      result.push(width < height ? [items[i][0], x + at, y, length, thickness] : [items[i][0], x, y + at, thickness, length]);
      at += length;
    }
    if (width < height) {
      y += thickness;
      height -= thickness;
    } else {
      x += thickness;
      width -= thickness;
    }
    rest -= sum;
    start = end;
  }
  return result;
}

const mostTiles = 500;

function describeWeight(weight) {
  const stored = weight.packed ? `, stored as ${weight.packed}` : "";
  const readers = weight.readers.map((launch) => `${launch.index + 1}. ${launch.algorithm}: ${shorten(launch.title, 80)}`);
  return `${weight.name}\n${weight.type}${stored}\n${bytesText(weight.bytes)}\n${readers.length ? `read by ${readers.slice(0, 4).join("; ")}` : "read by no kernel of this target"}`;
}

function showWeights(state, box) {
  const { compile } = state;
  if (!compile.weights.length) {
    box.append(make("p", { class: "empty", text: "The model has no weights." }));
    return null;
  }
  const width = 1100,
    height = 560;
  const shown = compile.weights.slice(0, mostTiles).filter(({ bytes }) => bytes > 0);
  const others = compile.weightBytes - shown.reduce((sum, { bytes }) => sum + bytes, 0);
  const svg = makeSvg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Treemap of weights" });
  const items = shown.map((weight) => [weight, weight.bytes]);
  if (others > 0) items.push([null, others]);
  const tiles = new Map();
  for (const [weight, x, y, w, h] of squarify(items, 0, 0, width, height)) {
    const label = weight ? describeWeight(weight) : `${compile.weights.length - shown.length} smaller weights, ${bytesText(others)}`;
    const family = weight?.readers[0]?.family ?? "move";
    const tile = makeSvg("rect", {
      class: "tile",
      x,
      y,
      width: w,
      height: h,
      rx: 3,
      style: `fill: var(--${family})`,
      role: "button",
      "aria-label": label,
    });
    withTip(
      press(tile, () => weight?.readers[0] && state.select(weight.readers[0], true)),
      label,
    );
    svg.append(tile);
    if (w > 74 && h > 22 && weight) {
      svg.append(makeSvg("text", { class: "tile-text", x: x + 7, y: y + 16, text: shorten(weight.name, Math.floor((w - 12) / 6.8)) }));
      if (h > 40)
        svg.append(
          makeSvg("text", {
            class: "tile-text",
            x: x + 7,
            y: y + 32,
            style: "font-weight: 400",
            text: shorten(bytesText(weight.bytes), Math.floor((w - 12) / 6.8)),
          }),
        );
    }
    tiles.set(tile, weight);
  }
  rove([...tiles.keys()]);
  const packed = compile.weights.filter((weight) => weight.packed).reduce((sum, { bytes }) => sum + bytes, 0);
  box.append(
    make(
      "section",
      { class: "panel" },
      make("h2", { text: `Weights: ${bytesText(compile.weightBytes)} in ${count(compile.weights.length, "array")}` }),
      make("p", {
        class: "note",
        text: `Areas are bytes, colours the kind of the first kernel that reads them. ${bytesText(packed)} are stored in the order in which kernels read them.`,
      }),
      makeLegend(compile),
      svg,
    ),
  );
  const columns = [
    { name: "Weight", value: ({ name }) => name },
    { name: "Type", value: ({ type }) => type, show: ({ type }) => make("code", { text: type }) },
    { name: "Stored as", value: ({ packed: text }) => text ?? "", show: ({ packed: text }) => text ?? "as in the file" },
    { name: "Bytes", value: ({ bytes }) => bytes, show: ({ bytes }) => bytesText(bytes), isNumber: true },
    {
      name: "Read by",
      value: ({ readers }) => readers[0]?.index ?? -1,
      show: ({ readers }) =>
        readers.slice(0, 3).flatMap((launch, i) => [
          i ? ", " : "",
          make("button", {
            type: "button",
            class: "link",
            text: `${launch.index + 1}. ${launch.algorithm}`,
            onclick: () => state.select(launch, true),
          }),
        ]),
    },
  ];
  const { table, elements } = makeSortedTable(columns, compile.weights, { sort: { by: 3, down: true }, label: "Weights" });
  box.append(make("section", { class: "panel" }, table));
  state.onSelect = (launch) =>
    tiles.forEach((weight, tile) => tile.classList.toggle("selected", Boolean(launch && weight?.readers.includes(launch))));
  state.onQuery = () => {
    const hits = (weight) => !state.query || Boolean(weight && describeWeight(weight).toLowerCase().includes(state.query.toLowerCase()));
    tiles.forEach((weight, tile) => (tile.style.opacity = hits(weight) ? 1 : 0.15));
    elements.forEach((element, weight) => (element.hidden = !hits(weight)));
  };
  state.onSelect(state.selected);
  return null;
}
