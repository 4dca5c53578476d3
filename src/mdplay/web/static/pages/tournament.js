// Tournament: choose agents, and watch the cross table fill.
import { h, put } from "../lib/dom.js";
import { get } from "../lib/api.js";
import { icon } from "../lib/icons.js";
import { Runner, blank, choice, field, gameChoice, gameForm, lab, numeric, offerSizes } from "../lib/lab.js";
import { grouped } from "../lib/words.js";

export async function show(main) {
  const games = (await get("/games", { pictures: false })).filter(({ players }) => players === 2);
  new Tournament(main, games);
}

class Tournament {
  constructor(main, games) {
    Object.assign(this, { games, agents: [] });
    this.game = gameChoice(games, () => this.chosen());
    this.params = choice([]);
    this.list = h("ul", { class: "agents" });
    this.adding = h("div", { class: "adding" });
    this.rounds = numeric(20, 2, 200);
    this.seed = numeric(0, 0, 2 ** 31);
    this.table = h("div", { class: "scroll" });
    this.runner = new Runner(
      "Start",
      () => this.begin(),
      () => this.clear(),
    );
    lab(
      main,
      "Tournament",
      "Round robin; each pair plays both sides. Elo with 95\u00a0% confidence intervals.",
      this.form(),
      this.table,
    );
    this.game.value = games.find(({ id }) => id === "tic-tac-toe")?.id ?? games[0].id;
    this.chosen();
  }

  get info() {
    return this.games.find(({ id }) => id === this.game.value);
  }

  form() {
    return gameForm(
      this,
      h("fieldset", {}, h("legend", {}, "Agents"), this.list, this.adding),
      h("div", { class: "pair" }, field("Games per pair", this.rounds), field("Seed", this.seed)),
    );
  }

  /** Take the table of another tournament away. */
  clear() {
    put(this.table, blank("The cross table fills here."));
  }

  chosen() {
    const { agents, presets } = this.info;
    this.runner.question.stop();
    this.runner.tell("");
    this.clear();
    offerSizes(this.paramsField, presets);
    this.agents = agents
      .flatMap(({ id, setting }) => (setting ? [`${id}:${setting.values[1] ?? setting.default}`] : [id]))
      .slice(0, 4);
    this.chosenAgents();
    const who = choice(
      agents.map(({ id, title }) => h("option", { value: id }, title)),
      { "aria-label": "Agent", onchange: () => this.offer(who) },
    );
    this.offer(who);
  }

  /** A line to add another agent with its setting. */
  offer(who) {
    const { setting } = this.info.agents.find(({ id }) => id === who.value);
    const value = setting
      ? choice(
          setting.values.map((one) => h("option", { value: one, selected: one === setting.default }, grouped(one))),
          { "aria-label": setting.title ?? setting.name },
        )
      : null;
    const add = () => {
      const one = value ? `${who.value}:${value.value}` : who.value;
      if (!this.agents.includes(one)) this.agents.push(one);
      this.chosenAgents();
    };
    put(this.adding, who, value, h("button", { class: "quiet small filled", type: "button", onclick: add }, "Add"));
  }

  /** The agents that will play, each with a button that removes it. */
  chosenAgents() {
    const drop = (one) => {
      this.agents = this.agents.filter((other) => other !== one);
      this.chosenAgents();
    };
    put(
      this.list,
      this.agents.map((one) =>
        h(
          "li",
          {},
          h("span", {}, this.title(one)),
          h(
            "button",
            {
              class: "quiet small",
              type: "button",
              "aria-label": `Remove ${this.title(one)}`,
              onclick: () => drop(one),
            },
            icon("close"),
          ),
        ),
      ),
    );
  }

  title(agent) {
    const [id, setting] = agent.split(":"),
      known = this.info.agents.find((one) => one.id === id);
    return `${known?.title ?? id}${setting ? ` ${grouped(Number(setting))}` : ""}`;
  }

  begin() {
    if (this.agents.length < 2) {
      this.runner.tell("Choose at least two agents.");
      return;
    }
    const { agents, info } = this,
      began = performance.now();
    this.runner.run(
      "/tournament",
      {
        game: this.game.value,
        params: this.params.value,
        agents: agents.join(","),
        games: this.rounds.value,
        seed: this.seed.value,
      },
      {
        stats: (told) => this.runner.tell(progress(told, (performance.now() - began) / 1000)),
        table: (told) => this.show(told, agents, info.title),
      },
    );
  }

  /** The cross table so far; the server names agents by their specs, in the order in which they were asked for. */
  show({ agents: specs, done, total, cells, ratings }, asked, game) {
    const title = (spec) => this.title(asked[specs.indexOf(spec)] ?? spec);
    const order = [
      ...ratings.map(({ agent }) => agent),
      ...specs.filter((spec) => !ratings.some(({ agent }) => agent === spec)),
    ];
    const head = ["", "agent", "Elo", "score", "games", ...order.map((_, k) => k + 1)];
    const row = (spec, i) =>
      h(
        "tr",
        {},
        h("td", { class: "num" }, i + 1),
        h("th", { scope: "row" }, title(spec)),
        rated(ratings.find(({ agent }) => agent === spec)),
        order.map((other) => cell(score(cells, spec, other), spec === other)),
      );
    put(
      this.table,
      h(
        "table",
        { class: "facts cross-table" },
        h(
          "caption",
          {},
          `${game}, ${grouped(done)} of ${grouped(total)} games: the share of points that the row took from the column`,
        ),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            head.map((name, k) =>
              name === "" ? h("td", {}) : h("th", { scope: "col", class: k === 1 ? "" : "num" }, name),
            ),
          ),
        ),
        h("tbody", {}, order.map(row)),
      ),
    );
  }
}

const SURE = 3; // games after which the time of the others is estimated

/** How many games were played, and how long the others will take. */
function progress({ done, total, limit }, seconds) {
  const played = `${grouped(done)} of ${grouped(total)} games`;
  if (done < SURE || done === total) return played;
  const left = (seconds / done) * (total - done);
  const words = left < 90 ? `${Math.ceil(left)} s` : `${Math.round(left / 60)} min`;
  const beyond = seconds + left > limit ? `, more than the ${Math.round(limit / 60)} min that the page allows` : "";
  return `${played}, about ${words} left${beyond}`;
}

const rated = (rating) => {
  const round = (x) =>
    typeof x === "number" ? String(Math.round(x)).replace("-", "−") : x.replace("inf", "∞").replace("-", "−");
  const texts = rating
    ? [`${round(rating.elo)} ± ${round(rating.reach)}`, rating.score.toFixed(3), grouped(rating.games)]
    : ["", "", ""];
  return texts.map((text) => h("td", { class: "num" }, text));
};

/** What the row took from the column, if they have met. */
function score(cells, row, column) {
  const met = cells.find(({ agents }) => agents.includes(row) && agents.includes(column));
  return met ? (met.agents[0] === row ? met.score : 1 - met.score) : null;
}

/** A score as number and colour: green took more, purple took less. */
function cell(score, own) {
  if (own) return h("td", { class: "num own" }, "–");
  if (score === null || score === undefined) return h("td", { class: "num" }, "·");
  const node = h(
    "td",
    { class: `num score ${score > 0.5 ? "win" : score < 0.5 ? "loss" : "draw"}` },
    score.toFixed(2),
  );
  node.style.setProperty("--strength", Math.abs(2 * score - 1).toFixed(2));
  return node;
}
