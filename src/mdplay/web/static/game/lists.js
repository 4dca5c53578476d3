// Two lists beside the board: the moves of the game, mistakes marked; and every legal move with its value as text.
import { h, renew } from "../lib/dom.js";
import { mark } from "../lib/icons.js";
import { moveText } from "../lib/words.js";
import { continuation } from "./continuation.js";

const SHOWN = 7,
  PLIES = 300;

export class MoveList {
  constructor(info, go) {
    Object.assign(this, { info, go });
    this.root = h("div", { class: "moves", role: "group", "aria-label": "Moves of the game", tabIndex: 0 });
  }

  show(line) {
    const first = Math.max(1, line.nodes.length - PLIES);
    const items = line.nodes.slice(first).map((node, k) => this.ply(line, node, first + k));
    renew(
      this.root,
      items.length ? items : h("span", { class: "empty" }, "No move yet. Click the board, or type a move."),
    );
    const here = this.root.querySelector(".here");
    if (here) this.root.scrollTop = here.offsetTop - this.root.offsetTop - 60; // never the page itself
  }

  ply(line, node, i) {
    const alone = this.info.players === 1,
      numbered = alone || i % 2 === 1,
      by = line.mover(i) ? "second" : "first";
    return h(
      "button",
      {
        class: `ply${i === line.at ? " here" : ""}`,
        type: "button",
        "data-key": i,
        "aria-current": i === line.at ? "step" : null,
        onclick: () => this.go(i),
      },
      h("span", { class: "unseen" }, `Move ${i}: `),
      numbered ? h("span", { class: "no", "aria-hidden": "true" }, alone ? i : (i + 1) / 2) : null,
      alone ? null : h("span", { class: `by ${by}` }),
      moveText(node.move),
      node.slip
        ? [
            h("span", { class: "slip", "aria-hidden": "true" }, node.slip),
            h("span", { class: "unseen" }, ", a mistake"),
          ]
        : null,
    );
  }
}

export class EveryMove {
  constructor(choose, { line, hands }) {
    Object.assign(this, { choose, line, hands, all: false, open: null });
    this.root = h("div", { role: "group", "aria-label": "Moves and their values", tabIndex: -1 });
  }

  show(node) {
    if (node !== this.node) this.open = null;
    this.node = node;
    const best = node.verdict?.best ?? [],
      entries = ordered(node, best),
      shown = this.all ? entries : entries.slice(0, SHOWN);
    const more = h(
      "button",
      {
        class: "link more",
        type: "button",
        "data-key": "more",
        onclick: () => {
          this.all = !this.all;
          this.show(this.node);
        },
      },
      this.all ? "fewer" : `${entries.length - SHOWN} more`,
    );
    renew(
      this.root,
      h(
        "table",
        { class: "all" },
        h("caption", { class: "unseen" }, "Every legal move and its value"),
        h(
          "tbody",
          {},
          shown.map((entry) => [
            this.row(entry, best.includes(entry.action)),
            this.open === entry.action ? this.below(entry) : null,
          ]),
        ),
      ),
      entries.length > SHOWN ? more : null,
    );
  }

  /** A button that shows how the game goes on after a move. */
  opener(entry, move) {
    const open = this.open === entry.action;
    return h(
      "button",
      {
        class: "link opener",
        type: "button",
        "data-key": `line ${entry.action}`,
        "aria-expanded": String(open),
        "aria-label": `Continuation after ${move}`,
        title: "How the game goes on",
        onclick: () => {
          this.open = open ? null : entry.action;
          this.show(this.node);
        },
      },
      open ? "▾" : "▸",
    );
  }

  /** The row with the continuation after a move. */
  below(entry) {
    const { node } = this,
      place = h("td", { colSpan: 3, "aria-live": "polite" }, h("span", { class: "rest" }, "…"));
    this.line(node, entry.action, (found) => {
      if (node === this.node) continuation(place, found, entry.move, this.hands);
    });
    return h("tr", { class: "below" }, place);
  }

  row(entry, best) {
    const move = this.node.doc?.legal.find((one) => one.action === entry.action)?.move ?? entry.move;
    return h(
      "tr",
      {
        class: best ? "best" : "",
        onpointerenter: () => this.hands.preview([move]),
        onpointerleave: () => this.hands.preview(null),
      },
      h(
        "th",
        { scope: "row" },
        h(
          "button",
          { class: "link", type: "button", "data-key": entry.action, onclick: () => this.choose(entry.action) },
          moveText(move),
        ),
      ),
      h("td", { class: "told" }, entry.words, entry.exact ? this.opener(entry, move) : null),
      h(
        "td",
        { class: `num val ${entry.kind}` },
        entry.kind === "points" ? null : mark(entry.kind, entry.exact),
        entry.short,
      ),
    );
  }
}

/** The best first; then by score, or by value and how soon. */
function ordered(node, best) {
  const late = (entry) => (entry.distance ?? 0) * Math.sign(entry.value);
  const rank = (entry) =>
    (best.includes(entry.action) ? 1e12 : 0) +
    (entry.score ?? (entry.kind === "points" ? entry.value : 1e4 * entry.value - late(entry)));
  return [...(node.values?.values() ?? [])].sort((a, b) => rank(b) - rank(a) || a.action - b.action);
}
