"""The games of the package, a folder each: ``rules.py``, and beside it what only this game knows."""
