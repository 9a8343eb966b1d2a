# `make help` lists what there is. ARGS goes to the tool behind a target:
# `make test ARGS="tests/trips -k roles"`, `make demo ARGS="--scale 10"`.

BIN := .venv/bin
MANAGE := $(BIN)/python manage.py
PORT := $(or $(PORT),$(shell sed -n 's/^PORT=//p' .env 2>/dev/null),8000)
MINUTES ?= 10
# What the environment says, before the default below hides it.
GIVEN_DEBUG := $(DEBUG)
# Development is the default; `make serve` and the check of production settings say otherwise.
DEBUG ?= true
export PORT DEBUG

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run serve demo development test check lint format schema messages soak soak-concurrent \
	fuzz mutate chaos bench bench-profile lock audit-deps clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

# -- Running --------------------------------------------------------------------------------------

run: override DEBUG := true
run: .venv/.runtime development ## Serve with demo data on this machine (PORT=8000); needs nothing first
	@$(MANAGE) migrate --verbosity 0
	@$(MANAGE) demo
	@echo
	@echo '  API docs    http://localhost:$(PORT)/api/docs'
	@echo '  Admin site  http://localhost:$(PORT)/admin'
	@echo
	@exec $(BIN)/python -m tripcompanion --bind 127.0.0.1:$(PORT)

serve: override DEBUG := false
serve: .venv/.runtime ## Serve with production settings, from the environment or .env
	@$(MANAGE) migrate --verbosity 0
	@exec $(BIN)/python -m tripcompanion $(ARGS)

demo: .venv/.runtime development ## Load the demo data; safe to repeat (ARGS="--scale 10" for more)
	@$(MANAGE) migrate --verbosity 0
	@$(MANAGE) demo $(ARGS)

# The demo accounts have a known password, and an ADMIN is among them.
development: override DEBUG := $(GIVEN_DEBUG)
development: .venv/.runtime
	@$(BIN)/python -m tripcompanion.environment

# -- Checking -------------------------------------------------------------------------------------

test: .venv/.dev ## Run the tests on SQLite and on PostgreSQL
	@$(BIN)/python -m tests.databases $(ARGS)

lint: .venv/.dev ## Check style, the order of imports and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy

# The two commands below read the models and settings only; no database is looked for.
NO_DATABASE := DATABASE_URL=sqlite://:memory:
PRODUCTION := DEBUG=false ALLOWED_HOSTS=api.example.com \
	CORS_ALLOWED_ORIGINS=https://app.example.com CSRF_TRUSTED_ORIGINS=https://api.example.com \
	SECRET_KEY=$$($(BIN)/python -c 'import secrets; print(secrets.token_urlsafe(48))')

check: lint ## Do what CI does: lint, migrations, settings, schema, tests, short fuzz and chaos
	$(NO_DATABASE) $(MANAGE) makemigrations --check --dry-run
	@echo 'manage.py check --deploy, under production settings'
	@$(NO_DATABASE) $(PRODUCTION) $(MANAGE) check --deploy --fail-level WARNING
	$(MANAGE) spectacular --validate --fail-on-warn --file .venv/openapi.yaml
	@cmp -s openapi.yaml .venv/openapi.yaml \
		|| { echo 'openapi.yaml is not up to date: run `make schema` and commit it.' >&2; exit 1; }
	@$(BIN)/python -m tests.databases --require-postgres $(ARGS)
	@MINUTES=0.75 $(BIN)/python -m tests.fuzz --seed 20260514
	@$(BIN)/python -m chaos --short

chaos: .venv/.dev ## Hurt the service while writers write, and count what is lost (5 minutes)
	@$(BIN)/python -m chaos $(ARGS)

soak: .venv/.dev ## Play random histories against the API for MINUTES=10
	@end=$$(($$(date +%s) + 60 * $(MINUTES))); \
	while [ $$(date +%s) -lt $$end ]; do \
		$(BIN)/python -m pytest -m soak --hypothesis-profile=soak $(ARGS) || exit 1; \
	done

soak-concurrent: .venv/.dev ## Play them from 16 threads for MINUTES=10, and judge every entry
	@MINUTES=$(MINUTES) $(BIN)/python -m tests.soak $(ARGS)

fuzz: .venv/.dev ## Send generated requests for MINUTES=10, with every check there is
	@MINUTES=$(MINUTES) $(BIN)/python -m tests.fuzz $(ARGS)

mutate: .venv/.dev ## Take every guard away in turn; which test notices? (ARGS="--only trips")
	@$(BIN)/python -m tests.mutations $(ARGS)

bench: .venv/.dev ## Measure the service against a floor (ARGS="--seconds 0.3 --only page")
	@$(BIN)/python -m benchmarks $(ARGS)

bench-profile: .venv/.dev ## Show where the time of an operation goes (OPERATION=page)
	@$(BIN)/python -m benchmarks --profile $(or $(OPERATION),page) $(ARGS)

audit-deps: .venv/.dev ## Look for known holes in the locked dependencies (needs the network)
	$(BIN)/pip-audit --disable-pip --require-hashes -r requirements-dev.txt

# -- Writing --------------------------------------------------------------------------------------

format: .venv/.dev ## Format the code and repair what ruff can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

schema: .venv/.dev ## Write openapi.yaml
	$(MANAGE) spectacular --validate --fail-on-warn --file openapi.yaml

messages: .venv/.dev ## Collect the texts into locale/, and compile the translations
	$(BIN)/pybabel --quiet extract --no-wrap --add-location=file --ignore-dirs='migrations' \
		--keywords='gettext_lazy ngettext_lazy:1,2 pgettext_lazy:1c,2' \
		--project='Trip Companion' --copyright-holder='Trip Companion contributors' \
		--output=.venv/django.pot tripcompanion users trips splits
	$(BIN)/pybabel --quiet update --no-wrap --no-fuzzy-matching --ignore-obsolete --init-missing \
		--ignore-pot-creation-date --domain=django --locale=es --output-dir=locale \
		--input-file=.venv/django.pot
	$(BIN)/pybabel compile --domain=django --directory=locale --statistics

lock: ## Lock the versions of pyproject.toml (ARGS=--upgrade takes the newest; needs uv)
	@command -v uv >/dev/null || { echo 'make lock needs uv: https://docs.astral.sh/uv' >&2; exit 1; }
	uv pip compile $(LOCK) --output-file requirements.txt $(ARGS)
	uv pip compile $(LOCK) --output-file requirements-dev.txt $(ARGS) \
		--group dev --constraints requirements.txt

LOCK := pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-annotate --custom-compile-command 'make lock'

clean: ## Remove .venv and all caches; the database stays
	rm -rf .venv .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# -- The virtual environment ----------------------------------------------------------------------

# Each candidate is tried, since a version manager's stub can be on PATH and yet not run.
.venv/bin/python:
	@for name in $(PYTHON) python3.13 python3.12 python3.11 python3; do \
		python=$$($$name -c 'import sys; sys.version_info < (3, 11) or print(sys.executable)' \
			2>/dev/null) || continue; \
		[ -z "$$python" ] || break; \
	done; \
	if [ -z "$$python" ]; then \
		echo 'Python 3.11 or newer is needed; install it, or name it: make PYTHON=/path/to/python3' >&2; \
		exit 1; \
	fi; \
	if command -v uv >/dev/null; then uv venv --quiet --clear --python "$$python" .venv; \
	else "$$python" -m venv --clear .venv; fi \
	|| { rm -rf .venv; echo 'Python has no venv: apt-get install python3-venv, or use uv' >&2; exit 1; }

INSTALL = echo 'Installing $(1)' && if command -v uv >/dev/null; \
	then uv pip install --quiet --python $(BIN)/python --require-hashes -r $(1); \
	else $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(1); fi

.venv/.runtime: requirements.txt | .venv/bin/python
	@$(call INSTALL,requirements.txt)
	@touch $@

.venv/.dev: requirements-dev.txt requirements.txt | .venv/bin/python
	@$(call INSTALL,requirements-dev.txt)
	@touch .venv/.runtime $@
