# Everything runs inside .venv, which is made on first use and rebuilt only when its inputs change.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
CPP    := $(wildcard cpp/*.cpp cpp/*.h cpp/*/*.cpp cpp/*/*.h cpp/*/*/*.cpp cpp/*/*/*.h)
CORE   := CMakeLists.txt pyproject.toml $(CPP)
PYTEST := $(BIN)/python -m pytest
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
TABLES := docs/_generated
# Build tools live in the environment, so that rebuilding the core is incremental.
INSTALL = $(PIP) install --no-build-isolation --editable

.PHONY: demo test experiments certificates coverage sanitize lint format docs bench bench-docs bench-dask bench-instructions clean help fuzz fuzz-core fuzz-files fuzz-faults stress

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

$(VENV)/.tools:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install "scikit-build-core>=0.11" "nanobind>=2.4" "cmake>=3.20" ninja
	@touch $@

$(VENV)/.core: $(VENV)/.tools $(CORE)
	$(INSTALL) ".[plot]"
	@touch $@

$(VENV)/.test: $(VENV)/.core
	$(INSTALL) ".[test]"
	@touch $@

$(VENV)/.lint: $(VENV)/.test
	$(INSTALL) ".[lint]"
	@touch $@

$(VENV)/.coverage: $(VENV)/.test
	$(INSTALL) ".[coverage]"
	@touch $@

$(VENV)/.docs: $(VENV)/.test
	$(INSTALL) ".[docs]"
	@touch $@

demo: $(VENV)/.core  ## cluster a real data set under constraints, print a table, write a picture
	$(BIN)/kempe demo

# Tests that measure time come last and one by one: beside others they would measure those as well.
# The others run one per core, so threads of linear algebra would only wait for each other.
# ARGS may choose tests of one kind only, so code 5 of pytest, no tests, is wrong only if both give it.
test: $(VENV)/.test  ## run all tests
	@OMP_NUM_THREADS=1 $(PYTEST) -n auto --timing=without $(ARGS); code=$$?; \
	[ $$code -eq 0 ] || [ $$code -eq 5 ] || exit $$code; \
	$(PYTEST) $(ARGS) --timing=only -n 0; last=$$?; \
	[ $$last -eq 5 ] || code=$$last; exit $$code

# The instrumented core too has an environment and a build folder of its own. Python counts branches as
# well as lines. Tests that look for memory or time would measure the instruments.
COVERAGE_ENV := .venv-coverage
COUNTERS     := build/coverage

coverage:  ## share of lines that the tests reach: Python (at least 95 %) and C++ (at least 90 %)
	SKBUILD_CMAKE_DEFINE=KEMPE_COVERAGE=ON SKBUILD_CMAKE_BUILD_TYPE=Debug \
		SKBUILD_BUILD_DIR=$(COUNTERS) $(MAKE) VENV=$(COVERAGE_ENV) $(COVERAGE_ENV)/.coverage
	find $(COUNTERS) -name '*.gcda' -delete
	rm -f .coverage .coverage.*
	$(COVERAGE_ENV)/bin/python -m pytest -q -n auto --timing=without --cov --cov-report= $(ARGS)
	$(COVERAGE_ENV)/bin/python -m coverage report --fail-under=95
	$(COVERAGE_ENV)/bin/gcovr --root . --filter cpp/ --object-directory $(COUNTERS) $(COUNTERS) \
		--gcov-suspicious-hits-threshold 0 --fail-under-line 90

stress: $(VENV)/.test  ## run the tests that take minutes or gigabytes
	$(PYTEST) -n 0 -m stress $(ARGS)

# A sanitized core has an environment and a build folder of its own. The sanitizer's runtime must be
# loaded before everything else, and leaks at exit are Python's own.
SANITIZERS      := $(or $(SANITIZER),address thread)
RUNTIME_address := libasan.so
RUNTIME_thread  := libtsan.so
runtime    = $(foreach name,$(RUNTIME_$(1)) libstdc++.so,$(shell $(CXX) -print-file-name=$(name)))
sanitized  = LD_PRELOAD="$(call runtime,$(1))" PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0 \
		TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1 .venv-$(1)/bin/python
# Together these call every kernel.
KERNEL_TESTS := $(addprefix tests/,engine exact graph kskm proof rivals/test_orders.py search \
	test_core_arguments.py test_fuzz_core.py test_problem.py)

sanitize: $(addprefix sanitize-,$(SANITIZERS))  ## run the tests of the kernels under sanitizers, both or SANITIZER=address|thread

sanitize-%: build-%
	$(call sanitized,$*) -m pytest -n auto -m "not slow and not timing" $(or $(ARGS),$(KERNEL_TESTS))

build-%:
	SKBUILD_CMAKE_DEFINE=KEMPE_SANITIZE=$* SKBUILD_CMAKE_BUILD_TYPE=RelWithDebInfo \
		SKBUILD_BUILD_DIR=build/$* $(MAKE) VENV=.venv-$* .venv-$*/.test

fuzz: $(VENV)/.test  ## try random tiny problems against all clusterings (ARGS="--minutes 30")
	$(BIN)/python tests/fuzz.py $(ARGS)

fuzz-files: $(VENV)/.test  ## damage real files and read them (ARGS="--minutes 20")
	$(BIN)/python tests/fuzz_files.py $(ARGS)

fuzz-faults: $(VENV)/.test  ## limits and Ctrl-C at random moments (ARGS="--minutes 20")
	$(BIN)/python tests/fuzz_faults.py $(ARGS)

# A sanitizer ends the process when memory is short, so it gets no sizes that want much.
fuzz-core: $(if $(SANITIZER),build-$(SANITIZER),$(VENV)/.test)  ## call the core with wrong arguments (ARGS="--minutes 30", SANITIZER=address)
	$(if $(SANITIZER),$(call sanitized,$(SANITIZER)),$(BIN)/python) tests/fuzz_core.py \
		$(if $(SANITIZER),--modest) $(ARGS)

lint: $(VENV)/.lint  ## ruff, mypy, clang-format, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(BIN)/lint-imports

format: $(VENV)/.lint  ## let ruff and clang-format rewrite the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

docs: $(VENV)/.docs  ## build the documentation into docs/_build/html
	$(BIN)/python -m sphinx -W -b html docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html

experiments: $(VENV)/.test  ## run a plan of the paper (PLAN=smoke) and set the results beside its tables
	$(BIN)/python -m experiments run $(or $(PLAN),smoke) $(ARGS)

bench: $(VENV)/.test  ## compare kempe, KSKM and unconstrained k-means (a few minutes)
	$(BIN)/python benchmarks/compare.py $(ARGS)

CERTIFICATES := docs/results/certificates
certificates: $(VENV)/.test  ## certify all 346 instances of collections 1 to 3, and count who was optimal (about an hour; resumable)
	$(BIN)/python benchmarks/certify.py all --store $(CERTIFICATES)/all.csv --out $(CERTIFICATES)/all.md $(ARGS)
	for part in collection1 spread growth; do \
		$(BIN)/python benchmarks/certify.py $$part --measured --store $(CERTIFICATES)/all.csv --out $(CERTIFICATES)/$$part.md || exit 1; done
	$(BIN)/python benchmarks/certify_compare.py $(CERTIFICATES)/all.csv --out $(CERTIFICATES)/optimal.md
	$(BIN)/python benchmarks/certify_compare.py $(CERTIFICATES)/all.csv --collection COL1 --collection COL2 --collection COL3 --out $(CERTIFICATES)/optimal_all.md
	$(BIN)/python benchmarks/best_known.py update --certificates $(CERTIFICATES)/all.csv --seconds 0

bench-docs: $(VENV)/.test  ## measure the tables of the page about performance, and some of other pages (wants a quiet machine)
	$(BIN)/python benchmarks/compare.py --seeds 3 --out $(TABLES)/compare.md
	$(BIN)/python benchmarks/gaps.py --store results/gaps --keep --out $(TABLES)/gaps.md
	$(BIN)/python benchmarks/overhead.py --out $(TABLES)/overhead.md
	$(BIN)/python benchmarks/limits.py --out $(TABLES)/limits.md
	$(BIN)/python benchmarks/tight.py --out $(TABLES)/tight.md
	$(BIN)/python benchmarks/searches.py --out $(TABLES)/searches.md
	$(BIN)/python benchmarks/large.py unconstrained --seeds 20 --out $(TABLES)/unconstrained.md
	$(BIN)/python benchmarks/parallel.py --out $(TABLES)/parallel.md
	$(BIN)/python benchmarks/large.py growth --out $(TABLES)/growth.md
	$(BIN)/python benchmarks/large.py collection4 --out $(TABLES)/collection4.md
	$(BIN)/python benchmarks/large.py relocation --out $(TABLES)/relocation.md
	$(BIN)/python benchmarks/large.py memory --synthetic --seconds 12 --out $(TABLES)/memory.md
	$(BIN)/python benchmarks/latency.py --out $(TABLES)/latency.md
	$(BIN)/python benchmarks/rivals.py same --out $(TABLES)/rivals.md
	$(BIN)/python benchmarks/rivals.py programs --out $(TABLES)/programs.md
	$(BIN)/python benchmarks/rivals.py swaps --seeds 3 --out $(TABLES)/swaps.md
	$(BIN)/python benchmarks/ablations.py mwis --out $(TABLES)/mwis.md
	$(BIN)/python benchmarks/warm.py --out $(TABLES)/warm.md
	$(BIN)/python benchmarks/questions.py --out $(TABLES)/questions.md
	$(BIN)/python benchmarks/sizes.py alone --out $(TABLES)/sizes_alone.md
	$(BIN)/python benchmarks/sizes.py starts --out $(TABLES)/sizes_starts.md
	$(BIN)/python benchmarks/sizes.py large --out $(TABLES)/sizes_large.md
	$(BIN)/python benchmarks/noise.py flipped --out $(TABLES)/noise.md
	$(BIN)/python benchmarks/noise.py flipped --only "collection 1" --own 1 --out $(TABLES)/noise_own.md
	$(BIN)/python benchmarks/noise.py others --out $(TABLES)/noise_others.md
	$(BIN)/python benchmarks/noise.py confidences --out $(TABLES)/noise_confidences.md
	$(BIN)/python benchmarks/noise.py pccc --out $(TABLES)/noise_pccc.md
	$(BIN)/python benchmarks/noise.py gaps --out $(TABLES)/noise_gaps.md
	$(BIN)/python benchmarks/noise.py tiny --out $(TABLES)/noise_tiny.md
	$(BIN)/python benchmarks/noise.py large --out $(TABLES)/noise_large.md
	$(BIN)/python benchmarks/relax.py --out $(TABLES)/relax.md
	$(BIN)/python benchmarks/ablations.py three-colour --out $(TABLES)/three_colour.md

bench-dask: $(VENV)/.test  ## cluster 20,000,000 rows on two workers, beside one machine and dask-ml (23 GB, an hour)
	-$(PIP) install dask-ml
	$(BIN)/python benchmarks/dask_rows.py large --out $(TABLES)/dask.md $(ARGS)
	$(BIN)/python benchmarks/dask_rows.py passes --out $(TABLES)/dask_passes.md

bench-instructions: $(VENV)/.test  ## count instructions of the kernels, compare with the stored ones
	$(BIN)/python benchmarks/instructions.py $(ARGS)

clean:  ## remove the environment and everything built
	rm -rf $(VENV) .venv-address .venv-thread .venv-coverage build dist docs/_build
