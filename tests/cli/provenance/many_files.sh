. "$LIB"
# An input of many files is as many inputs: more than a plan may name (64) and than its rows
# could be followed through one by one.
mkdir all
for i in $(seq 256); do
	printf 'k,v\n%d,%d\n' $((i % 3)) $i > all/$(printf '%03d' $i).csv
done
cat > p.json <<'E2'
{"dtx": 1, "inputs": [{"name": "main", "path": "some/*.csv", "source_file": "file"}], "steps": [
 {"op": "filter", "where": "v > 1"},
 {"op": "group_by", "by": ["k"], "agg": {"s": "sum(v)", "n": "count()"}},
 {"op": "sort", "by": ["k"]}]}
E2
said() { grep "^dtx:" err | tail -1 | sed 's/ (.*//'; }
for n in 1 64 65 255 256; do
	mkdir some
	for i in $(seq $n); do cp all/$(printf '%03d' $i).csv some/; done
	echo "$n files: exit $(dtx check p.json > /dev/null; echo $?) $(dtx explain p.json > /dev/null; echo $?)"
	dtx run p.json -o out.csv -q --snapshot-inputs && tail -1 out.csv
	dtx why out.csv --row 1 --col s 2> err | head -1 | sed 's/run .*/run ID/'
	said
	dtx why out.csv --row 1 --col s --json --all 2> err > why.json || :
	echo "$(grep -c '"cell"' why.json || :) cells, of them $(grep -c '"value": "6"' why.json || :) that is 6"
	dtx why-not out.csv --row 1 2> err | head -1 | sed 's/run .*/run ID/'
	said
	[ $n = 1 ] || dtx why-not out.csv '006.csv!L2' | tail -n +2
	dtx provenance out.csv --html report.html --force && echo "$(grep -o '[0-9]*\.csv · [0-9]* row' report.html | sort -u | wc -l) in the report"
	rm -r some
	dtx replay out.csv > text && tail -1 text | cut -c 1-9
	mkdir some && for i in $(seq $n); do cp all/$(printf '%03d' $i).csv some/; done
	dtx run p.json -o rows.csv -q --lineage rows 2> err || echo "exit $?"
	said
	rm -r some
done
