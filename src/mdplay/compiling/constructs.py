"""What rules are written with that has no compiled form, found in their source, and what to write instead.

Plain Python allows more than compiled code.  When a rule does not compile, its author needs to read the
construct and the way out, not the compiler's view of it: ``fault_of`` looks for both in the syntax tree.  No numba
in here.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from collections.abc import Iterator
from functools import lru_cache
from types import FunctionType
from typing import NamedTuple

from mdplay.compiling.digest import in_toolchain, mentions

NUMBERS = "rules use numbers"
BITS = "use the bits of an int, or a tuple of numbers"
TABLE = "use a tuple of numbers, or if and elif"
RECURSION = "recursion, {name} calls itself; write a loop"
ABOVE = "write it at the top of the file"


class Fault(NamedTuple):
    """A construct without a compiled form: its line, what it is and what to write instead.

    ``always``: it never compiles; others do at times, and count only on the line that the compiler names.
    """

    line: int
    words: str
    always: bool


HOPELESS: dict[type[ast.AST], str] = {
    ast.Import: f"an import inside a rule; {ABOVE}",
    ast.ImportFrom: f"an import inside a rule; {ABOVE}",
    ast.Try: "try; rules catch no errors, ask with if before",
    ast.With: "with; rules open nothing",
    ast.Yield: "yield; return one value",
    ast.YieldFrom: "yield; return one value",
    ast.NamedExpr: "an assignment inside an expression (:=); give it a line of its own",
    ast.GeneratorExp: "a generator expression outside of any, all, sum, min and max; write a for loop",
    ast.DictComp: f"a dict; {TABLE}",
    ast.SetComp: f"a set; {BITS}",
    ast.Global: "a global variable that changes; what changes belongs in the state",
    ast.Nonlocal: "an outer variable that changes; what changes belongs in the state",
    ast.ClassDef: f"a class inside a rule; {ABOVE}",
    ast.AsyncFunctionDef: "async; rules are plain functions",
    ast.Await: "await; rules are plain functions",
}
DOUBTFUL: dict[type[ast.AST], str] = {
    ast.Dict: f"a dict; {TABLE}",
    ast.Set: f"a set; {BITS}",
    ast.List: f"a list; {BITS}",
    ast.ListComp: f"a list; {BITS}",
    ast.JoinedStr: f"a text; {NUMBERS}",
    ast.Lambda: f"a function inside a rule; {ABOVE}",
    ast.FunctionDef: f"a function inside a rule; {ABOVE}",
    ast.Starred: "a star before arguments; write them out",
    ast.Match: "match; write if and elif",
}
BUILTINS = {
    "super": "super(); write the rule out, or put what both share into a method of its own",
    "isinstance": "isinstance; the annotations tell the types already",
    "type": "type(...); the annotations tell the types already",
    "getattr": "getattr; name the field, as in s.pile",
    "setattr": "setattr; what changes belongs in the state",
    "hasattr": "hasattr; the annotations tell the fields already",
    "str": f"a text; {NUMBERS}",
    "repr": f"a text; {NUMBERS}",
    "format": f"a text; {NUMBERS}",
    "dict": f"a dict; {TABLE}",
    "set": f"a set; {BITS}",
    "list": f"a list; {BITS}",
    "map": "map; write a for loop",
    "filter": "filter; write a for loop",
    "iter": "iter; write a for loop",
    "next": "next; write a for loop",
    "open": "open; rules read no files, a table is a tuple in a cached_property",
    "input": "input; rules cannot read input",
    "eval": "eval; write the expression out",
    "object": "object; what changes belongs in the state",
}
METHODS = {
    "_replace": "_replace; write the state with all its fields, as in State(...)",
    "_asdict": "_asdict; name the fields, as in s.pile",
    "to_bytes": f"to_bytes; {NUMBERS}",
    "append": f"a list; {BITS}",
    "get": f"a dict; {TABLE}",
    "items": f"a dict; {TABLE}",
    "keys": f"a dict; {TABLE}",
    "join": f"a text; {NUMBERS}",
    "split": f"a text; {NUMBERS}",
}


# ---------------------------------------------------------------- the source of a rule
@lru_cache(maxsize=256)
def tree_of(function: FunctionType) -> ast.FunctionDef | None:
    """Return the syntax tree of a function, with the line numbers of its file; None if there is no source."""
    try:
        text = textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(text).body[0]
    except (OSError, SyntaxError, TypeError, IndexError):
        return None
    ast.increment_lineno(tree, inspect.getsourcelines(function)[1] - 1)
    return tree if isinstance(tree, ast.FunctionDef) else None


def with_helpers(function: FunctionType) -> list[FunctionType]:
    """Return a function and the plain functions that it calls, and that these call."""
    found = [function]
    for one in found:
        found += [
            helper
            for _, helper in mentions(one)
            if isinstance(helper, FunctionType) and helper not in found and not in_toolchain(helper.__module__)
        ]
    return [one for one in found if not one.__module__.startswith("mdplay.")]


# ---------------------------------------------------------------- what is wrong with it
def fault_of(function: FunctionType, line: int = 0) -> tuple[FunctionType, Fault] | None:
    """Return what keeps a rule, or a function that it calls, from being compiled, and in which of them.

    ``line`` is where the compiler stumbled: what is there comes first.
    """
    found = [(one, fault) for one in with_helpers(function) for fault in faults(one)]
    at_line = [pair for pair in found if pair[1].line == line]
    hopeless = [pair for pair in found if pair[1].always]
    return next(iter([*at_line, *hopeless]), None)


def faults(function: FunctionType) -> Iterator[Fault]:
    """Yield the constructs of a function that have no compiled form, or may have none."""
    tree = tree_of(function)
    if tree is None:
        return
    owner = function.__qualname__.rpartition(".")[0].rpartition(".")[2]
    for node in (inner for statement in tree.body for inner in ast.walk(statement)):
        line = getattr(node, "lineno", 0)
        if words := HOPELESS.get(type(node)):
            yield Fault(line, words, True)
        elif words := DOUBTFUL.get(type(node)):
            yield Fault(line, words, False)
        elif isinstance(node, ast.Call) and (words := _called(node, function.__name__)):
            over_generator = any(isinstance(argument, ast.GeneratorExp) for argument in node.args)
            yield Fault(line, words, over_generator or "itself" in words or "super" in words)
        elif isinstance(node, ast.Attribute) and (words := _attribute(node, owner)):
            yield Fault(line, words, True)
        elif isinstance(node, ast.Constant) and (words := _constant(node)):
            yield Fault(line, words, False)


def _called(node: ast.Call, name: str) -> str:
    """Return what is wrong with a call, or nothing."""
    called = node.func
    if isinstance(called, ast.Name):
        return RECURSION.format(name=name) if called.id == name else BUILTINS.get(called.id, "")
    if isinstance(called, ast.Attribute):
        own = isinstance(called.value, ast.Name) and called.value.id == "self"
        if own and called.attr == name:
            return RECURSION.format(name=name)
        return METHODS.get(called.attr, "")
    return ""


def _attribute(node: ast.Attribute, owner: str) -> str:
    """Return what is wrong with an attribute: one that is assigned, or read of the class itself."""
    text = ast.unparse(node)
    if isinstance(node.ctx, ast.Store):
        return f"an assignment to {text}; what changes belongs in the state, and a new one is returned"
    if owner and isinstance(node.value, ast.Name) and node.value.id == owner:
        return f"{text}; write self.{node.attr}"
    return ""


def _constant(node: ast.Constant) -> str:
    if isinstance(node.value, str):
        return f"a text; {NUMBERS}"
    return "None; use a number for nothing, such as -1" if node.value is None else ""


def source_line(function: FunctionType, line: int) -> str:
    """Return a line of the file of a function."""
    return linecache.getline(function.__code__.co_filename, line).strip()
