#!/bin/sh
# Checks the Debian packages, as root, in a quarter of an hour: lintian, two builds in different folders and
# settings that must give the same bytes, and debian/tests in a new Debian 12 where nothing else is.
# There is no user namespace in a chroot, so these tests also show the jail without one.
set -eu
cd "$(dirname "$0")/.."
out=$PWD/build-deb
. .debian/chroot.sh

rm -rf "$out"
sh .debian/build.sh "$out" -j"$(nproc)"
lintian --allow-root --pedantic --fail-on error,warning,info,pedantic "$out"/dtx_*.changes

# The second from the source package of the first.
mkdir -p "$out/another/folder"
(cd "$out/another/folder" && dpkg-source -x "$out"/dtx_*.dsc && cd dtx-* &&
	TZ=Asia/Tokyo LC_ALL=C CCACHE_DISABLE=1 DEB_BUILD_OPTIONS=nocheck dpkg-buildpackage -us -uc -j1)
for f in "$out"/*.deb "$out"/*.dsc "$out"/*.tar.xz; do
	cmp "$f" "$out/another/folder/${f##*/}"
done
echo "both builds gave the same bytes:"
(cd "$out" && sha256sum -- *.deb *.dsc *.tar.xz)
rm -rf "$out/another"

chroot_new "$out/chroot"
autopkgtest --no-built-binaries "$out"/dtx_*.deb "$out"/dtx-*/ -- chroot "$out/chroot"
