#!/usr/bin/env bash
# Renews all that the shipped database is made of, on every GPU of this machine: each recording of templates/*/recordings is measured
# anew, the same problems and configurations and what won around, with the templates as they are now; then the grids of ragged
# sizes (tools/shipped_problems.py). Ends with the recordings in place, ready to be looked at and committed.
# What was measured stays in the working folder: the same command continues where it was stopped.
#
#   tools/renew_shipped.sh [ATTUNE [WORKING_FOLDER [DEVICES]]]
#
# ATTUNE: the executable (build/release/tools/attune); DEVICES: as `attune tune --device` takes them (all).
set -euo pipefail
cd "$(dirname "$0")/.."

attune=${1:-build/release/tools/attune}
work=${2:-build/renewal}
devices=${3:-all}
[[ -x $attune ]] || { echo "There is no executable $attune: build it first, or name another." >&2; exit 2; }
mkdir -p "$work/recordings"

# Recordings say it in their name.
policy_of() { if [[ $1 == *_hot* ]]; then echo hot/graph; else echo cold/graph; fi; }

# record TEMPLATE NAME POLICY STRATEGY BUDGET PROBLEMS [further arguments]
record() {
  local template=$1 name=$2 policy=$3 strategy=$4 budget=$5 problems=$6
  shift 6
  local made="$work/recordings/$template.$name.json.zst"
  [[ -e $made ]] && { echo "$template/$name: made already"; return; }
  echo "$template/$name ($SECONDS s)"
  "$attune" record "$template" --problems "$problems" --policy "$policy" --strategy "$strategy" --budget "$budget" --device "$devices" --db "$work/renewed.db" "$@" --output "$made.part.json.zst" > "$work/log" 2>&1 || { tail -20 "$work/log" >&2; exit 1; }
  mv "$made.part.json.zst" "$made"
}

for recording in templates/*/recordings/*.json.zst; do
  template=$(cut -d/ -f2 <<< "$recording")
  name=$(basename "$recording" .json.zst)
  record "$template" "$name" "$(policy_of "$name")" portfolio 100% "$recording" --try "$recording"
done
python3 tools/shipped_problems.py "$work" > "$work/steps"
while read -r template name policy strategy budget problems; do
  if [[ $name == - ]]; then
    echo "$template, $strategy ($SECONDS s)"
    "$attune" tune "$template" --problems "$problems" --policy "$policy" --strategy "$strategy" --budget "$budget" --device "$devices" --db "$work/renewed.db" > "$work/log" 2>&1 < /dev/null || { tail -20 "$work/log" >&2; exit 1; }
  elif [[ ! -e templates/$template/recordings/$name.json.zst ]]; then
    record "$template" "$name" "$policy" "$strategy" "$budget" "$problems" < /dev/null
  fi
done < "$work/steps"

for made in "$work"/recordings/*.json.zst; do
  file=$(basename "$made")
  cp "$made" "templates/${file%%.*}/recordings/${file#*.}"
done
echo "All recordings are renewed ($SECONDS s). Build again: the shipped database is made from them."
