"""The signature: equal to the file, compiled and plain."""

import pytest

from tests.helpers import ROOT, python

PROGRAM = ROOT / "benchmarks" / "signature.py"


@pytest.mark.parametrize("disable", ["0", "1"], ids=["compiled", "plain"])
def test_the_signature_is_unchanged(disable):
    python(PROGRAM, NUMBA_DISABLE_JIT=disable)  # exit code 1 where a count differs
