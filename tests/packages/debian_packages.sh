#!/usr/bin/env bash
# The Debian packages on a machine that has nothing but Debian: a root that mmdebstrap makes anew. Installs attune, runs what a first-time user runs, then
# installs libattune-dev and builds programs, and with a copy of the CUDA toolkit the examples; one of them runs on the fake driver.
# Usage: debian_packages.sh BUILD_FOLDER WORK_FOLDER [PACKAGES]     (a folder; without one they are made of the build)
# Exit codes: 0 right, 1 a claim does not hold, 77 skipped
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source_folder=$(cd "$here/../.." && pwd)
build=$(realpath "${1:?}") work=$(realpath -m "${2:?}")

skip() { echo "skipped: $1"; exit 77; }
((EUID == 0)) || skip "only root makes a root"
command -v mmdebstrap >/dev/null || skip "mmdebstrap is not installed"
command -v dpkg-shlibdeps >/dev/null || skip "dpkg-dev is not installed"
grep -q 'VERSION_CODENAME=bookworm' /etc/os-release || skip "the packages are of this system, and the root is Debian 12"

# Mounts of a name space of its own: whatever happens, none stays.
if [[ ${ATTUNE_OWN_MOUNTS:-} != yes ]]; then
  unshare --mount --propagation private true 2>/dev/null || skip "mounts are not allowed here"
  ATTUNE_OWN_MOUNTS=yes exec unshare --mount --propagation private "$here/$(basename "$0")" "$@"
fi

root=$work/root
log=$work/log
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
  local code=$?
  ((code == 0)) || { echo "the last lines of $log:"; tail -n 40 "$log"; }
  local mounted
  for mounted in "$root/usr/local/cuda" "$root/proc"; do ! mountpoint -q "$mounted" || umount "$mounted" || return; done
  rm -rf --one-file-system "$root"
}
trap finish EXIT

step() { echo "== $*" | tee -a "$log"; }
fail() { echo "FAILED: $*"; exit 1; }
# What the program printed, standard error included, and its exit code.
output= code=0
as_user() {
  code=0
  output=$(chroot --userspec=1000:1000 "$root" /usr/bin/env -i HOME=/home/user PATH=/usr/bin:/bin LANG=C.UTF-8 "$@" 2>&1) || code=$?
  printf '$ %s\n%s\n(exit code %s)\n' "$*" "$output" "$code" >>"$log"
}
expect_code() { [[ $code == "$1" ]] || fail "exit code $code instead of $1"; }
expect() { [[ $output == *"$1"* ]] || fail "no \"$1\" in what it printed"; }
install_packages() { chroot "$root" /usr/bin/env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >>"$log" 2>&1; }

step "the packages"
if [[ -n ${3:-} ]]; then
  mkdir -p "$work/packages"
  cp "$3"/*.deb "$work/packages/"
else
  (cd "$build" && cpack -G DEB -B "$work/packages") >>"$log" 2>&1
fi
version=$(dpkg-deb -f "$work"/packages/attune_*.deb Version)

step "an empty Debian 12"
mmdebstrap --quiet --variant=apt --mode=root bookworm "$root" >>"$log" 2>&1
mkdir -p "$root/packages" "$root/home/user"
cp "$work"/packages/*.deb "$root/packages/"
chown 1000:1000 "$root/home/user"
mount -t proc proc "$root/proc"
chroot "$root" apt-get update -qq >>"$log" 2>&1

step "attune alone: version, doctor, tune by replay, report"
install_packages "/packages/attune_${version}_amd64.deb"
as_user attune --version
expect_code 0
expect "attune $version (content "
as_user attune doctor
expect_code 4  # there is no driver and no NVRTC, and it says so
expect "wrong  driver: "
expect "wrong  compiler: "
expect "2 wrong, "
expect "/usr/share/attune/shipped.db"
as_user attune doctor --json
expect_code 4
expect '"area": "driver"'
as_user attune tune reduce --T f32 --op sum --size 2^20 --device 0
expect_code 4  # whoever asks for a GPU is not given a recording
as_user attune tune reduce --T f32 --op sum --size '2^10..2^20:x32' --budget 20s
expect_code 0
expect "2^20"
as_user attune show reduce
expect_code 0
expect "block_size="
as_user attune report reduce --format html --output /home/user/report.html
expect_code 0
grep -q '<html' "$root/home/user/report.html" || fail "the report is no page"
as_user attune explain reduce --T f32 --op sum --size 2^24 --device "NVIDIA H200"
expect_code 0
as_user bash -c 'source /usr/share/bash-completion/completions/attune && COMP_WORDS=(attune do) COMP_CWORD=1 && _attune && echo "${COMPREPLY[@]}"'
expect doctor
[[ -e $root/usr/share/doc/attune/docs/installing.md && -e $root/usr/share/doc/attune/docs/pictures/report.png ]] || fail "the README leads nowhere"
[[ -s $root/usr/share/doc/attune/notices/libjs-chart.js ]] || fail "no notices of other libraries"
[[ -e $root/usr/share/man/man1/attune-tune.1 ]] || [[ -e $root/usr/share/man/man1/attune-tune.1.gz ]] || fail "no manual page"

step "a prefix that was moved"
mkdir -p "$root/opt/moved"
dpkg-deb -x "$work/packages/attune_${version}_amd64.deb" "$root/opt/moved"
chroot "$root" apt-get remove -y -qq attune >>"$log" 2>&1
moved_tune=(/opt/moved/usr/bin/attune tune reduce --T f32 --op sum --size 2^10 --budget 20s --db /home/user/moved.db)
chown -R 2000:2000 "$root/opt/moved/usr/share"  # somebody's who could not have written the program
as_user "${moved_tune[@]}"
expect_code 4
expect "/opt/moved/usr/share/attune/recordings/reduce is not replayed"
chown -R 2000:2000 "$root/opt/moved"  # as programs of a cluster belong to a user of their own
as_user "${moved_tune[@]}"
expect_code 0
chown -R 0:0 "$root/opt/moved"
as_user /opt/moved/usr/bin/attune doctor
expect "/opt/moved/usr/share/attune/shipped.db"

step "libattune-dev: archives, shared library, pkg-config"
install_packages "/packages/attune_${version}_amd64.deb" "/packages/libattune${version%.*}_${version}_amd64.deb" "/packages/libattune-dev_${version}_amd64.deb" g++ cmake make pkgconf libeigen3-dev
cp -r "$here/consumer" "$root/home/user/consumer"
cp "$source_folder/tests/install/consumer/main.cpp" "$root/home/user/consumer/"
cp -r "$source_folder/tests/support/runtime_over_driver" "$root/home/user/consumer/"
# nvcc itself says where its toolkit is: what is on PATH may be a script elsewhere that calls it.
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
toolkit=$(realpath "$("$nvcc" --dryrun -E -x cu /dev/null 2>&1 | sed -n 's/^#\$ TOP=//p')") || skip "there is no nvcc that says where its toolkit is"
[[ -e $toolkit/include/cuda.h ]] || skip "the CUDA toolkit is not where nvcc says"
mkdir -p "$root/usr/local/cuda" "$root/opt/fake_cuda"
mount --bind -o ro "$toolkit" "$root/usr/local/cuda"
fake_cuda=$build/tests/fake_cuda/libcuda.so.1  # a build without tests has none
[[ ! -e $fake_cuda ]] || cp "$fake_cuda" "$root/opt/fake_cuda/"
chown -R 1000:1000 "$root/home/user"
as_user cmake -S /home/user/consumer -B /home/user/build -DEXAMPLES=/usr/share/doc/libattune-dev/examples
expect_code 0
as_user cmake --build /home/user/build -j 2
expect_code 0
for program in by_archives by_shared_library; do
  as_user "/home/user/build/$program" "NVIDIA H200"
  expect_code 0
  expect "layer:         /usr/share/attune/shipped.db"
done
as_user sh -c 'ldd /home/user/build/by_shared_library | grep libattune'
expect "libattune.so.${version%.*}"
as_user sh -c 'cd /home/user && g++ consumer/main.cpp -o by_pkg_config $(pkgconf --cflags --libs attune) && ./by_pkg_config "NVIDIA H200"'
expect_code 0
expect "layer:         /usr/share/attune/shipped.db"

step "programs of a prefix that was moved find its command"
chroot "$root" apt-get remove -y -qq attune 'libattune*' >>"$log" 2>&1
for package in "$work"/packages/*.deb; do dpkg-deb -x "$package" "$root/opt/moved"; done
as_user cmake -S /home/user/consumer -B /home/user/moved -DCMAKE_PREFIX_PATH=/opt/moved/usr
expect_code 0
as_user cmake --build /home/user/moved -j 2
expect_code 0
for program in misses_by_archives misses_by_shared_library; do
  as_user "/home/user/moved/$program"
  expect_code 0
  expect "tunes on a miss"
  chmod a-x "$root/opt/moved/usr/bin/attune"
  as_user "/home/user/moved/$program"  # it is this command, and no other one
  expect_code 4
  expect "/opt/moved/usr/bin/attune"
  chmod a+x "$root/opt/moved/usr/bin/attune"
done
install_packages "/packages/attune_${version}_amd64.deb" "/packages/libattune${version%.*}_${version}_amd64.deb" "/packages/libattune-dev_${version}_amd64.deb"

step "the examples"
as_user cmake -S /usr/share/doc/libattune-dev/examples -B /home/user/examples
expect_code 0
as_user cmake --build /home/user/examples -j 2
expect_code 0
as_user /home/user/examples/dispatch_reduce/dispatch_reduce 1000
expect_code 4  # the CUDA runtime finds no driver, and it says so
expect "no CUDA device"

if [[ -e $fake_cuda ]]; then
  step "an example on the fake driver"
  # The loader knows nothing of the toolkit's folder: NVRTC and what it loads itself are found all the same.
  as_user LD_LIBRARY_PATH=/opt/fake_cuda 'ATTUNE_FAKE_CUDA={"devices":[{}]}' attune doctor
  expect_code 0
  expect "0 wrong, "
  as_user LD_LIBRARY_PATH=/opt/fake_cuda 'ATTUNE_FAKE_CUDA={"devices":[{}]}' /home/user/build/dispatch_reduce_fake 1 1000 100003
  expect_code 0
fi

step "removed again"
chroot "$root" apt-get purge -y -qq attune 'libattune*' >>"$log" 2>&1
left=$(find "$root/usr" -xdev -name '*attune*' | head)
[[ -z $left ]] || fail "left behind: $left"
echo "right"
