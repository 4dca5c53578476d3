from mdplay.lab.reproduction.steps import BETTER, DIFFERS, EQUAL, better, differs, equal, small, table, tally


def test_a_mark_is_what_the_comparison_said():
    assert equal("a", "b", "c", True).mark == EQUAL
    assert equal("a", "b", "c", False).mark == DIFFERS
    assert better("a", "b", "c", True, "why").mark == BETTER
    assert better("a", "b", "c", False, "why").mark == DIFFERS
    assert differs("a", "b", "c", "why").mark == DIFFERS


def test_the_table_tells_why():
    claims = [equal("says", "here", "how", True), differs("says", "here", "how", "a slip")]
    assert table(claims).rows == [["says", "here", "how", "equal"], ["says", "here", "how", "differs: a slip"]]
    assert tally(claims) == "1 equal, 1 differs"


def test_small_differences():
    assert (small(0.0), small(8.9e-16)) == ("0", "9e-16")
