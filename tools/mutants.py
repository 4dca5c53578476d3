"""Mutation testing: plant one fault at a time in the source, and report which faults the tests of the room find.

python tools/mutants.py --count 60 --seed 1 [--rooms solving,planning] [--only src/mdplay/solving/hashed.py]

A fault swaps an operator, a comparison, a constant or a branch of one function.  The tests of the same room run on
a copy of the tree, with -x; a run that fails or exceeds the time limit has found the fault.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("solving", "searching", "planning", "states", "checking", "learning")
MAX_SECONDS = 400  # of the tests of a room; longer runs count as found
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}


def faults(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Yield the nodes inside functions that can be changed, and a description of the change."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for statement in function.body:
            for node in ast.walk(statement):
                if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
                    yield node, "comparison"
                elif isinstance(node, (ast.BinOp, ast.BoolOp, ast.AugAssign)) and type(node.op) in SWAPS:
                    yield node, "operator"
                elif isinstance(node, ast.Constant) and type(node.value) in (int, bool):
                    yield node, "constant"
                elif isinstance(node, ast.Name) and node.id in NAMES:
                    yield node, "name"
                elif isinstance(node, (ast.If, ast.IfExp, ast.While)):
                    yield node, "condition"


def plant(node: ast.AST) -> None:
    """Change a node in place."""
    match node:
        case ast.Compare():
            node.ops[0] = SWAPS[type(node.ops[0])]()  # type: ignore[assignment]
        case ast.BinOp() | ast.BoolOp() | ast.AugAssign():
            node.op = SWAPS[type(node.op)]()  # type: ignore[assignment]
        case ast.Constant():
            node.value = not node.value if isinstance(node.value, bool) else int(str(node.value)) + 1
        case ast.Name():
            node.id = NAMES[node.id]
        case ast.If() | ast.IfExp() | ast.While():
            node.test = ast.UnaryOp(ast.Not(), node.test)


def is_found(copy: Path, room: str) -> bool:
    """Return whether a test of the room fails in the copy."""
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "MDPLAY_CACHE": str(copy / ".kernels")}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-m",
        "not slow",
        "-p",
        "no:cacheprovider",
        f"tests/{room}",
    ]
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=MAX_SECONDS)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def main() -> None:
    """Plant faults one after the other and print one line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", default=",".join(ROOMS))
    parser.add_argument("--only", help="a file of the source")
    options = parser.parse_args()
    rooms, chance, found = options.rooms.split(","), random.Random(options.seed), 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "mdplay"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", "site", "reproduction"))
        for number in range(options.count):
            room = rooms[number % len(rooms)]
            files = [Path(options.only)] if options.only else sorted((ROOT / "src/mdplay" / room).rglob("*.py"))
            changes = []
            while not changes:
                path = copy / chance.choice(files).resolve().relative_to(ROOT)
                source = path.read_text()
                tree = ast.parse(source)
                changes = list(faults(tree))
            node, kind = chance.choice(changes)
            place = f"{path.relative_to(copy)}:{node.lineno}"  # type: ignore[attr-defined]
            plant(node)
            path.write_text(ast.unparse(ast.fix_missing_locations(tree)))
            known = is_found(copy, path.relative_to(copy / "src/mdplay").parts[0])
            path.write_text(source)
            found += known
            print(f"{'found ' if known else 'MISSED'} {kind:10} {place}", flush=True)
    print(f"{found} of {options.count} faults found")


if __name__ == "__main__":
    main()
