// The legend: what the marks and numbers mean that are on the board now.
import { h, put } from "../lib/dom.js";
import { mark } from "../lib/icons.js";

const KINDS = { win: "wins", draw: "draws", loss: "loses" };
const KEPT = "legend-closed";

/** Return what the number of a value means, by the values that are known. */
function number(info, entries) {
  if (entries.some((entry) => entry.score !== null && entry.score !== undefined))
    return "number: score, the higher the sooner the win or the later the loss";
  if (info.puzzle) return "number: moves to the solution";
  if (info.players === 1) return info.points ? "number: expected points to come" : "number: expected result";
  if (info.points) return "number: margin in points at the end";
  if (entries.some((entry) => entry.mean)) return "number: expected result or share of games won";
  if (entries.some((entry) => entry.exact && entry.distance !== null)) return "number: plies to the end";
  return "";
}

const symbol = (kind, exact, text) => [mark(kind, exact), ` ${text}`];

/** Return the meanings of the marks and numbers of the values that are known. */
export function meanings(page) {
  const { info, line } = page,
    entries = [...(line.node?.values?.values() ?? [])],
    kinds = Object.keys(KINDS).filter((kind) => entries.some((entry) => entry.kind === kind));
  const guessed = entries.some((entry) => !entry.exact),
    sure = entries.some((entry) => entry.exact);
  const found = kinds.map((kind) => symbol(kind, sure, info.puzzle && kind === "win" ? "solves it" : KINDS[kind]));
  if (sure && guessed) found.push(["solid: exact", ", hollow: estimate"]);
  else if (guessed) found.push(["hollow: estimate"]);
  if (entries.length > 1) found.push(["filled disc: best move"]);
  const told = number(info, entries);
  if (told) found.push([told]);
  if (info.players === 2 && entries.length) found.push(["values are for the player to move"]);
  return found;
}

/** A strip below the board that can be folded; whether it is open is remembered. */
export class Legend {
  constructor(page) {
    this.page = page;
    this.list = h("ul", {});
    this.root = h("details", { class: "legend", ontoggle: () => this.keep() }, h("summary", {}, "What the marks mean"), this.list);
    this.root.open = !this.closed();
  }

  show() {
    const found = meanings(this.page),
      text = JSON.stringify(found.map((parts) => parts.at(-1)));
    this.root.hidden = !found.length;
    if (text === this.text) return;
    this.text = text;
    put(this.list, found.map((parts) => h("li", {}, parts)));
  }

  closed() {
    try {
      return localStorage.getItem(KEPT) === "yes";
    } catch {
      return false; // no storage: open
    }
  }

  keep() {
    try {
      localStorage.setItem(KEPT, this.root.open ? "no" : "yes");
    } catch {
      return; // no storage: the strip is open at the next visit
    }
  }
}
