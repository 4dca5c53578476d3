"""Check that the version, the changelog and the citation agree before a release is tagged.

python tools/release.py v0.2.0
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def faults(root: Path, tag: str) -> list[str]:
    """Return one sentence for each file below ``root`` that does not describe the release ``tag``."""
    version = tag.removeprefix("v")
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    found = []
    if project != version:
        found.append(f"pyproject.toml has version {project}")
    if f'__version__ = "{version}"\n' not in (root / "src/mdplay/__init__.py").read_text():
        found.append("src/mdplay/__init__.py has another __version__")
    if not re.search(rf"^version: {re.escape(version)}$", (root / "CITATION.cff").read_text(), re.M):
        found.append("CITATION.cff has another version")
    changes = (root / "CHANGELOG.md").read_text()
    if not re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", changes, re.M):
        found.append(f'CHANGELOG.md has no section "## [{version}] - YYYY-MM-DD"')
    return found


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/release.py TAG")
    found = faults(ROOT, sys.argv[1])
    print("\n".join(found) or f"{sys.argv[1]} can be tagged")
    sys.exit(bool(found))
