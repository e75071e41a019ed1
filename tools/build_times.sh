#!/usr/bin/env bash
# Where the time of a build goes: builds everything from nothing without a compiler cache and prints the CPU seconds of each compiled
# file, of each folder and of linking, and the twenty headers that cost most.
# Usage: tools/build_times.sh [preset] [--by-source] [--no-headers] [--output FILE]
#   preset       dev (the default), release or portable
#   --by-source  every source compiled by itself instead of in batches: also shows that each names all headers it needs
#   --no-headers leaves the headers out: they are compiled one by one, which takes a minute or two
#   --output     also writes the figures as JSON; docs/building.md shows bench/results/builds/build_times.json
# The folder build/times is made anew.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=dev
unity=ON
report=()
while (($# > 0)); do
  case $1 in
    --by-source) unity=OFF ;;
    --no-headers) report+=(--no-headers) ;;
    --output) shift; report+=(--output "${1:?--output needs a file}") ;;
    -*) echo "usage: tools/build_times.sh [preset] [--by-source] [--no-headers] [--output FILE]" >&2; exit 2 ;;
    *) preset=$1 ;;
  esac
  shift
done
tools/install_packages.sh
folder=$PWD/build/times
rm -rf "$folder"
mkdir -p "$folder"
export ATTUNE_CPU_LOG=$folder/cpu.log
# Without precompiled headers: what each file would read is what is asked for.
cmake --preset "$preset" -B "$folder" -DATTUNE_UNITY=$unity -DATTUNE_PRECOMPILED_HEADERS=OFF -DCMAKE_CXX_COMPILER_LAUNCHER="$PWD/tools/cpu_time.sh" \
  -DCMAKE_CUDA_COMPILER_LAUNCHER="$PWD/tools/cpu_time.sh" -DCMAKE_CXX_LINKER_LAUNCHER="$PWD/tools/cpu_time.sh" >"$folder/configure.log"
tools/build.sh "$folder"
python3 tools/build_times.py "$folder" --preset "$preset" "${report[@]}"
