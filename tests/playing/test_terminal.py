import re
import sqlite3

import pytest

from mdplay import Position, load_records, make
from mdplay.bits import elements, lowest
from mdplay.playing.agents import DEFAULT_AGENT, NamedAgent
from mdplay.playing.terminal import Session
from tests.playing.players import named
from tests.playing.pseudo_terminal import Terminal
from tests.states.test_game_length import Pacing

COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def plain(text):
    return COLOURS.sub("", text)


def test_a_whole_game_with_every_command(tmp_path):
    agents = ["--agent", named("Leftmost"), "--helper", named("Leftmost")]
    with Terminal("play", "tic-tac-toe", *agents, cwd=tmp_path) as screen:
        greeting = plain(screen.read_until("player 1> "))
        assert "You are player 1 against" in greeting
        assert "0 1 2\n3 4 5\n6 7 8" in greeting
        for sent, answer in (
            ("9", "'9' is not a legal move here. Legal moves: 0, 1, 2, 3, 4, 5, 6, 7, 8"),
            ("4", "O 1 2\n3 X 5\n6 7 8"),
            ("4", "'4' is not a legal move here. Legal moves: 1, 2, 3, 5, 6, 7, 8"),
            ("undo", "0 1 2\n3 4 5\n6 7 8"),
            ("undo", "nothing to undo"),
            ("hint", "players.py:Leftmost: 0"),
            ("values", "players.py:Leftmost knows no values"),
            ("help", "save FILE"),
            ("2", "O 1 X"),
            ("moves", "Legal moves: 1, 3, 4, 5, 6, 7, 8"),
            ("save game.json", "Saved to game.json."),
            ("save nowhere/game.json", "cannot write nowhere/game.json"),
            ("5", "O O X"),
        ):
            screen.send(sent)
            assert answer in plain(screen.read_until("player 1> "))
        screen.send("8")
        assert screen.exit_code() == 0
        assert "The game is over: you win." in screen.rest
    (saved,) = load_records(tmp_path / "game.json")
    assert (saved.moves, saved.result) == (("2", "0"), None)


def test_the_board_has_colours_only_where_they_are_wanted():
    with Terminal("play", "connect-four", "--second", "--agent", named("Leftmost")) as screen:
        drawn = screen.read_until("player 2> ")
        assert COLOURS.search(drawn) and "X . . . . . .\n1 2 3" in plain(drawn)
        screen.send("quit")
        assert screen.exit_code() == 0
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        with Terminal("play", "connect-four", **environment) as screen:
            assert not COLOURS.search(screen.read_until("player 1> "))
            screen.press("d")
            assert screen.exit_code() == 0


def test_hints_and_values_tell_what_they_are():
    with Terminal("play", "tic-tac-toe", "--hints", "--helper", named("Guessing")) as screen:
        assert "players.py:Guessing: 8, about 90 % for player 1" in screen.read_until("player 1> ")
        screen.send("values")
        lines = screen.read_until("player 1> ").splitlines()
        assert [line.split(maxsplit=1) for line in lines[1:4]] == [
            [str(a), f"about {50 + 5 * a} % for player 1"] for a in (8, 7, 6)
        ]


def exact_agent(told):
    class Knows:
        exact = told

        def __init__(self, game):
            self.game = game

        def act(self, state, rng):
            return lowest(self.game.legal(state))

        def values(self, state):
            return dict.fromkeys(elements(self.game.legal(state)), 1.0 if told else 0.5)

    return Knows


def session(opponent, *typed, helper=None):
    game, lines, words = make("tic-tac-toe"), [], iter(typed)
    named_opponent = NamedAgent("opponent", lambda: opponent(game), lambda: "")
    Session(Position.start(game), named_opponent, helper, ask=lambda prompt: next(words), say=lines.append).run()
    return lines


def test_values_are_those_of_the_opponent_where_it_knows_exactly():
    told = session(exact_agent(True), "values", "hint", "quit")
    assert told.count("       0  wins") == 1 and "Hint by opponent: 0, wins" in told
    helper = NamedAgent("friend", lambda: exact_agent(False)(make("tic-tac-toe")), lambda: "")
    told = session(exact_agent(True), "hint", "quit", helper=helper)
    assert "Hint by friend: 0, about 75 % for player 1" in told


def test_values_of_an_opponent_who_guesses_are_left_to_the_search():
    game = make("tic-tac-toe")
    guess = NamedAgent("guess", lambda: exact_agent(False)(game), lambda: "")
    one = Session(Position.start(game), guess, ask=input, say=print)
    assert one.helper.name == DEFAULT_AGENT


def test_a_game_that_goes_on_for_too_long_is_called_off():
    class Short(Pacing):
        max_moves = 6

    lines, game = [], Short()
    one = Session(
        Position.start(game),
        None,
        ask=lambda prompt: "1" if one.position.num_events % 2 else "0",
        say=lines.append,
    )
    one.run()
    assert lines[-1] == "The game is truncated after 6 moves: 0 for player 1."
    assert (one.record().result, one.record().by_limit) == (0.0, True)


def test_chance_is_told_as_it_moves():
    lines, words = [], iter(["quit"])
    game = make("2048:rows=2,cols=2")
    Session(Position.start(game), None, ask=lambda prompt: next(words), say=lines.append, seed=1).run()
    luck = [line for line in lines if line.startswith("chance: ")]
    assert len(luck) == 2 and all(re.fullmatch(r"chance: [24]@[0-3]", line) for line in luck)


def test_a_helper_that_fails_does_not_end_the_game():
    for helper, sentence in (("Illegal", "returned 99"), ("Unmade", "no weights")):
        with Terminal("play", "tic-tac-toe", "--agent", "random", "--hints", "--helper", named(helper)) as screen:
            assert sentence in screen.read_until("player 1> ")
            screen.send("values")
            assert sentence in screen.read_until("player 1> ")
            screen.send("quit")
            assert screen.exit_code() == 0


def test_a_game_for_one_with_chance(tmp_path):
    options = ["--seed", "3", "--record", "game.json", "--helper", named("Leftmost")]
    with Terminal("play", "2048", *options, cwd=tmp_path) as screen:
        screen.read_until("score 0")
        screen.read_until("your move> ")
        screen.send("sideways")
        assert "'sideways' is not a legal move here. Legal moves: " in screen.read_until("your move> ")
        screen.send("hint")
        assert "players.py:Leftmost: left" in screen.read_until("your move> ")
        screen.send("down")
        after = plain(screen.read_until("your move> "))
        assert re.search(r"chance: [24]@\d+\n", after)
        assert sum(cell.isdecimal() for line in after.splitlines()[1:7] for cell in line.split()) >= 2
        screen.send("undo")
        screen.read_until("score 0")
        screen.read_until("your move> ")
        assert screen.interrupt() == 130
    (saved,) = load_records(tmp_path / "game.json")
    assert (len(saved.events), saved.result, saved.agents) == (2, None, ("human",))


def test_extra_turns_are_the_players_own(tmp_path):
    """Player 1 draws line 0; Leftmost draws 1, 2 and completes nothing until player 1 closes box 0 and goes on."""
    game = make("dots-and-boxes:rows=1,cols=2")
    with Terminal("play", "dots-and-boxes:rows=1,cols=2", "--agent", named("Leftmost")) as screen:
        state, total = game.initial(), 0.0
        while elements(game.legal(state)):
            if game.player(state) == 0:
                drawn = screen.read_until("player 1> ")
                assert f"player 1 {total:+g}" in plain(drawn)
                screen.send(game.move_text(state, max(elements(game.legal(state)))))
                action = max(elements(game.legal(state)))
            else:
                action = min(elements(game.legal(state)))
                screen.read_until(f"plays {game.move_text(state, action)}")
            total += (1 - 2 * game.player(state)) * game.reward(state, action)
            state = game.step(state, action)
        assert screen.exit_code() == 0
        assert f"The game is over: {['a draw', 'you win', 'you lose'][(total > 0) - (total < 0)]}" in screen.rest


def test_a_saved_game_goes_on(tmp_path):
    with Terminal("play", "connect-four", "--agent", named("Leftmost"), cwd=tmp_path) as screen:
        screen.read_until("player 1> ")
        screen.send("4")
        screen.read_until("player 1> ")
        screen.send("save")
        screen.read_until("Saved to game.json.")
    with Terminal("play", "connect-four", "--resume", "game.json", cwd=tmp_path, NO_COLOR="1") as screen:
        assert "O . . X . . .\n1 2 3 4 5 6 7" in screen.read_until("player 1> ")


def test_two_people_at_one_keyboard():
    with Terminal("play", "tic-tac-toe", "--agent", "human") as screen:
        screen.read_until("player 1> ")
        screen.send("0")
        assert "X 1 2" in screen.read_until("player 2> ")
        screen.send("0")
        assert "'0' is not a legal move here" in screen.read_until("player 2> ")
        screen.send("4")
        assert "X 1 2\n3 O 5" in plain(screen.read_until("player 1> "))


def test_ctrl_c_keeps_the_finished_games_of_a_match(tmp_path):
    match = ["match", "connect-four", named("Slow"), "random", "--games", "5000", "--results", "match.db"]
    for threads in ("1", "2"):
        with Terminal(*match, "--threads", threads, cwd=tmp_path) as screen:
            screen.read_until("games  [")  # the live line comes after a second
            assert screen.interrupt() == 130
            assert "finished games are in match.db" in screen.rest and "Traceback" not in screen.rest
    with sqlite3.connect(tmp_path / "match.db") as file:
        assert file.execute("SELECT count(*) FROM games").fetchone()[0] >= 2
    file.close()


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["2048", "--agent", "random"], "this game is for one player"),
        (["tic-tac-toe", "--agent", named("Unmade")], "no weights"),
        (["tic-tac-toe", "--agent", "randm"], "did you mean 'random'?"),
        (["tic-tac-toe", "--second", "--agent", named("Illegal")], "returned 99"),
        (["tic-tac-toe", "--resume", "nowhere.json"], "cannot read nowhere.json"),
    ],
)
def test_what_cannot_be_played_gets_a_sentence(mdplay, arguments, sentence):
    answer = mdplay("play", *arguments)
    assert answer.code == 2 and sentence in answer.err and "Traceback" not in answer.err
