"""What is given wrongly to the package is told in one sentence, and a Position stands for its state."""

import inspect
from collections.abc import Iterator

import pytest

import mdplay
from mdplay import GameError, LimitError, Position, PositionError, make
from mdplay.games.tic_tac_toe.rules import TicTacToe
from mdplay.position import as_state
from mdplay.rng import Random

GAME = TicTacToe()
VERBS = [
    mdplay.solve,
    mdplay.search,
    mdplay.mcts,
    mdplay.depth_limited,
    mdplay.playouts,
    mdplay.prove,
    mdplay.learn,
    mdplay.respond,
    mdplay.check_game,
    lambda game: mdplay.perft(game, depth=2),
    lambda game: mdplay.match(game, "random", "random"),
    lambda game: mdplay.tournament(game, ["random", "perfect"]),
    lambda game: mdplay.evaluate(game, "random"),
    lambda game: mdplay.play(game, "random", "random"),
    Position.start,
]


@pytest.mark.parametrize("verb", VERBS)
def test_a_class_or_a_name_is_no_game(verb):
    with pytest.raises(GameError, match=r"^TicTacToe is a class, not a game: write TicTacToe\(\)$"):
        verb(TicTacToe)
    with pytest.raises(GameError, match=r"^'tic-tac-toe' is not a game: mdplay.make\('tic-tac-toe'\) makes one"):
        verb("tic-tac-toe")
    with pytest.raises(GameError, match="^None is not a game: derive it from mdplay.Game$"):
        verb(None)


def test_a_state_may_be_given_as_a_position_or_a_text():
    p = Position.start(GAME).play_all(["4", "0"])
    assert as_state(GAME, p) == as_state(GAME, "moves:4,0") == as_state(GAME, p.text) == as_state(GAME, p.state)
    assert as_state(GAME) == GAME.initial()
    assert mdplay.play(GAME, "random", "random", start=p).start == p.state


def test_solutions_and_searches_take_positions(needs_compiler):
    p = Position.start(GAME).play_all(["0", "1", "3", "4"])
    solution = mdplay.solve(GAME)
    assert solution.value(p) == solution.value(p.state) == 1.0
    assert solution.choices(p) == solution.choices(p.state)
    assert solution.best(p) == [6] and solution.scores([p, p.state]) == [1.0, 1.0]
    assert mdplay.search(GAME, p, simulations=200).action == 6
    assert mdplay.playouts(GAME, p, games=10).games == 10


# ---------------------------------------------------------------- a state, a Position or a text
NAMES = ("state", "s", "start", "states")
NOT_STATES = {  # where these names mean something else: rules, states of an MDP, a policy, the start of a record
    "Game", "ProofView", "MDP", "Agent", "Evaluator", "Record", "Position.__init__", "respond", "Learned.value",
    "Task", "FloatTask", "Experiment", "make_task",
}  # fmt: skip
NEAR_END = Position.start(GAME).play_all(["0", "1", "3", "4"])
FUNCTIONS = {
    "accuracy": lambda given: mdplay.accuracy(GAME, "perfect", states=[given]).kept,
    "depth_limited": lambda given: mdplay.depth_limited(GAME, given, depth=2).best,
    "find_action": lambda given: mdplay.find_action(GAME, given, "6"),
    "mcts": lambda given: mdplay.mcts(GAME, given, simulations=50).value,
    "perft": lambda given: [ply.paths for ply in mdplay.perft(GAME, given, depth=2)],
    "play": lambda given: mdplay.play(GAME, "random", "random", start=given).events,
    "playouts": lambda given: mdplay.playouts(GAME, given, games=20, threads=1).mean,
    "prove": lambda given: mdplay.prove(GAME, given, memory=1 << 20).low,
    "search": lambda given: mdplay.search(GAME, given, simulations=50).value,
    "solve": lambda given: mdplay.solve(GAME, given).value(given),
    "observe": lambda given: mdplay.observe(GAME, given),
    "Search.__init__": lambda given: mdplay.Search(GAME, given).state,
    "Position.start": lambda given: Position.start(GAME, given).state,
}
OF_PROVER = {
    "choice": (6,),
    "lookup": (0,),
    "bounds": (0,),
    "favourites": ([mdplay.Choice(6, 0.0, 0.0)],),
    "fastest": ([mdplay.Choice(6, 0.0, 0.0)],),
}
METHODS = {
    "Prover": (lambda: mdplay.Prover(GAME, memory=1 << 20), OF_PROVER),
    "Solution": (lambda: mdplay.solve(GAME), {}),
    "PointUtilities": (lambda: mdplay.learn(GAME, method="points", episodes=20), {}),
}


def takes_a_state():
    """Yield the public functions and methods with a parameter for states, found by their signatures."""
    for name in mdplay.__all__:
        thing = getattr(mdplay, name)
        members = {name: thing}
        if inspect.isclass(thing):
            found = inspect.getmembers(
                thing, lambda member: inspect.isfunction(member) or inspect.ismethod(member)
            )
            members = {f"{name}.{key}": one for key, one in found if not key.startswith("_") or key == "__init__"}
        for key, one in members.items():
            if callable(one) and {name, key}.isdisjoint(NOT_STATES) and not isinstance(one, type):
                given = [parameter for parameter in inspect.signature(one).parameters if parameter in NAMES]
                if given:
                    yield key, given[0]


@pytest.mark.parametrize("name, parameter", list(takes_a_state()))
def test_a_state_a_position_and_a_text_are_one(name, parameter, needs_compiler):
    forms = [NEAR_END.state, NEAR_END, NEAR_END.text, "moves:0,1,3,4"]
    if name in FUNCTIONS:
        answers = [FUNCTIONS[name](given) for given in forms]
    else:
        owner, _, method = name.partition(".")
        make_one, more = METHODS[owner]
        one, rest = make_one(), more.get(method, ([1],) if method == "learn" else ())
        answers = [getattr(one, method)([given] if parameter == "states" else given, *rest) for given in forms]
    facts = [told(answer) for answer in answers]
    assert facts == [facts[0]] * len(forms)


def told(answer):
    """Return what an answer says of the position: not the time, nor the last moves that a picture shows."""
    if isinstance(answer, Iterator):
        return list(answer)
    if isinstance(answer, dict):
        return {name: value for name, value in answer.items() if "seconds" not in name}
    if isinstance(answer, str):
        return answer.partition("<svg")[0]
    return answer.tolist() if hasattr(answer, "tolist") else getattr(answer, "low", answer)


@pytest.mark.parametrize(
    "given, sentence",
    [
        (17, "17 is not a position of TicTacToe; give a state, a Position or a text"),
        ([0] * 9, "is not a position of TicTacToe; give a state, a Position or a text"),
        (Position.start(make("connect-four")), r"a position of ConnectFour\(.*\) was given, not of TicTacToe"),
    ],
)
def test_what_is_no_position_is_refused(given, sentence):
    with pytest.raises(PositionError, match=sentence):
        as_state(GAME, given)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: mdplay.playouts(GAME, games=0), "^games=0 must be at least 1$"),
        (lambda: mdplay.playouts(GAME, games="many"), "^games='many' is not a whole number$"),
        (lambda: mdplay.match(GAME, "random", "random", games=2.5), "^games=2.5 is not a whole number$"),
        (lambda: mdplay.mcts(GAME, simulations="1e3"), "^simulations='1e3' is not a whole number$"),
        (lambda: mdplay.mcts(GAME, seconds="3"), "^seconds='3' is not a number$"),
        (lambda: mdplay.solve(GAME, seconds=0), "^seconds=0 must be more than 0$"),
        (lambda: mdplay.solve(GAME, seconds=[1]), r"^seconds=\[1\] is not a number$"),
    ],
)
def test_numbers_of_a_wrong_kind_are_refused(call, sentence):
    with pytest.raises(LimitError, match=sentence):
        call()


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: mdplay.mcts(GAME, selector=len), "^selector=<built-in function len> is not a Selector; make_"),
        (lambda: mdplay.Search(GAME, selector=len), "^selector=<built-in function len> is not a Selector; make_"),
        (lambda: mdplay.mcts(GAME, network=len), "^network=<built-in function len> is not a Network; learn"),
        (
            lambda: mdplay.depth_limited(GAME, network=len),
            "^network=<built-in function len> is not a Network; learn",
        ),
        (lambda: mdplay.Search(GAME, network=len), "^network=<built-in function len> is not a Network; learn"),
        (lambda: mdplay.prove(GAME, network=len), "^network=<built-in function len> is not a Network; learn"),
        (
            lambda: mdplay.solve(GAME, (1, 2, 0)),
            r"^\(1, 2, 0\) is not a state of TicTacToe; states are of the class",
        ),
        (
            lambda: mdplay.solve(GAME, GAME.initial()._replace(mine="x")),
            "is not a state of TicTacToe; its fields are",
        ),
        (lambda: mdplay.learn(GAME, episode=10), "^no option 'episode'; did you mean 'episodes'\\?$"),
        (lambda: mdplay.learn(GAME, xyz=10), "choose from against, alpha, .* episodes, "),
    ],
)
def test_arguments_of_a_wrong_kind_are_named(call, sentence):
    with pytest.raises(mdplay.MdplayError, match=sentence):
        call()


def test_a_fault_of_mdplay_is_not_blamed_on_the_game(monkeypatch):
    def faulty(*given):
        raise IndexError("a bug of mdplay")

    monkeypatch.setattr("mdplay.searching.mcts.grow", faulty)
    with pytest.raises(IndexError, match="^a bug of mdplay$"):
        mdplay.mcts(GAME)


def test_every_public_object_says_something():
    record = mdplay.play(GAME, "random", "random")
    match = mdplay.match(GAME, "random", "random", games=4)
    things = [
        (record, "<Record of TicTacToe("),
        (match, "<MatchResult random v random: "),
        (mdplay.tournament(GAME, ["random", Leftmost()], games=2), "<TournamentResult of 2 games: "),
        (mdplay.evaluate(make("2048:rows=2,cols=2"), "random", games=3), "<EvaluationResult of random: mean "),
        (mdplay.plan(mdplay.MDP.from_nested([[[[1, 1.0, 1.0]]], []], discount=0.9)), "<Plan of 2 states by "),
        (mdplay.Position.start(GAME), "Position(game=TicTacToe("),
        (Random(1), "<Random at 0x"),
    ]
    for thing, words in things:
        assert repr(thing).startswith(words), repr(thing)


class Leftmost:
    def act(self, state, rng):
        return next(a for a in range(9) if GAME.legal(state) >> a & 1)
