# A text output whose name ends in .gz is packed: the same bytes with any number of threads and in
# every run, known to verify, why and replay; a workbook is not packed again.
awk 'BEGIN { print "id,name,amount"; for (i = 1; i <= 60000; i++) printf "%d,name%d,%d.%02d\n", i, i % 977, i * 7 % 1000, i % 100 }' > in.csv
for n in 1 2 5; do
	"$DTX" convert in.csv -o "out$n.csv.gz" --threads $n
	gzip -dc "out$n.csv.gz" | cmp - in.csv
	cmp out1.csv.gz "out$n.csv.gz"
done
echo "--- no name, no time in its head"
head -c 10 out1.csv.gz | od -An -tx1
echo "--- evidence"
"$DTX" verify out1.csv.gz | grep -c "out1.csv.gz is as run"
"$DTX" why out1.csv.gz --row 41 --col amount | sed -n "1,2s#run [0-9a-f]*#run ID#p; 2p"
"$DTX" replay out1.csv.gz | sed -n 's/^identical.*/identical/p'
"$DTX" provenance out1.csv.gz --json | tr -d ' \n' | grep -o '"writer":{[^}]*}'
gzip -dc out1.csv.gz | sed 's/^7,name7,49.07$/7,other,49.07/' | gzip > changed.csv.gz
mv changed.csv.gz out1.csv.gz
"$DTX" verify out1.csv.gz | sed -n "s#run [0-9a-f]*#run ID#; /changed/p"
echo "--- read again"
"$DTX" convert out2.csv.gz -o back.csv
cmp back.csv in.csv
echo "--- other formats, and any name with --to"
printf 'k,v\n1,"a\nb"\n2,c\n' > small.csv
for f in o.tsv.gz o.json.gz o.jsonl.gz o.md.gz o.CSV.GZ; do
	"$DTX" convert small.csv -o $f
	gzip -dc $f
done
"$DTX" why o.CSV.GZ --row 2 --col v | sed -n "1s#run [0-9a-f]*#run ID#p"
"$DTX" convert small.csv --to csv -o o.gz
gzip -dc o.gz
echo "--- refused"
"$DTX" convert small.csv -o o.xlsx.gz || echo "exit $?"
"$DTX" convert small.csv -o o.dat.gz || echo "exit $?"
ls
