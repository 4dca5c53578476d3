// Who plays: on the board's edge, each side with a person or an agent and its setting; and the agents' turns.
import { h, put, toast } from "../lib/dom.js";
import { stream } from "../lib/api.js";
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

  show(doc) {
    put(
      this.root,
      this.seats.map((seat, i) => this.side(seat, i, doc)),
    );
    this.controls.hidden = !this.anyAgent;
    this.controls.closest(".toolbar")?.classList.toggle("busy", this.anyAgent);
    put(this.run, icon(this.paused ? "play" : "pause"), h("span", {}, this.paused ? "Go on" : "Pause"));
    this.run.title = `${this.paused ? "Go on" : "Pause"} (P)`;
  }

  side(seat, i, doc) {
    const two = this.info.players === 2,
      turn = doc.player === i && !doc.over;
    return h(
      "div",
      { class: `player${turn ? " turn" : ""}` },
      two ? [piece(i, this.info.sides), h("span", { class: "side" }, this.info.sides[i])] : null,
      this.chooser(seat, i),
      this.setting(seat, i),
      this.info.points ? h("span", { class: "tally", title: "points" }, grouped(doc.points[i] ?? 0)) : null,
    );
  }

  chooser(seat, i) {
    const choices = [{ id: "person", title: this.info.players === 1 ? "You play" : "Person" }, ...this.info.agents];
    return h(
      "select",
      {
        class: "who",
        "aria-label": `${this.info.sides[i]} is played by`,
        onchange: (event) => this.sit(i, event.target.value),
      },
      choices.map(({ id, title }) => h("option", { value: id, selected: id === seat.id }, title)),
    );
  }

  setting(seat, i) {
    const setting = this.info.agents.find((agent) => agent.id === seat.id)?.setting;
    if (!setting) return null;
    const change = (event) => {
      seat.setting = Number(event.target.value);
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
    this.thinking?.stop();
    this.thinking = null;
    clearTimeout(this.timer);
  }

  /** Let an agent move, if it is its turn. */
  turn() {
    const { line } = this.page,
      { doc, at } = line;
    if (doc.over || this.paused || this.thinking || at !== line.end || this.isPerson(doc.player)) return;
    const { id, setting } = this.seats[doc.player],
      began = performance.now();
    const seed = Math.floor(Math.random() * 2 ** 40);
    this.thinking = stream(
      `${line.path}/agent`,
      { ...line.question(), agent: id, setting, seed },
      {
        notice: ({ text }) => this.page.verdict.setNotice(text),
        stats: (statistics) => this.page.thought(at, statistics, `${this.info.sides[doc.player]} is thinking`),
        move: ({ action }) => {
          this.thinking = null;
          this.wait(at, action, began);
        },
        failed: ({ message }) => {
          this.thinking = null;
          this.paused = true;
          toast(message);
          this.show(doc);
        },
      },
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
