. "$LIB"
# The memory that a hint says "does" is enough; where only the rows show how much is, it says so.
awk 'BEGIN { print "id,k,d,v"; for (i = 0; i < 250000; i++) printf "%d,k%d,20%02d-%02d-%02d,%d.%03d\n", i, i % 499, 10 + i % 7, 1 + i % 12, 1 + i % 28, i % 1000, i % 997 }' > in.csv
try() { # STEPS [LIMIT]: the hint of a run with 16 MiB; a run with the memory that it says is enough
	echo "{\"dtx\":1,\"steps\":[$1],\"limits\":{\"growth\":1000000${2:-}}}" > plan.json
	dtx run plan.json in.csv -o out.csv -q --memory 16M 2> err && { echo "16 MiB are enough"; return; }
	sed -n 's/^ *next: //p' err | sed -E 's/[0-9]+(M?) is enough/N\1 is enough/'
	enough=$(sed -nE 's/.* ([0-9]+)M? is enough.*/\1/p' err)
	[ -n "$enough" ] || return 0
	sed -i "s/\"memory_mb\":8/\"memory_mb\":$enough/" plan.json
	dtx run plan.json in.csv -o out.csv -q --memory "${enough}M"
}
window='{"op":"window","order":["d"],"set":{"a":"rank()","b":"lag(v)","c":"sum(v)"}}'
pivot='{"op":"pivot_wider","id":["id"],"names_from":["d"],"values_from":["v"],"agg":"median"}'
try "$window"
try "$window" ',"memory_mb":8'
try '{"op":"pad_time","col":"d","every":"1d","by":["k"]}'
try "$pivot"
try "$pivot" ',"memory_mb":8'
try "$window,{\"op\":\"group_by\",\"by\":[\"id\"],\"agg\":{\"c\":\"median(v)\"}}"
