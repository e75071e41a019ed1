#!/usr/bin/env bash
# Makes docs/pictures/report.png and ladder.png: pages that `attune` writes of shipped recordings, as a browser shows them. Nothing is measured.
# Usage: docs/pictures/make.sh ATTUNE [CHROMIUM]     ATTUNE: a built attune; CHROMIUM: the browser's command (chromium, of the Debian package)
# Each is the upper part of its page; of the page with the ladder, what stands between the title and the ladder is left out.
set -euo pipefail

attune=$(realpath "${1:?Usage: docs/pictures/make.sh ATTUNE [CHROMIUM]}")
browser=${2:-chromium}
largest_kib=150
command -v "$browser" >/dev/null || { echo "There is no command $browser: install the package chromium, or name a browser." >&2; exit 4; }
cd "$(dirname "$0")"
pictures=$PWD
root=$(realpath ../..)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

picture() {  # NAME HEIGHT: of NAME.html
  "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --force-device-scale-factor=1 --blink-settings=preferredColorScheme=1 \
    --virtual-time-budget=5000 --user-data-dir="$work/browser" --window-size="1280,$2" --screenshot="$work/$1.png" "file://$work/$1.html" >"$work/browser.log" 2>&1 ||
    { cat "$work/browser.log" >&2; exit 1; }
  local kib=$((($(stat -c %s "$1.png") + 1023) / 1024))
  ((kib <= largest_kib)) || { echo "$1.png has $kib KiB, and at most $largest_kib are wanted." >&2; exit 1; }
  mv "$1.png" "$pictures/$1.png"
  echo "$pictures/$1.png: $kib KiB"
}

"$attune" tune reduce --db report.db --replay "$root/templates/reduce/recordings/h100_f32_sum_cold.json.zst" --T f32 --op sum --size '2^10..2^28:x4' >/dev/null 2>&1
"$attune" report reduce --db report.db --format html --output report.html >/dev/null
picture report 1060

"$attune" ladder reduce --db ladder.db --replay "$root/templates/reduce/recordings/h200_ladder_f32_i32_cold.json.zst" --T f32 --size 2^24 \
  --peers "$root/bench/results/nvidia_h200/reduce_vs_cub.json" --html whole.html >/dev/null
grep -q '^<h3>Ladder of published variants' whole.html || { echo "The page has no ladder where one is expected." >&2; exit 1; }
sed -e '/^<dl class="facts">/,/^<\/dl>/d' -e '/^<dl class="keys">/,/^<h3>Ladder/{/^<h3>Ladder/!d}' whole.html >ladder.html
picture ladder 1900
