// The end of a game: how well each side played, where the result changed, and how to go on.
import { h, picture, put, say } from "../lib/dom.js";
import { moveText } from "../lib/words.js";

const MOMENTS = 3; // mistakes that are shown
const RESULTS = { 1: "win", 0: "draw", "-1": "loss" };
const sideOf = (height) => Math.sign(Math.round((height ?? 0) * 1e6));

export class Report {
  constructor(page) {
    Object.assign(this, { page, trial: null });
    this.root = h("section", { class: "part review", "aria-label": "Report", hidden: true });
  }

  /** Show the report if the game that is shown is over; its numbers grow while earlier positions are evaluated. */
  show() {
    const { line, info } = this.page,
      over = line.doc?.over && line.at === line.end && line.end > 0;
    if (this.trial || this.kept) return;
    this.root.hidden = !over;
    if (!over) return;
    const plies = this.plies(),
      text = JSON.stringify([plies, line.moves()]);
    if (text === this.text) return;
    this.text = text;
    const rated = info.players === 2 && !info.chance && plies.length > 0;
    put(
      this.root,
      h("div", { class: "row" }, h("h2", {}, "Report")),
      rated ? this.accuracy(plies) : null,
      rated ? this.moments(plies) : null,
      this.next(),
    );
  }

  /** The moves between two positions whose exact values are known: who moved, and what it changed for that player. */
  plies() {
    const { line } = this.page,
      sure = (verdict) => verdict?.exact && !verdict.bound && !verdict.mean;
    return line.nodes.slice(1).flatMap((node, k) => {
      const before = line.nodes[k].verdict;
      if (!sure(before) || !sure(node.verdict)) return [];
      const mover = line.mover(k + 1),
        sign = mover ? -1 : 1;
      return [{ ply: k + 1, mover, from: sideOf(before.height * sign), to: sideOf(node.verdict.height * sign) }];
    });
  }

  accuracy(plies) {
    const { line, info } = this.page,
      sides = info.sides.map((name, player) => {
        const own = plies.filter((one) => one.mover === player),
          kept = own.filter((one) => one.to >= one.from);
        return own.length ? `${name} kept the value in ${kept.length} of ${own.length} moves` : null;
      });
    const open = line.end - plies.length;
    const rest = open ? ` ${open} of ${line.end} moves are not evaluated exactly.` : "";
    return h("p", { class: "accuracy" }, `${sides.filter(Boolean).join("; ")}.${rest}`);
  }

  /** The first moves that gave the most away, as small boards to try again from. */
  moments(plies) {
    const lost = plies.filter((one) => one.to < one.from).sort((a, b) => b.from - b.to - (a.from - a.to) || a.ply - b.ply);
    if (!lost.length) return h("p", { class: "rest" }, "No move changed the result.");
    return h(
      "ol",
      { class: "moments" },
      lost.slice(0, MOMENTS).map((one) => this.moment(one)),
    );
  }

  moment({ ply, mover, from, to }) {
    const { line, info } = this.page,
      board = h("div", { class: "small-board", "aria-hidden": "true" });
    line.document(ply - 1).then((doc) => put(board, picture(doc.svg))).catch(() => board.remove());
    const move = moveText(line.nodes[ply].move);
    return h(
      "li",
      {},
      board,
      h("p", {}, `Move ${ply}: ${info.sides[mover]} played ${move}, a ${RESULTS[to]} instead of a ${RESULTS[from]}.`),
      h("button", { class: "quiet small filled", type: "button", onclick: () => this.retry(ply, from) }, "Find a better move"),
    );
  }

  /** Let the player find a move that keeps the value; values are hidden until one is played. */
  async retry(ply, from) {
    const { page } = this;
    this.kept ??= { params: page.line.params, from: page.line.start, moves: page.line.moves().join(",") };
    if (page.showing) page.toggleValues();
    page.players.hold();
    await page.go(ply - 1);
    const { player } = page.line.doc;
    this.trial = { at: ply, player, from };
    this.tell(`Find a move for ${page.info.sides[player]} that is better than the one played.`, ply, from);
  }

  /** Say whether the move that was tried keeps the value; called when the value of a position is known. */
  judge(node) {
    const { page, trial } = this;
    if (!trial || page.line.at !== trial.at || node !== page.line.node || !node.verdict?.exact || !node.verdict.done) return;
    const to = sideOf(node.verdict.height * (trial.player ? -1 : 1)),
      right = to >= trial.from;
    this.trial = null;
    if (!page.showing) page.toggleValues();
    this.tell(right ? `Right: a ${RESULTS[to]}.` : `Not yet: a ${RESULTS[to]} instead of a ${RESULTS[trial.from]}.`, trial.at, trial.from, right);
  }

  /** Show a sentence on the trial, and the ways on. */
  tell(sentence, ply, from, right = true) {
    const button = (text, act) => h("button", { class: "quiet small filled", type: "button", onclick: act }, text);
    const back = () => {
      const { kept } = this;
      Object.assign(this, { trial: null, kept: null, text: "" });
      this.page.begin(kept);
    };
    say(sentence);
    put(
      this.root,
      h("p", { class: "accuracy" }, sentence),
      h("div", { class: "with" }, right ? null : button("Try again", () => this.retry(ply, from)), button("Back to the game", back)),
    );
  }

  next() {
    const { page } = this,
      again = () => page.begin({ params: page.line.params, from: page.line.start });
    const button = (text, act) => h("button", { class: "quiet small filled", type: "button", onclick: act }, text);
    const swap = () => {
      page.players.seats.reverse();
      again();
    };
    return h(
      "div",
      { class: "with" },
      button("Play again", again),
      page.info.players === 2 && page.players.anyAgent ? button("Play the other side", swap) : null,
      this.harder(again),
    );
  }

  /** A button for the next setting of the agent, if it has a stronger one. */
  harder(again) {
    const { players } = this.page,
      seat = players.seats.find((one) => players.agent(one)?.setting);
    const stronger = seat && players.agent(seat).setting.values.find((value) => value > seat.setting);
    if (!stronger) return null;
    const act = () => {
      seat.setting = stronger;
      again();
    };
    return h("button", { class: "quiet small filled", type: "button", onclick: act }, "Stronger opponent");
  }
}
