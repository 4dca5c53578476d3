from mdplay.lab.benchmarks.games import group
from mdplay.lab.benchmarks.measuring import OURS, measure


def test_every_contender_makes_its_moves():
    measured = group(True)
    found = measure(measured, measured.sizes[0], 1)
    assert len(found) >= 5 and found[0].contender == OURS  # pgx is there where it is installed
    assert all(m.agrees for m in found)
