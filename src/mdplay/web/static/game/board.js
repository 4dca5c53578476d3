// The board: any picture whose moves are marked by data-action becomes buttons with values on them; a game without
// such a picture gets a button for each move.
import { h, picture, put, still } from "../lib/dom.js";
import { moveText } from "../lib/words.js";
import { spoken, writeChip } from "./chips.js";

const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const ASIDE = 2.2; // how much more a step aside counts than a step ahead

export class Board {
  constructor(root, view, { choose, point }) {
    Object.assign(this, { root, view, choose, point, values: new Map(), best: [], targets: [], cursor: null });
    root.addEventListener("click", (event) => this.clicked(event));
    root.addEventListener("keydown", (event) => this.pressed(event));
    root.addEventListener("pointerover", (event) => this.pointed(event));
    root.addEventListener("focusin", (event) => this.pointed(event));
    root.addEventListener("pointerleave", () => this.point(null));
    root.addEventListener("focusout", () => this.point(null));
    new ResizeObserver(() => this.rewrite()).observe(root);
  }

  /** Draw a position; with `enter` the last piece comes in by a movement. */
  show(doc, { enter = false, before = null, action = null } = {}) {
    const focused = document.activeElement?.closest?.(".move")?.dataset.action;
    this.preview(null);
    Object.assign(this, { doc, values: new Map(), best: [] });
    this.svg = this.view?.draw(doc, { enter, before, action }) ?? picture(doc.svg);
    this.dress(doc);
    this.place(doc);
    this.restore(focused);
    if (enter && !still()) this.enter();
    this.root.classList.toggle("ended", doc.over);
  }

  /** Show the picture of another position over the board, or the board again. */
  preview(doc) {
    this.over?.remove();
    this.over = null;
    this.root.classList.toggle("previews", Boolean(doc?.svg));
    if (!doc?.svg || this.view) return;
    const svg = picture(doc.svg);
    for (const name of ["width", "height"]) svg.removeAttribute(name);
    svg.classList.add("board");
    this.over = h("div", { class: "preview", "aria-hidden": "true" }, svg);
    this.root.append(this.over);
  }

  dress(doc) {
    const { svg } = this,
      legal = new Map(doc.legal.map((move) => [String(move.action), move]));
    for (const name of ["width", "height"]) svg.removeAttribute(name);
    svg.classList.add("board");
    svg.setAttribute("role", "group");
    svg.setAttribute("aria-label", `Board. ${doc.status}`);
    this.targets = [];
    for (const target of svg.querySelectorAll(".move[data-action]")) {
      const move = legal.get(target.dataset.action);
      if (move) this.targets.push(button(target, move));
      else target.classList.remove("move");
    }
  }

  place(doc) {
    const { svg, root } = this,
      { width, height } = svg.viewBox.baseVal,
      typed = svg.querySelector("text.code") !== null;
    svg.classList.toggle("typed", typed);
    if (root.firstChild !== svg || root.childNodes.length > 1) put(root, svg);
    if (width) root.closest(".table")?.style.setProperty("--ratio", typed ? "1" : (width / height).toFixed(4));
    if (typed) svg.style.maxWidth = `${Math.round(1.6 * width)}px`;
    if (!this.targets.length && doc.legal.length) this.offer(doc);
  }

  /** A button for each move, for games without marked targets. */
  offer(doc) {
    this.targets = doc.legal.map((move) =>
      h(
        "button",
        { class: "move plain-move", "data-action": move.action },
        h("span", { class: "plain-text" }, moveText(move.move)),
      ),
    );
    this.root.append(h("div", { class: "plain-moves", role: "group", "aria-label": "Moves" }, this.targets));
  }

  /** Keep one target in the tab order, and the focus where it was. */
  restore(focused) {
    const named = (action) => this.targets.find((target) => target.dataset.action === action);
    const kept = named(focused) ?? named(this.cursor) ?? this.targets[0];
    if (kept instanceof SVGElement) kept.setAttribute("tabindex", "0");
    if (focused !== undefined) (kept ?? this.root).focus({ preventScroll: true });
  }

  enter() {
    const last = this.svg.querySelector(".last"),
      { svg } = this;
    if (!last) return;
    const fall = Number(last.dataset.fall ?? 0),
      time = fall ? 150 + ((58 * Math.sqrt(fall)) / 3.4) * 1.1 : 170;
    svg.classList.add("entering"); // values wait until the piece lies
    setTimeout(() => svg.classList.remove("entering"), time);
    last.animate(
      fall
        ? falling(fall)
        : [
            { opacity: 0, transform: "scale(.7)" },
            { opacity: 1, transform: "none" },
          ],
      { duration: time, easing: fall ? "linear" : "cubic-bezier(.2,.9,.3,1.2)" },
    );
  }

  // -------------------------------------------------------------- values

  value(entry) {
    this.values.set(entry.action, entry);
    this.write(entry.action);
  }

  setBest(best) {
    const changed = new Set([...this.best, ...best]);
    this.best = best;
    for (const action of changed) this.write(action);
  }

  rewrite() {
    for (const action of this.values.keys()) this.write(action);
  }

  write(action) {
    const target = this.target(action),
      entry = this.values.get(action),
      best = this.best.includes(action);
    if (!target || !entry) return;
    writeChip(target, entry, best, this.svg, this.view);
    if (target instanceof SVGElement)
      target.setAttribute("aria-label", `${this.name(action)}, ${spoken(entry, best)}`);
  }

  target(action) {
    return this.targets.find((target) => target.dataset.action === String(action));
  }

  name(action) {
    return this.doc.legal.find((move) => move.action === action)?.name ?? "";
  }

  /** Point out a move for a moment. */
  hint(action) {
    const target = this.target(action);
    if (!target) return;
    target.classList.remove("hinted");
    target.getBoundingClientRect(); // so that the animation begins again
    target.classList.add("hinted");
    setTimeout(() => target.classList.remove("hinted"), 1800);
  }

  // -------------------------------------------------------------- hands

  clicked(event) {
    const target = event.target.closest?.(".move[data-action]");
    if (target && !this.view?.dragged?.()) this.choose(Number(target.dataset.action));
  }

  pointed(event) {
    const target = event.target.closest?.(".move[data-action]");
    const action = target ? Number(target.dataset.action) : null;
    this.view?.over?.(action);
    this.point(action);
  }

  pressed(event) {
    const target = event.target.closest?.("g.move[data-action]");
    if (!target || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") this.pressedPlay(event, target);
    else if (event.key in WAYS && !this.view?.steers) this.pressedWay(event, target);
  }

  pressedPlay(event, target) {
    event.preventDefault();
    event.stopPropagation();
    this.cursor = target.dataset.action;
    this.choose(Number(target.dataset.action));
  }

  pressedWay(event, target) {
    event.preventDefault();
    event.stopPropagation();
    const to = nearest(this.targets, target, WAYS[event.key]);
    if (!to) return;
    target.setAttribute("tabindex", "-1");
    to.setAttribute("tabindex", "0");
    to.focus({ preventScroll: true });
    this.cursor = to.dataset.action;
  }
}

/** Make a marked group a button named after its move; its title becomes the name, and no tooltip. */
function button(target, move) {
  const title = target.querySelector("title");
  if (title?.textContent) move.name = title.textContent;
  title?.remove();
  target.setAttribute("role", "button");
  target.setAttribute("tabindex", "-1");
  target.setAttribute("aria-label", move.name);
  return target;
}

/** Down with weight, a small bounce, rest. */
const falling = (height) => [
  { transform: `translateY(${-height}px)`, easing: "cubic-bezier(.5,0,.9,.6)" },
  { transform: "none", offset: 0.74, easing: "cubic-bezier(.2,.6,.4,1)" },
  { transform: `translateY(${-0.05 * height}px)`, offset: 0.87, easing: "cubic-bezier(.6,0,.8,.4)" },
  { transform: "none" },
];

const centre = (node) => {
  const box = node.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
};

/** The nearest target in a direction: what lies straight ahead counts before what lies aside. */
function nearest(targets, from, [dx, dy]) {
  const [x, y] = centre(from);
  let best = null,
    least = Infinity;
  for (const node of targets) {
    const [a, b] = centre(node),
      ahead = (a - x) * dx + (b - y) * dy,
      aside = Math.abs((a - x) * dy) + Math.abs((b - y) * dx);
    const cost = ahead + ASIDE * aside;
    if (node !== from && ahead > 3 && cost < least) [best, least] = [node, cost];
  }
  return best;
}
