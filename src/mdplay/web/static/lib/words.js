// Numbers and lists as people write them.

const ARROWS = { left: "←", right: "→", up: "↑", down: "↓" };

/** A move as it is shown: directions are arrows. */
export const moveText = (move) => ARROWS[move] ?? move;

export const grouped = (x) => Math.round(x).toLocaleString("en");

/** A large number in little room. */
export function compact(x) {
  if (x >= 1e6) return `${(x / 1e6).toFixed(2)} M`;
  return x >= 1e4 ? `${Math.round(x / 1e3)} k` : grouped(x);
}

/** A number as the server sends it: those that JSON cannot hold come as texts. */
export const number = (x) => ({ inf: Infinity, "-inf": -Infinity, nan: NaN })[x] ?? Number(x);

/** A number with the given number of decimals, a true minus, and ∞. */
export function fixed(x, digits) {
  const text = Number.isFinite(x) ? x.toFixed(digits) : Number.isNaN(x) ? "–" : x > 0 ? "∞" : "-∞";
  return text.replace("-", "−");
}

/** A measured number: four digits that mean something, a true minus. */
export function figure(given) {
  const x = number(given);
  if (!Number.isFinite(x)) return fixed(x, 0);
  const size = Math.abs(x);
  const far = size >= 1e7 || (size > 0 && size < 1e-3);
  const text = far ? x.toExponential(2) : Number(x.toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 7 });
  return text.replaceAll("-", "−");
}

/** "column 2, 5 or 6": names that begin alike say it once. */
export function either(names) {
  const first = names[0]?.split(" ")[0];
  const alike = names.every((name) => name.includes(" ") && name.split(" ")[0] === first);
  const said = alike ? names.map((name, i) => (i ? name.slice(first.length + 1) : name)) : names;
  return said.length > 1 ? `${said.slice(0, -1).join(", ")} or ${said.at(-1)}` : (said[0] ?? "");
}

export const capital = (text) => (text ? text[0].toUpperCase() + text.slice(1) : "");
