# `make help` lists the targets. ARGS is passed to the tool behind a target:
# `make test ARGS="tests/trips -k roles"`, `make demo ARGS="--scale 10"`.

BIN := .venv/bin
MANAGE := $(BIN)/python manage.py
PORT := $(or $(PORT),$(shell sed -n 's/^PORT=//p' .env 2>/dev/null),8000)
PUBLIC_URL := $(or $(PUBLIC_URL),$(shell sed -n 's/^PUBLIC_URL=//p' .env 2>/dev/null),http://localhost:$(PORT))
MINUTES ?= 10
# The value from the environment, before the default below hides it.
GIVEN_DEBUG := $(DEBUG)
# Development is the default; `make serve` and the check of production settings override it.
DEBUG ?= true
export PORT DEBUG

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run serve demo development test test-all check static short-fuzz \
	short-chaos lint format schema screenshots messages soak soak-concurrent fuzz fuzz-files fuzz-imports \
	mutate mutate-pure test-core plugins-out lines chaos backup-drill \
	cluster compose bench bench-profile trace lock audit-deps clean test-next test-uncompiled clients release node

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

# -- Running --------------------------------------------------------------------------------------

run: override DEBUG := $(GIVEN_DEBUG)
run: .venv/.runtime ## Serve with demo data on localhost (PORT=8000); no setup needed
	@exec $(BIN)/python -m tripcompanion run

serve: override DEBUG := false
serve: .venv/.runtime ## Serve with production settings, from the environment or .env
	@echo 'Migrating the database ...'
	@$(BIN)/python -m tripcompanion migrate --verbosity 0
	@echo
	@echo '  Serves      port $(PORT), for the proxy of $(PUBLIC_URL)'
	@echo '  API docs    $(PUBLIC_URL)/api/docs'
	@echo '  Admin site  $(PUBLIC_URL)/admin'
	@echo
	@exec $(BIN)/python -m tripcompanion serve $(ARGS)

demo: .venv/.runtime development ## Load the demo data; safe to repeat (ARGS="--scale 10" for more)
	@$(MANAGE) migrate_safely --verbosity 0
	@$(MANAGE) demo --splitwise $(ARGS)

# The demo accounts, including an ADMIN, have a known password. From then on `manage.py` works by itself.
development: override DEBUG := $(GIVEN_DEBUG)
development: .venv/.runtime
	@$(BIN)/python -m tripcompanion.environment
	@touch .development

# -- Checking -------------------------------------------------------------------------------------

test: .venv/.dev ## Run most tests on SQLite, or those in ARGS on both databases
	@$(BIN)/python -m tests.databases $(or $(ARGS),--sqlite -m "not slow" -rs)

test-all: .venv/.dev ## Run all tests on SQLite and PostgreSQL
	@$(BIN)/python -m tests.databases

test-core: .venv/.dev ## Run the tests of the core without any plugin, on SQLite (ARGS=--full: all of them)
	@PLUGINS= $(BIN)/python -m tests.databases --sqlite -n2 tests \
		$(if $(filter --full,$(ARGS)),$(filter-out --full,$(ARGS)),--in-process $(ARGS))

plugins-out: .venv/.dev ## Take each plugin out of a copy, then all, and check what remains (ARGS=webhooks)
	@$(BIN)/python -m tests.plugins_out $(ARGS)

lines: .venv/.dev ## Count the lines of the core, of each plugin, of tests and of tools
	@$(BIN)/python -m tests.lines

rows: .venv/.dev ## Print the known attacks, and the test that each fails
	@$(BIN)/python -m tests.security.rows

test-uncompiled: .venv/.dev ## Run the tests without compiled queries and serializers
	@COMPILED_QUERIES=false $(BIN)/python -m tests.databases $(ARGS)

test-next: .venv/next/.dev ## Run the tests with the newest Django 6 (needs Python 3.12 or newer)
	@PYTEST_ADDOPTS='-W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning' \
		.venv/next/bin/python -m tests.databases $(ARGS)

lint: .venv/.dev ## Check style, import layers and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy

# The two commands below read only models and settings, so they need no database.
NO_DATABASE := DATABASE_URL=sqlite://:memory:
PRODUCTION := DEBUG=false ALLOWED_HOSTS=api.example.com \
	CORS_ALLOWED_ORIGINS=https://app.example.com CSRF_TRUSTED_ORIGINS=https://api.example.com \
	SECRET_KEY=$$($(BIN)/python -c 'import secrets; print(secrets.token_urlsafe(48))')

check: export REQUIRE_ALL := 1
check: node ## Run what CI does (12 minutes): lint, migrations, schema, most tests, fuzz, chaos, clients
	@$(MAKE) --jobs=2 .venv/.dev $(CLIENT_TOOLS)
	@$(MAKE) --jobs=2 $(OUTPUT_SYNC) clients short-chaos static short-fuzz ARGS=--check
	@$(BIN)/python -m tests.databases --require-postgres --short $(ARGS)

# Each needs one core. The make of macOS prints what they say as it comes.
OUTPUT_SYNC := $(if $(filter output-sync,$(.FEATURES)),--output-sync=recurse)

static: lint
	$(NO_DATABASE) $(MANAGE) makemigrations --check --dry-run
	@echo 'manage.py check --deploy, under production settings'
	@$(NO_DATABASE) $(PRODUCTION) $(MANAGE) check --deploy --fail-level WARNING
	$(MANAGE) spectacular --validate --fail-on-warn --file .venv/openapi.yaml
	@cmp -s openapi.yaml .venv/openapi.yaml \
		|| { echo 'openapi.yaml is not up to date: run `make schema` and commit it.' >&2; exit 1; }
	$(BIN)/python -m clients.breaking

short-fuzz:
	@MINUTES=0.4 $(BIN)/python -m tests.fuzz --seed 20260514

short-chaos:
	@$(BIN)/python -m chaos --short

chaos: .venv/.dev ## Cause failures under load and count lost writes (15 minutes)
	@$(BIN)/python -m chaos $(ARGS)

backup-drill: .venv/.dev ## Back up both databases under load, restore the backups and a point in time, audit and compare
	@$(BIN)/python -m chaos --only F25,F37,F39

cluster: .venv/.dev ## Run several hosts, a pooler and standbys, and hurt them (15 minutes)
	@$(BIN)/python -m chaos.cluster $(ARGS)

compose: .venv/.dev ## Start docker-compose.yml, upgrade it under load, back up, restore, remove (needs Docker)
	@$(BIN)/python -m chaos.compose $(ARGS)

# Runs the tests that are its argument again and again, with other random values each time.
define REPEAT
@end=$$(($$(date +%s) + 60 * $(MINUTES))); \
while [ $$(date +%s) -lt $$end ]; do \
	$(BIN)/python -m pytest --hypothesis-profile=soak $(1) $(ARGS) || exit 1; \
done
endef

soak: .venv/.dev ## Run random histories against the API for MINUTES=10
	$(call REPEAT,-m soak)

soak-concurrent: .venv/.dev ## Run them from 16 threads for MINUTES=10 and verify every change
	@MINUTES=$(MINUTES) $(BIN)/python -m tests.soak $(ARGS)

fuzz: .venv/.dev ## Send generated requests for MINUTES=10, with all checks of schemathesis
	@MINUTES=$(MINUTES) $(BIN)/python -m tests.fuzz $(ARGS)

fuzz-files: .venv/.dev ## Send mutated pictures and files for MINUTES=10; no 5xx, little memory
	@MINUTES=$(MINUTES) DEBUG=true $(BIN)/python -m plugins.attachments.tests.fuzz $(ARGS)

fuzz-imports: .venv/.dev ## Import files that were damaged at random for MINUTES=10; no 5xx, a refusal writes nothing
	$(call REPEAT,plugins/exchange/tests/test_fuzz.py)

mutate: .venv/.dev ## Remove every guard in turn and report the failing test (ARGS="--only trips")
	@$(BIN)/python -m tests.mutations $(ARGS)

mutate-pure: .venv/.dev .venv/mutants/.installed ## Change each line of the arithmetic with mutmut (ARGS="splits.money*")
	@$(BIN)/python -m tests.mutations.pure $(ARGS)

bench: .venv/.dev .venv/production/.installed ## Measure the service against a baseline (ARGS="--seconds 0.3 --only page")
	@$(BIN)/python -m benchmarks $(ARGS) $(if $(ARGS),,&& $(BIN)/python -m benchmarks.importing && \
		$(BIN)/python -m benchmarks.waiting && $(BIN)/python -m benchmarks.searching && \
		$(BIN)/python -m benchmarks.itinerary)

bench-profile: .venv/.dev ## Profile one operation (OPERATION=page)
	@$(BIN)/python -m benchmarks --profile $(or $(OPERATION),page) $(ARGS)

trace: .venv/.dev ## Count how often a request moves between files (ARGS=--pairs)
	@$(NO_DATABASE) $(BIN)/python -m benchmarks.trace $(ARGS)

CLIENT_TOOLS := clients/node_modules/.package-lock.json .venv/clients/.installed .venv/clients-3.13/.installed
clients: node $(CLIENT_TOOLS) .venv/.dev ## Generate clients, compile them and use them (needs Node.js 20)
	@$(BIN)/python -m clients $(ARGS)

release: node $(CLIENT_TOOLS) .venv/.dev ## Build packages and image in dist/, and try each (needs Node.js 20)
	@$(BIN)/python -m clients.release

node:
	@node -e 'process.exit(+(process.version.localeCompare("v20.19", "en", { numeric: true }) < 0))' \
		2>/dev/null && command -v npm >/dev/null \
		|| { echo 'make clients and make check need Node.js 20.19 or newer with npm: https://nodejs.org' >&2; exit 1; }

audit-deps: .venv/.dev ## Check the locked dependencies for known vulnerabilities (needs the network)
	$(BIN)/pip-audit --disable-pip --require-hashes -r requirements-dev.txt

# -- Writing --------------------------------------------------------------------------------------

format: .venv/.dev ## Format the code and apply ruff's fixes
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

schema: .venv/.dev ## Write openapi.yaml, the tables of error codes and roles, and the JSON schemas
	$(MANAGE) spectacular --validate --fail-on-warn --file openapi.yaml
	@WRITE_ERROR_CODES=1 $(BIN)/python -m pytest -q -n0 tests/test_error_codes.py
	@WRITE_ROLES=1 $(BIN)/python -m pytest -q -n0 plugins/demo/tests/test_readme.py -k table_of_roles
	$(MANAGE) trip_schema > docs/trip-export.schema.json
	@WRITE_TOOL_SCHEMAS=1 $(BIN)/python -m pytest -q -n0 plugins/mcp/tests/test_schemas.py

examples: .venv/.dev ## Write the responses of the examples, as the service answers them
	@WRITE_EXAMPLES=1 $(BIN)/python -m pytest -q plugins/demo/tests/test_examples.py

screenshots: .venv/.dev ## Take the pictures of the README in headless Chromium (ARGS=folder: of all pages)
	@$(BIN)/python -m tests.screenshots $(ARGS)

messages: .venv/.dev ## Collect the texts into locale/ and compile the translations
	$(BIN)/python -m babel.messages.frontend --quiet extract --mapping=pyproject.toml \
		--no-wrap --add-location=file --ignore-dirs='migrations' \
		--keywords='gettext_lazy ngettext_lazy:1,2 pgettext_lazy:1c,2' \
		--project='Trip Companion' --copyright-holder='Trip Companion contributors' \
		--output=.venv/django.pot tripcompanion users trips splits plugins
	$(BIN)/pybabel --quiet update --no-wrap --no-fuzzy-matching --ignore-obsolete --init-missing \
		--ignore-pot-creation-date --domain=django --locale=es --output-dir=locale \
		--input-file=.venv/django.pot
	$(BIN)/pybabel compile --domain=django --directory=locale --statistics

lock: ## Lock the versions of pyproject.toml (ARGS=--upgrade selects the newest; needs uv)
	@command -v uv >/dev/null || { echo 'make lock needs uv: https://docs.astral.sh/uv' >&2; exit 1; }
	uv pip compile $(LOCK) --output-file requirements-extras.txt $(ARGS) --all-extras
	uv pip compile $(LOCK) --output-file requirements.txt $(ARGS) \
		--extra asymmetric --constraints requirements-extras.txt
	uv pip compile $(LOCK) --output-file requirements-dev.txt $(ARGS) \
		--all-extras --group dev --constraints requirements-extras.txt
	uv pip compile $(LOCK_OPTIONS) --output-file clients/requirements.txt $(ARGS) \
		--group clients --constraints requirements-dev.txt
	uv pip compile $(LOCK_OPTIONS) --output-file requirements-mutants.txt $(ARGS) \
		--group mutants --constraints requirements-dev.txt
	uv pip compile $(subst 3.11,3.13,$(LOCK_OPTIONS)) $(ARGS) \
		--output-file clients/requirements-3.13.txt --group clients-newer

LOCK_OPTIONS := --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-annotate --custom-compile-command 'make lock'
LOCK := pyproject.toml $(LOCK_OPTIONS)

clean: ## Remove .venv, node_modules and all caches; the database is kept
	rm -rf clients/generated clients/node_modules .venv .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# -- The virtual environment ----------------------------------------------------------------------

# Try each candidate: a version manager's stub may be on PATH and still not run.
.venv/bin/python:
	@for name in $(PYTHON) python3.13 python3.12 python3.11 python3; do \
		python=$$($$name -c 'import sys; sys.version_info < (3, 11) or print(sys.executable)' \
			2>/dev/null) || continue; \
		[ -z "$$python" ] || break; \
	done; \
	if [ -z "$$python" ]; then \
		echo 'Python 3.11 or newer is needed; install it, or set it: make PYTHON=/path/to/python3' >&2; \
		exit 1; \
	fi; \
	if command -v uv >/dev/null; then uv venv --quiet --clear --python "$$python" .venv; \
	else "$$python" -m venv --clear .venv; fi \
	|| { rm -rf .venv; echo 'Python has no venv: apt-get install python3-venv, or use uv' >&2; exit 1; }

# A module is compiled when it is first imported; pip would compile all, which takes as long again.
INSTALL = echo 'Installing $(1)' && if command -v uv >/dev/null; \
	then uv pip install --quiet --python $(BIN)/python --require-hashes $(2) -r $(1); \
	else $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile \
		--require-hashes $(2) -r $(1); fi

.venv/.runtime: requirements.txt | .venv/bin/python
	@$(call INSTALL,requirements.txt)
	@touch $@

.venv/.dev: requirements-dev.txt requirements.txt | .venv/bin/python
	@$(call INSTALL,requirements-dev.txt)
	@touch .venv/.runtime $@

# What an image contains, for measurements.
.venv/production/.installed: BIN := .venv/production/bin
.venv/production/.installed: requirements.txt | .venv/bin/python
	@.venv/bin/python -m venv --clear .venv/production
	@$(call INSTALL,requirements.txt)
	@touch $@

.venv/mutants/.installed: requirements-mutants.txt | .venv/bin/python
	@$(call INSTALL,requirements-mutants.txt,--target .venv/mutants)
	@touch $@

.venv/clients/.installed: BIN := .venv/clients/bin
.venv/clients/.installed: clients/requirements.txt | .venv/bin/python
	@.venv/bin/python -m venv --clear .venv/clients
	@$(call INSTALL,clients/requirements.txt)
	@touch $@

# Without Python 3.13 the folder stays empty, and its story is skipped. pyenv has only those on PATH
# that it was told to use.
.venv/clients-3.13/.installed: BIN := .venv/clients-3.13/bin
.venv/clients-3.13/.installed: clients/requirements-3.13.txt | .venv/bin/python
	@mkdir -p $(dir $@)
	@for python in python3.13 $(wildcard ~/.pyenv/versions/3.13.*/bin/python3.13); do \
		$$python -c '' 2>/dev/null || continue; \
		$$python -m venv --clear .venv/clients-3.13 && $(call INSTALL,clients/requirements-3.13.txt) || exit 1; \
		break; \
	done
	@touch $@

clients/node_modules/.package-lock.json: clients/package-lock.json
	@echo 'Installing clients/package-lock.json'
	@cd clients && npm ci --prefer-offline --loglevel=error
	@touch $@

# The locked versions, except for Django.
.venv/next/.dev: requirements-dev.txt | .venv/bin/python
	@for name in $(PYTHON) python3.14 python3.13 python3.12 python3; do \
		python=$$($$name -c 'import sys; sys.version_info < (3, 12) or print(sys.executable)' \
			2>/dev/null) || continue; \
		[ -z "$$python" ] || break; \
	done; \
	if [ -z "$$python" ]; then \
		echo 'Django 6 needs Python 3.12 or newer: make test-next PYTHON=/path/to/python3' >&2; \
		exit 1; \
	fi; \
	"$$python" -m venv --clear .venv/next
	@.venv/next/bin/python -m pip install --quiet --disable-pip-version-check \
		--require-hashes -r requirements-dev.txt
	@.venv/next/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'django>=6,<7'
	@touch $@
