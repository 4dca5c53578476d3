import pytest

from mdplay.distributed import open_executor


@pytest.fixture(scope="session")
def on_ray():
    """Ray on this machine, started once."""
    with open_executor("ray", 2) as opened:
        yield opened
