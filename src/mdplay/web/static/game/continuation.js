// Lines of play: moves as chips that preview their position on the board and lead there when they are clicked.
import { h, put } from "../lib/dom.js";
import { get, stream } from "../lib/api.js";
import { moveText } from "../lib/words.js";

const SHOWN = 12; // moves of a line that are shown
const POINTED = 120; // ms for which a chip must be pointed at before its position is shown

/** Chips for the moves of a line; `first` is the number of plies before it. */
export function chips(moves, { preview, play }, { title, more = 0 } = {}) {
  const shown = moves.slice(0, SHOWN),
    rest = moves.length - shown.length + more;
  const chip = (move, k) => {
    const line = moves.slice(0, k + 1);
    return h(
      "li",
      {},
      h(
        "button",
        {
          type: "button",
          class: "ply-chip",
          onclick: () => play(line),
          onpointerenter: () => preview(line),
          onpointerleave: () => preview(null),
          onfocus: () => preview(line),
          onblur: () => preview(null),
        },
        moveText(move),
      ),
    );
  };
  return h(
    "div",
    { class: "continuation" },
    title ? h("span", { class: "continuation-title" }, title) : null,
    h("ol", {}, shown.map(chip)),
    rest > 0 ? h("span", { class: "rest" }, `… ${rest} more`) : null,
  );
}

/** Asks for the lines of best play of a position, each once. */
export class Lines {
  constructor(page) {
    Object.assign(this, { page, asked: null });
  }

  /** Fetch the best line, or that after an action; `told` gets it, or null if there is none. */
  ask(node, action, told) {
    node.lines ??= new Map();
    const key = action ?? "best";
    if (node.lines.has(key)) return told(node.lines.get(key));
    const { line, opponent } = this.page,
      at = line.nodes.indexOf(node);
    if (at < 0) return told(null);
    this.stop();
    this.asked = stream(
      `${line.path}/line`,
      { ...line.question(at), opponent, action },
      {
        line: (found) => {
          node.lines.set(key, found);
          told(found);
        },
        failed: () => told(null),
      },
    );
    return undefined;
  }

  stop() {
    this.asked?.stop();
    this.asked = null;
  }
}

/** Shows later positions over the board while a move of a line is pointed at. */
export class Preview {
  constructor(page) {
    Object.assign(this, { page, known: new Map() });
  }

  /** Show the position after some moves; null shows the position of the game again. */
  show(moves) {
    clearTimeout(this.waiting);
    this.wanted = moves?.join(",") ?? null;
    if (!moves) return this.page.board.preview(null);
    this.waiting = setTimeout(() => this.fetch(this.wanted), POINTED);
    return undefined;
  }

  async fetch(wanted) {
    const { line, info } = this.page,
      asked = line.question();
    if (info.chance) return;
    const moves = [asked.moves, wanted].filter(Boolean).join(","),
      key = `${asked.params} ${asked.from ?? ""} ${moves}`;
    const doc = this.known.get(key) ?? (await get(`${line.path}/position`, { ...asked, moves }).catch(() => null));
    if (!doc) return;
    this.known.set(key, doc);
    if (this.wanted === wanted) this.page.board.preview(doc);
  }
}

/** Fill the row below a move of the list with its continuation. */
export function continuation(place, found, move, hands) {
  const later = found?.moves ?? [move];
  if (later.length < 2) return put(place, h("span", { class: "rest" }, found?.over ? "The game ends." : "No line is known."));
  return put(place, chips(later, hands, { more: (found.plies ?? 0) - later.length }));
}
