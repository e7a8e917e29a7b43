// Work against bytes: how fast each kernel could be, and with measured times how fast it is.

/** A logarithmic axis from the smallest to the largest of these numbers. */
function logScale(values, from, to) {
  const low = Math.floor(Math.log10(Math.min(...values)) * 2) / 2,
    high = Math.ceil(Math.log10(Math.max(...values)) * 2) / 2;
  const span = Math.max(1, high - low);
  const scale = (value) => from + ((Math.log10(value) - low) / span) * (to - from);
  scale.ticks = [];
  for (let power = Math.ceil(low); power <= low + span; ++power) scale.ticks.push(10 ** power);
  scale.ends = [10 ** low, 10 ** (low + span)];
  return scale;
}

/** The roofs: the peak for what most kernels compute, and bandwidths; of the machine if it was measured, of the target otherwise. */
function findRoofs(compile) {
  const { bench, raw } = compile;
  if (bench?.peak_gflops > 0)
    return {
      unit: "Gop/s",
      peaks: [
        ["f32", bench.peak_gflops],
        ["bytes", bench.peak_byte_gops],
        ["bf16", bench.peak_bf16_gflops],
      ].filter(([, peak]) => peak > 0),
      slopes: bench.bandwidth.map(({ name, gbps }) => [name, gbps]),
      what: `measured with ${count(bench.threads, "thread")}`,
    };
  const names = { real: "f32", bytes: "bytes", bf16: "bf16" };
  return {
    unit: "operations",
    peaks: Object.entries(raw.machine.peaks).map(([name, peak]) => [names[name], peak]),
    slopes: Object.entries(raw.machine.rates),
    what: `of the target ${raw.target}`,
  };
}

const frame = { width: 960, height: 520, left: 66, right: 940, top: 14, bottom: 470 };

/** What both charts are made of. */
function findScene(compile) {
  const roofs = findRoofs(compile),
    isMeasured = roofs.unit === "Gop/s";
  const launches = compile.launches.filter(({ intensity, ms }) => intensity && (!isMeasured || ms > 0));
  const used = new Set(launches.map(({ kernel }) => (kernel.operands === "real" ? "f32" : kernel.operands)));
  const peaks = roofs.peaks.filter(([name]) => name === "f32" || used.has(name));
  return {
    compile,
    launches,
    isMeasured,
    peaks,
    slopes: roofs.slopes,
    tallest: Math.max(...peaks.map(([, peak]) => peak)),
    what: roofs.what,
  };
}

/** Speed against intensity, below the roofs. */
function drawSpeeds(svg, scene, state) {
  const { launches, peaks, slopes, tallest, compile } = scene;
  const speed = ({ flops, ms }) => flops / ms / 1e6,
    slowest = slopes[slopes.length - 1][1];
  const x = logScale([...launches.map(({ intensity }) => intensity), tallest / slowest, 0.1], frame.left, frame.right);
  const y = logScale([...launches.map(speed), tallest * 1.2], frame.bottom, frame.top);
  drawAxes(svg, x, y, "operations per byte", "operations in a nanosecond (Gop/s)", numberText);
  drawRoofs(svg, x, y, peaks, slopes);
  return drawPoints(
    svg,
    state,
    launches,
    (launch) => [x(launch.intensity), y(speed(launch))],
    (launch) =>
      `${describeLaunch(compile, launch)}\n${numberText(Number(launch.intensity.toPrecision(3)))} operations per byte, ${speed(launch).toFixed(1)} Gop/s, ${percentText(launch.raw.measured?.roofline)} of the roofline`,
  );
}

/** Work against bytes. A line for each level of memory: above it the peak bounds a kernel, below it the level's bandwidth. */
function drawWork(svg, scene, state) {
  const { launches, slopes, tallest, compile } = scene;
  const x = logScale(
      launches.map(({ bytes }) => bytes),
      frame.left,
      frame.right,
    ),
    y = logScale(
      launches.map(({ flops }) => flops),
      frame.bottom,
      frame.top,
    );
  drawAxes(svg, x, y, "bytes that a launch moves", "operations of a launch", (value) => scaled(value, ""));
  for (const [number, [name, rate]] of slopes.entries()) {
    const ridge = tallest / rate,
      from = Math.max(x.ends[0], y.ends[0] / ridge),
      to = Math.min(x.ends[1], y.ends[1] / ridge);
    if (from < to) drawSlope(svg, [x(from), y(from * ridge)], [x(to), y(to * ridge)], name, number);
  }
  for (const [name, bytes] of Object.entries(compile.raw.machine.caches))
    if (bytes > x.ends[0] && bytes < x.ends[1])
      svg.append(
        makeSvg("line", { class: "axis", x1: x(bytes), x2: x(bytes), y1: frame.top, y2: frame.bottom, "stroke-dasharray": "2 4" }),
        makeSvg("text", { x: x(bytes) + 4, y: frame.top + 12, text: `${name} is full` }),
      );
  return drawPoints(
    svg,
    state,
    launches,
    ({ bytes, flops }) => [x(bytes), y(flops)],
    (launch) =>
      `${describeLaunch(compile, launch)}\n${numberText(Number(launch.intensity.toPrecision(3)))} operations per byte, bound by ${launch.bound}`,
  );
}

function showRoofline(state, box) {
  const { compile } = state,
    scene = findScene(compile);
  if (!scene.launches.length) {
    box.append(make("p", { class: "empty", text: "No kernel computes anything that counts as an operation." }));
    return null;
  }
  const area = compile.bench ? "the time" : "the estimated time";
  const texts = {
    speed: `Each circle is a launch; its area is its part of ${area}. The roofs are ${scene.what}. A circle below its roof could be faster.`,
    work:
      `Each circle is a launch; its area is its part of ${area}. Along a slanted line, the target's peak and the bandwidth of that memory take as long as each other (${scene.what}): ` +
      `above it arithmetic bounds a kernel, below it the memory.${scene.isMeasured ? "" : " kiln report --bench measures the speed of each."}`,
  };
  const note = make("p", { class: "note" });
  const svg = makeSvg("svg", { class: "chart", viewBox: `0 0 ${frame.width} ${frame.height}`, role: "group" });
  let elements = new Map();
  const select = (launch) => elements.forEach((element, other) => element.classList.toggle("selected", other === launch));
  const draw = (kind) => {
    svg.replaceChildren();
    note.textContent = texts[kind];
    svg.setAttribute("aria-label", kind === "speed" ? "Roofline: operations per byte against speed" : "Work against bytes of each launch");
    elements = (kind === "speed" ? drawSpeeds : drawWork)(svg, scene, state);
    select(state.selected);
  };
  const choice = scene.isMeasured
    ? makeChoice(
        "Chart",
        [
          ["speed", "Speed"],
          ["work", "Work and bytes"],
        ],
        "speed",
        draw,
      )
    : null;
  box.append(
    make(
      "section",
      { class: "panel" },
      make("h2", { text: "Roofline" }),
      note,
      make("div", { class: "tools", style: "border: 0; padding: 0 0 10px" }, choice, makeLegend(compile)),
      svg,
    ),
  );
  draw(scene.isMeasured ? "speed" : "work");
  state.onSelect = select;
  state.onQuery = () =>
    elements.forEach(
      (element, launch) =>
        (element.style.opacity = describeLaunch(compile, launch).toLowerCase().includes(state.query.toLowerCase()) ? 1 : 0.12),
    );
  return null;
}

function drawAxes(svg, x, y, across, upwards, text) {
  const { left, right, top, bottom } = frame;
  for (const tick of x.ticks)
    svg.append(
      makeSvg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: top, y2: bottom }),
      makeSvg("text", { x: x(tick), y: bottom + 18, "text-anchor": "middle", text: text(tick) }),
    );
  for (const tick of y.ticks)
    svg.append(
      makeSvg("line", { class: "grid", x1: left, x2: right, y1: y(tick), y2: y(tick) }),
      makeSvg("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end", text: text(tick) }),
    );
  svg.append(
    makeSvg("path", { class: "axis", fill: "none", d: `M${left} ${top}V${bottom}H${right}` }),
    makeSvg("text", { x: (left + right) / 2, y: bottom + 40, "text-anchor": "middle", text: across }),
    makeSvg("text", { x: -(top + bottom) / 2, y: 14, transform: "rotate(-90)", "text-anchor": "middle", text: upwards }),
  );
}

/** A slanted line with its name along it. */
function drawSlope(svg, from, to, name, number) {
  svg.append(makeSvg("path", { class: `roof ${name === "memory" ? "" : "lower"}`, d: `M${from.join(" ")}L${to.join(" ")}` }));
  const angle = (Math.atan2(to[1] - from[1], to[0] - from[0]) * 180) / Math.PI,
    at = from.map((value, i) => value + (0.06 + 0.12 * number) * (to[i] - value));
  svg.append(makeSvg("text", { transform: `translate(${at.join(" ")}) rotate(${angle}) translate(0 -5)`, text: name }));
}

function drawRoofs(svg, x, y, peaks, slopes) {
  const tallest = Math.max(...peaks.map(([, peak]) => peak)),
    fastest = Math.max(...slopes.map(([, rate]) => rate));
  for (const [name, peak] of peaks)
    svg.append(
      makeSvg("path", { class: "roof", d: `M${Math.max(frame.left, x(peak / fastest))} ${y(peak)}H${frame.right}` }),
      makeSvg("text", { x: frame.right - 4, y: y(peak) - 6, "text-anchor": "end", text: `peak of ${name}` }),
    );
  for (const [number, [name, rate]] of slopes.entries()) {
    // The line rate * intensity, from the frame to the highest peak.
    const from = Math.max(x.ends[0], y.ends[0] / rate),
      to = tallest / rate;
    if (from < to) drawSlope(svg, [x(from), y(from * rate)], [x(to), y(tallest)], name, number);
  }
}

/** Circles, the largest below the others. */
function drawPoints(svg, state, launches, place, describe) {
  const elements = new Map();
  for (const launch of [...launches].sort((a, b) => b.share - a.share)) {
    const [cx, cy] = place(launch);
    const circle = makeSvg("circle", {
      class: "point",
      cx,
      cy,
      r: 4 + 26 * Math.sqrt(launch.share),
      style: `fill: var(--${launch.family})`,
      role: "button",
      "aria-label": describe(launch),
    });
    withTip(
      press(circle, () => state.select(launch, true)),
      describe(launch),
    );
    elements.set(launch, circle);
    svg.append(circle);
  }
  rove([...elements.values()]);
  return elements;
}
