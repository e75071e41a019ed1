#!/usr/bin/env bash
# Installs the Debian packages attune builds with, only those that are missing; asks for sudo only then.
# Usage: tools/install_packages.sh [more packages]
set -euo pipefail

packages=(g++ cmake ninja-build python3 nlohmann-json3-dev doctest-dev libsqlite3-dev libsqlitecpp-dev libcli11-dev libfmt-dev
          libxxhash-dev libzstd-dev zstd zlib1g-dev libeigen3-dev libjs-chart.js "$@")
missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
  [[ $status == "install ok installed" ]] || missing+=("$package")
done
if ((${#missing[@]} > 0)); then
  echo "Installing: ${missing[*]}"
  run=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || { echo "These packages are missing and sudo is not there: ${missing[*]}" >&2; exit 4; }
    run=(sudo)
  fi
  export DEBIAN_FRONTEND=noninteractive
  "${run[@]}" apt-get -o DPkg::Lock::Timeout=300 update -qq
  "${run[@]}" apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "${missing[@]}"
fi
if ! command -v nvcc >/dev/null && [[ ! -x /usr/local/cuda/bin/nvcc ]]; then
  echo "The CUDA toolkit (12.4 or newer) is not there: install it from NVIDIA, or set CUDAToolkit_ROOT." >&2
  exit 4
fi
