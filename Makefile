# make train   from nothing to a trained agent and a report (does its own set-up)
# make test    the fast tests                              (does its own set-up)
# make lint    ruff, formatter check, types
# make setup   the virtual environment .venv and the compiled engine, made anew only when pyproject.toml or constraints.txt change

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.mcrl-setup

# Where it is set, every start of a process compiles our sources anew, 0.5 s of a core, and tests start hundreds.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup train test lint format clean

help:
	@sed -n 's/^# make/make/p' Makefile

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] < (3, 14))' || \
		{ echo "make setup: Python 3.10 to 3.13 is needed, '$(PYTHON)' is another; name one with 'make setup PYTHON=python3.11'" >&2; exit 2; }
	@$(PYTHON) -m venv --help >/dev/null 2>&1 && $(PYTHON) -c 'import ensurepip' 2>/dev/null || \
		{ echo "make setup: this Python has no venv module; install it with 'apt-get install python3-venv'" >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "make setup: installing into $(VENV); some minutes, most of them for torch"
	$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off -q -c constraints.txt -e '.[dev]'
	@$(BIN)/python -c 'import cv2' 2>/dev/null || \
		echo "make setup: opencv cannot be imported, so reports will have no videos; install its system libraries with 'apt-get install libgl1 libglib2.0-0'" >&2
	@$(BIN)/mcrl compile || echo "make setup: the engine was not compiled, see above; it will be at its first use" >&2
	@touch $@

train: setup
	$(BIN)/mcrl train laptop

test: setup
	$(BIN)/python -m pytest -m "not slow and not ray" -n logical --maxprocesses 4 --dist loadfile

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
