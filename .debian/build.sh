#!/bin/sh
# Builds the packages of the files that git knows:
#   build.sh FOLDER [OPTION of dpkg-buildpackage ...]
#   build.sh FOLDER --export
# exports them to FOLDER/dtx-VERSION and leaves the packages in FOLDER; --export ends after the first.
set -eu
umask 022
cd "$(dirname "$0")/.."
out=$1
shift
version=$(sed -n 's/^## \([^ ]*\) .*/\1/p' .github/CHANGELOG.md | head -1)
tree=$out/dtx-$version
rm -rf "$tree"
mkdir -p "$tree"
git ls-files -z | tar -c --null -T - --mode=go=rX | tar -x -C "$tree" --same-permissions --no-same-owner
mv "$tree/.debian" "$tree/debian"

# The Debian changelog: "## VERSION (DATE)" begins an entry, "- " an item.
awk -v by="$(sed -n 's/^Maintainer: //p' .debian/control)" '
	function close_entry() { if (date) { print "\n -- " by "  " date } }
	/^## / {
		close_entry()
		if (date) print ""
		print "dtx (" $2 ") unstable; urgency=medium\n"
		gsub(/[()]/, "", $3)
		("LC_ALL=C date -u -R -d " $3) | getline date
		next
	}
	!date { next }
	/^- / { text = "  *"; n = split(substr($0, 3), word, " ") }
	/^  / { text = "   "; n = split($0, word, " ") }
	/^(- |  )/ {
		for (i = 1; i <= n; i++) {
			if (length(text " " word[i]) > 78) { print text; text = "   " }
			text = text " " word[i]
		}
		print text
	}
	END { close_entry() }' .github/CHANGELOG.md > "$tree/debian/changelog"

[ "${1-}" != --export ] || exit 0
cd "$tree"
exec dpkg-buildpackage -us -uc "$@"
