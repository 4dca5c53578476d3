"""Run the campaign from the command line."""

import argparse
import sys

from tests.hardening.campaign import PARTS, run_campaign

parser = argparse.ArgumentParser(prog="python -m tests.hardening", description="Attack the package.")
parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART", help=", ".join(PARTS))
parser.add_argument("--small", action="store_true", help="as much as the tests do")
parser.add_argument("--count", type=int, help="how many things each part tries")
parser.add_argument("--seed", type=int, default=0)
given = parser.parse_args()
findings = run_campaign(given.parts or list(PARTS), small=given.small, seed=given.seed, count=given.count)
sys.exit(1 if findings else 0)
