import re
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pytest

from mdplay import AgentError, FormatError, Game, GameError, LimitError, Record, make, match, play
from mdplay.bits import elements
from mdplay.playing.agents import named_agent
from mdplay.states.game_length import move_limit
from tests.helpers import ROOT, write
from tests.playing.players import named
from tests.states.test_game_length import Pacing


def test_sides_alternate_and_each_opening_is_played_from_both():
    found = match(make("connect-four"), "random", named("Leftmost"), games=20, seed=2)
    for first, second in zip(found.records[0::2], found.records[1::2], strict=True):
        assert first.agents == ("random", named("Leftmost")) == second.agents[::-1]
        assert first.events[:2] == second.events[:2]
        assert first.opening == second.opening == 2
    assert len({record.events[:2] for record in found.records}) == 10


def test_equal_seeds_give_equal_games_whatever_the_number_of_threads():
    game = make("connect-four")
    one, two = (match(game, "random", "random", games=40, seed=9, threads=threads) for threads in (1, 4))
    assert one == two
    assert [record.to_json() for record in one.records] == [record.to_json() for record in two.records]
    assert one != match(game, "random", "random", games=40, seed=10)


def test_searches_are_repeated_by_a_seed_too(needs_compiler):
    game, agents = make("tic-tac-toe"), ("mcts:simulations=100,threads=1", "random")
    one, two = (match(game, *agents, games=6, seed=9, threads=threads) for threads in (1, 3))
    assert one == two


def test_forty_identical_games_are_two():
    game = make("tic-tac-toe")
    found = match(game, named("Leftmost"), named("Leftmost:skip=1"), games=40, openings="none")
    assert (found.tally.games, found.distinct) == (40, 2)
    assert (
        found.interval
        == match(game, named("Leftmost"), named("Leftmost:skip=1"), games=2, openings="none").interval
    )


def test_statistics_of_a_known_match():
    found = match(make("tic-tac-toe"), named("Leftmost"), named("Leftmost"), games=2, openings="none")
    assert found.results == [1, -1]  # whoever begins wins
    assert [side.document()["score"] for side in found.sides] == [1, 0]
    document = found.document()
    assert (document["score"], document["elo"], document["mean"]) == (0.5, 0, 0)
    assert document["interval"][0] < 0.2 and document["interval"][1] > 0.8
    assert match(make("tic-tac-toe"), named("Leftmost"), "random", games=1).document()["elo"] is None


def test_random_play_has_the_mean_that_playouts_find(needs_compiler):
    from mdplay import playouts

    game = make("connect-four")
    known = playouts(game, games=100_000)
    records = match(game, "random", "random", games=1000, openings="none").records
    mean = sum(record.result for record in records) / 1000  # of player 0, whoever it is
    assert abs(mean - known.mean) < 4 * 1000**-0.5


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("cls, sentence", [("Illegal", "returned 99 in"), ("Raising", "raised RuntimeError")])
def test_a_faulty_agent_ends_the_match(cls, sentence, threads):
    with pytest.raises(AgentError, match=re.escape(f"players.py:{cls} ") + ".*" + sentence):
        match(make("connect-four"), "random", named(cls), games=20, threads=threads)


def test_games_that_cannot_be_matches():
    with pytest.raises(GameError, match="use mdplay evaluate"):
        match(make("2048"), "random", "random")
    with pytest.raises(LimitError, match="games=0 must be at least 1"):
        match(make("tic-tac-toe"), "random", "random", games=0)


# ---------------------------------------------------------------- games that come back to positions
class Back:
    """Step back wherever that is possible: the game never ends."""

    def __init__(self, game):
        self.game = game

    def act(self, state, rng):
        return max(elements(self.game.legal(state)))


def test_a_match_of_a_game_that_repeats_ends_with_draws_by_the_limit():
    game = Pacing()
    found = match(game, Back(game), Back(game), games=4, openings="none")
    assert (found.by_limit, found.tally.draws, found.document()["by_limit"]) == (4, 4, 4)
    assert {len(record.events) for record in found.records} == {move_limit(game)}
    assert match(game, "random", "random", games=20).by_limit == 0
    short = match(game, Back(game), Back(game), games=2, openings="none", max_moves=6)
    assert {len(record.events) for record in short.records} == {6}


@dataclass(frozen=True)
class Fleeing(Pacing):
    endless = -1


def test_a_game_called_off_is_worth_endless_play():
    game = Fleeing()
    record = play(game, Back(game), Back(game), max_moves=5)
    assert (record.result, record.by_limit) == (-1.0, True)
    assert Record.from_json(record.to_json(), game) == record
    found = match(game, Back(game), Back(game), games=4, openings="none")
    assert (found.tally.wins, found.tally.draws, found.tally.losses) == (2, 0, 2)  # each is player 2 twice


def test_a_game_called_off_is_recorded_as_such():
    game = Pacing()
    record = play(game, Back(game), Back(game), max_moves=5)
    assert (record.result, record.by_limit) == (0.0, True)
    assert Record.from_json(record.to_json(), game) == record
    with pytest.raises(FormatError, match="lead to an unfinished game, it says 0"):
        Record.from_json(record.to_json().replace('"by_limit": true', '"by_limit": false'), game)
    over = play(make("tic-tac-toe"), "random", "random").to_json()
    with pytest.raises(FormatError, match="lead to the end of the game, it says that it was truncated"):
        Record.from_json(over.replace('"by_limit": false', '"by_limit": true'))


def test_games_kept_of_another_limit_are_other_games(tmp_path):
    game = Pacing()
    for moves in (6, 8):
        found = match(game, "random", "random", games=2, max_moves=moves, openings="none", file=tmp_path / "r.db")
        assert {len(record.events) for record in found.records} == {moves}


def test_the_command_tells_how_many_games_were_drawn_by_the_limit(mdplay, tmp_path):
    source = (ROOT / "tests" / "states" / "test_game_length.py").read_text()
    path = write(tmp_path, "pacing.py", source)
    answer = mdplay("match", f"{path}:Pacing", "random", "random", "--games", 4, "--max-moves", 7)
    assert "4 games truncated by a third repetition or by the move limit (--max-moves)" in answer.out


# ---------------------------------------------------------------- a fixed side
def first_cell_policy(game, player):
    """Return a policy file of a player who always takes the first free cell."""
    from mdplay.states.graph import explore

    graph, lines = explore(game), [str(player + 1)]
    for state in (graph.state(int(n)) for n in np.flatnonzero(graph.kind == player)):
        first = elements(game.legal(state))[0]
        lines.append(" ".join([game.text(state), *("1" if action == first else "0" for action in range(9))]))
    return "\n".join(lines) + "\n"


def test_a_policy_file_of_one_player_plays_its_side_in_every_game(mdplay, tmp_path):
    """Whoever always takes the first free cell as player 2 of Tic-Tac-Toe loses to perfect play."""
    game = make("tic-tac-toe")
    path = write(tmp_path, "second.txt", first_cell_policy(game, 1))
    found = match(game, f"policy:{path}", "perfect", games=6, openings="none", side=1)
    assert (found.tally.losses, found.sides[0].games, found.sides[1].losses) == (6, 0, 6)
    assert {record.agents for record in found.records} == {("perfect", f"policy:{path}")}
    assert found.document()["side"] == 1
    answer = mdplay("match", "tic-tac-toe", f"policy:{path}", "perfect", "--games", 4, "--side", 2)
    assert (
        answer.code == 0 and "as player 2: 0 won, 0 drawn, 4 lost" in answer.out and "player 1" not in answer.out
    )
    answer = mdplay("match", "tic-tac-toe", f"policy:{path}", "perfect", "--games", 4)
    assert answer.code == 2 and "fix the sides by --side 2 (side=1) of the match" in answer.err
    with pytest.raises(GameError, match="side=2 is not a player of TicTacToe"):
        match(game, "random", "random", side=2)


def test_a_fixed_side_has_an_opening_for_every_game_and_results_of_its_own(tmp_path):
    game = make("tic-tac-toe")
    fixed = match(game, "random", "random", games=8, side=0, file=tmp_path / "r.db")
    assert len({record.events[:2] for record in fixed.records}) == 8
    again = match(game, "random", "random", games=8, side=0, file=tmp_path / "r.db", executor="serial")
    assert again == fixed != match(game, "random", "random", games=8, file=tmp_path / "r.db")
    assert match(game, "random", "random", games=8, side=0, executor="serial") == fixed


# ---------------------------------------------------------------- the third repetition
class Corridor(NamedTuple):
    place: int
    player: int


@dataclass(frozen=True)
class Door(Game[Corridor]):
    """Step to the left, to the right, or out; out ends the game, which then is player 1's."""

    def initial(self) -> Corridor:
        return Corridor(0, 0)

    def legal(self, s: Corridor) -> int:
        return 0 if s.place == 9 else 5 if s.place == 0 else 6

    def step(self, s: Corridor, action: int) -> Corridor:
        return Corridor(9 if action == 2 else 1 - s.place, 1 - s.player)

    def result(self, s: Corridor) -> int:
        return -1


class Leaving:
    """Leave after a few rounds: the position alone does not determine the move."""

    def __init__(self):
        self.moves = 0

    def act(self, state, rng):
        self.moves += 1
        return 2 if self.moves > 8 else state.place


def test_only_agents_of_the_package_end_a_game_by_the_third_repetition():
    """These have no memory, so the same position means the same moves; others may still leave."""
    own = play(Door(), Leaving, Leaving)
    assert (len(own.events), own.by_limit) == (17, False)
    back = named_agent(Pacing(), Back(Pacing()))
    assert not back.is_ours and named_agent(Pacing(), "perfect").is_ours
    loop = match(Pacing(), replace(back, name="a", is_ours=True), replace(back, name="b", is_ours=True), games=2)
    assert {len(record.events) - record.opening for record in loop.records} <= {4, 5, 6}
