// A network that is trained in the background: its curve, while it grows; then its advice.
import { h, put, toast } from "../lib/dom.js";
import { get } from "../lib/api.js";

const EVERY = 4000; // ms
const TITLE = "A network is being trained in the background: mean points";

export class Training {
  constructor(info, ready) {
    Object.assign(this, { info, ready, seen: false, asked: 0 });
    this.root = h("section", { class: "training", "aria-label": "Training", hidden: true });
    if (info.solver === "network") this.look();
  }

  /** Ask now and then, until the training is over; a training that does not run is not polled again. */
  async look() {
    const { training = {} } = await get("/status").catch(() => ({}));
    const points = training[this.info.id];
    await this.show(points ?? []);
    if (this.seen && !points) return this.over();
    this.seen = Boolean(points);
    this.asked += 1;
    if (this.seen || this.asked < 3) setTimeout(() => this.look(), EVERY);
    return null;
  }

  async show(points) {
    this.root.hidden = !points.length;
    if (!points.length) return;
    this.chart ??= await this.draw();
    this.chart.show([{ name: "mean", xs: points.map(([x]) => x), ys: points.map(([, y]) => y) }]);
  }

  async draw() {
    const { Chart } = await import("../lib/chart.js");
    const chart = new Chart({ title: TITLE, x: "episodes" });
    put(this.root, chart.root);
    return chart;
  }

  over() {
    toast("The network is trained: its values are shown now");
    this.ready();
  }
}
