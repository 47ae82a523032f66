. "$LIB"
# cells that a snippet passes on have their source bytes again, whatever lies beside them in a batch
echo 'def transform(tables, params): return tables["main"]' > same.py
printf 'id,t,v,d,w\n1,"needless",1.50,2024-01-01,x\n3,plain,2.0,2024-02-01,NA\n5,"edge ",003,,y\n7, edge,4,2024-03-05,\n' > a.csv
printf 'id;t;v;d;w\n2;"needless";1.50;2024-01-02;x\n4;plain;2.0;2024-02-01;NA\n6;"a,b";03;2024-01-01;\n8; x;4;;z\n' > semicolon.csv
printf '{"id":2,"t":"needless","v":1.50,"d":"2024-01-01","w":"q"}\n{"id":4,"t":"plain","v":2.0,"d":null,"w":"NA"}\n{"id":6,"t":"a,b","v":3,"d":"2024-01-01","w":null}\n' > lines.jsonl
dtx convert -q semicolon.csv book.xlsx
for other in semicolon.csv lines.jsonl book.xlsx; do
	for out in out.csv out.tsv; do
		echo "$other $out"
		for step in '' ',{"op":"custom"}'; do
			echo '{"dtx":1,"inputs":[{"name":"main","path":"a.csv","null_values":["NA"]},{"name":"b","path":"'$other'","null_values":["NA"]}],"steps":[{"op":"union","with":["b"]},{"op":"sort","by":["id"]}'"$step"']}' > plan.json
			for rows in 1 3 65536; do
				dtx run -q plan.json ${step:+--snippet same.py} -o $out --batch-rows $rows
				cksum < $out
			done
		done | uniq
	done
	cat out.csv
done
# decimals, whose type a worker does not know in full; and names that steps behind it make
printf 'k,p\na,"1.50"\nb,"2.05"\n' > p.csv
echo '{"dtx":1,"inputs":[{"name":"main","path":"p.csv","types":[{"name":"p","type":"decimal(12,2)"}]}],"steps":[{"op":"custom"},{"op":"rename","regex":"^(.)","replace":"x$1"},{"op":"derive","set":[{"as":"twice","expr":"xp * 2"}]}]}' > plan.json
dtx run -q plan.json --snippet same.py
echo '{"dtx":1,"inputs":[{"name":"main","path":"p.csv"},{"name":"other","path":"p.csv"}],"steps":[{"op":"custom"},{"op":"clean_names"},{"op":"join","with":"other","on":["k"]},{"op":"filter","where":"p_right > 2"}]}' > plan.json
dtx run -q plan.json --snippet same.py
