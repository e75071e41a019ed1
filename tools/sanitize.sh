#!/usr/bin/env bash
# Runs compute-sanitizer's memcheck, racecheck and synccheck over a sample of each strategy of the shipped reductions, on a GPU.
# usage: tools/sanitize.sh ATTUNE [seconds for one tool and template, default 60]
# Prints a line for each run and ends with 1 when one of them found anything or did not get to its end.
set -uo pipefail
attune=$(realpath "${1:?usage: tools/sanitize.sh ATTUNE [seconds]}")
limit=${2:-60}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=$folder/cache
failed=0

# check NAME template problem... -- conditions...: every configuration under the conditions.
check() {
  local name=$1
  shift
  local problem=()
  while [[ $1 != -- ]]; do problem+=("$1"); shift; done
  shift
  local conditions=()
  for condition in "$@"; do conditions+=(--where "$condition"); done
  for tool in memcheck racecheck synccheck; do
    local log=$folder/$name.$tool
    timeout "$limit" compute-sanitizer --target-processes all --tool "$tool" --error-exitcode 99 \
      "$attune" tune "${problem[@]}" "${conditions[@]}" --db "$folder/$name.$tool.db" --compile-timeout 60s >"$log" 2>&1
    local code=$?
    local errors tried lost
    errors=$(grep -oE '(ERROR SUMMARY: [0-9]+ error|RACECHECK SUMMARY: [0-9]+ hazard)' "$log" | grep -oE '[0-9]+' | awk '{s += $1} END {print s + 0}')
    tried=$(grep -oE '^[0-9]+ configurations measured' "$log" | grep -oE '^[0-9]+' || echo 0)
    lost=$(grep -cE '^Lost to failures' "$log")
    echo "$name $tool: $tried configurations, $errors errors, exit $code"
    if [[ $code != 0 || $errors != 0 || $tried == 0 || $lost != 0 ]]; then
      failed=1
      grep -E '=========|Lost|failed|attune:' "$log" | head -n 40
    fi
  done
}

check reduce reduce --T f32 --op sum --n 70001 -- \
  "grid_stage == 'single_thread' or (block_size == 256 and items == 4 and vector_bytes == 16 and blocks_per_sm == 1)" "cluster_blocks in (1, 8)" "not exact_n"
# The operators without an instruction of their own go through a compare-and-swap loop.
check reduce_product reduce --T i32 --op product --n 70001 -- \
  "block_size == 256 and items == 4 and vector_bytes == 16 and blocks_per_sm == 1 and load == 'tiles'" "block_stage in ('none', 'shuffle')" "cluster_blocks == 1" "not exact_n"
check reduce_narrow reduce --T i8 --op max --n 70001 -- \
  "block_size == 256 and items == 4 and vector_bytes == 16 and blocks_per_sm == 1" "load in ('tiles', 'bulk')" "block_stage in ('none', 'redux')" "cluster_blocks in (1, 8)" "not exact_n"
check dot reduce --T f64 --op sum --transform times --n 70001 -- \
  "block_size == 256 and items == 2 and vector_bytes == 16 and blocks_per_sm == 1" "block_stage in ('none', 'shuffle')" "cluster_blocks in (1, 8)" "not exact_n"
check reduce_exact reduce --T f32 --op sum --n 65536 -- "exact_n" "block_size == 256" "items == 4" "blocks_per_sm == 1" "cluster_blocks in (1, 16)"
check reproducible reproducible_reduce --T f32 --op sum --accumulate compensated --n 70001 -- "items == 2" "vector_bytes == 16"
check argreduce argreduce --T f32 --op max --n 70001 -- "block_size == 256" "items == 4" "vector_bytes == 16" "blocks_per_sm == 1"
check rows segmented_reduce --T f32 --op sum --rows 50 --columns 5001 -- "block_size == 256" "items == 2" "vector_bytes == 16" "blocks_per_sm == 8" "rows_in_flight == 1" "lanes in (1, 8, 32)"
exit $failed
