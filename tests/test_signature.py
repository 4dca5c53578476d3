"""The signature: equal to the file, compiled, plain, and plain first."""

import pytest

from tests.helpers import ROOT, python

PROGRAM = ROOT / "benchmarks" / "signature.py"


WAYS = {
    "compiled": {"NUMBA_DISABLE_JIT": "0", "MDPLAY_PLAIN_SECONDS": "0"},
    "plain": {"NUMBA_DISABLE_JIT": "1"},
    "plain first": {"NUMBA_DISABLE_JIT": "0", "MDPLAY_PLAIN_SECONDS": "1000"},
}


@pytest.mark.parametrize("way", WAYS)
def test_the_signature_is_unchanged(way):
    python(PROGRAM, **WAYS[way])  # exit code 1 where a count differs
