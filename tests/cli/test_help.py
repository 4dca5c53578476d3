"""Every help page, looked at."""

import pytest

from mdplay.cli.commands import COMMANDS, GROUPS


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_has_help_with_an_example(mdplay, command):
    answer = mdplay(command, "--help")
    assert answer.code == 0
    assert f"mdplay {command}" in answer.out.partition("Example")[2], "no example"


@pytest.mark.parametrize("page", ["", *sorted(COMMANDS), "learn 2048", "learn qubic", "learn tic-tac-toe"])
def test_a_help_page_can_be_read(mdplay, page):
    answer = mdplay(*page.split(), "--help")
    lines = answer.out.splitlines()
    assert answer.code == 0
    assert "\\b" not in answer.out and "\b" not in answer.out
    assert [line for line in lines if len(line) > 100] == []
    examples = [line for line in lines[1:] if "mdplay " in line and not line.startswith("Usage")]
    assert [line for line in examples if line.count("mdplay ") > 1] == [], "an example has a line of its own"
    assert [line for line in lines if "Example" in line and line.strip() not in ("Example:", "Examples:")] == []


def test_the_first_page_groups_the_commands_by_verb(mdplay):
    listed = mdplay("--help").out.partition("\nSolve:\n")[2].splitlines()
    rows = [line.split(maxsplit=1) for line in listed if line.startswith("  ") and line[2] != " "]
    assert list(GROUPS)[:4] == ["Solve", "Search", "Learn", "Play"]
    assert [line for line in listed if line.endswith(":")] == [f"{verb}:" for verb in list(GROUPS)[1:]]
    assert [name for name, _ in rows] == list(COMMANDS)
    assert all(COMMANDS[name].startswith(line) for name, line in rows)
