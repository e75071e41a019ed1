#!/usr/bin/env bash
# Runs every GPU test on this machine's GPU and writes the outcome with the content hash of what it covered.
# Usage: tools/gpu_tests.sh [build folder] [outcome file]
# The build may come from another machine (cmake --preset portable); without one it is made here.
# Tests that time kernels, count on deadlines or fill the device have it to themselves; the others share it, ATTUNE_GPU_TEST_JOBS files at a time.
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:-build/portable}
outcome=${2:-tests/gpu/outcome.json}
jobs=${ATTUNE_GPU_TEST_JOBS:-4}
if [[ ! -x $build/tests/gpu/test_gpu ]]; then
  tools/install_packages.sh
  cmake --preset portable
  tools/build.sh build/portable test_gpu attune
fi
export ATTUNE_WORKER=$PWD/$build/tools/attune ATTUNE_DISPATCH_PROGRAM=$PWD/$build/examples/dispatch_reduce/dispatch_reduce
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT

# The long ones first: the last to end decides.
together=(test_histogram_runtime test_reduce test_histogram test_segmented_reduce test_argreduce test_reproducible_reduce test_arg_reduce_runtime
  test_verification_argreduce test_segmented_reduce_runtime test_reduce_runtime test_verification_reduce test_verification)
alone=()
for file in tests/gpu/test_*.cpp; do
  name=$(basename "$file" .cpp)
  [[ " ${together[*]} " == *" $name "* ]] || alone+=("$name")
done

# run NAME: the tests of one file; what they say is printed when they have ended.
run() {
  local status=0
  "$test_gpu" --source-file="*/$1.cpp" --outcome "$parts/$1.json" > "$parts/$1.txt" 2>&1 || status=$?
  { echo "== $1"; cat "$parts/$1.txt"; } >&2
  [[ $status != 0 ]] && echo "$status" > "$parts/$1.status"
  [[ $status != 77 ]]  # without a GPU the rest would say the same
}
export -f run
export parts test_gpu=$PWD/$build/tests/gpu/test_gpu

for name in "${alone[@]}"; do run "$name" || exit 77; done
printf '%s\n' "${together[@]}" | xargs -P "$jobs" -I{} bash -c 'run {} || exit 255'
for name in "${alone[@]}" "${together[@]}"; do
  [[ -e $parts/$name.json ]] || { echo "$name did not end: no outcome is written" >&2; exit 1; }
done
python3 tools/gpu_outcome.py "$outcome" "$parts"/*.json
! compgen -G "$parts/*.status" > /dev/null
