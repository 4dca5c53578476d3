"""Hands and eyes for a game on the page: what is shown, and moves by mouse and by keyboard.

What is shown is read off the elements, as a person would; only waiting looks at the page's own state.
(Playwright's wait_for_function would need a page that allows eval, which ours does not: so the tests poll.)
"""

import time

READY = "document.documentElement.dataset.ready === 'yes'"
SETTLED = "!!window.mdplay?.line.node?.verdict?.done && !mdplay.busy"
CHIPS = """[...document.querySelectorAll('.stage .move[data-action]')].map((target) => {
  const chip = target.querySelector('.chip'), number = chip?.querySelector('.number') ?? chip;
  const texts = chip && [...number.childNodes].filter((node) => node.nodeType === 3);
  return [Number(target.dataset.action), chip ? {
    text: texts.map((node) => node.data).join(''),
    best: chip.classList.contains('best'), exact: chip.classList.contains('exact'),
    kind: ['win', 'draw', 'loss', 'points'].find((kind) => chip.classList.contains(kind)),
    label: target.getAttribute('aria-label') ?? target.textContent } : null];
})"""


class Table:
    """A page with a game on it."""

    def __init__(self, page, server):
        self.page, self.server = page, server

    def open(self, path):
        self.page.goto(self.server + path)
        return self.until(READY)

    # ---------------------------------------------------------------- eyes
    def js(self, text, argument=None):
        return self.page.evaluate(text, argument)

    def until(self, condition, seconds=60):
        """Wait until a condition holds, however slow the machine is."""
        give_up = time.monotonic() + seconds
        while not self.js(f"Boolean({condition})"):
            assert time.monotonic() < give_up, f"never: {condition}; the verdict: {self.text('.verdict')}"
            self.page.wait_for_timeout(40)
        return self

    def text(self, selector):
        return self.js("(s) => document.querySelector(s)?.innerText ?? ''", selector)

    def settled(self):
        """Wait until every value of the position is there."""
        return self.until(SETTLED, 120)

    def chips(self):
        """Return what stands on every target: {action: {text, kind, exact, best, label}}."""
        return dict(self.js(CHIPS))

    @property
    def ply(self):
        return self.js("mdplay.line.at")

    @property
    def moves(self):
        return self.js("mdplay.line.moves()")

    @property
    def over(self):
        return self.js("mdplay.line.doc.over")

    @property
    def position(self):
        return self.js("mdplay.line.doc.position")

    # ---------------------------------------------------------------- hands
    def click(self, action):
        """Click the middle of a target, with a real pointer."""
        box = self.page.locator(f".stage .move[data-action='{action}']").bounding_box()
        self.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self.page.mouse.move(2, 2)

    def type(self, move):
        """Type a move, after the slash that opens the field."""
        self.page.keyboard.press("/")
        self.page.keyboard.type(str(move))
        if self.page.locator(".typing input").count():
            self.page.keyboard.press("Enter")

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
        return self

    def my_turn(self):
        """Wait until a person is to move, or the game is over."""
        return self.until(
            "mdplay.line.doc.over || !mdplay.busy && mdplay.players.isPerson(mdplay.line.doc.player)", 120
        )

    def play_out(self, choose, check=None, most=120):
        """Play until the end: ``choose(table)`` makes a person's move; ``check(table)`` looks before each."""
        for _ in range(most):
            self.my_turn()
            if self.over:
                return self
            self.settled()
            if check is not None:
                check(self)
            before = self.ply
            choose(self)
            self.until(f"mdplay.line.at > {before}")
        raise AssertionError(f"the game does not end: {self.moves}")
