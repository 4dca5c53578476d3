// Learn: start a training, follow its curve, play with what came out.
import { h, keepForNow, keptForNow, put } from "../lib/dom.js";
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
    this.chart = new Chart({ title: "", x: "episodes" });
    this.lines = h("pre", { class: "report" });
    this.result = h("div", { class: "outcome" });
    this.runner = new Runner(
      "Train",
      () => this.begin(),
      () => this.clear(),
    );
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
    this.ready = this.chosen().then(() => this.restore());
  }

  /** Take away what was learned before. */
  clear() {
    put(this.result);
    put(this.lines);
    this.show({ title: "", series: [] });
  }

  /** Show again what was learned before another page was visited. */
  restore() {
    const kept = keptForNow("learned");
    if (!kept || !this.games.some(({ id }) => id === kept.game)) return;
    this.show(kept.curve);
    this.learned(kept.told, kept.game, kept.params);
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
    this.runner.run(
      "/learn",
      { game, params, method: this.method.value, episodes: this.episodes.value, seed: this.seed.value },
      {
        stats: ({ done }) => this.runner.tell(`${grouped(done)} so far`),
        line: ({ text }) => {
          this.lines.append(`${text}\n`);
        },
        curve: (curve) => this.show(curve),
        learned: (told) => this.learned(told, game, params),
      },
    );
  }

  /** Show the curves: what one player earns; of two players the score and the share of optimal moves. */
  show(curve) {
    const { title, series } = (this.curve = curve);
    this.blank.hidden = series.length > 0;
    this.chart.relabel(title, "episodes");
    const line = ({ name, points }) => ({ name, xs: points.map(([x]) => x), ys: points.map(([, y]) => y) });
    this.chart.show(series.map(line));
  }

  learned(told, game, params) {
    const { id, title, text } = told,
      { title: name } = this.games.find((one) => one.id === game);
    keepForNow("learned", { told, game, params, curve: this.curve });
    const address = (seat) => `/${game}?${new URLSearchParams({ ...(params ? { params } : {}), [seat]: id })}`;
    const two = this.games.find((one) => one.id === game).players === 2;
    put(this.lines, text);
    this.blank.hidden = true;
    this.runner.tell(`${name}${params ? `, ${params}` : ""}: ${title}`);
    put(
      this.result,
      h("a", { class: "solid", href: address("first") }, "Watch it play"),
      two ? h("a", { class: "quiet small filled", href: address("second") }, "Play against it") : null,
    );
  }
}
