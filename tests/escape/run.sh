#!/bin/sh
# Each attempt of this folder succeeds in plain python3 and reaches nothing in the jail.
# Usage: run.sh DTX [NAME]
exec /usr/bin/python3 "$(dirname "$0")/run.py" "$@"
