# Everyday commands. `make` alone prints them; CI runs the same targets.
SHELL := /bin/bash
.DEFAULT_GOAL := help
# Files are made by the rules below only. A search for other rules, for each of 3,000 sources, takes a second.
MAKEFLAGS += --no-builtin-rules
NODE_FLAGS := --enable-source-maps
# glibc keeps an arena for each thread; those of threads that come and go would stay resident.
export MALLOC_ARENA_MAX ?= 2
# Large buffers go back to the system when they are done with. Left alone, glibc keeps ever larger ones.
export MALLOC_MMAP_THRESHOLD_ ?= 131072
export MALLOC_TRIM_THRESHOLD_ ?= 131072
HEAP_MB ?= $(or $(MILLRACE_HEAP_MB),1024)
# Half of the engine's own 16: as fast, and half as much that lies about between two collections.
SERVE_FLAGS = $(NODE_FLAGS) --max-old-space-size=$(HEAP_MB) --max-semi-space-size=8
MOCHA := node_modules/.bin/mocha --unhandled-rejections=warn --require ./dist/test/support/library-settings.js --require ./dist/test/support/file-results.js
# The number of processes follows; each takes the next file. Quick tests wait for half of their time: two processes keep a core busy.
SIDE_BY_SIDE = $(MOCHA) --parallel --jobs
LANES := $(shell echo $$((2 * $$(nproc))))
SOURCES := $(shell find src test bench -type f 2>/dev/null)
# Of the documentation's site.
PAGES := README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md $(shell find docs -type f 2>/dev/null)

.PHONY: help install build package site run dev typecheck lint format test test-smoke test-integration test-browser test-timed test-differential test-sim test-chaos test-fuzz test-random \
        bench bench-quick check docs house manifests pictures clean up down

help: ## prints this list
	@grep -hE '^[a-z%-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z%-]+):.*## /\1\t/' | expand -t 20

node_modules/.installed: package.json package-lock.json
	@node -e 'const [a, b] = process.versions.node.split(".").map(Number); if (a < 20 || (a === 20 && b < 19) || a > 26) { console.error("millrace needs Node.js 24 (20.19, 22 and 26 work too), this is " + process.version); process.exit(1) }'
	@echo 'Installing the pinned packages …' >&2
	@npm ci --no-audit --no-fund --loglevel=error >/dev/null
	@touch $@

install: node_modules/.installed ## installs the pinned packages

dist/.built: node_modules/.installed tsconfig.json infra/bundle.mjs infra/direct-imports.mjs infra/licenses.mjs infra/left-out.mjs infra/media-types.json infra/build-console.mjs infra/build.sh infra/build-site.mjs infra/api-document.mjs infra/built-files.mjs infra/write-api-types.mjs $(wildcard infra/site/*) $(PAGES) $(SOURCES)
	@npm run --silent build
	@touch $@

build: dist/.built ## compiles everything into dist/

run: dist/.built ## installs what is missing, builds, starts everything, prints the ready line
	@exec node $(SERVE_FLAGS) dist/src/cli/main.js serve

dev: node_modules/.installed ## one process, rebuilt and restarted when a source changes
	node_modules/.bin/tsc -p . --watch --preserveWatchOutput & \
	trap 'kill %1' EXIT; node $(SERVE_FLAGS) --watch dist/src/cli/main.js serve

package: dist/.built ## builds and packs the npm package: millrace-<version>.tgz
	node infra/package.mjs

site: dist/.built ## builds the documentation as static files: SITE=folder, default .cache/site
	node infra/build-site.mjs $(or $(SITE),.cache/site)

typecheck: dist/.built ## checks types and writes nothing
	node_modules/.bin/tsc -p . --noEmit
	node_modules/.bin/tsc -p src/console

lint: node_modules/.installed ## finds what the linter and the formatter would change
	node_modules/.bin/biome check --error-on-warnings .

format: node_modules/.installed ## formats every file
	node_modules/.bin/biome format --write .

.PHONY: hooks
hooks: ## lints before each commit in this clone, as CI will
	git config core.hooksPath infra/git-hooks

QUICK := 'dist/test/{unit,spec,contract,fuzz}/**/*.test.js'
test: dist/.built ## unit, spec, contract and fuzz tests, no server; chance is repeated a quarter as often as in test-fuzz
	$(SIDE_BY_SIDE) $(LANES) $(QUICK)

test-smoke: dist/.built ## `make run` used by published clients, killed and started again
	$(MOCHA) --exit 'dist/test/smoke/*.test.js'

# The parts that call Node's own modules. The rest computes: one release shows it.
CALLS_OF_NODE := 'dist/test/{unit/{adapters,edge,cli,kernel,journal,infra},spec/{edge-*,resp,actors},contract,fuzz}/**/*.test.js'
# The PATH makes `make run`, and programs that tests start with `node`, use that release too. Each release uses another
# seed.
test-node-%: dist/.built ## test and test-smoke on another release of Node.js: make test-node-24
	@bin=$$(infra/fetch-node.sh $*) || exit 1; \
	export PATH="$$bin:$$PATH" PROPERTY_SEED=$*; echo "Node.js $$(node --version)"; \
	$(SIDE_BY_SIDE) $(shell nproc) $(CALLS_OF_NODE); failures=$$?; \
	$(MOCHA) --exit 'dist/test/smoke/*.test.js' && exit $$failures

# Most of these wait for something for half of the time: four lanes keep two cores busy. Files of workflows share a server, so they are
# in one process of mocha, and the tests of clusters are in one lane. All other files are shared out over the last two lanes. The tests
# of read models are with the queues, and those of pages and traces with the clusters, so that no lane runs for minutes after the others.
INTEGRATION := dist/test/integration
LANE_OF_QUEUES := $(INTEGRATION)/{queue,workflow,read-side}/**/*.test.js
LANE_OF_CLUSTERS := $(INTEGRATION)/{{cluster,docs,traces}/**/*.test.js,serve/data-commands.test.js}
# The longest come first, so that the lanes end at about the same time.
INTEGRATION_LONGEST := $(patsubst %,$(INTEGRATION)/%.test.js,management/published-cli backup journal-tampering journal-replay interrupted-commands triggers/triggers)
OF_OTHER_LANES := $(addprefix $(INTEGRATION)/,queue/% workflow/% read-side/% traces/% cluster/% docs/% serve/data-commands.test.js)
INTEGRATION_OTHERS = $(filter-out $(OF_OTHER_LANES) $(INTEGRATION_LONGEST),$(shell find $(INTEGRATION) -name '*.test.js' | sort))
test-integration: dist/.built ## against real servers, processes and published client packages
	infra/fetch-redis.sh
	@failures=0; lanes=; \
	$(MOCHA) --exit --timeout 60000 --ignore '$(TIMED_INTEGRATION)' '$(LANE_OF_QUEUES)' & lanes="$$lanes $$!"; \
	$(MOCHA) --exit --timeout 60000 '$(LANE_OF_CLUSTERS)' & lanes="$$lanes $$!"; \
	$(SIDE_BY_SIDE) 2 --exit --timeout 60000 $(INTEGRATION_LONGEST) $(INTEGRATION_OTHERS) || failures=1; \
	for lane in $$lanes; do wait $$lane || failures=1; done; exit $$failures

# The longest come first, so that the lanes end at about the same time. Each waits for half of its time.
BROWSER_LONGEST := $(patsubst %,dist/test/browser/%.test.js,past data-values queue-parts checklist workflows search databases overview queue)
BROWSER_OTHERS = $(filter-out $(BROWSER_LONGEST),$(wildcard dist/test/browser/*.test.js))
test-browser: dist/.built ## the console in a real browser, on a real process
	$(SIDE_BY_SIDE) 3 --exit --timeout 180000 $(BROWSER_LONGEST) $(BROWSER_OTHERS)

# These judge times, or need all processors: no other test may run at the same time.
TIMED_INTEGRATION := dist/test/integration/queue/silent-destinations.test.js
TIMED_BROWSER := dist/test/browser/speed/*.test.js
TIMED_CHAOS = $(wildcard $(addprefix dist/test/chaos/,attacks*.test.js cluster-faults.test.js rolling-restart.test.js versions.test.js))
test-timed: dist/.built ## what is judged by the time that it takes, one file after the other
	$(MOCHA) --exit --timeout 60000 '$(TIMED_INTEGRATION)' '$(TIMED_BROWSER)'; failures=$$?; \
	$(CHAOS_DICE) $(MOCHA) $(CHAOS_TIME) $(TIMED_CHAOS) && exit $$failures

test-differential: dist/.built ## same commands, same replies as a real Redis
	infra/fetch-redis.sh
	$(MOCHA) --timeout 120000 'dist/test/differential/**/*.test.js'

test-sim: dist/.built ## simulation; SEED=n replays one, SIM_SEEDS=n runs so many
	$(if $(SEED),SIM_SEED=$(SEED)) $(MOCHA) --timeout 540000 'dist/test/simulation/**/*.test.js'

# The longest come first, so that the lanes end at about the same time. Each waits for three quarters of its time.
CHAOS_LONGEST := $(patsubst %,dist/test/chaos/%.test.js,workers backup-kills read-models queue-conservation queue-crash-points embedded-kills unknown-outcome workflow-model workflow-crash-points)
CHAOS_OTHERS = $(filter-out $(TIMED_CHAOS) $(CHAOS_LONGEST),$(wildcard dist/test/chaos/*.test.js))
CHAOS_DICE = $(if $(SEED),CHAOS_SEED=$(SEED)) $(if $(MINUTES),CHAOS_MINUTES=$(MINUTES))
CHAOS_TIME := --exit --timeout 540000
test-chaos: dist/.built ## kills, freezes and cuts off real processes; MINUTES=n of a cluster's faults alone, SEED=n those dice
ifdef MINUTES
	$(CHAOS_DICE) $(MOCHA) $(CHAOS_TIME) dist/test/chaos/cluster-faults.test.js
else
	$(CHAOS_DICE) $(SIDE_BY_SIDE) 3 $(CHAOS_TIME) $(CHAOS_LONGEST) $(CHAOS_OTHERS)
endif

# For .ci/run: again-test-node-24 runs the files on that release, as the tier did.
again-test-node-%: dist/.built
	bin=$$(infra/fetch-node.sh $*) && PATH="$$bin:$$PATH" PROPERTY_SEED=$* $(MOCHA) $(CHAOS_TIME) $(FILES)

again-%: dist/.built
	$(MOCHA) $(CHAOS_TIME) $(FILES)

test-fuzz: dist/.built ## any request to every endpoint; FUZZ_SECONDS=n for so long, FUZZ_SEED=n replays
	FUZZ_SECONDS=$(or $(FUZZ_SECONDS),60) $(MOCHA) 'dist/test/fuzz/**/*.test.js'

# CI tries the values of four seeds instead, one with each release of Node.js. dist/test has the files that ask for the depth.
test-random: dist/.built ## what `make test` repeats less often, in full; PROPERTY_SEED=n for other values
	TEST_DEPTH=full $(MOCHA) $$(grep -rl --include='*.test.js' support/depth.js dist/test/{unit,spec,contract})

# AGAINST: another commit, which is built next to this one; the benchmark measures both in turn.
bench: dist/.built ## prints ratios against the alternatives in the same run; AGAINST=<commit> against that build too
	$(if $(AGAINST),infra/build-commit.sh $(AGAINST) .cache/against)
	$(if $(AGAINST),BENCH_AGAINST=.cache/against) node $(NODE_FLAGS) dist/bench/main.js $(BENCH)

bench-quick: dist/.built ## every bench at a small size, to see that it works
	QUICK=1 BENCH_PART=1/2 node $(NODE_FLAGS) dist/bench/main.js & first=$$!; \
	QUICK=1 BENCH_PART=2/2 node $(NODE_FLAGS) dist/bench/main.js; second=$$?; wait $$first && exit $$second

docs: dist/.built ## writes the generated pages
	node dist/src/config/write-settings-page.js
	node dist/src/cli/write-docs.js
	node infra/write-limits-page.mjs
	node infra/write-metrics-page.mjs
	node infra/write-house.mjs
	node infra/dashboards/write.mjs

manifests: ## renders infra/helm into infra/kubernetes
	infra/fetch-helm.sh
	infra/write-manifests.sh

house: dist/.built ## draws the folders of src and their imports: docs/house.svg
	node infra/write-house.mjs

pictures: dist/.built ## takes the pictures of the console in docs/images
	node infra/picture-console.mjs

check: lint typecheck test test-smoke test-integration test-browser test-differential test-sim test-chaos test-timed test-fuzz test-random ## everything a reviewer will run

up: dist/.built ## a cluster on loopback: nats-servers, processes, a balancer, users by role, TLS
	infra/local-cluster.sh start

down: ## stops what `up` started
	infra/local-cluster.sh stop

clean: ## removes what was built; data and fetched tools stay
	rm -rf dist node_modules/.installed
