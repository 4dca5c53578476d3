// Curves over steps: axes with round numbers, a line for each series with its name at its end, values under the pointer.
import { h, put, s } from "./dom.js";
import { figure } from "./words.js";

const WIDTH = 720,
  HEIGHT = 340,
  LEFT = 58,
  RIGHT = 128,
  TOP = 14,
  BOTTOM = 42;
const COLOURS = 8,
  DASHES = ["", "7 4", "2 4", "10 3 2 3"],
  APART = 15;

export class Chart {
  constructor({ title, x }) {
    Object.assign(this, { title, x, series: [] });
    this.svg = s("svg", { class: "chart", role: "img", "aria-label": title });
    this.told = h("p", { class: "chart-told" }, "\u00a0");
    this.root = h("figure", { class: "chart-box", hidden: true }, h("figcaption", {}, title), this.svg, this.told);
    this.svg.addEventListener("pointermove", (event) => this.point(event));
    this.svg.addEventListener("pointerleave", () => this.point(null));
    new ResizeObserver(() => {
      if (this.series.length) this.draw();
    }).observe(this.root);
  }

  /** Change what the chart is about. */
  relabel(title, x) {
    Object.assign(this, { title, x });
    this.root.querySelector("figcaption").textContent = title;
  }

  /** Show series of `{name, xs, ys}`; a line that was not measured may be `dotted`. */
  show(series) {
    this.series = series.filter(({ xs }) => xs.length);
    this.root.hidden = !this.series.length;
    if (this.series.length) this.draw();
    else put(this.svg);
  }

  draw() {
    this.measure();
    put(
      this.svg,
      this.axes(),
      this.series.map((one, k) => this.curve(one, k)),
      this.names(),
      (this.cross = s("line", { class: "cross", y1: TOP, y2: this.height - BOTTOM })),
    );
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.svg.setAttribute(
      "aria-label",
      `${this.title}. ${this.series.map(({ name, ys }) => `${name}: ${figure(ys.at(-1))}`).join("; ")}.`,
    );
  }

  measure() {
    const xs = this.series.flatMap((one) => one.xs),
      ys = this.series.flatMap((one) => one.ys).filter(Number.isFinite);
    this.width = Math.max(300, Math.min(WIDTH, this.root.clientWidth || WIDTH));
    this.height = Math.round(HEIGHT * Math.max(0.72, this.width / WIDTH));
    this.right = this.width < 460 ? 14 : RIGHT;
    this.spanX = [Math.min(0, ...xs), Math.max(1, ...xs)];
    this.spanY = widened(Math.min(0, ...ys), Math.max(...ys, 1e-12));
  }

  px(x) {
    const [low, high] = this.spanX;
    return LEFT + ((this.width - LEFT - this.right) * (x - low)) / (high - low);
  }

  py(y) {
    const [low, high] = this.spanY;
    return this.height - BOTTOM - ((this.height - TOP - BOTTOM) * (y - low)) / (high - low);
  }

  axes() {
    const across = ticks(this.spanX, this.width < 460 ? 4 : 6),
      up = ticks(this.spanY, 5);
    return s(
      "g",
      { class: "axes" },
      up.map((y) => [
        s("line", { x1: LEFT, x2: this.width - this.right, y1: this.py(y), y2: this.py(y) }),
        s("text", { class: "up", x: LEFT - 8, y: this.py(y) + 4 }, figure(y)),
      ]),
      across.map((x) => s("text", { x: this.px(x), y: this.height - BOTTOM + 19 }, x.toLocaleString("en"))),
      s("text", { class: "axis-name", x: (LEFT + this.width - this.right) / 2, y: this.height - 4 }, this.x),
    );
  }

  curve({ xs, ys, dotted }, k) {
    const line = xs.map((x, i) => `${i ? "L" : "M"}${this.px(x).toFixed(1)} ${this.py(ys[i]).toFixed(1)}`).join("");
    const dash = dotted ? "1 5" : DASHES[Math.floor(k / COLOURS) % DASHES.length];
    return s(
      "g",
      { class: `series s${(k % COLOURS) + 1}` },
      s("path", { class: "series-line", d: line, "stroke-dasharray": dash || null }),
    );
  }

  /** Names at the ends of the lines, moved apart where they would touch. */
  names() {
    if (this.right < RIGHT) return [];
    const ends = this.series
      .map(({ name, ys }, k) => ({ name, k, y: this.py(ys.at(-1)) + 4 }))
      .sort((a, b) => a.y - b.y);
    ends.forEach((end, i) => {
      if (i) end.y = Math.max(end.y, ends[i - 1].y + APART);
    });
    const over = (ends.at(-1)?.y ?? 0) - (this.height - BOTTOM + 8);
    if (over > 0)
      ends.forEach((end) => {
        end.y -= over;
      });
    return ends.map(({ name, k, y }) =>
      s(
        "text",
        { class: `end s${(k % COLOURS) + 1}`, x: this.width - RIGHT + 8, y },
        name.length > 18 ? `${name.slice(0, 17)}…` : name,
      ),
    );
  }

  point(event) {
    if (!this.cross || !this.series.length) return;
    if (!event) {
      this.cross.removeAttribute("x1");
      this.cross.classList.remove("on");
      this.told.textContent = "\u00a0";
      return;
    }
    const box = this.svg.getBoundingClientRect(),
      wanted = ((event.clientX - box.x) / box.width) * this.width;
    const { xs } = this.series[0],
      i = xs.reduce(
        (best, x, k) => (Math.abs(this.px(x) - wanted) < Math.abs(this.px(xs[best]) - wanted) ? k : best),
        0,
      );
    for (const name of ["x1", "x2"]) this.cross.setAttribute(name, this.px(xs[i]));
    this.cross.classList.add("on");
    this.told.textContent = `${this.x} ${xs[i].toLocaleString("en")}: ${this.series
      .map((one) => [one, one.xs.indexOf(xs[i])])
      .filter(([, k]) => k >= 0)
      .map(([one, k]) => `${one.name} ${figure(one.ys[k])}`)
      .join(", ")}`;
  }
}

const widened = (low, high) => [low, high > low ? high + 0.04 * (high - low) : low + 1];

/** Return about `count` round numbers in a span. */
function ticks([low, high], about) {
  const rough = (high - low) / about,
    power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((k) => k * power).find((one) => one >= rough);
  const found = [];
  for (let x = Math.ceil(low / step - 1e-9) * step; x <= high + 1e-9 * step; x += step)
    found.push(Number(x.toPrecision(12)));
  return found;
}
