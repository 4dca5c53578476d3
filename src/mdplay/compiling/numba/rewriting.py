"""Generator expressions in rules: ``any``, ``all``, ``sum``, ``min`` and ``max`` over one become a loop.

numba compiles no generator expression.  Before a rule is compiled, each such call is lifted out of it into a small
function, which gets the local variables that the expression uses:

    any(s.pile > i for i in range(n))      ->      lifted_1(n, s)        def lifted_1(n, s):
                                                                             for i in range(n):
                                                                                 if s.pile > i:
                                                                                     return True
                                                                             return False

It stops where Python would stop.  A rule without such a call, or without source, stays as it is.  The source must
say what the function does: of a file that was edited after it was imported nothing is compiled.
"""

from __future__ import annotations

import ast
from copy import deepcopy
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from mdplay.compiling import identity
from mdplay.compiling.constructs import tree_of
from mdplay.compiling.contract import where
from mdplay.compiling.numba.linking import part_of_kernels
from mdplay.errors import GameError

BEST = """value_ = {value}
if first_:
    best_ = value_
    first_ = False
elif value_ SIGN best_:
    best_ = value_"""
BODIES = {  # before the loop, inside, after it
    "any": ("", "if {value}:\n    return True", "return False"),
    "all": ("", "if not ({value}):\n    return False", "return True"),
    "sum": ("total_ = {start}", "total_ += {value}", "return total_"),
    "min": ("first_ = True", BEST.replace("SIGN", "<"), "return best_"),
    "max": ("first_ = True", BEST.replace("SIGN", ">"), "return best_"),
}
OTHERWISE = "return default_ if first_ else best_"


def rewritten(function: FunctionType) -> FunctionType:
    """Return the function with its generator expressions as loops, or the function itself if it has none."""
    if not any(isinstance(c, CodeType) and c.co_name == "<genexpr>" for c in function.__code__.co_consts):
        return function
    tree = _own_tree(function)
    if tree is None:
        return function
    lift = _Lift(function)
    body = [lift.visit(deepcopy(node)) for node in tree.body]
    if not lift.lifted:
        return function
    return _made(function, tree, body, lift.lifted)


def _own_tree(function: FunctionType) -> ast.FunctionDef | None:
    """Return the syntax tree of a function; raise GameError if its file says something else by now.

    A cell of a notebook has source but no file that could be edited.
    """
    found = tree_of(function)
    if found is None or not Path(function.__code__.co_filename).is_file():
        return found
    own = identity.tree_of(function.__code__)
    if not isinstance(own, ast.FunctionDef):
        raise GameError(f"{where(function)}: the file has changed since it was imported; start Python anew")
    return own


def _place(nodes: Any, line: int) -> None:
    """Put all nodes of a tree on one line of the file."""
    for node in ast.walk(nodes):
        if hasattr(node, "lineno") or isinstance(node, (ast.expr, ast.stmt, ast.arg)):
            node.lineno = node.end_lineno = line  # type: ignore[attr-defined]
            node.col_offset = node.end_col_offset = 0  # type: ignore[attr-defined]


def _made(function: FunctionType, tree: ast.FunctionDef, body: list[Any], lifted: list[ast.stmt]) -> FunctionType:
    """Return the function with another body, in a copy of its globals that has the lifted functions too."""
    rule = ast.parse(f"def rule_({', '.join(_arguments(function))}): pass").body[0]
    _place(rule, tree.lineno)
    rule.body, rule.end_lineno = body, tree.end_lineno  # type: ignore[attr-defined]
    module = ast.fix_missing_locations(ast.Module([*lifted, rule], []))
    scope = dict(function.__globals__) | _outer(function)
    exec(compile(module, function.__code__.co_filename, "exec"), scope)
    for one in lifted:
        name = one.name  # type: ignore[attr-defined]
        scope[name] = part_of_kernels(scope[name], error_model="python")
    made: FunctionType = scope["rule_"]
    made.__name__, made.__qualname__, made.__module__ = (
        function.__name__,
        function.__qualname__,
        function.__module__,
    )
    made.__defaults__ = function.__defaults__
    return made


def _arguments(function: FunctionType) -> tuple[str, ...]:
    return function.__code__.co_varnames[: function.__code__.co_argcount]


def _outer(function: FunctionType) -> dict[str, Any]:
    """Return the variables of an outer function that a function uses."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {name: cell.cell_contents for name, cell in cells}


class _Lift(ast.NodeTransformer):
    """Replaces calls over generator expressions; ``lifted`` has the functions that they became."""

    def __init__(self, function: FunctionType) -> None:
        code = function.__code__
        self.hidden = {*function.__globals__, *code.co_varnames, *code.co_freevars}
        self.local = {*code.co_varnames, *code.co_cellvars}
        self.lifted: list[ast.stmt] = []

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Lift a call of any, all, sum, min or max whose first argument is a generator expression."""
        if not self._applies(node):
            return self.generic_visit(node)
        over = node.args[0]
        assert isinstance(over, ast.GeneratorExp)
        bound = {
            name.id for part in over.generators for name in ast.walk(part.target) if isinstance(name, ast.Name)
        }
        outside, self.local = self.local, self.local | bound
        over = self.generic_visit(over)  # type: ignore[assignment]
        self.local = outside
        used = {name.id for name in ast.walk(over) if isinstance(name, ast.Name)}
        return self._call(node, over, sorted((used & outside) - bound))

    def _applies(self, node: ast.Call) -> bool:
        called = node.func
        known = isinstance(called, ast.Name) and called.id in BODIES and called.id not in self.hidden
        over = bool(node.args) and isinstance(node.args[0], ast.GeneratorExp)
        plain = all(part.is_async == 0 for part in getattr(node.args[0], "generators", ())) if over else False
        return known and plain and all(word.arg in ("start", "default") for word in node.keywords)

    def _call(self, node: ast.Call, over: ast.GeneratorExp, names: list[str]) -> ast.Call:
        kind = node.func.id  # type: ignore[attr-defined]
        extra = [self.visit(value) for value in [*node.args[1:], *(word.value for word in node.keywords)]]
        given = {"sum": "start_", "min": "default_", "max": "default_"}.get(kind, "") if extra else ""
        name = f"lifted_{len(self.lifted) + 1}"
        text = _text(kind, name, over, [*names, *([given] if given else [])])
        lifted = ast.parse(text).body[0]
        _place(lifted, node.lineno)
        self.lifted.append(lifted)
        arguments = [ast.Name(one, ast.Load()) for one in names]
        call = ast.Call(ast.Name(name, ast.Load()), [*arguments, *extra], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


def _text(kind: str, name: str, over: ast.GeneratorExp, names: list[str]) -> str:
    """Return the source of a lifted function."""
    first, inside, last = BODIES[kind]
    lines = [f"def {name}({', '.join(names)}):"]
    if first:
        lines.append("    " + first.format(start="start_" if "start_" in names else "0"))
    depth = 1
    for part in over.generators:
        lines.append(f"{'    ' * depth}for {ast.unparse(part.target)} in {ast.unparse(part.iter)}:")
        depth += 1
        for condition in part.ifs:
            lines.append(f"{'    ' * depth}if {ast.unparse(condition)}:")
            depth += 1
    body = inside.format(value=ast.unparse(over.elt)).splitlines()
    lines += ["    " * depth + line for line in body]
    lines.append("    " + (OTHERWISE if "default_" in names else last))
    return "\n".join(lines)
