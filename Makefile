# The one entry. Every target sets up its own virtual environment in .venv.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.ready
EXPERIMENTS := .venv/.experiments
export PATH := $(CURDIR)/.venv/bin:$(PATH)
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1

.PHONY: demo test check bench reproduce docs release-check clean

$(STAMP): pyproject.toml meson.build src/widemargin/_core/meson.build
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet "meson-python>=0.16" meson ninja "Cython>=3.0.10" "scipy>=1.13"
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[plot,test]"
	@touch $(STAMP)

demo: $(STAMP)
	$(BIN)/python -m widemargin.demo

test: check
	@$(BIN)/python -c "import widemargin._core._counting"  # builds what changed, once: parallel tests would all try
	$(BIN)/python -m pytest -q -n auto

bench: $(STAMP)
	$(BIN)/python -m benchmarks --quick

docs: $(STAMP)
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[docs]"
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

release-check:
	$(PYTHON) scripts/check_release.py

$(EXPERIMENTS): $(STAMP)
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[experiments]"
	@touch $(EXPERIMENTS)

reproduce: $(EXPERIMENTS)
	$(BIN)/python -m experiments

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf .venv build
