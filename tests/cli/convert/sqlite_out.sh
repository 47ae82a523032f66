# A table goes into an SQLite database: a new file as any output, a database that is there in one
# transaction that changes nothing but the table.
cat > sql.py << 'END'
import sqlite3, sys
con = sqlite3.connect(sys.argv[1], isolation_level=None)
for part in sys.argv[2].split(";;"):
    for row in con.execute(part):
        print(*row, sep="|")
END
sql() { /usr/bin/python3 sql.py "$1" "$2"; }
printf 'id,name,amt,day,at,ok,code,dec\n1,Ann,1.5,2024-01-05,2024-01-05T10:00:00,true,007,9007199254740993\n2,"B ""q"", ä",-2.5,2024-02-01,2024-02-01T11:30:00.25,false,x,-1\n3,,,,,,,\n' > a.csv
printf 'id,name,amt,day,at,ok,code,dec\n4,x,7,2024-01-01,2024-01-01T00:00:00,true,c,5\n' > b.csv
echo "--- new"
"$DTX" convert a.csv -o out.db
sql out.db 'select sql from sqlite_schema;; select * from out'
"$DTX" convert out.db -o back.csv
cmp a.csv back.csv
"$DTX" convert a.csv --to sqlite > pipe.db
sql pipe.db "select name, type from pragma_table_info('result') where name in ('dec', 'ok')"
echo '{"dtx":1,"inputs":[{"name":"main","path":"a.csv","types":{"amt":"decimal(9,2)"}}],"steps":[{"op":"head","n":1}],"output":{"path":"dec.db"}}' > dec.json
"$DTX" run dec.json
sql dec.db 'select typeof(amt), amt from dec'
echo "--- there"
"$DTX" convert a.csv -o out.db || echo "exit $?"
sql out.db 'create table other(x);; insert into other values(5);; create index i on out(id)'
"$DTX" convert b.csv -o out.db --if-exists append
sql out.db 'select id, typeof(amt), amt from out'
"$DTX" convert b.csv -o out.db --if-exists replace
sql out.db 'select id from out;; select x from other;; select name from sqlite_schema'
"$DTX" convert b.csv -o out.db --into New
sql out.db 'select count(*) from new'
"$DTX" why out.db --row 1 --col amt 2> /dev/null | head -1 | sed "s/   run .*//"
"$DTX" why 'out.db!new' --row 1 --col amt 2> /dev/null | grep -v '^changed' | sed 's/   run .*//'
"$DTX" replay out.db | grep -o '^same-table'
"$DTX" verify out.db | grep -o 'not checked.*out.db.*'
echo "--- refused, with nothing changed"
printf 'id,nam,day\nx,1,2024-01-05\n' > t.csv
sql out.db "create table t(id integer, name text, day date);; create view v as select 1;; create table g(id text, nam int, day text);;
	create trigger tr after insert on g begin delete from other; end;; create virtual table f using fts5(id, nam, day);;
	create table u(id text unique, nam real, day text, n integer primary key)"
cp out.db before.db
for t in "t append" "out append" "out replace" "v replace" "g append" "f append"; do
	"$DTX" convert t.csv -o out.db --into "${t% *}" --if-exists "${t#* }" || echo "exit $?"
done
printf 'id,nam,day\nx,1,2024-01-05\nx,2,2024-01-05\n' > u.csv
"$DTX" convert u.csv -o out.db --into u --if-exists append || echo "exit $?"
printf 'id,nam,day\nx,9007199254740993,2024-01-05\n' > w.csv
"$DTX" convert w.csv -o out.db --into u --if-exists append || echo "exit $?"
echo '{"dtx":1,"inputs":[{"name":"main","path":"t.csv"}],"steps":[{"op":"filter","where":"nam > 0"}],"expect":{"rows":{"min":5}},"output":{"path":"out.db","into":"u","if_exists":"append"}}' > e.json
"$DTX" run e.json || echo "exit $?"
sed 's/"expect":{[^}]*}},//' e.json > f.json
"$DTX" run f.json --receipt || echo "exit $?"
cmp out.db before.db
"$DTX" convert t.csv -o out.db --into u --if-exists append
sql out.db 'select * from u'
echo text > text.db
"$DTX" convert t.csv -o text.db || echo "exit $?"
cat text.db
echo left > left.db-journal
"$DTX" convert t.csv -o left.db || echo "exit $?"
"$DTX" convert t.csv -o t.db.gz || echo "exit $?"
"$DTX" convert t.csv -o - --to csv --into x
cp out.db before.db
/usr/bin/python3 - "$DTX" << 'END'
import sqlite3, subprocess, sys
con = sqlite3.connect("out.db", isolation_level=None)
run = lambda: print(subprocess.run([sys.argv[1], "convert", "t.csv", "-o", "out.db", "--into", "z"]).returncode, flush=True)
con.execute("begin immediate")
run()
con.execute("rollback")
con.execute("begin")
con.execute("select * from other").fetchall()
run()
con.execute("rollback")
END
cmp out.db before.db
echo "--- others read and write it"
sql out.db 'pragma journal_mode = wal'
/usr/bin/python3 - "$DTX" << 'END'
import sqlite3, subprocess, sys
con = sqlite3.connect("out.db", isolation_level=None)
print(con.execute("select count(*) from other").fetchall())
print(subprocess.run([sys.argv[1], "convert", "t.csv", "-o", "out.db", "--into", "z"]).returncode, flush=True)
con.execute("insert into other values(6)")
print(con.execute("select x, id from other, z").fetchall(), con.execute("pragma integrity_check").fetchall())
END
echo "--- several tables"
echo '{"dtx":1,"inputs":[{"name":"main","path":"a.csv"}],"steps":[{"op":"filter","where":"id > 1","out":"detail"},
	{"op":"group_by","by":[],"agg":{"s":"sum(amt)"}}],"output":[{"path":"m.db","table":"detail"},{"path":"m.db"}]}' > m.json
"$DTX" run m.json
sql m.db 'select id from detail;; select * from m'
"$DTX" why 'm.db!m' --row 1 --col s | head -1 | sed "s/   run .*//"
ls -A | grep -v '^\.store'
