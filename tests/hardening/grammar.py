"""Command lines by grammar: every command with every option, right and broken values mixed.

The options are those that the commands have themselves; ``RIGHT`` gives values that make sense, small enough
that a command ends soon, and ``BROKEN`` what people and programs give instead.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from random import Random

import click

from mdplay import make
from mdplay.cli.commands import COMMANDS, group
from mdplay.playing.formats import convert
from tests.helpers import NIM

NUMBERS = (
    "0", "-1", "1", "nan", "inf", "-inf", "1e400", "1e-400", "-0.0", "1_0", "\u0663", "²", "0x10", "1.5", "", " ",
    str(2**31), str(2**63 - 1), str(2**63), str(-(2**63) - 1), str(2**64), str(10**30), "9" * 5000, "1e308", "--",
)  # fmt: skip
PATHS = (
    "", ".", "..", "/", "nowhere", "nowhere/deep", "folder", "empty", "binary", "long", "deep.json", "x" * 300,
    "x/" * 3000 + "y", "~nobody/x", "a\udcffb", "\0", "new\nline", "nim.py", "/dev/full", "/dev/null", "mdp.txt",
    "games.jsonl", "positions.txt", "-", "out", "out.png", "out.svg", "ünï", "loop",
)  # fmt: skip
SPECS = (
    "", ":", "=", ",", "::", "tic-tac-toe:", "tic-tac-toe:rows", "tic-tac-toe:rows=", "tic-tac-toe:=3",
    "tic-tac-toe:rows=3,rows=3", "tic-tac-toe:rows=0", "tic-tac-toe:rows=-1", "tic-tac-toe:rows=99",
    "tic-tac-toe:rows=nan", "tic-tac-toe:rows=" + "9" * 5000, "tic-tac-toe:size=3", "connect-four:rows=1e3",
    "2048:rows=1,cols=1", "mcts:simulations=0", "mcts:simulations=-5", "mcts:seconds=inf", "mcts:seconds=nan",
    "mcts:selector=ucb1(c=nan)", "mcts:selector=ucb1(", "mcts:selector=ucb1(c=-1)", "mcts:form=x",
    "heuristic:depth=0", "heuristic:depth=10000000000", "policy:nowhere", "policy:binary", "network:empty",
    "perfekt", "x" * 3000, "\u202e", "a b", "nim.py", "nim.py:Nim", "nim.py:Nope", "nim.py:Nim:pile=0",
    "nim.py:pile=-3", "numpy.py", "json.py", "empty.py", "binary.py", "nowhere.py", "folder.py", ".py", "~.py",
    "~nobody/x.py", "x" * 5000 + ".py", "\udcff.py", "\0.py", "loop.py", "bad.py", "exits.py",
)  # fmt: skip
POSITIONS = (
    "", "moves:", "moves:0", "moves:0,4", "moves:,", "moves:99", "moves:-1", "moves:x", "moves:" + "0," * 5000,
    "4453", "1" * 4000, ".........", "x" * 9, "0x145", "0x" + "f" * 5000, "\u0661", "é", "\0", "\udcff", "-1",
    "nan", "1123000000000000", "1100", "1100+2", "000000000", "120000000",
)  # fmt: skip
BROKEN = NUMBERS + PATHS + SPECS + POSITIONS
GAMES = (
    "tic-tac-toe",
    "anti-tic-tac-toe",
    "connect-four:rows=4,cols=4",
    "2048:rows=2,cols=2",
    "nim.py",
    "numpy.py",
)
AGENTS = ("random", "mcts:simulations=20", "perfect", "heuristic:depth=1", "mcts:selector=thompson,simulations=20")
WHOLE = ("1", "2", "3")
RIGHT = {
    "game": GAMES, "name": GAMES, "agents": AGENTS, "a": AGENTS, "b": AGENTS, "agent": AGENTS, "oracle": AGENTS,
    "helper": AGENTS, "opponent": ("perfect", "uniform", "uniform-once", "policy.txt"), "position": POSITIONS,
    "objective": ("difference", "own", "tile=8"), "seconds": ("0.01", "0.2"), "memory": ("0.001", "1"),
    "openings": ("none", "random:1", "positions.txt"), "arms": ("0.9,0.8", "gaussian:3"), "study": ("c=1,2",),
    "policies": ("ucb1", "ucb1(c=2),thompson", "all"), "method": ("auto", "vi", "hpi", "lp", "td", "tc"),
    "tolerance": ("1e-6", "0.1"), "network": ("01,23", "0123"), "explore": ("always",), "systems": ("9",),
    "episodes": ("10", "10,20"), "start": ("uniform", "policy.txt"), "days": ("1000", "99999"),
    "book": ("book.txt",),
    "win": ("1", "2"), "draw": ("0", "0.5"), "loss": ("0", "-1"), "alpha": ("0.1",), "lambda_": ("0.5",),
    "optimistic": ("0", "100"), "player": ("1", "2"), "seed": ("0", "1", "-7"),
    "file": ("mdp.txt", "out.py", "nim.py"), "mdp_file": ("mdp.txt",), "policy": ("actions.txt", "policy.txt"),
    "states": ("states.txt",), "values": ("plan.txt",), "positions": ("positions.txt",),
    "executor": ("serial", "processes"), "compact": ("out",), "against": AGENTS, "tuples": ("0-1-2,0-4-8",),
    "source": ("good.jsonl", "good.sgf", "good.moves"), "target": ("out.jsonl", "out.sgf", "out.moves"),
    "source_format": ("mdplay", "sgf", "moves"), "target_format": ("mdplay", "sgf", "moves"),
    "headers": ("event=cup", "date=", "x=y"), "games": GAMES, "host": ("localhost",), "token": ("secret",),
    "batch": ("positions.txt",), "record": ("games.jsonl", "good.jsonl", "out.jsonl"),
    "resume": ("games.jsonl", "good.jsonl"),
}  # fmt: skip
OUTPUTS = ("out", "plot", "csv_file", "tree", "svg", "save", "all_states", "results", "curve")
ALWAYS = {  # what keeps a command short
    "accuracy": ["--count", "2", "-a", "random"], "match": ["--games", "2"], "tournament": ["--games", "2"],
    "evaluate": ["--games", "2"], "check": ["--games", "1"], "playouts": ["--games", "20"],
    "bandits": ["--steps", "20", "--runs", "3"], "search": ["-n", "50"], "reproduce": ["9"],
    "prove": ["--out", "nowhere/book"],
    "learn": [],
}  # fmt: skip
LEARNERS = ("2048:rows=2,cols=2", "2048:rows=3,cols=3", "tic-tac-toe", "2048:rows=2", "nim.py", "connect-four")
NEVER = {"--clear", "--fresh", "--quick"}  # the cache of the tests is worth more than these


def write_files(folder: Path) -> None:
    """Write what the command lines name: files as they should be, and as they should not."""
    for name in ("folder", "folder.py"):
        (folder / name).mkdir(exist_ok=True)
    for name in ("loop", "loop.py"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(name)
    for name in ("empty", "empty.py"):
        (folder / name).write_bytes(b"")
    for name in ("binary", "binary.py"):
        (folder / name).write_bytes(bytes(range(256)) * 20)
    for name in ("nim.py", "numpy.py", "json.py"):
        (folder / name).write_text(NIM.replace("= 21", "= 6"))
    texts = {
        "long": "1" * 3_000_000, "deep.json": "[" * 200_000, "bad.py": "def (:\n",
        "exits.py": "raise SystemExit(0)\n",
        "positions.txt": ".........\nmoves:0\n4453\n", "actions.txt": "0\n0\n", "policy.txt": "1\n000000000 0 1\n",
        "states.txt": "000000000\n120000000\n", "plan.txt": "0.5 1\n0.25 0\n", "games.jsonl": "{}\n",
        "mdp.txt": "numStates 2\nnumActions 1\nend 1\ntransition 0 0 1 1 1\nmdptype episodic\ndiscount 1\n",
        "book.txt": "0 1\n", "good.moves": "12341\n1122\n",
    }  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text(text)
    convert(folder / "good.moves", folder / "good.jsonl", game=make("connect-four:rows=4,cols=4"))
    convert(folder / "good.jsonl", folder / "good.sgf")


def parameters_of(command: str) -> list[click.Parameter]:
    """Return the options and arguments of a command; ``learn`` has those of its two learners."""
    if command != "learn":
        return [*group.get_command(click.Context(group), command).params]
    commands = [import_module("mdplay.cli.learn").command_of(make(name)) for name in ("2048", "tic-tac-toe")]
    return [parameter for command in commands for parameter in command.params]


def value_of(parameter: click.Parameter, luck: Random) -> str:
    """Return a value for a parameter: mostly a right one, else anything."""
    name = parameter.name or ""
    if luck.random() < 0.25:
        pool: tuple[str, ...] = BROKEN
    elif luck.random() < 0.3:
        whole = isinstance(parameter.type, (click.types.IntParamType, click.types.FloatParamType))
        pool = NUMBERS if whole else PATHS + SPECS
    elif name in OUTPUTS:
        pool = ("out", "out.png", "out.csv", "folder/out.svg")
    else:
        pool = RIGHT.get(name, WHOLE)
    value = luck.choice(pool)
    return "1000" if name == "days" and value[:1] in "01-" else value  # keeps the cache


def command_line(luck: Random) -> list[str]:
    """Return the arguments of a command line."""
    command = luck.choice(sorted(COMMANDS))
    line = [command, *ALWAYS.get(command, [])]
    if command == "learn":
        line.append(luck.choice((*LEARNERS, *SPECS)))
    known = parameters_of(command)
    for parameter in luck.sample(known, luck.randint(0, min(4, len(known)))):
        if isinstance(parameter, click.Option):
            option = luck.choice(parameter.opts)
            if option not in NEVER:
                line += [option] if parameter.is_flag else [option, value_of(parameter, luck)]
    for parameter in known:
        if isinstance(parameter, click.Option) and parameter.required and luck.random() < 0.9:
            line += [parameter.opts[0], value_of(parameter, luck)]
        if isinstance(parameter, click.Argument) and luck.random() < 0.95 and command != "reproduce":
            line += [value_of(parameter, luck) for _ in range(2 if parameter.nargs == -1 else 1)]
    return _damaged(line, luck) if luck.random() < 0.1 else line


def _damaged(line: list[str], luck: Random) -> list[str]:
    """Return a line with a word too many, too few or out of place; the command itself stays."""
    at = luck.randrange(len(line))
    word = luck.choice((*BROKEN, "--help", "--unknown", "--json", "-h"))
    kept = [line[0]] + [word for i, word in enumerate(line) if 0 < i != at]
    return [*kept[: at + 1], word, *kept[at + 1 :]]
