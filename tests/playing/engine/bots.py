"""Engines that behave, and engines that do not: ``bots.py KIND``; plain Python, no mdplay."""

import json
import os
import random
import signal
import subprocess
import sys
import time


def say(**message):
    print(json.dumps(message), flush=True)


def misbehave(kind, legal):
    """Do what the kind is called after, in place of a move."""
    if kind == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif kind == "stopped":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif kind == "flooding":
        while True:
            say(type="info", value=0.0)
    elif kind == "endless":
        while True:
            sys.stdout.write("x" * 65536)
    elif kind == "illegal":
        say(type="bestmove", move="z9")
    elif kind == "nonsense":
        print("[" * 100_000, flush=True)
    elif kind == "wordless":
        say(type="bestmove", move=None)
    elif kind == "erring":
        say(type="error", message="no idea")
    elif kind == "leaving":
        sys.exit("out of ideas")
    elif kind == "parent":
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        time.sleep(600)


def main(kind):
    legal, moves = [], 0
    for text in sys.stdin:
        line = json.loads(text)
        if line["type"] == "hello":
            say(type="hello", protocol=1, name=kind)
        elif line["type"] == "new":
            random.seed(line["seed"])
            say(type="ready")
        elif line["type"] == "position":
            legal = line["legal"]
            say(type="ready")
        elif line["type"] == "go":
            moves += 1
            if kind != "sound" and moves == 2:
                misbehave(kind, legal)
            else:
                say(type="bestmove", move=random.choice(legal))
        elif line["type"] == "quit":
            return


if __name__ == "__main__":
    main(sys.argv[1])
