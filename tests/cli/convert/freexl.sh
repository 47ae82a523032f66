# FreeXL as a second opinion, in a process that can open nothing but the input: cells that it
# confirms, kinds that it does not know, a file in which it finds nothing, a format that is not its.
. "$LIB"
cat > p.json <<'P'
{"dtx":1,"inputs":[{"name":"main","reader":"freexl","header_rows":1}],"steps":[{"op":"limit","n":2}]}
P
dtx run p.json "$FIX/xls/timesheet-1904.xls" --to csv
echo '--- of no folder: unpacked, through a pipe'
dtx run p.json "$FIX/xls/timesheet-1904.xls" --to csv > named 2> notes
gzip -c "$FIX/xls/timesheet-1904.xls" > t.xls.gz
dtx run p.json t.xls.gz --to csv 2> notes | cmp named -
cat "$FIX/xls/timesheet-1904.xls" | dtx run p.json - --to csv 2> notes | cmp named -
echo '---'
sed 's/"header_rows":1/"header_rows":1,"bad_cells":"error"/' p.json > q.json
dtx run q.json "$FIX/xls/timesheet-1904.xls" --fallback off --to csv || echo "exit $?"
dtx run p.json "$FIX/xls/ledger.xls" --to csv || echo "exit $?"
printf 'a\n1\n' | dtx run p.json - --to csv || echo "exit $?"
sed 's/freexl/excel/' p.json > q.json
dtx check q.json || echo "exit $?"
