#!/usr/bin/env bash
# Runs every GPU test on this machine's GPU and writes the outcome with the content hash of what it covered.
# Usage: tools/gpu_tests.sh [build folder] [outcome file]
# The build may come from another machine (cmake --preset portable); without one it is made here.
# Tests whose claims are about times or deadlines have the device to themselves; the others share it, ATTUNE_GPU_TEST_JOBS files at a time.
# Ends with 77 without a GPU, with 1 when a test failed or did not end; what did not end leaves no outcome.
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:-build/portable}
outcome=${2:-tests/gpu/outcome.json}
jobs=${ATTUNE_GPU_TEST_JOBS:-$(($(nproc) < 16 ? 4 : 8))}
if [[ ! -x $build/tests/gpu/test_gpu ]]; then
  tools/install_packages.sh
  cmake --preset portable
  tools/build.sh build/portable test_gpu attune
fi
build=$(realpath "$build")
export ATTUNE_WORKER=$build/tools/attune ATTUNE_DISPATCH_PROGRAM=$build/examples/dispatch_reduce/dispatch_reduce
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT

# The long ones first: the last to end decides.
together=(test_histogram_runtime test_histogram_weights_channels test_reduce test_histogram test_segmented_reduce test_argreduce test_reproducible_reduce
  test_arg_reduce_runtime test_verification_argreduce test_segmented_reduce_runtime test_reduce_runtime test_verification_reduce test_verification)
alone=()
for file in tests/gpu/test_*.cpp; do
  name=$(basename "$file" .cpp)
  [[ " ${together[*]} " == *" $name "* ]] || alone+=("$name")
done

# run NAME: the tests of one file; what they say is printed when they have ended. A part is there when they came to their end: 0, or 1 with failures.
run() {
  local status=0 since=$SECONDS
  "$test_gpu" --source-file="*/$1.cpp" --outcome "$parts/part.$1" > "$parts/$1.txt" 2>&1 || status=$?
  { echo "== $1, $((SECONDS - since)) s"; cat "$parts/$1.txt"; } >&2
  if [[ $status -le 1 && -e $parts/part.$1 ]]; then mv "$parts/part.$1" "$parts/$1.json"; fi
  return "$status"
}
export -f run
export parts test_gpu=$build/tests/gpu/test_gpu

failed=0
for name in "${alone[@]}"; do
  run "$name" || failed=$?
  if [[ $failed == 77 && $name == "${alone[0]}" ]]; then exit 77; fi  # the rest would say the same
done
printf '%s\n' "${together[@]}" | xargs -P "$jobs" -I{} bash -c 'run {} || exit 1' || failed=1
for name in "${alone[@]}" "${together[@]}"; do
  [[ -e $parts/$name.json ]] || { echo "$name did not end well: no outcome is written" >&2; exit 1; }
done
python3 tools/gpu_outcome.py "$outcome" "$parts"/*.json
[[ $failed == 0 ]]
