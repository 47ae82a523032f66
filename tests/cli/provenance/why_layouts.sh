# ops that move cells: why names the cell that each value came from
. "$LIB"
ask() { # COLUMN ROW...: without the lines of the run
	col="$1"; shift
	for row; do dtx why out.csv --row "$row" --col "$col" | sed -E 's/run [0-9a-f]{8}/run ID/'; done
}
run() { printf '[%s]' "$1" > p.json; dtx run p.json main=in.csv -o out.csv -q; }
printf 'k,Jan,Feb\nhours,1,2\ncost,3,4\n' > in.csv
run '{"op": "rename", "map": {"Jan": "January"}}, {"op": "transpose"}, {"op": "filter", "where": "cost > 3"}'
ask cost 1
ask column 1
run '{"op": "demote_header"}'
ask column_2 1 2
run '{"op": "complete", "cols": ["k", "Jan"], "fill": {"Feb": 0}}'
ask Feb 2 3
ask k 3
run '{"op": "add_totals", "column": true}, {"op": "sort", "by": ["-Total"]}'
ask Total 1 3
ask Jan 1
printf 'name,x\nAnn,1\nage,7\n,\nname,Bob\nage,9\n' > in.csv
run '{"op": "pivot_records"}'
ask age 2
run '{"op": "split_tables", "pick": 2}, {"op": "unstack_blocks", "every": 2}'
ask x_2 1
printf 'd,k,v\n2024-01-01,a,1\n2024-01-03,a,3\n2024-01-01,b,5\n' > in.csv
run '{"op": "pad_time", "col": "d", "every": "1d", "by": ["k"], "fill": "down"}'
ask v 2 3
run '{"op": "add_totals", "by": ["k"], "cols": ["v"], "grand": true}'
ask v 3 5 6
ask k 3
# rows that were stored with the run do not say it
dtx run p.json main=in.csv -o out.csv -q --lineage rows
ask v 3 | head -3
