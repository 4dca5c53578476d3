// 2048: tiles that slide and merge, the four directions as targets around the board, swipes.
import { put, s, still } from "../../lib/dom.js";

const TILE = 80,
  GAP = 5,
  EDGE = 52,
  PAD = 6; // in units of the picture
const COLOURS = 15,
  SWIPE = 28;
const FONTS = [0, 36, 34, 27, 22, 18]; // by the number of digits
const GLYPHS = {
  left: "M.6-1-.6 0 .6 1",
  right: "M-.6-1 .6 0-.6 1",
  up: "M-1 .6 0-.6 1 .6",
  down: "M-1-.6 0 .6 1-.6",
};
const MOVES = ["left", "right", "up", "down"];

export default class Tiles {
  steers = true; // the arrow keys push tiles

  constructor(root, { push }) {
    let from = null;
    root.classList.add("swipes");
    root.addEventListener("pointerdown", (event) => {
      from = event;
    });
    root.addEventListener("pointercancel", () => {
      from = null;
    });
    root.addEventListener("pointerup", (event) => {
      const way = from && direction(event.clientX - from.clientX, event.clientY - from.clientY);
      from = null;
      if (!way) return;
      this.swiped = performance.now();
      push(way);
    });
  }

  /** Tell whether a click was the end of a swipe. */
  dragged() {
    return performance.now() - (this.swiped ?? -Infinity) < 300;
  }

  draw(doc, { enter, before, action }) {
    const cells = exponents(doc.position),
      [rows, cols] = size(doc.params, cells.length);
    if (this.shape !== `${rows} ${cols}`) this.build(rows, cols);
    put(
      this.edges,
      doc.legal.map((move) => this.edge(move)),
    );
    const moving = enter && before && action !== null && !still();
    this.settle(cells, moving ? slides(exponents(before.position), MOVES[action], rows, cols) : null);
    return this.svg;
  }

  build(rows, cols) {
    Object.assign(this, {
      shape: `${rows} ${cols}`,
      cols,
      width: cols * TILE + 2 * PAD,
      height: rows * TILE + 2 * PAD,
      tiles: new Map(),
    });
    const side = TILE - 2 * GAP;
    const holes = Array.from({ length: rows * cols }, (_, cell) => {
      const [x, y] = this.middle(cell);
      return s("rect", { class: "hole", x: x - side / 2, y: y - side / 2, width: side, height: side, rx: 9 });
    });
    this.layer = s("g");
    this.edges = s("g");
    this.svg = s(
      "svg",
      { class: "mdplay tiles", viewBox: `${-EDGE} ${-EDGE} ${this.width + 2 * EDGE} ${this.height + 2 * EDGE}` },
      s("rect", { class: "panel", width: this.width, height: this.height, rx: 14 }),
      holes,
      this.layer,
      this.edges,
    );
  }

  middle(cell) {
    return [PAD + TILE * ((cell % this.cols) + 0.5), PAD + TILE * (Math.floor(cell / this.cols) + 0.5)];
  }

  // -------------------------------------------------------------- directions

  edge({ action, move }) {
    const { width, height } = this,
      out = EDGE / 2 + 1,
      across = move === "left" || move === "right";
    const [x, y] = {
      left: [-out, height / 2],
      right: [width + out, height / 2],
      up: [width / 2, -out],
      down: [width / 2, height + out],
    }[move];
    const box = across
      ? { x: x - 21, y: 8, width: 42, height: height - 16 }
      : { x: 8, y: y - 21, width: width - 16, height: 42 };
    return s(
      "g",
      { class: "move edge", "data-action": action, "data-at": `${x} ${y} 21` },
      s("rect", { class: "open", ...box, rx: 14 }),
      s("circle", { class: "seat", cx: x, cy: y, r: 20 }),
      this.glyph(action, x, y, 6),
    );
  }

  /** An arrow, where wins and losses have their shape. */
  glyph(action, x, y, r) {
    return s("path", { class: "way", d: GLYPHS[MOVES[action]], transform: `translate(${x} ${y}) scale(${r})` });
  }

  // -------------------------------------------------------------- tiles

  /** Bring the tiles to the cells; with slides, the old ones travel there first. */
  settle(cells, slid) {
    const next = new Map(),
      leaving = [];
    for (const { from, to } of slid ?? []) {
      const tile = this.tiles.get(from);
      if (!tile) continue;
      this.tiles.delete(from);
      this.move(tile, to);
      if (next.has(to)) leaving.push(tile);
      else next.set(to, tile);
    }
    for (const tile of this.tiles.values()) tile.remove();
    this.tiles = new Map();
    cells.forEach((value, cell) => {
      if (value) this.tiles.set(cell, this.become(next.get(cell), value, cell, leaving, slid));
    });
    for (const [cell, tile] of next) if (this.tiles.get(cell) !== tile && !leaving.includes(tile)) leaving.push(tile);
    for (const tile of leaving) {
      this.layer.prepend(tile);
      setTimeout(() => tile.remove(), slid ? 130 : 0);
    }
  }

  /** Return the tile that lies on a cell: the one that came, or a new one that grows there. */
  become(came, value, cell, leaving, slid) {
    if (came?.value === value) return came;
    if (came) leaving.push(came);
    const tile = this.tile(value, cell);
    const grown = came
      ? [
          { transform: "scale(.7)", opacity: 0 },
          { transform: "scale(1.12)", opacity: 1, offset: 0.6 },
          { transform: "none" },
        ]
      : [
          { transform: "scale(0)", opacity: 0 },
          { transform: "none", opacity: 1 },
        ];
    if (slid)
      tile.firstChild.animate(grown, {
        duration: 180,
        delay: 90,
        fill: "backwards",
        easing: "cubic-bezier(.2,.9,.3,1.1)",
      });
    return tile;
  }

  tile(value, cell) {
    const text = String(2 ** value),
      side = TILE - 2 * GAP,
      font = FONTS[text.length] ?? 18;
    const tile = s(
      "g",
      { class: "tile" },
      s(
        "g",
        { class: `face v${Math.min(value, COLOURS)}` },
        s("rect", { x: -side / 2, y: -side / 2, width: side, height: side, rx: 9 }),
        s("text", { "font-size": font, y: 0.36 * font }, text),
      ),
    );
    tile.value = value;
    this.layer.append(tile);
    this.move(tile, cell);
    return tile;
  }

  move(tile, cell) {
    const [x, y] = this.middle(cell);
    tile.style.transform = `translate(${x}px, ${y}px)`;
  }
}

const exponents = (position) => [...position.split("+")[0]].map((digit) => parseInt(digit, 16));

function size(params, cells) {
  const named = (name) => Number(new RegExp(`(?:^|,)${name}=(\\d+)`).exec(params ?? "")?.[1] ?? 4);
  return named("rows") * named("cols") === cells
    ? [named("rows"), named("cols")]
    : [Math.sqrt(cells), Math.sqrt(cells)].map(Math.round);
}

function direction(dx, dy) {
  if (Math.max(Math.abs(dx), Math.abs(dy)) < SWIPE) return null;
  return Math.abs(dx) > Math.abs(dy) ? (dx < 0 ? "left" : "right") : dy < 0 ? "up" : "down";
}

/** Where each tile of a board goes when it is pushed: [{from, to}]; two that go to one cell merge. */
function slides(cells, way, rows, cols) {
  const across = way === "left" || way === "right",
    far = way === "right" || way === "down";
  const length = across ? cols : rows,
    found = [];
  for (let lane = 0; lane < (across ? rows : cols); lane++) {
    const cell = (k) => {
      const p = far ? length - 1 - k : k;
      return across ? lane * cols + p : p * cols + lane;
    };
    let free = 0,
      waits = 0; // the next free place, and the tile before it that may still merge
    for (let k = 0; k < length; k++) {
      const value = cells[cell(k)];
      if (!value) continue;
      const merges = value === waits && value < COLOURS;
      found.push({ from: cell(k), to: cell(merges ? free - 1 : free) });
      waits = merges ? 0 : value;
      free += merges ? 0 : 1;
    }
  }
  return found;
}
