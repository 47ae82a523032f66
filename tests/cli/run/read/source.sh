. "$LIB"
# where a row was read: lines of text files, rows of sheets, nothing for rows that were made
printf 'a,b\n1,"x\ny"\n\n2,z\n3,w\n' > in.csv
printf 'a;b\n4;v\n' > more.csv
try() {
	echo "{\"dtx\":1,\"inputs\":[{\"name\":\"main\"},{\"name\":\"more\",\"path\":\"more.csv\"}],\"steps\":[$1]}" > plan.json
	dtx run -q plan.json in.csv
	dtx run -q plan.json in.csv --batch-rows 1 --threads 2 | sha256sum > again
	dtx run -q plan.json in.csv | sha256sum | cmp - again
}
place='{"op":"derive","set":{"row":"source_row()","file":"source_file()","sheet":"source_sheet()"}}'
try "{\"op\":\"filter\",\"where\":\"a != 2 or source_row() > 4\"},$place"
try "{\"op\":\"union\",\"with\":\"more\"},{\"op\":\"sort\",\"by\":\"-a\"},$place"
try "{\"op\":\"group_by\",\"by\":\"b\",\"agg\":{\"last\":\"max(source_row())\"}},$place,{\"op\":\"limit\",\"n\":2}"
echo "[$place,{\"op\":\"select\",\"cols\":[\"Region\",\"row\",\"sheet\"]},{\"op\":\"limit\",\"n\":2}]" > plan.json
cp "$FIX/xlsx/report.xlsx" .
dtx run -q plan.json report.xlsx
# beside rows that were made, in batches of any size
printf 'a,b\n1,x\n1,y\n2,y\n3,z\n' > in.csv
try "{\"op\":\"complete\",\"cols\":[\"a\",\"b\"]},$place"
try "{\"op\":\"complete\",\"cols\":[\"a\",\"b\"]},{\"op\":\"sort\",\"by\":[\"b\",\"a\"]},$place"
