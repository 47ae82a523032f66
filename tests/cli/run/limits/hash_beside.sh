# workers give way to the hash of an input: same result, and an end, for any number of them
. "$LIB"
awk 'BEGIN { print "i,k,t"; for (i = 0; i < 400000; i++) print i "," (i * 7919) % 10007 ",text number " i % 977 }' > big.csv
awk 'BEGIN { print "k,w"; for (i = 0; i < 300000; i++) print i % 10007 "," (i < 10007 ? "first" : "later") }' > other.csv
echo '[{"op":"group_by","by":["k"],"agg":{"s":"sum(i)","t":"first(t)"}}]' > group.json
echo '[{"op":"filter","where":"i % 3 == 0"},{"op":"derive","set":{"x":"i / 8"}}]' > rows.json
echo '[{"op":"window","by":["t"],"set":{"r":"row_number()"}},{"op":"limit","n":1000}]' > order.json
echo '[{"op":"limit","n":5}]' > few.json
echo '{"dtx":1,"inputs":[{"name":"main"},{"name":"other"}],"steps":[{"op":"join","with":"other","on":"k","how":"semi"}]}' > join.json
for plan in group rows order few join; do
	set -- big.csv
	[ $plan = join ] && set -- big.csv other=other.csv
	dtx run -q $plan.json "$@" -o one.csv --threads 1 --input-hash xxh3
	for threads in 2 3 8; do
		timeout 60 "$DTX" run -q $plan.json "$@" -o many.csv --threads $threads --input-hash sha256 || echo "exit $?"
		cmp one.csv many.csv && printf 'same '
	done
	echo $plan
done
for input in big.csv other.csv; do # of the join
	dtx provenance many.csv --json | grep -q "$(sha256sum < $input | cut -d' ' -f1)" && echo "$input: its hash"
done
# an error ends the waiting, too
echo '[{"op":"assert","rules":[{"rule":"expression","expr":"i != 7"}]}]' > fails.json
timeout 60 "$DTX" run -q fails.json big.csv -o no.csv --threads 8 2> /dev/null || echo "exit $?"
