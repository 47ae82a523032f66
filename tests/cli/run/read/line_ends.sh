# the last cell of one line beside the first one of the next is not written with the line's end
. "$LIB"
steps() {
	echo "$2" > plan.json
	dtx run -q --fallback off plan.json "$1" -o -
}
printf 'a,b\n,N\n1,2\n' > title.csv
steps title.csv '[{"op":"subtitle_to_column","col":"b"}]'
printf 'a,b\nx,y\nz,w\n' > two.csv
steps two.csv '[{"op":"derive","set":{"p":"lag(b)"}},{"op":"select","cols":["p","a"]},{"op":"limit","n":1,"offset":1}]'
steps two.csv '[{"op":"lag_lead","col":"b","as":"p"},{"op":"select","cols":["p","a"]},{"op":"limit","n":1,"offset":1}]'
steps two.csv '[{"op":"unstack_blocks","every":2}]'
tr , '\t' < two.csv > tabs.tsv
steps tabs.tsv '[{"op":"unstack_blocks","every":2}]'
printf 'k,v\nx,y\nz,w\n' > keys.csv
steps keys.csv '[{"op":"pivot_records","every":2},{"op":"demote_header"}]'
