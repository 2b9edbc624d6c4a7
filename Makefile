# One-word commands.  Each makes .venv from constraints.txt when it is missing or stale.
# PYTHON=/path/to/python3 chooses the interpreter (3.11 or newer), VENV=folder the place of the environment.

VENV ?= .venv
EXTRAS := test,dev,plot,dask,smt,parquet,simulators
BIN := $(VENV)/bin
READY := $(VENV)/ready
PEERS := $(VENV)-peers
CANDIDATES := $(PYTHON) python3 python3.13 python3.12 python3.11 python3.14 python
export OPENBLAS_NUM_THREADS ?= 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: verify test lint docs bench bench-peers clean

verify: $(READY)  ## status of every claim, and the report
	@$(BIN)/exaq verify --report "$(CURDIR)/report"

test: $(READY)  ## the whole test suite
	@$(BIN)/python -m pytest -n 2 $(ARGS)

lint: $(READY)  ## style and types
	@status=0; for tool in "ruff check" "ruff format --check" mypy; do $(BIN)/$$tool || status=1; done; exit $$status

docs: $(READY)  ## run every example in README.md and docs/, follow every link inside them
	@$(BIN)/python -m pytest -n 0 tests/test_docs.py

bench: $(READY)  ## measured times on this machine; asserts nothing
	@$(BIN)/python bench/measure.py

bench-peers: $(PEERS)/ready  ## finite chains beside other solvers, which get an environment of their own; asserts nothing
	@$(PEERS)/bin/python -m bench.peers $(ARGS)

$(PEERS)/ready: bench/requirements.txt $(READY)
	$(BIN)/python -m venv --clear $(PEERS)
	@$(PEERS)/bin/python -m pip install -qq -e .
	@for solver in $$(grep -v '^#' bench/requirements.txt); do \
	  $(PEERS)/bin/python -m pip install -qq "$$solver" || echo "$$solver cannot be installed here" >&2; \
	done
	@touch $@

clean:  ## remove everything that make and the tools made
	rm -rf $(VENV) $(PEERS) build dist report *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): constraints.txt setup.cfg pyproject.toml
	@for python in $(CANDIDATES); do \
	  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then echo "exaq needs Python 3.11 or newer, and none of these is: $(CANDIDATES). Say PYTHON=/path/to/python3" >&2; exit 2; fi; \
	echo "Setting up $(VENV) with $$("$$found" -V) (once; about a minute)" >&2; \
	"$$found" -m venv --clear $(VENV)
	@$(BIN)/python -m pip install -qq -c constraints.txt setuptools
	@$(BIN)/python -m pip install -qq -c constraints.txt --no-build-isolation -e '.[$(EXTRAS)]'
	@touch $@
