import pytest

from mdplay.learning.network import Network
from tests.helpers import python

PROGRAM = """
import hashlib
from mdplay.games.twenty48.training import TilesTraining, TrainingSettings

for settings in (
    TrainingSettings(network="0123,0145,12", seed=5),
    TrainingSettings(method="tc", network="0123,0145,12", seed=5),
    TrainingSettings(method="td-before", rows=2, cols=3, network="0123,14", seed=5, decay=0.5),
):
    training = TilesTraining.begin(settings)
    training.run(3, 1, 3)
    bits = training.network.weights.tobytes() + training.coherence.tobytes() + training.moves.tobytes()
    print(training.scores.tolist(), hashlib.sha256(bits).hexdigest())
"""


def test_compiled_and_plain_agree_to_the_last_bit(needs_compiler):
    compiled, plain = (python("-c", PROGRAM, NUMBA_DISABLE_JIT=off) for off in ("0", "1"))
    assert compiled == plain
    assert len(compiled.splitlines()) == 3


def test_a_cached_kernel_gives_the_same_bits(needs_compiler):
    assert python("-c", PROGRAM) == python("-c", PROGRAM)


@pytest.mark.slow
def test_vector_and_scalar_learn_the_same_bits():
    """Ten thousand moves on the real network."""
    from mdplay.games.twenty48.training import TilesTraining, TrainingSettings

    vector, scalar = TilesTraining.begin(TrainingSettings(seed=1)), TilesTraining.begin(TrainingSettings(seed=1))
    scalar.network = Network.of(scalar.network.board, scalar.network.tuples, scalar.network.weights, vector=False)
    for training in (vector, scalar):
        training.run(100, 1, 100)
    assert (vector.network.weights == scalar.network.weights).all()
    assert (vector.scores == scalar.scores).all()
