#!/bin/sh
# Builds the package for arm64 in a new Debian 12, as root, with Debian's cross compiler and libraries for arm64,
# and runs unit tests and examples of operations in qemu-user.  The packages are left in build-deb/arm64.
# The jail and the reader of workbooks cannot be tested so: qemu-user has no seccomp.
set -eu
cd "$(dirname "$0")/.."
out=$PWD/build-deb/arm64
. .debian/chroot.sh

rm -rf "$out"
chroot_new "$out/chroot"
sh .debian/build.sh "$out/chroot/dtx" --export
chroot "$out/chroot" sh -eu -c '
	export DEBIAN_FRONTEND=noninteractive
	dpkg --add-architecture arm64
	apt-get update -qq
	apt-get install -qq -y --no-install-recommends crossbuild-essential-arm64
	cd /dtx/dtx-*
	apt-get build-dep -qq -y --no-install-recommends --host-architecture arm64 --build-profiles cross ./
	dpkg-buildpackage -us -uc -b -aarm64 -Pcross -j"$(nproc)"'
mv "$out"/chroot/dtx/dtx*_arm64.* "$out"
