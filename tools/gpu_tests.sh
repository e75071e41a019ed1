#!/usr/bin/env bash
# Runs every GPU test on this machine's GPU and writes the outcome with the content hash of what it covered.
# Usage: tools/gpu_tests.sh [build folder] [outcome file]
# The build may come from another machine (cmake --preset portable); without one it is made here.
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:-build/portable}
outcome=${2:-tests/gpu/outcome.json}
if [[ ! -x $build/tests/gpu/test_gpu ]]; then
  tools/install_packages.sh
  cmake --preset portable
  tools/build.sh build/portable test_gpu attune
fi
ATTUNE_WORKER=$PWD/$build/tools/attune ATTUNE_DISPATCH_PROGRAM=$PWD/$build/examples/dispatch_reduce/dispatch_reduce \
  "$build/tests/gpu/test_gpu" --outcome "$outcome"
