#!/usr/bin/env bash
# A long run of a fuzzer that is told to end does so, and keeps its figures; one that was stopped meanwhile has not taken long over its
# input. Usage: tests/fuzz/stop.sh FUZZER
set -euo pipefail
folder=$(mktemp -d)
fuzzer=
trap '[[ -z $fuzzer ]] || kill -s KILL -- "-$fuzzer" 2>/dev/null || true; rm -rf "$folder"' EXIT
for signal in TERM INT; do
  # A shell without job control has children ignore SIGINT.
  set -m
  "$1" --seconds 0 --cpu-seconds 3600 --deadline 0.5 --findings "$folder" --output "$folder/figures.json" >/dev/null &
  set +m
  fuzzer=$!
  until [[ -n $(cat "/proc/$fuzzer/task/$fuzzer/children" 2>/dev/null) ]]; do
    kill -0 "$fuzzer" || { echo "the fuzzer ended by itself" >&2; exit 1; }
    sleep 0.1
  done
  kill -s STOP -- "-$fuzzer"
  kill -s CONT "$fuzzer"  # the parent, which watches the clock, sees which input the child is at
  sleep 0.3
  kill -s STOP "$fuzzer"
  sleep 6  # ten deadlines and more
  kill -s CONT "$fuzzer"
  sleep 0.3
  kill -s CONT -- "-$fuzzer"
  kill -s "$signal" "$fuzzer"
  wait "$fuzzer" || { echo "SIG$signal ended the fuzzer with $?" >&2; exit 1; }
  fuzzer=
done
[[ $(grep -c '"cpu_seconds"' "$folder/figures.json") == 2 ]] || { echo "the figures of the two runs were not kept" >&2; exit 1; }
[[ $(grep -c '"findings":\[\]' "$folder/figures.json") == 2 ]] || { echo "an input that was being read when all was stopped is called slow" >&2; exit 1; }
