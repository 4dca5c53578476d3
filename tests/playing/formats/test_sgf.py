import pytest

from mdplay import FormatError, Record, make, play
from mdplay.playing.formats import SGF, from_the_start, main_lines

OTHELLO = make("othello:side=4")


def test_a_head_as_little_golem_writes_it_and_white_first():
    """The head of a game of Hex there, with moves of Othello; white begins."""
    text = (
        "(;FF[4]EV[hex.ch.23.1.1]PB[Daniel]PW[Maciej]SZ[4]RE[W]GC[ game #1139802]SO[http://www.littlegolem.com]"
        ";W[b1];B[a1];W[resign])"
    )
    (record,) = SGF(OTHELLO).load(text)
    assert (record.agents, record.moves) == (("Maciej", "Daniel"), ("b1", "a1"))
    assert (record.forfeit, record.reason, record.result) == (0, "resigned", -1.0)
    assert dict(record.headers) == {"event": "hex.ch.23.1.1"}


def test_only_the_main_line_is_read_and_the_rest_must_be_whole():
    nodes = list(main_lines("(;FF[4](;B[a](;W[b];B[c])(;W[d]))(;B[e]))(;A[x\\]y\\\\][second])"))
    assert nodes == [[{"FF": "4"}, {"B": "a"}, {"W": "b"}, {"B": "c"}], [{"A": "x]y\\"}]]


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "no game in SGF"),
        ("B[a1]", "outside of a game"),
        ("(;B[b1]", "cut off"),
        ("(;B[b1]))", "more brackets are closed"),
        ("()", "a game without a node"),
        ("(B[b1])", "before the first node"),
        ("(;[b1])", "before the first node"),
        ("(;B[b1];W[zz])", "game 1: move 2: 'zz' is not a legal move"),
        ("(;B[b1];B[a1])", "game 1, move 2: the other player moves here"),
        ("(;B{b1})", "makes no sense \\(character 4\\)"),
        ("(" * 100_000, "cut off"),
    ],
)
def test_a_damaged_text_is_a_sentence(text, words):
    with pytest.raises(FormatError, match=words):
        SGF(OTHELLO).load(text)


def test_the_result_must_come_out():
    record = next(r for seed in range(9) if (r := play(OTHELLO, "random", "random", seed=seed)).result == 1)
    text = SGF(OTHELLO).dump(record)
    assert "RE[B+]" in text
    with pytest.raises(FormatError, match="another result than RE\\[W\\+\\]"):
        SGF(OTHELLO).load(text.replace("RE[B+]", "RE[W+]"))


@pytest.mark.parametrize("told", ["+R", "BW+R", "b+R"])
def test_nobody_loses_by_a_result_that_names_nobody(told):
    (record,) = SGF(OTHELLO).load(f"(;FF[4]RE[{told}])")
    assert (record.result, record.forfeit) == (None, None)


def test_ends_of_all_kinds_come_back():
    whole = play(make("dots-and-boxes"), "random", "random", seed=3)
    start = {"game": whole.game, "agents": ("a]", "b\\"), "events": whole.events[:3]}
    records = [
        whole,
        Record(**start, result=None),
        Record(**start, result=0.0, by_limit=True),
        Record(**start, result=-1.0, forfeit=0, reason="agent a] died"),
        Record(**start, result=1.0, forfeit=1, reason="resigned"),
    ]
    form = SGF(whole.game)
    kept = [form.load(form.dump(record))[0] for record in records]
    for before, after in zip(records, kept, strict=True):
        assert (before.agents, before.events, before.result) == (after.agents, after.events, after.result)
        assert (before.by_limit, before.forfeit, before.reason) == (after.by_limit, after.forfeit, after.reason)


def test_games_that_sgf_cannot_hold():
    with pytest.raises(FormatError, match="two players without chance"):
        SGF(make("2048"))
    with pytest.raises(FormatError, match="which the format sgf cannot hold"):
        from_the_start(Record(OTHELLO, ("a", "b"), (), None, start=OTHELLO.initial()), "sgf")
