# a large store is reported once a day, by runs that may print notes; nothing is removed from it unasked
. "$LIB"
head -c 1500000 /dev/urandom | od -An -v -tx1 -w30 | tr -d " " | sed "1s/.*/k/; s/^/x/" > in.csv
echo "{\"dtx\": 1, \"inputs\": [{\"name\": \"main\", \"header_rows\": 1}], \"steps\": [{\"op\": \"limit\", \"n\": 3}]}" > plan.json
go() { dtx run plan.json in.csv -o out.csv "$@"; }
hide() { sed -E "s|$DTX_STORE|STORE|; s/[0-9]+ MiB/N MiB/" "$1"; }
go --snapshot-inputs # 2G
DTX_STORE_MAX=never go
DTX_STORE_MAX=soon go || echo "soon: $?"
DTX_STORE_MAX=2M go -q
DTX_STORE_MAX=2M go 2> said && hide said
DTX_STORE_MAX=2M go
mkdir -p .config/dtx && echo '{"store_max": "3M"}' > .config/dtx/config.json
/usr/bin/python3 -c 'import os, sqlite3
db = sqlite3.connect(os.environ["DTX_STORE"])
db.execute("UPDATE lease SET until_us=until_us-86400000001 WHERE key=?", ("warned:store_max",))
db.commit()'
go 2> said && hide said
go
dtx store check | grep -c '^ok'
dtx store gc --kinds input --older-than 0d --keep-last 0 --apply > text && grep -c purged text
/usr/bin/python3 -c 'import os, sqlite3
db = sqlite3.connect(os.environ["DTX_STORE"])
db.execute("DELETE FROM lease")
db.commit()'
go
