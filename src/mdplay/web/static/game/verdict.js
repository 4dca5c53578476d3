// The verdict: one sentence, how sure it is and whence, the best move, and the line of best play as a sequence.
import { h, put, say } from "../lib/dom.js";
import { mark, piece } from "../lib/icons.js";
import { trouble } from "../lib/question.js";
import { either, moveText } from "../lib/words.js";
import { chips } from "./continuation.js";

const PATIENCE = 700; // ms that an old verdict may stay, pale, before "looking" takes its place
const NAMED = 4; // best moves that are named

export class Verdict {
  constructor(info, { play, point, status, line, hands }) {
    Object.assign(this, { info, play, point, status, line, hands, question: null });
    this.root = h("section", { class: "verdict", "aria-label": "Verdict" });
  }

  /** Show a position's verdict; null is one that is still to come. */
  show(doc, verdict) {
    clearTimeout(this.waiting);
    Object.assign(this, { doc, verdict });
    this.root.classList.remove("stale");
    if (verdict) return this.told();
    if (!this.root.firstChild || this.question?.state === "failed") return this.look();
    this.root.classList.add("stale");
    this.waiting = setTimeout(() => this.look(), PATIENCE);
    return this.noted();
  }

  /** Show how far the question for the verdict is: why it takes long, or why there is no answer. */
  asking(question) {
    this.question = question;
    if (question.state === "failed" && this.doc && !this.verdict) this.look();
    else this.noted();
  }

  noted() {
    const { question } = this;
    for (const old of this.root.querySelectorAll(":scope > :is(.notice, .trouble)")) old.remove();
    if (question?.state === "failed") this.root.append(trouble(question));
    else if (question?.notice) this.root.append(h("p", { class: "notice" }, question.notice));
  }

  look() {
    clearTimeout(this.waiting);
    this.root.classList.remove("stale");
    const failed = this.question?.state === "failed";
    put(
      this.root,
      h("p", { class: "headline waiting" }, this.status(this.doc).replace(/\.$/, "")),
      failed ? null : h("p", { class: "proof" }, h("span", { class: "badge waiting" }, "looking…")),
    );
    this.noted();
  }

  told() {
    const { verdict, info } = this,
      winner = info.players === 2 && side(verdict.height);
    const sure = verdict.exact && !verdict.bound;
    const silent = verdict.over || verdict.value === null; // the game is over, or chance moves
    put(
      this.root,
      h("p", { class: "headline" }, winner && sure ? piece(winner > 0 ? 0 : 1, info.sides) : null, verdict.headline),
      silent ? null : this.proof(),
      silent ? null : this.bestMoves(),
      silent || !verdict.why ? null : h("p", { class: "reason" }, verdict.why),
      this.sequence(),
    );
    this.noted();
    if (sure && !silent && verdict.done && !verdict.line?.length) this.line((found) => this.because(verdict, found));
  }

  /** Show the line of best play below an exact value. */
  because(verdict, found) {
    if (verdict !== this.verdict || !found?.moves.length) return;
    const more = found.plies - found.moves.length;
    this.root.querySelector(".continuation")?.remove();
    this.root.append(chips(found.moves, this.hands, { title: "Best play", more }));
  }

  proof() {
    const { verdict } = this,
      name = verdict.bound ? "Proving" : verdict.exact ? "Exact" : "Estimate";
    return h(
      "p",
      { class: "proof" },
      h(
        "span",
        { class: `badge ${verdict.exact ? "exact" : "estimate"} ${verdict.kind}` },
        verdict.kind === "points" ? null : mark(verdict.kind, verdict.exact),
        name,
      ),
      h("span", { class: "source" }, verdict.source, verdict.done === false ? " …" : ""),
    );
  }

  bestMoves() {
    const { verdict, doc } = this,
      best = [...(verdict.best ?? [])].sort((a, b) => a - b);
    if (!best.length) return null;
    const names = best.slice(0, NAMED).map((action) => doc.legal.find((move) => move.action === action)?.name ?? "");
    return h(
      "p",
      { class: "best-line" },
      verdict.bound ? "Best so far: " : "Best: ",
      h("b", {}, either(names), best.length > NAMED ? " …" : ""),
    );
  }

  /** A win by force, or what a search expects, move by move: each can be pointed at, and the whole of it played. */
  sequence() {
    const { verdict, info } = this,
      line = verdict.line ?? [],
      forced = verdict.exact && verdict.kind === "win";
    if (!line.length || verdict.over) return null;
    const steps = line.map((move, k) =>
      h(
        "li",
        {
          class: forced && k % 2 === 0 ? "threat" : "answer",
          onpointerenter: () => this.point(line, k),
          onpointerleave: () => this.point(line, null),
        },
        moveText(move),
      ),
    );
    return h(
      "div",
      { class: "forced" },
      h("span", { class: "forced-title" }, forced ? `Forced in ${line.length}` : "Likely line"),
      h("ol", {}, steps),
      info.chance
        ? null
        : h("button", { class: "text-button", type: "button", onclick: () => this.play(line) }, "Play it"),
    );
  }

  /** Tell those who listen: who moves, the verdict, what is best. */
  announce(mine) {
    const { doc, verdict } = this,
      best = verdict.best_moves?.slice(0, 3).join(", ");
    const sure = verdict.over || verdict.value === null ? "" : verdict.exact ? ", exact" : ", estimate";
    say(`${this.status(doc)} ${verdict.headline}${sure}.${mine && best ? ` Best: ${best}.` : ""}`);
  }
}

const side = (height) => Math.sign(Math.round((height ?? 0) * 1e6));
