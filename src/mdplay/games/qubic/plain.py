"""The cube of Qubic from its definition, for the checker of books: lines, symmetries, wins by forcing moves.

Nothing here comes from the prover, the threat search or the rules of the game: the lines are listed from their
definition, the symmetries are the closure of five of them, each checked to map lines onto lines, and a forced win
is searched by the plain words: a forcing move leaves exactly one cell that completes a line, which the opponent
must take.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from mdplay.bits import U64, lowest, nonempty, popcount, without_lowest
from mdplay.compiling import Words, get, inlined, put

MAX_NODES = 20_000_000  # of one search for forcing moves
FAILURES = 1 << 20
DEEPEST = 34


# ---------------------------------------------------------------- lines and symmetries
@lru_cache(maxsize=1)
def all_lines() -> tuple[int, ...]:
    """Return the 76 lines: along a line each coordinate stands still, rises or falls, and not all stand still."""
    tracks = [(c, c, c, c) for c in range(4)] + [(0, 1, 2, 3), (3, 2, 1, 0)]
    found = {
        sum(1 << x + 4 * y + 16 * z for x, y, z in zip(*chosen, strict=True))
        for chosen in product(tracks, repeat=3)
        if any(len(set(track)) > 1 for track in chosen)
    }
    return tuple(sorted(found))


def _generators() -> list[tuple[int, ...]]:
    """Return five symmetries: two orders of the axes, one reflection, two relabellings of all coordinates."""
    cells = [(c % 4, c // 4 % 4, c // 16) for c in range(64)]
    images = [
        [(y, x, z) for x, y, z in cells],
        [(y, z, x) for x, y, z in cells],
        [(3 - x, y, z) for x, y, z in cells],
        *([(names[x], names[y], names[z]) for x, y, z in cells] for names in ((0, 2, 1, 3), (1, 0, 3, 2))),
    ]
    return [tuple(x + 4 * y + 16 * z for x, y, z in image) for image in images]


@lru_cache(maxsize=1)
def all_symmetries() -> tuple[tuple[int, ...], ...]:
    """Return the closure of the generators; each maps the set of lines onto itself."""
    found = {tuple(range(64))}
    fresh = list(found)
    while fresh:
        images = {tuple(g[cell] for cell in old) for old in fresh for g in _generators()}
        fresh = list(images - found)
        found |= images
    lines = set(all_lines())
    for symmetry in found:
        moved = {sum(1 << symmetry[cell] for cell in range(64) if line >> cell & 1) for line in lines}
        if moved != lines:
            raise AssertionError("a symmetry does not keep the lines")
    return tuple(sorted(found))


@lru_cache(maxsize=1)
def tables() -> tuple[Words, Words]:
    """Return the lines, and for each symmetry and 4 bits of a mask where these go."""
    moved = np.zeros((len(all_symmetries()), 16 * 16), np.uint64)
    for k, symmetry in enumerate(all_symmetries()):
        for place, bits in product(range(16), range(16)):
            moved[k, 16 * place + bits] = sum(1 << symmetry[4 * place + i] for i in range(4) if bits >> i & 1)
    return np.array(all_lines(), np.uint64), moved.reshape(-1)


# ---------------------------------------------------------------- positions
@inlined
def moved_by(cells: Any, k: int, moved: Any) -> Any:
    """Return where a symmetry takes the cells."""
    out = U64(0)
    for place in range(16):
        out |= get(moved, 256 * k + 16 * place + int(cells >> 4 * place & 15))
    return out


@inlined
def smallest(attacker: Any, defender: Any, moved: Any) -> Any:
    """Return the smallest image of a position, and the number of a symmetry that gives it."""
    best, other, which = moved_by(attacker, 0, moved), moved_by(defender, 0, moved), 0
    for k in range(1, len(moved) // 256):
        image = moved_by(attacker, k, moved)
        if image <= best:
            second = moved_by(defender, k, moved)
            if image < best or second < other:
                best, other, which = image, second, k
    return best, other, which


@inlined
def completing(mine: Any, theirs: Any, held: int, lines: Any) -> Any:
    """Return the free cells of the lines in which I hold ``held`` cells and the opponent none."""
    cells = U64(0)
    for i in range(len(lines)):
        line = get(lines, i)
        if line & theirs == 0 and popcount(line & mine) == held:
            cells |= line & ~mine
    return cells


@inlined
def finishing(mine: Any, theirs: Any, lines: Any) -> Any:
    """Return the free cells that complete a line of mine."""
    return completing(mine, theirs, 3, lines)


@inlined
def complete(cells: Any, lines: Any) -> bool:
    """Return whether the cells contain a line."""
    found = False
    for i in range(len(lines)):
        line = get(lines, i)
        found |= line & cells == line
    return found


# ---------------------------------------------------------------- wins by forcing moves
@inlined
def forcing_cells(attacker: Any, defender: Any, lines: Any) -> Any:
    """Return the cells worth trying: those that make a line of three, and block if the defender has one."""
    cells, blocks = completing(attacker, defender, 2, lines), finishing(defender, attacker, lines)
    if nonempty(blocks):
        cells = cells & blocks if not nonempty(without_lowest(blocks)) else U64(0)
    return cells


@inlined
def wins_at_once(attacker: Any, defender: Any, cells: Any, lines: Any) -> bool:
    """Return whether the attacker completes a line, or one of the cells leaves two cells that do."""
    if nonempty(finishing(attacker, defender, lines)):
        return True
    while nonempty(cells):
        if nonempty(without_lowest(finishing(attacker | U64(1) << lowest(cells), defender, lines))):
            return True
        cells = without_lowest(cells)
    return False


@inlined
def place_of(attacker: Any, defender: Any, size: int) -> int:
    """Return a place for a position in a table whose number of places is a power of two."""
    z = (attacker * 0x9E37_79B9_7F4A_7C15 ^ (defender + 0x1234_5678_9ABC_DEF1)) * 0xC2B2_AE3D_27D4_EB4F
    return int((z ^ z >> 29 ^ z >> 43) & (size - 1))


@inlined
def forced(attacker: Any, defender: Any, lines: Any, stack: Any, failures: Any) -> Any:
    """Return whether the attacker, to move, wins by forcing moves alone, and count the positions looked at.

    ``stack`` keeps attacker, defender and the cells left to try for each pair of moves, which take two free cells
    of 64, so that there are at most 32; ``failures`` remembers positions (pairs of words) that are not won so.
    """
    depth, nodes = 0, 0
    while nodes < MAX_NODES:
        nodes += 1
        cells = forcing_cells(attacker, defender, lines)
        if wins_at_once(attacker, defender, cells, lines):
            return True, nodes
        place = 2 * place_of(attacker, defender, len(failures) // 2)
        if get(failures, place) != attacker or get(failures, place + 1) != defender:
            put(stack, 3 * depth, attacker)
            put(stack, 3 * depth + 1, defender)
            put(stack, 3 * depth + 2, cells)
            depth += 1
        while depth > 0 and get(stack, 3 * depth - 1) == 0:
            depth -= 1
            attacker, defender = get(stack, 3 * depth), get(stack, 3 * depth + 1)
            place = 2 * place_of(attacker, defender, len(failures) // 2)
            put(failures, place, attacker)
            put(failures, place + 1, defender)
        if depth == 0:
            return False, nodes
        cells = get(stack, 3 * depth - 1)
        put(stack, 3 * depth - 1, without_lowest(cells))
        attacker = get(stack, 3 * depth - 3) | U64(1) << lowest(cells)
        defender = get(stack, 3 * depth - 2)
        defender |= finishing(attacker, defender, lines)
    return False, nodes
