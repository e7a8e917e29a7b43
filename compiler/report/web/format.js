// Numbers and names as text.

const steps = ["", "k", "M", "G", "T", "P"];

/** Three digits and a unit: 1.23 MB. */
function scaled(value, unit) {
  if (value === null || value === undefined || value < 0 || !Number.isFinite(value)) return "not known";
  let step = 0;
  while (value >= 999.5 && step + 1 < steps.length) {
    value /= 1000;
    ++step;
  }
  const digits = value >= 100 || (step === 0 && Number.isInteger(value)) ? 0 : value >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${steps[step]}${unit}`.trim();
}

const bytesText = (value) => scaled(value, "B");
const workText = (value) => scaled(value, "op");

function timeText(milliseconds) {
  if (milliseconds === undefined || milliseconds === null) return "";
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(2)} s`;
  return milliseconds >= 1 ? `${milliseconds.toPrecision(4)} ms` : `${(milliseconds * 1000).toPrecision(3)} us`;
}

function percentText(part) {
  if (!Number.isFinite(part)) return "";
  return part >= 0.0995 ? `${(100 * part).toFixed(0)} %` : part >= 0.001 ? `${(100 * part).toFixed(1)} %` : part > 0 ? "< 0.1 %" : "0 %";
}

function numberText(value) {
  if (value === null || value === undefined) return "";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-3)) return value.toExponential(2);
  return String(Number(value.toPrecision(6)));
}

const count = (number, word, many = `${word}s`) => `${number.toLocaleString("en")} ${number === 1 ? word : many}`;

/** The name of a node without its operator, which other columns have. */
const bareName = (name) => name.replace(/\([^()]*\)$/, "");

function shorten(text, length) {
  return text.length <= length ? text : `${text.slice(0, length - 1)}\u2026`;
}

const cppWords = new Set(
  (
    "alignas auto bool break case char const constexpr continue do double else extern false float for if inline int int8_t int16_t int32_t " +
    "int64_t namespace nullptr reinterpret_cast return short signed sizeof size_t static static_cast struct switch template true typename uint8_t uint16_t uint32_t " +
    "uint64_t unsigned using void while"
  ).split(" "),
);

/** C++ as elements: comments, words of the language, vector types and numbers have colours. */
function highlight(text) {
  const pieces = [];
  const pattern = /(\/\/[^\n]*)|("(?:[^"\\\n]|\\.)*")|\b(\d[\w.+]*)|\b([A-Za-z_]\w*)/g;
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    const kind =
      match[1] || match[2] ? "c" : match[3] ? "n" : cppWords.has(match[4]) ? "k" : /^[fiu](8|16|32|64)x\d+$/.test(match[4]) ? "t" : "";
    if (!kind) continue;
    pieces.push(text.slice(at, match.index), make("span", { class: kind, text: match[0] }));
    at = match.index + match[0].length;
  }
  pieces.push(text.slice(at));
  return pieces;
}
