# Ctrl-C in the middle of a step: exit 130, the output of before whole, nothing left beside it
# timeout sends SIGCONT behind the signal, which the stop of a leak check never gets over
export ASAN_OPTIONS=detect_leaks=0
seq 4000 | sed 's/^/x,/; 1i k,v' > a.csv
cat > plan.json <<'JSON'
{"dtx":1,"limits":{"growth":1000000},"inputs":[{"name":"main"},{"name":"b","path":"a.csv"}],
 "steps":[{"op":"join","with":"b","how":"cross"},{"op":"derive","set":{"s":"sha256(concat(v, '-', v_right))"}},
          {"op":"sort","by":["s"]}]}
JSON
mkdir out
echo old > out/res.csv
for signal in INT TERM; do
	timeout --preserve-status -s $signal 0.7 "$DTX" run -q plan.json a.csv -o out/res.csv 2> said && s=0 || s=$?
	echo "exit $s"
	grep ^dtx said
done
ls -a out
cat out/res.csv
"$DTX" provenance log | grep -c cancelled
