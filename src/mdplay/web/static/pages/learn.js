// Learn: start a training, follow its curve, play with what came out.
import { h, put } from "../lib/dom.js";
import { get } from "../lib/api.js";
import { Chart } from "../lib/chart.js";
import { Runner, blank, choice, field, gameChoice, gameForm, lab, numeric, offerSizes } from "../lib/lab.js";
import { grouped } from "../lib/words.js";

export async function show(main) {
  await new Learn(main, await get("/games", { pictures: false })).ready;
}

class Learn {
  constructor(main, games) {
    this.games = games;
    this.game = gameChoice(games, () => this.chosen());
    this.game.value = games.find(({ chance }) => chance)?.id ?? games[0].id;
    this.params = choice([], { onchange: () => this.offered() });
    this.method = choice([]);
    this.episodes = numeric(10_000, 1, 1_000_000);
    this.seed = numeric(0, 0, 2 ** 31);
    this.chart = new Chart({ title: "What it earns on average, over the episodes", x: "episodes" });
    this.lines = h("pre", { class: "report" });
    this.result = h("div", { class: "outcome" });
    this.runner = new Runner("Train", () => this.begin());
    lab(
      main,
      "Learn",
      "A player that begins with nothing and teaches itself by playing. Its curve is measured while it grows.",
      this.form(),
      this.result,
      (this.blank = blank("The curve grows here, and what was learned can be played.")),
      this.chart.root,
      this.lines,
    );
    this.ready = this.chosen();
  }

  form() {
    return gameForm(
      this,
      field("Method", this.method),
      h("div", { class: "pair" }, field("Episodes", this.episodes), field("Seed", this.seed)),
    );
  }

  chosen() {
    offerSizes(this.paramsField, this.games.find(({ id }) => id === this.game.value).presets);
    return this.offered();
  }

  /** Which ways there are to learn a game depends on its size too. */
  async offered() {
    const methods = await get("/learn/methods", { game: this.game.value, params: this.params.value }).catch(() => []);
    put(
      this.method,
      methods.map((name) => h("option", { value: name }, name)),
    );
    this.runner.button.disabled = !methods.length;
    this.runner.tell(methods.length ? "" : "No method learns this game.");
  }

  begin() {
    const game = this.game.value,
      params = this.params.value;
    put(this.result);
    put(this.lines);
    this.show([]);
    this.runner.run(
      "/learn",
      { game, params, method: this.method.value, episodes: this.episodes.value, seed: this.seed.value },
      {
        stats: ({ done }) => this.runner.tell(`${grouped(done)} so far`),
        line: ({ text }) => {
          this.lines.append(`${text}\n`);
        },
        curve: ({ points }) => this.show(points),
        learned: (told) => this.learned(told, game, params),
      },
    );
  }

  show(points) {
    this.blank.hidden = points.length > 0;
    this.chart.show([{ name: "mean", xs: points.map(([x]) => x), ys: points.map(([, y]) => y) }]);
  }

  learned({ id, title, text }, game, params) {
    const address = (seat) => `/${game}?${new URLSearchParams({ ...(params ? { params } : {}), [seat]: id })}`;
    const two = this.games.find((one) => one.id === game).players === 2;
    put(this.lines, text);
    this.blank.hidden = true;
    this.runner.tell(title);
    put(
      this.result,
      h("a", { class: "solid", href: address("first") }, "Watch it play"),
      two ? h("a", { class: "quiet small filled", href: address("second") }, "Play against it") : null,
    );
  }
}
