// The first page: a gallery of the games, each with its own picture; and what there is beyond games.
import { h, picture, put, still } from "../lib/dom.js";
import { get } from "../lib/api.js";
import Cube from "../game/views/cube.js";

const KNOWN = { table: "solved", proof: "proof search", book: "proved", network: "learned", search: "tree search" };
const BEYOND = [
  ["plan", "Plan", "Give a Markov decision problem, or draw a grid: values, actions and proven bounds."],
  ["bandits", "Bandits", "Choose arms and policies, and watch their regret grow."],
  ["reinforcement", "Reinforcement learning", "Draw a grid, and watch an agent learn beside the exact values."],
  ["learn", "Learn", "Start a training, follow its curve, and play against the result."],
  ["tournament", "Tournament", "Let agents play each other, and see the table fill."],
  ["reproduction", "Reproduction", "Five systems, computed anew on this machine."],
];

export function show(main, games) {
  const ours = games.filter((game) => !game.own),
    own = games.filter((game) => game.own);
  main.className = "home";
  put(
    main,
    h(
      "div",
      { class: "lead" },
      h("h1", {}, "Play, and see the value of every move."),
      h("p", {}, "Exact where it can be proved, an honest estimate where it cannot. All of it runs on this machine."),
    ),
    own.length
      ? [
          h("h2", { class: "group-title" }, "Your own"),
          h("ul", { class: "gallery" }, own.map(card)),
          h("h2", { class: "group-title" }, "Games"),
        ]
      : null,
    h("ul", { class: "gallery" }, ours.map(card)),
    own.length
      ? null
      : h("p", { class: "aside" }, "Any game you write plays here too: ", h("code", {}, "mdplay serve your_game.py")),
    h("h2", { class: "group-title" }, "Beyond games"),
    h(
      "ul",
      { class: "beyond" },
      BEYOND.map(([path, title, text]) =>
        h(
          "li",
          {},
          h("a", { href: `/${path}` }, h("span", { class: "name" }, title), h("span", { class: "fact" }, text)),
        ),
      ),
    ),
  );
}

function card(game) {
  const thumb = new Thumb(game),
    tag = game.own ? "yours" : (KNOWN[game.solver] ?? game.solver);
  const link = h(
    "a",
    { class: "card", href: `/${game.id}` },
    thumb.root,
    h(
      "span",
      { class: "about" },
      h("span", { class: "name" }, game.title, h("span", { class: "tag" }, tag)),
      h("span", { class: "fact" }, game.fact),
    ),
  );
  link.addEventListener("pointerenter", () => thumb.begin());
  link.addEventListener("pointerleave", () => thumb.end());
  return h("li", {}, link);
}

/** A game's picture; under the pointer it plays its moves again, and the cube turns. */
class Thumb {
  constructor(game) {
    this.game = game;
    const colours = game.sides[0] === "White" ? " white-and-black" : "";
    this.root = h("span", { class: `thumb${colours}`, "aria-hidden": "true" });
    if (game.view === "cube") this.cube = new Cube(this.root, {}, "cube");
    this.show(game);
  }

  show(doc) {
    const svg = this.cube?.draw({ ...doc, legal: [] }) ?? picture(doc.svg);
    for (const name of ["width", "height", "aria-label"]) svg.removeAttribute(name);
    svg.querySelectorAll("title").forEach((title) => title.remove());
    put(this.root, svg);
  }

  begin() {
    if (still() || this.timer !== undefined || (!this.cube && !this.game.demo?.length)) return;
    this.ply = 0;
    this.step();
  }

  end() {
    cancelAnimationFrame(this.timer);
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  async step() {
    if (this.cube) {
      this.cube.turn(this.cube.yaw + 0.012, this.cube.pitch);
      this.timer = requestAnimationFrame(() => this.step());
      return;
    }
    const { demo, id } = this.game;
    this.timer = 0;
    this.ply = this.ply >= demo.length ? 1 : this.ply + 1;
    const doc = await get(`/games/${id}/position`, { moves: demo.slice(0, this.ply).join(",") }).catch(() => null);
    if (!doc || this.timer === undefined) return;
    this.show(doc);
    this.timer = setTimeout(() => this.step(), this.ply === demo.length ? 1600 : 420);
  }
}
