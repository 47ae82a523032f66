#!/bin/sh
# What `make install` installs and `make uninstall` removes, and the files that make the Debian package:
#   package.sh DTX
set -u
cd "$(dirname "$0")/../.."
. tests/lib.sh
dtx=$1
into=$(mktemp -d)
trap 'rm -rf "$into"' EXIT
version=$(sed -n 's/^## \([0-9.]*\) ([0-9-]*)$/\1/p' .github/CHANGELOG.md | head -1)

same() { # NAME EXPECTED GOT
	if [ "$2" = "$3" ]; then t_ok "$1"; else t_not_ok "$1" "expected: $2
got: $3"; fi
}
# The program is there: nothing is compiled, however it was built.  What it prints to be installed is
# made again: it may be of an older one.
rm -rf "$(dirname "$dtx")/share"
install() { make --no-print-directory -s -o "$dtx" B="$(dirname "$dtx")" DESTDIR="$into" PREFIX=/usr "$@" 2>&1; }
files() { (cd "$into" && find . ! -type d | sort); }

same "make without a target builds dtx" ".DEFAULT_GOAL := all" "$(install -pq | grep '^\.DEFAULT_GOAL')"
(umask 077 && install install) > "$into.log"
cat "$into.log" && rm "$into.log"
same "the installed program runs" "dtx $version" "$("$into/usr/bin/dtx" --version)"
want="bin/dtx share/bash-completion/completions/dtx share/zsh/vendor-completions/_dtx share/fish/vendor_completions.d/dtx.fish
	share/doc/dtx/README.md share/doc/dtx/CHANGELOG.md share/doc/dtx/examples/demo.sh
	share/doc/dtx/examples/xlsx/report.xlsx share/dtx/schema/plan.json
	$(for p in man/*.[0-9]; do echo "share/man/man${p##*.}/${p##*/}"; done)"
same "all kinds of files are installed" "" "$(for f in $want; do [ -s "$into/usr/$f" ] || echo "$f"; done)"
same "everybody can read them" "" "$(find "$into/usr" ! -perm -o+r)"
same "the schema is the one that dtx prints" "" "$("$dtx" schema | cmp - "$into/usr/share/dtx/schema/plan.json" 2>&1)"

touch "$into/usr/share/doc/dtx/notes" "$into/usr/share/man/man1/other.1"
install uninstall
same "uninstall removes these files and no others" "./usr/share/doc/dtx/notes ./usr/share/man/man1/other.1" "$(files | xargs)"
rm "$into/usr/share/doc/dtx/notes" "$into/usr/share/man/man1/other.1"
install uninstall
same "only the usual folders are left" "./usr ./usr/bin ./usr/share ./usr/share/doc ./usr/share/man" \
	"$(cd "$into" && find . -mindepth 1 | sort | xargs)"

same "the first entry of the changelog is the version" "dtx $version" "$("$dtx" --version)"
same "the manual names it" "\"dtx $version\"" "$(grep -h '^\.TH' man/*.[0-9] | grep -o '"dtx [0-9][^"]*"' | sort -u)"

# The packages of a field, without versions and architectures.
field() { # NAME
	awk -v name="$1:" '/^[^ ]/ { on = $1 == name; sub(/^[^:]*:/, "") } on' .debian/control | tr ',' '\n' |
		sed 's/^ *//; s/[ :].*//' | sort -u
}
opened=$(grep -rhoE '"lib[a-z]+[0-9]?-?[0-9]+(v[0-9])?"' core/fallback core/io --include='*.c' | tr -d '"'; /usr/bin/python3 -c '
import sys; print("libpython%d.%d" % sys.version_info[:2])')
needs=$(field Depends; field Recommends)
same "the package names what is loaded when needed" "" \
	"$(for p in $opened tzdata python3-pandas; do echo "$needs" | grep -qxF "$p" || echo "$p"; done)"
builds=$(field Build-Depends)
deps=$(awk '/^DEPS :=/ { on = 1 } on { print } on && !/\\$/ { exit }' Makefile | sed 's/^DEPS :=//; s/\\$//')
same "the package is built with the packages of the Makefile" "" \
	"$(for p in $deps; do echo "$builds" | grep -qxF "$p" || echo "$p"; done | grep -vxE 'build-essential|python3-pandas|libsnappy1v5|libzstd1|liblz4-1|libbrotli1')"
same "no field is given twice, and no line ends in a space" "" \
	"$(awk '/ $/ { print FILENAME ": " $0 } !NF { split("", seen) } /^[A-Z]/ && seen[$1]++ { print FILENAME ": " $1 }' \
		.debian/control .debian/copyright .debian/tests/control)"
same "its description is at most 80 characters wide, as lintian wants it" "" \
	"$(awk '/^Description:/ { on = 1 } on && length > 80' .debian/control)"
same "its tests and rules can be run" "" \
	"$(for f in rules $(sed -n 's/^Tests: /tests\//p' .debian/tests/control); do [ -x ".debian/$f" ] || echo "$f"; done)"
t_done
