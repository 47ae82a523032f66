. "$LIB"
printf 'a,b\n1,2\n3\n4,5,6\n' > ragged.csv
printf 'n\n1\ntwo\n3\nfour\n' > cast.csv
printf 'n\n9223372036854775807\n1\n' > big.csv
echo '[{"op":"cast","types":{"n":"int"}}]' > cast.json
echo '[{"op":"group_by","by":[],"agg":{"s":"sum(n)"}}]' > sum.json
echo '[{"op":"filter","where":"nosuch > 1"}]' > col.json
echo '[{"op":"filter","where":"a > 0"}]' > a.json
dtx run --fallback off a.json ragged.csv || echo "exit $?"
dtx run --fallback off cast.json cast.csv || echo "exit $?"
dtx run --fallback off sum.json big.csv || echo "exit $?"
dtx run --fallback off col.json cast.csv || echo "exit $?"
dtx run --fallback off sum.json missing.csv || echo "exit $?"
