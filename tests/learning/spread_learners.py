"""A learner that workers can import and that dies at its work."""

import os
import signal
import tempfile
from pathlib import Path

from mdplay.distributed.training import SliceLearner


class Mortal(SliceLearner):
    """Worker 1 dies in its third round, once for each seed."""

    def __init__(self, number, workers, begin, recipe, settings):
        super().__init__(number, workers, begin, recipe, settings)
        self._mark = Path(tempfile.gettempdir()) / f"mortal-learner-{settings.seed}"

    def learn(self, rounds, last, first, episodes, planned):
        if self._number == 1 and rounds == 2 and not self._mark.exists():
            self._mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().learn(rounds, last, first, episodes, planned)
