#!/bin/sh
# Prints the C table of unit tests: all functions whose definition starts a line with
# `void test_NAME(void)`.
set -eu

echo "#include \"tests/t.h\""
names=$(cat "$@" /dev/null | sed -n 's/^void \(test_[a-z0-9_]*\)(void)$/\1/p')
for n in $names; do echo "void $n(void);"; done
echo "const struct t_case t_cases[] = {"
for n in $names; do echo "	{ \"$n\", $n },"; done
echo "	{ NULL, NULL }"
echo "};"
