#!/usr/bin/env bash
# The walk of docs/own-kernel.md, from a .cu file to a dispatching program, as a shell shows it. Needs a GPU but for the first part.
# Usage: tools/own_kernel_walk.sh [build folder] > bench/results/<device>/own_kernel.txt
#        tools/own_kernel_walk.sh [build folder] --until-tuning: what needs no GPU
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "${1:-$root/build/release}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$root/examples/own_kernel/saxpy.cu" "$folder"
cd "$folder"
export ATTUNE_DB=$folder/attune.db PATH=$build/tools:$PATH

# show COMMAND...: the command as a reader would type it, and what it prints.
show() {
  echo "\$ $*"
  "$@"
}

show attune template init saxpy.cu --reference saxpy_plain -o saxpy
if [[ ${2:-} == --until-tuning ]]; then
  show attune template check saxpy/ --sample 10
  exit 0
fi
show attune tune saxpy/ --n 2^24 --budget 10s
echo "\$ ./own_kernel"
"$build/examples/own_kernel/own_kernel"
