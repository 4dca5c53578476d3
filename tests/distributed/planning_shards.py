"""A shard that workers can import and that dies at its work."""

import os
import signal

from mdplay.distributed.planning_local import LocalShard


class Mortal(LocalShard):
    """Shard 1 dies in each of three steps of a stage, once."""

    def __init__(self, number, shards):
        super().__init__(number, shards)
        self._folder = shards.folder

    def back_up(self, stage, parcels):
        self._die_once("back_up")
        return super().back_up(stage, parcels)

    def search(self, stage, alpha, omega, beta):
        self._die_once("search")
        return super().search(stage, alpha, omega, beta)

    def shorten(self, stage, alpha):
        self._die_once("shorten")
        return super().shorten(stage, alpha)

    def _die_once(self, step):
        mark = self._folder / f"{self._number}.{step}"
        if self._number == 1 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
