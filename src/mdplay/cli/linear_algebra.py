"""One thread for numpy's linear algebra: more of them wait for each other by spinning.

Where other programs use the cores, 100 equations then take 0.2 seconds instead of a tenth of a millisecond.  The
libraries read the environment when they are loaded, so this comes before numpy, and imports nothing of it.
"""

import os
import sys
from collections.abc import Sequence

LIBRARIES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
ALL_CONTENDERS = (*LIBRARIES, "OMP_NUM_THREADS")  # for benchmarks: other libraries use OpenMP for themselves


def one_thread(names: Sequence[str] = LIBRARIES) -> bool:
    """Let linear algebra use one thread unless the environment says otherwise; return whether it came in time."""
    if "numpy" in sys.modules:
        return False
    for name in names:
        os.environ.setdefault(name, "1")
    return True
