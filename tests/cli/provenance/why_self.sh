. "$LIB"
id() { sed -E 's/run [0-9a-f]{8}/run ID/' | grep -v '^note'; }
# a table joined with itself: which of its rows was the left one and which the right one, by a second
# run and by stored row numbers
printf 'id,boss,name,pay\n1,,Ann,10\n2,1,Bob,8\n3,1,Cy,7\n4,2,Di,5\n5,9,Ed,4\n' > staff.csv
cat > staff.json <<'END'
{"dtx": 1, "steps": [
 {"op": "filter", "where": "pay > 1"},
 {"op": "join", "with": "main", "on": [{"left": "boss", "right": "id"}]},
 {"op": "select", "cols": ["id", "name", "name_right", "pay_right"]}]}
END
dtx run staff.json staff.csv -o out.csv -q --lineage rows
for how in --again ''; do
	dtx why out.csv --key id=4 --col name_right $how | id
	dtx why out.csv --key id=4 --col name $how | id
	dtx why-not out.csv L3 $how | id
	dtx why-not out.csv L6 $how | id
done
# an input of several files, joined with itself: the steps are those of the plan as it was written
mkdir parts
printf 'k,v\na,1\nb,2\n' > parts/p1.csv
printf 'k,v\na,3\nc,0\n' > parts/p2.csv
printf 'k,r\na,7\nz,5\n' > r.csv
cat > parts.json <<'END'
{"dtx": 1, "inputs": [{"name": "main", "path": "parts/*.csv", "source_file": "f"}, {"name": "r", "path": "r.csv"}],
 "steps": [{"op": "join", "with": "main", "on": "k"}, {"op": "filter", "where": "v_right > 1"}, {"op": "join", "with": "r", "on": "k"}]}
END
dtx run parts.json -o parts.csv -q --lineage rows
for how in --again ''; do
	dtx why parts.csv --row 1 --col v_right $how | id
	dtx why parts.csv --row 2 --col r $how | id
	for place in 'p1.csv!L2' 'p2.csv!L3' 'r.csv!L2' 'r.csv!L3'; do dtx why-not parts.csv "$place" $how | id; done
done
# stored numbers answer where the files are gone
mv parts gone
dtx why parts.csv --row 1 --col v_right | id
dtx why-not parts.csv p2.csv!L2 | id
# rows that only decide about others, that are looked up, and whose group is in other rows
printf 'k,n\na,5\na,1\nb,2\nd,9\n' > t.csv
printf 'k,r\na,7\nz,8\n' > o.csv
for step in '"op": "join", "how": "semi", "with": "o", "on": "k"' '"op": "join", "how": "anti", "with": "o", "on": "k"' \
	'"op": "lookup_value", "with": "o", "key": ["k"], "value": "r", "as": "r"'; do
	echo "{\"dtx\": 1, \"inputs\": [{\"name\": \"main\"}, {\"name\": \"o\"}], \"steps\": [{$step}]}" > two.json
	dtx run two.json t.csv o=o.csv -o two.csv -q
	for place in o.csv!L2 o.csv!L3 t.csv!L4; do dtx why-not two.csv "$place" | id; done
done
cat > own.json <<'END'
{"dtx": 1, "steps": [{"op": "group_by", "by": ["k"], "agg": {"s": "sum(n)"}, "out": "g"},
 {"op": "join", "in": "main", "with": "g", "on": "k"}, {"op": "filter", "where": "n > 1"}]}
END
dtx run own.json t.csv -o own.csv -q --lineage rows
for how in --again ''; do for line in 2 3; do dtx why-not own.csv L$line $how | id; done; done
