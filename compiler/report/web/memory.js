// The arena over time: every buffer is a rectangle, from its first launch to its last and from its first byte to its last.

class ArenaView {
  constructor(state, box) {
    this.state = state;
    this.compile = state.compile;
    this.rows = this.compile.memory;
    this.bytes = Math.max(1, this.compile.arenaBytes);
    this.time = -1;
    // The launches in sight.
    this.from = 0;
    this.to = Math.max(1, this.rows.length);
    this.canvas = make("canvas", {
      tabindex: 0,
      role: "application",
      "aria-label": "Arena over time. Left and right arrow keys go from launch to launch, + - 0 zoom.",
    });
    this.area = make("div", { class: "canvas-box", style: "height: 430px" }, this.canvas);
    this.text = make("div", { class: "note", style: "min-height: 21px; margin: 10px 0 8px" });
    this.list = make("div", { class: "scroll", style: "min-height: 160px" });
    box.append(this.area, this.text, this.list);
    this.colours = this.findFamilies();
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", hideTip);
    this.canvas.addEventListener("click", (event) => this.choose(this.timeAt(event)));
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.canvas);
  }

  /** The kind of the kernel that writes each buffer first. */
  findFamilies() {
    const numbers = new Map(this.compile.raw.buffers.map((buffer, i) => [buffer, i])),
      writers = new Map();
    for (const { raw, family } of this.compile.launches)
      for (const number of raw.writes) if (!writers.has(number)) writers.set(number, family);
    return this.compile.arena.map((buffer) => writers.get(numbers.get(buffer)) ?? "move");
  }

  get frame() {
    return { left: 64, right: this.canvas.clientWidth - 14, top: 12, bottom: this.canvas.clientHeight - 34 };
  }
  x(time) {
    const { left, right } = this.frame;
    return left + ((time - this.from) / (this.to - this.from)) * (right - left);
  }
  y(bytes) {
    const { top, bottom } = this.frame;
    return bottom - (bytes / this.bytes) * (bottom - top);
  }
  timeAt(event) {
    const { left, right } = this.frame,
      place = this.canvas.getBoundingClientRect();
    const time = Math.floor(this.from + ((event.clientX - place.left - left) / (right - left)) * (this.to - this.from));
    return Math.min(this.rows.length - 1, Math.max(0, time));
  }

  draw() {
    const { clientWidth, clientHeight } = this.canvas,
      ratio = devicePixelRatio || 1;
    if (!clientWidth) return;
    this.canvas.width = clientWidth * ratio;
    this.canvas.height = clientHeight * ratio;
    const context = this.canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const palette = Object.fromEntries(families.map(([name]) => [name, colour(name)]));
    context.fillStyle = colour("card");
    context.fillRect(0, 0, clientWidth, clientHeight);
    this.drawAxes(context);
    const { left, right, top, bottom } = this.frame;
    context.save();
    context.beginPath();
    context.rect(left, top - 2, right - left, bottom - top + 4);
    context.clip();
    this.compile.arena.forEach((buffer, i) => {
      if (buffer.last < this.from || buffer.first > this.to) return;
      const x = this.x(Math.max(0, buffer.first)),
        y = this.y(buffer.offset + buffer.bytes);
      const width = Math.max(1, this.x(buffer.last + 1) - x - 0.6),
        height = Math.max(1, this.y(buffer.offset) - y - 0.6);
      const isOfSelected = this.time >= buffer.first && this.time <= buffer.last;
      context.globalAlpha = this.time < 0 || isOfSelected ? 0.85 : 0.4;
      context.fillStyle = palette[this.colours[i]];
      context.fillRect(x, y, width, height);
      context.globalAlpha = 1;
      if (width < 70 || height < 18 || !buffer.name) return;
      context.font = "11.5px system-ui, sans-serif";
      context.fillStyle = document.documentElement.dataset.theme === "dark" ? "#10151c" : "#fff";
      context.fillText(shorten(bareName(buffer.name), Math.floor((width - 10) / 6.4)), x + 6, y + 14);
    });
    this.drawLive(context);
    this.drawCursor(context);
    context.restore();
  }

  /** Shows fewer launches or more, around one of them. */
  zoom(factor, around = this.time >= 0 ? this.time : (this.from + this.to) / 2) {
    const length = Math.min(this.rows.length, Math.max(8, (this.to - this.from) * factor));
    const part = (around - this.from) / (this.to - this.from);
    this.move(around - part * length, length);
  }
  move(from, length = this.to - this.from) {
    this.from = Math.max(0, Math.min(this.rows.length - length, from));
    this.to = Math.max(this.from + 1, this.from + length);
    this.draw();
  }
  wheel(event) {
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return;
    event.preventDefault();
    if (event.shiftKey) this.move(this.from + ((event.deltaY || event.deltaX) / 600) * (this.to - this.from));
    else this.zoom(Math.exp(event.deltaY * 0.004), this.timeAt(event));
  }

  drawAxes(context) {
    const { left, right, top, bottom } = this.frame;
    context.font = "12px system-ui, sans-serif";
    context.strokeStyle = colour("faint");
    context.fillStyle = colour("soft");
    context.lineWidth = 1;
    const step = 10 ** Math.floor(Math.log10(this.bytes / 2)),
      unit = this.bytes / step > 5 ? 2 * step : step;
    for (let at = 0; at <= this.bytes; at += unit) {
      context.textAlign = "right";
      context.fillText(bytesText(at), left - 7, this.y(at) + 4);
      context.beginPath();
      context.moveTo(left, this.y(at));
      context.lineTo(right, this.y(at));
      context.stroke();
    }
    context.textAlign = "center";
    context.fillText(
      `launches ${Math.floor(this.from) + 1} to ${Math.ceil(this.to)} of ${this.rows.length}`,
      (left + right) / 2,
      bottom + 24,
    );
    context.textAlign = "left";
    context.strokeStyle = colour("line");
    context.strokeRect(left, top, right - left, bottom - top);
  }

  /** The bytes that are in use, as a line of steps. */
  drawLive(context) {
    context.strokeStyle = colour("ink");
    context.lineWidth = 1.6;
    context.beginPath();
    this.rows.forEach(({ live }, time) => {
      const y = this.y(live);
      if (time === 0) context.moveTo(this.x(0), y);
      context.lineTo(this.x(time), y);
      context.lineTo(this.x(time + 1), y);
    });
    context.stroke();
  }

  drawCursor(context) {
    if (this.time < 0) return;
    const { top, bottom } = this.frame;
    context.strokeStyle = colour("accent");
    context.lineWidth = 2;
    context.strokeRect(this.x(this.time), top, Math.max(2, this.x(this.time + 1) - this.x(this.time)), bottom - top);
  }

  hover(event) {
    const { left, right, top, bottom } = this.frame,
      place = this.canvas.getBoundingClientRect();
    const at = { x: event.clientX - place.left, y: event.clientY - place.top };
    if (at.x < left || at.x > right || at.y < top || at.y > bottom) return hideTip();
    const time = this.timeAt(event),
      offset = ((bottom - at.y) / (bottom - top)) * this.bytes;
    const buffer = this.rows[time]?.buffers.find((each) => offset >= each.offset && offset < each.offset + each.bytes);
    const launch = this.compile.launches[time];
    showTip(
      buffer
        ? `${buffer.name || "buffer"}\n${bytesText(buffer.bytes)} of ${buffer.element} at ${buffer.offset.toLocaleString("en")}\nlaunches ${buffer.first + 1} to ${buffer.last + 1}`
        : `Launch ${time + 1}, ${launch?.algorithm}\n${bytesText(this.rows[time]?.live)} in use`,
      event.clientX,
      event.clientY,
    );
  }

  key(event) {
    const last = this.rows.length - 1;
    const to = { ArrowRight: Math.min(last, this.time + 1), ArrowLeft: Math.max(0, this.time - 1), Home: 0, End: last }[event.key];
    if (event.key === "Enter" && this.time >= 0) this.state.select(this.compile.launches[this.time], true);
    else if (event.key === "+" || event.key === "=") this.zoom(0.7);
    else if (event.key === "-") this.zoom(1.4);
    else if (event.key === "0") this.zoom(Infinity);
    else if (to !== undefined) this.choose(to);
    else return;
    event.preventDefault();
  }

  /** Shows the buffers that are in use during a launch. */
  choose(time) {
    this.state.select(this.compile.launches[time], false);
    this.show(time);
  }

  show(time) {
    this.time = time;
    // What is chosen stays in sight.
    if (time >= 0 && (time < this.from || time >= this.to)) this.move(time - (this.to - this.from) / 2);
    else this.draw();
    const row = this.rows[time];
    if (!row) {
      this.text.textContent = "Choose a launch to see the buffers that it finds in use.";
      this.list.replaceChildren();
      return;
    }
    this.text.textContent = `Launch ${time + 1}, ${this.compile.launches[time].algorithm}: ${bytesText(row.live)} in use by ${count(row.buffers.length, "buffer")}, up to byte ${row.top.toLocaleString("en")}.`;
    announce(this.text.textContent);
    this.list.replaceChildren(
      make(
        "table",
        {},
        make(
          "thead",
          {},
          make(
            "tr",
            {},
            ["Buffer", "Offset", "Bytes", "Type", "In use"].map((name, i) =>
              make("th", { scope: "col", class: i === 1 || i === 2 ? "number" : null, text: name }),
            ),
          ),
        ),
        make(
          "tbody",
          {},
          [...row.buffers]
            .sort((a, b) => b.offset - a.offset)
            .map((buffer) =>
              make(
                "tr",
                {},
                make("td", { text: buffer.name || "buffer" }),
                make("td", { class: "number", text: buffer.offset.toLocaleString("en") }),
                make("td", { class: "number", text: bytesText(buffer.bytes) }),
                make("td", {}, make("code", { text: buffer.element })),
                make("td", { text: `launches ${buffer.first + 1} to ${buffer.last + 1}` }),
              ),
            ),
        ),
      ),
    );
  }
}

function showMemory(state, box) {
  const { compile } = state;
  if (!compile.arena.length) {
    box.append(make("p", { class: "empty", text: "A run needs no memory of its own: all values are inputs or outputs." }));
    return null;
  }
  const most = Math.max(...compile.memory.map(({ live }) => live));
  const peak = compile.memory.findIndex(({ live }) => live === most);
  const sizes = compile.sizesText ? ` For ${compile.sizesText}.` : "";
  const section = make(
    "section",
    { class: "panel" },
    make("h2", { text: `Arena: ${bytesText(compile.arenaBytes)}` }),
    make("p", {
      class: "note",
      text:
        `The line shows the bytes in use; at most ${bytesText(most)}, during launch ${peak + 1}. The arena can never be smaller than that. ` +
        `Colours are the kinds of the kernels that write the buffers.${sizes}`,
    }),
  );
  const button = (text, label, action) => make("button", { type: "button", text, "aria-label": label, title: label, onclick: action });
  section.append(
    make(
      "div",
      { class: "tools", style: "border: 0; padding: 0 0 8px" },
      makeLegend(compile),
      make("span", { class: "spacer" }),
      make(
        "span",
        { class: "zoom" },
        button("\u2212", "Show more launches", () => view.zoom(1.4)),
        button("+", "Show fewer launches", () => view.zoom(0.7)),
        button("All", "Show all launches", () => view.zoom(Infinity)),
      ),
    ),
  );
  box.append(section);
  const view = new ArenaView(state, section);
  state.onSelect = (launch) => launch?.index !== view.time && view.show(launch ? launch.index : -1);
  state.onStyle = () => view.draw();
  view.show(state.selected?.index ?? -1);
  return () => view.observer.disconnect();
}
