# Tristep. The two commands most people need: make run, make test.
# Everything is installed into .venv from lock files with hashes; Python 3.11 or later is all that must be there.

PYTHON ?= python3
HOST ?= 127.0.0.1
PORT ?= 8000
# 0: no demo project in an empty database; only: a public demo
DEMO ?= 1
# Processes for the tests on SQLite, beside one on PostgreSQL: with four of them two cores stand idle for a twentieth of
# the time, with three for a seventh, since tests in browsers wait (docs/decisions/0019). With 0 pytest runs them itself,
# and starts no process of its own.
JOBS ?= 4

VENV := .venv
BIN := $(VENV)/bin
UV := VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv
.DEFAULT_GOAL := help
# A test run starts some hundred processes; without compiled modules on disk each compiles all that it imports
# anew, which doubled the time of the whole. __pycache__ is ignored by git.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install dev run test test-connections test-js test-sqlite test-postgres coverage format diagram client settings messages \
	wheel real-servers check-kubernetes bench-connections peers bench-peers bench screenshots lock audit clean check check-code check-types check-settings check-scripts check-templates check-house \
	check-collection

help:
	@echo "make run [PORT=8000] [HOST=127.0.0.1]   serve Tristep, with the demo project when the database is empty"
	@echo "make run DEMO=0                         the same without the demo project, to begin with an empty one"
	@echo "make run DEMO=only                      a public demo: everybody may look and try, and nothing is kept"
	@echo "make test                               all tests, on SQLite and on PostgreSQL"
	@echo "make test-connections                   connections with a real MLflow, Phoenix and moto, which it installs"
	@echo "make check-kubernetes                   the manifests of deploy/kubernetes, by a linter that it installs"
	@echo "make coverage                           which lines of the product the tests on SQLite run"
	@echo "make check                              formatting, types, the walls of the house, settings"
	@echo "make bench                              speed and memory on SQLite and PostgreSQL"
	@echo "make bench-connections                  pulls from a real MLflow and Phoenix, which it installs"
	@echo "make bench-peers                        beside Label Studio and Potato, which it installs"
	@echo "make screenshots                        the pictures in docs/screenshots"
	@echo "make diagram                            the rooms and their imports, drawn into docs/design.md"
	@echo "make client                             the models of the Python client, from the schema of the API"
	@echo "make wheel                              the wheel \`tristep\`, for machines without a checkout, in dist/"
	@echo "make settings                           the table of a judge's settings, written into docs/judges.md"
	@echo "make messages [NEW=fr]                  renew the translations, list what they lack; begin a language"
	@echo "make install | dev                      the environment to run | to develop"
	@echo "make audit                              the locked packages against the known vulnerabilities"
	@echo "make format | lock | clean              format the code | renew the lock files | remove what was made"

# ── Environment ───────────────────────────
$(VENV)/.uv: requirements-uv.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Tristep needs Python 3.11 or later; set PYTHON=python3.11 or the like." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "This Python cannot make virtual environments; install its venv module (Debian: python3-venv)." >&2; \
		exit 1; }
	@echo "Preparing $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r requirements-uv.lock
	@touch $@

$(VENV)/.runtime: requirements.lock $(VENV)/.uv
	@echo "Installing what Tristep needs to run"
	@$(UV) pip sync --quiet --require-hashes requirements.lock
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.uv
	@$(UV) pip sync --quiet --require-hashes requirements-dev.lock
	@touch $(VENV)/.runtime $@

# An environment for development stays one: it holds everything that running needs.
install: $(if $(wildcard $(VENV)/.dev),$(VENV)/.dev,$(VENV)/.runtime)
	@:

dev: $(VENV)/.dev
	@:

node_modules/.installed: package.json package-lock.json | $(VENV)/.dev
	@PATH="$(CURDIR)/$(BIN):$$PATH" npm ci --silent --no-audit --no-fund --ignore-scripts
	@touch $@

# ── Use ───────────────────────────────────
run: install
	@exec $(BIN)/python -m config.serve --host "$(HOST)" --port "$(PORT)" \
		$(if $(filter 0,$(DEMO)),--no-demo) $(if $(filter only,$(DEMO)),--demo-only)

# ── Tests ─────────────────────────────────
test: install dev test-js node_modules/.installed $(VENV)/.warm
	@$(BIN)/python -m tests.chromium
	@# both at once, so that neither leaves a core idle at its end; PostgreSQL's report comes last
	@report=$$(mktemp); trap 'rm -f "$$report"' EXIT; \
	$(MAKE) --no-print-directory test-postgres JOBS=0 >"$$report" 2>&1 & postgres=$$!; \
	sqlite=0; $(MAKE) --no-print-directory test-sqlite || sqlite=$$?; \
	wait $$postgres && cat "$$report" && exit $$sqlite || { cat "$$report"; exit 1; }

# with the real MLflow and Phoenix in an environment of their own each, which takes minutes to install
REAL_SERVERS := var/real-servers
real-servers: dev $(REAL_SERVERS)/.mlflow-3.17.2 $(REAL_SERVERS)/.arize-phoenix-20.26.1 $(REAL_SERVERS)/.moto-5.2.5
	@:

test-connections: real-servers
	@REAL_SERVERS="$(CURDIR)/$(REAL_SERVERS)" TRISTEP_TEST_DB=sqlite $(BIN)/python -m pytest -q tests/connections $(ARGS)

$(REAL_SERVERS)/.mlflow-%: $(VENV)/.uv
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(REAL_SERVERS)/mlflow
	@VIRTUAL_ENV="$(CURDIR)/$(REAL_SERVERS)/mlflow" $(BIN)/uv pip install --quiet "mlflow==$*"
	@touch $@

$(REAL_SERVERS)/.moto-%: $(VENV)/.uv
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(REAL_SERVERS)/moto
	@VIRTUAL_ENV="$(CURDIR)/$(REAL_SERVERS)/moto" $(BIN)/uv pip install --quiet "moto[server]==$*"
	@touch $@

$(REAL_SERVERS)/.arize-phoenix-%: $(VENV)/.uv
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(REAL_SERVERS)/phoenix
	@VIRTUAL_ENV="$(CURDIR)/$(REAL_SERVERS)/phoenix" $(BIN)/uv pip install --quiet "arize-phoenix==$*"
	@touch $@

# the manifests of deploy/kubernetes by a linter in an environment of its own (100 MB)
check-kubernetes: var/kubernetes/.kubernetes-validate-1.37.0
	@var/kubernetes/bin/kubernetes-validate --strict --no-warn --kubernetes-version 1.37 \
		$(filter-out %/kustomization.yaml,$(wildcard deploy/kubernetes/*.yaml))

var/kubernetes/.kubernetes-validate-%: $(VENV)/.uv
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python var/kubernetes
	@VIRTUAL_ENV="$(CURDIR)/var/kubernetes" $(BIN)/uv pip install --quiet "kubernetes-validate==$*"
	@touch $@

test-js: dev
	@$(BIN)/node --test "tests/js/*.test.mjs"

# Once after each installation. All processes of a run begin together: without this each of them would compile
# everything that the tests import, and wait for one to migrate the template of their databases.
$(VENV)/.warm: $(VENV)/.dev
	@TRISTEP_TEST_DB=sqlite $(BIN)/python -m pytest -q -k is_content_with_a_migrated_database >$@.log || { cat $@.log; exit 1; }
	@mv $@.log $@

test-sqlite: dev $(VENV)/.warm
	@TRISTEP_TEST_DB=sqlite $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal $(ARGS)

test-postgres: dev $(VENV)/.warm
	@TRISTEP_TEST_DB=postgres $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal $(ARGS)

# beside the tests of .ci/run, whose budget it would cost half again (docs/decisions/0019)
coverage: dev
	@TRISTEP_TEST_DB=sqlite $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal --cov --cov-report=term $(ARGS)

# ── Quality ───────────────────────────────
PRETTIER = $(BIN)/node node_modules/prettier/bin/prettier.cjs --log-level warn \
	"frontend/static/frontend/js/**/*.js" frontend/css "tests/js/*.mjs"
# No formatter breaks a template tag.
PAGES = frontend/templates frontend/jinja2 frontend/css frontend/static
LONG_LINES = grep -rnE '.{121}' $(PAGES) --include=*.html --include=*.css --include=*.js >&2 \
	&& { echo 'These lines have more than 120 columns.' >&2; exit 1; } || true

# In parts that do not wait for each other: `make -j2 check`.
check: check-code check-collection

# without what a run of the tests says by itself
check-code: check-types check-settings check-scripts check-templates check-house

# the client by itself: it runs on an older Python, and knows nothing of Django
check-types: dev
	$(BIN)/mypy
	cd clients/python && $(CURDIR)/$(BIN)/mypy

check-settings: dev
	@$(BIN)/python -m tests.settings_check

check-scripts: dev node_modules/.installed
	$(BIN)/node node_modules/typescript/bin/tsc --project tsconfig.json
	$(PRETTIER) --check

check-templates: dev
	$(BIN)/djlint --check --lint --quiet frontend/templates
	$(BIN)/djlint --check --lint --quiet --profile jinja frontend/jinja2
	@$(LONG_LINES)

check-house: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/deptry .
	$(BIN)/python -m tests.dead_code
	@$(BIN)/python -m tests.browser_reads

check-collection: dev
	@TRISTEP_TEST_DB=sqlite $(BIN)/python -m pytest -q --collect-only >/dev/null || { echo 'A test module cannot be collected.' >&2; exit 1; }

format: dev node_modules/.installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(PRETTIER) --write
	$(BIN)/djlint --reformat --quiet frontend/templates || true
	$(BIN)/djlint --reformat --quiet --profile jinja frontend/jinja2 || true

diagram: dev
	@$(BIN)/python -m tests.rooms

client: dev
	@DJANGO_SETTINGS_MODULE=config.settings.test $(BIN)/python -m tests.client_models

OUT = dist
wheel: dev
	@VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(BIN)/uv build --wheel --no-build-isolation --out-dir "$(OUT)" .

settings: dev
	@$(BIN)/python -m tests.judge_settings

messages: dev
	@DJANGO_SETTINGS_MODULE=config.settings.test $(BIN)/python -m tests.messages $(NEW)

bench: dev
	@$(BIN)/python -m bench $(ARGS)

bench-connections: real-servers
	@REAL_SERVERS="$(CURDIR)/$(REAL_SERVERS)" $(BIN)/python -m bench --only connections --database sqlite $(ARGS)

# Label Studio and Potato with the servers that their own images run, in an environment of their own each
PEERS := var/peers
peers: dev $(PEERS)/.label-studio-1.23.2 $(PEERS)/.potato-2.12.1
	@:

bench-peers: peers
	@PEERS="$(CURDIR)/$(PEERS)" $(BIN)/python -m bench --only peers --database sqlite $(ARGS)

$(PEERS)/.label-studio-%: $(VENV)/.uv
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(PEERS)/label-studio
	@VIRTUAL_ENV="$(CURDIR)/$(PEERS)/label-studio" $(BIN)/uv pip install --quiet "label-studio[uwsgi]==$*"
	@touch $@

$(PEERS)/.potato-%: $(VENV)/.uv
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(PEERS)/potato
	@VIRTUAL_ENV="$(CURDIR)/$(PEERS)/potato" $(BIN)/uv pip install --quiet "potato-annotation==$*" gunicorn
	@touch $@

screenshots: dev
	@$(BIN)/python -m tests.chromium
	@$(BIN)/python -m tests.screenshots

# ── Upkeep ────────────────────────────────
COMPILE = $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--custom-compile-command "make lock" $(UPGRADE)

# make lock UPGRADE=--upgrade takes newer versions
lock: $(VENV)/.uv
	@$(COMPILE) requirements-uv.in -o requirements-uv.lock
	@$(COMPILE) pyproject.toml -o requirements.lock
	@$(COMPILE) --extra s3 -c requirements.lock pyproject.toml -o requirements-s3.lock
	@$(COMPILE) --extra s3 --group dev -c requirements-s3.lock pyproject.toml -o requirements-dev.lock
	@touch $(VENV)/.uv

audit: dev
	@$(BIN)/python -m tests.audit

clean:
	rm -rf $(VENV) node_modules dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	@echo "Your data in var/ were left alone."
