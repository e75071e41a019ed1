#!/usr/bin/env bash
# Makes what is released, into FOLDER: Debian packages of an optimised build whose prefix is /usr, and a tarball of the portable build, which needs of a Linux
# no more than its C and C++ libraries; with their SHA-256 sums. The archive is run on another distribution, where
# that can be had (root, mmdebstrap).
# Usage: tools/package.sh [FOLDER]   (default build/packages)
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(realpath -m "${1:-build/packages}")
tools/install_packages.sh dpkg-dev
cmake --preset release -DCMAKE_INSTALL_PREFIX=/usr -DATTUNE_TESTS=OFF -DATTUNE_EXAMPLES=OFF -B build/package-deb
tools/build.sh build/package-deb
cmake --preset portable -DATTUNE_TESTS=OFF -DATTUNE_EXAMPLES=OFF -DATTUNE_BENCH=OFF -B build/package-portable
tools/build.sh build/package-portable
rm -rf "$folder"
mkdir -p "$folder"
(cd build/package-deb && cpack -B "$folder")
(cd build/package-portable && cpack -B "$folder")
rm -rf "$folder/_CPack_Packages"
code=0
tests/packages/portable_tarball.sh "$folder"/attune-*.tar.gz build/package-portable/elsewhere || code=$?
((code == 0 || code == 77)) || exit "$code"
(cd "$folder" && sha256sum -- *.deb *.tar.gz >SHA256SUMS && cat SHA256SUMS)
