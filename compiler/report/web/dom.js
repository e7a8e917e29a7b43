// Elements, and what all views share: tooltips, announcements, keyboard focus that roves.

/** An element: attributes (on... are listeners, `text` is its text), then children. */
function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function makeSvg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") element.textContent = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const find = (id) => document.getElementById(id);

/** The value of a colour of the style sheet. */
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

function announce(text) {
  find("live").textContent = text;
}

function showTip(text, x, y) {
  const tip = find("tip");
  tip.textContent = text;
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - width - 8))}px`;
  tip.style.top = `${y + 18 + height > innerHeight ? Math.max(8, y - height - 10) : y + 18}px`;
}

function hideTip() {
  find("tip").hidden = true;
}

/** A tooltip for the mouse, which says what the element's label says. */
function withTip(element, text) {
  element.addEventListener("pointermove", (event) => showTip(text, event.clientX, event.clientY));
  element.addEventListener("pointerleave", hideTip);
  return element;
}

/** One stop of the tab key for many elements; arrow keys go from one to the next, Home and End to the ends. */
function rove(elements, first = 0) {
  elements.forEach((element, i) => {
    element.setAttribute("tabindex", i === first ? "0" : "-1");
    element.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const to = event.key === "Home" ? 0 : event.key === "End" ? elements.length - 1 : step ? i + step : -1;
      if (to < 0 || to >= elements.length) return;
      event.preventDefault();
      element.setAttribute("tabindex", "-1");
      elements[to].setAttribute("tabindex", "0");
      elements[to].focus();
    });
  });
}

/** Makes an element that is no button act like one. */
function press(element, action) {
  element.addEventListener("click", action);
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    action(event);
  });
  return element;
}

/** Buttons of which one is chosen. */
function makeChoice(label, options, chosen, choose) {
  const box = make("span", { class: "segmented", role: "group", "aria-label": label });
  for (const [value, text] of options) {
    const button = make("button", { type: "button", "aria-pressed": value === chosen, text, "data-value": value });
    button.setAttribute("aria-pressed", String(value === chosen));
    button.addEventListener("click", () => {
      for (const other of box.children) other.setAttribute("aria-pressed", String(other === button));
      choose(value);
    });
    box.append(button);
  }
  return box;
}

/** A table that scrolls by itself. Columns from number `firstNumber` on hold numbers. */
function makeTable(id, head, rows, firstNumber = head.length) {
  const cells = head.map((name, i) => make("th", { scope: "col", class: i >= firstNumber ? "number" : null, text: name }));
  return make(
    "div",
    { class: "scroll" },
    make("table", { id }, make("thead", {}, make("tr", {}, cells)), make("tbody", {}, rows)),
  );
}
