# To be included.  chroot_new FOLDER makes a small Debian 12 in FOLDER, which is removed at the end.
chroot_new() {
	chroot_at=$1
	rm -rf "$chroot_at"
	mkdir -p "$chroot_at"
	trap chroot_end EXIT
	trap 'exit 130' INT TERM
	debootstrap --variant=minbase bookworm "$chroot_at"
	cat > "$chroot_at/etc/apt/sources.list" <<-EOF
		deb http://deb.debian.org/debian bookworm main
		deb http://deb.debian.org/debian bookworm-updates main
		deb http://deb.debian.org/debian-security bookworm-security main
	EOF
	cp /etc/resolv.conf "$chroot_at/etc/"
	printf '#!/bin/sh\nexit 101\n' > "$chroot_at/usr/sbin/policy-rc.d" # starts no services
	chmod 755 "$chroot_at/usr/sbin/policy-rc.d"
	mount -t proc proc "$chroot_at/proc"
	mount --bind /dev "$chroot_at/dev"
	chroot "$chroot_at" apt-get update -qq
}

# Ends what still runs in there, such as a warm pool, and removes it unless something is still mounted.
chroot_end() {
	for p in /proc/[0-9]*; do
		[ "$(readlink "$p/root")" != "$chroot_at" ] || kill -9 "${p#/proc/}" || :
	done 2>/dev/null
	sleep 1
	for m in dev proc; do ! mountpoint -q "$chroot_at/$m" || umount "$chroot_at/$m" || return; done
	rm -rf --one-file-system "$chroot_at"
}
