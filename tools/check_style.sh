#!/usr/bin/env bash
# Whether the C++ sources look as .clang-format says (version 14: others differ in details), and whether clang-tidy's checks (.clang-tidy) find
# anything in the sources of tuner, db and tools that changed. Device code (.cu, .cuh) is no business of either.
# Usage: tools/check_style.sh [commit]   clang-tidy reads all that changed since this commit; default: the dozen sources that changed last
# Exit code: 1 when something is found, with a line for each; 2 when there is no such commit (a shallow clone?) or no source.
set -euo pipefail
cd "$(dirname "$0")/.."
since=${1:-}
most=12

[[ -z $since ]] || git rev-parse -q --verify "$since^{commit}" >/dev/null || { echo "There is no commit $since here: is this a shallow clone?" >&2; exit 2; }
tools/install_packages.sh clang-format-14 clang-tidy-14
present() { while IFS= read -r -d '' path; do [[ -f $path ]] && printf '%s\0' "$path"; done; return 0; }
mapfile -d '' sources < <(git ls-files -z '*.cpp' '*.hpp' | present)
((${#sources[@]})) || { echo "There are no sources here." >&2; exit 2; }
code=0
clang-format-14 --dry-run -Werror "${sources[@]}" || code=1

read_by_tidy=('tuner/*.cpp' 'db/*.cpp' 'tools/*.cpp')
if [[ -n $since ]]; then
  mapfile -d '' changed < <(git diff -z --name-only "$since" -- "${read_by_tidy[@]}" | present)
else
  last_first() { git diff -z --name-only HEAD -- "${read_by_tidy[@]}" && git log -z -100 --format= --name-only -- "${read_by_tidy[@]}"; }
  mapfile -d '' changed < <(last_first | awk 'BEGIN { RS = ORS = "\0" } NF && !seen[$0]++' | present)
  changed=("${changed[@]:0:most}")
fi
if ((${#changed[@]} > 0)); then
  cmake --preset debug >/dev/null  # every source by itself, as clang-tidy wants them
  cmake --build build/debug --target attune_content_hash >/dev/null  # a header that is generated
  said=$(printf '%s\0' "${changed[@]}" |
    xargs -0 -P "$(nproc)" -n 1 clang-tidy-14 -p build/debug --quiet --extra-arg=-Wno-unknown-warning-option 2>&1) || code=1
  grep -vE '^[0-9]+ warnings?( and [0-9]+ errors?)? generated' <<<"$said" || true
fi
((code == 0)) && echo "The style of ${#sources[@]} sources is right; clang-tidy found nothing in ${#changed[@]} that changed ${since:+since }${since:-last}."
exit "$code"
