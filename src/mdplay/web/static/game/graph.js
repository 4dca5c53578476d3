// The value over the game: above the line the first player is better, below it the second.
import { h, put, s } from "../lib/dom.js";

const HEIGHT = 116,
  PAD = 12,
  MANY = 60;

export class Graph {
  constructor(info, go) {
    Object.assign(this, { info, go });
    this.root = h("div", { class: "graph-box" });
    this.root.addEventListener("pointerdown", (event) => {
      this.root.setPointerCapture(event.pointerId);
      this.pick(event);
    });
    this.root.addEventListener("pointermove", (event) => {
      if (event.buttons) this.pick(event);
    });
  }

  show(nodes, at) {
    this.frame = new Frame(this.info, nodes, at, Math.max(280, this.root.clientWidth || 360));
    put(this.root, this.frame.draw());
  }

  /** Go to the move under the pointer. */
  pick(event) {
    const box = this.root.getBoundingClientRect();
    this.go(this.frame.index((event.clientX - box.x) / box.width));
  }
}

class Frame {
  constructor(info, nodes, at, width) {
    const alone = info.players === 1,
      now = nodes[at]?.verdict;
    const known = nodes
      .map((node, i) => ({ i, verdict: node.verdict, slip: node.slip }))
      .filter(({ verdict }) => verdict);
    const ahead = at === nodes.length - 1 && now?.exact && !now.over && now.distance ? now.distance : 0;
    const heights = known.map(({ verdict }) => verdict.height);
    const most = Math.max(1, ...heights) * 1.1,
      least = Math.min(0, ...heights) * 1.1;
    Object.assign(this, { info, nodes, at, width, alone, now, known, ahead, most, least });
    this.last = Math.max(nodes.length - 1, at + ahead, 8);
    this.zero = this.y(0);
  }

  x(i) {
    return PAD + ((this.width - 2 * PAD) * i) / this.last;
  }

  y(height) {
    if (this.alone) return HEIGHT - 14 - ((HEIGHT - 28) * (height - this.least)) / (this.most - this.least);
    return HEIGHT / 2 - (HEIGHT / 2 - 12) * Math.max(-1, Math.min(1, height));
  }

  /** The move nearest to a place, as a share of the width. */
  index(share) {
    const i = Math.round(((share * this.width - PAD) / (this.width - 2 * PAD)) * this.last);
    return Math.max(0, Math.min(this.nodes.length - 1, i));
  }

  draw() {
    const words = `Value over the game, ${this.nodes.length - 1} moves. ${this.now ? `Now: ${this.now.headline}.` : ""}`;
    this.svg = s(
      "svg",
      { class: "graph", viewBox: `0 0 ${this.width} ${HEIGHT}`, role: "img", "aria-label": words },
      this.ground(),
      this.curves(),
      this.future(),
      this.points(),
    );
    return this.svg;
  }

  ground() {
    const half = (name, y) => s("rect", { class: `half ${name}`, x: 0, y, width: this.width, height: HEIGHT / 2 });
    return [
      this.alone ? null : half("first", 0),
      this.alone ? null : half("second", HEIGHT / 2),
      s("line", { class: "zero", x1: 0, x2: this.width, y1: this.zero, y2: this.zero }),
      s("line", { class: "now", x1: this.x(this.at), x2: this.x(this.at), y1: 0, y2: HEIGHT }),
    ];
  }

  /** A curve for each stretch of moves whose values are known. */
  curves() {
    const runs = [];
    for (const point of this.known) {
      if (runs.at(-1)?.at(-1).i === point.i - 1) runs.at(-1).push(point);
      else runs.push([point]);
    }
    return runs.flatMap((run) => {
      const line = run
        .map(({ i, verdict }, k) => `${k ? "L" : "M"}${this.x(i).toFixed(1)} ${this.y(verdict.height).toFixed(1)}`)
        .join("");
      const down = `L${this.x(run.at(-1).i).toFixed(1)} ${this.zero}L${this.x(run[0].i).toFixed(1)} ${this.zero}Z`;
      return [s("path", { class: "area", d: line + down }), s("path", { class: "curve", d: line })];
    });
  }

  /** A dotted line to the end that best play reaches. */
  future() {
    if (!this.ahead) return [];
    const y = this.y(this.now.height),
      x = this.x(this.at + this.ahead),
      end = this.info.puzzle ? this.zero : y; // a puzzle goes down to its solution
    return [
      s("line", { class: "ahead", x1: this.x(this.at), x2: x, y1: y, y2: end }),
      s("circle", { class: "goal", cx: x, cy: end, r: 3.5 }),
    ];
  }

  points() {
    const shown = this.known.filter(({ i }) => this.nodes.length < MANY || i === this.at);
    return [
      ...this.known
        .filter(({ slip }) => slip)
        .map(({ i, verdict }) => s("circle", { class: "slip", cx: this.x(i), cy: this.y(verdict.height), r: 6.5 })),
      ...shown.map(({ i, verdict }) =>
        s("circle", {
          class: `point ${verdict.exact ? "exact" : "estimate"}${i === this.at ? " here" : ""}`,
          cx: this.x(i),
          cy: this.y(verdict.height),
          r: i === this.at ? 4.5 : 2.6,
        }),
      ),
    ];
  }
}
