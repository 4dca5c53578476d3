// Qubic: four layers side by side, or the cube, which can be turned.  Both are made of the position's text.
import { h, put, remember, remembered, s } from "../../lib/dom.js";

const SIZE = 4,
  SPREAD = 82,
  RISE = 96,
  FAR = 950; // of the cube, in units of the picture
const LOWEST = -0.2,
  HIGHEST = 1.4; // how far the cube may be tilted
const DRAG = 5,
  PIXELS = 160; // pixels that make a drag, and pixels of one radian
const xyz = (cell) => [cell % SIZE, Math.floor(cell / SIZE) % SIZE, Math.floor(cell / SIZE ** 2)];
const CELLS = Array.from({ length: SIZE ** 3 }, (_, cell) => cell);
const RIM = [
  [-0.5, -0.5],
  [3.5, -0.5],
  [3.5, 3.5],
  [-0.5, 3.5],
];

/** Every row of four cells: one direction of each pair. */
const LINES = (() => {
  const steps = [-1, 0, 1],
    found = [];
  for (const cell of CELLS)
    for (const dz of steps)
      for (const dy of steps)
        for (const dx of steps) {
          if (dz * 9 + dy * 3 + dx <= 0) continue;
          const [x, y, z] = xyz(cell),
            row = [0, 1, 2, 3].map((k) => [x + k * dx, y + k * dy, z + k * dz]);
          if (row.flat().every((v) => v >= 0 && v < SIZE))
            found.push(row.map(([a, b, c]) => a + SIZE * b + SIZE ** 2 * c));
        }
  return found;
})();

export default class Cube {
  constructor(root, on = {}, mode = remembered("cube") ?? "layers") {
    Object.assign(this, { root, redraw: on.redraw, mode, yaw: -0.62, pitch: 0.46, line: [] });
    if (on.redraw) this.listen();
  }

  /** In the cube there is room for the best move's number only. */
  get crowded() {
    return this.mode === "cube";
  }

  dragged() {
    return performance.now() - (this.turned ?? -Infinity) < 250;
  }

  listen() {
    let from = null;
    this.root.addEventListener("pointerdown", (event) => {
      if (this.mode === "cube") from = { x: event.clientX, y: event.clientY, yaw: this.yaw, pitch: this.pitch };
    });
    addEventListener("pointerup", () => {
      from = null;
    });
    addEventListener("pointermove", (event) => {
      if (!from) return;
      const dx = event.clientX - from.x,
        dy = event.clientY - from.y;
      if (Math.hypot(dx, dy) < DRAG && !this.dragged()) return;
      this.turned = performance.now();
      this.turn(from.yaw + dx / PIXELS, from.pitch + dy / PIXELS);
    });
  }

  turn(yaw, pitch) {
    this.yaw = yaw;
    this.pitch = Math.max(LOWEST, Math.min(HIGHEST, pitch));
    this.pose();
  }

  controls() {
    const mode = (id, text) =>
      h(
        "button",
        { class: "seg", type: "button", "aria-pressed": String(this.mode === id), onclick: () => this.choose(id) },
        text,
      );
    const turn = (name, dy, dp, text) =>
      h(
        "button",
        {
          class: "quiet small",
          type: "button",
          title: name,
          "aria-label": name,
          hidden: this.mode !== "cube",
          onclick: () => this.turn(this.yaw + dy, this.pitch + dp),
        },
        text,
      );
    this.bar = h(
      "div",
      { class: "viewbar" },
      h(
        "div",
        { class: "segs", role: "group", "aria-label": "View" },
        mode("layers", "Layers"),
        mode("cube", "Cube"),
      ),
      turn("Turn left", -0.26, 0, "←"),
      turn("Turn right", 0.26, 0, "→"),
      turn("Tilt up", 0, -0.2, "↑"),
      turn("Tilt down", 0, 0.2, "↓"),
    );
    return this.bar;
  }

  choose(mode) {
    this.mode = mode;
    remember("cube", mode);
    this.bar.replaceWith(this.controls());
    this.redraw();
  }

  // -------------------------------------------------------------- drawing

  draw(doc) {
    this.doc = doc;
    this.line = [];
    this.marks = doc.position.replaceAll(/[^xo.]/g, "");
    this.legal = new Map(doc.legal.map((move) => [move.action, move]));
    this.won =
      LINES.find((row) => row.every((cell) => this.marks[cell] !== "." && this.marks[cell] === this.marks[row[0]])) ??
      [];
    this.root.classList.toggle("turns", this.mode === "cube");
    return this.mode === "cube" ? this.cube() : this.layers();
  }

  cell(cell, r, hole = r) {
    const free = this.legal.has(cell),
      empty = this.marks[cell] === ".";
    return s(
      "g",
      {
        class: `cell${free ? " move" : ""}${empty ? " empty" : ""}`,
        "data-cell": cell,
        "data-action": free ? cell : null,
        "data-at": `0 0 ${hole}`,
      },
      free ? s("title", {}, `cell ${xyz(cell).join("")}`) : null,
      s("circle", { class: "hole", r: empty ? hole : r }),
      empty ? null : this.stone(cell, 0.94 * r),
      free
        ? [
            s("circle", { class: "open", r }),
            s("g", { class: "ghost" }, s("circle", { class: this.doc.player ? "second" : "first", r: 0.9 * r })),
          ]
        : null,
      s("circle", { class: "halo", r: r + 2.5 }),
    );
  }

  stone(cell, r) {
    const second = this.marks[cell] === "o";
    return s(
      "g",
      { class: cell === this.doc.last ? "last" : "laid" },
      s("circle", { class: second ? "second" : "first", r }),
      second ? s("circle", { class: "groove", r: 0.6 * r }) : null,
      this.won.includes(cell) ? s("circle", { class: "ring", r: 0.72 * r }) : null,
    );
  }

  layers() {
    const step = 44,
      side = SIZE * step + 12,
      gap = 18,
      head = 22;
    this.nodes = CELLS.map((cell) => this.cell(cell, 18.5));
    CELLS.forEach((cell) => {
      const [x, y] = xyz(cell);
      this.nodes[cell].setAttribute("transform", `translate(${6 + step * (x + 0.5)} ${6 + step * (y + 0.5)})`);
    });
    const layer = (z) =>
      s(
        "g",
        { transform: `translate(${(z % 2) * (side + gap)} ${Math.floor(z / 2) * (side + head + 8) + head})` },
        s("rect", { class: "panel", width: side, height: side, rx: 14 }),
        s("text", { class: "faint", x: side / 2, y: -8, "font-size": 12 }, `layer ${z}`),
        this.nodes.slice(16 * z, 16 * z + 16),
      );
    return s(
      "svg",
      { class: "mdplay layers", viewBox: `0 0 ${2 * side + gap} ${2 * (side + head) + 8}` },
      [0, 1, 2, 3].map(layer),
    );
  }

  cube() {
    this.nodes = CELLS.map((cell) => this.cell(cell, 16, 8.5));
    [this.plates, this.balls, this.links] = [s("g"), s("g"), s("g")];
    const svg = s("svg", { class: "mdplay cube", viewBox: "-262 -244 524 492" }, this.plates, this.balls, this.links);
    this.pose();
    return svg;
  }

  /** Where a point of the cube is seen: x, y, how near, how large. */
  seen([x, y, z]) {
    const a = (x - 1.5) * SPREAD,
      b = (y - 1.5) * SPREAD,
      c = (z - 1.5) * RISE;
    const u = a * Math.cos(this.yaw) - b * Math.sin(this.yaw),
      v = a * Math.sin(this.yaw) + b * Math.cos(this.yaw);
    const near = v * Math.cos(this.pitch) - c * Math.sin(this.pitch),
      down = c * Math.cos(this.pitch) + v * Math.sin(this.pitch);
    const scale = FAR / (FAR - near);
    return [u * scale, down * scale, near, scale];
  }

  /** Put everything where it is seen from here; painters begin at the back. */
  pose() {
    if (this.mode !== "cube" || !this.nodes) return;
    const order = CELLS.map((cell) => [this.nodes[cell], this.seen(xyz(cell))]).sort((p, q) => p[1][2] - q[1][2]);
    for (const [node, [x, y, near, scale]] of order) {
      node.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${scale.toFixed(3)})`);
      node.setAttribute("opacity", Math.min(1, 0.66 + (0.34 * (near + 200)) / 400).toFixed(2));
    }
    this.stack(order.map(([node]) => node));
    put(
      this.plates,
      [3, 2, 1, 0].map((z) => this.plate(z)),
    );
    put(this.links, this.won.length ? this.link(this.won[0], this.won[3]) : null);
  }

  /** Bring the balls in order; a node that is moved would lose the focus, so only if the order changed. */
  stack(nodes) {
    if (nodes.every((node, i) => this.balls.childNodes[i] === node)) return;
    const focused = this.balls.contains(document.activeElement) ? document.activeElement : null;
    this.balls.replaceChildren(...nodes);
    focused?.focus({ preventScroll: true });
  }

  plate(z) {
    const corner = ([x, y]) =>
      this.seen([x, y, z])
        .slice(0, 2)
        .map((v) => v.toFixed(1))
        .join();
    const rule = (x1, y1, x2, y2) => {
      const [a, b] = [this.seen([x1, y1, z]), this.seen([x2, y2, z])];
      return s("line", { class: "rule", x1: a[0], y1: a[1], x2: b[0], y2: b[1] });
    };
    const [x, y] = RIM.map(([a, b]) => this.seen([a, b, z])).sort((p, q) => p[0] - q[0])[0]; // the label stands at the left corner
    return s(
      "g",
      {},
      s("polygon", { class: "plate", points: RIM.map(corner).join(" ") }),
      [0, 1, 2, 3].flatMap((k) => [rule(k, -0.5, k, 3.5), rule(-0.5, k, 3.5, k)]),
      s("text", { class: "faint", x: x - 16, y: y + 5, "font-size": 14 }, z),
    );
  }

  link(from, to) {
    const [a, b] = [this.seen(xyz(from)), this.seen(xyz(to))];
    return s("line", { class: "won", x1: a[0], y1: a[1], x2: b[0], y2: b[1] });
  }

  // -------------------------------------------------------------- pointing

  /** Light the lines through a cell that are still open to somebody. */
  over(action) {
    const open = (row) => new Set(row.map((cell) => this.marks[cell]).filter((mark) => mark !== ".")).size < 2;
    const lit = new Set(action === null ? [] : LINES.filter((row) => row.includes(action) && open(row)).flat());
    for (const cell of CELLS) this.nodes[cell].classList.toggle("lit", lit.has(cell));
  }

  /** Number the cells of a forced win, in the order in which they are played. */
  forced(moves) {
    this.line = moves;
    for (const node of this.nodes) node.querySelector(".order")?.remove();
    moves.forEach((move, k) => {
      const [x, y, z] = [...move].map(Number),
        node = this.nodes[x + SIZE * y + SIZE ** 2 * z];
      if (k && node && !node.querySelector(".order"))
        node.append(s("text", { class: `order${k % 2 ? " answer" : ""}`, x: 14, y: -9, "font-size": 11 }, k + 1));
    });
  }

  /** Light one step of a sequence. */
  point(moves, k) {
    const cells =
      k === null
        ? []
        : [moves[k]].map((move) => {
            const [x, y, z] = [...move].map(Number);
            return x + SIZE * y + SIZE ** 2 * z;
          });
    for (const cell of CELLS) this.nodes[cell].classList.toggle("lit", cells.includes(cell));
  }
}
