#!/usr/bin/env bash
# Runs fuzzers of a build, as many at a time as there are processors, beside whatever else runs, and adds their figures to those of
# earlier runs in tests/fuzz/results; an input that is a finding lies in the build's folder. The build should have sanitizers (cmake
# --preset asan). Each run has a seed of its own.
# Usage: tools/fuzz.sh [build folder] [CPU seconds of each] [name ...]   (default build/asan 3600, all of them)
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:-build/asan}
seconds=${2:-3600}
names=("${@:3}")
((${#names[@]})) || mapfile -t names < <(find "$build/tests/fuzz" -maxdepth 1 -type f -executable -name 'fuzz_*' -printf '%f\n' | sed 's/^fuzz_//' | sort)
results=$PWD/tests/fuzz/results
mkdir -p "$results"
printf '%s\0' "${names[@]}" | xargs -0 -P "$(nproc)" -I {} nice -n 19 "$build/tests/fuzz/fuzz_{}" \
  --seed "$(date +%s)" --seconds 0 --cpu-seconds "$seconds" --findings "$build/tests/fuzz/findings" --output "$results/{}.json"
