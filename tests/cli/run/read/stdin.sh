. "$LIB"
echo '[{"op":"group_by","by":["k"],"agg":{"n":"count()","s":"sum(v)"}}]' > plan.json
printf 'k,v\nb,1\na,2\nb,3\n' | dtx run plan.json -
printf '{"k":"b","v":1}\n{"k":"a","v":2.5}\n' | dtx run plan.json - --to jsonl
