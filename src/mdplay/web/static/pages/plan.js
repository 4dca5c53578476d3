// Plan: a Markov decision problem, drawn as a grid or given as a file; its values, actions, bounds and residuals.
import { download, h, put, toast } from "../lib/dom.js";
import { Chart } from "../lib/chart.js";
import { Runner, choice, field, lab, numeric } from "../lib/lab.js";
import { capital, figure, grouped } from "../lib/words.js";
import { Grid, TOOLS } from "./grid.js";

const ROWS = 200,
  LARGEST = 2_000_000;
const METHODS = [
  ["auto", "Automatic"],
  ["vi", "Value iteration, Gauss–Seidel"],
  ["jacobi", "Value iteration, Jacobi"],
  ["topological", "Topological value iteration"],
  ["mpi", "Modified policy iteration"],
  ["hpi", "Howard's policy iteration"],
  ["ipi", "Inexact policy iteration"],
  ["lp", "Linear programming"],
];

export const show = (main) => {
  new Planner(main);
};

class Planner {
  constructor(main) {
    this.source = "grid";
    this.grid = new Grid(() => this.clear());
    this.method = choice(METHODS.map(([id, title]) => h("option", { value: id }, title)));
    [this.slip, this.living, this.discount, this.prize] = [
      [0.2, 0, 1],
      [-0.04, -100, 100],
      [1, 0, 1],
      [1, 0, 100],
    ].map(([value, low, high]) => numeric(value, low, high, { step: "any" }));
    this.text = h("textarea", {
      rows: 12,
      spellcheck: false,
      placeholder: "numStates 2\nnumActions 1\nend 1\ntransition 0 0 1 1 1\nmdptype episodic\ndiscount 0.9",
    });
    this.chart = new Chart({ title: "", x: "" });
    this.answer = h("div", { class: "answer" });
    this.runner = new Runner(
      "Plan",
      () => this.begin(),
      () => this.clear(),
    );
    this.drawing = h("div", { class: "sketch" }, this.tools(), this.grid.root);
    lab(
      main,
      "Plan",
      "What is best to do, from every state, when the outcome is uncertain: values with proven bounds.",
      this.form(),
      this.drawing,
      this.answer,
      this.chart.root,
    );
    this.begin();
  }

  // -------------------------------------------------------------- what is asked

  form() {
    const way = (id, text) =>
      h(
        "button",
        {
          class: "seg",
          type: "button",
          value: id,
          "aria-pressed": String(this.source === id),
          onclick: () => this.from(id),
        },
        text,
      );
    this.ways = h(
      "div",
      { class: "segs", role: "group", "aria-label": "The problem" },
      way("grid", "Draw a grid"),
      way("file", "Use a file"),
    );
    const size = (axis) =>
      numeric(this.grid[axis], 1, 12, { onchange: (event) => this.resize(axis, Number(event.target.value)) });
    this.gridPart = h(
      "div",
      {},
      h("div", { class: "pair" }, field("Rows", size("rows")), field("Columns", size("cols"))),
      h("div", { class: "pair" }, field("Noise (chance to slip)", this.slip), field("Living reward", this.living)),
      h("div", { class: "pair" }, field("Goal reward", this.prize), field("Discount", this.discount)),
    );
    this.filePart = h("div", { hidden: true }, this.drop(), field("or paste it", this.text));
    return h(
      "form",
      { class: "form", onsubmit: this.runner.submit },
      this.ways,
      this.gridPart,
      this.filePart,
      field("Method", this.method),
      this.runner.button,
      this.runner.state,
    );
  }

  /** A place to drop a file on, or to choose one. */
  drop() {
    const file = h("input", {
      type: "file",
      class: "unseen",
      id: "mdp-file",
      onchange: (event) => this.read(event.target.files[0]),
    });
    const zone = h(
      "label",
      { class: "drop", htmlFor: "mdp-file" },
      h("b", {}, "Drop an MDP file here"),
      h("span", {}, "or choose one; it stays on this machine"),
      file,
    );
    const over = (on) => (event) => {
      event.preventDefault();
      zone.classList.toggle("over", on);
    };
    zone.addEventListener("dragover", over(true));
    zone.addEventListener("dragleave", over(false));
    zone.addEventListener("drop", (event) => {
      over(false)(event);
      this.read(event.dataTransfer.files[0]);
    });
    return zone;
  }

  async read(file) {
    if (!file) return;
    if (file.size > LARGEST) {
      toast("The file is larger than 2 MB: use mdplay plan on the command line");
      return;
    }
    this.text.value = await file.text();
    this.begin();
  }

  from(source) {
    this.source = source;
    for (const button of this.ways.children) button.setAttribute("aria-pressed", String(button.value === source));
    this.gridPart.hidden = this.drawing.hidden = source !== "grid";
    this.filePart.hidden = source !== "file";
    this.runner.question.stop();
    this.runner.tell("");
    this.clear();
  }

  /** Take away what was answered to another problem. */
  clear() {
    put(this.answer);
    this.chart.show([]);
    this.grid.draw();
  }

  tools() {
    const tool = (id, title) =>
      h(
        "button",
        {
          class: "seg",
          type: "button",
          value: id,
          "aria-pressed": String(this.grid.tool === id),
          onclick: () => pick(id),
        },
        title,
      );
    const pick = (id) => {
      this.grid.tool = id;
      for (const button of box.children) button.setAttribute("aria-pressed", String(button.value === id));
    };
    const box = h(
      "div",
      { class: "segs", role: "group", "aria-label": "Paint" },
      TOOLS.map(([id, title]) => tool(id, title)),
    );
    return box;
  }

  resize(axis, size) {
    const kept = Math.max(1, Math.min(12, size || 1));
    this.grid.resize(axis === "rows" ? kept : this.grid.rows, axis === "cols" ? kept : this.grid.cols);
  }

  problem() {
    const number = (input) => Number(input.value);
    return this.source === "file"
      ? this.text.value
      : this.grid.text({
          slip: number(this.slip),
          living: number(this.living),
          discount: number(this.discount),
          prize: number(this.prize),
        });
  }

  begin() {
    const text = this.problem();
    if (!text.trim()) {
      this.runner.tell("Choose or paste a file first.");
      return;
    }
    this.runner.run(
      "/plan",
      { method: this.method.value },
      {
        stats: ({ sweeps }) => this.runner.tell(counted(sweeps, unit(this.method.value))),
        plan: (plan) => {
          this.show(plan, text);
          this.residuals(plan);
          this.runner.tell("");
        },
      },
      text,
    );
  }

  // -------------------------------------------------------------- what is answered

  show(plan, text) {
    if (this.source === "grid") this.grid.draw(plan);
    const facts = [
      [grouped(plan.states), "states"],
      [grouped(plan.transitions), "transitions"],
      [METHODS.find(([id]) => id === plan.method)?.[1] ?? plan.method, ""],
      plan.iterations ? counted(plan.iterations, unit(plan.method)).split(" ") : null,
      plan.infinite < plan.states ? [`error at most ${figure(plan.gap)}`, ""] : null,
      [`${figure(1000 * plan.seconds)} ms`, ""],
    ].filter(Boolean);
    put(
      this.answer,
      h(
        "p",
        { class: "figures" },
        facts.map(([number, word]) => h("span", { class: "figure" }, h("b", {}, number), ` ${word}`)),
      ),
      plan.infinite ? h("p", { class: "reason" }, infinite(plan)) : null,
      plan.reason ? h("p", { class: "reason" }, capital(`${plan.reason}.`)) : null,
      h(
        "div",
        { class: "with" },
        h(
          "button",
          { class: "quiet small filled", type: "button", onclick: () => download("values.txt", plan.answer) },
          "Download values and actions",
        ),
        h(
          "button",
          {
            class: "quiet small filled",
            type: "button",
            onclick: () => download("plan.json", JSON.stringify(plan), "application/json"),
          },
          "as JSON",
        ),
        h(
          "button",
          { class: "quiet small filled", type: "button", onclick: () => download("problem.txt", text) },
          "The problem",
        ),
      ),
      h("details", { open: this.source === "file" }, h("summary", {}, "Every state"), states(plan)),
    );
  }

  residuals({ history = [], method }) {
    const known = history.filter(([, residual]) => residual > 0),
      step = unit(method);
    this.chart.relabel(`Residual: the largest change of a value in one ${step}, as a power of ten`, step);
    this.chart.show(
      [
        { name: "log₁₀ residual", xs: known.map(([x]) => x), ys: known.map(([, residual]) => Math.log10(residual)) },
      ].filter(() => known.length > 1),
    );
  }
}

/** What the method counts. */
const unit = (method) => (["vi", "jacobi", "topological"].includes(method) ? "sweep" : "iteration");

const counted = (count, noun) => `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;

/** Why values are infinite, and what to change. */
function infinite({ infinite: count, value, discount }) {
  const many = `${counted(count, "state")} ${count === 1 ? "has" : "have"} an infinite value`,
    gains = value.includes("inf");
  const why = gains ? "rewards can be collected without end" : "costs cannot be avoided and never end";
  return `${many}: with discount ${discount}, ${why} from there. A discount below 1 makes all values finite.`;
}

function states(plan) {
  const shown = plan.value.slice(0, ROWS),
    head = ["state", "value", "action", "at least", "at most"];
  const row = (value, i) =>
    h(
      "tr",
      {},
      h("th", { scope: "row", class: "num" }, i),
      [figure(value), plan.action[i] < 0 ? "–" : plan.action[i], figure(plan.lower[i]), figure(plan.upper[i])].map(
        (text) => h("td", { class: "num" }, text),
      ),
    );
  return h(
    "div",
    { class: "scroll tall", tabIndex: 0, role: "region", "aria-label": "Every state" },
    h(
      "table",
      { class: "facts" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          head.map((name) => h("th", { scope: "col", class: "num" }, name)),
        ),
      ),
      h("tbody", {}, shown.map(row)),
    ),
    plan.value.length > ROWS
      ? h("p", { class: "more" }, `${grouped(plan.value.length - ROWS)} more in the files`)
      : null,
  );
}
