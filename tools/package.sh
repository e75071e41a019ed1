#!/usr/bin/env bash
# Makes what is released, into FOLDER: Debian packages of an optimised build whose prefix is /usr, and a tarball of the portable build, which needs of a Linux
# no more than its C and C++ libraries; with their SHA-256 sums. The Debian packages are installed in an empty Debian 12 and the archive is run on
# another distribution, where those can be had (root, mmdebstrap). The last line says "right", or that one of them was left out.
# Usage: tools/package.sh [FOLDER]   (default build/packages)
set -euo pipefail
source_folder=$(cd "$(dirname "$0")/.." && pwd -P)
folder=$(realpath -m "${1:-$source_folder/build/packages}")  # the caller's "." is not ours
cd "$source_folder"
# Only an earlier run's folder is emptied.
if [[ -e $folder && ! -e $folder/.attune-packages && -n $(ls -A "$folder") ]]; then
  echo "$folder is not empty, and no packages of an earlier run are in it: name another folder" >&2
  exit 2
fi
tools/install_packages.sh dpkg-dev
# What is not installed must not be looked for in folders of this machine, and the licences of other libraries ask for their notices.
released=(-DATTUNE_USES_BUILD_TREE=OFF -DATTUNE_MISSING_NOTICE=FATAL_ERROR -DATTUNE_TESTS=OFF -DATTUNE_EXAMPLES=OFF)
cmake --preset release -DCMAKE_INSTALL_PREFIX=/usr "${released[@]}" -B build/package-deb
tools/build.sh build/package-deb
cmake --preset portable "${released[@]}" -DATTUNE_BENCH=OFF -B build/package-portable
tools/build.sh build/package-portable
rm -rf --one-file-system "$folder"
mkdir -p "$folder"
touch "$folder/.attune-packages"
(cd build/package-deb && cpack -B "$folder")
(cd build/package-portable && cpack -B "$folder")
fail() {
  rm -f "$folder"/*.deb "$folder"/*.tar.gz
  printf '%s\n' "$@" >&2
  exit 1
}
# Of the name of the source folder where it is no part of another: the folder may be /src.
code=0
naming=$(LC_ALL=C grep -rlaE "(^|[^[:alnum:]_./-])$(sed 's/[].[^$*+?(){}|\\]/\\&/g' <<<"$source_folder")/" "$folder/_CPack_Packages") || code=$?
case $code in
  0) fail "These files name folders of this machine:" "$naming" ;;
  1) ;;
  *) fail "It could not be seen whether the packages name folders of this machine." ;;
esac
rm -rf "$folder/_CPack_Packages"
(cd "$folder" && sha256sum -- *.deb *.tar.gz >SHA256SUMS && cat SHA256SUMS)
left_out=0
tried() {
  local code=0
  "$@" || code=$?
  ((code == 0 || code == 77)) || exit "$code"
  ((code == 0)) || left_out=1
}
tried tests/packages/debian_packages.sh build/package-deb build/package-deb/empty "$folder"
tried tests/packages/portable_tarball.sh "$folder"/attune-*.tar.gz build/package-portable/elsewhere
((left_out)) && echo "not all was run: see above" || echo "right"
