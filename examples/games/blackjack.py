"""Blackjack for one, from a deck without end: draw or stand; the dealer draws to 17, an ace counts 1 or 11.

Card i has the value i + 1; ten, jack, queen and king are card 9.  An ace first counts 11, as long as that is not
too much: the hand is then soft.  21 with two cards is a blackjack and pays three to two.
"""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from mdplay import Between, Game

STAND, HIT = 0, 1
FIRST, SECOND, UP, PLAYING, DRAWING, DEALER, OVER = range(7)  # the phases: cards come in all but PLAYING and OVER


class Hand(NamedTuple):
    """Cards added up."""

    total: int
    soft: bool


class State(NamedTuple):
    """What is on the table."""

    phase: int
    total: int  # the player's hand
    soft: bool
    natural: bool  # a blackjack
    dealer: int  # the dealer's hand
    dealer_soft: bool
    dealer_cards: int  # 0, 1, then 2 for two and more


@dataclass(frozen=True)
class Blackjack(Game[State]):
    """A game for one: its states have no player."""

    dealer_stands: Annotated[int, Between(12, 21)] = 17

    def initial(self) -> State:
        """Return an empty table: chance deals first."""
        return State(FIRST, 0, False, False, 0, False, 0)

    def with_card(self, total: int, soft: bool, card: int) -> Hand:
        """Return a hand with one card more."""
        total += card + 1
        if card == 0 and total + 10 <= 21:
            return Hand(total + 10, True)
        if soft and total > 21:
            return Hand(total - 10, False)
        return Hand(total, soft)

    def legal(self, s: State) -> int:
        """Hit or stand while it is the player's turn."""
        return 1 << HIT | 1 << STAND if s.phase == PLAYING else 0

    def step(self, s: State, action: int) -> State:
        """Ask for a card, or leave the rest to the dealer."""
        phase = DRAWING if action == HIT else DEALER
        return State(phase, s.total, s.soft, s.natural, s.dealer, s.dealer_soft, s.dealer_cards)

    def outcomes(self, s: State) -> int:
        """Return the ten values of a card, wherever one is dealt."""
        return 0 if s.phase == PLAYING or s.phase == OVER else (1 << 10) - 1

    def probability(self, s: State, i: int) -> float:
        """Return that of a card in a deck without end."""
        return 4.0 / 13.0 if i == 9 else 1.0 / 13.0

    def outcome(self, s: State, i: int) -> State:
        """Deal a card."""
        if s.phase == UP or s.phase == DEALER:
            return self.dealt_to_dealer(s, i)
        hand = self.with_card(s.total, s.soft, i)
        natural = s.phase == SECOND and hand.total == 21
        phase = s.phase + 1  # FIRST, SECOND, UP
        if s.phase == DRAWING:
            phase = OVER if hand.total > 21 else PLAYING
        return State(phase, hand.total, hand.soft, natural, s.dealer, s.dealer_soft, s.dealer_cards)

    def dealt_to_dealer(self, s: State, card: int) -> State:
        """Give the dealer a card: the one that is seen, or one of those after the player stands."""
        hand = self.with_card(s.dealer, s.dealer_soft, card)
        phase = DEALER if s.natural else PLAYING
        if s.phase == DEALER:
            phase = OVER if hand.total >= self.dealer_stands or s.natural else DEALER
        cards = min(s.dealer_cards + 1, 3)
        return State(phase, s.total, s.soft, s.natural, hand.total, hand.soft, cards)

    def result(self, s: State) -> float:
        """Return what the player wins of a stake of 1."""
        dealer_natural = s.dealer == 21 and s.dealer_cards == 2
        if s.natural:
            return 0.0 if dealer_natural else 1.5
        if s.total > 21 or dealer_natural:
            return -1.0
        if s.dealer > 21 or s.total > s.dealer:
            return 1.0
        return 0.0 if s.total == s.dealer else -1.0

    # ---------------------------------------------------------------- words for people
    def move_text(self, s: State, action: int) -> str:
        """Return hit or stand."""
        return "hit" if action == HIT else "stand"

    def outcome_text(self, s: State, i: int) -> str:
        """Return the card, ace first; ten stands for all pictures."""
        return "ace" if i == 0 else f"card-{i + 1}"

    def board(self, s: State) -> str:
        """Tell both hands."""
        return f"you {'soft ' if s.soft else ''}{s.total}, dealer {'soft ' if s.dealer_soft else ''}{s.dealer}"
