// Live tree search: how many simulations, the visits of each move, the best line; and the tree, opened node by node.
import { h, put, toast } from "../lib/dom.js";
import { Question, trouble } from "../lib/question.js";
import { icon, mark } from "../lib/icons.js";
import { compact, figure, moveText } from "../lib/words.js";

const SECONDS = 60,
  ROWS = 7,
  CHILDREN = 6,
  EVEN = 0.1;

export class Search {
  constructor(page) {
    this.page = page;
    this.question = new Question(() => this.asked());
    this.button = h("button", { class: "solid small", type: "button", id: "search", onclick: () => this.toggle() });
    this.body = h("div", { class: "search-body" });
    this.tree = h("div", { class: "tree" });
    this.root = h(
      "details",
      { class: "fold" },
      h(
        "summary",
        {},
        h("h2", {}, "Tree search"),
        h("span", { class: "aside-text" }, "watch MCTS think"),
      ),
      this.button,
      this.body,
      this.tree,
    );
    this.label(false);
  }

  label(on) {
    put(this.button, icon(on ? "stop" : "play"), on ? "Stop" : "Search this position");
    this.button.title = `${on ? "Stop" : "Search"} (S)`;
  }

  /** Leave the search, and its tree: the position has changed.  Agents' last thoughts may stay for the eye. */
  leave(keep = false) {
    this.question.stop();
    this.grown = null;
    put(this.tree);
    if (!keep) put(this.body);
    this.body.querySelector(".thinking")?.remove();
  }

  /** Show how far the search is: the button, why it takes long, or why it failed. */
  asked() {
    const { question } = this;
    this.label(question.running);
    if (question.state === "failed") put(this.body, trouble(question));
    else if (question.notice) put(this.body, h("p", { class: "notice" }, question.notice));
  }

  toggle() {
    if (this.question.running) {
      this.question.stop();
      this.offerTree();
      return;
    }
    const { line } = this.page;
    if (line.doc.over) {
      toast("The game is over");
      return;
    }
    this.root.open = true;
    this.grown = null;
    put(this.tree);
    put(this.body);
    this.question.ask(
      `${line.path}/search`,
      { ...line.question(), seconds: SECONDS },
      {
        stats: (statistics) => {
          this.grown = statistics.tree ?? this.grown;
          this.show(statistics, "");
        },
        end: () => this.offerTree(),
      },
    );
  }

  show(statistics, title) {
    const moves = [...statistics.moves].sort((a, b) => b.visits - a.visits).slice(0, ROWS),
      most = Math.max(...moves.map((move) => move.share), 1e-9);
    put(
      this.body,
      h(
        "p",
        { class: "figures" },
        title ? h("span", { class: "thinking" }, title) : null,
        count(compact(statistics.simulations), statistics.simulations === 1 ? "simulation" : "simulations"),
        count(compact(statistics.per_second), "per second"),
        count(compact(statistics.nodes), "nodes"),
        statistics.proven ? count("proven", "") : null,
      ),
      h(
        "table",
        { class: "bars" },
        h("caption", { class: "unseen" }, "Visits and values of the moves"),
        h(
          "tbody",
          {},
          moves.map((move) => bar(move, move.share / most)),
        ),
      ),
      h("p", { class: "pv" }, h("span", { class: "no" }, "best line "), statistics.line.map(moveText).join(" ")),
    );
  }

  // -------------------------------------------------------------- the tree

  /** Offer the tree as it is now: its most visited nodes, to be opened one by one. */
  offerTree() {
    if (this.grown) put(this.tree, h("h3", {}, "The tree"), this.branch(this.grown));
  }

  branch(node) {
    const shown = node.children.slice(0, CHILDREN);
    return h(
      "ul",
      { class: "branch" },
      shown.length
        ? shown.map((child) => this.twig(child, child.visits / node.visits))
        : h("li", { class: "leaf" }, "not expanded"),
    );
  }

  /** A move of the tree: a button that opens what lies below it. */
  twig(node, portion) {
    const kind = kindOf(node),
      share = h("span", { class: `share ${kind}` });
    share.style.width = `${Math.max(2, Math.round(54 * portion))}px`;
    const button = h(
      "button",
      { class: "twig", type: "button", "aria-expanded": "false", onclick: () => this.open(button, node) },
      icon("down"),
      h("b", {}, moveText(node.move)),
      share,
      h("span", { class: "visits" }, compact(node.visits)),
      h("span", { class: `val ${kind}` }, mark(kind, node.proven), this.worth(node)),
    );
    return h("li", {}, button);
  }

  open(button, node) {
    const below = button.parentNode.querySelector(":scope > .branch");
    button.setAttribute("aria-expanded", String(!below));
    if (below) below.remove();
    else button.after(this.branch(node));
  }

  /** A node's value for the player who moved there: a share of wins, or points. */
  worth({ value, proven }) {
    if (this.page.info.points || (this.page.info.players === 1 && !this.page.info.puzzle)) return figure(Math.round(10 * value) / 10);
    return proven
      ? { win: "+1", draw: "=", loss: "−1" }[kindOf({ value, proven })]
      : `${Math.round(50 * (value + 1))}%`;
  }
}

/** An estimate near nothing is even. */
function kindOf({ value, proven }) {
  const edge = proven ? 1e-9 : EVEN;
  return value > edge ? "win" : value < -edge ? "loss" : "draw";
}

const count = (number, word) => h("span", { class: "figure" }, h("b", {}, number), word ? ` ${word}` : "");

function bar(move, share) {
  const width = h("span", { class: `share ${move.kind}` });
  width.style.width = `${(100 * share).toFixed(1)}%`;
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, moveText(move.move)),
    h("td", { class: "track" }, width),
    h("td", { class: "num" }, compact(move.visits)),
    h(
      "td",
      { class: `num val ${move.kind}` },
      move.kind === "points" ? null : mark(move.kind, move.exact),
      move.short,
    ),
  );
}
