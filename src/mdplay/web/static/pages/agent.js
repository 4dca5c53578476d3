// An agent that learns action values in a grid world, one step at a time.
import { ACTIONS } from "./gridworld.js";

const FAINT = 1e-4; // smaller eligibilities are set to zero

/** Random numbers in [0, 1) from a seed (mulberry32). */
export function randomNumbers(seed) {
  let x = seed >>> 0;
  return () => {
    x = (x + 0x6d2b79f5) >>> 0;
    let y = Math.imul(x ^ (x >>> 15), x | 1);
    y ^= y + Math.imul(y ^ (y >>> 7), y | 61);
    return ((y ^ (y >>> 14)) >>> 0) / 2 ** 32;
  };
}

export class Agent {
  /** `options` are read at every step: method, alpha, epsilon, lambda, n and plans may change while it learns. */
  constructor(world, options, seed) {
    Object.assign(this, { world, options, random: randomNumbers(seed), episodes: [], known: new Map() });
    this.q = Array.from({ length: world.size }, () => new Float64Array(ACTIONS));
    this.trace = Array.from({ length: world.size }, () => new Float64Array(ACTIONS));
    this.begin();
  }

  begin() {
    this.state = this.world.start;
    this.total = 0;
    this.steps = 0;
    this.past = [];
    for (const row of this.trace) row.fill(0);
    this.action = this.choose(this.state);
  }

  best(s) {
    return this.world.live[s] ? Math.max(...this.q[s]) : 0;
  }

  /** The probabilities of the actions, epsilon-greedy; equal actions share. */
  shares(s, epsilon = this.options.epsilon) {
    const best = this.best(s),
      ties = this.q[s].filter((value) => value === best).length;
    return Array.from(this.q[s], (value) => epsilon / ACTIONS + (value === best ? (1 - epsilon) / ties : 0));
  }

  choose(s) {
    let left = this.random();
    const shares = this.shares(s);
    for (let a = 0; a < ACTIONS - 1; a++) {
      left -= shares[a];
      if (left < 0) return a;
    }
    return ACTIONS - 1;
  }

  /** What the method takes for the value of a state, with the words of the equation. */
  estimate(s, action) {
    if (!this.world.live[s]) return [0, "0 (the end)"];
    const { method } = this.options;
    if (method === "sarsa") return [this.q[s][action], "Q(s′, a′)"];
    if (method === "q") return [this.best(s), "max Q(s′, ·)"];
    const shares = this.shares(s);
    return [this.q[s].reduce((total, value, a) => total + shares[a] * value, 0), "Σ π Q(s′, ·)"];
  }

  /** Take one step and learn from it.  Return what happened: the pair that was updated, with the numbers of the update. */
  step() {
    const { world, state: s, action: a } = this,
      { n, lambda, plans } = this.options;
    const [t, reward] = this.outcome(s, a),
      ended = !world.live[t];
    const early = this.options.method === "sarsa" || n > 1 || lambda > 0;
    let next = ended || !early ? 0 : this.choose(t);
    this.total += reward;
    this.steps++;
    let told;
    if (n > 1) told = this.several(s, a, reward, t, next, ended);
    else {
      told = this.one(s, a, reward, t, next);
      if (plans > 0 && lambda === 0) this.plan(s, a, reward, t);
    }
    if (!ended && !early) next = this.choose(t);
    this.state = t;
    this.action = next;
    if (ended) this.episodes.push({ reward: this.total, steps: this.steps });
    return { ...told, s, a, t, reward, ended };
  }

  outcome(s, a) {
    const outcomes = this.world.outcomes[s][a];
    let left = outcomes.length > 1 ? this.random() : 0,
      found = outcomes.at(-1);
    for (const outcome of outcomes) {
      left -= outcome[0];
      if (left < 0) {
        found = outcome;
        break;
      }
    }
    return [found[1], found[2]];
  }

  /** Correct the last pair, and with traces the earlier ones too. */
  one(s, a, reward, t, next) {
    const { alpha, lambda, method } = this.options,
      { discount } = this.world;
    const before = this.q[s][a],
      [value, words] = this.estimate(t, next),
      error = reward + discount * value - before;
    if (lambda > 0) {
      this.trace[s][a] = 1;
      const cut = method === "q" && this.world.live[t] && this.q[t][next] < this.best(t);
      const fade = cut ? 0 : discount * lambda;
      this.q.forEach((row, u) => {
        for (let b = 0; b < ACTIONS; b++) {
          if (this.trace[u][b] === 0) continue;
          row[b] += alpha * error * this.trace[u][b];
          this.trace[u][b] *= fade;
          if (this.trace[u][b] < FAINT) this.trace[u][b] = 0;
        }
      });
    } else this.q[s][a] += alpha * error;
    return { pair: [s, a], before, after: this.q[s][a], alpha, goal: reward + discount * value, rewards: [reward], value, words };
  }

  /** Correct the pair of n steps ago, and at the end all that are left. */
  several(s, a, reward, t, next, ended) {
    const { n } = this.options;
    let told = null;
    this.past.push({ s, a, reward });
    if (this.past.length === n && !ended) told = this.correct(t, next);
    while (ended && this.past.length) told = this.correct(t, next);
    return told ?? { pair: null };
  }

  correct(t, next) {
    const { alpha } = this.options,
      { discount } = this.world,
      [value, words] = this.estimate(t, next);
    const goal = this.past.reduceRight((g, one) => one.reward + discount * g, value);
    const rewards = this.past.map((one) => one.reward),
      { s, a } = this.past.shift(),
      before = this.q[s][a];
    this.q[s][a] += alpha * (goal - before);
    return { pair: [s, a], before, after: this.q[s][a], alpha, goal, rewards, value, words };
  }

  /** Replay remembered steps (Dyna-Q). */
  plan(s, a, reward, t) {
    this.known.set(s * ACTIONS + a, [reward, t]);
    const pairs = [...this.known.keys()];
    for (let k = 0; k < this.options.plans; k++) {
      const pair = pairs[Math.floor(this.random() * pairs.length)],
        [paid, to] = this.known.get(pair);
      const row = this.q[Math.floor(pair / ACTIONS)];
      row[pair % ACTIONS] += this.options.alpha * (paid + this.world.discount * this.best(to) - row[pair % ACTIONS]);
    }
  }
}
