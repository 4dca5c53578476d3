// What stands around the board: the toolbar under it, the analysis beside it.
import { h, put } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { help, newGame, rules, share } from "./dialogs.js";

const button = (given, ...children) => h("button", { type: "button", ...given }, ...children);

/** A button with an icon, and with words where there is room. */
const tool = (name, key, title, act, text) =>
  button(
    {
      class: `tool${text ? " wide" : ""}`,
      title: `${title} (${key})`,
      "aria-label": text ? null : title,
      onclick: act,
    },
    icon(name),
    text ? h("span", {}, text) : null,
  );

/** Build the toolbar; the page keeps the buttons that change. */
export function toolbar(page) {
  const { line } = page;
  page.steps = [
    tool("first", "Home", "To the start", () => page.go(0)),
    tool("back", "←", "Back", () => page.step(-1)),
    tool("forward", "→", "Forward", () => page.step(1)),
    tool("last", "End", "To the end", () => page.go(line.end)),
  ];
  page.switch = tool("eye", "V", "Values on the board", () => page.toggleValues(), "Values");
  page.switch.setAttribute("aria-pressed", "true");
  const rest = [
    tool("book", "I", "Rules", () => rules(page)),
    tool("plus", "N", "New game", () => newGame(page)),
    tool("share", "E", "Share and save", () => share(page)),
    tool("help", "?", "Keys", () => help(page)),
  ];
  return h(
    "div",
    { class: "toolbar", role: "toolbar", "aria-label": "Game" },
    h("div", { class: "group", role: "group", "aria-label": "Through the game" }, page.steps),
    h(
      "div",
      { class: "group" },
      tool("hint", "H", "Show the best move", () => page.hint(), "Hint"),
      page.switch,
    ),
    page.players.controls,
    h("div", { class: "group" }, rest),
  );
}

/** A part of the analysis under its heading. */
const part = (id, title, body, aside) =>
  h(
    "section",
    { class: `part of-${id}`, "aria-labelledby": `part-${id}` },
    h("div", { class: "row" }, h("h2", { id: `part-${id}` }, title), aside),
    body,
  );

const curveTitle = ({ players, points, puzzle }) =>
  players === 2 ? "Value over the game" : puzzle ? "Moves to the solution" : points ? "Expected points" : "Expected result";

/** Build the analysis: the curve, the game, live search, every move. */
export function panel(page) {
  const { info } = page,
    whyNot = h("p", { class: "why", role: "status" });
  page.parts = {
    graph: part("graph", curveTitle(info), page.graph.root),
    moves: part("moves", "The game", page.moves.root),
    every: part("every", "Every move", [whyNot, page.every.root], info.opponents?.length > 1 ? against(page, whyNot) : null),
  };
  const search = h("section", { "aria-label": "Tree search" }, page.search.root);
  return h(
    "aside",
    { class: "panel-side", "aria-label": "Analysis" },
    page.report.root,
    page.parts.graph,
    page.parts.moves,
    page.training.root,
    search,
    page.parts.every,
  );
}

/** Values against a perfect opponent, or against one that moves at random; one that has no answer is not offered. */
function against(page, why) {
  const mark = () => {
    for (const one of choices) one.setAttribute("aria-pressed", String(one.value === page.opponent));
  };
  const choose = (id) => {
    page.opponent = id;
    put(why);
    mark();
    page.again();
  };
  const choice = (id, text) => button({ class: "seg", value: id, onclick: () => choose(id) }, text);
  const choices = [choice("perfect", "against perfect"), choice("uniform", "random")];
  page.against = {
    /** Go back to the perfect opponent, and say why. */
    refuse(message) {
      choose("perfect");
      choices[1].disabled = true;
      put(why, `Not available: ${message.replace(/\.$/, "")}.`);
    },
    allow() {
      choices[1].disabled = false;
      put(why);
    },
  };
  mark();
  return h("div", { class: "segs little", role: "group", "aria-label": "Values against which opponent" }, choices);
}
