#!/usr/bin/env bash
# Where the time of a build goes: builds everything from nothing without a compiler cache and prints the CPU seconds of each compiled
# file, of each folder and of linking, and the twenty headers that cost most.
# Usage: tools/build_times.sh [preset] [--by-source] [--no-headers]
#   preset       dev (the default), release or portable
#   --by-source  every source compiled by itself instead of in batches: also shows that each names all headers it needs
#   --no-headers leaves the headers out: they are compiled one by one, which takes a minute or two
# The folder build/times is made anew. docs/building.md reads the figures.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=dev
unity=ON
headers=1
for word in "$@"; do
  case $word in
    --by-source) unity=OFF ;;
    --no-headers) headers=0 ;;
    -*) echo "usage: tools/build_times.sh [preset] [--by-source] [--no-headers]" >&2; exit 2 ;;
    *) preset=$word ;;
  esac
done
tools/install_packages.sh
folder=$PWD/build/times
rm -rf "$folder"
mkdir -p "$folder"
export ATTUNE_CPU_LOG=$folder/cpu.log
cmake --preset "$preset" -B "$folder" -DATTUNE_UNITY=$unity -DCMAKE_CXX_COMPILER_LAUNCHER="$PWD/tools/cpu_time.sh" \
  -DCMAKE_CUDA_COMPILER_LAUNCHER="$PWD/tools/cpu_time.sh" -DCMAKE_CXX_LINKER_LAUNCHER="$PWD/tools/cpu_time.sh" >"$folder/configure.log"
tools/build.sh "$folder"
python3 tools/build_times.py "$folder" $headers
