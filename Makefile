# make run    the tour: install into .venv and play
# make test   everything that must hold for every change
PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test test-slow format docs clean

run: .venv/run
	$(BIN)/mdplay games

test: .venv/test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -m "not slow"

test-slow: .venv/test
	$(BIN)/pytest

format: .venv/test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv site .cache

# A stamp per extra: installing again only when pyproject.toml has changed.
.venv/run: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[plot]"
	touch $@

.venv/test: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[test]"
	touch $@
