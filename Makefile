# Two commands to start with: `make demo` and `make test`. Both install what they need first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
DOCS   := .venv-docs
ADAPTERS := .venv-adapters
TRACKING := .venv-tracking
RAY := .venv-ray
# threads that spin while they wait slow down everything else on the machine
export GOMP_SPINCOUNT ?= 1000

FUZZ := .venv-fuzz
FUZZ_SECONDS ?= 600  # per target
FUZZ_TARGETS ?= readers http tokenizer run_folder checkpoint
.PHONY: demo test test-all test-adapters test-ray dist fuzz evidence archive docs bench bench-all leaderboard lint clean

demo: $(VENV)/.run
	$(BIN)/regard demo

test: $(VENV)/.dev lint
	$(BIN)/python -m pytest -n auto -m "not slow"

test-all: $(VENV)/.dev lint dist test-adapters test-ray
	$(BIN)/python -m pytest -n auto

# what works with models and tools of other libraries, in environments that have these libraries
test-adapters: $(ADAPTERS)/.done $(TRACKING)/.done
	$(ADAPTERS)/bin/python -m pytest -n auto tests/wrapping tests/models/test_shared_runs.py tests/tuning
	$(TRACKING)/bin/python -m pytest -n auto tests/tracking tests/test_recipes.py tests/test_estimator_checks.py

# clusters on this machine, and object storage; one test after the other, because a cluster takes all cores
test-ray: $(RAY)/.done
	$(RAY)/bin/python -m pytest tests/scoring tests/tuning tests/test_ray_cluster.py tests/lab/test_ray_*.py tests/test_cluster_recipes.py

# a source distribution and a wheel built from it, both checked; the wheel also in a fresh environment with the base install only;
# licences of dependencies, and a bill of materials (CycloneDX)
dist: $(VENV)/.dev
	rm -rf dist build
	$(BIN)/python -m build --no-isolation --outdir dist . > /dev/null
	$(BIN)/python tools/check_dist.py dist
	$(BIN)/python tools/check_licences.py
	$(BIN)/python tools/hashes.py --check
	$(BIN)/python tools/sbom.py dist/sbom.cdx.json

# every fuzz target for ten minutes, guided by coverage; what it finds is written to fuzz/
fuzz: $(FUZZ)/.done
	mkdir -p fuzz
	for target in $(FUZZ_TARGETS); do \
	  $(FUZZ)/bin/python tests/fuzz/coverage_guided.py $$target fuzz/$$target \
	    -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=4096 -artifact_prefix=fuzz/ -print_final_stats=1 || exit 1; \
	done

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# write docs/evidence.md, the generated parts of other pages, verdicts.json and the notebooks from the claims and the results
evidence: $(VENV)/.run
	$(BIN)/python experiments/evidence.py
	$(BIN)/python tools/notebooks.py

# every published result in one file with checksums, in dist/; needs nothing installed
archive:
	$(PYTHON) tools/archive_results.py

# the documentation site: any warning, broken link or anchor fails; pages load nothing from other sites
docs: $(DOCS)/.installed
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict  # not --quiet: it would hide warnings from --strict
	$(DOCS)/bin/python tools/check_links.py site

# comparison with peers, serving under load, attention against known evidence; corpora are read from REGARD_DATA
bench: $(VENV)/.bench
	$(BIN)/python benchmarks/accuracy.py times --again
	$(BIN)/python benchmarks/accuracy.py table
	$(BIN)/python benchmarks/engine.py explain --save
	$(BIN)/python benchmarks/engine.py determinism --save
	$(BIN)/python benchmarks/engine.py stream --save
	$(BIN)/python benchmarks/serving.py start --save
	$(BIN)/python benchmarks/serving.py load --save
	$(BIN)/python benchmarks/known_evidence.py --save
	$(BIN)/python benchmarks/export.py latency --save
	$(BIN)/python benchmarks/export.py start --save
	$(BIN)/python benchmarks/export.py page --save
	$(BIN)/python -c "import sys, torch; sys.exit(not torch.cuda.is_available())" \
	  && $(BIN)/python benchmarks/gpu.py --save && $(BIN)/python benchmarks/stacked.py --save \
	  || echo "no CUDA device: benchmarks/gpu.py and stacked.py are skipped"

# takes hours: the settings of every peer chosen on dev, five seeds of each, and an epoch of a plain BiLSTM
bench-all: $(VENV)/.bench
	$(BIN)/python benchmarks/accuracy.py choose --again
	$(BIN)/python benchmarks/accuracy.py peers --again
	$(BIN)/python benchmarks/accuracy.py regard --again
	$(BIN)/python benchmarks/torch_cpu.py --save
	$(MAKE) bench

# runs the cells of the leaderboard that are missing, of the systems that are available here, and renders its table and page
leaderboard: $(VENV)/.bench
	$(BIN)/python benchmarks/leaderboard run
	$(BIN)/python benchmarks/leaderboard table > /dev/null
	$(BIN)/python benchmarks/leaderboard page

# pinned versions first, then the package itself without resolving dependencies again; the second installation of each list adds
# only what has no hashes: torch, and packages that nothing pins
$(VENV)/.run: requirements/base.txt requirements/run.txt pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/hashes/base.txt -r requirements/hashes/run.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/run.txt  # torch, which has no hashes
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/hashes/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/dev.txt
	touch $@

$(VENV)/.bench: requirements/bench.txt $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/bench.txt
	touch $@

# the site is written from the source without importing most of it, so its environment needs neither PyTorch nor numba
$(DOCS)/.installed: requirements/docs.txt
	test -x $(DOCS)/bin/python || $(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/hashes/docs.txt
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/docs.txt
	touch $@

$(ADAPTERS)/.done: requirements/adapters.txt requirements/dev.txt requirements/run.txt requirements/base.txt pyproject.toml
	test -x $(ADAPTERS)/bin/python || $(PYTHON) -m venv $(ADAPTERS)
	$(ADAPTERS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes $(addprefix -r requirements/hashes/,base.txt run.txt)
	$(ADAPTERS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/hashes/dev.txt
	$(ADAPTERS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/hashes/adapters.txt
	$(ADAPTERS)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/run.txt -r requirements/dev.txt -r requirements/adapters.txt
	$(ADAPTERS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

$(FUZZ)/.done: requirements/fuzz.txt requirements/base.txt pyproject.toml
	test -x $(FUZZ)/bin/python || $(PYTHON) -m venv $(FUZZ)
	$(FUZZ)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/hashes/base.txt -r requirements/hashes/fuzz.txt
	$(FUZZ)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

$(TRACKING)/.done: requirements/tracking.txt requirements/base.txt pyproject.toml
	test -x $(TRACKING)/bin/python || $(PYTHON) -m venv $(TRACKING)
	$(TRACKING)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/hashes/base.txt
	$(TRACKING)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/hashes/tracking.txt
	$(TRACKING)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/base.txt -r requirements/tracking.txt
	$(TRACKING)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $@

$(RAY)/.done: requirements/ray.txt requirements/run.txt requirements/base.txt pyproject.toml
	test -x $(RAY)/bin/python || $(PYTHON) -m venv $(RAY)
	$(RAY)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes $(addprefix -r requirements/hashes/,base.txt run.txt)
	$(RAY)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/hashes/ray.txt
	$(RAY)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/run.txt -r requirements/ray.txt
	$(RAY)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

clean:
	rm -rf $(VENV) $(DOCS) $(ADAPTERS) $(TRACKING) $(RAY) $(FUZZ) fuzz demo runs reproduced build dist site .pytest_cache .mypy_cache .ruff_cache
