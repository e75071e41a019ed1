#!/usr/bin/env bash
# Runs a compiler or linker and appends "<user s> <system s> <what it made>" to the file ATTUNE_CPU_LOG, when there is one
# (tools/build_times.sh).
[[ -n ${ATTUNE_CPU_LOG:-} ]] || exec "$@"
export LC_NUMERIC=C
unset LC_ALL
made=
for ((i = 1; i < $#; ++i)); do
  if [[ ${!i} == -o ]]; then
    next=$((i + 1))
    made=${!next}
  fi
done
TIMEFORMAT="%U %S ${made//%/%%}"
exec 3>&2
{ time "$@" 2>&3 3>&-; } 2>>"$ATTUNE_CPU_LOG"
