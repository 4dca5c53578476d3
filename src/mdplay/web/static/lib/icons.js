// Line icons, and the shapes that stand for values: up wins, down loses, round is even; hollow is an estimate.
import { s } from "./dom.js";

const PATHS = {
  first: "M6 5v14M19 6l-9 6 9 6z",
  back: "M15.5 5l-8 7 8 7",
  forward: "M8.5 5l8 7-8 7",
  last: "M18 5v14M5 6l9 6-9 6z",
  hint: "M9.2 18h5.6M10.2 21h3.6M12 3a6 6 0 0 0-3.7 10.7c.8.7 1.2 1.4 1.2 2.3h5c0-.9.4-1.6 1.2-2.3A6 6 0 0 0 12 3z",
  eye: "M2.5 12S6 5.6 12 5.6 21.5 12 21.5 12 18 18.4 12 18.4 2.5 12 2.5 12zM12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6z",
  play: "M8 5l11 7-11 7z",
  pause: "M8.5 5v14M15.5 5v14",
  stop: "M7 7h10v10H7z",
  plus: "M12 5v14M5 12h14",
  book: "M12 6.5C10 5 7 4.6 4 5v13c3-.4 6 0 8 1.5 2-1.5 5-1.9 8-1.5V5c-3-.4-6 0-8 1.5zM12 6.5v13",
  share: "M12 15V4M8 8l4-4 4 4M6 12v7h12v-7",
  theme: "M20 14.4A8 8 0 1 1 9.6 4 6.5 6.5 0 0 0 20 14.4z",
  help: "M9.2 9.2a2.9 2.9 0 1 1 4.2 2.6c-.9.5-1.4 1.1-1.4 2.2M12 17.6v.1",
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6L6 18",
  down: "M6 9l6 6 6-6",
};

export const icon = (name) =>
  s("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, s("path", { d: PATHS[name] }));

/** Draw the shape of a value around a point. */
export function shape(kind, exact, x = 6, y = 6, r = 5) {
  const given = { class: `shape ${exact ? "full" : "hollow"}` };
  const up = kind === "loss" ? -1 : 1;
  if (kind !== "win" && kind !== "loss") return s("circle", { ...given, cx: x, cy: y, r: 0.84 * r });
  return s("path", {
    ...given,
    d: `M${x} ${y - up * 1.06 * r}L${x + 1.06 * r} ${y + up * 0.86 * r}H${x - 1.06 * r}Z`,
  });
}

/** The shape as a small picture beside words. */
export const mark = (kind, exact) =>
  s("svg", { class: `mark ${kind}`, viewBox: "-1 -1 14 14", "aria-hidden": "true" }, shape(kind, exact));

/** A player's piece: the second one's has a groove, so that colour is not all that tells. */
export function piece(player, sides) {
  const parts = sides?.[0] === "X" ? strokes(player) : disc(player);
  return s("svg", { class: "piece", viewBox: "0 0 20 20", "aria-hidden": "true" }, parts);
}

const strokes = (player) =>
  player
    ? s("circle", { class: "second thin", cx: 10, cy: 10, r: 6.6 })
    : s("path", { class: "first thin", d: "M4 4l12 12M16 4L4 16" });

const disc = (player) => [
  s("circle", { class: player ? "second" : "first", cx: 10, cy: 10, r: 9 }),
  player ? s("circle", { class: "groove", cx: 10, cy: 10, r: 5.4 }) : null,
];
