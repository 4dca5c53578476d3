"""Learning by self-play, compiled: an episode is played, then replayed from its end.

Moves are greedy by their values (points + V of the afterstate), with probability epsilon random; some
episodes begin with several random moves (exploring starts) and roam on, so that positions far from good play are
met too, while the others stay near it.

The afterstate of move t - 1 is corrected towards the return of TD(lambda), which backward replay has at hand
exactly:

    target(t - 1) = d * (points(t) + (1 - lambda) V(t) + lambda target(t))
    target(t - 1) = d * value of the greedy move at t                       if move t was a random one

where V and target of a finished game are its result,

so the last positions of both players learn the result itself, as does one after which chance ends the game, and
the loss by a random move is not attributed to earlier moves.
For results the error is target - tanh(sum) without the factor 1 - V * V: the gradient of the cross-entropy, which
does not vanish where the network is surely wrong.

Online, the afterstate of a move is corrected as soon as the next move is chosen, moves are greedy and lambda is 0.

Temporal coherence: each weight has a rate of its own that falls where errors change their sign,

    rate = exp(2.7 * (|sum of its errors| / sum of their sizes - 1))

or, if it is linear, |sum of its errors| / sum of their sizes (TC, Beal and Smith 1999).

``fair`` multiplies it by rate / mean rate of the lookups: what weights that have seen it all do not take goes to
the others, so that one large, specific table is not held back by small ones.

Episode e of a seed has a random stream of its own and the rate of its number, so an interrupted run continues as
if nothing had happened.  Several threads share the weights without locks; only one thread repeats to the last
bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mdplay.bits import below, lowest, nonempty, unit, without_lowest
from mdplay.compiling import State, inlined, kernel, load, prefetch, unchecked_view
from mdplay.game import Game
from mdplay.learning.lookups import (
    Places,
    Tables,
    estimate,
    gain,
    go_to,
    greedy,
    is_answered,
    is_over,
    locate,
    move_value,
    num_lookups,
    read,
    sign_of,
    squashed,
    total,
    value_after,
)
from mdplay.rng import advance, pick, scramble, stream

NONE, LINEAR, EXPONENTIAL = range(3)  # rates of weights by their coherence
RANDOM, ENDED = 1, 2  # what may come instead of the greedy move
LARGEST = 1e30  # of results and sums of rewards: weights are single precision
NO_NUMBER = -2  # instead of an episode's moves

MAX_MOVES = 1024  # a longer episode is truncated, and valued by the network
MAX_ONLINE = 1 << 18  # the same online, where no trajectory is kept
MAX_RANDOM_START = 12  # random moves of an exploring start
ROAMING = 0.2  # the least share of random moves after it
RATES = 1024  # steps of the table of rates
STEEPNESS = 2.7  # of the rate over coherence
COHERENT, LAST_RATE = 2 / 3, 0.1  # the share of a run at the full rate; what is left of it at the end


class Rule(NamedTuple):
    """How to learn."""

    step: float  # the rate divided by the number of lookups
    decay: float  # lambda
    discount: float  # what is left of a value a move earlier
    epsilon: float
    starts: float  # the share of episodes with an exploring start
    fair: bool
    episodes: int  # of the whole run: the rate falls in its last third; 0: it stays
    online: bool = False  # correct each afterstate as soon as the next move is chosen
    coherence: int = EXPONENTIAL


class TrainingState(NamedTuple):
    """The weights and sums that a kernel updates in place, and the rule of learning."""

    tables: Tables
    coherence: NDArray[np.float32]  # of each weight the sum of its errors, and of their sizes
    rates: NDArray[np.float32]
    rule: Rule


class Episodes(NamedTuple):
    """What came of episodes: the score of player 0 and the moves; -1 moves: not played yet.

    ``highest``: the highest cell at the end, of boards that a word holds and that are learned online.
    """

    scores: NDArray[np.float32]
    moves: NDArray[np.int32]
    highest: NDArray[np.int32]


class Trajectory(NamedTuple):
    """An episode: for each move the places of its afterstate, whom its value speaks for, points, and more."""

    places: NDArray[np.uint32]
    signs: NDArray[np.float32]
    gains: NDArray[np.float32]  # points for player 0
    bests: NDArray[np.float32]  # the values of the greedy moves for player 0
    move_kinds: NDArray[np.uint8]  # RANDOM: such a move was made instead; ENDED: by chance, before another move
    rates: NDArray[np.float32]  # room for those of one correction
    actions: NDArray[np.int32]  # room for the moves of one position
    values: NDArray[np.float32]


def new_trajectory(tables: Tables, num_actions: int) -> Trajectory:
    """Return room for an episode; every thread needs its own."""
    count = len(tables.base)
    signs, gains, bests = (np.zeros(MAX_MOVES, np.float32) for _ in range(3))
    rows, move_kinds = np.zeros((MAX_MOVES, count), np.uint32), np.zeros(MAX_MOVES, np.uint8)
    actions, values = np.zeros(num_actions, np.int32), np.zeros(num_actions, np.float32)
    return Trajectory(rows, signs, gains, bests, move_kinds, np.zeros(count, np.float32), actions, values)


def no_episodes(count: int) -> Episodes:
    """Return arrays for the results of ``count`` episodes."""
    return Episodes(np.zeros(count, np.float32), np.full(count, -1, np.int32), np.zeros(count, np.int32))


def rate_table() -> NDArray[np.float32]:
    """Return the rates of weights by their coherence, from 0 to 1."""
    return np.exp(STEEPNESS * (np.arange(RATES) / (RATES - 1) - 1)).astype(np.float32)


@inlined
def value_all(game: Game[Any], tables: Tables, s: State, places: Places, out: Any) -> int:
    """Write the legal actions and their values for the mover, without replies; return their number."""
    sign = np.float32(-1) if game.player(s) else np.float32(1)
    left, count = game.legal(s), 0
    while nonempty(left):
        action = lowest(left)
        left = without_lowest(left)
        out.actions[count] = action
        out.values[count] = sign * value_after(game, tables, s, action, game.step(s, action), places)
        count += 1
    return count


@inlined
def highest(values: Any, count: int, x: Any) -> Any:
    """Return where the highest of the first values is, and the random state; ties are broken at random."""
    found, ties = 0, 1
    for k in range(1, count):
        if values[k] > values[found]:
            found, ties = k, 1
        elif values[k] == values[found]:
            ties += 1
            x = advance(x)
            if below(scramble(x), ties) == 0:
                found = k
    return found, x


@inlined
def best_move(game: Game[Any], tables: Tables, s: State, places: Places, room: Trajectory, x: Any) -> Any:
    """Return the greedy move, its worth to player 0 and the random state.

    Looking for a reply that ends the game is dear: only the best move is asked, and the next one if there is.
    """
    count = value_all(game, tables, s, places, room)
    k, x = highest(room.values, count, x)
    while tables.ahead and room.values[k] > -1 and is_answered(game, s, game.step(s, int(room.actions[k]))):
        room.values[k] = -1
        k, x = highest(room.values, count, x)
    return int(room.actions[k]), -room.values[k] if game.player(s) else room.values[k], x


@inlined
def after_chance(game: Game[Any], s: State, x: Any) -> Any:
    """Draw what chance does, event by event, until a player moves or the game is over."""
    for _ in range(MAX_MOVES):
        if not nonempty(game.outcomes(s)):
            break
        x = advance(x)
        s = game.outcome(s, game.draw(s, scramble(x)))
    return s, x


@inlined
def exploration(rule: Rule, x: Any) -> Any:
    """Return how many moves an episode begins with at random, the share of random ones after, the random state."""
    if rule.starts == 0.0:
        return 0, rule.epsilon, x
    x = advance(x)
    if unit(scramble(x)) >= rule.starts:
        return 0, rule.epsilon, x
    x = advance(x)
    return below(scramble(x), MAX_RANDOM_START + 1), max(rule.epsilon, ROAMING), x


@inlined
def play_episode(
    game: Game[Any], tables: Tables, rule: Rule, places: Places, trajectory: Trajectory, x: Any
) -> Any:
    """Play an episode and write down its trajectory.

    Return the moves, how many of their afterstates learn from what came after them (all but one that is the end
    itself, or where the episode is cut), the value at the end and player 0's score.
    """
    s, moves, score = game.initial(), 0, np.float32(0)
    opening, epsilon, x = exploration(rule, x)
    fresh, updates = True, 0
    while moves < MAX_MOVES and not is_over(game, s):
        updates = moves
        if game.has_outcomes:
            s, x = after_chance(game, s, x)
            fresh = True
            if is_over(game, s):
                trajectory.move_kinds[moves] = ENDED
                break
        if fresh:
            locate(game, tables, s, places)
            fresh = False
        action, best, x = best_move(game, tables, s, places, trajectory, x)
        trajectory.bests[moves] = best
        trajectory.move_kinds[moves] = 0
        x = advance(x)
        if moves < opening or unit(scramble(x)) < epsilon:
            x = advance(x)
            other = pick(game.legal(s), scramble(x))
            trajectory.move_kinds[moves] = RANDOM if other != action else 0
            action = other
        trajectory.gains[moves] = gain(game, s, action)
        score += trajectory.gains[moves]
        after = game.step(s, action)
        go_to(game, tables, s, action, after, places)
        s = after
        trajectory.signs[moves] = sign_of(game, tables, s)
        for j in range(len(places.now)):
            trajectory.places[moves, j] = places.now[j]
        moves += 1
    value = np.float32(0)
    if is_over(game, s):
        value = np.float32(game.result(s))
    elif moves > 0:
        value = estimate(game, tables, s, places.now)
    return moves, updates, value, score + value


@inlined
def correct(training: TrainingState, step: Any, places: NDArray[np.uint32], error: Any, own: Any) -> None:
    """Move the weights at the places by step * error, each at its own rate; ``own`` is room for the rates."""
    weights, coherence, rates = training.tables.weights, training.coherence, training.rates
    if training.rule.coherence == NONE:
        change = step * error
        for j in range(num_lookups(training.tables.shape, places)):
            weights[np.uint32(places[j])] += change
        return
    if training.rule.coherence == LINEAR:
        correct_linearly(training.tables.shape, weights, coherence, places, step, error)
        return
    scale, sum_of_rates = np.float32(RATES - 1), np.float32(0)
    count = len(places)
    for j in range(count):
        sums = coherence[np.uint32(places[j])]
        rate = np.float32(1)
        if sums[1] > 0:
            rate = rates[min(int(scale * abs(sums[0]) / sums[1]), RATES - 1)]
        own[j] = rate
        sum_of_rates += rate
    push = step * error
    fair = training.rule.fair
    if fair:
        push *= np.float32(count) / sum_of_rates
    size = abs(error)
    for j in range(count):
        i = np.uint32(places[j])
        weights[i] += push * (own[j] * own[j] if fair else own[j])
        coherence[i, 0] += error
        coherence[i, 1] += size


@inlined
def correct_linearly(
    shape: Any,
    weights: NDArray[np.float32],
    coherence: NDArray[np.float32],
    places: NDArray[np.uint32],
    step: Any,
    error: Any,
) -> None:
    """Move weights at the rates |sum of errors| / sum of their sizes, which are 1 where both are tiny."""
    size = abs(error)
    for j in range(num_lookups(shape, places)):
        i = np.uint32(places[j])
        signed, absolute = coherence[i, 0], coherence[i, 1]
        weights[i] += step * error * (abs(signed) / absolute)
        coherence[i, 0] = signed + error
        coherence[i, 1] = absolute + size


@inlined
def learn_online(
    game: Game[Any], training: TrainingState, step: Any, places: Places, room: Trajectory, x: Any
) -> Any:
    """Play an episode and correct each afterstate when the next move is chosen.

    Return the moves, the score and the last position.  With temporal coherence the value of the last afterstate is
    computed anew before its correction: with the one known from the choice, learning at rate 1 collapses on one
    seed in four.
    """
    tables, rule = training.tables, training.rule
    discount, ahead = np.float32(rule.discount), unchecked_view(training.coherence.reshape(-1))
    s, moves, score, known, sign = game.initial(), 0, np.float32(0), np.float32(0), np.float32(1)
    last = places_of_last(tables.shape, places, room)
    while True:
        if game.has_outcomes:
            s, x = after_chance(game, s, x)
        if game.has_outcomes or moves == 0:
            look_around(game, tables.shape, tables, s, places)
        choice = greedy(game, tables.shape, tables, s, places)
        over = choice.action < 0
        end = np.float32(game.result(s)) if over else np.float32(0)
        if moves > 0:
            if rule.coherence != NONE:
                known = squashed(tables, total(tables, last))
            target = discount * (end if over else choice.total)
            correct(training, step, last, sign * target - known, room.rates)
        if over or moves == MAX_ONLINE:
            return moves, score + end, s
        go_to(game, tables, s, choice.action, choice.after, places)
        keep_last(tables.shape, places, last)
        sign = sign_of(game, tables, choice.after)
        known = sign * (choice.total - choice.points)
        if rule.coherence != NONE:
            for j in range(num_lookups(tables.shape, last)):
                prefetch(ahead, 2 * last[j])
        score += choice.points
        moves += 1
        s = choice.after


@inlined
def places_of_last(shape: Any, places: Places, room: Trajectory) -> Any:
    """Return where the places of the last afterstate are kept: a packed board needs no others."""
    if shape.is_packed:
        return places.now
    return room.places[0]


@inlined
def keep_last(shape: Any, places: Places, out: Any) -> None:
    """Keep the places of an afterstate; those of the positions after it follow."""
    if not shape.is_packed:
        for j in range(len(out)):
            out[j] = places.now[j]


@inlined
def look_around(game: Game[Any], shape: Any, tables: Tables, s: State, places: Places) -> None:
    """Fill in the places from which those after each move follow; a packed board is looked up without them."""
    if not shape.is_packed:
        locate(game, tables, s, places)


@inlined
def highest_cell(game: Game[Any], shape: Any, tables: Tables, s: State) -> int:
    """Return the highest value of a cell of a packed board, else 0."""
    most = 0
    if shape.is_packed:
        for i in range(shape.num_cells):
            most = max(most, int(read(game, tables, s, i)))
    return most


@inlined
def replay(training: TrainingState, step: Any, trajectory: Trajectory, updates: int, value: Any) -> None:
    """Learn the afterstates of an episode from its end, where it was worth ``value`` to player 0."""
    tables, rule = training.tables, training.rule
    target, decay, discount = value, np.float32(rule.decay), np.float32(rule.discount)
    for t in range(updates, 0, -1):
        if trajectory.move_kinds[t] == ENDED:
            target = value
        elif trajectory.move_kinds[t] == RANDOM:
            target = discount * trajectory.bests[t]
        else:
            target = discount * (trajectory.gains[t] + (np.float32(1) - decay) * value + decay * target)
        places = trajectory.places[t - 1]
        known = squashed(tables, total(tables, places))
        sign = trajectory.signs[t - 1]
        correct(training, step, places, sign * target - known, trajectory.rates)
        value = sign * known


@inlined
def share_of_rate(rule: Rule, episode: int) -> Any:
    """Return what part of the rate counts in an episode: all, and in the last third of the run less and less."""
    if rule.episodes == 0:
        return 1.0
    late = (episode / rule.episodes - COHERENT) / (1 - COHERENT)
    return 1.0 - (1.0 - LAST_RATE) * min(max(late, 0.0), 1.0)


@kernel
def train_network(
    game: Game[Any],
    training: TrainingState,
    places: Places,
    trajectory: Trajectory,
    seed: Any,
    first: int,
    worker: Any,
    out: Any,
) -> None:
    """Learn every episode from the first on that is the worker's, in place; one entry of ``out`` each.

    A result or a sum of rewards that is no number, or too large, ends all with ``NO_NUMBER`` among the moves.
    """
    training, places, trajectory = (
        unchecked_view(training),
        unchecked_view(places),
        unchecked_view(trajectory),
    )
    tables, rule = training.tables, training.rule
    for i in range(worker.first, len(out.moves), worker.stride):
        if worker.stop[0]:
            return
        step = np.float32(rule.step * share_of_rate(rule, first + i))
        if rule.online:
            moves, score, last = learn_online(game, training, step, places, trajectory, stream(seed, first + i))
            if not abs(score) <= LARGEST:
                out.moves[i], worker.stop[0] = NO_NUMBER, 1
                return
            out.scores[i], out.moves[i] = score, moves
            out.highest[i] = highest_cell(game, tables.shape, tables, last)
            worker.progress[worker.first] += moves
            continue
        moves, updates, value, score = play_episode(
            game, tables, rule, places, trajectory, stream(seed, first + i)
        )
        if not (abs(value) <= LARGEST and abs(score) <= LARGEST):
            out.moves[i], worker.stop[0] = NO_NUMBER, 1
            return
        replay(training, step, trajectory, updates, value)
        out.scores[i], out.moves[i] = score, moves
        worker.progress[worker.first] += moves


@kernel
def value_moves(
    game: Game[Any], tables: Tables, places: Places, states: NDArray[np.uint64], out_values: NDArray[np.float32]
) -> None:
    """Write the value of every legal action of packed states for its mover; other entries stay unchanged."""
    tables = unchecked_view(tables)
    places = unchecked_view(places)
    for k in range(len(states)):
        s = load(game, states, k)
        locate(game, tables, s, places)
        left = game.legal(s)
        while nonempty(left):
            action = lowest(left)
            left = without_lowest(left)
            value = move_value(game, tables, s, action, places)
            out_values[k, action] = -value if game.player(s) else value


@kernel
def look_up_state(game: Game[Any], tables: Tables, places: Places, states: NDArray[np.uint64], out: Any) -> None:
    """Fill in the places of the first packed state, and its value for player 0."""
    s = load(game, states, 0)
    locate(game, tables, s, places)
    out[0] = estimate(game, tables, s, places.now)
