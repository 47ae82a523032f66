. "$LIB"
dtx eval 'hour * 2' --row '{"hours": 3}' --errors=json || echo "exit $?"
