"""Tests of the kernels of ``mdplay.learning.reinforcement`` against a second implementation.

Each method is written here again from the pseudocode of Sutton and Barto (Reinforcement Learning, 2nd edition), in
lists and without the kernels.  Only the random numbers and the convention of the alias rows are shared, so that
both have the same experience and must end with the same table.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

from mdplay.bits import below, mix, unit
from mdplay.learning.reinforcement import Task, learn_task
from mdplay.learning.reinforcement.tasks import alias
from mdplay.planning import MDP
from mdplay.rng import advance, scramble, stream

FAINT = 1e-4  # the kernel drops smaller eligibilities, and so does the second implementation
SAME = {"rel": 1e-12, "abs": 1e-12}  # for sums whose order of additions differs
RUNS = 2


# ---------------------------------------------------------------- experience
class World:
    """An MDP in lists: rows[state][action] = [(probability, target, reward), ...]."""

    def __init__(self, rows, starts, discount):
        self.rows, self.starts, self.discount = rows, starts, discount

    def task(self):
        lines = [
            (s, a, t, r, p)
            for s, actions in enumerate(self.rows)
            for a, row in enumerate(actions)
            for p, t, r in row
        ]
        columns = [np.array(column) for column in zip(*lines, strict=True)]
        mdp = MDP.from_transitions(*columns, num_states=len(self.rows), discount=self.discount, keep_rewards=True)
        return Task(mdp, dict(self.starts))

    def under(self, policy):
        """Return the world in which a policy, probabilities by state and action, chooses."""
        rows = [
            [[(share * p, t, r) for share, row in zip(shares, actions, strict=True) for p, t, r in row if share]]
            if actions
            else []
            for shares, actions in zip(policy, self.rows, strict=True)
        ]
        return World(rows, self.starts, self.discount)

    def ends(self, s):
        return not self.rows[s]

    def table(self, value):
        return [[value] * len(actions) for actions in self.rows]


class Dice:
    """The random numbers of a run."""

    def __init__(self, seed, run):
        self.x = stream(seed, run)

    def word(self):
        self.x = advance(self.x)
        return scramble(self.x)

    def draw(self, shares):
        cut, other = alias(np.array(shares))
        u = unit(self.word()) * len(shares)
        i = int(u)
        return i if u - i < cut[i] else int(other[i])

    def start(self, world):
        states = list(world.starts)
        return states[0] if len(states) == 1 else states[self.draw(list(world.starts.values()))]

    def step(self, world, s, a):
        row = world.rows[s][a]
        _, target, reward = row[0] if len(row) == 1 else row[self.draw([p for p, _, _ in row])]
        return reward, target

    def by_shares(self, shares):
        """Draw an action by its probability."""
        left = unit(self.word())
        for a, share in enumerate(shares[:-1]):
            left -= share
            if left < 0.0:
                return a
        return len(shares) - 1


def epsilon_greedy(values, epsilon, word):
    scores = [unit(mix(word, i)) for i in range(len(values))] if unit(word) < epsilon else values
    best = [i for i, score in enumerate(scores) if score == max(scores)]
    return best[0] if len(best) == 1 else best[below(mix(word, 1 << 33), len(best))]


def shares_of(values, epsilon):
    """Return the probabilities of an epsilon-greedy policy that is equally likely to take each best action."""
    best = [v == max(values) for v in values]
    return [epsilon / len(values) + (1.0 - epsilon) * b / sum(best) for b in best]


def softmax(values):
    powers = [math.exp(v - max(values)) for v in values]
    return [p / sum(powers) for p in powers]


def expectation(values, epsilon):
    return sum(p * v for p, v in zip(shares_of(values, epsilon), values, strict=True))


# ---------------------------------------------------------------- the methods of the book
def one_step(world, dice, episodes, *, rule, alpha, epsilon=0.1, plans=0, kappa=None):
    """Q-learning, SARSA, expected SARSA (chapter 6), Dyna-Q and Dyna-Q+ (chapter 8)."""
    q, gamma, totals = world.table(0.0), world.discount, []
    model, last_tried, now = {}, {}, 0
    for _ in range(episodes):
        s, total = dice.start(world), 0.0
        a = epsilon_greedy(q[s], epsilon, dice.word())
        while not world.ends(s):
            r, t = dice.step(world, s, a)
            word, now, total = dice.word(), now + 1, total + r
            if rule == "sarsa":
                b = 0 if world.ends(t) else epsilon_greedy(q[t], epsilon, word)
                later = 0.0 if world.ends(t) else q[t][b]
            elif rule == "expected":
                later = 0.0 if world.ends(t) else expectation(q[t], epsilon)
            else:
                later = max(q[t], default=0.0)
            q[s][a] += alpha * (r + gamma * later - q[s][a])
            if plans:
                if kappa is not None and (s, 0) not in model:
                    for c in range(len(q[s])):  # untried actions lead back with a reward of zero
                        model[s, c], last_tried[s, c] = (0.0, s), 0
                model[s, a], last_tried[s, a] = (r, t), now
                for _ in range(plans):
                    pairs = list(model)
                    u, c = pairs[below(dice.word(), len(pairs))]
                    reward, v = model[u, c]
                    if kappa is not None:
                        reward += kappa * math.sqrt(now - last_tried[u, c])
                    q[u][c] += alpha * (reward + gamma * max(q[v], default=0.0) - q[u][c])
            if rule != "sarsa" and not world.ends(t):
                b = epsilon_greedy(q[t], epsilon, word)
            s, a = t, b if not world.ends(t) else 0
        totals.append(total)
    return q, totals


def double_q(world, dice, episodes, *, alpha, epsilon=0.1):
    """Double Q-learning (section 6.7); the policy is greedy in the sum of both tables."""
    tables, gamma, totals = (world.table(0.0), world.table(0.0)), world.discount, []

    def both(s):
        return [0.5 * (x + y) for x, y in zip(tables[0][s], tables[1][s], strict=True)]

    for _ in range(episodes):
        s, total = dice.start(world), 0.0
        a = epsilon_greedy(both(s), epsilon, dice.word())
        while not world.ends(s):
            r, t = dice.step(world, s, a)
            word = dice.word()
            one, two = tables if word % 2 == 0 else tables[::-1]
            later = two[t][one[t].index(max(one[t]))] if one[t] else 0.0
            one[s][a] += alpha * (r + gamma * later - one[s][a])
            total += r
            if not world.ends(t):
                a = epsilon_greedy(both(t), epsilon, word)
            s = t
        totals.append(total)
    return [both(s) for s in range(len(world.rows))], totals


def n_step(world, dice, episodes, *, n, alpha, epsilon=0.1, tree=False):
    """n-step SARSA and n-step tree backup (sections 7.2 and 7.5); with one action a state, n-step TD (7.1)."""
    q, gamma, totals = world.table(0.0), world.discount, []
    for _ in range(episodes):
        states, rewards = [dice.start(world)], [None]
        actions = [epsilon_greedy(q[states[0]], epsilon, dice.word())]
        end, time = math.inf, 0
        while True:
            if time < end:
                r, t = dice.step(world, states[time], actions[time])
                rewards.append(r)
                states.append(t)
                word = dice.word()
                if world.ends(t):
                    end = time + 1
                else:
                    actions.append(epsilon_greedy(q[t], epsilon, word))
            tau = time - n + 1
            if tau >= 0:
                if tree:
                    g = _tree_return(q, gamma, epsilon, states, actions, rewards, tau, time, end)
                else:
                    last = min(tau + n, end)
                    g = sum(gamma ** (i - tau - 1) * rewards[i] for i in range(tau + 1, last + 1))
                    if tau + n < end:
                        g += gamma**n * q[states[tau + n]][actions[tau + n]]
                s, a = states[tau], actions[tau]
                q[s][a] += alpha * (g - q[s][a])
            if tau == end - 1:
                break
            time += 1
        totals.append(sum(rewards[1:]))
    return q, totals


def _tree_return(q, gamma, epsilon, states, actions, rewards, tau, time, end):
    if time + 1 >= end:
        g = rewards[end]
    else:
        g = rewards[time + 1] + gamma * expectation(q[states[time + 1]], epsilon)
    for k in range(min(time, end - 1), tau, -1):
        s, a = states[k], actions[k]
        chances = shares_of(q[s], epsilon)
        others = sum(p * v for c, (p, v) in enumerate(zip(chances, q[s], strict=True)) if c != a)
        g = rewards[k] + gamma * others + gamma * chances[a] * g
    return g


def with_traces(world, dice, episodes, *, decay, alpha, epsilon=0.1, kind="accumulating", watkins=False):
    """SARSA(lambda) (sections 12.5 and 12.7), Watkins's Q(lambda) (12.10); with one action a state, TD(lambda)."""
    q, gamma, totals = world.table(0.0), world.discount, []
    for _ in range(episodes):
        z, old, total = world.table(0.0), 0.0, 0.0
        s = dice.start(world)
        a = epsilon_greedy(q[s], epsilon, dice.word())
        while not world.ends(s):
            r, t = dice.step(world, s, a)
            word, total = dice.word(), total + r
            b = 0 if world.ends(t) else epsilon_greedy(q[t], epsilon, word)
            taken = 0.0 if world.ends(t) else q[t][b]
            best = max(q[t], default=0.0)
            now = q[s][a]
            delta = r + gamma * (best if watkins else taken) - now
            if kind == "true-online":
                z[s][a] += 1.0 - alpha * z[s][a]  # the traces have been multiplied by gamma lambda below
            elif kind == "replacing":
                z[s][a] = 1.0
            else:
                z[s][a] += 1.0
            more = now - old if kind == "true-online" else 0.0
            for u in range(len(q)):
                for c in range(len(q[u])):
                    q[u][c] += alpha * (delta + more) * z[u][c]
                    z[u][c] *= 0.0 if watkins and taken != best else gamma * decay
                    if abs(z[u][c]) < FAINT:
                        z[u][c] = 0.0
            if kind == "true-online":
                q[s][a] -= alpha * more
                old = taken
            s, a = t, b
        totals.append(total)
    return q, totals


def differential_sarsa(world, dice, steps, *, alpha, beta, epsilon=0.1):
    """Differential SARSA (section 10.3)."""
    q, average = world.table(0.0), 0.0
    s, earned = dice.start(world), []
    a = epsilon_greedy(q[s], epsilon, dice.word())
    for _ in range(steps):
        r, t = dice.step(world, s, a)
        b = epsilon_greedy(q[t], epsilon, dice.word())
        delta = r - average + q[t][b] - q[s][a]
        average += beta * delta
        q[s][a] += alpha * delta
        s, a = t, b
        earned.append(r)
    return q, earned


def monte_carlo(world, dice, episodes, *, epsilon=0.1, every_visit=False):
    """On-policy Monte Carlo control (section 5.4): an estimate is the mean of all returns."""
    q, returns, totals = world.table(0.0), {}, []
    for _ in range(episodes):
        s, visits, rewards = dice.start(world), [], []
        while not world.ends(s):
            a = epsilon_greedy(q[s], epsilon, dice.word())
            visits.append((s, a))
            r, s = dice.step(world, s, a)
            rewards.append(r)
        g = 0.0
        for i in reversed(range(len(visits))):
            g = rewards[i] + world.discount * g
            if every_visit or visits[i] not in visits[:i]:
                returns.setdefault(visits[i], []).append(g)
        for (u, a), all_returns in returns.items():
            q[u][a] = math.fsum(all_returns) / len(all_returns)
        totals.append(g)
    return q, totals


def off_policy(world, dice, episodes, *, target, behaviour, weighted, every_visit=False):
    """Off-policy Monte Carlo prediction by importance sampling (section 5.5): formulas (5.5) and (5.6)."""
    found = [[] for _ in world.rows]  # (ratio, return) of each visit
    for _ in range(episodes):
        s, states, actions, rewards = dice.start(world), [], [], []
        while not world.ends(s):
            a = dice.by_shares(behaviour[s])
            states.append(s)
            actions.append(a)
            r, s = dice.step(world, s, a)
            rewards.append(r)
        for i, u in enumerate(states):
            if every_visit or u not in states[:i]:
                rest = list(zip(states, actions, strict=True))[i:]
                ratio = math.prod(target[v][b] / behaviour[v][b] for v, b in rest)
                g = sum(world.discount**j * r for j, r in enumerate(rewards[i:]))
                found[u].append((ratio, g))
    values = []
    for pairs in found:
        below_line = sum(ratio for ratio, _ in pairs) if weighted else len(pairs)
        values.append(sum(ratio * g for ratio, g in pairs) / below_line if below_line else 0.0)
    return values


def off_policy_td(world, dice, episodes, *, target, behaviour, features, alpha, beta, corrected):
    """Semi-gradient off-policy TD (11.2) and TDC (section 11.7), with vectors of features."""
    size = max(max(row) for row in features) + 1
    x = np.zeros((len(features), size))
    for s, row in enumerate(features):
        for i in row:
            x[s, i] += 1.0
        if world.ends(s):
            x[s] = 0.0
    w, h = np.zeros(size), np.zeros(size)
    totals = []
    for _ in range(episodes):
        s, total = dice.start(world), 0.0
        while not world.ends(s):
            a = dice.by_shares(behaviour[s])
            r, t = dice.step(world, s, a)
            rho = target[s][a] / behaviour[s][a]
            delta = r + world.discount * x[t] @ w - x[s] @ w
            guess = x[s] @ h
            w = w + alpha * rho * delta * x[s]
            if corrected:
                w = w - alpha * rho * world.discount * guess * x[t]
                h = h + beta * rho * (delta - guess) * x[s]
            s, total = t, total + r
        totals.append(total)
    return x @ w, totals


def exploring_starts(world, dice, episodes):
    """Monte Carlo with exploring starts (section 5.3), first visits; actions are greedy."""
    q, returns, totals = world.table(0.0), {}, []
    pairs = [(s, a) for s, actions in enumerate(world.rows) for a in range(len(actions))]
    for _ in range(episodes):
        dice.start(world)
        s, a = pairs[below(dice.word(), len(pairs))]
        visits, rewards = [], []
        while True:
            visits.append((s, a))
            r, s = dice.step(world, s, a)
            rewards.append(r)
            if world.ends(s):
                break
            a = epsilon_greedy(q[s], 0.0, dice.word())
        g = 0.0
        for i in reversed(range(len(visits))):
            g = rewards[i] + world.discount * g
            if visits[i] not in visits[:i]:
                returns.setdefault(visits[i], []).append(g)
        for (u, b), all_returns in returns.items():
            q[u][b] = math.fsum(all_returns) / len(all_returns)
        totals.append(sum(rewards))
    return q, totals


def prioritised_sweeping(world, dice, episodes, *, plans, threshold, alpha, epsilon=0.1):
    """Prioritised sweeping for a deterministic world (section 8.4); the queue is a dictionary that is searched."""
    q, gamma, model, queue, totals = world.table(0.0), world.discount, {}, {}, []

    def offer(s, a):
        r, t = model[s, a]
        priority = abs(r + gamma * max(q[t], default=0.0) - q[s][a])
        if priority > threshold:
            queue[s, a] = max(priority, queue.get((s, a), 0.0))

    for _ in range(episodes):
        s, total = dice.start(world), 0.0
        while not world.ends(s):
            a = epsilon_greedy(q[s], epsilon, dice.word())
            r, t = dice.step(world, s, a)
            model[s, a] = (r, t)
            offer(s, a)
            for _ in range(plans):
                if not queue:
                    break
                u, c = max(queue, key=queue.get)
                rivals = [p for pair, p in queue.items() if pair != (u, c)]
                assert queue[u, c] - max(rivals, default=0.0) > 1e-9, "equal priorities: the order is undefined"
                del queue[u, c]
                reward, v = model[u, c]
                q[u][c] += alpha * (reward + gamma * max(q[v], default=0.0) - q[u][c])
                for pair, (_, leads_to) in model.items():
                    if leads_to == u:
                        offer(*pair)
            s, total = t, total + r
        totals.append(total)
    return q, totals


def reinforce(world, dice, episodes, *, alpha, alpha_w=0.0, baseline=False):
    """REINFORCE without and with a baseline (sections 13.3 and 13.4)."""
    theta, v, gamma, totals = world.table(0.0), [0.0] * len(world.rows), world.discount, []
    for _ in range(episodes):
        s, steps = dice.start(world), []
        while not world.ends(s):
            a = dice.by_shares(softmax(theta[s]))
            r, t = dice.step(world, s, a)
            steps.append((s, a, r))
            s = t
        for i, (u, a, _) in enumerate(steps):
            g = sum(gamma**j * r for j, (_, _, r) in enumerate(steps[i:]))
            delta = g - v[u] if baseline else g
            if baseline:
                v[u] += alpha_w * delta
            chances = softmax(theta[u])
            for c, p in enumerate(chances):
                theta[u][c] += alpha * gamma**i * delta * ((c == a) - p)
        totals.append(sum(r for _, _, r in steps))
    return theta, totals


def actor_critic(world, dice, episodes, *, alpha, alpha_w):
    """One-step actor-critic (section 13.5)."""
    theta, v, gamma, totals = world.table(0.0), [0.0] * len(world.rows), world.discount, []
    for _ in range(episodes):
        s, weight, total = dice.start(world), 1.0, 0.0
        while not world.ends(s):
            chances = softmax(theta[s])
            a = dice.by_shares(chances)
            r, t = dice.step(world, s, a)
            delta = r + gamma * (0.0 if world.ends(t) else v[t]) - v[s]
            v[s] += alpha_w * delta
            for c, p in enumerate(chances):
                theta[s][c] += alpha * weight * delta * ((c == a) - p)
            weight *= gamma
            s, total = t, total + r
        totals.append(total)
    return theta, totals


# ---------------------------------------------------------------- worlds
def cliff():
    """The 4 x 12 cliff of Example 6.6: up, right, down, left; state 36 is the start and 47 the goal."""
    rows = []
    for s in range(48):
        y, x = divmod(s, 12)
        actions = []
        for dy, dx in ((-1, 0), (0, 1), (1, 0), (0, -1)):
            to = 12 * min(max(y + dy, 0), 3) + min(max(x + dx, 0), 11)
            actions.append([(1.0, 36, -100.0) if 36 < to < 47 else (1.0, to, -1.0)])
        rows.append([] if s > 36 else actions)
    return World(rows, {36: 1.0}, 1.0)


def walk(discount=1.0):
    """The random walk of Example 6.2: states 1 to 5, left and right; the right end gives 1."""
    rows = [[[(1.0, s - 1, 0.0)], [(1.0, s + 1, float(s == 5))]] if 0 < s < 6 else [] for s in range(7)]
    return World(rows, {3: 1.0}, discount)


def random_world(seed, *, discount=0.9, states=7, actions=(1, 4), outcomes=3, ends=True, starts=2):
    """Return a random world; probabilities are eighths, so that every sum of them is exact."""
    rng = np.random.default_rng(seed)
    rows = []
    for s in range(states):
        choices = []
        for _ in range(int(rng.integers(*actions))):
            count = int(rng.integers(1, outcomes + 1))
            targets = sorted(rng.choice(states, count, replace=False).tolist())
            cuts = sorted(rng.choice(np.arange(1, 8), count - 1, replace=False).tolist())
            shares = np.diff([0, *cuts, 8]) / 8.0
            choices.append([(float(p), t, float(rng.normal())) for p, t in zip(shares, targets, strict=True)])
        rows.append([] if ends and s == states - 1 else choices)
    return World(rows, dict.fromkeys(range(starts), 1.0 / starts), discount)


def uniform(world):
    return [[1.0 / len(actions) for _ in actions] for actions in world.rows]


WORLDS = {"cliff": cliff(), "walk": walk(), "random": random_world(1)}


# ---------------------------------------------------------------- comparison
def flat(table):
    return [value for row in table for value in row]


def learned(world, method, seed, **options):
    return learn_task(world.task(), method, runs=RUNS, seed=seed, threads=1, **options)[0]


def assert_same(curve, tables, world, second, seed, **how):
    """Compare the tables and the mean reward of each episode with those of the second implementation."""
    totals = []
    for run in range(RUNS):
        table, rewards = second(world, Dice(seed, run), **how)
        assert tables[run].tolist() == pytest.approx(flat(table), **SAME), f"run {run}"
        assert any(flat(table)), "nothing was learned: the comparison would be empty"
        totals.append(rewards)
    assert curve.reward.tolist() == pytest.approx(np.mean(totals, axis=0).tolist(), **SAME)


def test_alias_rows_keep_the_probabilities():
    rng = np.random.default_rng(3)
    for size in (1, 2, 3, 7):
        share = rng.dirichlet(np.ones(size))
        cut, other = alias(share)
        found = cut.copy()
        for i in range(size):
            found[other[i]] += 1.0 - cut[i]
        assert (found / size).tolist() == pytest.approx(share.tolist(), abs=1e-15)


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("rule", ["q", "sarsa", "expected-sarsa"])
def test_one_step_control(rule, name):
    curve = learned(WORLDS[name], rule, 5, episodes=12, alpha=0.3, epsilon=0.2, checkpoints=0)
    how = {"episodes": 12, "rule": rule.partition("-")[0], "alpha": 0.3, "epsilon": 0.2}
    assert_same(curve, curve.tables, WORLDS[name], one_step, 5, **how)


@pytest.mark.parametrize("name", WORLDS)
def test_double_q(name):
    curve = learned(WORLDS[name], "double-q", 6, episodes=12, alpha=0.3, epsilon=0.2, checkpoints=0)
    assert_same(curve, curve.tables, WORLDS[name], double_q, 6, episodes=12, alpha=0.3, epsilon=0.2)


@pytest.mark.parametrize("n", [2, 4, 50])
@pytest.mark.parametrize("method", ["sarsa", "tree-backup"])
def test_n_step_control(method, n):
    for seed in (7, 8):
        world = random_world(seed)
        curve = learned(world, f"{method}(n={n})", seed, episodes=12, alpha=0.3, epsilon=0.3, checkpoints=0)
        how = {"episodes": 12, "n": n, "alpha": 0.3, "epsilon": 0.3, "tree": method == "tree-backup"}
        assert_same(curve, curve.tables, world, n_step, seed, **how)


def test_n_step_sarsa_on_the_cliff():
    # Step size 1/2 and whole rewards: the sums are exact at first, so equal values stay equal in both.
    curve = learned(cliff(), "sarsa(n=3)", 9, episodes=3, alpha=0.5, checkpoints=0)
    assert_same(curve, curve.tables, cliff(), n_step, 9, episodes=3, n=3, alpha=0.5)


@pytest.mark.parametrize("kind", ["accumulating", "replacing", "true-online"])
def test_sarsa_with_traces(kind):
    for seed, world in ((10, random_world(10)), (11, walk())):
        options = {"lambda_": 0.8, "traces": kind, "alpha": 0.3, "epsilon": 0.2}
        curve = learned(world, "sarsa", seed, episodes=12, checkpoints=0, **options)
        how = {"episodes": 12, "decay": 0.8, "alpha": 0.3, "epsilon": 0.2, "kind": kind}
        assert_same(curve, curve.tables, world, with_traces, seed, **how)


@pytest.mark.parametrize("name", ["walk", "random"])
def test_watkins_q_with_traces(name):
    options = {"lambda_": 0.9, "alpha": 0.25, "epsilon": 0.3}
    curve = learned(WORLDS[name], "q", 12, episodes=15, checkpoints=0, **options)
    how = {"episodes": 15, "decay": 0.9, "alpha": 0.25, "epsilon": 0.3, "watkins": True}
    assert_same(curve, curve.tables, WORLDS[name], with_traces, 12, **how)


@pytest.mark.parametrize("name", ["walk", "random"])
@pytest.mark.parametrize("method", ["", "n=3", "accumulating", "replacing", "true-online"])
def test_prediction(method, name):
    world = {"walk": walk(0.95), "random": random_world(1, actions=(2, 3))}[name]  # halves: sums are exact
    chain = world.under(uniform(world))
    options, how, second = {}, {}, with_traces
    if method == "":
        second, how = one_step, {"rule": "sarsa"}  # with one action in each state, this is TD(0)
    elif method == "n=3":
        second, how, options = n_step, {"n": 3}, {"n": 3}
    else:
        options, how = {"lambda_": 0.9, "traces": method}, {"decay": 0.9, "kind": method}
    curve = learned(world, "td", 13, policy="uniform", episodes=20, alpha=0.2, **options)
    assert_same(curve, curve.tables, chain, second, 13, episodes=20, alpha=0.2, **how)


@pytest.mark.parametrize("name", ["cliff", "random"])
@pytest.mark.parametrize("kappa", [None, 0.05])
def test_dyna(name, kappa):
    method = "dyna-q(plans=4)" if kappa is None else f"dyna-q-plus(plans=4,kappa={kappa})"
    curve = learned(WORLDS[name], method, 14, episodes=4, alpha=0.4, checkpoints=0)
    how = {"episodes": 4, "rule": "q", "alpha": 0.4, "plans": 4, "kappa": kappa}
    assert_same(curve, curve.tables, WORLDS[name], one_step, 14, **how)


def test_differential_sarsa():
    world = random_world(15, discount=1.0, ends=False, actions=(2, 4))
    curve = learned(world, "differential-sarsa", 15, steps=200, alpha=0.2, beta=0.05, points=200)
    second = lambda world, dice: differential_sarsa(world, dice, 200, alpha=0.2, beta=0.05)  # noqa: E731
    for run in range(RUNS):
        table, _ = second(world, Dice(15, run))
        assert curve.tables[run].tolist() == pytest.approx(flat(table), **SAME)
    earned = np.mean([second(world, Dice(15, run))[1] for run in range(RUNS)], axis=0)
    assert curve.reward.tolist() == pytest.approx(np.cumsum(earned).tolist(), **SAME)


@pytest.mark.parametrize("every_visit", [False, True])
def test_monte_carlo_control(every_visit):
    for seed in (16, 17):
        world = random_world(seed, discount=1.0, states=5)
        options = {"epsilon": 0.3, "every_visit": every_visit}
        curve = learned(world, "mc", seed, episodes=15, checkpoints=0, **options)
        assert_same(curve, curve.tables, world, monte_carlo, seed, episodes=15, **options)


@pytest.mark.parametrize("every_visit", [False, True])
@pytest.mark.parametrize("kind", ["ordinary", "weighted"])
def test_off_policy_monte_carlo(kind, every_visit):
    world = random_world(18, discount=0.9, states=5, actions=(2, 4))
    rng = np.random.default_rng(18)
    target = [rng.dirichlet(np.ones(len(actions))).tolist() if actions else [] for actions in world.rows]
    curve = learned(
        world, "off-policy-mc", 18, policy=np.array(flat(target)), behaviour="uniform", episodes=40,
        off_policy=kind, every_visit=every_visit,
    )  # fmt: skip
    first = curve.task.mdp.first_choice.astype(int)
    for run in range(RUNS):
        values = off_policy(
            world, Dice(18, run), 40, target=target, behaviour=uniform(world), weighted=kind == "weighted",
            every_visit=every_visit,
        )  # fmt: skip
        found = [curve.tables[run, first[s]] for s in range(len(world.rows)) if world.rows[s]]
        assert found == pytest.approx(
            values[: len(found)], rel=1e-9
        )  # the ratios are products of up to 40 numbers


@pytest.mark.parametrize(("alpha", "seed"), [(1.0, 237), (0.6, 9), (0.6, 246)])
def test_prioritised_sweeping(alpha, seed):
    # Worlds in which no two priorities are equal, so that the order of the queue is defined.
    world = random_world(seed, states=12, outcomes=1, actions=(2, 4))
    curve = learned(world, "sweeping", seed, episodes=6, plans=3, threshold=0.01, alpha=alpha, checkpoints=0)
    how = {"episodes": 6, "plans": 3, "threshold": 0.01, "alpha": alpha}
    assert_same(curve, curve.tables, world, prioritised_sweeping, seed, **how)


@pytest.mark.parametrize("method", ["reinforce", "reinforce(baseline=true)", "actor-critic"])
def test_policy_gradient(method):
    world = random_world(20, discount=0.95, states=6, actions=(3, 4))
    how = {"episodes": 20, "alpha": 0.1}
    if method != "reinforce":
        how["alpha_w"] = 0.2
    curve = learned(world, method, 20, checkpoints=0, **how)
    second = actor_critic if method == "actor-critic" else reinforce
    if "baseline" in method:
        how["baseline"] = True
    assert_same(curve, curve.tables, world, second, 20, **how)


@pytest.mark.parametrize("aggregated", [False, True])
@pytest.mark.parametrize("method", ["off-policy-td", "tdc"])
def test_off_policy_td(method, aggregated):
    world = random_world(21, discount=0.9, states=6, actions=(2, 3))
    rng = np.random.default_rng(21)
    target = [rng.dirichlet(np.ones(len(actions))).tolist() if actions else [] for actions in world.rows]
    features = [[s // 2, s // 2, 3] if aggregated else [s] for s in range(6)]
    task = replace(world.task(), features=np.array(features, np.int32) if aggregated else None)
    curve = learn_task(
        task, method, policy=np.array(flat(target)), behaviour="uniform", alpha=0.05, episodes=20, runs=RUNS,
        seed=21, threads=1, **({"beta": 0.1} if method == "tdc" else {}),
    )[0]  # fmt: skip
    how = {"target": target, "behaviour": uniform(world), "features": features, "alpha": 0.05, "beta": 0.1}
    first = curve.task.mdp.first_choice.astype(int)
    totals = []
    for run in range(RUNS):
        values, rewards = off_policy_td(world, Dice(21, run), 20, corrected=method == "tdc", **how)
        found = [curve.tables[run, first[s]] for s in range(len(world.rows)) if world.rows[s]]
        assert found == pytest.approx(values[: len(found)].tolist(), rel=1e-9)
        totals.append(rewards)
    assert curve.reward.tolist() == pytest.approx(np.mean(totals, axis=0).tolist(), **SAME)


def test_monte_carlo_with_exploring_starts():
    rng = np.random.default_rng(23)
    rows = [
        [[(0.5, t, float(rng.normal())) for t in (s + 1, min(s + 2, 5))] for _ in range(3)] for s in range(5)
    ]  # every step leads on, so that every policy ends
    rows[4] = [[(1.0, 5, float(rng.normal()))] for _ in range(3)]
    world = World([*rows, []], {0: 1.0}, 1.0)
    curve = learned(world, "mc-es", 23, episodes=25, epsilon=0.0, checkpoints=0)
    assert_same(curve, curve.tables, world, exploring_starts, 23, episodes=25)
