#!/bin/sh
# make bench: the table of cases, peers and ratios.
exec /usr/bin/python3 "$(dirname "$0")/run.py" "$@"
