"""The pocket cube: its rules."""

from mdplay.games.pocket_cube.rules import PocketCube

__all__ = ["PocketCube"]
