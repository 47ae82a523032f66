. "$LIB"
ids() { sed -E "s|run [0-9a-f]{8}|run ID|" | sed -E 's/[0-9a-f]{8} as [0-9a-f]{8}/ID as ID/; s/(sha256 )[0-9a-f]{8}/\1HASH/; s/^environment.*/environment/'; }
printf 'k,v\na,1.5\nb,2\na,3\n' > in.csv
cat > p.json <<'E2'
{"dtx": 1, "inputs": [{"name": "main"}], "steps": [{"op": "group_by", "by": ["k"], "agg": {"s": "sum(v)", "on": "last(run_date())"}}]}
E2
dtx run p.json in.csv --run-date 2025-03-01 -o out.csv
dtx run p.json in.csv -o book.xlsx
dtx replay out.csv | ids
dtx replay book.xlsx --into again | ids
cmp book.xlsx again/book.xlsx && echo "equal bytes"
# a replay can be done again, and its cells named, by its own id
dtx provenance log --limit 1 | cut -c 1-8 > id
dtx replay $(cat id) | ids
dtx why $(cat id) B2 | ids
# one writer, several formats
for out in lines.jsonl array.json tabs.tsv; do
	dtx convert in.csv $out
	dtx replay $out --accept identical > text && tail -1 text | cut -c 1-9
	rm $out
done
dtx convert in.csv --to jsonl > piped
dtx replay piped --accept identical > text && tail -1 text | cut -c 1-9
rm piped
# the recorded file is not written over
dtx replay out.csv --into . || echo "exit $?"
dtx replay out.csv --into . --inputs here || echo "exit $?"
# a result that is not as the run wrote it: that comes first, whatever is made again
dtx run p.json in.csv --run-date 2025-03-02 -o later.csv
cp later.csv copy.csv
echo c,1,2025-03-02 >> later.csv
dtx replay later.csv > text || echo "exit $?"
ids < text | sed "s|$PWD|DIR|"
dtx replay later.csv --accept different --json > text || echo "exit $?"
sed -n '3,8p' text | ids | sed "s|$PWD|DIR|"
dtx replay copy.csv > text && ids < text | sed "s|$PWD|DIR|"
# a later run wrote it: told, and no fault
dtx provenance copy.csv --json | grep -o '"run_id": "[^"]*"' | head -1 | cut -d'"' -f4 > id
dtx run p.json in.csv --run-date 2025-03-03 -o later.csv
dtx replay $(cat id) > text && ids < text | sed -E "s|$PWD|DIR|; s/run [0-9a-f]{8} did/run ID did/"
rm later.csv copy.csv
# the inputs moved away
mkdir old && mv in.csv old/
dtx replay out.csv || echo "exit $?"
dtx replay out.csv --map "$PWD=$PWD/old" | ids
dtx replay out.csv --map "$PWD/in.csv=$PWD/old/in.csv" --json | grep verdict
dtx replay out.csv --map in.csv=old/in.csv --json | grep verdict
dtx replay out.csv --map nosuch=old || echo "exit $?"
# other numbers
printf 'k,v\na,1.5\nb,2\na,4\n' > in.csv
dtx replay out.csv || echo "exit $?"
dtx replay out.csv --inputs here > text || echo "exit $?"
ids < text | sed "s|$PWD|DIR|"
dtx replay out.csv --inputs here --accept different > text && ids < text | sed "s|$PWD|DIR|"
printf 'k,v\nb,2\na,1.5\na,3\n' > in.csv
dtx replay out.csv --inputs here > text || echo "exit $?"
ids < text | sed "s|$PWD|DIR|"
printf 'k,v\na,1.5\na,3.000000000000001\nb,2\n' > in.csv
dtx replay out.csv --inputs here > text || echo "exit $?"
ids < text | sed "s|$PWD|DIR|"
printf "k,v\na,4.5\nb,2\nc,1\n" > in.csv
dtx replay out.csv --inputs here > text || echo "exit $?"
ids < text | sed "s|$PWD|DIR|"
printf "k,w\na,4.5\n" > in.csv
dtx replay out.csv --inputs here || echo "exit $?"
# the same table in other bytes: a workbook tells a number from a text that looks like it
printf '{"v":1}\n{"v":2}\n' > in.jsonl
dtx convert in.jsonl typed.xlsx
printf '{"v":"1"}\n{"v":"2"}\n' > in.jsonl
dtx replay typed.xlsx --inputs here | ids
dtx replay typed.xlsx --inputs here --accept identical > /dev/null || echo "exit $?"
# a failed run has nothing to compare with; a file of two runs is the one of its own path
dtx run p.json nosuch.csv -o none.csv || echo "exit $?"
dtx provenance log --limit 1 | cut -c 1-8 > id && dtx replay $(cat id) 2> err || echo "exit $?"
ids < err
# stdin is not kept
printf 'k,v\na,1\n' | dtx run p.json - > piped.csv
dtx replay piped.csv || echo "exit $?"
ls
