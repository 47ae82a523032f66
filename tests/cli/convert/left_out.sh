. "$LIB"
# Lines that are no rows of the table are listed by convert, inspect and run alike, as text and as JSON
printf 'Stock\nby hand\nfor May\n\nid,name,n\n1,Ann,4\n2,Bob,5\n3,Eve,6\n4,Li,7\n' > above.csv
printf 'id,name,n\n1,Ann,4\n2,Bob,5\n3,Eve,6\n4,Li,7\n\nSource: the office\nNote: a guess\n' > below.csv
printf 'id,name,n\n1,Ann,4\n2,Bob,5\n3,Eve,6\n4,Li,7\n\nSome words\n\nk,v\na,1\nb,2\n' > between.csv
printf '## made by x\n## in May\nid\tname\n1\tAnn\n2\tBob\n' > comments.tsv
echo '[{"op":"limit","n":99}]' > all.json
for file in above.csv below.csv between.csv comments.tsv; do
	dtx convert --repair "$file" --to csv > /dev/null
	for errors in text json; do
		for command in "convert --to csv" inspect "run all.json --fallback off --to csv"; do
			dtx $command --repair "$file" --errors $errors 2>&1 > /dev/null |
				grep -o "[0-9]* lines [a-z ]* \(left out\|as comments\)\|\"cell\":\"L[0-9]*\"\|\"count\":[0-9]*,\"kind\":\"[a-z_]*\"" | tr '\n' ' '
			echo
		done
	done
done
