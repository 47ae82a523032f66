# a text that a step made of two types stays one behind an op that types cells anew; cells of the input do not
. "$LIB"
printf 'd,c\n2024-01-02,1\n2024-01-02,x\n,\n' > in.csv
for last in '{"op":"fill","cols":["m"]}' '{"op":"drop_rows","kinds":["blank"]}' '{"op":"drop_empty"}'; do
	echo "$last"
	cat > plan.json <<-END
		[{"op":"freq","cols":["d"]},{"op":"coalesce","cols":["count","d"],"as":"m","drop":true},$last]
	END
	dtx run -q plan.json in.csv --to jsonl
	echo "[{\"op\":\"filter\",\"where\":\"c != 'x'\"},{\"op\":\"rename\",\"map\":{\"c\":\"m\"}},$last]" > plan.json
	dtx run -q plan.json in.csv --to jsonl
done
