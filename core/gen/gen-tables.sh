#!/bin/sh
# Prints C tables that are made from file names: of ops, readers, writers and functions (engine), of
# commands (cli) or of fuzz targets (fuzz).  So a new part needs only its own source file.
# Usage: gen-tables.sh engine|cli|fuzz
set -eu

list() { # list TYPE TABLE PREFIX HEADER FILE...
	type=$1 table=$2 prefix=$3 header=$4
	shift 4
	rows=""
	for f in "$@"; do
		[ -e "$f" ] || continue
		name=$(basename "$f" .c)
		name=${name#"$prefix"}
		# a part may be split into several files: the one that defines the symbol counts
		grep -q "^const $type ${table%s}_$name " "$f" || continue
		rows="$rows $name"
	done
	[ -e "$header" ] || return 0
	echo "#include \"$header\""
	sym=$(echo "$table" | sed 's/s$//')
	for n in $rows; do echo "extern const $type ${sym}_$n;"; done
	echo "const $type *const ${table}[] = {"
	for n in $rows; do echo "	&${sym}_$n,"; done
	echo "	NULL"
	echo "};"
}

# The values of `format`: those of all classes, as their files list them, after "auto".
formats() { # formats TYPE VARIABLE FILE...
	type=$1 variable=$2 names=auto
	shift 2
	for f in "$@"; do
		grep -q "^const $type " "$f" || continue
		names=$names,$(sed -n 's/^	\.formats = "\([a-z0-9,]*\)",$/\1/p' "$f")
	done
	echo "const char ${variable}[] = \"$names\";"
}

by_name() { awk -F/ '{ print $NF, $0 }' | LC_ALL=C sort | cut -d' ' -f2; } # whatever folder they are in

echo "/* Generated from file names. */"
echo "#include <stddef.h>"
case $1 in
engine)
	list "struct dtx_op" dtx_ops op_ core/plan/op.h $(find ops -name 'op_*.c' | by_name)
	echo "const char *const dtx_op_groups[] = {" # by folder
	for f in $(find ops -name 'op_*.c' | by_name); do
		grep -q "^const struct dtx_op dtx_op_" "$f" || continue
		echo "	\"$(basename "$(dirname "$f")")\","
	done
	echo "};"
	readers=$(find core/io -name 'read_*.c' | sort)
	list "struct dtx_reader_class" dtx_reads read_ core/io/reader.h $readers
	writers="$(find core/io/write -name 'write_*.c' | sort) $(find core/io -name 'write_*.c' -not -path 'core/io/write/*' | sort)"
	list "struct dtx_writer_class" dtx_writes write_ core/io/write/writer.h $writers
	formats "struct dtx_reader_class" dtx_read_formats $readers
	formats "struct dtx_writer_class" dtx_write_formats $writers
	list "struct dtx_fn_table" dtx_fns fn_ core/expr/fn/fn.h core/expr/fn/fn_*.c
	;;
cli) list "struct dtx_cmd" dtx_cmds cmd_ cli/cmd.h $(find cli -name 'cmd_*.c' | by_name) ;;
fuzz)
	echo "#include \"tests/fuzz/replay.h\""
	for f in tests/fuzz/fuzz_*.c; do echo "int $(basename "$f" .c)(const uint8_t *, size_t);"; done
	echo "const struct replay_target replay_targets[] = {"
	for f in tests/fuzz/fuzz_*.c; do
		n=$(basename "$f" .c)
		echo "	{ \"${n#fuzz_}\", $n },"
	done
	echo "	{ NULL, NULL }"
	echo "};"
	;;
esac
