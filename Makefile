# Everything runs inside .venv, which is made on first use and rebuilt only when its inputs change.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
CORE   := CMakeLists.txt pyproject.toml $(wildcard cpp/*.cpp cpp/*.h)
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
TABLES := docs/_generated
# Build tools live in the environment, so that rebuilding the core is incremental.
INSTALL = $(PIP) install --no-build-isolation --editable

.PHONY: demo test lint format docs bench bench-docs bench-instructions clean help

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

$(VENV)/.tools:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install "scikit-build-core>=0.11" "nanobind>=2.4" "cmake>=3.20" ninja
	@touch $@

$(VENV)/.core: $(VENV)/.tools $(CORE)
	$(INSTALL) ".[plot]"
	@touch $@

$(VENV)/.test: $(VENV)/.core
	$(INSTALL) ".[test]"
	@touch $@

$(VENV)/.lint: $(VENV)/.test
	$(INSTALL) ".[lint]"
	@touch $@

$(VENV)/.docs: $(VENV)/.test
	$(INSTALL) ".[docs]"
	@touch $@

demo: $(VENV)/.core  ## cluster a real data set under constraints, print a table, write a picture
	$(BIN)/kempe demo

test: $(VENV)/.test  ## run all tests
	$(BIN)/python -m pytest -n auto $(ARGS)

lint: $(VENV)/.lint  ## ruff, mypy, clang-format, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror cpp/*.cpp cpp/*.h
	$(BIN)/lint-imports

format: $(VENV)/.lint  ## let ruff and clang-format rewrite the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i cpp/*.cpp cpp/*.h

docs: $(VENV)/.docs  ## build the documentation into docs/_build/html
	$(BIN)/python -m sphinx -W -b html docs docs/_build/html

bench: $(VENV)/.test  ## compare kempe, KSKM and unconstrained k-means (a few minutes)
	$(BIN)/python benchmarks/compare.py $(ARGS)

bench-docs: $(VENV)/.test  ## measure every table of the documentation (wants a quiet machine)
	$(BIN)/python benchmarks/compare.py --out $(TABLES)/compare.md
	$(BIN)/python benchmarks/large.py unconstrained --out $(TABLES)/unconstrained.md
	$(BIN)/python benchmarks/large.py growth --out $(TABLES)/growth.md
	$(BIN)/python benchmarks/large.py collection4 --out $(TABLES)/collection4.md
	$(BIN)/python benchmarks/large.py memory --synthetic --out $(TABLES)/memory.md
	$(BIN)/python benchmarks/rivals.py --out $(TABLES)/rivals.md

bench-instructions: $(VENV)/.test  ## count instructions of the kernels, compare with the stored ones
	$(BIN)/python benchmarks/instructions.py $(ARGS)

clean:  ## remove the environment and everything built
	rm -rf $(VENV) build dist docs/_build
