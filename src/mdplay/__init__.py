"""Write a game once, in plain Python; solve it, search it, learn it, play it, at the speed of C++."""

from __future__ import annotations

__version__ = "0.1.0"
