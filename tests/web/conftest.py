import pytest
from starlette.testclient import TestClient

from mdplay.web.app import make_app
from mdplay.web.games.catalogue import Catalogue
from mdplay.web.service import Service
from tests.helpers import NIM, write

BASE = "http://127.0.0.1:8765"


@pytest.fixture(scope="session")
def own_game(tmp_path_factory):
    """A user's game in a file, with texts and a picture that try to act."""
    return write(tmp_path_factory.mktemp("own"), "nasty_nim.py", NASTY)


NASTY = (
    NIM.replace("class Nim(", "class Nasty(").replace("pile: int = 21", "pile: int = 7")
    + """
    def move_text(self, s: State, action: int) -> str:
        return f"{action + 1}<script>alert({action})</script>"

    def board(self, s: State) -> str:
        return f"</text><script>alert('{s.pile}')</script>"

    def svg(self, s: State) -> str:
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" width="9" height="9" onload="alert(1)">'
            "<script>alert(2)</script><style>* { color: red }</style>"
            '<a href="javascript:alert(3)"><text x="1" y="2">x</text></a>'
            '<rect width="5" height="5" style="fill: url(http://x.example/a)" fill="url(http://x.example/b)"/>'
            '<image href="http://x.example/c.png"/><foreignObject><b onclick="alert(4)">b</b></foreignObject>'
            '<g class="move" data-action="0" onclick="alert(5)"><title>take one</title>'
            f'<circle r="{s.pile}"/></g></svg>'
        )
"""
)


@pytest.fixture(scope="session")
def app(own_game):
    return make_app(Service(Catalogue([f"{own_game}:Nasty"])))


@pytest.fixture(scope="session")
def client(app):
    with TestClient(app, base_url=BASE) as opened:
        yield opened
