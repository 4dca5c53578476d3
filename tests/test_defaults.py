"""The command line and Python have the same options with the same defaults."""

from dataclasses import fields
from inspect import signature

import click
import pytest

import mdplay
from mdplay import DepthLimited, MatchOptions, Run
from mdplay.cli import commands
from mdplay.cli.learn import command_of
from mdplay.learning.learners import learners
from mdplay.playing.learning import CurveOptions
from mdplay.runtime.run import RunOptions
from mdplay.searching.mcts import MCTS
from mdplay.solving.proof.book import make_book, prove_strategy, verify_strategy

# commands: the function that each calls, the dataclass of its options, and what only the command has
VERBS = {
    "solve": (mdplay.solve, None, "position all_states distances batch as_json"),
    "search": (mdplay.search, MCTS, "position tree as_json"),
    "plan": (
        mdplay.plan,
        None,
        "mdp_file policy states opponent values form bounds as_json to out plot player discount reward minimise",
    ),
    "respond": (mdplay.respond, None, "as_json"),
    "match": (mdplay.match, MatchOptions, "record as_json"),
    "tournament": (mdplay.tournament, MatchOptions, "plot record as_json"),
    "evaluate": (mdplay.evaluate, None, "agent record as_json"),
    "playouts": (mdplay.playouts, None, "position as_json"),
    "perft": (mdplay.perft, None, "position symmetry as_json"),
    "prove": (prove_strategy, None, "out as_json"),
    "verify": (verify_strategy, None, "as_json"),
    "book": (make_book, None, "out as_json"),
}


def defaults(verb, kind=None):
    """Return the defaults of a function: its own, those of its options, those of a run."""
    found = {field.name: field.default for field in fields(Run)}
    found |= {} if kind is None else {field.name: field.default for field in fields(kind)}
    return found | {name: one.default for name, one in signature(verb).parameters.items()}


def options(command):
    return {one.name: one for one in command.params if isinstance(one, click.Option) and one.name != "help"}


@pytest.mark.parametrize("name", VERBS)
def test_a_command_has_the_options_and_defaults_of_its_function(name):
    verb, kind, others = VERBS[name]
    known = defaults(verb, kind)
    command = commands.group.get_command(click.Context(commands.group), name)
    for option in options(command).values():
        if option.name in others.split() or option.required:
            continue
        assert option.name in known, f"--{option.name} is no option of {verb.__name__}"
        given, default = option.to_info_dict()["default"], known[option.name]
        assert given == default or not (given or default), option.name


@pytest.mark.parametrize("game", ["connect-four", "2048"])
def test_learners_keep_their_own_defaults(game):
    """An option that is not given is None on the command line, and then the learner's own default counts."""
    made = mdplay.make(game)
    known = {option for learner in learners(made).values() for option in signature(learner).parameters}
    known |= set(signature(mdplay.learn).parameters) | {
        one.name for kind in (Run, CurveOptions) for one in fields(kind)
    }
    command = command_of(made)
    for option in options(command).values():
        if option.name not in ("plot", "curve", "as_json"):
            assert option.name in known, option.name
            given = option.to_info_dict()["default"]
            assert given == ("auto" if option.name == "method" else None), option.name


def test_the_settings_of_a_run_are_written_once_as_keywords():
    assert list(RunOptions.__annotations__) == [field.name for field in fields(Run)]


def test_agents_and_functions_share_their_options():
    for kind, verb, agent in ((MCTS, mdplay.mcts, "mcts"), (DepthLimited, mdplay.depth_limited, "heuristic")):
        made = mdplay.make_agent(mdplay.make("tic-tac-toe"), agent)
        assert {one.name for one in fields(kind)} <= {one.name for one in type(made).parameters()}
        assert not {one.name for one in fields(kind)} & set(signature(verb).parameters)
