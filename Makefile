# make            the default experiment on all cores, then the path of its page (environment on first use)
# make test       the test suite          make test-full   with the slow tests
# make bench      speed and memory, against peers and goals; PARTS="oue loops" picks some
# make lint       every linter            make lock        pin the newest versions that fit pyproject.toml
# make digests    commit to new results of smoke, after a change that is meant to change them
# make docs       the documentation, site/index.html
PYTHON ?= python3
CORES ?= all
EXPERIMENT ?= default
PARTS ?= oue loops growth workflow large
BIN := .venv/bin
SNAKEMAKE := $(BIN)/python -m snakemake --cores $(CORES) --config experiment=$(EXPERIMENT)

.PHONY: report test test-full lint format lock digests clean bench docs

report: .venv/ready
	$(SNAKEMAKE)
	@# Snakemake warns of coroutines of its own that it never awaits
	$(BIN)/python -W ignore::RuntimeWarning -m snakemake --cores $(CORES) --config experiment=$(EXPERIMENT) \
	  --report reports/$(EXPERIMENT)/snakemake.html
	@echo "The report is $$PWD/reports/$(EXPERIMENT)/index.html"

.venv/ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "$(PYTHON) is older than 3.11: make PYTHON=python3.11, or newer"; exit 1; }
	@rm -rf .venv; $(PYTHON) -m venv .venv || { rm -rf .venv; \
	  echo "$(PYTHON) cannot make a virtual environment: install it (Debian, Ubuntu: apt-get install python3-venv) and run make again"; \
	  exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

bench: .venv-bench/ready
	.venv-bench/bin/python -m bench $(PARTS)

# the pinned environment, with the peers beside it
.venv-bench/ready: .venv/ready
	@rm -rf .venv-bench; $(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -e .[workflow,report,bench]
	@touch $@

docs: .venv/ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet
	@echo "The documentation is $$PWD/site/index.html"

test: .venv/ready
	$(BIN)/python -m pytest -n auto -m "not slow"

test-full: .venv/ready
	$(BIN)/python -m pytest -n auto

lint: .venv/ready
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/python -m snakefmt --check Snakefile workflow
	$(BIN)/lint-imports
	$(BIN)/python -m snakemake --lint

format: .venv/ready
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .
	$(BIN)/python -m snakefmt Snakefile workflow

# uv names no index in the lock file
lock:
	uv pip compile --universal --generate-hashes --no-annotate --no-header --no-emit-index-url \
	  --extra workflow --extra report --extra dev --upgrade --quiet pyproject.toml -o requirements.lock

digests: .venv/ready
	rm -rf data/runs/smoke data/summaries/smoke.*
	$(BIN)/python -m snakemake data/summaries/smoke.parquet --cores $(CORES) --config experiment=smoke
	$(BIN)/python tools/digests.py

clean:
	rm -rf .venv .venv-bench site data/raw data/streams data/runs data/summaries logs .snakemake
