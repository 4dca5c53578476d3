"""A whole engine for any game, in plain Python: it plays a legal move at random.

mdplay match connect-four "engine:python random_bot.py" random
"""

import json
import random
import sys


def answer(line: dict) -> dict | None:
    """Return the answer to a line of the player."""
    global legal
    match line["type"]:
        case "hello":
            return {"type": "hello", "protocol": 1, "name": "random bot"}
        case "new":
            random.seed(line["seed"])
            return {"type": "ready"}
        case "position":
            legal = line["legal"]
            return {"type": "ready"}
        case "go":
            return {"type": "bestmove", "move": random.choice(legal)}
    return None


legal: list[str] = []
for text in sys.stdin:
    message = json.loads(text)
    if message["type"] == "quit":
        break
    if reply := answer(message):
        print(json.dumps(reply), flush=True)
