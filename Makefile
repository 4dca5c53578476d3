# make run         install into .venv and reproduce the five systems, quickly
# make test        everything that must hold for every change
# make test-slow   what is too long for every change
PYTHON ?= python3
BIN := .venv/bin
export MDPLAY_CACHE ?= $(CURDIR)/.cache

.PHONY: run test test-slow format docs clean

run: .venv/run
	$(BIN)/mdplay reproduce --quick
	@echo "Try next:"
	@echo "  $(BIN)/mdplay play connect-four"
	@echo "  $(BIN)/mdplay solve dots-and-boxes --position 0x145"
	@echo "  $(BIN)/mdplay new my_game.py"

test: .venv/test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -m "not slow"
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -m "not slow" tests/bridge tests/searching tests/solving
	$(MAKE) docs

test-slow: .venv/test
	$(BIN)/pytest -m slow

docs: .venv/test
	$(BIN)/zensical build --clean

format: .venv/test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv .cache site reproduction

# One stamp per set of extras: installed again only when pyproject.toml changes.
.venv/run: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[plot]"
	touch $@

.venv/test: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[test]"
	touch $@
