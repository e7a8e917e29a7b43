// SMALL.html MANY.html RESNET50.html FOLDER: looks at reports in headless Chromium, and leaves pictures in the folder.
import { statSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { openPage } from "./chromium.mjs";

const [small, many, resnet50, folder] = process.argv.slice(2).map((path) => resolve(path));
const check = (holds, what) => {
  if (!holds) throw new Error(`not so: ${what}`);
};
const page = await openPage();
const tab = async (name) => {
  await page.run(`location.hash = "#${name}"`);
  await page.until(`document.getElementById("view").dataset.of === "${name.split("/")[0]}"`);
  await page.settle();
};
const text = (selector) => page.run(`document.querySelector(${JSON.stringify(selector)})?.textContent ?? ""`);
const number = (selector) => page.run(`document.querySelectorAll(${JSON.stringify(selector)}).length`);
const keep = async (name) => writeFileSync(`${folder}/${name}.png`, await page.picture());

/** The least contrast of any text with what is behind it. */
const contrast = () =>
  page.run(`(() => {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => { context.clearRect(0, 0, 1, 1); context.fillStyle = colour; context.fillRect(0, 0, 1, 1); return context.getImageData(0, 0, 1, 1).data; };
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  let least = 99;
  for (const element of document.querySelectorAll("body *:not(script):not(style):not(option)")) {
    if (![...element.childNodes].some((child) => child.nodeType === 3 && child.data.trim()) || !element.checkVisibility() || element.closest("svg, noscript")) continue;
    let behind = element;
    while (behind && rgba(getComputedStyle(behind).backgroundColor)[3] < 255) behind = behind.parentElement;
    const a = light(rgba(getComputedStyle(element).color)), b = light(rgba(behind ? getComputedStyle(behind).backgroundColor : "#fff"));
    least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
  }
  return least;
})()`);

try {
  await page.load(`file://${small}`);
  const cards = await text(".cards");
  const [, nodes, launches] = cards.match(/^([\d,]+)ONNX nodes([\d,]+)launches/) ?? [];
  check(nodes && launches, cards);
  console.log(`overview: ${nodes} ONNX nodes, ${launches} launches`);
  await keep("overview");

  // The tabs by the keyboard: the first is reached by Tab, arrow keys open the next.
  await page.run(`document.getElementById("theme").focus()`);
  await page.key("Tab");
  await page.key("ArrowRight");
  await page.settle();
  check(
    (await page.run("document.activeElement.id")) === "tab-graph" && (await text("#view .keys")).includes("Arrow keys"),
    "the arrow key opens the graph",
  );
  await page.run(`document.querySelector("#view canvas").focus()`);
  for (const key of ["Home", "ArrowDown", "ArrowDown", "Enter"]) await page.key(key);
  await page.settle();
  const opened = (await text("#details h2")).match(/^(\d+)\./)?.[1];
  check(
    opened && (await page.run("document.activeElement.id")) === "details" && (await text("#live")).startsWith(`Kernel ${opened} of`),
    `a key opens a kernel, got ${await text("#details h2")}`,
  );
  // A click finds it again. The middle of the graph stays where it is when there is more room.
  const narrow = await page.run(`document.querySelector("#view canvas").clientWidth`);
  const [x, y] = (await page.run(`document.querySelector("#view canvas").dataset.chosen`)).split(",").map(Number);
  await page.run(`document.querySelector("#view canvas").focus()`);
  await page.key("Escape");
  await page.settle();
  check(await page.run(`document.getElementById("details").hidden`), "Escape closes the details");
  const [left, top, wider] = await page.run(
    `(() => { const { left, top, width } = document.querySelector("#view canvas").getBoundingClientRect(); return [left, top, width]; })()`,
  );
  await page.click(left + x + (wider - narrow) / 2, top + y);
  await page.settle();
  const clicked = (await text("#details h2")).match(/^(\d+)\./)?.[1];
  check(clicked === opened, `a click opens kernel ${opened}, got ${await text("#details h2")}`);
  console.log(`graph: a click and a key open kernel ${clicked}`);
  await keep("graph");

  await tab(`graph/1`);
  const details = await text("#details");
  for (const part of [
    "ONNX nodes",
    "Fused group",
    "#kernel.plan<",
    "Work",
    "operations",
    "Buffers",
    "reads",
    "writes",
    "Emitted C++",
    "void ",
  ])
    check(details.includes(part), `details have ${part}`);
  check((await number("#details .code .k")) > 3, "C++ has colours");
  await page.run(`[...document.querySelectorAll(".segmented button")].find((button) => button.textContent === "ONNX nodes").click()`);
  await page.settle();
  check((await page.run(`document.querySelector("#view canvas").getAttribute("aria-label")`)) === "Graph of ONNX nodes", "the ONNX graph");
  let refusals = 0,
    hostile = 0;
  for (let i = 1; i <= Number(launches) && !(refusals && hostile); ++i) {
    await tab(`graph/${i}`);
    refusals += Number((await text("#details")).includes("Kernels that were refused"));
    hostile += Number((await text("#details")).includes("<img src=x onerror=alert(1)>"));
  }
  check(refusals, "a kernel was refused");
  check(hostile && !(await number("img")), "names are text");
  console.log("details: nodes, group, work, buffers, refusals and C++");

  await tab("kernels");
  check((await number("#view tbody tr")) === Number(launches), "a row for each launch");
  await page.run(`[...document.querySelectorAll("#view th button")].find((button) => button.textContent === "Work").click()`);
  check(
    (await page.run(`[...document.querySelectorAll("#view th")].find((head) => head.ariaSort === "descending").textContent`)) === "Work",
    "sorted by work",
  );
  const most = await page.run(
    `(() => { const work = JSON.parse(document.getElementById("kiln-report").textContent).compiles[0].launches.map(({ flops }) => flops); return work.indexOf(Math.max(...work)) + 1; })()`,
  );
  check(
    Number(await text("#view tbody tr:first-child td")) === most,
    `the most work first, kernel ${most}, got ${await text("#view tbody tr:first-child")}`,
  );
  await page.run(`document.getElementById("search").value = "conv1"; document.getElementById("search").dispatchEvent(new Event("input"))`);
  const found = await page.run(`[...document.querySelectorAll("#view tbody tr")].filter((row) => row.checkVisibility()).length`);
  check(found >= 1 && found < Number(launches), `${found} rows for a search`);
  await page.run(`document.getElementById("search").value = ""; document.getElementById("search").dispatchEvent(new Event("input"))`);
  console.log(`kernels: ${launches} rows, sorted by work, found by name`);
  await keep("kernels");

  await tab("memory");
  await page.run(`document.querySelector("#view canvas").focus()`);
  for (const key of ["Home", "ArrowRight"]) await page.key(key);
  await page.settle();
  const memory = await text("#live");
  check(/^Launch 2, .* in use by \d+ buffer/.test(memory) && (await number("#view tbody tr")) > 0, memory);
  console.log(`memory: ${memory}`);
  await keep("memory");

  await tab("roofline");
  const circles = await number("#view circle");
  check(circles > 3 && (await text("#view svg")).includes("memory"), "circles and lines");
  await page.run(`document.querySelector("#view circle[tabindex='0']").focus()`);
  for (const key of ["ArrowRight", "Enter"]) await page.key(key);
  check((await number("#view circle.selected")) === 1, "a circle is chosen by keys");
  console.log(`roofline: ${circles} circles`);
  await keep("roofline");

  await tab("weights");
  const tiles = await number("#view rect.tile");
  const area = await page.run(
    `[...document.querySelectorAll("#view rect.tile")].reduce((sum, tile) => sum + tile.width.baseVal.value * tile.height.baseVal.value, 0)`,
  );
  check(tiles > 5 && Math.abs(area - 1100 * 560) < 1, `tiles fill the map, ${area}`);
  console.log(`weights: ${tiles} tiles`);
  await keep("weights");

  await tab("decisions");
  check(
    (await number("#composites tbody tr")) > 0 && (await number("#reasons tbody tr")) > 0 && (await number("#refusals tbody tr")) > 0,
    "decisions",
  );
  console.log("decisions: composites, reasons and refusals");
  await tab("ranges");
  check((await text("#view")).includes("image") && (await number(".ranges-table tbody tr")) > 0, "ranges and promises");
  console.log(`ranges: ${await number(".ranges-table tbody tr")} rows`);
  await tab("compare");
  await page.run(
    `{ const select = document.querySelectorAll("#view select")[1]; select.value = "1"; select.dispatchEvent(new Event("change")); }`,
  );
  const differing = await page.run(`[...document.querySelectorAll("#differences .chip.bad")].length`);
  check(differing > 0 && (await text("#facts")).includes("differs") && (await text("#view")).includes("old.html"), "differences");
  console.log(`compare: ${differing} kernels differ`);
  await keep("compare");

  // Colours: as the system says, until the button says otherwise.
  await tab("overview");
  const theme = () => page.run("document.documentElement.dataset.theme");
  check((await theme()) === "light" && (await contrast()) >= 4.5, `light text, contrast ${await contrast()}`);
  await page.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: "dark" }] });
  await page.settle();
  check((await theme()) === "dark" && (await contrast()) >= 4.5, `dark text, contrast ${await contrast()}`);
  await tab("graph/1");
  check((await contrast()) >= 4.5, `details in the dark, contrast ${await contrast()}`);
  await keep("dark");
  await page.run(`document.getElementById("theme").click()`);
  check((await theme()) === "light", "the button says light");
  console.log("colours: dark with the system, light by the button, all text is legible");

  const draw = async (path) => {
    // A busy machine may need another try.
    let ready = Infinity;
    for (let i = 0; i < 3 && ready >= 2000; ++i) {
      await page.load(`file://${path}?${i}#graph`);
      ready = Number(await page.run("document.documentElement.dataset.ready"));
    }
    check(ready < 2000 && statSync(path).size < 5e6, `${path} is drawn after ${ready} ms, ${statSync(path).size} bytes`);
    return [Number(await page.run(`JSON.parse(document.getElementById("kiln-report").textContent).graph.nodes.length`)), ready];
  };
  const [layers, drawn] = await draw(resnet50);
  await keep("resnet50");
  console.log(`resnet50: ${layers} nodes, ${(statSync(resnet50).size / 1e6).toFixed(2)} MB, drawn after ${drawn} ms`);
  const [count, ready] = await draw(many);
  await page.run(`[...document.querySelectorAll(".segmented button")].find((button) => button.textContent === "ONNX nodes").click()`);
  await page.settle();
  await page.run(`[...document.querySelectorAll(".tools button")].find((button) => button.textContent === "Fit").click()`);
  await page.settle();
  await keep("many");
  // All nodes in sight, half of them, and few with text: moved and zoomed, frame by frame.
  const slowest = await page.run(`(async () => {
    const canvas = document.querySelector("#view canvas"), times = [];
    const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    const turn = async (more) => {
      canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: 40, clientX: 500, clientY: 400, bubbles: true, cancelable: true, ...more }));
      await frame();
      times.push(Number(canvas.dataset.drawMs));
    };
    for (let i = 0; i < 20; ++i) await turn({});
    for (let i = 0; i < 40; ++i) await turn({ ctrlKey: true, deltaY: -30 });
    for (let i = 0; i < 20; ++i) await turn({});
    // One frame in twenty may be interrupted by whatever else the machine does.
    return times.sort((a, b) => a - b)[Math.floor(0.95 * times.length)];
  })()`);
  check(slowest < 33, `a frame takes ${slowest} ms`);
  console.log(`many: ${count} nodes, drawn after ${ready} ms, frames within ${Math.ceil(slowest)} ms`);

  const loaded = page.requests.filter((url) => !url.startsWith("file://") || !url.split(/[?#]/)[0].endsWith(".html"));
  check(page.faults.length === 0, page.faults.join("\n"));
  check(loaded.length === 0, `loaded ${loaded}`);
  console.log("no fault, and nothing was loaded");
} catch (error) {
  console.log(`${error.message}\n${page.faults.join("\n")}`);
  await keep("failed");
  process.exitCode = 1;
} finally {
  await page.close();
}
