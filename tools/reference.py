"""Write docs/reference.md from the docstrings of everything public: ``python tools/reference.py``.

A test compares the page with what this would write, so a changed docstring is a changed page.
"""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import fields, is_dataclass
from functools import cached_property
from inspect import get_annotations
from pathlib import Path
from types import FunctionType
from typing import Any

import mdplay

PAGE = Path(__file__).parents[1] / "docs" / "reference.md"
WIDTH = 100  # of a signature on one line

# every public name once, in the order in which a reader meets it
CHAPTERS = {
    "The verbs": "solve search learn play match tournament evaluate accuracy plan respond Run MatchOptions",
    "Search by name": "MCTS DepthLimited mcts depth_limited playouts prove Search Selector make_selector",
    "What they give": (
        "Solution Choice Proof Prover Responses SearchResult Playouts Learned PointUtilities MatchResult "
        "TournamentResult EvaluationResult Accuracy Plan"
    ),
    "Games": "Game Compiled Between U64 Wide Bounds ProofView make register_extras check_game perft Ply",
    "Evaluations": "Evaluation MoveEvaluation Evaluator best_moves observe",
    "Positions, agents, records": "Position find_action Agent make_agent Record load_records save_records",
    "Decision problems": "MDP evaluate_policy verify",
    "Reinforcement learning": "Task FloatTask make_task make_method Rule After Experiment Curve",
    "Errors": (
        "MdplayError GameError ArgumentError NotCompiled IllegalMove PositionError AgentError FormatError "
        "LimitError UnknownName"
    ),
}

HEAD = """# Reference

The public names of `import mdplay`, generated from the docstrings by `python tools/reference.py`.
[All methods of a game](hooks.md) has examples of the methods that a game may define. The examples begin with

```python
>>> from mdplay import *

```
"""


def page() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for chapter, names in CHAPTERS.items():
        parts += [f"## {chapter}\n", *(entry(name) for name in names.split())]
    return "\n".join(parts)


def entry(name: str) -> str:
    """Return what the page says of one public name."""
    thing = getattr(mdplay, name)
    if not inspect.isclass(thing):
        return f"### {name}\n\n{code(name, thing)}{prose(thing)}"
    if issubclass(thing, Exception):
        return f"### {name}\n\nA kind of `{thing.__mro__[1].__name__}`. {prose(thing)}"
    members = "".join(f"**`{head(label, one)}`**\n\n{prose(one)}" for label, one in members_of(thing).items())
    return f"### {name}\n\n{prose(thing)}{fields_of(thing)}{members}"


def members_of(kind: type) -> dict[str, Any]:
    """Return the methods and properties that a class adds to the public classes it is made of."""
    listed = {getattr(mdplay, name) for names in CHAPTERS.values() for name in names.split()} - {kind}
    ours = [base for base in kind.__mro__ if base.__module__.startswith("mdplay.") and base not in listed]
    found = {name: one for base in reversed(ours) for name, one in vars(base).items()}
    return {name: one for name, one in found.items() if not name.startswith("_") and is_member(one)}


def is_member(one: Any) -> bool:
    """Tell whether it is a method or a property that says what it does."""
    kinds = (property, cached_property, staticmethod, classmethod, FunctionType)
    return isinstance(one, kinds) and bool(one.__doc__)


def head(name: str, one: Any) -> str:
    """Return a method with its signature, or the name of a property."""
    if isinstance(one, property | cached_property):
        return f".{name}"
    return f".{name}{written(getattr(one, '__func__', one))[0]}"


def fields_of(kind: type) -> str:
    """Return the fields of a dataclass or a named tuple, or nothing."""
    if is_dataclass(kind):
        names = [one.name for one in fields(kind) if not one.name.startswith("_")]
    else:
        names = list(getattr(kind, "_fields", ()))
    types = {name: kind_ for base in reversed(kind.__mro__) for name, kind_ in get_annotations(base).items()}
    if any(plain(types[name]).startswith("Annotated") for name in names):
        return "".join(option_of(kind, name, plain(types[name])) for name in names) + "\n"
    listed = ", ".join(f"`{name}: {plain(types[name])}`" for name in names)
    return f"Fields: {listed}.\n\n" if listed else ""


def option_of(kind: type, name: str, annotation: str) -> str:
    """Return an option of a method, with its type, its default and its help."""
    given = ast.parse(annotation, mode="eval").body
    assert isinstance(given, ast.Subscript) and isinstance(given.slice, ast.Tuple)
    text = ast.literal_eval(given.slice.elts[-1])
    return f"- `{name}: {ast.unparse(given.slice.elts[0])} = {getattr(kind, name)!r}` {text}\n"


def plain(annotation: Any) -> str:
    """Return a type as it was written."""
    return str(getattr(annotation, "__forward_arg__", getattr(annotation, "__name__", annotation)))


def code(name: str, thing: Any) -> str:
    """Return the signature as a block of code, an argument a line where it is long."""
    text, given, returns = written(thing)
    if len(name + text) > WIDTH:
        text = "(\n" + "".join(f"    {one},\n" for one in given) + f"){returns}"
    return f"```text\n{name}{text}\n```\n\n"


def written(thing: Any) -> tuple[str, list[str], str]:
    """Return the signature of a function on one line, its arguments, and what it returns with the arrow."""
    signature = inspect.signature(thing)
    given = arguments(list(signature.parameters.values()))
    returns = "" if signature.return_annotation is signature.empty else f" -> {signature.return_annotation}"
    return f"({', '.join(given)}){returns}", given, returns


def arguments(parameters: list[inspect.Parameter]) -> list[str]:
    """Return the arguments of a signature as they are written, with the star before those given by name only."""
    parts: list[str] = []
    for one in parameters:
        if one.kind is one.KEYWORD_ONLY and not any(part.startswith("*") for part in parts):
            parts.append("*")
        if one.name not in ("self", "cls"):
            parts.append(argument(one))
    return parts


def argument(one: inspect.Parameter) -> str:
    """Return one argument with its type and its default."""
    stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
    kind = "" if one.annotation is one.empty else f": {one.annotation}"
    default = "" if one.default is one.empty else f" = {one.default!r}"
    return f"{stars}{one.name}{kind}{default}"


def prose(thing: Any) -> str:
    """Return a docstring as Markdown: its examples are code, double back-ticks single ones."""
    text = re.sub(r"``(.+?)``", r"`\1`", inspect.cleandoc(thing.__doc__ or ""))
    words, arrow, example = text.partition(">>>")
    return f"{words.strip()}\n\n" + (f"```python\n>>>{example}\n\n```\n\n" if arrow else "")


if __name__ == "__main__":
    PAGE.write_text(page())
