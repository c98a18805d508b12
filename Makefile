# Each target sets itself up: a virtual environment in .venv with exactly the versions of constraints.txt.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Files with another content than the listed one are refused; requirements/lock.py writes the lists.
LOCKED := $(PIP) --no-deps --require-hashes --requirement

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-gpu test-portable test-mutations lint bench docs pictures clean

help:            ## Show this list.
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/:/' | column -t -s ':'

demo: $(VENV)/.installed   ## Train an O(5) network in seconds, discover so(5), draw the figure.
	$(BIN)/liegg demo --out demo

# Types are checked while the tests run; their report is shown at the end if it has something to say.
test: $(VENV)/.installed-dev   ## Lint, types, fast tests and doctests: under five minutes on two cores.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	@$(BIN)/pyright --pythonpath $(BIN)/python > $(VENV)/types.log 2>&1 & types=$$!; \
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --quiet --numprocesses 2 -m "not slow"; tests=$$?; \
	wait $$types || { cat $(VENV)/types.log; exit 1; }; exit $$tests

test-slow: $(VENV)/.installed-dev  ## Tests marked slow: quick studies, several processes, browser, noise, documentation pages, benchmarks.
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --quiet --numprocesses 2 -m slow

# Uses the Python at hand, which needs torch with CUDA, numpy, scipy, safetensors, jaxtyping, pytest and hypothesis.
test-gpu:        ## Tests that can differ on a GPU; STORE=--store writes results/gpu.json.
	OMP_NUM_THREADS=1 $(PYTHON) -m pytest --quiet tests/gpu $(STORE)

test-portable: $(VENV)/.installed-dev  ## Tests that compute, under seven settings that stand for other CPUs.
	$(BIN)/python tests/portable.py

test-mutations: $(VENV)/.installed-dev  ## Break each promise once and see a test fail; writes results/mutations.json.
	$(BIN)/python tests/mutations.py

lint: $(VENV)/.installed-dev   ## Formatting, lint rules, types.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --pythonpath $(BIN)/python

bench: $(VENV)/.installed-dev  ## Measure speed and memory as ratios in one run; writes results/bench-*.json.
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/images.py
	$(BIN)/python benchmarks/verification.py
	$(BIN)/python benchmarks/derivatives.py
	$(BIN)/python benchmarks/finite_differences.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/layers.py
	$(BIN)/python benchmarks/identify.py
	$(BIN)/python benchmarks/controls.py
	$(BIN)/python benchmarks/fixed_cost.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/scaling.py
	$(BIN)/python benchmarks/many_outputs.py
	$(BIN)/python benchmarks/candidates.py
	$(BIN)/python benchmarks/tables.py

pictures: $(VENV)/.installed-dev  ## Make the pictures and the shown outputs of README and docs again (needs chromium).
	$(BIN)/python docs/pictures.py
	$(BIN)/python docs/screenshot.py
	$(BIN)/python tests/pages.py --write

docs: $(VENV)/.installed-docs  ## Build the documentation into site/, warnings are errors.
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean:           ## Remove everything the other targets made.
	rm -rf $(VENV) .venv-ani .venv-emlp .venv-foreign .venv-peers .venv-sevennet demo site .pytest_cache .ruff_cache .hypothesis

# torch by its exact version, in the build that the package index gives this machine; all else by its checksum.
$(VENV)/.torch: constraints.txt requirements/run.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "liegg needs Python 3.11 or later: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	$(LOCKED) requirements/run.txt
	$(PIP) --constraint constraints.txt torch
	@touch $@

$(VENV)/.installed: $(VENV)/.torch pyproject.toml
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed requirements/dev.txt
	$(LOCKED) requirements/dev.txt
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.installed-dev requirements/docs.txt
	$(LOCKED) requirements/docs.txt
	@touch $@

# A network of another package, in an environment of its own; not part of the tests.
.PHONY: peer-emlp
peer-emlp:       ## Analyse a real O(5)-invariant EMLP; writes results/o5-emlp.json and o5-emlp-jax.json.
	$(PYTHON) -m venv .venv-emlp
	.venv-emlp/bin/python -m pip install --quiet --constraint peers/emlp-requirements.txt torch
	.venv-emlp/bin/python -m pip install --quiet --requirement peers/emlp-requirements.txt
	.venv-emlp/bin/python -m pip install --quiet --no-deps --editable .
	.venv-emlp/bin/python peers/emlp_o5.py
	.venv-emlp/bin/python peers/emlp_jax.py

# Models that are not PyTorch, in an environment of their own.
.PHONY: peer-foreign
peer-foreign:    ## Analyse models of scikit-learn, ONNX and JAX; writes results/foreign.json.
	$(PYTHON) -m venv .venv-foreign
	.venv-foreign/bin/python -m pip install --quiet --constraint peers/foreign-requirements.txt torch torchvision
	.venv-foreign/bin/python -m pip install --quiet --requirement peers/foreign-requirements.txt
	.venv-foreign/bin/python -m pip install --quiet --no-deps --editable .
	.venv-foreign/bin/python peers/foreign_models.py --files .venv-foreign

.PHONY: peer-ani
peer-ani:        ## Analyse ANI-1ccx with its published weights; writes results/ani.json.
	$(PYTHON) -m venv .venv-ani
	.venv-ani/bin/python -m pip install --quiet --constraint peers/ani-requirements.txt torch
	.venv-ani/bin/python -m pip install --quiet --requirement peers/ani-requirements.txt
	.venv-ani/bin/python -m pip install --quiet --no-deps torchani==2.0
	.venv-ani/bin/python -m pip install --quiet --no-deps --editable .
	.venv-ani/bin/python peers/ani.py

.PHONY: peer-sevennet
peer-sevennet:   ## Analyse SevenNet-0 with its published weights; writes results/sevennet.json.
	$(PYTHON) -m venv .venv-sevennet
	.venv-sevennet/bin/python -m pip install --quiet --constraint peers/sevennet-requirements.txt torch
	.venv-sevennet/bin/python -m pip install --quiet --requirement peers/sevennet-requirements.txt
	.venv-sevennet/bin/python -m pip install --quiet --no-deps sevenn==0.13.0
	.venv-sevennet/bin/python -m pip install --quiet --no-deps --editable .
	.venv-sevennet/bin/python peers/sevennet.py

# Networks of other packages as test subjects, in an environment of their own too; STORE=--store writes results/peers.json and its page.
.PHONY: test-peers
test-peers: .venv-peers/.installed  ## Analyse a ViT, ResNets, SchNet and L-GATr with random weights.
	OMP_NUM_THREADS=1 .venv-peers/bin/python -m pytest --quiet --confcutdir peers peers/test_*.py $(STORE)
	$(if $(STORE),.venv-peers/bin/python peers/page.py)

.venv-peers/.installed: peers/requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --constraint peers/requirements.txt torch
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --requirement peers/requirements.txt
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@
