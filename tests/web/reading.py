"""What tests read of a stream."""

import json


def events(text):
    """Return the events of a stream as (name, data)."""
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if line and not line.startswith(":"))
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


def told(text, name):
    """Return the data of all events of a name."""
    return [data for event, data in events(text) if event == name]


def moves(text):
    """Return the newest value of every move, by action."""
    return {data["action"]: data for data in told(text, "move")}
