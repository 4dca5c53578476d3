"""Network files: our own, and those of TDL2048 and its demonstration program.

Our own is a ``mdplay.store`` file of kind ``network``: the array ``weights`` in the order of ``Patterns`` (the
number LAYOUT names that order), the board and the patterns, and whatever the course of learning adds.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mdplay.errors import FormatError, MdplayError
from mdplay.learning.network import Network
from mdplay.learning.patterns import Patterns, parse_patterns
from mdplay.store import load, save

KIND = "network"
LAYOUT = 1


def save_network(
    path: str | Path, network: Network, arrays: Mapping[str, NDArray[Any]] | None = None, meta: Any = None
) -> None:
    """Write a network, with further arrays and words of its owner."""
    patterns = network.patterns
    words = {"layout": LAYOUT, "rows": patterns.rows, "cols": patterns.cols, "patterns": patterns.text}
    save(path, {"weights": network.weights, **(arrays or {})}, kind=KIND, meta={**(meta or {}), **words})


def load_network(path: str | Path) -> tuple[Network, dict[str, NDArray[Any]], dict[str, Any]]:
    """Read a network, its owner's arrays and words.  The weights are a read-only view of the mapped file."""
    stored = load(path, kind=KIND)
    patterns = _patterns_of(path, stored.meta)
    weights = stored.arrays.get("weights")
    if weights is None or weights.dtype != np.float32 or weights.shape != (patterns.num_entries,):
        raise FormatError(f"{path} is damaged: its weights are not those of its patterns")
    return Network(patterns, weights), stored.arrays, stored.meta


def _patterns_of(path: str | Path, meta: dict[str, Any]) -> Patterns:
    if meta.get("layout") != LAYOUT:
        raise FormatError(f"{path} has layout {meta.get('layout')}; this version of mdplay reads layout {LAYOUT}")
    try:
        return parse_patterns(meta["patterns"], meta["rows"], meta["cols"])
    except (KeyError, TypeError, AttributeError, MdplayError) as error:
        raise FormatError(f"{path} is damaged: its patterns cannot be read ({error})") from None
