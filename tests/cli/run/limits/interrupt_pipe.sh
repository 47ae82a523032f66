# Ctrl-C while a pipe says nothing: exit 130 at once, not when the other end closes
# timeout sends SIGCONT behind the signal, which the stop of a leak check never gets over
export ASAN_OPTIONS=detect_leaks=0
echo '[{"op":"limit","n":1}]' > plan.json
echo old > res.csv
mkfifo pipe
sleep 30 > pipe &
writer=$!
timeout -k 5 --preserve-status -s INT 0.7 env --default-signal=INT "$DTX" run -q plan.json - -o res.csv < pipe 2> said && s=0 || s=$?
echo "exit $s"
cat said res.csv
kill $writer
