# make run         install into .venv and reproduce the five systems, quickly
# make test        everything that must hold for every change
# make test-fast ROOM=solving   the tests of one folder
# make test-slow   what is too long for every change
# make screenshots   pictures of every page, for the documentation
# make dist        sdist and wheel, checked, and the wheel tried in an empty environment
# make harden      the campaign against the package at full size: hours
PYTHON ?= python3
BIN := .venv/bin
# not .cache: building the docs empties that
export MDPLAY_CACHE ?= $(CURDIR)/.kernels
# a file stays in one process, and the order is that of tests/conftest.py
WORKERS ?= 2
SIDE_BY_SIDE := -n $(WORKERS) --dist loadfile --no-loadscope-reorder
# the slowest tests are printed at the end
SLOWEST := --durations=20 --durations-min=5
# tests that run with every access of the kernels checked for each change; test-slow runs all of them so
CHECKED := tests/solving/test_indexed.py tests/states/test_keys.py tests/games/qubic/test_threats.py \
	tests/searching/test_depth_limited.py

.PHONY: run test test-fast test-slow dist harden screenshots format docs clean

run: .venv/run
	$(BIN)/mdplay reproduce --quick
	@echo "Try next:"
	@echo "  $(BIN)/mdplay serve --open"
	@echo "  $(BIN)/mdplay play connect-four"
	@echo "  $(BIN)/mdplay solve dots-and-boxes --position 0x145"
	@echo "  $(BIN)/mdplay new my_game.py"

test: .venv/test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest $(SIDE_BY_SIDE) $(SLOWEST) -m "not slow"
	MDPLAY_BOUNDS=1 $(BIN)/pytest $(SIDE_BY_SIDE) -m "not slow" tests/compiling/numba/test_memory.py $(CHECKED)
	$(MAKE) docs

# the browser and the cluster are left out
test-fast: .venv/test
	$(BIN)/pytest $(SIDE_BY_SIDE) -m "not slow" -x tests/$(ROOM) --ignore=tests/web/static --ignore=tests/distributed

test-slow: .venv/test
	$(BIN)/pytest -m slow
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest $(SIDE_BY_SIDE) -m "not slow" tests/compiling tests/searching tests/solving \
		tests/cli/test_verbs.py
	MDPLAY_BOUNDS=1 $(BIN)/pytest $(SIDE_BY_SIDE) -m "not slow"

dist: .venv/test
	rm -rf dist
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[dist]"
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*
	$(BIN)/python tools/try_wheel.py

harden: .venv/test
	$(BIN)/python -m tests.hardening

screenshots: .venv/test
	$(BIN)/python tools/screenshots.py

docs: .venv/test
	$(BIN)/zensical build --clean

format: .venv/test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv .cache .kernels site reproduction

# One stamp per set of extras: installed again only when pyproject.toml changes.
.venv/run: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[plot,web]"
	touch $@

.venv/test: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[test]"
	touch $@
