"""Say that the shipped opening book is still true of the rules of Connect Four: ``python tools/stamp_book.py``.

A book carries the identity of its rules and is not read by others.  When the code of the rules was changed but not
their meaning, this proves every position of the book again, and only if all scores come out the same, writes the
book with the new identity.
"""

import inspect
import sys
from pathlib import Path

import numpy as np

from mdplay import make
from mdplay.compiling import unpack
from mdplay.solving.proof.book import KIND, OpeningBook, file_name, positions
from mdplay.solving.proof.prover import Prover
from mdplay.storage import arrays as store

GAME, PLIES = make("connect-four"), 4


def main() -> int:
    """Prove the book again and stamp it; return 1 if a score has changed."""
    path = Path(inspect.getfile(type(GAME))).parent / file_name(GAME, PLIES)
    scores, rows = np.array(store.load(path, kind=KIND).arrays["scores"]), positions(GAME, PLIES)
    if len(rows) != len(scores):
        print(f"there are {len(rows)} positions, the book has {len(scores)}: make the book anew")
        return 1
    found = Prover(GAME).scores(unpack(GAME, row.tolist()) for row in rows)
    if wrong := int((found != scores).sum()):
        print(f"{wrong} of {len(scores)} scores have changed: the rules are others, make the book anew")
        return 1
    OpeningBook(GAME, PLIES, rows, scores, path).save()
    print(f"{len(scores)} scores proved again; {path.name} has the identity of the present rules")
    return 0


if __name__ == "__main__":
    sys.exit(main())
