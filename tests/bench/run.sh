#!/bin/sh
# make bench: the table of cases, peers and ratios, within 12 minutes on a quiet machine.
# BENCH_SECONDS= lets it take longer, with as many runs as are asked for.
BENCH_SECONDS=${BENCH_SECONDS-680} exec /usr/bin/python3 "$(dirname "$0")/run.py" "$@"
