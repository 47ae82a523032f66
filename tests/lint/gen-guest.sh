#!/bin/sh
# Prints a C table of the files that run inside the jail's Python.
set -eu

echo "/* Generated from sandbox/guest. */"
echo "#include \"sandbox/guest.h\""
i=0
for f in "$@"; do
	echo "static const unsigned char guest_$i[] = {"
	od -An -v -tx1 "$f" | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'
	echo "0 };"
	i=$((i + 1))
done
echo "const struct dtx_guest_file dtx_guest_files[] = {"
i=0
for f in "$@"; do
	echo "	{ \"${f#sandbox/guest/}\", (const char *)guest_$i, sizeof(guest_$i) - 1 },"
	i=$((i + 1))
done
echo "	{ NULL, NULL, 0 }"
echo "};"
# What a snippet may rely on: when these change, no cached snippet may be taken for the same.
echo "const char dtx_guest_abi[] = \"$(cat sandbox/guest/dx*.py sandbox/guest/screen.py | sha256sum | cut -c1-8)\";"
