// What the pages beyond games share: a heading, a form that starts and stops one stream, a place for what comes.
import { h, put, say } from "./dom.js";
import { icon } from "./icons.js";
import { Question, trouble } from "./question.js";

/** Lay a page out: a serif heading, the form at the left, the results at the right. */
export function lab(main, title, text, form, ...results) {
  main.className = "lab";
  put(
    main,
    h("div", { class: "lab-lead" }, h("h1", {}, title), h("p", {}, text)),
    h("div", { class: "bench" }, form, h("div", { class: "results" }, results)),
  );
}

/** A labelled field. */
export const field = (label, control, hint) =>
  h("label", { class: "wide-field" }, h("span", {}, label), control, hint ? h("small", {}, hint) : null);

export const choice = (options, given = {}) => h("select", { class: "choice", ...given }, options);

export const numeric = (value, min, max, given = {}) => h("input", { type: "number", value, min, max, ...given });

/** Offer the sizes of a game; a field with one choice is hidden. */
export function offerSizes(field, presets) {
  put(
    field.querySelector("select"),
    presets.map(({ params, title }) => h("option", { value: params }, title)),
  );
  field.hidden = presets.length < 2;
}

/** The choice of a game. */
export const gameChoice = (games, onchange) =>
  choice(
    games.map(({ id, title }) => h("option", { value: id }, title)),
    { onchange },
  );

/** The form of a page about a game: which one and how large, what else is asked, and the button. */
export function gameForm(page, ...fields) {
  page.paramsField = field("Size", page.params);
  return h(
    "form",
    { class: "form", onsubmit: page.runner.submit },
    field("Game", page.game),
    page.paramsField,
    fields,
    page.runner.button,
    page.runner.state,
  );
}

/** What stands where results will come. */
export const blank = (text) => h("p", { class: "blank" }, text);

/** A button that asks a question and stops it, with the state of the question below; `clear` takes old results away. */
export class Runner {
  constructor(words, begin, clear = () => {}) {
    Object.assign(this, { words, begin, clear });
    this.button = h("button", { class: "solid run", type: "submit" });
    this.state = h("div", { class: "state", role: "status" });
    this.question = new Question(() => this.asked());
    this.label();
  }

  get running() {
    return this.question.running;
  }

  label() {
    put(this.button, icon(this.running ? "stop" : "play"), this.running ? "Stop" : this.words);
  }

  /** Be the handler of a form's submission. */
  get submit() {
    return (event) => {
      event.preventDefault();
      if (this.running) this.stop();
      else this.begin();
    };
  }

  stop() {
    this.question.stop();
    this.tell("Stopped.");
  }

  tell(text) {
    put(this.state, text);
  }

  /** Show the state of the question. */
  asked() {
    const { question } = this;
    this.label();
    if (question.state === "failed") put(this.state, trouble(question));
    else if (question.running) this.tell(question.notice || "Working …");
  }

  /** Ask; what an earlier question answered does not stay beside this one. */
  run(path, query, on, body) {
    this.clear();
    const ended = () => {
      if (this.state.textContent === "Working …") this.tell("");
      on.end?.();
      say("Done");
    };
    this.question.ask(path, query, { ...on, end: ended }, body);
  }
}
