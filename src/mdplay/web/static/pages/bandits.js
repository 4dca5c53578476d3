// Bandits: choose arms and policies, and watch their curves grow.
import { h, put } from "../lib/dom.js";
import { get } from "../lib/api.js";
import { Chart } from "../lib/chart.js";
import { Runner, blank, choice, field, lab, numeric } from "../lib/lab.js";
import { figure, grouped } from "../lib/words.js";

const USUAL = ["ucb1", "thompson", "epsilon-greedy", "softmax"];
const ASYMPTOTIC =
  "Dotted: the slope of Lai and Robbins. In the long run the regret of a consistent policy grows at least so fast " +
  "(with the logarithm of the pulls); of the first pulls the theorem says nothing.";
const PRESETS = [
  ["Four coins", "bernoulli", "0.9,0.8,0.7,0.5"],
  ["Two close coins", "bernoulli", "0.55,0.5"],
  ["Ten coins, one good", "bernoulli", "0.6,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5"],
  ["Ten Gaussian arms, new in each run", "gaussian", ""],
  ["Gaussian arms of means 0, 0.5, 1", "gaussian", "0,0.5,1"],
];

/** The slope of Lai and Robbins, below which no curve can stay: it bounds the growth in the long run, not the regret so far.
 *
 * Drawn over the second half of the pulls, from the lowest curve there.
 */
function slope(bound, steps, curves) {
  const xs = steps.slice(Math.floor(steps.length / 2));
  if (!bound || xs.length < 2) return [];
  const from = Math.min(...curves.map(({ regret }) => regret[steps.length - xs.length]));
  const ys = xs.map((step) => from + bound * Math.log(step / xs[0]));
  return [{ name: "asymptotic slope", xs, ys, dotted: true }];
}

export async function show(main) {
  new Bandits(main, await get("/bandits/policies"));
}

class Bandits {
  constructor(main, known) {
    this.known = known;
    this.kind = choice(
      [
        ["bernoulli", "Coins: 0 or 1"],
        ["gaussian", "Gaussian rewards"],
      ].map(([id, text]) => h("option", { value: id }, text)),
    );
    this.means = h("input", { value: PRESETS[0][2], spellcheck: false, autocomplete: "off" });
    this.steps = numeric(1000, 1, 100_000);
    this.runs = numeric(500, 1, 20_000);
    this.seed = numeric(0, 0, 2 ** 31);
    this.regret = new Chart({ title: "Regret: what was lost by not pulling the best arm", x: "pull" });
    this.best = new Chart({ title: "Share of pulls of the best arm", x: "pull" });
    this.table = h("div", { class: "scroll" });
    this.runner = new Runner(
      "Pull",
      () => this.begin(),
      () => this.clear(),
    );
    lab(
      main,
      "Bandits",
      "Several arms, unknown rewards. Explore too little and the best arm is missed; too much and it is not used.",
      this.form(),
      (this.blank = blank("The curves grow here.")),
      this.regret.root,
      (this.asymptotic = h("p", { class: "reason", hidden: true }, ASYMPTOTIC)),
      this.best.root,
      this.table,
    );
    this.begin();
  }

  form() {
    const preset = choice(
      PRESETS.map(([title], k) => h("option", { value: k }, title)),
      {
        onchange: (event) => {
          [, this.kind.value, this.means.value] = PRESETS[event.target.value];
        },
      },
    );
    const policies = this.known.map((name) =>
      h(
        "label",
        { class: "tick" },
        h("input", { type: "checkbox", name: "policy", value: name, checked: USUAL.includes(name) }),
        name,
      ),
    );
    this.boxes = policies.map((label) => label.firstChild);
    return h(
      "form",
      { class: "form", onsubmit: this.runner.submit },
      field("Arms", preset),
      field("Rewards", this.kind),
      field("Means", this.means, "Gaussian arms without means are drawn anew in each run"),
      h("fieldset", {}, h("legend", {}, "Policies"), h("div", { class: "ticks" }, policies)),
      h("div", { class: "pair" }, field("Pulls", this.steps), field("Runs", this.runs), field("Seed", this.seed)),
      this.runner.button,
      this.runner.state,
    );
  }

  /** Take the curves of other arms away. */
  clear() {
    this.regret.show([]);
    this.best.show([]);
    put(this.table);
    this.asymptotic.hidden = true;
    this.blank.hidden = false;
  }

  begin() {
    const policies = this.boxes
      .filter((box) => box.checked)
      .map((box) => box.value)
      .join(",");
    if (!policies) {
      this.runner.tell("Choose a policy.");
      return;
    }
    this.runner.run(
      "/bandits",
      {
        kind: this.kind.value,
        means: this.means.value,
        arms: 10,
        policies,
        steps: this.steps.value,
        runs: this.runs.value,
        seed: this.seed.value,
      },
      {
        bandit: ({ bound }) => {
          this.bound = bound;
        },
        curve: (told) => this.show(told),
      },
    );
  }

  show({ curves }) {
    const over = (key) => curves.map((curve) => ({ name: curve.policy, xs: curve.steps, ys: curve[key] })),
      { bound } = this;
    const steps = curves[0]?.steps ?? [];
    this.blank.hidden = true;
    this.regret.show([...over("regret"), ...slope(bound, steps, curves)]);
    this.asymptotic.hidden = !bound;
    this.best.show(over("optimal"));
    this.runner.tell(`${grouped(Math.min(...curves.map((curve) => curve.runs)))} runs`);
    const row = (curve) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, curve.policy),
        [curve.regret.at(-1), curve.optimal?.at(-1), curve.reward?.at(-1)].map((x) =>
          h("td", { class: "num" }, x === undefined ? "" : figure(x)),
        ),
      );
    put(
      this.table,
      h(
        "table",
        { class: "facts" },
        h("caption", {}, "At the last pull"),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            ["policy", "regret", "share of the best arm", "reward"].map((name, k) =>
              h("th", { scope: "col", class: k ? "num" : "" }, name),
            ),
          ),
        ),
        h("tbody", {}, [...curves].sort((a, b) => a.regret.at(-1) - b.regret.at(-1)).map(row)),
      ),
    );
  }
}
