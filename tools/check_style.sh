#!/usr/bin/env bash
# Whether the C++ sources look as .clang-format says (version 14: others differ in details), and whether clang-tidy's checks (.clang-tidy) find
# anything in the sources of tuner, db and tools that changed, a dozen of them at most.
# Usage: tools/check_style.sh [commit, default the one before the last]   what changed since this commit is given to clang-tidy
# Exit code: 1 when something is found, with a line for each; 2 when there is no such commit (a shallow clone?) or no source.
set -euo pipefail
cd "$(dirname "$0")/.."
since=${1:-HEAD~1}
most=12

git rev-parse -q --verify "$since^{commit}" >/dev/null || { echo "There is no commit $since here: is this a shallow clone?" >&2; exit 2; }
tools/install_packages.sh clang-format-14 clang-tidy-14
present() { while IFS= read -r -d '' path; do [[ -f $path ]] && printf '%s\0' "$path"; done; return 0; }
mapfile -d '' sources < <(git ls-files -z '*.cpp' '*.hpp' | present)
((${#sources[@]})) || { echo "There are no sources here." >&2; exit 2; }
code=0
clang-format-14 --dry-run -Werror "${sources[@]}" || code=1

mapfile -d '' changed < <(git diff -z --name-only "$since" -- 'tuner/*.cpp' 'db/*.cpp' 'tools/*.cpp' | present)
all=${#changed[@]}
changed=("${changed[@]:0:most}")
if ((all > 0)); then
  cmake --preset debug >/dev/null  # every source by itself, as clang-tidy wants them
  cmake --build build/debug --target attune_content_hash >/dev/null  # a header that is generated
  said=$(printf '%s\0' "${changed[@]}" |
    xargs -0 -P "$(nproc)" -n 1 clang-tidy-14 -p build/debug --quiet --extra-arg=-Wno-unknown-warning-option 2>&1) || code=1
  grep -vE '^[0-9]+ warnings?( and [0-9]+ errors?)? generated' <<<"$said" || true
fi
((code == 0)) && echo "The style of ${#sources[@]} sources is right; clang-tidy found nothing in ${#changed[@]} of the $all that changed since $since."
exit "$code"
