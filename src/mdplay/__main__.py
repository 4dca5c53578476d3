"""``python -m mdplay`` is the command line."""

from mdplay.cli import main

main()
