import pytest

from tests.helpers import python

PROGRAM = """
import hashlib
from mdplay.learning.training import Course, Settings, learn
from mdplay.learning.player import Player

for settings in (
    Settings(method="{method}", rows=2, cols=3, network="0123,14", seed=5, decay={decay}),
    Settings(method="{method}", network="012,0124,5", seed=5, alpha=0.2, decay={decay}),
):
    course = learn(Course.begin(settings), 3)
    bits = course.network.weights.tobytes() + course.coherence.tobytes() + course.moves.tobytes()
    print(course.scores.tolist(), hashlib.sha256(bits).hexdigest())
print(Player(course.network, 2).evaluate(games=1, threads=1).mean if "{method}" == "tc" else "")
"""


@pytest.mark.parametrize(("method", "decay"), [("td", 0.0), ("tc", 0.0), ("td-before", 0.5)])
def test_compiled_and_plain_agree_to_the_last_bit(method, decay, needs_compiler):
    program = PROGRAM.format(method=method, decay=decay)
    assert python("-c", program, NUMBA_DISABLE_JIT="0") == python("-c", program, NUMBA_DISABLE_JIT="1")
