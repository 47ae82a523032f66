# A null is no empty text, also where a column holds nothing else, or numbers
. "$LIB"
printf 'k,n\nred,1\n,\n' > in.csv
echo '[{"op":"drop_rows","where":"k == '"'red'"'"},{"op":"replace_values","cols":["k","n"],"map":[{"from":"","to":"empty"}]}]' > plan.json
dtx run -q plan.json in.csv -o - --to jsonl
echo '[{"op":"replace_values","cols":["n"],"map":[{"from":"","to":5}]}]' > plan.json
dtx run -q plan.json in.csv -o - --to jsonl
echo '[{"op":"replace_values","cols":["n"],"map":[{"to":5}]}]' > plan.json
dtx run -q plan.json in.csv -o - --to jsonl
