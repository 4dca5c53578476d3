"""The games in examples/games, written from the docs alone: their known values, and every verb on each of them."""

import contextlib
import csv
import json
import re
from functools import cache
from xml.etree import ElementTree as ET

import nbformat
import pytest
from nbclient import NotebookClient

from mdplay import GameError, LimitError, Position, check_game, depth_limited, make, perft, solve
from mdplay.bits import elements, nonempty, popcount
from mdplay.rng import Random
from tests.helpers import ROOT, python

GAMES = ROOT / "examples" / "games"


def game_of(spec):
    return make(f"{GAMES}/{spec}")


@pytest.mark.parametrize(
    "spec, value",
    [
        ("kalah.py:pits=4,seeds=3", 6),  # Irving, Donkers and Uiterwijk, Solving Kalah (2000): won by 6
        ("othello.py:side=4", -8),  # 4 x 4: the second player wins, 11 discs to 3
        ("domineering.py:rows=4,cols=4", 1),  # Breuker, Uiterwijk and van den Herik (2000): the first player
        ("domineering.py:rows=5,cols=5", -1),  # the second player
    ],
)
def test_known_values(spec, value, needs_compiler):
    assert solve(game_of(spec)).value() == value


# ---------------------------------------------------------------- blackjack once more, by hand
def chance_of(card):
    return 4 / 13 if card == 10 else 1 / 13


@cache
def dealer_ends(total, soft, cards):
    """Return the probability of each hand that the dealer may end with: (total, is a blackjack)."""
    if total >= 17:
        return {(total, total == 21 and cards == 2): 1.0}
    found = {}
    for card in range(1, 11):
        for end, share in dealer_ends(*drawn(total, soft, card), cards + 1).items():
            found[end] = found.get(end, 0.0) + chance_of(card) * share
    return found


def drawn(total, soft, card):
    total, soft = (total + 11, True) if card == 1 and total + 11 <= 21 else (total + card, soft)
    return (total - 10, False) if soft and total > 21 else (total, soft)


@cache
def player_gets(total, soft, up):
    if total > 21:
        return -1.0
    ends = dealer_ends(*drawn(0, False, up), 1)
    stand = sum(p * (-1 if blackjack else 1 if end > 21 else (total > end) - (total < end))
                for (end, blackjack), p in ends.items())  # fmt: skip
    hit = sum(chance_of(card) * player_gets(*drawn(total, soft, card), up) for card in range(1, 11))
    return max(stand, hit)


def test_blackjack_is_worth_what_a_hand_written_recursion_says(needs_compiler):
    expected = 0.0
    for first in range(1, 11):
        for second in range(1, 11):
            for up in range(1, 11):
                total, soft = drawn(*drawn(0, False, first), second)
                tie = chance_of(10) if up == 1 else chance_of(1) if up == 10 else 0.0
                gets = 1.5 * (1 - tie) if total == 21 else player_gets(total, soft, up)
                expected += chance_of(first) * chance_of(second) * chance_of(up) * gets
    assert solve(game_of("blackjack.py")).value() == pytest.approx(expected, abs=1e-9)


# ---------------------------------------------------------------- one position by search
def test_a_proof_of_many_actions_agrees_with_the_table(needs_compiler):
    game = game_of("breakthrough.py:rows=4,cols=3")
    table, proof = solve(game, method="hashed"), solve(game, method="proof")
    position, rng = Position.start(game), Random(5)
    while not position.is_over:
        values = [[choice.value for choice in found.choices(position.state)] for found in (table, proof)]
        assert values[0] == values[1]
        position = position.play(position.moves[rng.below(len(position.moves))])
    assert len(table.line()) == table.document()["distance"] > 4
    assert len(proof.line()) > 4


def test_a_position_is_proved_where_its_table_would_be_huge(needs_compiler):
    game = game_of("breakthrough.py:rows=5,cols=4")  # its table has 370 million states
    assert solve(game, seconds=0.01).method == solve(game).method == "proof"
    with pytest.raises(LimitError, match="a table of more than"):
        solve(game, memory=1 << 20)  # without a limit of time what does not fit is refused


def listed(spec, path, **options):
    """Write all states of a game to a file, and return their values by their texts."""
    count = solve(game_of(spec), **options).write_all(path)
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert len(rows) == count == len({row["state"] for row in rows})
    return {row["state"]: float(row["value"]) for row in rows}


@pytest.mark.parametrize(
    "spec, options",
    [
        ("kalah.py:pits=2,seeds=2", {}),  # backward induction
        ("pig.py:target=3,faces=3", {}),  # value iteration
        ("three_mens_morris.py:diagonals=no", {}),  # retrograde analysis
        ("kalah.py:pits=2,seeds=2", {"opponent": "uniform"}),  # the best response
    ],
)
def test_all_states_of_every_table_are_listed(spec, options, tmp_path):
    game, values = game_of(spec), listed(spec, tmp_path / "all.csv", **options)
    assert values[game.text(game.initial())] == pytest.approx(solve(game, **options).value())
    assert len(values) > 20


def test_a_table_from_a_file_is_listed_like_the_one_it_was(tmp_path):
    spec, file = "kalah.py:pits=2,seeds=2", tmp_path / "kalah.sol"
    first = listed(spec, tmp_path / "a.csv", file=file)
    assert first == listed(spec, tmp_path / "b.csv", file=file) == listed(spec, tmp_path / "c.csv")


def test_what_proves_one_position_at_a_time_has_no_list(tmp_path):
    with pytest.raises(GameError, match="--method hashed"):
        listed("domineering.py:rows=2,cols=2", tmp_path / "all.csv", method="proof")


def test_a_proof_keeps_no_more_positions_than_there_are():
    game = game_of("domineering.py:rows=3,cols=3")
    proof = solve(game, method="proof")
    reached = {game.initial()}
    for _ in range(9):
        reached |= {after for s in reached for after in followers(game, s)}
    choices = [s for s in reached if popcount(game.legal(s)) > 1]  # where there is no choice it goes on at once
    assert len(proof.choices()) == 6
    assert 0 < proof.states <= len(choices)


def test_a_proof_is_never_wrong_where_positions_come_back():
    """It may not come to an end there, but what it finds is so."""
    game = game_of("three_mens_morris.py")
    exact, proof = solve(game), solve(game, method="proof")
    found = {}
    for number in range(12):
        position, rng = Position.start(game), Random(number)
        while not position.is_over and position.num_events < 8 + number % 4:
            position = position.play(position.moves[rng.below(len(position.moves))])
        with contextlib.suppress(LimitError):
            found[position.state] = proof.value(position.state)
    assert len(found) > 2
    assert found == {state: exact.value(state) for state in found}


# ---------------------------------------------------------------- Dobutsu Shogi
def test_dobutsu_shogi_counts_as_others_do(needs_compiler):
    """Paths by depth as Fairy-Stockfish counts them (variant dobutsu).

    From ply 7 on it goes on where a lion on the far row was attacked and left alone; here that has won.
    """
    game = game_of("dobutsu_shogi.py:forced=no")
    assert [ply.paths for ply in perft(game, depth=6)] == [1, 4, 17, 123, 976, 8122, 71677]
    assert check_game(game, games=2, compiled=False).games == 2


def test_who_can_take_the_lion_needs_no_other_moves():
    """The value within two plies is the same if nothing else is allowed then."""
    forced, free = (game_of(f"dobutsu_shogi.py:forced={word}") for word in ("yes", "no"))
    for number in range(6):
        s, rng = forced.initial(), Random(number)
        for _ in range(4 + number):
            if nonempty(forced.legal(s)):
                s = forced.step(s, rng.pick(forced.legal(s)))
        if nonempty(forced.legal(s)):
            one, other = (depth_limited(game, s, depth=2) for game in (forced, free))
            assert (one.value, one.proven) == (other.value, other.proven)


def test_the_lion_on_the_far_row():
    game = game_of("dobutsu_shogi.py")
    safe = game.initial()._replace(board=0x0_0_0_0_0_0_0_0_0_C_0_4, player=1)  # player 1's lion in the corner
    assert [game.move_text(safe, a) for a in elements(game.legal(safe))] == []
    taken = safe._replace(board=0x0_0_0_0_0_0_0_0_0_0_C_4)  # the other lion stands beside it
    assert [game.move_text(taken, a) for a in elements(game.legal(taken))] == ["b4a4"]
    over = game.step(taken, elements(game.legal(taken))[0])
    assert (elements(game.legal(over)), game.result(over), game.result(safe)) == ([], -1, 1)


# ---------------------------------------------------------------- every verb, without the compiler
VERBS = """
import json, sys
from mdplay import Position, check_game, evaluate, learn, make, match, mcts, solve
from mdplay.playing.agents import search

game = make(sys.argv[1])
position = Position.start(game)
for move in sys.argv[2].split():
    position = position.play(move)
two = "player" in type(position.state)._fields
found = {
    "check": check_game(game, games=3, compiled=False).games,
    "solve": solve(game, position.state).value(position.state),
    "search": mcts(game, position.state, simulations=30, seed=1).move in position.moves,
    "depth": search(game, position.state, agent="heuristic:depth=2").move in position.moves,
    "learn": learn(game, episodes=5, seed=1).agent() is not None,
    "play": match(game, "random", "mcts:simulations=5", games=2, seed=1).tally.games if two
            else len(evaluate(game, "mcts:simulations=5", games=2, seed=1).results),
}
print(json.dumps(found))
"""
CASES = {  # moves to a position, and what it is worth to its mover
    "kalah.py:pits=2,seeds=2": ("", -2),
    "othello.py:side=4": ("b1 a3 b4 a1 d3 c1 a2", None),
    "pig.py:target=4": ("", 7 / 11),
    "blackjack.py": ("card-10 card-6 card-10", -0.5752243196440803),
    "breakthrough.py:rows=4,cols=2": ("", -1),
    "domineering.py:rows=3,cols=3": ("", 1),
    "three_mens_morris.py": ("", 1),  # the first player takes the centre and wins
}


def plain_value(game, moves):
    """Return what the position after some moves is worth to its mover: all values again and again, from 0 on."""
    start = Position.start(game).play_all(moves.split()).state
    values, todo = {}, [start]
    while todo:
        s = todo.pop()
        if s not in values:
            values[s] = 0.0
            todo += [game.outcome(s, i) for i in elements(game.outcomes(s))] or followers(game, s)
    changed = 1.0
    while changed > 1e-12:
        changed = 0.0
        for s in list(values):
            new = backed_up(game, s, values)
            changed, values[s] = max(changed, abs(new - values[s])), new
    return values[start] * (-1 if game.player(start) else 1)


def followers(game, s):
    return [game.step(s, a) for a in elements(game.legal(s))]


def backed_up(game, s, values):
    """Return what a state is worth to player 0, given what those after it are worth."""
    if chances := elements(game.outcomes(s)):
        return sum(game.probability(s, i) * values[game.outcome(s, i)] for i in chances)
    sign = -1 if game.player(s) else 1
    gains = [game.reward(s, a) + sign * values[game.step(s, a)] for a in elements(game.legal(s))]
    return sign * max(gains) if gains else float(game.result(s))


@pytest.mark.parametrize("spec", CASES)
def test_every_verb(spec):
    moves, value = CASES[spec]
    found = json.loads(python("-c", VERBS, f"{GAMES}/{spec}", moves, NUMBA_DISABLE_JIT="1"))
    solved = found.pop("solve")
    assert solved == pytest.approx(plain_value(game_of(spec), moves))
    assert value is None or solved == pytest.approx(value)
    assert found == {"check": 3, "search": True, "depth": True, "learn": True, "play": 2}


# ---------------------------------------------------------------- scripts and notebooks
SAID = {
    "compare_bandits": "thompson",
    "learn_a_game": "Against random moves",
    "plan_an_mdp": "worn    worth  73.8532",  # repair: -5 + 0.9 * 87.614679
    "play_a_match": "Elo",
    "search_a_move": "Exact score of a later position: 1",
    "solve_a_game": "Lost for whoever moves: 4 8 12 16 20",
}


@pytest.mark.parametrize("name", SAID)
def test_scripts(name):
    assert SAID[name] in python(ROOT / "examples" / f"{name}.py")


TRAINED = "train_a_policy"  # by a library that the tests do not bring


def test_every_script_is_run():
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == {*SAID, TRAINED}


@pytest.mark.slow
def test_a_policy_of_another_library_learns_in_our_environment():
    pytest.importorskip("sb3_contrib", reason="pip install sb3-contrib to train its policy in our environment")
    said = python(ROOT / "examples" / f"{TRAINED}.py")
    before, after = map(int, re.search(r"(\d+)% before, (\d+)% after", said).groups())
    assert after >= before + 10  # 48 and 72; the standard error of 200 games is 3.5


NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
PICTURES = {"a_position": 1, "a_random_opponent": 0, "reinforcement_learning": 4, "showing_results": 10}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the libraries that run it
def test_notebooks_run_from_top_to_bottom(path):
    """In a kernel of their own, as a person would run them; what they show is well-formed."""
    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in cells)
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    shown = [output.data for cell in cells for output in cell.outputs if "data" in output]
    drawn = [data.get("text/html") or data["image/svg+xml"] for data in shown if len(data) > 1]
    for picture in drawn:
        ET.fromstring(f"<div>{picture}</div>")
    assert len(drawn) == PICTURES[path.stem]
