#!/usr/bin/env bash
# Runs compute-sanitizer's memcheck, racecheck and synccheck over a sample of each strategy of the shipped templates, on a GPU.
# usage: tools/sanitize.sh [build folder, default build/portable] [outcome file, default tests/gpu/sanitizers.json] [seconds for one tool
#        and sample, default 300]
# Writes and prints what each run came to; ends with 1 when one of them found anything or did not get to its end.
set -uo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build/portable}")
outcome=${2:-tests/gpu/sanitizers.json}
limit=${3:-300}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
command -v compute-sanitizer >/dev/null || { echo "There is no compute-sanitizer in PATH: it comes with the CUDA toolkit." >&2; exit 2; }
export ATTUNE_WORKER=$build/tools/attune XDG_CACHE_HOME=$folder/cache

listed=$("$build/tests/gpu/test_gpu" --no-skip -ltc -tc="sanitizer sample: *" 2>&1)
mapfile -t samples < <(sed -n 's/^sanitizer sample: //p' <<<"$listed")
((${#samples[@]})) || { printf '%s\n' "There is nothing to run: $build/tests/gpu/test_gpu lists no sample. It says:" "$listed" >&2; exit 2; }

run() {
  local tool=$1 sample=$2 name=$1.${2// /_} code options=()
  # Asking for one parameter more than a kernel has is how their number is found; the driver's refusal is no fault.
  [[ $tool == memcheck ]] && options=(--report-api-errors no) || options=("${references[@]}")
  SECONDS=0
  timeout -k 10 "$limit" compute-sanitizer --target-processes all --tool "$tool" --kernel-name-exclude kns=attune_ "${options[@]}" \
    "$build/tests/gpu/test_gpu" --no-skip --outcome "$folder/$name.outcome" -tc="sanitizer sample: ${sample//,/\\,}" >"$folder/$name.log" 2>&1
  code=$?
  printf '%s\n' "$tool" "$sample" "$code" "$SECONDS" >"$folder/$name.run"
}

# Under the tools nearly all time is theirs. What fills, checks and compares (attune_*) is no part of what is watched; the kernels of
# references, whose tallies take minutes, are by memcheck alone.
mapfile -t references < <(grep -ho '__global__ void [a-z_]*' templates/references/*/*.cu | sed 's/.* \(.*\)/--kernel-name-exclude\nkne=\1/')
for tool in memcheck racecheck synccheck; do
  for sample in "${samples[@]}"; do
    run "$tool" "$sample" &
  done
  wait
done
python3 tools/sanitizer_outcome.py "$folder" "$limit" "$outcome"
