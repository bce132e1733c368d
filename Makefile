# The two commands of the README are `make run` and `make test`; every target is idempotent.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
PYTHON ?= python3
BIN := .venv/bin
CORES ?= 2
AGENT := .venv/share/trysquare/agent
AXE := .venv/share/trysquare/axe
# The agent runs on the system's Node when that is new enough, else on one from PyPI.
NEW_NODE := $(shell node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 22 || (a == 22 && b >= 19) ? 0 : 1)' 2>/dev/null && echo yes)
EXTRA := $(if $(NEW_NODE),,agent)
DEV := dev slurm $(EXTRA)
SPACE := $(subst ,, )
COMMA := ,

.PHONY: run demo test check docs bench bench-scale clean

run: $(BIN)/.ready $(AGENT)/.ready demo
	@$(BIN)/snakemake --cores $(CORES) run

demo: $(BIN)/.ready
	@$(BIN)/python examples/demo/build.py

test: $(BIN)/.dev $(AGENT)/.ready $(AXE)/.ready demo
	@$(BIN)/pytest -n $(CORES) --dist loadfile

check: $(BIN)/.dev demo
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint
	$(BIN)/mypy
	$(MAKE) docs

docs: $(BIN)/.dev
	$(BIN)/sphinx-build -W --keep-going -q -b html docs site

bench: $(BIN)/.dev $(AGENT)/.ready demo
	@$(BIN)/python benchmarks/verdict.py
	@$(BIN)/python benchmarks/run.py

bench-scale: $(BIN)/.dev demo
	@$(BIN)/python benchmarks/scale.py $(SCALE)

clean:
	rm -rf .venv .snakemake site dist examples/demo/repository

$(BIN)/.ready: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "installing trysquare into .venv (a minute, once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$(EXTRA)]'
	@touch $@

$(BIN)/.dev: $(BIN)/.ready
	@echo "installing the test and check tools (once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$(subst $(SPACE),$(COMMA),$(strip $(DEV)))]'
	@touch $@

$(AGENT)/.ready: envs/agent/package.json envs/agent/package-lock.json $(BIN)/.ready
	@echo "installing the agent pinned in envs/agent (ten seconds, once)"
	@mkdir -p $(AGENT)
	@cp envs/agent/package.json envs/agent/package-lock.json $(AGENT)/
	@cd $(AGENT) && npm ci --no-audit --no-fund --loglevel=error >/dev/null
	@touch $@

$(AXE)/.ready: tests/browser/package.json tests/browser/package-lock.json $(BIN)/.ready
	@mkdir -p $(AXE)
	@cp tests/browser/package.json tests/browser/package-lock.json $(AXE)/
	@cd $(AXE) && npm ci --no-audit --no-fund --loglevel=error >/dev/null
	@touch $@
