#!/usr/bin/env bash
# Builds a configured folder and shows how far it is: steps done of how many, time gone and time left. On a terminal one line
# that is rewritten; elsewhere a line every 15 seconds. What the compiler says is kept in FOLDER/build.log and shown when it fails.
# Usage: tools/build.sh FOLDER [ninja arguments, e.g. targets]
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

clock() {
  local s=$1
  if ((s >= 60)); then printf '%d min %02d s' $((s / 60)) $((s % 60)); else printf '%d s' "$s"; fi
}

# Ninja's own estimate came with 1.12; steps differ in length, so what is left is rounded.
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

SECONDS=0
last=-100
status=0
# A status that no compiler prints begins each step's line.
{ NINJA_STATUS='@%f/%t@ ' ninja -C "$folder" "$@" 2>&1 || echo "@failed:$?@"; } | {
  done=0 all=0
  while IFS= read -r line; do
    case $line in
      @failed:*@) status=${line#@failed:}; status=${status%@} ;;
      @[0-9]*/[0-9]*@*)
        numbers=${line#@}; numbers=${numbers%%@*}
        done=${numbers%/*} all=${numbers#*/}
        printf '[%s] %s\n' "$numbers" "${line#*@ }" >>"$log"
        if ((terminal ? SECONDS != last : SECONDS >= last + 15)); then
          show "$done" "$all"
          last=$SECONDS
        fi ;;
      *) printf '%s\n' "$line" >>"$log" ;;
    esac
  done
  ((terminal)) && printf '\r\033[K' >&2
  if ((status != 0)); then
    grep -v '^\[[0-9]*/[0-9]*\] ' "$log" | tail -n 40 >&2 || true
    echo "The build failed; the whole log is in $log" >&2
    exit "$status"
  fi
  if ((all > 0)); then echo "built: $all steps in $(clock "$SECONDS")" >&2; else echo "built: nothing to do" >&2; fi
}
