#!/usr/bin/env bash
# Runs every fuzzer of a build for half an hour, as many at a time as there are processors, and keeps its figures in
# tests/fuzz/results; an input that is a finding lies in the build's folder. The build should have sanitizers (cmake --preset asan).
# Usage: tools/fuzz.sh [build folder] [seconds]   (default build/asan 1800)
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:-build/asan}
seconds=${2:-1800}
results=$PWD/tests/fuzz/results
mkdir -p "$results"
find "$build/tests/fuzz" -maxdepth 1 -type f -executable -name 'fuzz_*' -print0 | sort -z |
  xargs -0 -P "$(nproc)" -I {} bash -c 'name=$(basename "$1"); "$1" --seconds "$2" --findings "$3/tests/fuzz/findings" --output "$4/${name#fuzz_}.json"' _ {} "$seconds" "$build" "$results"
