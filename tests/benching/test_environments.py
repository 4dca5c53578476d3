from mdplay.benching.environments import VECTOR, group
from mdplay.benching.measuring import OURS, measure


def test_every_contender_makes_its_moves():
    found = measure(group(True), VECTOR, 1)
    assert len(found) >= 5 and found[0].contender == OURS  # pgx is there where it is installed
    assert all(m.agrees for m in found)
