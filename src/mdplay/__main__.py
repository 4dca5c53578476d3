"""``python -m mdplay`` is the command line."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:  # the working folder comes first: a numpy.py in it would be taken for numpy
        sys.path.append(sys.path.pop(0))
    from mdplay.cli import main

    main()
