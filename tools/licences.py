"""Print the licences of all packages that mdplay needs, directly or not, as the table of docs/licences.md.

python tools/licences.py [EXTRA...]      e.g. plot web; without one, what ``pip install mdplay`` brings
"""

from __future__ import annotations

import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def needed(name: str, extras: set[str], found: dict[str, Distribution]) -> None:
    """Add a package and all that it needs on this machine to what was found."""
    known = canonicalize_name(name) in found
    try:
        package = found.setdefault(canonicalize_name(name), distribution(name))
    except PackageNotFoundError:
        print(f"{name} is not installed", file=sys.stderr)
        return
    if known and not extras:
        return
    for line in package.requires or []:
        one = Requirement(line)
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in extras or {""}):
            needed(one.name, one.extras, found)


def licence(package: Distribution) -> str:
    """Return the licence of a package in a few words, from whichever field of its metadata tells."""
    facts = package.metadata
    kinds = [line.split(" :: ")[-1] for line in facts.get_all("Classifier") or [] if line.startswith("License ::")]
    kinds = [kind for kind in kinds if kind != "OSI Approved"]
    lines = (facts.get("License") or "").strip().splitlines()
    return (
        facts.get("License-Expression")
        or (lines[0] if len(lines) == 1 and lines[0] != "UNKNOWN" else "")
        or ", ".join(kinds)
        or "see the package"
    )


def main() -> None:
    """Print the table for the extras named on the command line."""
    found: dict[str, Distribution] = {}
    needed("mdplay", {"", *sys.argv[1:]}, found)
    del found["mdplay"]
    print("| package | licence |\n|---|---|")
    for _, package in sorted(found.items()):
        print(f"| {package.metadata['Name']} | {licence(package)} |")


if __name__ == "__main__":
    main()
