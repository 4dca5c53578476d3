"""mdplay solve: the sentences, the JSON document, the table of all states, and what is refused."""

import csv
import json
import re

import pytest

from mdplay import make, solve
from mdplay.bits import elements
from mdplay.cli.solve import print_facts, verdict
from mdplay.runtime.threads import COMPILE_TIME
from mdplay.solving.solution import Solution
from tests.helpers import write
from tests.solving.loopy_graphs import Losing


def test_a_draw_in_words_and_every_move(mdplay, needs_compiler):
    answer = mdplay("solve", "anti-tic-tac-toe")
    assert answer.code == 0
    assert "\nDraw in 9 plies.\n" in answer.out
    assert [line.split()[1] for line in answer.out.splitlines() if line.startswith("*  ")] == ["4"]


def test_the_lines_below_the_table_tell_whose_values_they_are_and_what_delays_a_loss(mdplay):
    lost = mdplay("solve", "tic-tac-toe", "--position", "moves:0,1,4").out  # two threats: lost whatever O does
    assert "\nPlayer 2, to move, loses in 4 plies.\n" in lost
    assert len([line for line in lost.splitlines() if line.startswith("*  ")]) == 6
    assert "\n* optimal.  Values are for player 2, to move.\nAll moves lose. 8 delays the loss longest.\n" in lost
    drawn = mdplay("solve", "tic-tac-toe", "--position", "moves:0,4").out
    assert "All moves lose" not in drawn


@pytest.mark.parametrize(
    "moves, words, value, player",
    [
        ("0,3,1,4,2", "Game over: player 1 won.", -1.0, 1),
        ("0,3,1,4,8,5", "Game over: player 2 won.", -1.0, 0),
        ("0,1,2,4,3,5,7,6,8", "Game over: draw.", 0.0, 1),
    ],
)
def test_a_finished_game_names_its_winner(mdplay, moves, words, value, player):
    out = mdplay("solve", "tic-tac-toe", "--position", f"moves:{moves}").out
    assert f"\n{words}\n" in out and "optimal" not in out
    facts = json.loads(mdplay("solve", "tic-tac-toe", "--position", f"moves:{moves}", "--json").out)
    assert (facts["over"], facts["player"], facts["value"], facts["moves"]) == (True, player, value, [])


def test_where_chance_moves_the_value_names_its_player(mdplay, needs_compiler):
    facts = json.loads(mdplay("solve", "pig:goal=4", "--position", "moves:roll", "--json").out)
    assert (facts["chance"], facts["player"]) == (True, 0) and "over" not in facts
    out = mdplay("solve", "pig:goal=4", "--position", "moves:roll").out
    assert f"Expected result for player 1 (chance is to move): {facts['value']:.10g}." in out
    second = mdplay("solve", "pig:goal=4", "--position", "moves:roll,*1").out
    assert "Expected result for player 2, to move: " in second


def test_infinite_play_delays_a_loss_longest(capsys):
    # Player 0 loses at once (2), by infinite play (1, where player 1 must lead back), or after a ply more (3).
    game = Losing((1, 2, 3, 0, 0, 0, 0, 0, 0, 2, 2, 2), (0, 1, 0, 0), (99, 99, -1, 99))
    print_facts(game, game.initial(), solve(game).document())
    told = capsys.readouterr().out
    assert "Player 1, to move, loses by infinite play." in told
    assert "All moves lose. 0 delays the loss longest." in told


def test_where_only_bounds_are_known_the_star_does_not_say_more(mdplay, capsys):
    game = make("tic-tac-toe")
    facts = solve(game).document() | {"exact": False, "value": None, "low": -1.0, "high": 1.0}
    facts["moves"][0] |= {"low": -1.0}
    print_facts(game, game.initial(), facts)
    told = capsys.readouterr().out
    assert "* the best as far as is known." in told and "optimal" not in told
    bounds = facts | {"method": "proof"}
    assert verdict(game, bounds, 0.5) == (
        "Not solved within 0.5 s.  Bounds for player 1, to move: -1 to +1.  Increase --seconds to narrow them."
    )
    assert "no bounds are proved" in verdict(game, bounds | {"low": None, "high": None}, 0.5)
    rounding = facts | {"method": "value-iteration"}
    assert "within" not in verdict(game, rounding, 60.0) and "-1 to +1" in verdict(game, rounding, 60.0)


def test_a_puzzle_marks_the_shortest_ways(mdplay, needs_compiler):
    out = mdplay("solve", "sliding-puzzle:rows=2,cols=3", "--position", "moves:r").out
    marked = [line.split()[1] for line in out.splitlines() if line.startswith("*  ")]
    assert "\nSolved in 14 moves.\n" in out
    facts = json.loads(mdplay("solve", "sliding-puzzle:rows=2,cols=3", "--position", "moves:r", "--json").out)
    assert marked == [move["move"] for move in facts["moves"] if move["distance"] == 14]
    assert len(marked) < len(facts["best"])  # a move back has the same value


def test_long_moves_stay_in_their_columns(capsys):
    game = make("tic-tac-toe")
    facts = solve(game).document()
    facts["moves"][0] |= {"move": "split-0-2-and-more"}
    print_facts(game, game.initial(), facts)
    rows = [line for line in capsys.readouterr().out.splitlines() if line.endswith("  9")]
    assert len(rows) == 9 and len({len(line) for line in rows}) == 1


def test_distances_that_are_not_counted_are_said_beside_the_solution(mdplay):
    out = mdplay("solve", "tic-tac-toe", "--position", "moves:0,1,4,2", "--distances").out
    assert "Player 1, to move, wins" in out and "use --method retrograde" in out
    facts = json.loads(mdplay("solve", "tic-tac-toe", "-p", "moves:0,1,4,2", "--distances", "--json").out)
    assert facts["distances"] is None and facts["value"] == 1.0


def test_compiling_is_told_apart(mdplay, monkeypatch):
    def slowly(self):
        COMPILE_TIME.seconds += 7
        return len(self.table)

    monkeypatch.setattr(Solution, "states", property(slowly))  # as if a compiler had worked for seven seconds
    answer = mdplay("solve", "tic-tac-toe", "--position", "moves:0,1,4,2")
    found = re.search(r" states?, (\d+\.\d\d) s \(compiling: (\d+\.\d\d) s\)$", answer.out, flags=re.M)
    assert float(found[2]) >= 7 > float(found[1])
    facts = json.loads(mdplay("solve", "tic-tac-toe", "--position", "moves:0,1,4,2", "--json").out)
    assert facts["compiling_seconds"] >= 7 > facts["seconds"]


def test_the_json_document(mdplay, needs_compiler):
    facts = json.loads(mdplay("solve", "tic-tac-toe", "--position", "120000000", "--json").out)
    assert facts["game"] == "tic-tac-toe"
    assert facts["position"] == "120000000"
    assert (facts["player"], facts["value"], facts["exact"], facts["distance"]) == (0, 1.0, True, 5)
    assert facts["best"] == ["3", "4", "6"]
    assert facts["moves"][0] == {"move": "2", "action": 2, "value": 0.0, "low": 0.0, "high": 0.0, "distance": 7}
    assert facts["states"] > 0 and facts["seconds"] > 0


@pytest.mark.parametrize(
    "opponent, objective, value",
    [
        ("uniform-once", "own", 2756 / 693),
        ("uniform", "own", 41341 / 10395),
        ("uniform", "difference", 41102 / 10395),
    ],
)
def test_dots_and_boxes_against_random(mdplay, opponent, objective, value, needs_compiler):
    answer = mdplay("solve", "dots-and-boxes", "--opponent", opponent, "--objective", objective, "--json")
    facts = json.loads(answer.out)
    assert facts["value"] == pytest.approx(value, abs=1e-9)
    assert facts["best"][0] == "0"


def test_all_states_as_csv(mdplay, tmp_path, needs_compiler):
    path = tmp_path / "all.csv"
    mdplay("solve", "dots-and-boxes", "--opponent", "uniform-once", "--objective", "own", "--all", path)
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert [int(row["state"]) for row in rows] == list(range(4096))
    assert float(rows[0]["value"]) == pytest.approx(2756 / 693, abs=1e-9)
    assert rows[0]["action"] == "0"
    assert (float(rows[4095]["value"]), rows[4095]["action"]) == (0.0, "")


def test_perfect_play_is_the_default(mdplay, needs_compiler):
    answer = mdplay("solve", "dots-and-boxes:rows=2,cols=2")
    assert "Player 1, to move, wins by 2 in 12 plies." in answer.out


def test_what_is_refused(mdplay, tmp_path):
    for arguments, sentence in [
        (("dots-and-boxes", "--opponent", "uniform-once"), "uniform-once requires objective own"),
        (("dots-and-boxes", "--objective", "own"), "objective own requires another opponent"),
        (("dots-and-boxes", "--opponent", tmp_path / "none.txt"), "nor a file with a policy"),
        (("2048:rows=2,cols=2", "--opponent", "uniform"), "single-player game"),
    ]:
        answer = mdplay("solve", *arguments)
        assert answer.code == 2
        assert sentence in answer.err
        assert answer.err.startswith("mdplay: ")


def test_a_large_board_gets_exact_values_or_bounds_labelled_as_such(mdplay, needs_compiler):
    late = (1 << 40) - 1 & ~0b1011_0000_0110_1001
    game = "dots-and-boxes:rows=4,cols=4"
    facts = json.loads(mdplay("solve", game, "--position", late, "--json").out)
    assert facts["exact"] and facts["value"] == facts["low"] == facts["high"]
    assert max(move["value"] for move in facts["moves"]) == facts["value"]
    larger = "dots-and-boxes:rows=4,cols=5"
    facts = json.loads(mdplay("solve", larger, "--seconds", "0.5", "--json").out)
    assert not facts["exact"] and facts["value"] is None
    assert facts["low"] <= 0 <= facts["high"]  # the start is a tie
    told = mdplay("solve", larger, "--seconds", "0.5").out
    assert "Not solved within 0.5 s.  Bounds for player 1, to move: -20 to +20.  Increase --seconds" in told


def test_the_probability_of_a_tile(mdplay, needs_compiler):
    facts = json.loads(mdplay("solve", "2048:rows=2,cols=2", "--objective", "tile=16", "--json").out)
    assert facts["value"] == pytest.approx(0.9625112538, abs=1e-9)
    answer = mdplay("solve", "2048:rows=2,cols=2", "--objective", "tile=17")
    assert (answer.code, answer.err) == (
        2,
        "mdplay: 17 is not a tile to reach; choose a power of two, 4 to 32768\n",
    )
    assert "no objective 'owm'; did you mean 'own'?" in mdplay("solve", "tic-tac-toe", "--objective", "owm").err


def test_a_solution_that_is_read_from_a_file_is_said_to_be(mdplay, tmp_path):
    file, words = tmp_path / "kept", ("solve", "tic-tac-toe", "-p", "moves:0,3,1,4", "--json", "--save")
    first, second = (mdplay(*words, file) for _ in range(2))
    assert (first.code, first.err) == (0, "")
    assert (second.code, second.err) == (0, f"mdplay: solution read from {file}\n")
    assert json.loads(second.out)["value"] == json.loads(first.out)["value"] == 1


def test_an_engine_solves_with_the_same_answer(mdplay, tmp_path, needs_compiler):
    facts = json.loads(mdplay("solve", "tic-tac-toe", "--executor", "serial", "--threads", "2", "--json").out)
    plain = json.loads(mdplay("solve", "tic-tac-toe", "--method", "hashed", "--json").out)
    assert facts["method"] == "layered"
    assert [facts[name] for name in ("value", "distance", "best", "states")] == [
        plain[name] for name in ("value", "distance", "best", "states")
    ]
    kept = [mdplay("solve", "tic-tac-toe", "--executor", "serial", "--save", tmp_path, "--json") for _ in range(2)]
    said = f"mdplay: states and values, as far as they are there, read from {tmp_path}\n"
    assert [one.err for one in kept] == ["", said]
    refused = mdplay("solve", "mu-torere", "--executor", "serial")
    assert refused.code == 2 and "after different numbers of moves; leave out the executor" in refused.err


def test_an_opponent_from_a_policy_file_is_the_one_that_it_describes(mdplay, tmp_path, needs_compiler):
    game = make("anti-tic-tac-toe")
    lines = ["2"]
    for state in (state for state in reached(game) if state.player == 1 and game.legal(state)):
        legal = game.legal(state)
        chances = (f"{(legal >> cell & 1) / legal.bit_count():.17g}" for cell in range(9))
        lines.append(f"{game.text(state)} {' '.join(chances)}")
    policy = write(tmp_path, "policy.txt", "\n".join(lines) + "\n")
    by_file, by_name = (
        json.loads(mdplay("solve", "anti-tic-tac-toe", "--opponent", one, "--json").out)
        for one in (policy, "uniform")
    )
    assert by_file["value"] == pytest.approx(by_name["value"], abs=1e-9)
    assert by_file["best"] == by_name["best"]


def reached(game):
    """Return every state that play reaches."""
    known = {game.initial()}
    waiting = list(known)
    while waiting:
        s = waiting.pop()
        fresh = {game.step(s, action) for action in elements(game.legal(s))} - known
        known |= fresh
        waiting += fresh
    return known
