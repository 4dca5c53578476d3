"""King and rook, or king and queen, against king: White mates, Black escapes.

First White (player 1) puts the pieces down: its king, the black king, its rook or queen; then Black is to move.
A player who is to move and cannot has been mated, or it is a draw; so it is when the rook or queen is taken.
Squares are numbered from a1 along the rows:

    56 57 .. 63   8          while pieces are put down an action is a square; then actions 0 .. 7 are steps of
     .                       the king in the directions N W E S NW NE SW SE, and 8 + 7 * d + k moves the rook or
     0  1 ..  7   1          queen by k + 1 squares in direction d
     a  b     h
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import mdplay.svg as draw
from mdplay.bits import U64
from mdplay.boards import LETTERS, cell_images, cell_name
from mdplay.errors import PositionError
from mdplay.game import Game

NOWHERE = 64
UPS = (1, 0, 0, -1, 1, 1, -1, -1)
RIGHTS = (0, -1, 1, 0, -1, 1, -1, 1)
STEPS, FAR = 8, 7
CELL = 44


class State(NamedTuple):
    """Squares, or NOWHERE: not yet put down; the rook or queen also when it was taken."""

    king: int
    piece: int
    black: int
    player: int


@dataclass(frozen=True)
class ChessEnding(Game[State]):
    """White has a rook, or a ``queen``."""

    queen: bool = False

    def initial(self) -> State:
        """Return the empty board."""
        return State(NOWHERE, NOWHERE, NOWHERE, 0)

    def legal(self, s: State) -> U64:
        """Return the free squares while pieces are put down, then the moves."""
        if s.black == NOWHERE or (s.piece == NOWHERE and s.player == 0):
            return self.free(s)
        if s.piece == NOWHERE:
            return U64(0)
        king = s.black if s.player else s.king
        found = U64(0)
        for d in range(STEPS):
            to = self.shifted(king, d, 1)
            if to != NOWHERE and (
                self.may_flee(s, to) if s.player else not self.adjacent(s.black, to) and to != s.piece
            ):
                found |= U64(1) << d
        return found if s.player else found | self.far_moves(s)

    def free(self, s: State) -> U64:
        """Return the squares for the next piece."""
        found = U64(0)
        for q in range(64):
            if (
                q != s.king
                and q != s.black
                and (s.king == NOWHERE or s.black != NOWHERE or not self.adjacent(s.king, q))
            ):
                found |= U64(1) << q
        return found

    def far_moves(self, s: State) -> U64:
        """Return the moves of the rook or queen."""
        found = U64(0)
        for d in range(8 if self.queen else 4):
            for k in range(FAR):
                to = self.shifted(s.piece, d, k + 1)
                if to == NOWHERE or to == s.king or to == s.black:
                    break
                found |= U64(1) << STEPS + FAR * d + k
        return found

    def may_flee(self, s: State, to: int) -> bool:
        """Return whether the black king may go to a square."""
        return not self.adjacent(s.king, to) and not self.attacks(s.piece, to, s.king)

    def adjacent(self, a: int, b: int) -> bool:
        """Return whether two squares touch, or are one."""
        return abs((a >> 3) - (b >> 3)) <= 1 and abs((a & 7) - (b & 7)) <= 1

    def attacks(self, piece: int, to: int, king: int) -> bool:
        """Return whether the rook or queen attacks a square; only the white king is in the way."""
        up, right = (to >> 3) - (piece >> 3), (to & 7) - (piece & 7)
        straight = up == 0 or right == 0
        if piece == to or not (straight or (self.queen and abs(up) == abs(right))):
            return False
        step = 8 * ((up > 0) - (up < 0)) + (right > 0) - (right < 0)
        at = piece + step
        while at != to:
            if at == king:
                return False
            at += step
        return True

    def shifted(self, q: int, d: int, k: int) -> int:
        """Return the square k steps away in a direction, or NOWHERE."""
        row, col = (q >> 3) + k * UPS[d], (q & 7) + k * RIGHTS[d]
        return 8 * row + col if 0 <= row < 8 and 0 <= col < 8 else NOWHERE

    def step(self, s: State, action: int) -> State:
        """Put a piece down, or move one."""
        if s.king == NOWHERE:
            return State(action, NOWHERE, NOWHERE, 0)
        if s.black == NOWHERE:
            return State(s.king, NOWHERE, action, 0)
        if s.piece == NOWHERE:
            return State(s.king, action, s.black, 1)
        if s.player == 1:
            to = self.shifted(s.black, action, 1)
            return State(s.king, NOWHERE, to, 1) if to == s.piece else State(s.king, s.piece, to, 0)
        if action < STEPS:
            return State(self.shifted(s.king, action, 1), s.piece, s.black, 1)
        far = action - STEPS
        return State(s.king, self.shifted(s.piece, far // FAR, far % FAR + 1), s.black, 1)

    def result(self, s: State) -> int:
        """Return 1 if Black is mated, else 0."""
        mated = s.player == 1 and s.piece != NOWHERE and self.attacks(s.piece, s.black, s.king)
        return 1 if mated else 0

    # ---------------------------------------------------------------- symmetries
    def symmetries(self) -> int:
        """Return 8: there are no pawns."""
        return 8

    def image(self, s: State, k: int) -> State:
        """Turn and reflect the board."""
        return State(self.turned[k][s.king], self.turned[k][s.piece], self.turned[k][s.black], s.player)

    @cached_property
    def turned(self) -> tuple[tuple[int, ...], ...]:
        """Where each symmetry takes each square; NOWHERE stays."""
        return tuple((*image, NOWHERE) for image in cell_images(8, 8))

    # ---------------------------------------------------------------- words for people
    def parse(self, text: str) -> State:
        """Read the pieces and who moves, as ``Kc3,Rh4,ka1,b``; a piece that is not on the board has a minus."""
        words = [word.strip() for word in text.split(",")]
        letters = ("K", self._letter, "k")
        fits = len(words) == 4 and words[3] in ("w", "b")
        if not fits or any(word[:1] != letter for word, letter in zip(words, letters, strict=False)):
            raise PositionError(f"{text!r} is not a position: give K, {self._letter}, k with squares and w or b")
        king, piece, black = (_square(word[1:], text) for word in words[:3])
        s = State(king, piece, black, "wb".index(words[3]))
        taken = [q for q in (king, piece, black) if q != NOWHERE]
        touching = NOWHERE not in (king, black) and self.adjacent(king, black)
        if len(set(taken)) != len(taken) or touching or (king == NOWHERE and len(taken) > 0):
            raise PositionError(f"{text!r} cannot be reached: pieces stand on one square, or kings side by side")
        if s.player == 0 and piece != NOWHERE and self.attacks(piece, black, king):
            raise PositionError(f"{text!r} cannot be reached: Black is in check, and White to move")
        if (s.player == 1 and NOWHERE in (king, black)) or (black == NOWHERE and piece != NOWHERE):
            raise PositionError(f"{text!r} cannot be reached: the kings are put down first")
        return s

    @property
    def _letter(self) -> str:
        return "Q" if self.queen else "R"

    def text(self, s: State) -> str:
        """Return what ``parse`` reads."""
        pieces = zip(("K", self._letter, "k"), (s.king, s.piece, s.black), strict=True)
        return ",".join([*(f"{letter}{_name(q)}" for letter, q in pieces), "wb"[s.player]])

    def move_text(self, s: State, action: int) -> str:
        """Return the piece and where it goes."""
        which, to = self._moved(s, action)
        return f"{('K', self._letter, 'k')[which]}{_name(to)}"

    def _moved(self, s: State, action: int) -> tuple[int, int]:
        """Return which piece an action moves, and where to."""
        pairs = zip(s[:3], self.step(s, action)[:3], strict=True)
        return next((i, b) for i, (a, b) in enumerate(pairs) if a != b and b != NOWHERE)

    def board(self, s: State) -> str:
        """Draw the board from White's side."""
        marks = {s.king: "K", s.piece: self._letter, s.black: "k"}
        rows = [
            f"{row + 1} " + " ".join(marks.get(8 * row + c, ".") for c in range(8)) for row in range(7, -1, -1)
        ]
        return "\n".join([*rows, "  " + " ".join(LETTERS)])

    def svg(self, s: State) -> str:
        """Draw the board; click where the piece shall go."""
        size = 8 * CELL + 20
        shapes = [draw.rect(0, 0, size, size, "panel", 8)]
        for q in range(64):
            x, y = 10 + q % 8 * CELL, 10 + (7 - q // 8) * CELL
            shapes.append(draw.rect(x, y, CELL, CELL, "hole" if (q // 8 + q % 8) % 2 else "neutral"))
        pieces = zip("♔" + ("♕" if self.queen else "♖") + "♚", (s.king, s.piece, s.black), strict=True)
        for sign, q in pieces:
            if q != NOWHERE:
                middle = 10 + (q % 8 + 0.5) * CELL, 10 + (7.5 - q // 8) * CELL
                shapes.append(draw.label(*middle, sign, "ink", 36))
        moves = [(action, *self._moved(s, action)) for action in range(64) if int(self.legal(s)) >> action & 1]
        goals = [to for _, _, to in moves]
        shapes += [self._svg_move(s, action, which, to, goals.count(to)) for action, which, to in moves]
        return draw.picture(size, size, shapes, self.board(s))

    def _svg_move(self, s: State, action: int, which: int, to: int, sharing: int) -> str:
        """Return the square to click; of one where both pieces may go, the left half is the king's."""
        width = CELL / sharing
        x, y = 10 + to % 8 * CELL + (CELL - width if which else 0), 10 + (7 - to // 8) * CELL
        room = (x + width / 2, y + CELL / 2, min(width / 2, 0.4 * CELL))
        return draw.move(action, self.move_text(s, action), draw.rect(x, y, width, CELL, "open"), at=room)


def _name(q: int) -> str:
    return "-" if q == NOWHERE else cell_name(q, 8)


def _square(word: str, text: str) -> int:
    if word == "-":
        return NOWHERE
    if len(word) != 2 or word[0] not in LETTERS or word[1] not in "12345678":
        raise PositionError(f"{text!r} is not a position: {word!r} is no square")
    return 8 * (int(word[1]) - 1) + LETTERS.index(word[0])
