. "$LIB"
dtx nosuch || echo "exit $?"
dtx run || echo "exit $?"
dtx run --fallbak off x.json || echo "exit $?"
dtx run --threads none x.json || echo "exit $?"
dtx || true
