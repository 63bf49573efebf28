# Neural Ranking, Reproduced: `make book` and `make test` are all that a reader needs. `make help` lists the rest.
PROFILE ?= almanac
PYTHON ?= python3
VENV ?= .venv
TORCH ?= cpu
NAME ?=
URL ?=
ARGS ?=
WORKERS ?= auto
BIN := $(VENV)/bin
BOOK := $(BIN)/book
READY := $(VENV)/.ready-$(TORCH)
FRESH_FLAG := $(if $(filter 1,$(FRESH)),--fresh)
CLUSTER ?=
CLUSTER_FLAG := $(if $(CLUSTER),--cluster $(CLUSTER))

.PHONY: help env files book chapter export why explain fetch pin parameters sbom test fast faults mutants load rehearsal lint bench bench-test verify verdicts record browser clean-variants clean lab open pdf links address

help:  ## what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

env: $(READY)  ## create the environment in .venv (TORCH=cuda for a GPU build)

$(READY): requirements.lock requirements.hashes pyproject.toml install.py
	$(PYTHON) install.py --venv $(VENV) --torch $(TORCH)
	@touch $@

book: $(READY)  ## run every chapter and render book/_build/html (PROFILE=mini, FRESH=1, CLUSTER=local)
	$(BOOK) build --profile $(PROFILE) $(FRESH_FLAG) $(CLUSTER_FLAG)

chapter: $(READY)  ## run one chapter: NAME=does_it_work ARGS="-p candidates 50"
	@test -n "$(NAME)" || { echo 'Which chapter? make chapter NAME=does_it_work'; exit 2; }
	$(BOOK) chapter $(NAME) --profile $(PROFILE) $(FRESH_FLAG) $(CLUSTER_FLAG) $(ARGS)

explain: $(READY)  ## say what would run, and for how long: NAME=seeds ARGS="-p seeds [7]", or no NAME for all chapters
	$(BOOK) explain $(NAME) --profile $(PROFILE) $(FRESH_FLAG) $(ARGS)

fetch: $(READY)  ## fetch in advance all that a profile needs from the network: PROFILE=msmarco (ARGS=--list only says what)
	$(BOOK) fetch --profile $(PROFILE) $(ARGS)

pin: $(READY)  ## replace branches of the hub in a profile by commit hashes: PROFILE=msmarco
	$(BOOK) pin --profile $(PROFILE)

sbom: $(READY)  ## list what is installed, with licences, as CycloneDX, in book/_build/sbom.json
	@mkdir -p book/_build
	$(PYTHON) -m venv $(VENV)/sbom && $(VENV)/sbom/bin/pip install --quiet cyclonedx-bom==7.5.0
	$(VENV)/sbom/bin/cyclonedx-py environment --sv 1.6 -o book/_build/sbom.json $(BIN)/python

parameters: $(READY)  ## list the parameters of a chapter: NAME=does_it_work
	$(BOOK) parameters $(NAME)

files: $(READY)  ## list the source files, each with what it is for: ARGS=feedback for those that have a word
	$(BOOK) files $(ARGS)

lab: $(READY)  ## open the chapter templates in JupyterLab
	$(BIN)/jupyter lab --notebook-dir .

open: $(READY)  ## write mine/NAME.ipynb, a chapter with a profile's values: NAME=seeds PROFILE=mini
	@test -n "$(NAME)" || { echo 'Which chapter? make open NAME=seeds PROFILE=mini'; exit 2; }
	$(BOOK) open $(NAME) --profile $(PROFILE) $(ARGS)

export: $(READY)  ## write the systems of a chapter as TREC runs with their metadata into runs/: NAME=does_it_work
	@test -n "$(NAME)" || { echo 'Which chapter? make export NAME=does_it_work'; exit 2; }
	$(BOOK) export $(NAME) --profile $(PROFILE) $(ARGS)

why: $(READY)  ## explain why two runs of one system differ: A=run1 B=run2
	$(BOOK) why $(A) $(B)

pdf: book  ## print the whole book as a PDF and link it from the pages (needs Chromium: make browser)
	$(BOOK) pdf

links: book  ## check every link to the outside, and name those that are broken
	$(BIN)/jupyter-book build book --builder linkcheck

address: $(READY)  ## set the repository's public address: URL=https://github.com/you/your-fork
	$(BOOK) address $(URL)

test: $(READY)  ## all tests, on WORKERS processes (as many as cores, at most 4)
	$(BIN)/pytest -n $(WORKERS) --maxprocesses 4
	PYTHONPATH=src:tests $(BIN)/pytest -p conftest -m "not slow" campaigns

fast: $(READY)  ## the tests that need neither a JVM nor a model
	$(BIN)/pytest -m "not slow" -n $(WORKERS) --maxprocesses 8

browser:  ## install Chromium by apt, for the browser tests and the PDF
	sh .ci/chromium.sh

faults: $(READY)  ## break data, disks, processes, texts and parameters, a hundred cases a kind: ARGS="--cases 20 --seed 2 --only store"
	PYTHONPATH=src:tests OMP_NUM_THREADS=1 $(BIN)/python campaigns/faults.py $(ARGS)

mutants: $(READY)  ## change the science in 100 places, one at a time: do the tests notice? ARGS="--changes 20 --floor retrieval --minutes 30"
	PYTHONPATH=src OMP_NUM_THREADS=1 nice $(BIN)/python campaigns/mutants.py $(ARGS)

load: $(READY)  ## ask `book serve` by 64 clients of mixed cost at once: ARGS="--seconds 60 --reranker base"
	PYTHONPATH=src:. $(BIN)/python campaigns/service.py $(ARGS)

rehearsal: $(READY)  ## rehearse PROFILE=msmarco in miniature, without network, to every page: ARGS="collection seeds" for these alone
	PYTHONPATH=src:tests:campaigns $(BIN)/python -m rehearsal.run $(ARGS)

$(VENV)/engines: bench/engines.txt
	$(PYTHON) -m venv $@
	$@/bin/pip install --quiet torch==2.13.0+cpu || $@/bin/pip install --quiet torch==2.13.0+cpu --index-url https://download.pytorch.org/whl/cpu
	$@/bin/pip install --quiet -r $< && touch $@

bench: $(READY) $(VENV)/engines  ## time this book's code against others', on a quiet machine: ARGS="--only rerank"
	$(BIN)/python -m bench $(ARGS)

bench-test: $(READY)  ## the tests of that comparison, which start the other libraries
	PYTHONPATH=src:tests $(BIN)/pytest -p conftest campaigns/test_bench.py campaigns/test_stream.py

lint: $(READY)  ## ruff, mypy, and the floors of the packages
	$(BIN)/ruff check .
	$(BIN)/mypy
	PYTHONPATH=src $(BIN)/lint-imports --no-cache --no-logo

verify: $(READY)  ## recompute a random sample of the recorded runs and compare (ARGS="--all --budget 28800": as many as a night holds)
	$(BOOK) verify $(ARGS)

verdicts: $(READY)  ## compute every verdict of the executed chapters again, without the book's code
	$(BIN)/python campaigns/independent_verdicts.py book/chapters

record: $(READY)  ## ship the slow steps of the executed chapters as recorded runs
	$(BOOK) record

clean-variants: $(READY)  ## remove the variant pages and their comparisons
	$(BOOK) clean-variants

clean:  ## remove everything that can be made again, except the step store
	rm -rf book/_build book/chapters book/generated book/_static/explorer/*.js
