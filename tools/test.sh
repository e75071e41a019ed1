#!/usr/bin/env bash
# Builds attune and runs every test this machine can run. GPU tests are shown as skipped where there is no GPU.
# Usage: tools/test.sh [preset]   (dev, release, asan or tsan; default dev)
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:-dev}
tools/install_packages.sh
cmake --preset "$preset"
tools/build.sh "build/$preset"
# Two more than there are processors: some tests wait for deadlines.
ctest --preset "$preset" -j "$(($(nproc) + 2))"
