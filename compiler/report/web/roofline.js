// Work against bytes: how fast each kernel could be, and with measured times how fast it is.

/** A logarithmic axis from the smallest to the largest of these numbers. */
function logScale(values, from, to) {
  const low = Math.floor(Math.log10(Math.min(...values)) * 2) / 2, high = Math.ceil(Math.log10(Math.max(...values)) * 2) / 2;
  const span = Math.max(0.5, high - low);
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
    return { unit: "Gop/s", peaks: [["f32", bench.peak_gflops], ["bytes", bench.peak_byte_gops], ["bf16", bench.peak_bf16_gflops]].filter(([, peak]) => peak > 0),
      slopes: bench.bandwidth.map(({ name, gbps }) => [name, gbps]), what: `measured with ${count(bench.threads, "thread")}` };
  const names = { real: "f32", bytes: "bytes", bf16: "bf16" };
  return { unit: "operations", peaks: Object.entries(raw.machine.peaks).map(([name, peak]) => [names[name], peak]), slopes: Object.entries(raw.machine.rates), what: `of the target ${raw.target}` };
}

function showRoofline(state, box) {
  const { compile } = state;
  const points = compile.launches.filter(({ intensity }) => intensity);
  if (!points.length) {
    box.append(make("p", { class: "empty", text: "No kernel computes anything that counts as an operation." }));
    return null;
  }
  const roofs = findRoofs(compile), isMeasured = roofs.unit === "Gop/s";
  const used = new Set(points.map(({ kernel }) => kernel.operands));
  const peaks = roofs.peaks.filter(([name]) => name === "f32" || used.has(name));
  const slopes = new Map(roofs.slopes), own = { real: "f32", bytes: "bytes", bf16: "bf16" };
  const speed = (launch) => {
    if (isMeasured) return launch.ms > 0 ? launch.flops / launch.ms / 1e6 : null;
    const peak = new Map(peaks).get(own[launch.kernel.operands]) ?? peaks[0][1];
    return Math.min(peak, launch.intensity * slopes.get(launch.level));
  };
  const shown = points.filter((launch) => speed(launch) > 0);
  const width = 960, height = 520, left = 62, right = 940, top = 14, bottom = 470;
  const tallest = Math.max(...peaks.map(([, peak]) => peak));
  const x = logScale([...shown.map(({ intensity }) => intensity), tallest / slopes.get("memory"), 0.1], left, right);
  const y = logScale([...shown.map(speed), tallest * 1.2], bottom, top);
  const svg = makeSvg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Roofline: operations per byte against speed" });
  drawAxes(svg, x, y, { left, right, top, bottom }, `operations ${isMeasured ? "in a nanosecond (Gop/s)" : "in the time of one vector multiply-add"}`);
  drawRoofs(svg, x, y, peaks, roofs.slopes, { left, right, top, bottom });
  const elements = drawPoints(svg, state, shown, (launch) => [x(launch.intensity), y(speed(launch))], (launch) =>
    `${describeLaunch(compile, launch)}\n${numberText(Number(launch.intensity.toPrecision(3)))} operations per byte, ${isMeasured ? `${speed(launch).toFixed(1)} Gop/s, ${percentText(launch.raw.measured?.roofline)} of the roofline`
      : `bound by ${launch.bound}`}`);
  box.append(make("section", { class: "panel" }, make("h2", { text: "Roofline" }), make("p", { class: "note", text: `Each circle is a launch; its area is its part of ${compile.bench ? "the time" : "the estimated time"}. The roofs are ${roofs.what}. ` +
    (isMeasured ? "A circle below its roof could be faster." : "Without measured times, kernels lie on the roof that bounds them: under the slope, memory; under the flat part, arithmetic. kiln report --bench measures.") }), makeLegend(compile), svg));
  state.onSelect = (launch) => elements.forEach((element, other) => element.classList.toggle("selected", other === launch));
  state.onQuery = () => elements.forEach((element, launch) => (element.style.opacity = describeLaunch(compile, launch).toLowerCase().includes(state.query.toLowerCase()) ? 1 : 0.12));
  state.onSelect(state.selected);
  return null;
}

function drawAxes(svg, x, y, { left, right, top, bottom }, what) {
  for (const tick of x.ticks)
    svg.append(makeSvg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: top, y2: bottom }), makeSvg("text", { x: x(tick), y: bottom + 18, "text-anchor": "middle", text: numberText(tick) }));
  for (const tick of y.ticks)
    svg.append(makeSvg("line", { class: "grid", x1: left, x2: right, y1: y(tick), y2: y(tick) }), makeSvg("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end", text: numberText(tick) }));
  svg.append(makeSvg("path", { class: "axis", fill: "none", d: `M${left} ${top}V${bottom}H${right}` }),
    makeSvg("text", { x: (left + right) / 2, y: bottom + 40, "text-anchor": "middle", text: "operations per byte" }),
    makeSvg("text", { x: -(top + bottom) / 2, y: 14, transform: "rotate(-90)", "text-anchor": "middle", text: what }));
}

function drawRoofs(svg, x, y, peaks, slopes, { left, right, top, bottom }) {
  const tallest = peaks.reduce((best, peak) => (peak[1] > best[1] ? peak : best));
  for (const [name, peak] of peaks) {
    svg.append(makeSvg("path", { class: "roof", d: `M${Math.max(left, x(peak / Math.max(...slopes.map(([, rate]) => rate))))} ${y(peak)}H${right}` }),
      makeSvg("text", { x: right - 4, y: y(peak) - 6, "text-anchor": "end", text: `peak of ${name}` }));
  }
  for (const [name, rate] of slopes) {
    // The line rate * intensity, from the frame to the highest peak.
    const from = Math.max(x.ends[0], y.ends[0] / rate), to = tallest[1] / rate;
    if (from >= to) continue;
    svg.append(makeSvg("path", { class: `roof ${name === "memory" ? "" : "lower"}`, d: `M${x(from)} ${y(from * rate)}L${x(to)} ${y(tallest[1])}` }));
    const at = 10 ** (Math.log10(from) + 0.1 * (Math.log10(to) - Math.log10(from)));
    const angle = (-Math.atan2(y(from * rate) - y(to * rate), x(to) - x(from)) * 180) / Math.PI;
    svg.append(makeSvg("text", { transform: `translate(${x(at)} ${y(at * rate) - 6}) rotate(${angle})`, text: name }));
  }
}

/** Circles, the largest below the others. */
function drawPoints(svg, state, launches, place, describe) {
  const elements = new Map();
  for (const launch of [...launches].sort((a, b) => b.share - a.share)) {
    const [cx, cy] = place(launch);
    const circle = makeSvg("circle", { class: "point", cx, cy, r: 4 + 26 * Math.sqrt(launch.share), style: `fill: var(--${launch.family})`, role: "button", "aria-label": describe(launch) });
    withTip(press(circle, () => state.select(launch, true)), describe(launch));
    elements.set(launch, circle);
    svg.append(circle);
  }
  rove([...elements.values()]);
  return elements;
}
