# no quotes at all, said as false or as an empty text: one plan
. "$LIB"
printf 'a,b\n"x,1\ny",2\n' > in.csv
for quote in false '""'; do
	printf '{"dtx":1,"inputs":[{"name":"main","dialect":{"quote":%s,"delimiter":","}}],"steps":[{"op":"limit","n":5}]}' "$quote" > plan.json
	dtx run -q plan.json in.csv -o -
	dtx check --id plan.json
done
