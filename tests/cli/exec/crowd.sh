# More programs at once than have a worker or a place in the queue, in a pool of their own: all get
# their turn, and who does not want to wait so long is told so.
export XDG_RUNTIME_DIR="$PWD/run"
mkdir -m 700 run
"$DTX" exec -c 'print(0)' # else many lose patience with the pool that starts, and start Python themselves
for i in $(seq 1 120); do
	"$DTX" exec --jail-queue-wait 100 -c 'print(1)' > "out$i" 2> "err$i" || echo "$i ended with $?" &
done
wait
cat out* err* | sort | uniq -c | sed 's/^ *//'
# As many as there can be workers.
held=
for i in $(seq 1 $(($(nproc) * 4 + 4))); do
	"$DTX" exec --jail-wall 60 -c 'import time; time.sleep(60)' > "held$i" 2>&1 &
	held="$held $!"
done
rc=0
for i in $(seq 1 100); do # until they hold them all
	"$DTX" exec --jail-queue-wait 1 -c 'print(2)' > late 2> why || rc=$?
	[ $rc = 0 ] || break
done
kill $held
wait || :
echo "late: $rc"
cat why
