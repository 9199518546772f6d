# Everything a person or a machine does with this checkout. Each target may be run again; what is there already is not redone.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# one more than there are cores: a part of the tests waits for other processes
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

.PHONY: demo test test-long check format bench clean lambda

# ── what a new user runs ─────────────────────────────────────────────────────────────────────────────────────────────

demo: $(VENV)/.demo ## set up, then the shop assistant's three scenarios with the local model
	$(BIN)/tukang demo

test: $(VENV)/.test $(VENV)/.servers ## set up, then the test suite
	$(BIN)/python -m pytest -m "not long" -n $(WORKERS) --dist worksteal

# ── what a developer runs ────────────────────────────────────────────────────────────────────────────────────────────

test-long: $(VENV)/.test $(VENV)/.demo ## what takes longer: the local model, fleets, every property with all its examples
	TUKANG_ALL_EXAMPLES=1 $(BIN)/python -m pytest -m "long or hypothesis"

check: $(VENV)/.test ## format, lint, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports

format: $(VENV)/.test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.test ## client CPU per model call, beside a plain loop on the openai SDK
	$(BIN)/python -m bench.client_cpu

lambda: $(VENV)/.test ## the example of docs/hosting.md as a zip for AWS Lambda
	$(BIN)/python -m tukang.hosting.packaging examples/lambda/gudang.py --out $(VENV)/gudang.zip

clean:
	rm -rf $(VENV)

# ── setting up: a stamp for each set of packages ─────────────────────────────────────────────────────────────────────

$(VENV)/.pip: constraints.txt
	@echo "Membuat $(VENV) … / Making $(VENV) …"
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade pip
	touch $@

# bfcl-eval: real calls to check against, without the packages that its leaderboard needs to run models.
# agentdojo: a bank under attack, without the clients of every provider; PyYAML reads its data.
# The source of jsonschema: it alone carries the JSON Schema Test Suite.
$(VENV)/.test: $(VENV)/.pip pyproject.toml constraints.txt
	@echo "Memasang paket uji … / Installing the test packages …"
	$(PIP) install --constraint constraints.txt --editable '.[cli]' --group dev
	$(PIP) install --constraint constraints.txt --no-deps bfcl-eval mpmath agentdojo PyYAML
	$(PIP) download --constraint constraints.txt --no-deps --no-binary jsonschema --dest $(VENV)/share/suites jsonschema
	touch $@

# Real MCP servers, for the tests of the client. With the node that comes with pyright's: none of the system is needed.
$(VENV)/.servers: $(VENV)/.test tests/mcp/npm/package.json
	@echo "Memasang server MCP untuk uji … / Installing MCP servers for the tests …"
	$(BIN)/python tests/mcp/npm/install.py $(VENV)/share/mcp-servers
	touch $@

$(VENV)/.demo: $(VENV)/.pip pyproject.toml constraints.txt
	@echo "Memasang tukang dengan model lokal (sekitar 1,1 GB) … / Installing tukang with the local model (about 1.1 GB) …"
	$(BIN)/python -m pip --disable-pip-version-check install --constraint constraints.txt --editable '.[cli,local]' \
		--progress-bar on | grep --line-buffered -E '^(Collecting|Downloading|Installing|Successfully)' | cut -c1-100
	touch $@
