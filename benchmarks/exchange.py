"""The traffic of planning in shards, counted in a run, beside the cost model of docs/scaling-measurements.md.

    python benchmarks/exchange.py [STATES] [SHARDS]

The shards are in this process; what each would receive from the others is counted, byte by byte.  The model: a round
brings every shard the values of all states that are not its own, 4 bytes each in single precision, 8 in doubles.
"""

from __future__ import annotations

import sys
from typing import Any

from tests.distributed.test_planning import garnet

from mdplay.distributed.executor import Serial, SerialActors
from mdplay.distributed.planning import plan_sharded


class Counting(SerialActors):
    """Actors that count what they would receive from each other."""

    received, values = 0, 0

    def exchange(self, method: str, *arguments: Any) -> tuple[Any, list[Any]]:
        slices = arguments[0]
        if slices is not None:
            for own in range(len(slices)):
                Counting.received += sum(one.nbytes for number, one in enumerate(slices) if number != own)
            Counting.values += slices[0].itemsize
        return super().exchange(method, *arguments)


class CountingEngine(Serial):
    """An engine whose actors count."""

    def actors(self, make: Any, count: int, *arguments: Any) -> Counting:
        return Counting(make, count, arguments)


def main() -> None:
    states, shards = (int(text) for text in (*sys.argv[1:], *("20000", "8")[len(sys.argv) - 1 :]))
    found = plan_sharded(garnet(states, 4, 4, 0.95), CountingEngine(), shards=shards)
    model = Counting.values * states * (shards - 1)
    print(f"{states:,} states, {shards} shards, {found.iterations} rounds: counted {Counting.received:,} bytes")
    print(f"model: bytes a value, summed over the rounds, x states x (shards - 1) = {model:,} bytes")
    if abs(Counting.received - model) > 0.001 * model:
        raise SystemExit("the model is wrong")


if __name__ == "__main__":
    main()
