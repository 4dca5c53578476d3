// Who plays: on the board's edge, each side with a person or an agent and its setting; and the agents' turns.
import { h, put } from "../lib/dom.js";
import { Question, trouble } from "../lib/question.js";
import { icon, piece } from "../lib/icons.js";
import { grouped } from "../lib/words.js";

export const SPEEDS = [
  ["Slow", 1500],
  ["Normal", 600],
  ["Fast", 120],
  ["Full speed", 0],
];
const GRACE = 350; // ms more, so that the values can be seen before an agent moves

export class Players {
  constructor(page, query) {
    Object.assign(this, { page, info: page.info, paused: false, speed: SPEEDS[1][1] });
    this.seats = ["first", "second"].slice(0, this.info.players).map((name) => this.seat(query.get(name)));
    this.root = h("div", { class: "players" });
    this.trouble = h("div", { class: "players-trouble" });
    this.thinking = new Question((question) => this.asked(question));
    this.run = h("button", { class: "tool wide", type: "button", onclick: () => this.toggle() });
    const speed = h(
      "select",
      {
        class: "mini",
        "aria-label": "Speed of the agents",
        onchange: (event) => {
          this.speed = Number(event.target.value);
        },
      },
      SPEEDS.map(([name, ms]) => h("option", { value: ms, selected: ms === this.speed }, name)),
    );
    this.controls = h("div", { class: "group auto", hidden: true }, speed, this.run);
  }

  /** Read who sits there: "mcts:1000", or a person. */
  seat(text) {
    const [id, setting] = (text ?? "").split(":"),
      agent = this.info.agents.find((one) => one.id === id);
    return agent ? { id, setting: Number(setting) || agent.setting?.default || 0 } : { id: "person", setting: 0 };
  }

  /** As the address has it. */
  text(i) {
    const { id, setting } = this.seats[i];
    return id === "person" ? "" : setting ? `${id}:${setting}` : id;
  }

  isPerson(i) {
    return this.seats[i ?? 0]?.id === "person";
  }

  get anyAgent() {
    return this.seats.some((seat) => seat.id !== "person");
  }

  // -------------------------------------------------------------- what is seen

  /** Who moves, or how it ended: a game of one player may be played by an agent. */
  status(doc) {
    const mine = doc.over || doc.chance || this.info.players === 2 || this.isPerson(0);
    return mine ? doc.status : `${this.agent(this.seats[0])?.title ?? "The agent"} to move`;
  }

  agent(seat) {
    return this.info.agents.find((one) => one.id === seat.id);
  }

  /** Show the seats; menus that are still right stay, with the focus that they may have. */
  show(doc) {
    this.sides ??= this.seats.map((_, i) => this.side(i));
    if (!this.root.firstChild)
      put(
        this.root,
        this.sides.map(({ root }) => root),
      );
    this.sides.forEach((side, i) => this.renew(side, this.seats[i], i, doc));
    this.controls.hidden = !this.anyAgent;
    this.controls.closest(".toolbar")?.classList.toggle("busy", this.anyAgent);
    put(this.run, icon(this.paused ? "play" : "pause"), h("span", {}, this.paused ? "Resume" : "Pause"));
    this.run.title = `${this.paused ? "Resume" : "Pause"} (P)`;
  }

  side(i) {
    const { info } = this,
      two = info.players === 2;
    const who = this.chooser(i),
      setting = h("span", { class: "setting-box" }),
      tally = info.points ? h("span", { class: "tally", title: "points" }) : null;
    const name = two ? [piece(i, info.sides), h("span", { class: "side" }, info.sides[i])] : null;
    return { root: h("div", { class: "player" }, name, who, setting, tally), who, setting, tally, shown: "" };
  }

  renew(side, seat, i, doc) {
    const text = this.text(i);
    side.root.classList.toggle("turn", doc.player === i && !doc.over);
    if (side.tally) side.tally.textContent = grouped(doc.points[i] ?? 0);
    if (side.who.value !== seat.id) side.who.value = seat.id;
    if (side.shown !== text) put(side.setting, this.setting(seat, i));
    side.shown = text;
  }

  chooser(i) {
    const choices = [{ id: "person", title: this.info.players === 1 ? "You play" : "Person" }, ...this.info.agents];
    return h(
      "select",
      {
        class: "who",
        "aria-label": `${this.info.sides[i]} is played by`,
        onchange: (event) => this.sit(i, event.target.value),
      },
      choices.map(({ id, title }) => h("option", { value: id }, title)),
    );
  }

  setting(seat, i) {
    const setting = this.agent(seat)?.setting;
    if (!setting) return null;
    const change = (event) => {
      this.seats[i].setting = Number(event.target.value);
      this.sides[i].shown = this.text(i);
      this.page.address();
    };
    const values = setting.values.includes(seat.setting)
      ? setting.values
      : [...setting.values, seat.setting].sort((a, b) => a - b);
    return h(
      "select",
      {
        class: "who setting",
        "aria-label": `${this.info.sides[i]}: ${setting.title ?? setting.name}`,
        onchange: change,
      },
      values.map((value) => h("option", { value, selected: value === seat.setting }, grouped(value))),
    );
  }

  // -------------------------------------------------------------- what happens

  sit(i, id) {
    this.seats[i] = this.seat(id);
    this.paused = false;
    this.stop();
    this.page.address();
    this.show(this.page.line.doc);
    this.turn();
  }

  toggle() {
    this.paused = !this.paused;
    this.stop();
    this.show(this.page.line.doc);
    if (!this.paused) this.turn();
  }

  hold() {
    if (!this.anyAgent || this.paused) return;
    this.paused = true;
    this.stop();
  }

  stop() {
    this.thinking.stop();
    clearTimeout(this.timer);
  }

  /** Let an agent move, if it is its turn. */
  turn() {
    const { line } = this.page,
      { doc, at } = line;
    if (doc.over || this.paused || this.thinking.running || at !== line.end || this.isPerson(doc.player)) return;
    const { id, setting } = this.seats[doc.player],
      began = performance.now();
    const seed = Math.floor(Math.random() * 2 ** 40);
    let action = null;
    this.thinking.ask(
      `${line.path}/agent`,
      { ...line.question(), agent: id, setting, seed },
      {
        stats: (statistics) => this.page.thought(at, statistics, `${this.info.sides[doc.player]} is thinking`),
        move: (told) => {
          action = told.action;
        },
        end: () => this.wait(at, action, began),
      },
    );
  }

  /** Show what an agent waits for, and why it does not move. */
  asked({ state, notice }) {
    put(
      this.trouble,
      state === "failed" ? trouble(this.thinking) : notice ? h("p", { class: "notice" }, notice) : null,
    );
  }

  /** Move when it is time, and when the values have been seen. */
  wait(at, action, began) {
    const { line } = this.page,
      passed = performance.now() - began;
    if (at !== line.at || this.paused) return;
    const grace = line.node.verdict || !this.speed ? 0 : GRACE;
    if (passed >= this.speed + grace) this.page.play(action);
    else this.timer = setTimeout(() => this.wait(at, action, began), 30);
  }
}
