from mdplay.grid import cell_images, render


def test_identity_comes_first():
    assert cell_images(2, 3)[0] == tuple(range(6))
    assert len(cell_images(2, 3)) == 4


def test_columns_are_of_equal_width():
    assert render(["1", "16", ".", "2"], 2) == " 1 16\n .  2"
