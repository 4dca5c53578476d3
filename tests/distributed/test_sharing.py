import subprocess
import sys

import numpy as np
import pytest

from mdplay.distributed.processes import put, seen


def test_a_value_is_read_as_it_was_written_and_not_changed():
    value = {"a": np.arange(5, dtype=np.uint16), "b": [np.eye(3), "text"], "c": np.zeros(0)}
    shared, memory = put(value)
    try:
        found = seen(shared)
        assert str(found) == str(value)
        with pytest.raises(ValueError, match="read-only"):
            found["a"][0] = 1
        assert all(begin % 64 == 0 for begin, _ in shared.spans)
        assert seen(shared) is found
    finally:
        memory.unlink()


def test_arrays_in_use_at_the_end_of_a_process_are_no_complaint():
    code = """
import sys
from mdplay.distributed.processes import put, seen
import numpy as np
shared, memory = put(np.arange(1000))
sys.kept = seen(shared)
memory.unlink()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
