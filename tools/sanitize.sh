#!/usr/bin/env bash
# Runs compute-sanitizer's memcheck, racecheck and synccheck over a sample of each strategy of the shipped templates, on a GPU.
# usage: tools/sanitize.sh [build folder, default build/portable] [seconds for one tool and sample, default 400: racecheck is slow]
# Prints a line for each run, ends with 1 when one of them found anything or did not get to its end.
set -uo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build/portable}")
limit=${2:-400}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export ATTUNE_WORKER=$build/tools/attune XDG_CACHE_HOME=$folder/cache

run() {
  local tool=$1 sample=$2 log=$folder/$1.${2// /_} code errors checks
  local options=()
  # Asking for one parameter more than a kernel has is how their number is found; the driver's refusal is no fault.
  [[ $tool == memcheck ]] && options=(--report-api-errors no)
  timeout "$limit" compute-sanitizer --target-processes all --tool "$tool" "${options[@]}" "$build/tests/gpu/test_gpu" --no-skip -tc="sanitizer sample: $sample*" >"$log" 2>&1
  code=$?
  errors=$(grep -oE '(ERROR SUMMARY: [0-9]+ error|RACECHECK SUMMARY: [0-9]+ hazard)' "$log" | grep -oE '[0-9]+' | awk '{s += $1} END {print NR ? s : "no summary of"}')
  checks=$(grep -oE 'assertions: +[0-9]+ \| +[0-9]+ passed' "$log" | grep -oE '[0-9]+ passed')
  echo "$tool, $sample: $errors errors, ${checks:-no checks}, exit $code"
  [[ $code == 0 && $errors == 0 && ${checks:-0 passed} != "0 passed" ]] && return
  touch "$folder/failed"
  grep -E '=========|ERROR|reduce|histogram|FATAL' "$log" | head -n 30
}

for tool in memcheck racecheck synccheck; do
  for sample in "loads" "reduce specialised" "operators" "reproducible" "argreduce" "histogram strategies" "histogram mappings"; do
    run "$tool" "$sample" >"$folder/out.$tool.${sample// /_}" 2>&1 &
  done
  wait
done
cat "$folder"/out.*
[[ ! -e $folder/failed ]]
