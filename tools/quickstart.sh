#!/usr/bin/env bash
# From a fresh clone to a tuned reduction: installs what is missing, builds, tunes f32 sum (on the GPU, or from the
# shipped recording when there is none), prints the table and writes report.html.
set -euo pipefail
cd "$(dirname "$0")/.."

libraries=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null || true)
if [[ (-e /dev/nvidiactl || -e /dev/dxg) && $libraries == *libcuda.so.1* ]]; then
  echo "attune quickstart: a GPU is here; it will be measured."
else
  echo "attune quickstart: no GPU here; a recording made on a real GPU is replayed, nothing is measured."
fi
tools/install_packages.sh
mkdir -p build
cmake --preset release >build/quickstart.log 2>&1 || {
  tail -n 30 build/quickstart.log >&2
  echo "Configuring failed; the whole log is in build/quickstart.log" >&2
  exit 1
}
tools/build.sh build/release attune
attune=build/release/tools/attune

"$attune" tune reduce --T f32 --op sum --size '2^10..2^28:x4' --budget 60s
"$attune" report reduce --format html --output report.html
