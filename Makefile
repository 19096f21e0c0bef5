# Every command a developer needs.  Each target sets itself up: on a fresh machine
# with Python 3.11, `make demo` is the first and only thing to type.
#
#     make test ARGS='-k T_A39'              one test
#     make test JOBS=0 ARGS='--pdb'          all in one process, with a debugger
#     make test HYPOTHESIS_PROFILE=dev       fewer examples per property
#     make sanitize BUFFERS=5000             fewer mutated buffers
#     make bench BENCH=benchmarks/poset.py   one benchmark
#     make demo SERVE=1                      the demo's brokers stay until Ctrl-C
#     make setup PYTHON=/opt/py/bin/python3  a Python of your choice

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:

# What an activated environment or a PYTHONPATH adds would hide a missing step.
unexport PYTHONPATH PYTHONHOME PYTHONSTARTUP VIRTUAL_ENV MYPYPATH
# Without it, every command that a test starts would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE
unexport PIP_PREFIX PIP_TARGET PIP_USER PIP_CONSTRAINT PIP_REQUIREMENT

VENV := .venv
BIN := $(VENV)/bin
# Holds the folder it was made in: a virtual environment does not survive a move.
READY := $(VENV)/.ready
# Touched when the kernels have been compiled: an editable install would keep the old.
BUILT := $(VENV)/.built
KERNELS := $(shell find src/siena -path "*/kernels/*.py" -o -path "*/kernels/*.pxd")

PYTHON ?=
SERVE ?=
ARGS ?=
BENCH ?= $(filter-out benchmarks/_%,$(sort $(wildcard benchmarks/*.py)))
# Processes in which tests run.  Two are sure to find a core each almost everywhere; one
# more works while others wait for Spark, for processes that start, and for disks.
JOBS ?= 3
# 100 examples per property, the same on every run; `dev` draws 50 new ones.
HYPOTHESIS_PROFILE ?= ci
export HYPOTHESIS_PROFILE

.PHONY: help
help: ## show this list
	@echo 'make <target>, where <target> is one of:'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-12s %s\n", $$1, $$2 }'

.PHONY: setup
setup: $(BUILT) ## make .venv, with the siena command in it

.PHONY: demo
demo: $(BUILT) ## a real day through five brokers and Spark (SERVE=1 leaves the brokers running)
	@$(BIN)/siena demo --output build/demo $(if $(SERVE),--serve)

# What needs no sockets, no processes and no Spark, and the doctests of such rooms.
QUICK := tests/unit tests/conformance tests/fuzz tests/house \
    $(addprefix src/siena/,model lang algebra block matching messages protocol routing sim)
.PHONY: quick
quick: export HYPOTHESIS_PROFILE := quick
quick: JOBS := 2
quick: $(BUILT) ## run the tests that need nothing but themselves (under a minute)
	$(BIN)/pytest -q -n $(JOBS) -m "not slow" $(QUICK) $(ARGS)

.PHONY: test
test: $(BUILT) ## run the everyday tests (some six minutes on two cores)
	$(BIN)/pytest -n $(JOBS) -m "not slow" $(ARGS)

# What only some tests need is installed when all are wanted; what is missing is then a
# failure, Debian's chromium and node as well.  `SIENA_DEMAND=` lets such tests be skipped.
EXTRAS := browser docs deploy
.PHONY: test-papers
test-papers: export PYTEST_TIMEOUT ?= 1200
test-papers: $(BUILT) ## run the tests of all studies, the long ones too (some ten minutes)
	$(BIN)/pytest -n $(JOBS) tests/papers $(ARGS)

.PHONY: test-all
test-all: export PYTEST_TIMEOUT ?= 1200
test-all: export SIENA_DEMAND ?= 1
test-all: $(BUILT) ## run all tests, the slow ones too, with what they need
	@mkdir -p build
	@$(BIN)/python tools/list_extras.py $(EXTRAS) >build/extras.txt
	@install="$(BIN)/python -m pip install -qq --disable-pip-version-check"; \
	    command -v uv >/dev/null 2>&1 && install="uv pip install --quiet --python $(BIN)/python"; \
	    $$install --constraint constraints.txt --requirement build/extras.txt
	@if ! command -v tsc >/dev/null && command -v npm >/dev/null; then \
	    npm install --silent --no-save --prefix build typescript@7.0.2; fi
	PATH="$(CURDIR)/build/node_modules/.bin:$$PATH" $(BIN)/pytest $(ARGS)

.PHONY: test-night
test-night: export HYPOTHESIS_PROFILE := night
test-night: $(BUILT) ## run each property with 20 000 examples (hours)
	$(BIN)/pytest -m hypothesis $(ARGS)

# Five brokers that are killed, frozen, cut off and filled up; it ends by itself.
MINUTES ?= 10
SEED ?= 1
.PHONY: chaos
chaos: $(BUILT) ## hurt a network of real brokers for MINUTES, and judge its promises
	$(BIN)/siena chaos --minutes $(MINUTES) --seed $(SEED) $(ARGS)

# What failed is kept in build/fuzz, and tried first the next time.
SECONDS ?= 60
.PHONY: fuzz
fuzz: $(BUILT) ## mutated frames, texts, JSON, TOML and log files, for SECONDS
	PYTHONPATH=tests/support:tests $(BIN)/python -m fuzz.inputs --seconds $(SECONDS) $(ARGS)
	PYTHONPATH=tests/support:tests $(BIN)/python -m fuzz.blocks --buffers $(BUFFERS)

.PHONY: soak
soak: $(BUILT) ## interests come and go for MINUTES: memory flat, tables empty, nothing leaks
	PYTHONPATH=tests/support:tests $(BIN)/python -m fuzz.soak --minutes $(MINUTES) $(ARGS)

.PHONY: coverage
coverage: $(BUILT) ## run the everyday tests and show the lines they miss
	$(BIN)/coverage run -m pytest -m "not slow" $(ARGS)
	$(BIN)/coverage report

# A second build of the kernels, in a copy of the sources; the usual one stays.  Python
# itself loses some memory at its end, and hides overreads behind an allocator of its own.
SANITIZED := build/sanitized
.PHONY: sanitize
sanitize: $(BUILT) ## fuzz and test the kernels with the address sanitizer (gcc)
	rm -rf $(SANITIZED)
	mkdir -p $(SANITIZED)
	cp -r setup.py pyproject.toml README.md LICENSE src $(SANITIZED)
	find $(SANITIZED)/src -name "*.so" -delete
	cd $(SANITIZED) && SIENA_SANITIZE=1 $(CURDIR)/$(BIN)/python setup.py --quiet build_ext --inplace
	$(WITH_SANITIZER) $(BIN)/python -m fuzz.blocks --buffers $(BUFFERS)
	$(WITH_SANITIZER) $(BIN)/python -m pytest -o timeout=900 -p no:cacheprovider \
	    tests/unit/matching/engine/test_engine.py \
	    tests/unit/matching/engine/test_engine_paths.py \
	    tests/unit/matching/test_table.py \
	    tests/unit/matching/test_texts.py \
	    tests/unit/protocol/fast/test_delivery_writer.py \
	    tests/unit/protocol/fast/test_forward_runs.py \
	    tests/unit/protocol/fast/test_split_frames.py $(ARGS)

BUFFERS ?= 50000
WITH_SANITIZER = ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
    LD_PRELOAD="$$(gcc -print-file-name=libasan.so)" \
    PYTHONPATH=$(CURDIR)/$(SANITIZED)/src:$(CURDIR)/tests/support:$(CURDIR)/tests

.PHONY: check
check: $(READY) ## check format, style, types and layers
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

.PHONY: format
format: $(READY) ## format the code and repair what can be repaired
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

# The site is built by what only it needs: installed when it is first wanted.
SITE := build/site
.PHONY: docs
docs: $(BUILT) ## build the documentation site, strictly, into build/site/html
	@$(BIN)/python -c 'import zensical, mkdocstrings' 2>/dev/null || { \
	    echo 'Installing what builds the site'; \
	    install="$(BIN)/python -m pip install -qq --disable-pip-version-check"; \
	    command -v uv >/dev/null 2>&1 && install="uv pip install --quiet --python $(BIN)/python"; \
	    $$install --constraint constraints.txt zensical mkdocstrings-python; }
	$(BIN)/python tools/gather_pages.py
	cd $(SITE) && $(CURDIR)/$(BIN)/zensical build --strict --config-file zensical.toml
	@echo 'The site: file://$(CURDIR)/$(SITE)/html/index.html'

.PHONY: bench
bench: $(BUILT) ## run every benchmark in turn
	@test -n "$(BENCH)" || echo 'No benchmarks yet.'
	@set -e; for file in $(BENCH); do echo "== $$file"; $(BIN)/python "$$file"; done

.PHONY: clean
clean: ## remove .venv, caches and build leftovers
	rm -rf $(VENV) build dist src/*.egg-info .coverage htmlcov
	find src -name "*.so" -delete
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests benchmarks examples -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# --- Set-up ---------------------------------------------------------------------

# Done again when a version changes, when the folder has moved, or when Python is gone.
ifneq ($(shell test "$$(cat $(READY) 2>/dev/null)" = "$(CURDIR)" && $(BIN)/python -I -c '' 2>/dev/null && echo ready),ready)
.PHONY: $(READY)
endif

$(READY): pyproject.toml constraints.txt
	@echo 'Setting up $(VENV), once; it takes a few minutes.'
	@test "$$(cat $(READY) 2>/dev/null || echo "$(CURDIR)")" = "$(CURDIR)" && $(BIN)/python -c '' 2>/dev/null || rm -rf $(VENV)
	@rm -f $(READY)
	@set -e; \
	if command -v uv >/dev/null 2>&1; then \
	    test -d $(VENV) || uv venv --quiet --python "$(or $(PYTHON),>=3.11)" $(VENV); \
	    install="uv pip install --quiet --python $(BIN)/python"; \
	else \
	    $(find_python); \
	    test -x $(BIN)/pip || "$$python" -m venv $(VENV); \
	    install="$(BIN)/python -m pip install -qq --disable-pip-version-check"; \
	fi; \
	echo '1/3 Cython and setuptools, which build the kernels'; \
	$$install --constraint constraints.txt cython setuptools; \
	echo '2/3 Siena with its tests, Spark and the flights: 1.3 GB on disk, silent until done'; \
	$$install --constraint constraints.txt --no-build-isolation --editable '.[dev,demo,spark]'
	@printf '%s' "$(CURDIR)" >$(READY)

$(BUILT): $(READY) setup.py $(KERNELS)
	@echo '3/3 Compiling the kernels, about a minute'
	@SIENA_BENCH=1 $(BIN)/python setup.py --quiet build_ext --inplace
	@$(BIN)/python -c 'import sys; from siena.matching import COMPILED; sys.exit(not COMPILED)' \
	    || echo 'The kernels are not compiled (is there a C compiler?): matching will be slow.' >&2
	@touch $@

# Sets `python` to the first Python that will do, or stops with one line.
define find_python
python=; \
for candidate in $(or $(PYTHON),python3.11 python3 python3.12 python3.13 python); do \
    if "$$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
        python=$$candidate; break; \
    fi; \
done; \
if test -z "$$python"; then \
    echo 'make setup: needs Python 3.11 or newer with its venv module (or uv) on the PATH.' >&2; exit 1; \
fi
endef
