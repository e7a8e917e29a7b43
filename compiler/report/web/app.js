// The page: tabs, the compile that is shown, what is selected, and colours.

const views = [
  ["overview", "Overview", showOverview, () => ""],
  ["graph", "Graph", showGraph, () => ""],
  ["kernels", "Kernels", showKernels, (compile) => compile.launches.length],
  ["memory", "Memory", showMemory, () => ""],
  ["roofline", "Roofline", showRoofline, () => ""],
  ["weights", "Weights", showWeights, (compile) => compile.weights.length],
  ["decisions", "Decisions", showDecisions, (compile) => compile.raw.composites.length],
  ["ranges", "Value ranges", showRanges, (compile) => compile.report.ranges.length],
  ["compare", "Compare", showCompare, () => ""],
];

const themes = [
  ["", "Auto", "as the system says"],
  ["light", "Light", "light"],
  ["dark", "Dark", "dark"],
];

/** Fills the page. */
function start() {
  const data = JSON.parse(find("kiln-report").textContent);
  const { own, all } = readCompiles(data);
  const state = {
    data,
    own,
    all,
    compile: own[0],
    tab: "overview",
    selected: null,
    query: "",
    graphKind: "kernels",
    sort: null,
    close: null,
    // What the view that is open does when these change.
    onSelect: null,
    onQuery: null,
    onStyle: null,
    select: (launch, focuses) => selectLaunch(state, launch, focuses),
    open: (tab) => openTab(state, tab),
  };
  find("title").textContent = data.model.name;
  document.title = `${data.model.name} - Kiln report`;
  makeCompileChoice(state);
  makeTabs(state);
  makeTheme(state);
  const search = find("search");
  search.addEventListener("input", () => {
    state.query = search.value.trim();
    state.onQuery?.();
  });
  addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "")) {
      event.preventDefault();
      search.focus();
    }
  });
  addEventListener("hashchange", () => openHash(state));
  openHash(state);
  // After the first picture.
  requestAnimationFrame(() => setTimeout(() => (document.documentElement.dataset.ready = performance.now().toFixed(0))));
}

/** #TAB or #TAB/NUMBER of a kernel. */
function openHash(state) {
  const [tab, number] = location.hash.slice(1).split("/");
  openTab(state, views.some(([name]) => name === tab) ? tab : "overview");
  const launch = state.compile.launches[Number(number) - 1];
  if (launch) state.select(launch, false);
}

function makeCompileChoice(state) {
  const choice = find("compile");
  state.all.forEach((compile, i) => choice.append(make("option", { value: i, text: compile.label })));
  find("compile-field").hidden = state.all.length < 2;
  choice.addEventListener("change", () => {
    state.compile = state.all[choice.value];
    state.selected = null;
    showDetails(state, null);
    makeTabs(state);
    openTab(state, state.tab);
  });
}

function makeTabs(state) {
  const tabs = views.map(([name, title, , number]) => {
    const extent = number(state.compile);
    return make(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${name}`,
        "aria-controls": "view",
        "aria-selected": "false",
        onclick: () => openTab(state, name),
        onfocus: (event) => event.target.matches(":focus-visible") && openTab(state, name),
      },
      title,
      extent === "" ? null : make("span", { class: "count", text: extent.toLocaleString("en") }),
    );
  });
  find("tabs").replaceChildren(...tabs);
  rove(
    tabs,
    Math.max(
      0,
      views.findIndex(([name]) => name === state.tab),
    ),
  );
}

function openTab(state, name) {
  if (state.tab === name && find("view")?.dataset.of === name && state.shown === state.compile) return;
  state.close?.();
  Object.assign(state, { tab: name, shown: state.compile, close: null, onSelect: null, onQuery: null, onStyle: null });
  hideTip();
  for (const [other] of views) {
    find(`tab-${other}`).setAttribute("aria-selected", String(other === name));
    find(`tab-${other}`).setAttribute("tabindex", other === name ? "0" : "-1");
  }
  const box = make("section", { class: "view", id: "view", role: "tabpanel", "aria-labelledby": `tab-${name}`, "data-of": name });
  find("views").replaceChildren(box);
  find("views").scrollTop = 0;
  const [, , show] = views.find(([other]) => other === name);
  state.close = show(state, box) ?? null;
  if (state.query) state.onQuery?.();
  const hash = `#${name}${state.selected ? `/${state.selected.index + 1}` : ""}`;
  if (location.hash.split("/")[0] !== `#${name}`) history.replaceState(null, "", hash);
}

function selectLaunch(state, launch, focuses) {
  const wasHere = find("views").contains(document.activeElement) && document.activeElement?.tagName === "CANVAS";
  const isNew = state.selected !== launch;
  state.selected = launch;
  if (isNew) {
    showDetails(state, launch);
    state.onSelect?.(launch, wasHere);
    history.replaceState(null, "", `#${state.tab}${launch ? `/${launch.index + 1}` : ""}`);
  }
  if (focuses && launch) find("details").focus();
}

/** The system's colours, or one of both. */
function makeTheme(state) {
  const button = find("theme"),
    system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = 0;
  const apply = () => {
    const [name, text, words] = themes[chosen];
    document.documentElement.dataset.theme = name || (system.matches ? "dark" : "light");
    button.textContent = `Colours: ${text}`;
    button.setAttribute("aria-label", `Colours: ${words}`);
    state.onStyle?.();
  };
  button.addEventListener("click", () => {
    chosen = (chosen + 1) % themes.length;
    apply();
  });
  system.addEventListener("change", apply);
  apply();
}
