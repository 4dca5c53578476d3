"""Networks learned by self-play: perfect play on small games, the same bits twice, files that are refused.

Here are tested besides: ``mdplay.learning.self_play``, ``mdplay.learning.curves``,
``mdplay.learning.board``, ``mdplay.learning.episodes`` and ``mdplay.learning.lookups``.
"""

import csv
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest

from mdplay import FormatError, Game, GameError, Learned, LimitError, learn, make, match, solve
from mdplay.bits import elements
from mdplay.games.tic_tac_toe.rules import TicTacToe
from mdplay.games.twenty48.rules import Twenty48
from mdplay.learning.board import board_of
from mdplay.learning.episodes import best_move, new_trajectory
from mdplay.learning.lookups import locate, new_places
from mdplay.learning.network import Network, NetworkAgent
from mdplay.learning.training import NetworkTraining, Settings
from mdplay.playing.accuracy import critical_states
from mdplay.playing.evaluators import oracle_for
from mdplay.rng import Random
from mdplay.storage.arrays import load, save
from tests.helpers import COMPILED, NIM, ROOT, write

TINY = {"tuples": "0-1-2,0-4-8", "seed": 3}


def is_never_wrong(game, values):
    """Walk through all that the network and any opponent may play; tell whether it never gives value away."""
    solution, todo, seen = solve(game), [game.initial()], set()
    while todo:
        s = todo.pop()
        if s in seen or not elements(game.legal(s)):
            continue
        seen.add(s)
        found = values(s)
        best = max(found, key=found.get)
        if best not in solution.best(s):
            return False
        todo += [game.step(s, a) for a in elements(game.legal(s))]
    return True


def same(a, b):
    return (a.network.weights == b.network.weights).all() and (a.coherence == b.coherence).all()


@pytest.mark.skipif(not COMPILED, reason="thousands of episodes")
@pytest.mark.parametrize(
    "name, episodes, epsilon",
    [("tic-tac-toe", 100_000, 0.3), ("dots-and-boxes", 60_000, 0.5)],
    ids=["ttt", "boxes"],
)
def test_small_games_are_learned_to_perfect_play_in_every_position(name, episodes, epsilon):
    game = make(name)
    learned = learn(game, episodes=episodes, epsilon=epsilon, seed=1)
    assert isinstance(learned, Learned) and learned.episodes == episodes
    assert is_never_wrong(game, learned.network.values)
    assert learned.value(game.initial()) == pytest.approx(solve(game).value(), abs=0.05)


def test_one_thread_repeats_and_goes_on_to_the_last_bit(tmp_path):
    game, file = TicTacToe(), tmp_path / "n"
    whole = learn(game, episodes=60, **TINY)
    part = learn(game, episodes=60, file=file, **TINY)
    assert same(whole, part) and same(whole, NetworkTraining.load(file, game))
    file.unlink()
    learner = NetworkTraining.begin(game, whole.settings)
    learner.run(5, 1, 60)
    learner.save(file)
    resumed = learn(game, episodes=60, file=file, resume=True)
    assert same(whole, resumed) and resumed.episodes == 60
    assert [point.mean for point in resumed.curve] == [point.mean for point in whole.curve]
    assert not same(whole, learn(game, episodes=60, **{**TINY, "seed": 4}))


def test_exploring_starts_meet_more_positions():
    """Greedy play alone sees few positions; a file of a time without exploring starts has none."""
    greedy = {"tuples": "all", "episodes": 60, "epsilon": 0.0, "seed": 3}
    seen = [
        int((learn(TicTacToe(), exploring_starts=share, **greedy).coherence[:, 1] > 0).sum()) for share in (0, 1)
    ]
    assert seen[1] > 1.5 * seen[0] > 0
    assert Settings(tuples="all", alpha=1.0).exploring_starts == 0
    with pytest.raises(FormatError, match="exploring_starts=1.5 is not between 0 and 1"):
        learn(TicTacToe(), exploring_starts=1.5, **greedy)


def test_the_greedy_move_of_an_episode_is_the_best_of_all_values():
    """It asks the best moves alone whether a reply ends the game; ``values`` asks all of them."""
    game = TicTacToe()
    network = learn(game, episodes=30, **TINY).network
    tables, rng, answered = network.tables, Random(5), 0
    places, room = new_places(tables), new_trajectory(tables, 64)
    for _ in range(60):
        s = game.initial()
        while moves := elements(game.legal(s)):
            values, (sign, word) = network.values(s), (-1 if game.player(s) else 1, rng.word())
            locate(game, tables, s, places)
            action, value, _ = best_move(game, tables, s, places, room, word)
            best = pytest.approx(max(values.values()), abs=1e-5)
            assert values[action] == best and sign * value == best
            answered += min(values.values()) == -1 < max(values.values())
            s = game.step(s, moves[rng.below(len(moves))])
    assert answered > 20


def test_a_player_by_its_file_plays_as_the_one_in_memory(tmp_path):
    game, file = TicTacToe(), tmp_path / "n"
    learned = learn(game, episodes=40, file=file, **TINY)
    by_file = match(game, f"network:{file}", "random", games=6, seed=1)
    assert by_file.tally == match(game, learned.agent(), "random", games=6, seed=1).tally
    s = game.parse("110220000")
    assert NetworkAgent(game, str(file)).values(s) == learned.network.values(s)
    assert learned.value(s) == 1.0 and learned.agent().act(s) == 2  # a win at once is seen, not looked up
    assert learned.value(game.parse("111220000")) == -1.0


def test_chance_and_one_player():
    """Expected score of perfect play on 2 x 2: 66.96, by exact solution."""
    episodes = 6000 if COMPILED else 20
    learned = learn(Twenty48(2, 2), method="network", tuples="all", episodes=episodes, epsilon=0.0, seed=1)
    assert learned.network.board.points and learned.network.board.sides == 1
    if COMPILED:
        assert 55 < learned.curve[-1].mean < 70
        assert learned.value(learned.game.initial()) == pytest.approx(learned.curve[-1].mean, rel=0.15)


def test_online_learning_of_any_game_and_board():
    """With chance on a packed board, and on one of arrays without: what is learned repeats, and is better play."""
    episodes = 6000 if COMPILED else 20
    learned = learn(Twenty48(2, 2), method="network", tuples="all", episodes=episodes, online=True, seed=1)
    assert learned.network.shape.is_packed
    if COMPILED:
        assert 55 < learned.curve[-1].mean < 70
    one, two = (learn(TicTacToe(), episodes=60, online=True, **TINY) for _ in range(2))
    assert same(one, two) and not one.network.shape.is_packed and one.coherence.any()


def test_a_board_of_4_x_4_cells_with_16_values_is_looked_up_in_vectors():
    """As any game's own rules tell it; the sum is the same as one by one."""
    board = board_of(Twenty48())
    tuples = ((0, 1, 2, 3), (0, 1, 4, 5))
    vector, scalar = (Network.create(board, tuples, vector=wanted) for wanted in (True, False))
    assert vector.shape.uses_vectors and not scalar.shape.uses_vectors and not vector.shape.four_moves
    vector.weights[:] = scalar.weights[:] = np.random.default_rng(1).normal(size=len(vector.weights))
    s = Twenty48().parse("0123456789abcdef")
    assert vector.estimate(s) == scalar.estimate(s) != 0
    assert vector.values(s) == scalar.values(s)
    assert not board_of(TicTacToe()).packs


class Coin(NamedTuple):
    """In the hand, in the air, or what it shows."""

    face: int


@dataclass(frozen=True)
class Toss(Game[Coin]):
    """A coin is thrown once, and wins three times of four: the only afterstate is followed by the end."""

    def initial(self) -> Coin:
        return Coin(0)

    def legal(self, s: Coin) -> int:
        return 1 if s.face == 0 else 0

    def step(self, s: Coin, action: int) -> Coin:
        return Coin(1)

    def outcomes(self, s: Coin) -> int:
        return 3 if s.face == 1 else 0

    def probability(self, s: Coin, i: int) -> float:
        return 0.75 if i else 0.25

    def outcome(self, s: Coin, i: int) -> Coin:
        return Coin(2 + i)

    def result(self, s: Coin) -> int:
        return 1 if s.face == 3 else -1


def test_what_chance_makes_of_the_last_move_is_learned():
    network = learn(Toss(), episodes=400, seed=1).network
    assert network.values(Coin(0))[0] == pytest.approx(0.5, abs=0.25)  # 0 before it was mended


class State(NamedTuple):
    """Where the players stand."""

    first: int
    second: int
    thrown: int
    player: int


@dataclass(frozen=True)
class Race(Game[State]):
    """To ten: two steps, or a throw of 0, 1, 3 or 6; a throw of 6 moves again."""

    def initial(self) -> State:
        return State(0, 0, 0, 0)

    def legal(self, s: State) -> int:
        return 0 if s.thrown or s.first >= 10 or s.second >= 10 else 3

    def step(self, s: State, action: int) -> State:
        return State(s.first, s.second, 1, s.player) if action else self.moved(s, 2)

    def outcomes(self, s: State) -> int:
        return 15 if s.thrown else 0

    def probability(self, s: State, i: int) -> float:
        return 0.25

    def outcome(self, s: State, i: int) -> State:
        return self.moved(s, i * (i + 1) // 2)

    def moved(self, s: State, steps: int) -> State:
        mover = s.player if steps == 6 else 1 - s.player
        if s.player:
            return State(s.first, s.second + steps, 0, mover)
        return State(s.first + steps, s.second, 0, mover)

    def result(self, s: State) -> int:
        return 1 if s.first >= 10 else -1


def expected(game, choose):
    """Return what player 0 gets if both players choose so, computed exactly; throws of 0 may follow each other."""
    values = {}
    for _ in range(200):  # sweeps: two throws of 0 lead back, with probability 1/16
        for s in product(range(16), range(16), (0, 1), (0, 1)):
            s = State(*s)
            if s.thrown:
                values[s] = sum(values.get(game.outcome(s, i), 0.0) for i in range(4)) / 4
            elif game.legal(s):
                values[s] = choose(s, {a: values.get(game.step(s, a), 0.0) for a in (0, 1)})
            else:
                values[s] = game.result(s)
    return values


def test_chance_two_players_and_extra_turns(needs_compiler):
    """Whoever plays as was learned loses little against perfect play, on either side."""
    game = Race()
    learned = learn(game, episodes=60_000, seed=1).network
    best = expected(game, lambda s, values: (min if s.player else max)(values.values()))
    policy = {}

    def by_network(s):
        if s not in policy:
            policy[s] = NetworkAgent(game, learned).act(s)
        return policy[s]

    for side in (0, 1):
        mixed = expected(
            game,
            lambda s, values, side=side: (
                values[by_network(s)] if s.player == side else (min if s.player else max)(values.values())
            ),
        )
        assert abs(mixed[game.initial()] - best[game.initial()]) < 0.05


def test_threads_share_the_weights():
    learned = learn(TicTacToe(), episodes=40, threads=2, **TINY)
    assert learned.episodes == 40 and learned.moves >= 40 * 5 and learned.network.weights.any()


def test_curves_with_games_against_an_opponent(tmp_path):
    game = TicTacToe()
    learned = learn(game, episodes=20, against="random", games=4, report=None, **TINY)
    assert len(learned.curve) == 10 and learned.curve[-1].episodes == 20
    last = learned.curve[-1].examined
    played = match(game, NetworkAgent(game, learned.network), "random", games=4, openings="random:2")
    assert (last.opponent, last.games, last.score) == ("random", 4, played.tally.score)
    assert (last.low, last.high) == played.interval
    learned.write_curve(tmp_path / "c.csv")
    assert (tmp_path / "c.csv").read_text().count("\n") == 11
    learned.plot(tmp_path / "c.png")
    assert learned.document()["curve"][0]["episodes"] == 2


def test_curves_by_exact_values(tmp_path):
    game = TicTacToe()
    heard, given = [], {"episodes": 3000, "exact": 60, "against": "random", "games": 2, "seed": 1}
    learned = learn(game, file=tmp_path / "n", report=heard.append, **given)
    assert heard.count("asking for the exact values of 60 positions, once") == 1 and len(heard) == 11
    first, last = learned.curve[0].kept, learned.curve[-1].kept
    assert first.positions == last.positions == 60 and last.share > first.share and last.low <= last.share
    agent, oracle = learned.agent(), oracle_for(game, "perfect")
    asked = critical_states(game, oracle, 60)
    kept = [values[agent.act(s, Random(0))] == max(values.values()) for s, values in asked.items()]
    assert sum(kept) / 60 == last.share and all(len(set(values.values())) > 1 for values in asked.values())
    assert "of 60 positions" in learned.curve[-1].line() and "against random" in learned.curve[-1].line()
    again = NetworkTraining.load(tmp_path / "n", game)
    assert again.curve == learned.curve
    learned.write_curve(tmp_path / "c.csv")
    with (tmp_path / "c.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert float(rows[-1]["kept"]) == pytest.approx(last.share, abs=1e-5) and rows[-1]["positions"] == "60"
    learned.plot(tmp_path / "c.svg")
    drawn = (tmp_path / "c.svg").read_text()
    assert "share of moves that keep the exact value" in drawn and "score against random" in drawn


@pytest.mark.parametrize(
    "options, error, sentence",
    [
        ({"episodes": 5, "exact": 0}, LimitError, "exact=0 is too few"),
        ({"episodes": (1, 2)}, LimitError, "give one number of episodes"),
        ({"episodes": 5, "minutes": 1}, LimitError, "not both"),
        ({"episodes": 5, "alpha": -1}, FormatError, "alpha=-1 is not a rate"),
        ({"episodes": 5, "discount": 0.0}, FormatError, "discount=0.0 is not above 0"),
        ({"episodes": 5, "tuples": "0-x"}, FormatError, "are not cells as 0-1-2"),
        ({"episodes": 5, "tuples": "0-9"}, FormatError, "not of different cells 0 to 8"),
        ({"episodes": 5, "resume": True}, FormatError, "resume needs a file"),
    ],
)
def test_refusals_are_one_sentence(options, error, sentence):
    with pytest.raises(error, match=sentence):
        learn(TicTacToe(), **options)


def test_kernels_that_do_not_learn_get_a_network_alike_be_it_learned_or_read(tmp_path):
    game, file = TicTacToe(), tmp_path / "n"
    learned = learn(game, episodes=10, file=file, **TINY).network
    kinds = [
        [(a.dtype, a.ndim, a.flags.writeable) for a in (*tables[:4], *places)]
        for tables, places in (learned.arrays(), Network.load(file, game)[0].arrays())
    ]
    assert kinds[0] == kinds[1]
    assert not learned.arrays().tables.weights.flags.writeable
    learned.weights[0] += 1.0
    assert learned.arrays().tables.weights[0] == learned.weights[0], "what is learned later is seen"


def test_files_that_are_refused(tmp_path):
    game, file = TicTacToe(), tmp_path / "n"
    learned = learn(game, episodes=10, file=file, **TINY)
    with pytest.raises(FormatError, match="already there"):
        learn(game, episodes=10, file=file)
    with pytest.raises(FormatError, match="learned with alpha 3.0, not 2"):
        learn(game, episodes=10, file=file, resume=True, alpha=2)
    with pytest.raises(FormatError, match="rules of TicTacToe have changed"):
        Network.load(file, TicTacToe(4, 4, 4))
    content = bytearray(file.read_bytes())
    content[-5] ^= 1
    broken = tmp_path / "broken"
    broken.write_bytes(content)
    with pytest.raises(FormatError, match="damaged: its content does not match"):
        Network.load(broken, game)
    learn(Twenty48(2, 2), network="01,23", episodes=3, file=tmp_path / "tiles")
    with pytest.raises(FormatError, match="holds a network; a tuple-network is needed"):
        Network.load(tmp_path / "tiles", game)
    learned.network.save(tmp_path / "bare")
    with pytest.raises(FormatError, match="no training state"):
        learn(game, file=tmp_path / "bare", resume=True)


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"tuples": "9x9"}, "its tuples cannot be read"),
        ({"tuples": "0-1-2"}, "its weights are not those of its tuples"),
        ({"settings": {"tuples": 1}}, "its settings, counts or curve are missing or of a wrong kind"),
        ({"settings": {"tuples": "0-1-2", "alpha": 3.0}}, "its settings are not those of its network"),
        ({"progress": {"episodes": "many"}}, "its settings, counts or curve are missing or of a wrong kind"),
        ({"layout": 3}, "has layout 3; this version of mdplay reads 1 and 2"),
        ({"layout": 2}, "its layout is not one of the cells of TicTacToe"),
        ({"rules": None}, "does not say with which rules"),
        ({"stamp": "0"}, "the cells of TicTacToe have changed"),
    ],
    ids=str,
)
def test_forged_files_are_refused(tmp_path, change, sentence):
    """Whoever forges a file makes its checksum too."""
    file = tmp_path / "n"
    NetworkTraining.begin(TicTacToe(), Settings("0-1-2,0-4-8", 3.0)).save(file)
    stored = load(file, kind="tuple-network")
    arrays = {name: array.copy() for name, array in stored.arrays.items()}
    save(file, arrays, kind="tuple-network", meta={**stored.meta, **change})
    with pytest.raises(FormatError, match=sentence):
        NetworkTraining.load(file, TicTacToe())


def test_an_older_checkpoint_is_read(tmp_path):
    training, file = NetworkTraining.begin(TicTacToe(), Settings("0-1-2,0-4-8", 3.0)), tmp_path / "n"
    training.episodes = 7
    training.save(file)
    stored = load(file, kind="tuple-network")
    arrays, meta = {name: array.copy() for name, array in stored.arrays.items()}, dict(stored.meta)
    meta["course"] = meta.pop("progress")
    save(file, arrays, kind="tuple-network", meta=meta)
    assert NetworkTraining.load(file, TicTacToe()).episodes == 7


def test_a_game_from_outside_that_names_no_cells(tmp_path, needs_compiler):
    """Nim: whoever faces a multiple of four has lost (Bouton 1901); a round of two moves takes four."""
    game = make(str(write(tmp_path, "nim.py", NIM)))
    learned = learn(game, episodes=20_000, epsilon=0.3, discount=0.9, seed=1)
    for pile in range(1, 18):
        s = type(game.initial())(pile, 1)
        values = learned.network.values(s)
        if pile % 4:
            assert max(values, key=values.get) == pile % 4 - 1
        plies = 2 * (pile // 4) + (pile % 4 > 0)  # a loss to a single reply counts as if it came at once
        value = learned.value(s) if pile % 4 else -learned.value(s)
        assert 0.9 ** (plies - 1) - 0.05 < value < min(1.0, 0.9 ** (plies - 2)) + 0.05


def test_a_users_file_on_the_command_line(tmp_path, mdplay, needs_compiler):
    file = write(tmp_path, "nim.py", NIM)
    answer = mdplay(
        "learn", file, "--episodes", 50, "--seed", 1, "--out", tmp_path / "n", "--against", "random", "--games", 4
    )
    assert answer.code == 0 and "in 4 games against random" in answer.out and "50 episodes" in answer.out
    played = mdplay("match", file, f"network:{tmp_path / 'n'}", "random", "--games", 2, "--json")
    assert played.code == 0
    refused = mdplay("match", "tic-tac-toe", f"network:{tmp_path / 'n'}", "random", "--games", 2)
    assert refused.code == 2 and "have changed since" in refused.err


def kill_while_it_learns(command, file, seconds):
    """Start the program and kill it some time after it has kept episodes; tell whether it was at work."""
    env, written, last = {**os.environ, "PYTHONPATH": str(ROOT / "src")}, 0, None
    child = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL)
    while child.poll() is None and written < 3:  # as it was, as the run begins, with episodes of the run
        changed = file.stat().st_mtime_ns if file.exists() else 0
        written += changed != last
        last = changed
        time.sleep(0.01)
    time.sleep(seconds)
    hit = child.poll() is None
    child.send_signal(signal.SIGKILL)
    child.wait()
    return hit


@pytest.mark.parametrize(
    "kills, episodes", [(2, 400_000), pytest.param(50, 12_000_000, marks=pytest.mark.slow)], ids=["twice", "often"]
)
def test_a_killed_run_goes_on_to_the_same_bits(tmp_path, needs_compiler, kills, episodes):
    """Kill the program at any time while it learns and writes; what resumes ends as if nothing had happened."""
    file, rng = tmp_path / "n", Random(1)
    command = [sys.executable, "-m", "mdplay", "learn", "tic-tac-toe", "--episodes", str(episodes), "--seed", "3"]
    command += ["--tuples", "0-1-2,0-4-8", "--out", str(file), "--resume", "--save-every", "0"]
    hits = sum(kill_while_it_learns(command, file, rng.below(300) / 1000) for _ in range(kills))
    game = TicTacToe()
    begun = NetworkTraining.load(file, game).episodes
    resumed = learn(game, episodes=episodes, file=file, resume=True)
    whole = learn(game, episodes=episodes, **TINY)
    assert 2 * hits >= kills and begun > 0
    assert same(whole, resumed) and np.isfinite(whole.network.weights).all()


def test_results_beyond_single_precision_end_the_training(tmp_path, needs_compiler):
    text = NIM.replace(
        "-> int:\n        return 2 * s.player - 1", "-> float:\n        return 1e40 if s.player else -1.0"
    )
    with pytest.raises(GameError, match=r"Nim: a result or reward is no number from -1e\+30 to 1e\+30"):
        learn(make(str(write(tmp_path, "infinite.py", text))), method="network", episodes=200, seed=1)
