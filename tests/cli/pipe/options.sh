. "$LIB"
# Options before `--` or last of all; those about files become members of the printed plan.
printf 'note\na;1\nb;\nc;3\n' > in.csv
for options in '--delimiter ; --header-rows 0 --skip 1' '--from csv --read skip_tail=1 --skip 1 --header-rows 0 --delimiter ;' '--encoding utf-8 --to jsonl --header-rows 0 --skip 1 --delimiter ;' '--fallback off --ragged pad'; do
	dtx pipe $options in.csv -- head 2 > before.out
	dtx pipe in.csv -- head 2 $options > after.out
	dtx pipe in.csv -- head 2 $options --print-plan > plan.json
	dtx run plan.json > run.out
	cmp before.out after.out && cmp before.out run.out && cat run.out
done
cat plan.json
echo "# a short option after the steps is one alone, so that sort -quantity is no option"
printf 'quantity,o\n1,1\n3,0\n2,2\n' > q.csv
dtx pipe q.csv -- sort -quantity -q
dtx pipe q.csv -- sort -o then head 1
dtx pipe q.csv -- sort by=-o
dtx pipe q.csv -- head 1 -q then head 2 || echo "exit $?"
dtx pipe q.csv -- head 1 --too csv || echo "exit $?"
dtx pipe q.csv -- head 1 --help | head -1
