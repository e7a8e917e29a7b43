// A graph on a canvas: only what is in sight is drawn, and text only where it can be read.

const leastScale = 0.002,
  mostScale = 3;

class GraphView {
  /** `nodes`: {lines, family, share, label}; `edges`: [from, to]. `choose` is called with the number of a node, -1 for none. */
  constructor(box, nodes, edges, choose, label) {
    this.nodes = nodes;
    this.edges = edges;
    this.choose = choose;
    this.selected = -1;
    this.hovered = -1;
    this.marked = null; // a set of nodes that a search found
    this.size = layOut(nodes, edges);
    this.from = nodes.map(() => []);
    this.to = nodes.map(() => []);
    for (const [from, to] of edges) {
      this.from[to].push(from);
      this.to[from].push(to);
    }
    for (const edge of edges) {
      const xs = edge.points.map(({ x }) => x),
        ys = edge.points.map(({ y }) => y);
      edge.box = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
    }
    this.canvas = make("canvas", { tabindex: 0, role: "application", "aria-label": label, "aria-describedby": "graph-keys" });
    this.map = make("canvas", { class: "minimap", "aria-hidden": "true" });
    box.append(this.canvas, this.map);
    this.listen();
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.canvas);
    this.resize();
  }

  close() {
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
  }

  //---- Where things are

  resize() {
    const { clientWidth, clientHeight } = this.canvas;
    if (!clientWidth || !clientHeight) return;
    const isFirst = !this.width;
    // The middle stays where it is.
    if (!isFirst) this.x += (clientWidth - this.width) / 2;
    this.width = clientWidth;
    this.height = clientHeight;
    const ratio = devicePixelRatio || 1;
    this.canvas.width = clientWidth * ratio;
    this.canvas.height = clientHeight * ratio;
    if (isFirst) this.showStart();
    this.drawMap();
    this.redraw();
  }

  /** The beginning, as large as can be read; all of it where that fits. */
  showStart() {
    this.fit();
    if (this.scale >= 0.7) return;
    this.scale = Math.min(0.9, Math.max(0.75, this.width / (this.size.width + 80)));
    const first = this.nodes[0] ?? { x: 0 };
    this.x = this.width / 2 - first.x * this.scale;
    this.y = 30;
    this.redraw();
  }

  fit() {
    this.scale = Math.min(1.1, Math.max(leastScale, Math.min(this.width / (this.size.width + 60), this.height / (this.size.height + 60))));
    this.x = (this.width - this.size.width * this.scale) / 2;
    this.y = (this.height - this.size.height * this.scale) / 2;
    this.redraw();
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    // Not smaller than where all of it fits.
    const least = Math.min(0.3, this.width / (this.size.width + 60), this.height / (this.size.height + 60));
    const scale = Math.min(mostScale, Math.max(least, leastScale, this.scale * factor));
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.redraw();
  }

  pan(dx, dy) {
    this.x += dx;
    this.y += dy;
    // Some of the graph stays in sight.
    const margin = 60,
      { width, height } = this.size;
    this.x = Math.min(this.width - margin, Math.max(margin - width * this.scale, this.x));
    this.y = Math.min(this.height - margin, Math.max(margin - height * this.scale, this.y));
    this.redraw();
  }

  /** Brings a node into sight. */
  reveal(number) {
    const node = this.nodes[number],
      margin = 20;
    if (!node) return;
    const x = this.x + node.x * this.scale,
      y = this.y + node.y * this.scale,
      wide = (node.width / 2) * this.scale + margin,
      high = (node.height / 2) * this.scale + margin;
    // Nothing moves that is well in sight.
    if (this.scale >= 0.5 && x > wide && x < this.width - wide && y > high && y < this.height - high) return this.redraw();
    this.scale = Math.max(this.scale, 0.7);
    this.x = this.width / 2 - node.x * this.scale;
    this.y = this.height / 2 - node.y * this.scale;
    this.redraw();
  }

  nodeAt(x, y) {
    const at = { x: (x - this.x) / this.scale, y: (y - this.y) / this.scale };
    return this.nodes.findIndex((node) => Math.abs(node.x - at.x) <= node.width / 2 && Math.abs(node.y - at.y) <= node.height / 2);
  }

  //---- What people do

  listen() {
    const pointers = new Map();
    let moved = 0;
    const place = (event) => {
      const { left, top } = this.canvas.getBoundingClientRect();
      return { x: event.clientX - left, y: event.clientY - top };
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      pointers.set(event.pointerId, place(event));
      moved = 0;
      this.canvas.setPointerCapture(event.pointerId);
      hideTip();
    });
    this.canvas.addEventListener("pointermove", (event) => {
      const now = place(event),
        before = pointers.get(event.pointerId);
      if (!before) return this.hover(event, now);
      const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
      if (other)
        this.zoom(
          Math.hypot(now.x - other.x, now.y - other.y) / Math.max(1, Math.hypot(before.x - other.x, before.y - other.y)),
          other.x,
          other.y,
        );
      else this.pan(now.x - before.x, now.y - before.y);
      moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
      pointers.set(event.pointerId, now);
    });
    const end = (event) => {
      const now = pointers.get(event.pointerId);
      pointers.delete(event.pointerId);
      if (event.type === "pointerup" && now && moved < 5) this.select(this.nodeAt(now.x, now.y), false);
    };
    this.canvas.addEventListener("pointerup", end);
    this.canvas.addEventListener("pointercancel", end);
    this.canvas.addEventListener("pointerleave", () => this.hover(null, { x: -1e9, y: -1e9 }));
    this.canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const { x, y } = place(event),
          unit = event.deltaMode === 1 ? 18 : 1;
        if (event.ctrlKey || event.metaKey) this.zoom(Math.exp(-event.deltaY * unit * 0.004), x, y);
        else if (event.shiftKey) this.pan(-event.deltaY * unit, 0);
        else this.pan(-event.deltaX * unit, -event.deltaY * unit);
        hideTip();
      },
      { passive: false },
    );
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.map.addEventListener("pointerdown", (event) => this.jump(event));
    this.map.addEventListener("pointermove", (event) => event.buttons && this.jump(event));
  }

  hover(event, { x, y }) {
    const number = this.nodeAt(x, y);
    if (number !== this.hovered) {
      this.hovered = number;
      this.canvas.style.cursor = number < 0 ? "grab" : "pointer";
      this.redraw();
    }
    if (number < 0 || !event) hideTip();
    else showTip(this.nodes[number].label, event.clientX, event.clientY);
  }

  jump(event) {
    const { left, top } = this.map.getBoundingClientRect();
    this.x = this.width / 2 - ((event.clientX - left - this.mapX) / this.mapScale) * this.scale;
    this.y = this.height / 2 - ((event.clientY - top - this.mapY) / this.mapScale) * this.scale;
    this.redraw();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const near = (list) => {
      const here = this.nodes[this.selected];
      return list.reduce(
        (best, v) => (best < 0 || Math.abs(this.nodes[v].x - here.x) < Math.abs(this.nodes[best].x - here.x) ? v : best),
        -1,
      );
    };
    const beside = (step) => {
      const here = this.nodes[this.selected];
      const row = this.nodes
        .map((_, v) => v)
        .filter((v) => this.nodes[v].layer === here.layer)
        .sort((a, b) => this.nodes[a].x - this.nodes[b].x);
      return row[row.indexOf(this.selected) + step] ?? -1;
    };
    const moves = {
      ArrowDown: () => near(this.to[this.selected]),
      ArrowUp: () => near(this.from[this.selected]),
      ArrowLeft: () => beside(-1),
      ArrowRight: () => beside(1),
    };
    if (moves[event.key] || event.key === "Home" || event.key === "End") {
      const isFirst = this.selected < 0 || event.key === "Home";
      const to = isFirst ? 0 : event.key === "End" ? this.nodes.length - 1 : moves[event.key]();
      if (to >= 0) this.select(to, true);
    } else if (event.key === "+" || event.key === "=") this.zoom(1.25);
    else if (event.key === "-") this.zoom(0.8);
    else if (event.key === "0") this.fit();
    else if (event.key === "Enter" && this.selected >= 0) this.choose(this.selected, true);
    else if (event.key === "Escape") this.select(-1, false);
    else return;
    event.preventDefault();
  }

  select(number, reveals) {
    this.selected = number;
    if (reveals) this.reveal(number);
    if (number >= 0) announce(this.nodes[number].label);
    this.choose(number, false);
    this.redraw();
  }

  //---- Drawing

  redraw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      const begin = performance.now();
      if (this.width) this.draw();
      this.canvas.dataset.drawMs = (performance.now() - begin).toFixed(2);
    });
  }

  draw() {
    const context = this.canvas.getContext("2d"),
      ratio = devicePixelRatio || 1,
      { scale } = this;
    this.colours ??= this.readColours();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = this.colours.ground;
    context.fillRect(0, 0, this.width, this.height);
    context.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * this.x, ratio * this.y);
    const sight = [-this.x / scale, -this.y / scale, (this.width - this.x) / scale, (this.height - this.y) / scale];
    this.drawEdges(context, sight);
    this.nodes.forEach((node, v) => {
      const { x, y, width, height } = node;
      if (x + width / 2 < sight[0] || x - width / 2 > sight[2] || y + height / 2 < sight[1] || y - height / 2 > sight[3]) return;
      this.drawNode(context, node, v);
    });
    this.drawSight(sight);
    const chosen = this.nodes[this.selected];
    if (chosen) this.canvas.dataset.chosen = [this.x + chosen.x * scale, this.y + chosen.y * scale].map(Math.round);
  }

  readColours() {
    const names = ["ground", "card", "ink", "soft", "line", "faint", "accent", "mark", "edge", ...families.map(([name]) => name)];
    return Object.fromEntries(names.map((name) => [name, colour(name)]));
  }

  drawEdges(context, sight) {
    const { colours, scale } = this;
    const active = this.selected >= 0 ? this.selected : this.hovered;
    const strong = [];
    context.lineWidth = Math.max(1.2, 0.7 / scale);
    context.strokeStyle = colours.edge;
    context.fillStyle = colours.edge;
    context.beginPath();
    for (const edge of this.edges) {
      const [left, top, right, bottom] = edge.box;
      if (right < sight[0] || left > sight[2] || bottom < sight[1] || top > sight[3]) continue;
      if (edge[0] === active || edge[1] === active) strong.push(edge);
      else this.trace(context, edge.points);
    }
    context.stroke();
    context.strokeStyle = colours.accent;
    context.lineWidth = Math.max(2.4, 1.6 / scale);
    context.beginPath();
    for (const edge of strong) this.trace(context, edge.points);
    context.stroke();
    if (scale < 0.35) return;
    for (const edge of this.edges) {
      const end = edge.points[edge.points.length - 1];
      if (end.x < sight[0] || end.x > sight[2] || end.y < sight[1] || end.y - 10 > sight[3]) continue;
      context.fillStyle = edge[0] === active || edge[1] === active ? colours.accent : colours.edge;
      context.beginPath();
      context.moveTo(end.x, end.y);
      context.lineTo(end.x - 4.5, end.y - 8);
      context.lineTo(end.x + 4.5, end.y - 8);
      context.fill();
    }
  }

  /** From point to point in curves that leave and arrive upright. */
  trace(context, points) {
    context.moveTo(points[0].x, points[0].y);
    for (let i = 1; i < points.length; ++i) {
      const a = points[i - 1],
        b = points[i],
        middle = (a.y + b.y) / 2;
      context.bezierCurveTo(a.x, middle, b.x, middle, b.x, b.y);
    }
  }

  drawNode(context, node, v) {
    const { colours, scale } = this;
    const left = node.x - node.width / 2,
      top = node.y - node.height / 2;
    const isFaded = this.marked && !this.marked.has(v);
    const main = node.family ? colours[node.family] : colours.soft;
    context.globalAlpha = isFaded ? 0.28 : 1;
    if (scale < 0.3) {
      // At least some pixels wide, so that the whole can be seen.
      const width = Math.max(node.width, 5 / scale),
        height = Math.max(node.height, 1 / scale);
      context.fillStyle = v === this.selected ? colours.accent : main;
      context.fillRect(node.x - width / 2, node.y - height / 2, width, height);
      context.globalAlpha = 1;
      return;
    }
    context.fillStyle = v === this.selected ? colours.mark : colours.card;
    context.strokeStyle = v === this.selected ? colours.accent : v === this.hovered ? colours.soft : colours.line;
    context.lineWidth = v === this.selected ? 2.5 : 1.2;
    context.beginPath();
    context.roundRect(left, top, node.width, node.height, node.family ? 8 : node.height / 2);
    context.fill();
    context.stroke();
    if (node.family) {
      context.save();
      context.clip();
      context.fillStyle = main;
      context.fillRect(left, top, 6, node.height);
      // Along the lower edge, its time beside that of the longest.
      context.fillRect(left, top + node.height - 4, node.width * Math.min(1, node.share ?? 0), 4);
      context.restore();
    }
    this.drawLines(context, node, left, top);
    context.globalAlpha = 1;
  }

  drawLines(context, node, left, top) {
    const { colours } = this;
    const indent = node.family ? 15 : 12,
      room = node.width - indent - 10;
    context.textBaseline = "alphabetic";
    node.lines.forEach((line, i) => {
      context.font = i === 0 ? "600 13px system-ui, sans-serif" : "12px system-ui, sans-serif";
      context.fillStyle = i === 0 ? colours.ink : colours.soft;
      context.textAlign = node.family ? "left" : "center";
      context.fillText(this.cut(context, line, room), node.family ? left + indent : node.x, top + 19 + 17 * i);
    });
  }

  /** As much of a text as there is room for. Widths are remembered. */
  cut(context, text, room) {
    this.cuts ??= new Map();
    const key = `${context.font}|${room}|${text}`;
    if (this.cuts.has(key)) return this.cuts.get(key);
    let result = text;
    if (context.measureText(text).width > room) {
      let low = 0,
        high = text.length;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (context.measureText(`${text.slice(0, middle)}\u2026`).width <= room) low = middle;
        else high = middle - 1;
      }
      result = `${text.slice(0, low)}\u2026`;
    }
    this.cuts.set(key, result);
    return result;
  }

  //---- The whole, small

  drawMap() {
    const most = { width: 150, height: 190 };
    const { width, height } = this.size;
    this.mapScale = Math.min(most.width / (width + 1), most.height / (height + 1));
    const w = Math.max(44, width * this.mapScale + 12),
      h = Math.max(44, height * this.mapScale + 12),
      ratio = devicePixelRatio || 1;
    this.mapX = (w - width * this.mapScale) / 2;
    this.mapY = (h - height * this.mapScale) / 2;
    this.map.width = w * ratio;
    this.map.height = h * ratio;
    Object.assign(this.map.style, { width: `${w}px`, height: `${h}px` });
    this.colours = this.readColours();
    // The nodes are drawn once; what is in sight, on top of them, with each frame.
    this.whole = make("canvas", { width: this.map.width, height: this.map.height });
    const context = this.whole.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, ratio * this.mapX, ratio * this.mapY);
    for (const node of this.nodes) {
      context.fillStyle = node.family ? this.colours[node.family] : this.colours.soft;
      const own = { width: Math.max(3, node.width * this.mapScale), height: Math.max(1, node.height * this.mapScale) };
      context.fillRect(node.x * this.mapScale - own.width / 2, node.y * this.mapScale - own.height / 2, own.width, own.height);
    }
  }

  drawSight([left, top, right, bottom]) {
    if (!this.whole) return;
    const context = this.map.getContext("2d"),
      ratio = devicePixelRatio || 1,
      s = this.mapScale;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.map.width, this.map.height);
    context.drawImage(this.whole, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, ratio * this.mapX, ratio * this.mapY);
    const x = Math.max(left * s, -this.mapX + 1),
      y = Math.max(top * s, -this.mapY + 1);
    const x2 = Math.min(right * s, this.map.width / ratio - this.mapX - 1),
      y2 = Math.min(bottom * s, this.map.height / ratio - this.mapY - 1);
    context.strokeStyle = this.colours.accent;
    context.lineWidth = 2;
    context.strokeRect(x, y, Math.max(2, x2 - x), Math.max(2, y2 - y));
  }

  /** New colours. */
  restyle() {
    this.colours = null;
    this.drawMap();
    this.redraw();
  }
}
