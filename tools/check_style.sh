#!/usr/bin/env bash
# Whether the C++ sources look as .clang-format says (version 14: others differ in details), and whether clang-tidy's checks (.clang-tidy) find
# anything in the sources that changed.
# Usage: tools/check_style.sh [commit, default the one before the last]   what changed since this commit is given to clang-tidy
# Exit code: 1 when something is found, with a line for each.
set -euo pipefail
cd "$(dirname "$0")/.."
since=${1:-HEAD~1}
most=12  # sources for clang-tidy, some seconds each

tools/install_packages.sh clang-format-14 clang-tidy-14
# The sources that the GPU evidence covers keep their bytes until the GPU tests run again.
mapfile -t sources < <(git ls-files '*.cpp' '*.hpp' | grep -vE '^(tuner/(spec|gpu|compile|measure|runtime|include)|tests/gpu)/')
code=0
clang-format-14 --dry-run -Werror "${sources[@]}" || code=1

mapfile -t changed < <(git diff --name-only --diff-filter=d "$since" -- '*.cpp' 2>/dev/null | grep -E '^(tuner|db|tools)/' || true)
if ((${#changed[@]} > most)); then
  echo "clang-tidy looks at $most of the ${#changed[@]} sources that changed since $since."
  changed=("${changed[@]:0:most}")
fi
if ((${#changed[@]} > 0)); then
  cmake --preset debug >/dev/null  # every source by itself, as clang-tidy wants them
  cmake --build build/debug --target attune_content_hash >/dev/null  # a header that is generated
  printf '%s\n' "${changed[@]}" |
    xargs -P "$(nproc)" -n 1 clang-tidy-14 -p build/debug --quiet --extra-arg=-Wno-unknown-warning-option 2> >(grep -v 'warnings generated' >&2) || code=1
fi
((code == 0)) && echo "The style of ${#sources[@]} sources is right; clang-tidy found nothing in ${#changed[@]}."
exit "$code"
