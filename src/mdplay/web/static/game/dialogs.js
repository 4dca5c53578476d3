// What opens over the game: a new game, sharing and records, the keys.
import { download, h, put, toast } from "../lib/dom.js";
import { get, post } from "../lib/api.js";
import { closeDialog, dialog } from "../lib/dialog.js";
import { capital } from "../lib/words.js";
import { meanings } from "./legend.js";

const KEYS = [
  ["← →", "back and forward through the game"],
  ["Home End", "to the start, to the end"],
  ["Tab", "to the board; arrows move over it, Enter plays"],
  ["/", "type a move; so does the first letter of one, and then Alt is held for the letters below"],
  ["Space", "play the best move"],
  ["H", "hint"],
  ["V", "values on and off"],
  ["S", "search, stop"],
  ["P", "pause and resume the agents"],
  ["U", "take back"],
  ["R", "forward again"],
  ["I", "rules of the game"],
  ["N", "new game"],
  ["C", "copy the link"],
  ["E", "share, save and open records"],
  ["T", "light or dark"],
  ["?", "this help"],
];
const PUSH = [
  ["← → ↑ ↓", "push the tiles"],
  ["Home End", "to the start, to the end"],
];

/** Every key, and what it does. */
export function help(page) {
  const rows = page.view?.steers ? [...PUSH, ...KEYS.slice(3)] : KEYS;
  const keys = (text) => text.split(" or ").flatMap((key, i) => [i ? " or " : null, h("kbd", {}, key)]);
  dialog(
    "Keys",
    h(
      "dl",
      { class: "keys" },
      rows.map(([key, what]) => h("div", {}, h("dt", {}, keys(key)), h("dd", {}, what))),
    ),
  );
}

// ---------------------------------------------------------------- the rules

/** The rules of the game, what the marks mean, and what is known. */
export function rules(page) {
  const { info } = page;
  const known = info.facts?.length ? [h("h3", {}, "Known results"), h("ul", {}, info.facts.map((fact) => h("li", {}, fact)))] : null;
  const told = info.rules?.length ? info.rules : ["This game has no written rules; write them as the docstring of its class."];
  dialog(
    `${info.title}: rules`,
    h(
      "div",
      { class: "rules" },
      told.map((paragraph) => h("p", {}, paragraph)),
      h("h3", {}, "Values"),
      h("ul", { class: "meanings" }, meanings(page).map((one) => h("li", {}, one))),
      known,
    ),
  );
}

// ---------------------------------------------------------------- a new game

/** Choose a size, or all parameters, and begin. */
export function newGame(page) {
  const { info, line } = page;
  const why = h("p", { class: "why", role: "alert" });
  const begin = async (params) => {
    const fault = await page.fault({ params });
    put(why, fault);
    if (!fault) closeDialog();
  };
  if (!info.parameters.length) {
    begin("");
    return;
  }
  const presets = info.presets.length ? info.presets : [{ title: "As it was written", params: "" }];
  const choices = presets.map(({ title, params }) =>
    h(
      "button",
      { class: `preset${params === line.params ? " here" : ""}`, type: "button", onclick: () => begin(params) },
      title,
    ),
  );
  dialog(
    "New game",
    h("div", { class: "presets" }, choices),
    h("details", {}, h("summary", {}, "All parameters"), form(info.parameters, line.params, begin)),
    why,
  );
}

function form(parameters, params, begin) {
  const now = new Map(
    params
      .split(",")
      .filter(Boolean)
      .map((pair) => pair.split("=")),
  );
  const fields = parameters.map((parameter) => [
    parameter,
    input(parameter, now.get(parameter.name) ?? String(parameter.default)),
  ]);
  const submit = (event) => {
    event.preventDefault();
    begin(
      fields
        .map(([parameter, field]) => given(parameter, field))
        .filter(Boolean)
        .join(","),
    );
  };
  return h(
    "form",
    { class: "fields", onsubmit: submit },
    fields.map(([parameter, field]) => h("label", { class: "field" }, parameter.name, field)),
    h("button", { class: "solid small" }, "Start"),
  );
}

function input({ name, kind, low, high }, now) {
  if (kind === "bool") return h("input", { name, type: "checkbox", checked: /^true$/i.test(now) });
  const number = kind === "int" || kind === "float";
  return h("input", {
    name,
    type: number ? "number" : "text",
    min: low,
    max: high,
    step: kind === "float" ? "any" : null,
    value: now,
  });
}

function given({ name, kind, default: usual }, field) {
  const value = kind === "bool" ? String(field.checked) : field.value;
  return value.toLowerCase() === String(usual).toLowerCase() ? "" : `${name}=${value}`;
}

// ---------------------------------------------------------------- sharing

/** The link, the moves, and the record as a file, both ways. */
export function share(page) {
  const { line, info } = page;
  const link = h("input", {
    readOnly: true,
    value: location.href,
    id: "share-link",
    onfocus: (event) => event.target.select(),
  });
  const moves = h("textarea", { rows: 3, id: "share-moves", spellcheck: false, value: line.moves().join(",") });
  const file = h("input", {
    type: "file",
    accept: ".json,.jsonl,application/json",
    id: "share-file",
    class: "unseen",
    onchange: (event) => read(page, event.target.files[0]),
  });
  dialog(
    "Share and save",
    h("label", { htmlFor: "share-link" }, "Link to this position"),
    h(
      "div",
      { class: "with" },
      link,
      h("button", { class: "solid small", type: "button", onclick: () => copy() }, "Copy"),
    ),
    info.chance
      ? null
      : [
          h("label", { htmlFor: "share-moves" }, "Moves"),
          h(
            "div",
            { class: "with" },
            moves,
            h(
              "button",
              { class: "quiet small filled", type: "button", onclick: () => playMoves(page, moves.value) },
              "Play these",
            ),
          ),
        ],
    h(
      "div",
      { class: "with" },
      h(
        "button",
        { class: "quiet small filled", type: "button", id: "export", onclick: () => save(page) },
        "Save the record",
      ),
      h("label", { class: "quiet small filled", htmlFor: "share-file" }, "Open a record"),
      file,
    ),
  );
}

export async function copy() {
  try {
    await navigator.clipboard.writeText(location.href);
    toast("Link copied");
  } catch {
    toast("The browser does not allow copying; the link is in the address bar");
  }
}

async function playMoves(page, text) {
  const moves = text.trim().replaceAll(/[\s,]+/g, ",");
  if (await page.begin({ params: page.line.params, from: page.line.start, moves })) closeDialog();
}

/** The game as a record that `mdplay` reads on the command line too. */
async function save({ line, players, info }) {
  try {
    const [first, second] = players.seats.map((seat, i) => players.text(i) || "person"),
      { cut, ...game } = line.told();
    const record = await get(`${line.path}/record`, { ...game, first, second });
    download(`${info.id}.jsonl`, `${JSON.stringify(record)}\n`, "application/json");
    if (cut) toast(`A long game: the record has what came after move ${cut}`);
  } catch (error) {
    toast(error.message);
  }
}

/** Open a record: here, or on the page of its game. */
async function read(page, file) {
  if (!file) return;
  try {
    const record = JSON.parse((await file.text()).trim().split("\n")[0]);
    const found = await post("/records", { game: page.info.own ? page.info.id : "" }, record);
    if (found.game !== page.info.id) {
      location.assign(
        `/${found.game}?${new URLSearchParams({ params: found.params, from: found.from, moves: found.moves.join(",") })}`,
      );
      return;
    }
    await page.load(found);
    closeDialog();
    toast("Game loaded");
  } catch (error) {
    toast(error instanceof SyntaxError ? "This is not an mdplay game file" : capital(error.message));
  }
}
