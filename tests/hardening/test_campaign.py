"""A small version of each part of the campaign; ``make harden`` runs the full one."""

import pytest

from tests.hardening.campaign import PARTS, Tally, row, run_part


@pytest.mark.parametrize("name", PARTS)
def test_the_small_campaign_finds_nothing(name, needs_compiler):
    tally = run_part(name, small=True)
    assert tally.findings == []
    assert tally.tried > 0


def test_a_tally_counts_what_was_tried_and_found(monkeypatch):
    from tests.hardening.campaign import Part

    monkeypatch.setitem(PARTS, "trial", Part("numbers", 3, 1))
    tally = Tally()
    tally.ended("answered")
    tally.found("2 + 2 = 5")
    assert (tally.tried, tally.findings) == (2, ["2 + 2 = 5"])
    assert row("trial", tally, 1.2) == "| trial | numbers | 2 | 1 answered, 1 found | 1 | 1 s |"
