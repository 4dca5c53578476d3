"""One thread for all contenders: numpy's linear algebra would start more, which wait for each other by spinning.

The libraries read the environment when they are loaded, so this comes before numpy, and imports nothing of it.
"""

import os
import sys

LIBRARIES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def one_thread() -> bool:
    """Let linear algebra use one thread unless the environment says otherwise; return whether it came in time."""
    if "numpy" in sys.modules:
        return False
    for name in LIBRARIES:
        os.environ.setdefault(name, "1")
    return True
