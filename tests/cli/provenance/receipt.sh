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
dtx convert in.csv -o out.csv --record nosuch/record.json 2> err || echo "exit $?"
sed "s/json[.][0-9a-f]*[.]tmp/json.ID.tmp/" err
# no copy takes the place of the table, of an input or of another copy
dtx convert in.csv -o out.csv --record ./out.csv || echo "exit $?"
dtx convert in.csv -o out.csv --head-file in.csv || echo "exit $?"
dtx convert in.csv new.csv --record ./new.csv || echo "exit $?"
dtx convert in.csv -o out.csv --record heads.txt --head-file heads.txt || echo "exit $?"
dtx convert in.csv -o out.csv --receipt --record out.csv.dtx.json || echo "exit $?"
dtx convert in.csv --record - || echo "exit $?"
dtx convert in.csv -o out.csv --head-file - || echo "exit $?"
dtx convert in.csv -o out.csv --record - | grep -c '"dtx_record"'
cat in.csv out.csv
# without its store a receipt still tells of the files it names, beside it, where they were, or as told
hide() { sed -E "s|$PWD/|DIR/|; s/dtx1:([0-9]+):[0-9a-f]{64}/dtx1:\1:HEAD/; s/run [0-9a-f]{8}/run ID/"; }
none() { dtx verify "$@" --store none.db > text || echo "exit $?"; hide < text; }
dtx convert in.csv -o out.csv --receipt
mkdir sent && cp out.csv out.csv.dtx.json sent/
none --receipt sent/out.csv.dtx.json
mv sent/out.csv sent/renamed.csv
none sent/renamed.csv --receipt sent/out.csv.dtx.json
none --receipt sent/out.csv.dtx.json
mv out.csv gone.csv
none --receipt sent/out.csv.dtx.json
none sent/renamed.csv --receipt sent/out.csv.dtx.json --json
echo 3 >> sent/renamed.csv
none sent/renamed.csv --receipt sent/out.csv.dtx.json
# another store knows nothing of it; its own one must
dtx convert in.csv sent/other.csv --store other.db
dtx verify gone.csv --receipt out.csv.dtx.json --store other.db | hide
dtx convert in.csv small.csv --receipt --store small.db
cp small.db early.db
dtx verify small.csv --receipt small.csv.dtx.json --store early.db > text || echo "exit $?"
hide < text
