. "$LIB"
# The store keeps no cell: not of failures, not of warnings, not of repairs.  Names of columns are
# kept, also those that a pivot made of values.
printf 'k,v,d\nZanzibar1,5,2024-01-02\nZanzibar2,x77123,2024-13-45\nZanzibar2,9,2024-01-05\n' > c.csv
printf 'k,v\nZanzibar1,1\nZanzibar2,2,Kwyjibo\n' > ragged.csv
plan() { echo "{\"dtx\":1,\"inputs\":[{\"name\":\"main\",\"path\":\"$1\"}],\"steps\":[$2]}" > p.json; }
run() { plan "$1" "$2"; dtx run p.json -o o.csv -q --fallback off ${3:-} 2> err.txt || echo "exit $?"; cat err.txt >> told.txt; }
run c.csv '{"op":"derive","set":{"n":"int(v)"}}'
run c.csv '{"op":"parse_date","cols":["d"]}'
run c.csv '{"op":"split_column","col":"k","sep":"-","into":["a","b"]}'
run c.csv '{"op":"assert","rules":[{"rule":"unique","cols":"k"}]}'
run c.csv '{"op":"assert","rules":[{"rule":"matches","col":"k","regex":"^x$","severity":"warn"}]}'
run ragged.csv '{"op":"limit","n":5}'
run ragged.csv '{"op":"limit","n":5}' --repair
plan c.csv '{"op":"frob"}'
dtx run p.json -o o.csv -q --author 'cat > /dev/null; echo no' 2>> told.txt || echo "exit $?"
dtx provenance o.csv --html report.html
grep -c 'x77123\|13-45' told.txt
for file in .store.db .store.db-wal report.html; do
	if [ -e $file ]; then grep -c 'Zanzibar\|Kwyjibo\|x77123\|13-45' $file || true; fi
done
