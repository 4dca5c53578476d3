// The keyboard.
import { $, h, toast } from "../lib/dom.js";
import { copy, help, newGame, rules, share } from "./dialogs.js";

const PUSHES = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };

export function keys(page, theme) {
  const { line } = page;
  const acts = {
    ArrowLeft: () => page.step(-1),
    ArrowRight: () => page.step(1),
    Home: () => page.go(0),
    End: () => page.go(line.end),
    " ": () => page.playBest(),
    h: () => page.hint(),
    v: () => page.toggleValues(),
    s: () => page.search.toggle(),
    p: () => page.players.toggle(),
    u: () => page.step(-1),
    Backspace: () => page.step(-1),
    r: () => page.step(1),
    i: () => rules(page),
    n: () => newGame(page),
    c: () => copy(),
    e: () => share(page),
    t: theme,
    "?": () => help(page),
    "/": () => type(page, ""),
  };
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || $("dialog[open]")) return;
    if (taken(event)) return;
    if (page.view?.steers && event.key in PUSHES) {
      event.preventDefault();
      page.push(PUSHES[event.key]);
      return;
    }
    const letter = event.key.length === 1,
      act = acts[letter ? event.key.toLowerCase() : event.key];
    if (letter && !event.altKey && !page.view?.steers && begins(page, event.key)) {
      event.preventDefault();
      type(page, event.key);
    } else if (act && (letter || !event.altKey)) {
      event.preventDefault();
      act();
    }
  });
}

/** Tell whether a legal move begins so: then the key is a move's, and Alt with it the command's. */
function begins(page, key) {
  return page.line.doc.legal.some(({ move }) => move.toLowerCase().startsWith(key.toLowerCase()));
}

/** Tell whether the element that has the focus wants this key for itself. */
function taken({ key, target }) {
  if (target.closest?.("input, textarea, select")) return true;
  return (key === " " || key === "Enter") && target.closest?.("button, a, summary") !== null;
}

/** A small field for a typed move, which is played as soon as it can mean only one. */
function type(page, first) {
  if (first && attempt(page, first, false)) return;
  $(".typing")?.remove();
  const field = h("input", { "aria-label": "Type a move", value: first, autocomplete: "off", spellcheck: false });
  const box = h("div", { class: "typing" }, h("span", { "aria-hidden": "true" }, "Move"), field);
  let open = true;
  const close = () => {
    if (open) {
      open = false;
      box.remove();
      page.board.root.querySelector("[tabindex='0']")?.focus({ preventScroll: true });
    }
  };
  field.addEventListener("input", () => {
    if (attempt(page, field.value, false)) close();
  });
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    if (event.key === "Enter") {
      if (attempt(page, field.value, true)) close();
      else toast("Not a legal move");
    }
  });
  page.board.root.parentNode.append(box);
  field.focus();
  field.setSelectionRange(first.length, first.length);
}

function attempt(page, text, sure) {
  const { legal } = page.line.doc,
    wanted = text.trim().toLowerCase();
  const meant = legal.find((move) => move.move.toLowerCase() === wanted);
  if (!meant || (!sure && legal.some((move) => move !== meant && move.move.toLowerCase().startsWith(wanted))))
    return false;
  page.choose(meant.action);
  return true;
}
