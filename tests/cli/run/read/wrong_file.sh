# A file that is not there, or that looks like something else: what is meant, and what to write.
. "$LIB"
printf 'a\n1\n' > orders.csv
mkdir -p data
printf 'a\n2\n' > data/rates.csv
echo '[{"op": "limit", "n": 1}]' > plan.json
echo '{"dtx": 1, "inputs": [{"name": "main", "path": "data/rate.csv"}], "steps": [{"op": "limit", "n": 1}]}' > named.json
echo '{"dtx": 1, "inputs": [{"name": "main", "path": "zzz.csv"}], "steps": [{"op": "limit", "n": 1}]}' > far.json
say() {
	dtx "$@" -q || echo "exit $?"
}
say run plan.json order.csv
say run plan.json no/such/orders.csv
say run plan.json qqq.csv
say run named.json
say run far.json
say run plan.jsn orders.csv
say run plan.json 'a=b.csv'
say run plan.json -x.csv
say run plan.json orders.csv -o no/such/out.csv
say run plan.json orders.csv -o orders.csv/out.csv
say run plan.json orders.csv -o out.orc
# only a file stays what it was: a stream has taken what came before
dtx run plan.json orders.csv -q > /dev/full || echo "exit $?"
printf 'b\n' > -x.csv
printf 'b\n' > a=b.csv
say run plan.json ./-x.csv
say run plan.json -- a=b.csv
say run plan.json ./a=b.csv
# what is wrong with the plan comes before an input that it would have had
echo '{"dtx": 1, "inputs": [{"name": "main"}, {"nam": "other"}], "steps": [{"op": "limit", "n": 1}]}' > broken.json
"$DTX" run -q broken.json in.csv other=in.csv || echo "exit $?"
