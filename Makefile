# Neural Ranking, Reproduced: `make book` and `make test` are all that a reader needs. `make help` lists the rest.
PROFILE ?= almanac
PYTHON ?= python3
VENV ?= .venv
TORCH ?= cpu
NAME ?=
ARGS ?=
BIN := $(VENV)/bin
BOOK := $(BIN)/book
READY := $(VENV)/.ready-$(TORCH)
FRESH_FLAG := $(if $(filter 1,$(FRESH)),--fresh)

.PHONY: help env book chapter parameters test fast lint verify record clean-variants clean lab

help:  ## what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

env: $(READY)  ## create the environment in .venv (TORCH=cuda for a GPU build)

$(READY): requirements.lock pyproject.toml install.py
	$(PYTHON) install.py --venv $(VENV) --torch $(TORCH)
	@touch $@

book: $(READY)  ## run every chapter and render book/_build/html (PROFILE=mini, FRESH=1)
	$(BOOK) build --profile $(PROFILE) $(FRESH_FLAG)

chapter: $(READY)  ## run one chapter: NAME=does_it_work ARGS="-p candidates 50"
	@test -n "$(NAME)" || { echo 'Which chapter? make chapter NAME=does_it_work'; exit 2; }
	$(BOOK) chapter $(NAME) --profile $(PROFILE) $(FRESH_FLAG) $(ARGS)

parameters: $(READY)  ## list the parameters of a chapter: NAME=does_it_work
	$(BOOK) parameters $(NAME)

lab: $(READY)  ## open the chapter templates in JupyterLab
	$(BIN)/jupyter lab --notebook-dir .

test: $(READY)  ## all tests
	$(BIN)/pytest

fast: $(READY)  ## the tests that need neither a JVM nor a model
	$(BIN)/pytest -m "not slow"

lint: $(READY)  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/mypy

verify: $(READY)  ## recompute a random sample of the recorded runs and compare
	$(BOOK) verify

record: $(READY)  ## ship the slow steps of the executed chapters as recorded runs
	$(BOOK) record

clean-variants: $(READY)  ## remove the variant pages
	$(BOOK) clean-variants

clean:  ## remove everything that can be made again, except the step store
	rm -rf book/_build book/chapters book/generated
