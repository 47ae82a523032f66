# what came through a named pipe is told of, and nothing waits for the pipe's next writer
echo '[{"op":"filter","where":"a > 1"}]' > plan.json
mkfifo pipe
printf 'a,b\n1,2\n3,4\n' > pipe &
"$DTX" run -q plan.json pipe -o res.csv
wait
for asked in "provenance res.csv" "provenance pipe" "verify res.csv" "replay res.csv" "why res.csv A2" "why pipe A2"; do
	timeout 20 "$DTX" $asked > said 2>&1 && s=0 || s=$?
	echo "$asked: exit $s"
	grep -o "file not kept\|'main' is no.*was not kept\|dtx run --snap.*\|no record.*wrote.*" said || true
done
printf 'a,b\n1,2\n3,4\n' > pipe &
"$DTX" run -q --snapshot-inputs plan.json pipe -o res.csv
wait
"$DTX" replay res.csv > /dev/null 2>&1 && s=0 || s=$?
echo "kept: exit $s"
