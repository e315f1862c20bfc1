# Everything runs in an environment of its own, made on first use.
PYTHON ?= python3
VENV   ?= .venv
EXTRAS ?= dev
JOBS   ?= 2
SUITE  ?=
N      ?= 100000
OPTIONS ?=
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
PLUGIN := $(VENV)/plugin
# One thread per linear algebra call: the matrices are small, and timings stay comparable.
export OPENBLAS_NUM_THREADS ?= 1
# Bytecode is kept, as kernels are: tests start hundreds of processes that import all of this. It is made where
# a module is first imported (pip --no-compile): that of all packages is nearly half of what an install takes.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
STUDIES := solvers cone dynamics formulations growth first-use simulation contact-models diagnosis robots
.PHONY: help install warmup test test-slow test-numba lint demo bench $(STUDIES:%=bench-%) bench-integrators bench-adaptive bench-scale bench-piles bench-heaps bench-zoo
.PHONY: suite fuzz limits fuzz-files lowest truth truth-long soak product plugin pictures docs clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install:  ## make the environment (EXTRAS=dev,peers adds the libraries that bench compares with)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "mcpframe needs Python 3.11 or newer; set PYTHON=... (found: $$($(PYTHON) -V 2>&1))" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@echo "installing mcpframe and what it needs: some minutes, mostly downloads"
	$(BIN)/python -m pip install --disable-pip-version-check --no-compile --editable '.[$(EXTRAS)]'
	@touch $(STAMP)

$(STAMP): pyproject.toml
	@$(MAKE) --no-print-directory install

warmup: $(STAMP)  ## compile the kernels, once (JOBS=2 at a time)
	$(BIN)/mcpframe warmup --jobs $(JOBS)

test: warmup  ## run the tests, but the slow ones (JOBS=2 at a time)
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder -m "not slow"

test-slow: warmup  ## run the slow tests: benchmarks with peers, ten kills, kernels by Numba alone, ...
	$(BIN)/python -m pytest -n $(JOBS) -m slow

test-numba: $(STAMP)  ## run short tests on the lowest versions of everything, and on the newest Numba (OPTIONS=oldest)
	$(BIN)/python tests/support/numba_versions.py $(VENV)/numba $(JOBS) $(OPTIONS)

lint: $(STAMP)  ## check style and types: ruff, mypy (strict)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

demo: $(STAMP)  ## run Table 2 of J14 and a comparison of solvers; ends with the report to open
	$(BIN)/python examples/demo.py

bench:  ## time everything beside the peers that are installed (alone: bench-STUDY; OPTIONS=--quick)
	@for study in $(STUDIES); do $(MAKE) --no-print-directory bench-$$study || exit; done

# Studies: solvers, cone, dynamics, formulations, growth, first-use, simulation, contact-models, diagnosis, robots.
$(STUDIES:%=bench-%): bench-%: $(STAMP)
	$(BIN)/python examples/benchmarks/$(subst -,_,$*).py $(OPTIONS)

# Integrators on twelve systems, some minutes; OPTIONS="--page docs/concepts/integrators.md" puts the figures there.
bench-integrators: $(STAMP)
	$(BIN)/python examples/benchmarks/integrators.py $(OPTIONS)

# Adaptive bodies, some minutes; OPTIONS="--page docs/concepts/adaptive.md" puts the figures there.
bench-adaptive: $(STAMP)
	$(BIN)/python examples/benchmarks/adaptive.py $(OPTIONS)

# Large sparse problems, a solve in a process each, minutes.
bench-scale: $(STAMP)
	$(BIN)/python examples/benchmarks/scale.py $(OPTIONS)

# Piles of up to 60,000 contacts, a solve in a process each, minutes.
bench-piles: $(STAMP)
	$(BIN)/python examples/benchmarks/piles.py $(OPTIONS)

# Heaps of free bodies beside MuJoCo, minutes.
bench-heaps: $(STAMP)
	$(BIN)/python examples/benchmarks/heaps.py $(OPTIONS)

# Every robot of example-robot-data, a minute or so for each: not among the studies of `make bench`.
bench-zoo: $(STAMP)
	$(BIN)/python examples/benchmarks/robot_zoo.py $(OPTIONS)

suite: $(STAMP)  ## run a folder of problems of other projects: make suite SUITE=DIR
	@test -n "$(SUITE)" || { echo "say which: make suite SUITE=DIR" >&2; exit 2; }
	$(BIN)/python examples/checks/suite.py "$(SUITE)"

fuzz: $(STAMP)  ## send N=100000 random small problems through every solver
	$(BIN)/python examples/checks/fuzz.py $(N)

limits: $(STAMP)  ## send problems that take long through every solver, and see that time limits are kept
	$(BIN)/python examples/checks/limits.py $(OPTIONS)

fuzz-files: $(STAMP)  ## send 2000 damaged files of each format through every reader (OPTIONS=N --formats ...)
	$(BIN)/python examples/checks/fuzz_files.py $(OPTIONS)

lowest:  ## run more tests with the lowest versions that are declared, in an environment of its own
	$(PYTHON) -m venv $(VENV)-lowest
	$(PYTHON) tests/support/lowest.py > $(VENV)-lowest/constraints.txt
	$(VENV)-lowest/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint $(VENV)-lowest/constraints.txt --editable . pytest pytest-xdist
	NUMBA_CACHE_DIR=$(abspath $(VENV)-lowest)/kernels $(VENV)-lowest/bin/python -m pytest -n $(JOBS) tests/solvers/test_solvers_conformance.py \
		tests/formulations/test_formulations_conformance.py tests/solvers/test_qp.py tests/io/test_npz.py tests/io/test_corpus.py tests/studies/test_study_file.py

truth: $(STAMP)  ## run systems with known answers, a line for each (OPTIONS=--details, --integrator rk4, ...)
	$(BIN)/python examples/truth_table.py $(OPTIONS)

truth-long: $(STAMP)  ## run those that take minutes, in full length
	$(BIN)/python examples/truth_table.py --full $(OPTIONS)

soak: $(STAMP)  ## run scenes and heaps of boxes for long (OPTIONS='--seconds 100 --boxes 2,20')
	$(BIN)/python examples/benchmarks/soak.py $(OPTIONS)

product: $(STAMP)  ## run scenes with all settings, drawn at random, by every formulation (OPTIONS='--count 100')
	$(BIN)/python examples/benchmarks/product.py $(OPTIONS)

plugin: $(STAMP)  ## install examples/plugin into a new environment; run its tests and its study
	rm -rf $(PLUGIN) out/plugin && mkdir -p $(PLUGIN)
	cp -r examples/plugin $(PLUGIN)/source  # a copy: what a build leaves behind stays out of the checkout
	$(BIN)/python tests/support/environments.py $(PLUGIN)/environment $(PLUGIN)/source
	$(PLUGIN)/environment/bin/python -m pytest -q $(PLUGIN)/source
	$(PLUGIN)/environment/bin/python -m mcpframe study run $(PLUGIN)/source/study.toml --out out/plugin

pictures: $(STAMP)  ## draw the pictures of README and documentation anew (OPTIONS='--only gallery')
	$(BIN)/python examples/pictures.py $(OPTIONS)

docs: $(STAMP)  ## build the documentation into site/, warnings being errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict --config-file docs/hooks/mkdocs.yml
	@echo "open site/index.html; for the search: $(BIN)/python -m http.server --directory site --bind 127.0.0.1"

clean:  ## remove caches, compiled kernels and output; the environment stays
	find . -name __pycache__ -not -path './$(VENV)/*' -not -path './.git/*' -prune -exec rm -rf {} +
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache out site
