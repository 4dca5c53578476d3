"""Who may import whom: the order of the rooms, over the syntax tree, strings that name modules included."""

import importlib.util
from textwrap import indent

from tests.helpers import ROOT

spec = importlib.util.spec_from_file_location("imports", ROOT / "tools" / "imports.py")
imports = importlib.util.module_from_spec(spec)
spec.loader.exec_module(imports)


def test_no_import_goes_against_the_order():
    assert imports.against_the_order(imports.graph()) == []


def test_applications_import_public_names_from_the_package():
    assert imports.past_the_door() == []


def test_no_modules_import_each_other():
    assert imports.cycles(imports.graph(strings=False)) == []


def test_contributing_shows_the_graph_as_it_is():
    picture = imports.picture(imports.rooms(imports.graph()))
    assert indent(picture, "    ") in (ROOT / "CONTRIBUTING.md").read_text()


def test_an_import_against_the_order_is_found():
    graph = {"mdplay.bits": {"mdplay.solving.proof.prover"}, "mdplay.solving.proof.prover": {"mdplay.bits"}}
    assert imports.against_the_order(graph) == ["mdplay.bits -> mdplay.solving.proof.prover"]
    assert imports.cycles(graph) == [["mdplay.bits", "mdplay.solving.proof.prover"]]


def test_a_string_that_names_a_module_counts():
    import ast

    known = imports.modules()
    tree = ast.parse('PLAYER = "mdplay.solving.proof.prover:Prover"')
    assert list(imports._mentioned(tree, known)) == ["mdplay.solving.proof.prover"]
