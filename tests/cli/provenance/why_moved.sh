# values that steps take from other rows or columns: why names the cell that each came from
. "$LIB"
ask() { # COLUMN ROW...: without the lines of the run
	col="$1"; shift
	for row; do dtx why out.csv --row "$row" --col "$col" | sed -E 's/run [0-9a-f]{8}/run ID/'; done
}
run() { printf '[%s]' "$1" > p.json; dtx run p.json main=in.csv -o out.csv -q; }
printf 'k,v,w\nx,1,\nx,,2\nNorth,,\ny,3,\ny,5,4\n' > in.csv
run '{"op": "blank_down", "cols": ["k"]}, {"op": "filter", "where": "v is not null or w == 2"}'
ask k 1 2
run '{"op": "subtitle_to_column", "as": "region"}, {"op": "filter", "where": "k == '"'y'"'"}'
ask region 1
ask v 2
run '{"op": "derive", "set": {"u": "v + 1"}}, {"op": "fill", "cols": ["v", "w"], "dir": "left"}'
ask v 2
ask w 1
# a filled column goes into a formula with one that is not
run '{"op": "fill", "cols": ["v"]}, {"op": "derive", "set": {"s": "v + w"}}'
ask s 2 5
run '{"op": "fill", "cols": ["v"], "dir": "up"}, {"op": "group_by", "by": ["k"], "agg": {"s": "sum(v)"}}'
ask s 1
# of a null that took the mean, all rows; of any other cell, that cell
run '{"op": "fill_null", "cols": ["v", "w"], "strategy": "mean"}'
ask v 1 2
# a number counts the rows up to its own; edges and fences are of all rows
run '{"op": "add_id", "by": ["k"]}'
ask row_id 5
run '{"op": "bin", "col": "v", "as": "b", "n": 2}, {"op": "outliers", "cols": ["w"], "action": "clip"}'
ask b 1
ask w 2
# of several values and names, a cell has one value of the rows with these names
printf 'id,q,r,v,w\na,x,1,5,6\na,y,1,7,8\na,y,,9,1\n' > in.csv
run '{"op": "pivot_wider", "id": ["id"], "names_from": ["q", "r"], "values_from": ["v", "w"]}'
ask w_y_1 1
ask v_y_null 1
