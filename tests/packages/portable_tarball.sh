#!/usr/bin/env bash
# The portable tarball on another distribution than the one that it was built on, where nothing is installed: version, doctor, tune by replay, report.
# Usage: portable_tarball.sh TARBALL WORK_FOLDER [SUITE [MIRROR]]   (default trixie)   Exit codes: 0 right, 1 a claim does not hold, 77 skipped
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tarball=$(realpath "${1:?}") work=$(realpath -m "${2:?}") suite=${3:-trixie} mirror=${4:-}
skip() { echo "skipped: $1"; exit 77; }
((EUID == 0)) || skip "only root makes a root"
command -v mmdebstrap >/dev/null || skip "mmdebstrap is not installed"
if [[ ${ATTUNE_OWN_MOUNTS:-} != yes ]]; then
  unshare --mount --propagation private true 2>/dev/null || skip "mounts are not allowed here"
  ATTUNE_OWN_MOUNTS=yes exec unshare --mount --propagation private "$here/$(basename "$0")" "$@"
fi
root=$work/root
umask 022
# As root: only an earlier run's folder is emptied.
if [[ -e $work && ! -e $work/.attune-work && -n $(ls -A "$work") ]]; then
  echo "$work is not empty, and no run before has made it: name another folder" >&2
  exit 1
fi
rm -rf --one-file-system "$work"
mkdir -p "$work"
touch "$work/.attune-work"
finish() {
  ! mountpoint -q "$root/proc" || umount "$root/proc" || return
  rm -rf --one-file-system "$root"
}
trap finish EXIT
# A C++ library is what every distribution with a driver's tools has.
mmdebstrap --quiet --variant=minbase --mode=root --include=libstdc++6 "$suite" "$root" ${mirror:+"$mirror"}
mount -t proc proc "$root/proc"
mkdir -p "$root/opt/attune" "$root/home/user"
tar -xzf "$tarball" -C "$root/opt/attune" --strip-components=1 --no-same-owner
chown 1000:1000 "$root/home/user"
as_user() { chroot --userspec=1000:1000 "$root" /usr/bin/env -i HOME=/home/user PATH=/opt/attune/bin:/usr/bin:/bin LANG=C.UTF-8 "$@"; }
grep PRETTY_NAME "$root/etc/os-release"
as_user attune --version
code=0
as_user attune doctor || code=$?
((code == 4))  # there is no driver here, and it says so
as_user attune tune reduce --T f32 --op sum --size '2^10..2^20:x32' --budget 20s
as_user attune report reduce --format html --output /home/user/report.html
grep -q '<html' "$root/home/user/report.html"
as_user attune explain reduce --T f32 --op sum --size 2^24 --device 'NVIDIA H200'
echo "right"
