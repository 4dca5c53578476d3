// Reinforcement learning: an agent walks in a drawn grid and learns; its values stand beside the exact ones.
import { h, put, say, toast } from "../lib/dom.js";
import { Chart } from "../lib/chart.js";
import { icon } from "../lib/icons.js";
import { choice, field, lab, numeric } from "../lib/lab.js";
import { figure, fixed, grouped } from "../lib/words.js";
import { Agent } from "./agent.js";
import { ARROWS, Grid } from "./grid.js";
import { ACTIONS, GridWorld } from "./gridworld.js";

const MAX_STEPS = 20_000, // of an episode: then it is truncated
  MAX_POINTS = 2000, // of the curve
  SMALL = 60; // cells up to which policies are evaluated after every episode
const WORLDS = {
  cliff: ["Cliff", "............/............/............/S**********G", { discount: 1 }],
  maze: ["Maze", ".......#G/..#....#./S.#....#./..#....../.....#.../.........", { discount: 0.95 }],
  rooms: ["Two rooms", "....#..../....#...G/........./S...#..../....#....", { discount: 1 }],
  open: ["Empty", "......./......./......./S.....G", { discount: 1 }],
};
const KINDS = { ".": "floor", "#": "wall", S: "start", G: "goal", "*": "cliff" };
const TOOLS = [
  ["wall", "Wall"],
  ["goal", "Goal"],
  ["cliff", "Cliff"],
  ["floor", "Floor"],
];
const METHODS = [
  ["q", "Q-learning"],
  ["sarsa", "SARSA"],
  ["expected-sarsa", "Expected SARSA"],
];
const VIEWS = [
  ["learned", "Learned"],
  ["exact", "Exact"],
  ["difference", "Difference"],
];
const NAMES = ["up", "right", "down", "left"];

export const show = (main) => {
  new Experience(main);
};

/** The cells: what they are, and the values of a view. */
class Cells extends Grid {
  draw(view = null) {
    super.draw(view);
    this.root.classList.toggle("dense", this.cols > 8);
  }

  load(text) {
    this.cells = text.split("/").map((row) => [...row].map((c) => KINDS[c]));
    this.changed();
  }

  paint(r, c) {
    if (this.cells[r][c] === "start") {
      toast("The start stays where it is");
      return;
    }
    super.paint(r, c);
  }

  cell(kind, r, c, view, scale) {
    const s = this.state(r, c),
      known = view && (kind === "floor" || kind === "start"),
      value = known ? view.value[s] : NaN;
    const toward = known ? view.best(s) : [];
    const words = known ? `, value ${fixed(value, 2)}, go ${toward.map((a) => NAMES[a]).join(" or ")}` : "";
    const here = view?.agent === s;
    const mark = { goal: "G", cliff: "✕", start: "S" }[kind];
    const node = h(
      "button",
      {
        class: `cell ${kind}${known ? (value < 0 ? " low" : " high") : ""}${here ? " here" : ""}${view?.updated === s ? " updated" : ""}`,
        type: "button",
        "aria-label": `row ${r + 1}, column ${c + 1}: ${kind}${words}${here ? ", the agent is here" : ""}`,
        onclick: () => this.paint(r, c),
      },
      known
        ? [
            h("span", { class: "toward" }, toward.length === ACTIONS ? "·" : toward.map((a) => ARROWS[a]).join("")),
            h("span", { class: "value" }, fixed(value, Math.abs(value) >= 9.995 ? 1 : 2)),
          ]
        : h("span", { class: "kind" }, mark ?? ""),
      here ? h("span", { class: "agent" }) : null,
    );
    if (known) node.style.setProperty("--strength", Math.min(1, Math.abs(value) / scale).toFixed(3));
    return node;
  }
}

class Experience {
  constructor(main) {
    this.view = "learned";
    this.options = { method: "q", alpha: 0.5, epsilon: 0.1, lambda: 0, n: 1, plans: 0 };
    this.seed = numeric(1, 0, 2 ** 31, { onchange: () => this.restart() });
    this.grid = new Cells(() => this.restart());
    this.chart = new Chart({ title: "", x: "episode" });
    this.equation = h("p", { class: "equation", role: "status" });
    this.facts = h("p", { class: "figures" });
    this.states = h("div", { class: "scroll tall", tabIndex: 0, role: "region", "aria-label": "Every state" });
    this.curve = h("div", { class: "scroll tall", tabIndex: 0, role: "region", "aria-label": "The curve" });
    this.tables = ["Every state", "The curve as a table"].map((title, k) =>
      h("details", { ontoggle: () => this.fillTables() }, h("summary", {}, title), [this.states, this.curve][k]),
    );
    lab(
      main,
      "Reinforcement learning",
      "An agent learns by trial and error. Beside its values stand the exact ones, which it cannot know.",
      this.form(),
      this.moves(),
      h("div", { class: "sketch" }, this.tools(), this.grid.root, this.views()),
      this.equation,
      this.facts,
      this.chart.root,
      h("div", { class: "answer" }, this.tables),
    );
    this.load("cliff");
  }

  // -------------------------------------------------------------- what is asked

  form() {
    const world = choice(
      Object.entries(WORLDS).map(([id, [title]]) => h("option", { value: id }, title)),
      { onchange: (event) => this.load(event.target.value) },
    );
    const method = choice(
      METHODS.map(([id, title]) => h("option", { value: id }, title)),
      {
        onchange: (event) => {
          this.options.method = event.target.value;
          this.restart();
        },
      },
    );
    this.discount = numeric(1, 0.01, 1, { step: "any", onchange: () => this.restart() });
    this.slip = numeric(0, 0, 1, { step: "any", onchange: () => this.restart() });
    return h(
      "form",
      { class: "form", onsubmit: (event) => event.preventDefault() },
      field("World", world),
      field("Method", method),
      this.slider("alpha", "Step size α", 0, 1, 0.01),
      this.slider("epsilon", "Exploration ε", 0, 1, 0.01),
      this.slider("lambda", "Traces λ", 0, 1, 0.05),
      this.slider("n", "Steps n of a return", 1, 16, 1),
      this.slider("plans", "Planning steps (Dyna)", 0, 50, 1),
      h("div", { class: "pair" }, field("Discount", this.discount), field("Chance to slip", this.slip), field("Seed", this.seed)),
    );
  }

  slider(name, text, min, max, step) {
    const output = h("output", {}, String(this.options[name]));
    const input = h("input", {
      type: "range",
      name,
      min,
      max,
      step,
      value: this.options[name],
      oninput: () => this.set(name, Number(input.value)),
    });
    this.sliders = { ...this.sliders, [name]: { input, output } };
    return h("label", { class: "wide-field slider" }, h("span", {}, text, " ", output), input);
  }

  /** Change an option while the agent learns; λ, n and planning exclude each other. */
  set(name, value) {
    this.put(name, value);
    const rests = { lambda: 0, n: 1, plans: 0 };
    if (name in rests && value !== rests[name])
      for (const [other, rest] of Object.entries(rests)) if (other !== name) this.put(other, rest);
    if (name in rests) this.agent.past = [];
    if (name === "epsilon") this.judge();
  }

  put(name, value) {
    const { input, output } = this.sliders[name];
    this.options[name] = value;
    input.value = value;
    output.textContent = String(value);
  }

  moves() {
    const button = (text, act, given = {}) =>
      h("button", { class: "quiet small filled", type: "button", onclick: act, ...given }, text);
    this.runButton = h("button", { class: "solid small", type: "button", onclick: () => this.toggle() });
    const moves = h(
      "div",
      { class: "transport", role: "group", "aria-label": "Learn" },
      button("Step", () => this.oneStep()),
      button("Episode", () => this.several(1)),
      button("100 episodes", () => this.several(100)),
      this.runButton,
      button("Start again", () => this.restart()),
    );
    this.label();
    return moves;
  }

  tools() {
    return this.switch("Draw", TOOLS, this.grid.tool, (tool) => {
      this.grid.tool = tool;
    });
  }

  views() {
    return this.switch("Values", VIEWS, this.view, (view) => {
      this.view = view;
      this.draw();
    });
  }

  switch(title, entries, chosen, act) {
    const root = h("div", { class: "segs", role: "group", "aria-label": title });
    const press = (id) => {
      for (const one of root.children) one.setAttribute("aria-pressed", String(one.value === id));
      act(id);
    };
    put(
      root,
      entries.map(([id, text]) =>
        h(
          "button",
          { class: "seg", type: "button", value: id, "aria-pressed": String(id === chosen), onclick: () => press(id) },
          text,
        ),
      ),
    );
    return root;
  }

  // -------------------------------------------------------------- learning

  load(id) {
    const [, text, { discount }] = WORLDS[id];
    this.discount.value = discount;
    this.grid.load(text);
  }

  /** Begin with values of zero in the world as it is drawn. */
  restart() {
    this.stop();
    const number = (input, low, high, usual) => {
      const x = Number(input.value);
      return input.value !== "" && x >= low && x <= high ? x : usual;
    };
    this.world = new GridWorld(this.grid.cells, {
      slip: number(this.slip, 0, 1, 0),
      discount: number(this.discount, 0.01, 1, 1),
    });
    this.exact = this.world.optimum();
    this.agent = new Agent(this.world, this.options, number(this.seed, 0, 2 ** 31, 1));
    this.points = [];
    this.updated = null;
    this.chart.show([]);
    put(
      this.equation,
      this.exact
        ? "Press Step to see the first update."
        : "No goal can be reached from some cell; draw a goal, or give a discount below 1.",
    );
    this.judge();
    this.draw();
  }

  label() {
    put(this.runButton, icon(this.running ? "stop" : "play"), this.running ? "Stop" : "Run");
  }

  toggle() {
    if (this.running) {
      this.stop();
      return;
    }
    this.running = true;
    this.label();
    const frame = () => {
      if (!this.running || !this.grid.root.isConnected) return;
      this.episode();
      this.draw();
      requestAnimationFrame(frame);
    };
    frame();
  }

  stop() {
    this.running = false;
    this.label();
  }

  oneStep() {
    const told = this.take();
    this.updated = told.pair?.[0] ?? null;
    put(this.equation, told.pair ? words(told, this.world) : `${place(told.s, this.world)}, go ${NAMES[told.a]}: reward ${figure(told.reward)}. The first update comes after ${this.options.n} steps.`);
    this.draw();
  }

  /** Take a step; after the last one of an episode judge the policy and begin anew. */
  take() {
    const told = this.agent.step();
    if (told.ended || this.agent.steps >= MAX_STEPS) {
      if (!told.ended) this.agent.episodes.push({ reward: this.agent.total, steps: this.agent.steps });
      this.agent.begin();
      this.judge();
      this.point();
    }
    return told;
  }

  episode() {
    const before = this.agent.episodes.length;
    while (this.agent.episodes.length === before) this.take();
  }

  several(count) {
    if (!this.exact) {
      toast("No goal can be reached: draw one");
      return;
    }
    for (let k = 0; k < count; k++) this.episode();
    this.updated = null;
    const { reward, steps } = this.agent.episodes.at(-1);
    put(this.equation, `Episode ${grouped(this.agent.episodes.length)}: reward ${figure(reward)} in ${grouped(steps)} steps.`);
    this.draw();
    say("Done");
  }

  /** Evaluate the greedy policy and the one that is followed, exactly. */
  judge() {
    const { agent, world } = this,
      every = world.size <= SMALL ? 1 : 5;
    if (this.greedy !== undefined && agent.episodes.length > 5 && agent.episodes.length % every) return;
    this.greedy = world.policyValue((s) => agent.shares(s, 0));
    this.followed = world.policyValue((s) => agent.shares(s));
  }

  point() {
    const { reward } = this.agent.episodes.at(-1);
    this.points.push({ x: this.agent.episodes.length, reward, greedy: this.greedy, followed: this.followed });
    if (this.points.length > MAX_POINTS) this.points = this.points.filter((_, k) => k % 2);
  }

  // -------------------------------------------------------------- what is seen

  draw() {
    const { agent, exact, world } = this;
    const learned = Float64Array.from({ length: world.size }, (_, s) => agent.best(s));
    const values =
      this.view === "learned" || !exact
        ? learned
        : this.view === "exact"
          ? exact
          : learned.map((value, s) => value - exact[s]);
    const q = (s) => (this.view === "exact" && exact ? world.outcomes[s].map((o) => world.mean(o, exact)) : agent.q[s]);
    this.grid.draw({
      value: Array.from(values, (x, s) => (world.live[s] ? x : 0)),
      agent: agent.state,
      updated: this.updated,
      best: (s) => largest(q(s)),
    });
    this.told(exact);
    this.drawChart();
    this.fillTables();
  }

  told(exact) {
    const one = (value) => (value === null ? "never ends" : figure(value));
    const facts = [
      [grouped(this.agent.episodes.length), this.agent.episodes.length === 1 ? "episode" : "episodes"],
      [exact ? figure(exact[this.world.start]) : "–", "exact optimum"],
      [one(this.greedy), "greedy policy"],
      [one(this.followed), "policy followed"],
    ];
    put(
      this.facts,
      facts.map(([number, word]) => h("span", { class: "figure" }, h("b", {}, number), ` ${word}`)),
    );
  }

  drawChart() {
    const best = this.exact?.[this.world.start] ?? 0,
      floor = best < 0 ? 8 * best : -Infinity;
    this.chart.relabel(
      `Reward of an episode, and exact values from the start${best < 0 ? `; below ${figure(floor)} cut off` : ""}`,
      "episode",
    );
    const line = (name, key, more = {}) => {
      const kept = this.points.filter((point) => point[key] !== null);
      return { name, xs: kept.map(({ x }) => x), ys: kept.map((point) => Math.max(floor, point[key])), ...more };
    };
    const xs = this.points.map(({ x }) => x);
    this.chart.show(
      this.points.length > 1
        ? [
            line("reward", "reward"),
            line("greedy", "greedy"),
            line("followed", "followed"),
            { name: "optimum", xs, ys: xs.map(() => best), dotted: true },
          ]
        : [],
    );
  }

  fillTables() {
    if (this.tables[0].open) put(this.states, this.stateTable());
    if (this.tables[1].open) put(this.curve, this.curveTable());
  }

  stateTable() {
    const rows = this.world.live.flatMap((live, s) => (live ? [s] : []));
    return table(
      ["cell", ...ARROWS, "exact", "difference"],
      rows.map((s) => {
        const exact = this.exact?.[s] ?? NaN;
        return [place(s, this.world), ...Array.from(this.agent.q[s], figure), figure(exact), figure(this.agent.best(s) - exact)];
      }),
    );
  }

  curveTable() {
    const one = (value) => (value === null ? "never ends" : figure(value));
    return table(
      ["episode", "reward", "greedy", "followed"],
      this.points.slice(-100).map(({ x, reward, greedy, followed }) => [grouped(x), figure(reward), one(greedy), one(followed)]),
    );
  }
}

const largest = (row) => {
  const best = Math.max(...row),
    margin = 1e-9 * Math.max(1, Math.abs(best));
  return Array.from(row.keys()).filter((a) => row[a] >= best - margin);
};

const place = (s, { cols }) => `row ${Math.floor(s / cols) + 1}, column ${(s % cols) + 1}`;

/** The update of a pair as an equation with its numbers. */
function words({ pair: [s, a], before, after, alpha, rewards, value, words: estimate }, world) {
  const { discount } = world,
    short = (x) => fixed(x, 3);
  const sum = rewards.map((reward, k) => (k ? `${discount === 1 ? "" : `${figure(discount ** k)} · `}(${figure(reward)})` : figure(reward))).join(" + ");
  const weight = discount === 1 ? "" : `${figure(discount ** rewards.length)} · `;
  return [
    h("span", { class: "place" }, `${place(s, world)}, ${NAMES[a]}: `),
    h("code", {}, `Q(s, ${ARROWS[a]}) ← ${short(before)} + ${alpha} · (${sum} + ${weight}(${short(value)}) − (${short(before)})) = ${short(after)}`),
    h("span", { class: "place" }, ` where ${short(value)} is ${estimate}`),
  ];
}

function table(head, rows) {
  const cell = (text, k) => h(k ? "td" : "th", { class: "num", ...(k ? {} : { scope: "row" }) }, text);
  return h(
    "table",
    { class: "facts" },
    h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col", class: "num" }, name)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map(cell)))),
  );
}
