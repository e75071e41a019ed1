#!/usr/bin/env bash
# Runs the tests of docs/promises.md with the counts of the promises, records their figures and writes the table anew.
# Usage: tools/promises.sh [ctest -R pattern]   (default: every test that has figures; half an hour or more)
# Needs no GPU: dispatch runs on the fake driver (docs/testing.md).
set -euo pipefail
cd "$(dirname "$0")/.."

pattern=${1:-'^(unit_db.*|unit_runtime|integration_.*|kill_nine.*)$'}
tools/install_packages.sh
# The limits of the tests are those of small counts.
cmake --preset release -DATTUNE_TEST_TIMEOUT=7200
cmake --build --preset release
ATTUNE_CAMPAIGN=full ATTUNE_FIGURES=$PWD/tests/promises/results ctest --preset release -R "$pattern"
docs/tables/doc_tables.py
