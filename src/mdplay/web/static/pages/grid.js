// A grid to draw: floor, walls, goals and pits; and the decision problem that it is, as a file's text.
import { h, put } from "../lib/dom.js";
import { figure, fixed, number } from "../lib/words.js";

export const TOOLS = [
  ["floor", "Floor"],
  ["wall", "Wall"],
  ["goal", "Goal"],
  ["pit", "Pit"],
];
export const ARROWS = ["↑", "→", "↓", "←"];
const STEPS = [
  [-1, 0],
  [0, 1],
  [1, 0],
  [0, -1],
];
const CLASSIC = ["floor floor floor goal", "floor wall floor pit", "floor floor floor floor"];

export class Grid {
  /** `changed` is called after the world was changed, and draws it. */
  constructor(changed) {
    Object.assign(this, { changed, tool: "wall", cells: CLASSIC.map((row) => row.split(" ")) });
    this.root = h("div", { class: "world", role: "group", "aria-label": "Grid: choose a cell to paint it" });
    this.root.addEventListener("keydown", (event) => this.walk(event));
    this.draw();
  }

  get rows() {
    return this.cells.length;
  }

  get cols() {
    return this.cells[0].length;
  }

  resize(rows, cols) {
    this.cells = Array.from({ length: rows }, (_, r) =>
      Array.from({ length: cols }, (_, c) => this.cells[r]?.[c] ?? "floor"),
    );
    this.changed();
  }

  paint(r, c) {
    this.cells[r][c] = this.cells[r][c] === this.tool ? "floor" : this.tool;
    this.changed();
    this.root.children[r * this.cols + c].focus();
  }

  /** Draw the cells; with a plan also each state's value, its best action and its bounds. */
  draw(plan = null) {
    const sizes = plan ? plan.value.map((value) => Math.abs(number(value))).filter(Number.isFinite) : [],
      scale = Math.max(1e-9, ...sizes);
    this.root.style.setProperty("--cols", this.cols);
    put(
      this.root,
      this.cells.flatMap((row, r) => row.map((kind, c) => this.cell(kind, r, c, plan, scale))),
    );
  }

  cell(kind, r, c, plan, scale) {
    const state = this.state(r, c),
      known = plan && kind === "floor",
      value = known ? number(plan.value[state]) : null;
    const words = known
      ? `, value ${fixed(value, 3)}, go ${["up", "right", "down", "left"][plan.action[state]] ?? "nowhere"}`
      : "";
    const node = h(
      "button",
      {
        class: `cell ${kind}${known ? (value < 0 ? " low" : " high") : ""}`,
        type: "button",
        "aria-label": `row ${r + 1}, column ${c + 1}: ${kind}${words}`,
        onclick: () => this.paint(r, c),
        title: known ? `between ${figure(plan.lower[state])} and ${figure(plan.upper[state])}` : null,
      },
      known
        ? [
            h("span", { class: "toward" }, ARROWS[plan.action[state]] ?? ""),
            h("span", { class: "value" }, fixed(value, 3)),
          ]
        : h("span", { class: "kind" }, { goal: "+", pit: "−" }[kind] ?? ""),
    );
    if (known) node.style.setProperty("--strength", Math.min(1, Math.abs(value) / scale).toFixed(3));
    return node;
  }

  walk(event) {
    const step = { ArrowUp: -this.cols, ArrowDown: this.cols, ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const at = [...this.root.children].indexOf(document.activeElement);
    if (!step || at < 0) return;
    event.preventDefault();
    this.root.children[at + step]?.focus();
  }

  /** The number of a cell's state: walls are none, and share the last, which ends. */
  state(r, c) {
    return r * this.cols + c;
  }

  /** The decision problem as text: an action may slip to either side; goals and pits pay when they are entered. */
  text({ slip, living, discount, prize }) {
    const size = this.rows * this.cols,
      ends = [],
      lines = [];
    this.cells.forEach((row, r) =>
      row.forEach((kind, c) => {
        if (kind !== "floor") ends.push(this.state(r, c));
        else lines.push(...this.leaving(r, c, slip, living, prize));
      }),
    );
    const end = ends.length ? ends.join(" ") : "-1";
    return [
      `numStates ${size}`,
      `numActions 4`,
      `end ${end}`,
      ...lines,
      `mdptype ${ends.length ? "episodic" : "continuing"}`,
      `discount ${discount}`,
    ].join("\n");
  }

  leaving(r, c, slip, living, prize) {
    const lines = [];
    for (let action = 0; action < 4; action++) {
      const ways = [
        [action, 1 - slip],
        [(action + 1) % 4, slip / 2],
        [(action + 3) % 4, slip / 2],
      ].filter(([, share]) => share > 0);
      for (const [way, share] of ways) {
        const [a, b] = this.beyond(r, c, way),
          kind = this.cells[a][b],
          pay = living + ({ goal: prize, pit: -prize }[kind] ?? 0);
        lines.push(`transition ${this.state(r, c)} ${action} ${this.state(a, b)} ${pay} ${share}`);
      }
    }
    return lines;
  }

  /** Where a step leads; walls and the rim send it back. */
  beyond(r, c, way) {
    const a = r + STEPS[way][0],
      b = c + STEPS[way][1];
    return this.cells[a]?.[b] && this.cells[a][b] !== "wall" ? [a, b] : [r, c];
  }
}
