// The value of a move, written on it: a disc of the value's colour, its shape, its number.
import { h, s, still } from "../lib/dom.js";
import { mark, shape } from "../lib/icons.js";

const LARGE = 56,
  CALM = 40; // pixels: a room larger than the one gets a chip of the other
const ROOMY = 15,
  LEGIBLE = 8.5; // radius on the screen, in pixels: for shape and number, for a number alone

const kinds = (entry, best) => `chip ${entry.kind} ${entry.exact ? "exact" : "estimate"}${best ? " best" : ""}`;

/** What a chip says, for those who hear it: what is seen is part of it. */
export function spoken(entry, best) {
  const words = entry.words.includes(entry.short) ? entry.words : `${entry.short}, ${entry.words}`;
  return `${words}, ${entry.exact ? "exact" : "estimate"}${best ? ", best" : ""}`;
}

/** Write a value on a target; the one that was there goes. */
export function writeChip(target, entry, best, svg, view) {
  const old = target.querySelector(":scope > .chip");
  const made = target instanceof SVGElement ? drawn(target, entry, best, svg, view) : written(entry, best);
  if (old) old.replaceWith(made);
  else target.append(made);
  target.classList.add("valued");
  const changed = old?.getAttribute("class") !== made.getAttribute("class");
  if (changed && !still()) made.animate([{ opacity: 0.15 }, { opacity: 1 }], { duration: 200 });
}

const written = (entry, best) =>
  h(
    "span",
    { class: kinds(entry, best) },
    entry.kind === "points" ? null : mark(entry.kind, entry.exact),
    entry.short,
    h("span", { class: "unseen" }, `, ${spoken(entry, best)}`),
  );

function drawn(target, entry, best, svg, view) {
  const scale = svg.getScreenCTM()?.a || 1,
    [x, y, r] = room(target, scale),
    seen = r * scale;
  const node = s("g", { class: kinds(entry, best) }, s("circle", { class: "disc", cx: x, cy: y, r: 0.94 * r }));
  if (entry.strength !== undefined) node.style.setProperty("--strength", entry.strength.toFixed(3));
  const small = seen < ROOMY,
    numbered = seen >= LEGIBLE && (best || !view?.crowded);
  if (numbered) node.append(number(entry.short, x, y + (small ? 0 : 0.22 * r), r, scale));
  if (!numbered) node.append(shape(entry.kind, entry.exact, x, y, 0.5 * r));
  else if (!small)
    node.append(
      view?.glyph?.(Number(target.dataset.action), x, y - 0.5 * r, 0.19 * r) ??
        shape(entry.kind, entry.exact, x, y - 0.47 * r, 0.2 * r),
    );
  return node;
}

function room(target, scale) {
  const [x, y, r] = (target.dataset.at ?? "").split(" ").map(Number);
  if (r) return [x, y, r * scale > LARGE ? CALM / scale : r];
  const box = target.getBBox();
  return [box.x + box.width / 2, box.y + box.height / 2, Math.min(box.width, box.height, (2 * CALM) / scale) / 2];
}

function number(text, x, y, r, scale) {
  const size = Math.min(
    r * [0.9, 0.9, 0.86, 0.7, 0.58, 0.5, 0.44][Math.min(text.length, 6)],
    17 / Math.max(0.5, scale) + 0.25 * r,
  );
  return s("text", { class: "number", x, y: y + 0.35 * size, "font-size": size.toFixed(2) }, text);
}
