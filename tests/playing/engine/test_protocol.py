import io
import json

import pytest

from mdplay.errors import FormatError
from mdplay.playing.engine.protocol import FIELDS, MAX_LINE, lines_of, read_command, schema, written


def test_lines_are_read_as_they_come_and_within_bounds():
    long = b"x" * (3 * MAX_LINE)
    found = list(lines_of(io.BytesIO(b"one\n" + long + b"\ntwo\nlast")))
    assert [line for line in found if len(line) < 10] == [b"one", b"two", b"last"]
    assert [len(line) > MAX_LINE for line in found] == [False, True, False, False]


@pytest.mark.parametrize(
    "line, words",
    [
        (b"", "'' is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[1]", "an object with a type"),
        (b'{"type": 3}', "an object with a type"),
        (b'{"type": "fly"}', "no command 'fly'; choose from hello, new, position, go, stop, quit"),
        (b'{"type": "go", "seconds": "3"}', "go: the field seconds is of the wrong type"),
        (b'{"type": "go", "depth": true}', "go: the field depth is of the wrong type"),
        (b'{"type": "go", "seconds": 1e999}', "go: seconds must be more than 0 and at most 1e.09"),
        (b'{"type": "go", "seconds": NaN}', "go: seconds must be more than 0"),
        (b'{"type": "new", "seed": 1.5}', "new: the field seed is of the wrong type"),
        (b" " * (MAX_LINE + 1), "more than 1,048,576 bytes"),
    ],
)
def test_a_bad_line_is_one_sentence(line, words):
    with pytest.raises(FormatError, match=words):
        read_command(line)


def test_other_fields_are_let_be():
    message = {"type": "go", "seconds": 2, "ponder": [1]}
    assert read_command(written(message)) == message


def test_the_schema_has_every_command_and_its_fields():
    known = schema()["$defs"]
    for kind, fields in FIELDS.items():
        assert set(fields) <= set(known[f"player-{kind}"]["properties"])
    assert json.dumps(known["player"]).count("$ref") == len(FIELDS)
