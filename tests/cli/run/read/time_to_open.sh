# The time limit and a signal count while an input that says nothing is opened, too.
echo '{"dtx": 1, "inputs": [{"name": "main", "path": "pipe"}], "limits": {"time_s": 1}, "steps": [{"op": "limit", "n": 1}]}' > plan.json
echo '{"dtx": 1, "inputs": [{"name": "main", "path": "pipe"}], "steps": [{"op": "limit", "n": 1}]}' > patient.json
echo old > res.csv
mkfifo pipe
# nobody writes to it; then somebody who says nothing
timeout 20 "$DTX" run -q plan.json -o res.csv || echo "exit $?"
sleep 30 > pipe &
writer=$!
timeout 20 "$DTX" run -q plan.json -o res.csv || echo "exit $?"
kill $writer
wait $writer 2> /dev/null || : # else it holds the pipe open for the next run
timeout -k 30 --preserve-status -s TERM 0.7 "$DTX" run -q patient.json -o res.csv || echo "exit $?"
cat res.csv
# a writer that comes late is waited for
(sleep 0.3; printf 'a\n7\n' > pipe) &
"$DTX" run -q patient.json -o -
