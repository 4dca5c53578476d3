"""Print counts that must not change under a refactoring, one line each.

    python benchmarks/signature.py            compare with signature.txt (exit code 1 if they differ)
    python benchmarks/signature.py --write    write signature.txt anew; say why in the commit

The same lines come out compiled and with NUMBA_DISABLE_JIT=1: the tests run both.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from mdplay import make, perft, playouts

FILE = Path(__file__).with_suffix(".txt")
PLAYOUTS = [
    "2048",
    "2048:rows=2,cols=3",
    "anti-tic-tac-toe",
    "connect-four",
    "connect-four:rows=4,cols=5",
    "dots-and-boxes",
    "dots-and-boxes:rows=3,cols=3",
    "qubic",
    "tic-tac-toe",
]
PERFT = [
    ("2048", 3, False),
    ("2048:rows=2,cols=2", 6, True),
    ("connect-four", 5, True),
    ("dots-and-boxes", 4, True),
    ("qubic", 2, False),
    ("tic-tac-toe", 9, True),
]


def lines() -> Iterator[str]:
    """Yield the lines of the signature."""
    for name in PLAYOUTS:
        found = playouts(make(name), games=20, seed=1, threads=2)
        yield f"playouts {name}: {found.mean:.6f} {found.wins} {found.draws} {found.losses} {found.moves} {found.longest}"
    for name, depth, symmetry in PERFT:
        plies = perft(make(name), depth=depth, by_symmetry=symmetry)
        yield f"perft {name}: " + " ".join(f"{ply.paths}/{ply.positions}" for ply in plies)


def main() -> int:
    """Compare or write the signature."""
    now = "".join(f"{line}\n" for line in lines())
    if "--write" in sys.argv:
        FILE.write_text(now)
        return 0
    print(now, end="")
    return int(now != FILE.read_text())


if __name__ == "__main__":
    sys.exit(main())
