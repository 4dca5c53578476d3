// A game on the page: what happens when somebody moves, and what is asked of the server then.
import { h, keepForNow, keptForNow, say, sayFirst, toast } from "../lib/dom.js";
import { stream } from "../lib/api.js";
import { Question } from "../lib/question.js";
import { capital } from "../lib/words.js";
import { Board } from "./board.js";
import { Lines, Preview } from "./continuation.js";
import { panel, toolbar } from "./frame.js";
import { Graph } from "./graph.js";
import { keys } from "./keys.js";
import { Legend } from "./legend.js";
import { Line } from "./line.js";
import { EveryMove, MoveList } from "./lists.js";
import { Players } from "./players.js";
import { Report } from "./report.js";
import { Search } from "./search.js";
import { Training } from "./training.js";
import { Verdict } from "./verdict.js";

const VIEWS = {
  cube: () => import("./views/cube.js"),
  tiles: () => import("./views/tiles.js"),
};
const WAITING = 3; // moves of quick fingers that wait while one is on its way

/** Open a game's page; a view of its own is loaded with it. */
export async function openGame(main, info, theme) {
  const view = await VIEWS[info.view]?.();
  const page = new GamePage(main, info, theme, view?.default);
  window.mdplay = page; // for the curious, and for tests
  await page.open();
}

class GamePage {
  constructor(main, info, theme, View) {
    const query = new URLSearchParams(location.search);
    Object.assign(this, { main, info, theme, query, brief: null, waiting: [], busy: false, showing: true });
    this.opponent = query.get("against") === "random" && info.opponents?.includes("uniform") ? "uniform" : "perfect";
    this.values = new Question(() => this.asked());
    this.line = new Line(info);
    this.players = new Players(this, query);
    this.lines = new Lines(this);
    this.preview = new Preview(this);
    const hands = { preview: (moves) => this.preview.show(moves), play: (moves) => this.playLine(moves) };
    this.verdict = new Verdict(info, {
      hands,
      line: (told) => this.lines.ask(this.line.node, undefined, told),
      play: (line) => this.playLine(line),
      point: (line, k) => this.view?.point?.(line, k),
      status: (doc) => this.players.status(doc),
    });
    this.graph = new Graph(info, (i) => this.go(i));
    this.moves = new MoveList(info, (i) => this.go(i));
    this.every = new EveryMove((action) => this.choose(action), {
      hands,
      line: (node, action, told) => this.lines.ask(node, action, told),
    });
    this.legend = new Legend(this);
    this.report = new Report(this);
    this.search = new Search(this);
    this.training = new Training(info, () => this.again());
    this.layout(View);
    keys(this, theme);
  }

  // -------------------------------------------------------------- layout

  layout(View) {
    const stage = h("div", { class: "stage" });
    this.words = h("p", { class: "words" });
    this.view = View ? new View(stage, { push: (way) => this.push(way), redraw: () => this.draw() }) : null;
    this.board = new Board(stage, this.view, {
      choose: (action) => this.choose(action),
      point: (action) => this.explain(action),
    });
    this.main.className = `play view-${this.info.view ?? "svg"}${this.info.sides[0] === "White" ? " white-and-black" : ""}`;
    this.main.replaceChildren(
      h(
        "div",
        { class: "table" },
        this.players.root,
        this.players.trouble,
        h("div", { class: "frame" }, this.view?.controls?.() ?? "", stage),
        this.words,
        toolbar(this),
        this.legend.root,
      ),
      this.verdict.root,
      panel(this),
    );
  }

  // -------------------------------------------------------------- beginning

  /** Open the game of the address, or go on with the one that was shown there before the page was loaded again.
   *
   * An address that is not possible is reported, and the start is shown.
   */
  async open() {
    const { query, info } = this,
      from = query.get("from") ?? undefined;
    const wanted = {
      params: query.get("params") ?? "",
      from,
      moves: info.chance ? "" : (query.get("moves") ?? ""),
      base: from && (query.get("points") ?? undefined),
      at: query.get("at"),
    };
    if (!(await this.resumed()) && !(await this.begin(wanted))) await this.begin({});
    addEventListener("pagehide", () => this.keep());
  }

  /** Begin a game; return whether it could be, and show why not. */
  async begin(wanted) {
    const fault = await this.fault(wanted);
    if (fault) toast(fault);
    return !fault;
  }

  /** Begin a game; return why it could not be, or nothing. */
  async fault(wanted) {
    try {
      await this.line.open(wanted);
    } catch (error) {
      return capital(error.message);
    }
    this.against?.allow();
    this.players.paused = this.players.anyAgent && this.line.at < this.line.end;
    await this.draw();
    return "";
  }

  /** Keep the game for when this page is loaded again: an address holds only the position of a game with chance. */
  keep() {
    if (!this.info.chance) return;
    const kept = { ...this.line.told(), at: this.line.at, address: location.search };
    keepForNow(`game-${this.info.id}`, kept);
  }

  /** Go on with the game that this tab has kept for this address. */
  async resumed() {
    const kept = keptForNow(`game-${this.info.id}`);
    if (!kept || !kept.moves || kept.address !== location.search) return false;
    try {
      await this.line.load({ ...kept, moves: kept.moves.split(",") });
    } catch {
      return false;
    }
    this.line.at = Math.max(0, Math.min(this.line.end, kept.at - kept.cut));
    this.players.paused = this.players.anyAgent;
    await this.draw();
    return true;
  }

  async load(record) {
    await this.line.load(record);
    this.players.hold();
    await this.draw();
  }

  // -------------------------------------------------------------- moving

  /** Go a number of moves forward, or back, from the place where we are going to be. */
  step(moves) {
    return this.go((this.target ?? this.line.at) + moves);
  }

  async go(i) {
    const { line } = this;
    if (i < 0 || i > line.end || (i === line.at && this.target === undefined)) return;
    if (!line.nodes[i].doc && !(await this.fetched(i))) return;
    this.target = undefined;
    const enter = i === line.at + 1,
      before = line.doc;
    line.at = i;
    if (i < line.end) this.players.hold();
    await this.draw({ enter, before, action: line.node.action ?? null });
    say(`Move ${i} of ${line.end}. ${line.doc.status}`);
  }

  /** Fetch a position that was not shown yet; return whether we still want to go there, and can. */
  async fetched(i) {
    this.target = i;
    try {
      await this.line.document(i);
    } catch (error) {
      toast(capital(error.message));
      if (this.target === i) this.target = undefined;
    }
    return this.target === i;
  }

  /** A person chooses a move. */
  choose(action) {
    const { doc } = this.line;
    if (!this.players.isPerson(doc.player) && !this.players.paused) {
      toast("It is the agent's turn: pause it to move yourself");
      return;
    }
    this.play(action);
  }

  push(way) {
    const move = this.line.doc.legal.find((one) => one.move === way);
    if (move) this.choose(move.action);
  }

  async play(action) {
    if (this.busy) {
      if (this.waiting.length < WAITING) this.waiting.push(action);
      return;
    }
    const { line } = this,
      before = line.doc;
    const move = before.legal.find((one) => one.action === action);
    if (!move) return;
    this.busy = true;
    try {
      await line.play(action);
      sayFirst(`${this.info.sides[before.player]}: ${move.name}.`);
      await this.draw({ enter: true, before, action });
    } catch (error) {
      toast(capital(error.message));
    } finally {
      this.busy = false;
    }
    if (this.waiting.length) this.play(this.waiting.shift());
  }

  playBest() {
    const best = this.best();
    if (best !== undefined) this.choose(best);
  }

  /** Return the best move, or say why there is none. */
  best() {
    const { node, doc } = this.line,
      best = node.verdict?.best?.[0];
    if (best === undefined)
      toast(doc.over ? "The game is over" : this.values.state === "failed" ? this.values.message : "No value yet");
    return best;
  }

  /** Play a sequence of moves, such as a forced win. */
  async playLine(moves) {
    this.players.hold();
    for (const move of moves) {
      const { legal } = await this.line.document(),
        found = legal.find((one) => one.move === move);
      if (!found) return;
      await this.play(found.action);
      await new Promise((done) => {
        setTimeout(done, 450);
      });
    }
  }

  // -------------------------------------------------------------- drawing and asking

  async draw(how = {}) {
    const { line } = this,
      at = line.at;
    this.leave();
    const doc = await line.document(at);
    if (at !== line.at) return;
    const { node } = line;
    this.board.show(doc, how);
    this.players.show(doc);
    this.address();
    this.side();
    for (const entry of node.values?.values() ?? []) this.board.value(entry);
    if (node.verdict) this.board.setBest(node.verdict.best ?? []);
    this.verdict.show(doc, node.verdict);
    if (node.verdict?.done) this.fill();
    else this.askValues(at);
    if (doc.over) this.search.leave();
    this.players.turn();
  }

  /** Ask for all values again. */
  again() {
    this.line.forget();
    this.draw();
  }

  /** Stop everything that was asked for the position that is left. */
  leave() {
    this.brief?.stop();
    this.brief = null;
    this.values.stop();
    this.lines.stop();
    this.preview.show(null);
    this.players.stop();
    this.search.leave(this.players.anyAgent);
    this.words.textContent = "";
  }

  side() {
    const { line } = this;
    line.judge();
    this.graph.show(line.nodes, line.at);
    this.moves.show(line);
    this.every.show(line.node);
    this.legend.show();
    this.report.show();
    this.parts.every.hidden = line.doc?.over ?? false;
    this.steps.forEach((step, k) => {
      step.disabled = k < 2 ? line.at === 0 : line.at === line.end;
    });
  }

  askValues(at) {
    const { line } = this,
      node = line.nodes[at];
    node.values ??= new Map();
    this.values.ask(
      `${line.path}/values`,
      { ...line.question(at), opponent: this.opponent },
      {
        move: (entry) => {
          node.values.set(entry.action, entry);
          relate(node.values);
          this.heard(node, entry);
        },
        verdict: (verdict) => {
          node.verdict = { ...verdict, done: verdict.done ?? true };
          this.judged(node);
        },
        end: () => this.fill(),
      },
    );
  }

  /** Show how far the question for values is; an opponent that cannot be had is not offered again. */
  asked() {
    const { values } = this;
    if (values.state === "failed" && this.opponent !== "perfect" && !values.passes) this.against.refuse(values.message);
    else this.verdict.asking(values);
  }

  heard(node, entry) {
    if (node !== this.line.node) return;
    for (const one of entry.kind === "points" ? node.values.values() : [entry]) this.board.value(one);
    this.pending ??= requestAnimationFrame(() => {
      this.pending = null;
      this.every.show(this.line.node);
      this.legend.show();
    });
  }

  judged(node) {
    if (node !== this.line.node) return;
    this.board.setBest(node.verdict.best ?? []);
    this.verdict.show(node.doc, node.verdict);
    this.view?.forced?.(node.verdict.line ?? []);
    this.report.judge(node);
    this.side();
    if (this.opponent !== "perfect") this.address(); // it has answered: a link to it is of use
    if (node.verdict.done && this.showing) this.verdict.announce(this.players.isPerson(node.doc.player));
  }

  /** Fill the curve: values of earlier positions, newest first, while there is nothing better to do. */
  fill() {
    const { line } = this;
    if (this.info.chance || this.brief) return;
    const i = line.nodes.findLastIndex((node, k) => !node.verdict && !node.asked && k !== line.at);
    if (i < 0) return;
    const node = line.nodes[i];
    node.asked = true;
    const ended = (whole) => {
      if (this.brief === own) this.brief = null;
      node.asked = whole || Boolean(node.verdict); // one that was cut short is asked again
      if (whole && line.node.verdict?.done) this.fill();
    };
    const own = (this.brief = stream(
      `${line.path}/values`,
      { ...line.question(i), opponent: this.opponent, brief: true },
      {
        verdict: (verdict) => {
          node.verdict = { ...verdict, done: false };
          this.side();
        },
        end: () => ended(true),
        failed: () => ended(false),
      },
    ));
    own.finished.finally(() => {
      if (!node.verdict && this.brief !== own) node.asked = false;
    });
  }

  // -------------------------------------------------------------- what is seen

  /** Return the value of a move as text. */
  explain(action) {
    const { node, doc } = this.line,
      move = doc?.legal.find((one) => one.action === action),
      entry = node?.values?.get(action);
    const value = entry && this.showing ? ` ${entry.words}${entry.exact ? "" : " (estimate)"}` : "";
    this.words.replaceChildren(...(move ? [h("b", {}, capital(move.name)), value] : []));
  }

  /** Show an agent's thoughts, if it is this position that it thinks about. */
  thought(at, statistics, title) {
    if (at === this.line.at) this.search.show(statistics, title);
  }

  toggleValues() {
    this.showing = !this.showing;
    this.switch.setAttribute("aria-pressed", String(this.showing));
    this.main.classList.toggle("no-values", !this.showing);
    say(this.showing ? "Values shown" : "Values hidden");
  }

  hint() {
    const best = this.best();
    if (best === undefined) return;
    this.board.hint(best);
    this.explain(best);
    say(`Hint: ${this.board.name(best)}`);
  }

  /** Write the whole game into the address, the place that is shown and the players included. */
  address() {
    const { line, info, players } = this,
      query = new URLSearchParams(),
      set = (name, value) => {
        if (value) query.set(name, value);
      };
    set("params", line.params);
    set("from", info.chance ? line.doc.position : line.start);
    set(info.chance ? "points" : "moves", info.chance ? line.doc.points.join(",") : line.moves().join(","));
    set("at", !info.chance && line.at < line.end ? String(line.at) : "");
    players.seats.forEach((seat, i) => set(["first", "second"][i], players.text(i)));
    set("against", this.opponent !== "perfect" && line.node.verdict ? "random" : "");
    const text = query
      .toString()
      .replaceAll("%2C", ",")
      .replaceAll("%3A", ":")
      .replaceAll("%3D", "=")
      .replaceAll("%2F", "/");
    history.replaceState(null, "", text ? `?${text}` : location.pathname);
  }
}

/** For points: how strong each move is, between the worst and the best. */
function relate(values) {
  const all = [...values.values()];
  if (all[0]?.kind !== "points") return;
  const worth = all.map((entry) => entry.value),
    low = Math.min(...worth),
    high = Math.max(...worth);
  for (const entry of all) entry.strength = high > low ? (entry.value - low) / (high - low) : 1;
}
