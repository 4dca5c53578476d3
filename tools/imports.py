"""The import graph of the package: which room uses which, as CONTRIBUTING shows it.

    python tools/imports.py          print the rooms in their order, each with the rooms that it uses
    python tools/imports.py MODULE   print the modules that one module reaches, without base files and compiling

A *room* is a folder of ``src/mdplay``; files beside the folders are *base*.  An import counts wherever it stands,
inside functions too, and so does a string ``mdplay.room.module:name`` that somebody may import later.  The
registry alone may name games, and ``executors.py`` alone what is distributed: that is what they are for.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
NAMED = re.compile(r"(mdplay(?:\.\w+)+)(?::\w+)?")
ORDER = (  # a room may use the rooms above its line, and those of its line that BESIDE names
    ("base",),
    ("compiling", "naming", "runtime", "storage", "views", "rules"),
    ("checking", "states", "evaluating"),
    ("solving", "searching", "learning", "planning", "bandits"),
    ("playing",),
    ("games",),
    ("distributed", "adapters", "notebook", "lab", "web", "cli"),
)
BESIDE = {
    ("base", "compiling"),
    ("base", "naming"),
    ("compiling", "storage"),
    ("compiling", "runtime"),
    ("naming", "compiling"),
    ("naming", "runtime"),
    ("runtime", "compiling"),
    ("runtime", "naming"),
    ("views", "storage"),
    ("rules", "naming"),
    ("states", "checking"),
    ("checking", "states"),
    ("solving", "planning"),
    ("solving", "learning"),
    ("bandits", "searching"),
    ("searching", "learning"),
    ("learning", "searching"),
    ("learning", "planning"),
    ("lab", "adapters"),
    ("cli", "distributed"),
    ("cli", "lab"),
    ("cli", "web"),
}
OUTSIDE = ("root",)  # mdplay/__init__.py exports everything and knows the version
NAMED_BY = {  # rooms that one module may name, as texts
    "games": "mdplay.naming.registry",
    "distributed": "mdplay.runtime.executors",
}

Graph = dict[str, set[str]]


def modules() -> dict[str, Path]:
    """Return every module of the package with its file."""
    return {_name(path): path for path in sorted((SOURCE / "mdplay").rglob("*.py"))}


def _name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room(module: str) -> str:
    """Return the room of a module: its folder, or base; the rules of the games are a room of their own."""
    parts = module.split(".")
    if len(parts) == 1:
        return "root"
    is_rules = parts[1] == "games" and parts[-1] == "rules"
    return "rules" if is_rules else parts[1] if (SOURCE / "mdplay" / parts[1]).is_dir() else "base"


def graph(*, strings: bool = True) -> Graph:
    """Return for each module the modules that it mentions, by strings too unless these are left out."""
    known = modules()
    return {
        name: set(_mentioned(ast.parse(path.read_text()), known, strings)) - {name} for name, path in known.items()
    }


def _mentioned(tree: ast.AST, known: dict[str, Path], strings: bool = True) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield from _known([f"{node.module}.{alias.name}", node.module], known)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield from _known([alias.name], known)
        elif strings and isinstance(node, ast.Constant) and (m := NAMED.fullmatch(str(node.value))):
            yield from _known([m[1], m[1].rpartition(".")[0]], known)


def _known(names: list[str], known: dict[str, Path]) -> Iterator[str]:
    """Yield the first of the names that is a module."""
    yield from [name for name in names if name in known][:1]


def rooms(modules_of: Graph) -> Graph:
    """Return for each room the other rooms that it uses."""
    found: Graph = defaultdict(set)
    for name, used in modules_of.items():
        found[room(name)] |= {room(other) for other in used} - {room(name)}
    return dict(found)


def against_the_order(modules_of: Graph) -> list[str]:
    """Return every import that the order forbids, as ``from -> to``."""
    level = {name: number for number, names in enumerate(ORDER) for name in names}
    return [
        f"{name} -> {other}"
        for name, used in sorted(modules_of.items())
        for other in sorted(used)
        if room(name) not in OUTSIDE and not _allowed(name, other, level)
    ]


def _allowed(name: str, other: str, level: dict[str, int]) -> bool:
    user, used = room(name), room(other)
    if user == used or used in OUTSIDE or (user, used) in BESIDE or name == "mdplay.__main__":
        return True
    if user == "rules":
        return used in ("base", "naming") or other == name.rpartition(".")[0]
    return level[used] < level[user] or NAMED_BY.get(used) == name


def past_the_door() -> list[str]:
    """Return every import by an application of a public name from an inner module instead of ``mdplay``."""
    import mdplay

    return [
        f"{name}: {node.module}.{alias.name}"
        for name, path in modules().items()
        if room(name) in ORDER[-1]
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module and room(node.module) not in (room(name), *OUTSIDE)
        for alias in node.names
        if f"mdplay.{mdplay._MODULES.get(alias.name)}" == node.module
    ]


def cycles(modules_of: Graph) -> list[list[str]]:
    """Return every set of modules that import each other (Tarjan 1972), the smallest first."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in modules_of[name]:
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            at = stack.index(name)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for name in modules_of:
        if name not in index:
            visit(name)
    return sorted(found, key=len)


def reached(modules_of: Graph, start: str) -> list[str]:
    """Return the modules that one module reaches, but base files and compiling."""
    found, todo = set[str](), [start]
    while todo:
        name = todo.pop()
        if name not in found and room(name) not in ("base", "compiling", *OUTSIDE):
            found.add(name)
            todo += modules_of[name]
    return sorted(found)


def picture(rooms_of: Graph) -> str:
    """Return the rooms in their order, each with the rooms that it uses."""
    names = [name for line in ORDER for name in line]
    width = max(map(len, names))
    rows = [(name, [other for other in names if other in rooms_of.get(name, ())]) for name in names]
    return "\n".join(f"{name:<{width}} <- {', '.join(used) or 'nothing'}" for name, used in rows)


def main() -> None:
    """Print the picture, or what a module reaches."""
    found = graph()
    if len(sys.argv) > 1:
        print("\n".join(reached(found, sys.argv[1])))
        return
    print(picture(rooms(found)))
    imported = graph(strings=False)
    print(*against_the_order(found), *past_the_door(), *map(" <-> ".join, cycles(imported)), sep="\n")


if __name__ == "__main__":
    main()
