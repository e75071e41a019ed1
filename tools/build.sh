#!/usr/bin/env bash
# Builds a configured folder and shows how far it is: steps done of how many, time gone and time left. On a terminal one line
# that is rewritten; elsewhere a line every 15 seconds. What the compiler says is kept in FOLDER/build.log and shown when it fails.
# Usage: tools/build.sh FOLDER [targets]
# Exit code: ninja's; 2 when the folder is not configured.
set -euo pipefail

folder=${1:?usage: tools/build.sh FOLDER [targets]}
shift
if [[ ! -e $folder/build.ninja ]]; then
  echo "failed building $folder: it is not configured; cmake --preset NAME does that" >&2
  exit 2
fi
log=$folder/build.log
: >"$log"
[[ -t 2 ]] && terminal=1 || terminal=0
SECONDS=0

clock() {
  if (($1 >= 60)); then printf '%d min %02d s' $(($1 / 60)) $(($1 % 60)); else printf '%d s' "$1"; fi
}

# Ninja's own estimate came with 1.12; steps differ in length, so what is left is rounded up to five seconds.
show() {
  local done=$1 all=$2 gone=$SECONDS left=""
  if ((done > 0 && done < all && gone >= 5)); then
    left=", about $(clock $((((gone * (all - done) / done) + 4) / 5 * 5))) left"
  fi
  if ((terminal)); then
    printf '\r\033[Kbuilding: %d of %d steps, %s%s' "$done" "$all" "$(clock "$gone")" "$left" >&2
  else
    printf 'building: %d of %d steps, %s%s\n' "$done" "$all" "$(clock "$gone")" "$left" >&2
  fi
}

# Logs what ninja prints and shows the steps, which begin with a mark that no compiler prints.
follow() {
  local line done=0 all=0 last=-100
  while IFS= read -r line || [[ -n $line ]]; do
    if [[ $line =~ ^@([0-9]+)/([0-9]+)@\ (.*)$ ]]; then
      done=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
      line="[$done/$all] ${BASH_REMATCH[3]}"
      if ((terminal ? SECONDS != last : SECONDS >= last + 15)); then
        show "$done" "$all"
        last=$SECONDS
      fi
    fi
    printf '%s\n' "$line" >>"$log"
  done
  if ((terminal)); then printf '\r\033[K' >&2; fi
}

set +e
NINJA_STATUS='@%f/%t@ ' ninja -C "$folder" "$@" 2>&1 | follow
status=${PIPESTATUS[0]}
set -e
if ((status != 0)); then
  # The first failure: its command, and what the compiler says of it. The first error of many lines is the one that matters.
  if grep -q '^FAILED:' "$log"; then sed -n '/^FAILED:/,$p' "$log" | head -n 60 >&2; else tail -n 20 "$log" >&2; fi
  echo "The build failed; the whole log is in $log" >&2
  exit "$status"
fi
if grep -q '^\[' "$log"; then
  echo "built: $(grep -c '^\[' "$log") steps in $(clock "$SECONDS")" >&2
else
  echo "built: nothing to do" >&2
fi
