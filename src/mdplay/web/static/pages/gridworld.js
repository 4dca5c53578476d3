// A grid world to learn in: floor, walls, goals and a cliff that leads back to the start; its exact values.
//
// Policies are evaluated exactly: the equations of the states that they reach are solved by eliminating one state after
// the other without a subtraction (Grassmann, Taksar and Heyman), as in the package's judge.

const STEPS = [
  [-1, 0],
  [0, 1],
  [1, 0],
  [0, -1],
];
export const ACTIONS = STEPS.length;
const MANY = 100_000; // sweeps of value iteration: beyond, a goal cannot be reached
const CLOSE = 1e-10; // change of a value at which value iteration ends

/** The states, outcomes and rewards of drawn cells; the outcomes of a pair are `[probability, target, reward]`. */
export class GridWorld {
  constructor(cells, { slip = 0, reward = -1, goal = -1, cliff = -100, discount = 1 }) {
    Object.assign(this, { cells, slip, discount, pay: { goal, cliff, floor: reward, start: reward } });
    this.rows = cells.length;
    this.cols = cells[0].length;
    this.size = this.rows * this.cols;
    this.kinds = cells.flat();
    this.start = this.kinds.indexOf("start");
    this.live = this.kinds.map((kind) => kind === "floor" || kind === "start");
    this.outcomes = this.kinds.map((_, s) =>
      this.live[s] ? Array.from({ length: ACTIONS }, (__, a) => this.outcomesOf(s, a)) : [],
    );
  }

  outcomesOf(s, action) {
    const aims = [
      [action, 1 - this.slip],
      [(action + 1) % ACTIONS, this.slip / 2],
      [(action + 3) % ACTIONS, this.slip / 2],
    ];
    return aims.filter(([, p]) => p > 0).map(([aim, p]) => [p, ...this.entered(s, aim)]);
  }

  /** The state and the reward of a move; walls and borders stop it, a cliff leads back to the start. */
  entered(s, aim) {
    const r = Math.floor(s / this.cols) + STEPS[aim][0],
      c = (s % this.cols) + STEPS[aim][1];
    const kind = this.cells[r]?.[c] ?? "wall";
    if (kind === "wall") return [s, this.pay.floor];
    return [kind === "cliff" ? this.start : r * this.cols + c, this.pay[kind]];
  }

  /** The optimal value of every state, or null if the values do not converge: a goal cannot be reached. */
  optimum() {
    const value = new Float64Array(this.size);
    for (let sweep = 0; sweep < MANY; sweep++) {
      let change = 0;
      for (let s = 0; s < this.size; s++) {
        if (!this.live[s]) continue;
        const best = Math.max(...this.outcomes[s].map((outcomes) => this.mean(outcomes, value)));
        change = Math.max(change, Math.abs(best - value[s]));
        value[s] = best;
      }
      if (change < CLOSE) return value;
    }
    return null;
  }

  mean(outcomes, value) {
    let total = 0;
    for (const [p, t, reward] of outcomes) total += p * (reward + this.discount * value[t]);
    return total;
  }

  /** The value of the start under a policy: `shares(s)` are the probabilities of the actions; null if it may never end. */
  policyValue(shares) {
    const order = this.reached(shares),
      number = new Map(order.map((s, i) => [s, i])),
      n = order.length;
    if (this.discount === 1 && !this.ends(order, shares)) return null;
    const matrix = order.map(() => new Float64Array(n)),
      right = new Float64Array(n),
      leave = new Float64Array(n).fill(1 - this.discount);
    order.forEach((s, i) =>
      shares(s).forEach((share, a) => {
        if (share === 0) return;
        for (const [p, t, reward] of this.outcomes[s][a]) {
          right[i] += share * p * reward;
          if (number.has(t)) matrix[i][number.get(t)] += this.discount * share * p;
          else leave[i] += this.discount * share * p;
        }
      }),
    );
    return eliminate(matrix, right, leave);
  }

  /** The states that a policy reaches from the start, the start first. */
  reached(shares) {
    const order = [this.start],
      seen = new Set(order);
    for (const s of order)
      shares(s).forEach((share, a) => {
        if (share === 0) return;
        for (const [, t] of this.outcomes[s][a])
          if (this.live[t] && !seen.has(t)) {
            seen.add(t);
            order.push(t);
          }
      });
    return order;
  }

  /** Whether every one of these states can reach an end. */
  ends(order, shares) {
    const ended = new Set();
    for (let before = -1; before < ended.size;) {
      before = ended.size;
      for (const s of order) {
        const leads = shares(s).some(
          (share, a) => share > 0 && this.outcomes[s][a].some(([, t]) => !this.live[t] || ended.has(t)),
        );
        if (leads) ended.add(s);
      }
    }
    return ended.size === order.length;
  }
}

/** Eliminate all states but the first, and return its value. */
function eliminate(matrix, right, leave) {
  for (let i = right.length - 1; i > 0; i--) {
    let ways = leave[i];
    for (let j = 0; j < i; j++) ways += matrix[i][j];
    for (let k = 0; k < i; k++) {
      if (matrix[k][i] === 0) continue;
      const factor = matrix[k][i] / ways;
      for (let j = 0; j < i; j++) matrix[k][j] += factor * matrix[i][j];
      right[k] += factor * right[i];
      leave[k] += factor * leave[i];
    }
  }
  return right[0] / leave[0];
}
