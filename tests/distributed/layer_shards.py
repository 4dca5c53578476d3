"""A shard of layers that workers can import and that dies at its work."""

import os
import signal

from mdplay.distributed.layers import Layered


class Mortal(Layered):
    """Shard 1 dies in each of three steps of a layer, once."""

    def ask(self, rounds, layer, done):
        self._die_once("ask", layer == 7)
        return super().ask(rounds, layer, done)

    def answer(self, rounds, layer, parcels):
        self._die_once("answer", layer == 6)
        return super().answer(rounds, layer, parcels)

    def take(self, rounds, layer, done, answers):
        self._die_once("take", layer == 5)
        return super().take(rounds, layer, done, answers)

    def _die_once(self, step, now):
        mark = self._sharding.folder / f"{self._own}.died-{step}"
        if now and self._own == 1 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
