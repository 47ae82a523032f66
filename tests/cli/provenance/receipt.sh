. "$LIB"
printf 'a\n1\n2\n' > in.csv
dtx convert in.csv out.csv --receipt --record record.json --head-file heads.txt
dtx convert in.csv book.csv --head-file heads.txt
wc -l < heads.txt
for head in $(cat heads.txt); do dtx verify --head $head > /dev/null && echo "in the chain"; done
grep -oE '"(_type|predicateType|name)": "[^"]*"' out.csv.dtx.json | sort -u
grep -c '"sha256": "[0-9a-f]\{64\}"' out.csv.dtx.json
grep -E '^  "status"|^   "rows"' record.json
dtx verify out.csv --receipt out.csv.dtx.json > /dev/null && echo "receipt holds"
sed 's/"sha256": "./"sha256": "x/' out.csv.dtx.json > other.json
dtx verify --receipt other.json || echo "exit $?"
# any other member of the record; a receipt of another run; a file that is no JSON
sed 's/"rows": 2/"rows": 3/' out.csv.dtx.json > other.json
dtx verify --receipt other.json || echo "exit $?"
sed 's/"record": {/"record": { "audited": true,/' out.csv.dtx.json > other.json
dtx verify --receipt other.json || echo "exit $?"
dtx verify book.csv --receipt out.csv.dtx.json || echo "exit $?"
dtx verify --receipt in.csv || echo "exit $?"
dtx verify --receipt record.json || echo "exit $?"
dtx convert in.csv --receipt || echo "exit $?"
dtx convert in.csv out.csv --record nosuch/record.json 2> err || echo "exit $?"
sed "s/json[.][0-9a-f]*[.]tmp/json.ID.tmp/" err
# no copy takes the place of the table, of an input or of another copy
dtx convert in.csv out.csv --record ./out.csv || echo "exit $?"
dtx convert in.csv out.csv --head-file in.csv || echo "exit $?"
dtx convert in.csv new.csv --record ./new.csv || echo "exit $?"
dtx convert in.csv out.csv --record heads.txt --head-file heads.txt || echo "exit $?"
dtx convert in.csv out.csv --receipt --record out.csv.dtx.json || echo "exit $?"
dtx convert in.csv --record - || echo "exit $?"
dtx convert in.csv out.csv --head-file - || echo "exit $?"
dtx convert in.csv out.csv --record - | grep -c '"dtx_record"'
cat in.csv out.csv
