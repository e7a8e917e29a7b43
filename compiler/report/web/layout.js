// A layered layout in linear time: layers by longest path, an order with few crossings by barycentres, and places by least squares.

const layerGap = 46,
  nodeGap = 26,
  laneWidth = 18;

/** The layer of each node. Edges against the order of the nodes, which loops have, count for nothing. */
function findLayers(nodes, edges) {
  const layer = new Int32Array(nodes.length);
  const after = nodes.map(() => []),
    hasBefore = new Uint8Array(nodes.length);
  for (const [from, to] of edges)
    if (from < to) {
      after[from].push(to);
      hasBefore[to] = 1;
    }
  for (let v = 0; v < nodes.length; ++v) for (const to of after[v]) layer[to] = Math.max(layer[to], layer[v] + 1);
  // What nothing comes before stands right above what needs it first.
  for (let v = nodes.length - 1; v >= 0; --v)
    if (!hasBefore[v] && after[v].length) layer[v] = Math.max(0, Math.min(...after[v].map((to) => layer[to])) - 1);
  return layer;
}

/** Places in the given order, at least so far apart, with the least squares of distances to what is wanted. */
function placeRow(row, wanted, places, widths) {
  const blocks = [];
  let offset = 0;
  row.forEach((v, i) => {
    if (i) offset += (widths[row[i - 1]] + widths[v]) / 2 + nodeGap;
    // Without the offset, places only have to ascend: neighbours that would not share a mean.
    blocks.push({ sum: wanted[v] - offset, count: 1, first: i });
    while (blocks.length > 1) {
      const last = blocks[blocks.length - 1],
        before = blocks[blocks.length - 2];
      if (before.sum / before.count <= last.sum / last.count) break;
      before.sum += last.sum;
      before.count += last.count;
      blocks.pop();
    }
  });
  offset = 0;
  let block = 0;
  row.forEach((v, i) => {
    if (i) offset += (widths[row[i - 1]] + widths[v]) / 2 + nodeGap;
    if (block + 1 < blocks.length && blocks[block + 1].first === i) ++block;
    places[v] = blocks[block].sum / blocks[block].count + offset;
  });
}

/** Nodes {width, height} get x and y, the middle; edges [from, to] get points. Returns the size of all. */
function layOut(nodes, edges) {
  const layer = Array.from(findLayers(nodes, edges));
  const widths = nodes.map(({ width }) => width);
  const chains = edges.map(([from, to]) => [from, to]);
  // Edges over several layers have lanes, the short ones first, as long as there are not too many in all.
  let budget = 6 * nodes.length + 200;
  const long = edges
    .map((edge, i) => [layer[edge[1]] - layer[edge[0]], i])
    .filter(([span]) => span > 1)
    .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  for (const [span, i] of long) {
    if ((budget -= span - 1) < 0) break;
    const [from, to] = edges[i];
    const lanes = [];
    for (let at = layer[from] + 1; at < layer[to]; ++at) {
      lanes.push(layer.length);
      layer.push(at);
      widths.push(laneWidth);
    }
    chains[i] = [from, ...lanes, to];
  }
  const up = layer.map(() => []),
    down = layer.map(() => []);
  for (const chain of chains)
    for (let i = 1; i < chain.length; ++i)
      if (layer[chain[i]] === layer[chain[i - 1]] + 1) {
        up[chain[i]].push(chain[i - 1]);
        down[chain[i - 1]].push(chain[i]);
      }
  const rows = [];
  layer.forEach((at, v) => (rows[at] ??= []).push(v));
  orderRows(rows, up, down);
  const places = new Float64Array(layer.length),
    wanted = new Float64Array(layer.length);
  for (const row of rows) placeRow(row, wanted, places, widths);
  for (let pass = 0; pass < 8; ++pass) {
    const downwards = pass % 2 === 0;
    for (let i = 0; i < rows.length; ++i) {
      const row = rows[downwards ? i : rows.length - 1 - i];
      for (const v of row) {
        const near = downwards ? up[v] : down[v];
        wanted[v] = near.length ? near.reduce((sum, u) => sum + places[u], 0) / near.length : places[v];
      }
      placeRow(row, wanted, places, widths);
    }
  }
  return setPoints(nodes, edges, chains, rows, layer, places, widths);
}

/** Sorts each layer by the mean position of its neighbours above, then below, and so on. */
function orderRows(rows, up, down) {
  const position = [];
  const renumber = (row) => row.forEach((v, i) => (position[v] = i));
  rows.forEach(renumber);
  for (let pass = 0; pass < 4; ++pass) {
    const downwards = pass % 2 === 0;
    for (let i = 0; i < rows.length; ++i) {
      const row = rows[downwards ? i : rows.length - 1 - i];
      const key = new Map(
        row.map((v) => {
          const near = downwards ? up[v] : down[v];
          return [v, near.length ? near.reduce((sum, u) => sum + position[u], 0) / near.length : position[v]];
        }),
      );
      row.sort((a, b) => key.get(a) - key.get(b) || position[a] - position[b]);
      renumber(row);
    }
  }
}

function setPoints(nodes, edges, chains, rows, layer, places, widths) {
  const tops = [];
  let y = 0;
  for (const row of rows) {
    const height = row.reduce((most, v) => Math.max(most, nodes[v]?.height ?? 0), 0);
    tops.push(y + height / 2);
    y += height + layerGap;
  }
  let left = Infinity,
    right = -Infinity;
  places.forEach((x, v) => {
    left = Math.min(left, x - widths[v] / 2);
    right = Math.max(right, x + widths[v] / 2);
  });
  if (!nodes.length) left = right = 0;
  nodes.forEach((node, v) => {
    node.x = places[v] - left;
    node.y = tops[layer[v]];
    node.layer = layer[v];
  });
  edges.forEach((edge, i) => {
    edge.points = chains[i].map((v) => ({ x: places[v] - left, y: tops[layer[v]] }));
    edge.points[0].y += nodes[edge[0]].height / 2;
    edge.points[edge.points.length - 1].y -= nodes[edge[1]].height / 2;
  });
  return { width: right - left, height: Math.max(0, y - layerGap) };
}
