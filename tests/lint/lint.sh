#!/bin/sh
# Rules that the compiler does not know.  One ok/not ok line per rule; sizes as comments.
set -u
cd "$(dirname "$0")/../.."
. tests/lib.sh

sources() { find core ops sandbox cli tests -name '*.[ch]' | sort; }
product() { find core ops sandbox cli -name '*.[ch]' | sort; }

# A file includes its own part (core/io, ops ...) and lower layers, never a peer.
layers() {
	product | xargs awk '
	function layer(p) {
		if (p ~ /^core\/base\//) return 0
		if (p ~ /^core\/data\//) return 1
		if (p ~ /^core\/(io|expr|store)\//) return 2
		if (p ~ /^core\/plan\//) return 3
		if (p ~ /^(ops|sandbox|core\/fallback|core\/cluster)\//) return 4
		if (p ~ /^cli\//) return 5
		return -1
	}
	function part(p, q) { split(p, q, "/"); return q[1] == "core" ? q[1] "/" q[2] : q[1] }
	/^#[ \t]*include[ \t]*"/ {
		split($0, q, "\""); to = q[2]
		if (to !~ /\//) { if (to !~ /^(scan_kernel|unit)/) print FILENAME ": include by path from the root: " to; next }
		if (part(to) == part(FILENAME)) next
		if (layer(to) < 0 || layer(to) >= layer(FILENAME)) print FILENAME " (layer " layer(FILENAME) ") includes " to
	}'
}

# One file owns each foreign library.
owners() {
	while read -r header owner; do
		grep -lE "#[ \t]*include[ \t]*<$header" $(product) | grep -vE "^($owner)$" |
			sed "s#^#<$header> is owned by $owner, not #"
	done <<-EOF
		sqlite3.h core/store/db.[ch]|core/io/sqlite/(sqlite_vfs.[ch]|write_sqlite.c)
		csv.h core/io/csv/csv_ref.c
		xlsxwriter.h core/io/write/write_xlsx.c
		zlib.h core/io/archive/inflate_zlib.c|core/io/archive/gzip_writer.c|core/plan/lineage/row_lineage.c
		isa-l.*.h core/io/archive/inflate_isal.c
		seccomp.h sandbox/policy/(filter|notify).c
		Python.h sandbox/zygote/pyhost.c
		openssl/ core/base/hash/hash.c
		xxhash.h core/base/hash/hash.c
		utf8proc.h core/base/text/utf8.c
		freexl.h core/io/sheet/xls/read_freexl.c
		jansson.h core/base/text/json.[ch]
		curl/ core/fallback/author/author_url.c
		dlfcn.h core/base/lib.c
	EOF
}

banned() {
	grep -nE '\b(malloc|calloc|realloc|aligned_alloc|strdup|strndup|asprintf)\(' $(product) | grep -v '^core/base/memory/mem.c:' |
		grep -vE '^[^:]*:[0-9]+:\s*(\*|/\*|//)'
	grep -nE '\b(strtok|sprintf|vsprintf|atoi|atol|atof|system|setlocale|gets|strcpy|alloca)\(' $(product)
	grep -nE '\b(printf|puts|putchar|exit)\(' $(product | grep -E '^(core|ops)/.*\.c$')
	# a denied call is never answered with "go on" or a descriptor, and what its process holds is not read
	grep -nE 'NOTIF_FLAG_CONTINUE|NOTIF_ADDFD|NOTIF_SET_FLAGS|\bprocess_vm_(read|write)v|/mem"' $(product)
}

leftovers() {
	grep -nE '\b(TODO|FIXME|XXX|HACK)\b' $(sources) Makefile README.md
	true
}

# ops/rows/op_tail.c holds `const struct dtx_op dtx_op_tail` with .name = "tail"; so for the other parts.
named() {
	while read -r glob type symbol; do
		for f in $glob; do
			[ -e "$f" ] || continue
			n=$(basename "$f" .c)
			n=${n#*_}
			if grep -q "^const struct $type ${symbol}_$n" "$f"; then
				[ "$type" != dtx_op ] || grep -q "\.name = \"$n\"" "$f" || echo "$f: .name is not \"$n\""
			else
								echo "$f: no 'const struct $type ${symbol}_$n'"
			fi
		done
	done <<-'EOF'
		ops/*/op_*.c dtx_op dtx_op
		core/expr/fn/fn_*.c dtx_fn_table dtx_fn
		cli/*/cmd_*.c dtx_cmd dtx_cmd
	EOF
}

unique() {
	find core ops sandbox cli -name '*.c' -exec basename {} \; | sort | uniq -d
}

# Functions as the house style lays them out: { and } alone in the first column.
functions() {
	product | grep '\.c$' | xargs awk '
		FNR == 1 { name = "" }
		/^[a-z].*\(/ && !/;$/ { name = $0 }
		/^{$/ { start = FNR }
		/^}$/ && start { print FNR - start - 1, FILENAME ":" start, name; start = 0 }' | sort -n
}

sizes() {
	functions | awk '{ n[NR] = $1; last = $0 }
		END { printf "# functions: %d, median %d lines, 90th percentile %d, largest %s\n",
			NR, n[int((NR + 1) / 2)], n[int(NR * 0.9)], last }'
	product | xargs wc -l | grep -v ' total$' | sort -n | tail -1 | awk '{ print "# largest file: " $2 ", " $1 " lines" }'
}

too_large() {
	product | xargs wc -l | awk '$2 != "total" && $1 > 1200 { print $2 ": " $1 " lines" }'
	functions | awk '$1 > 120 { print }'
}

formatted() {
	sources | xargs clang-format --dry-run 2>&1 | grep -oE '^[^:]+:[0-9]+' | cut -d: -f1 | sort | uniq -c | sed 's/^/not formatted (make format): /'
}

speaks_of_dtx() {
	git grep -nIE '/(wor)k/|/(far)m/|issue [0-9]+' -- . ':!LICENSE' 2>/dev/null | head -5
}

rule() { # rule NAME FUNCTION: no output is ok
	found=$($2 2>&1)
	if [ -z "$found" ]; then
		t_ok "lint: $1"
	else
		t_not_ok "lint: $1" "$found"
	fi
}

# What a plan or a machine counts has no fixed room: it is allocated by the count, and appended
# through dtx_mem_reserve or dtx_arena_reserve.
counted() {
	product | xargs grep -nE '\[(DTX_PLAN_INPUTS|DTX_PLAN_STEPS|DTX_EXPAND_FILES|DTX_SIGBUS_GUARD_MAX)[^]]*\]' |
		grep -v '^core/base/sigbus_guard\.c:' | sed 's/$/ (allocate it by its count)/'
}

# A folder of more than ten files says in a README of at most 40 lines what lives there (those of tests/ are in one).
rooms() {
	find core ops cli sandbox tests -type d | while read -r d; do
		n=$(find "$d" -maxdepth 1 \( -name '*.[ch]' -o -name '*.py' \) | wc -l)
		[ "$n" -le 10 ] || [ -e "$d/README.md" ] || [ "${d#tests/}" != "$d" ] || echo "$d: $n files and no README.md"
		[ -e "$d/README.md" ] || continue
		[ "$(wc -l < "$d/README.md")" -le 40 ] || echo "$d/README.md: more than 40 lines"
		grep -oE '`[a-z_0-9./]+\.(c|h|py|sh)`' "$d/README.md" | tr -d '`' | while read -r f; do
			[ -e "$f" ] || [ -e "$d/$f" ] || echo "$d/README.md names $f, which is not there"
		done
	done
}

# What an op does to rows and columns it states itself (struct dtx_op_facts): no other file knows an op by
# its name.  The parser does where one step is written as several.
ops_by_name() {
	names=$(find ops -name 'op_*.c' | sed 's#.*/op_\(.*\)\.c#\1#' | paste -sd'|')
	of='(\b(st|step|op|b)->(name|op)\b|step\[[^]]*\]\.name\b|"op", (""|NULL)\))'
	grep -nE "strn?cmp\(.*$of.*\"($names)\"|strn?cmp\((op|name), *\"($names)\"|dtx_str_in_list\(.*$of" $(product) |
		grep -v '^core/plan/parse/' | sed 's/$/ (ask dtx_op_facts)/'
}

# Readers and writers alone know the names of formats, so that a new one is one new file: no other file has a
# text that is such a name, or a list of them.  json, text, md and tab are words for other things, too: they count
# only on a line that speaks of a format, a reader, a writer or a suffix.  Exceptions: the second reader of .xls.
formats_by_name() {
	own='^(core/io/([a-z]+/)*(read|write)_[a-z]+\.c|core/io/sheet/xls/xls_freexl\.c):'
	names=$(sed -n 's/^	\.\(formats\|suffixes\) = "\(.*\)",$/\2/p' $(product | grep -E '^core/io/.*/(read|write)_[a-z]+\.c$') |
		tr ',' '\n' | grep . | sort -u)
	plain=$(echo "$names" | grep -vxE 'json|text|txt|md|tab|sqlite3|html' | paste -sd'|')
	all=$(echo "$names" | paste -sd'|')
	grep -nE "\"(($all),)*($plain)(,($all))*\"" $(product) | grep -vE "$own" |
		grep -vE '^[^:]*:[0-9]+:\s*(\*|/\*)|/\*.*"' | sed 's/$/ (ask the class of the reader or writer)/'
	# nor does a sentence name one that has a room: its class has the section of the manual
	rooms=$(find core/io -path '*/read_*.c' | sed -n 's#^core/io/\([a-z]*\)/read_\1\.c$#\1#p' | grep -vxE 'csv|json|sqlite' | paste -sd'|')
	grep -niE "\"[^\"]*\b($rooms)\b" $(product) | grep -vE "^core/io/($rooms)/" |
		grep -vE '^[^:]*:[0-9]+:#|/\*.*"' | sed 's/$/ (say it in the class, see struct dtx_manual)/'
	grep -nE '(format|reader|writer|suffix|cls->name)[^"]*"(json|text|txt|md|tab)"' $(product) | grep -vE "$own" |
		sed 's/$/ (ask the class of the reader or writer)/'
}

rule "layers" layers
rule "no format is known by its name" formats_by_name
rule "no op is known by its name" ops_by_name
rule "rooms have a README whose files are there" rooms
rule "nothing counted in fixed arrays" counted
rule "one owner per library" owners
rule "banned calls" banned
rule "nothing left undone" leftovers
rule "file, symbol and name agree" named
rule "module names are unique" unique
rule "sizes" too_large
if command -v clang-format > /dev/null; then
	rule "format" formatted
else
	t_skip "lint: format" "clang-format is not installed (make deps-test-all)"
fi
rule "the repository speaks of dtx alone" speaks_of_dtx
sizes
t_done
