# Two commands for a newcomer: `make demo` and `make test`. Each sets itself up first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# threads that spin for long while they wait slow everything beside them down
export GOMP_SPINCOUNT ?= 1000

.PHONY: demo test test-all bench lint clean

demo: $(VENV)/.run
	$(BIN)/regard demo

test: $(VENV)/.dev lint
	$(BIN)/python -m pytest -n auto -m "not slow"

test-all: $(VENV)/.dev lint
	$(BIN)/python -m pytest -n auto

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/bucketing.py --save

# pinned versions first, then the package itself without looking for anything more
$(VENV)/.run: requirements/run.txt pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/run.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/dev.txt
	touch $@

clean:
	rm -rf $(VENV) demo runs build dist .pytest_cache .mypy_cache .ruff_cache
