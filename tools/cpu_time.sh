#!/usr/bin/env bash
# Runs a compiler or linker and appends "<user s> <system s> <what it made>" to the file ATTUNE_CPU_LOG (tools/build_times.sh).
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
