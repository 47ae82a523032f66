. "$LIB"
dtx nosuch || echo "exit $?"
dtx run || echo "exit $?"
dtx run --fallbak off x.json || echo "exit $?"
dtx run --threads none x.json || echo "exit $?"
dtx || true
# options that the other one leaves without an effect
dtx provenance log --html page.html || echo "exit $?"
dtx provenance --html page.html --json || echo "exit $?"
