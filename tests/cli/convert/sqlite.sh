# An SQLite database is read in the locked process: a table, a view or one SELECT, as SQLite itself
# gives the values, with types from the values and the declaration.
sql() { /usr/bin/python3 -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.close()' "$1" "$2"; }
sql a.db "
create table orders(id integer primary key, customer text, amount real, qty integer, day date, at timestamp,
	big integer, code text, mix integer, none int);
insert into orders values(1, 'Ann', 10.5, 2, '2024-01-05', '2024-01-05 10:00:00', 9007199254740993, '007', 1, null),
	(2, 'Bob, \"B\"', 20, 3, '2024-02-01', '2024-02-01 11:30:00', 5, 'x', 2, null),
	(17, null, null, null, null, null, null, '', 'n/a', null);
create view totals as select customer, sum(amount) as total from orders group by customer;
create table [od d](k text primary key, v) without rowid;
insert into [od d] values('a', 1), ('b', 2);"
echo "--- tables"
"$DTX" convert a.db -o - || echo "exit $?"
"$DTX" convert a.db --sheet orders -o -
"$DTX" convert a.db --sheet totals -o -
"$DTX" convert a.db --sheet 'OD D' -o -
"$DTX" convert a.db --sheet oders -o - || echo "exit $?"
"$DTX" inspect a.db --sheet orders | sed -n '1,/^profile/p'
"$DTX" convert - --sheet totals -o - < a.db
echo "--- evidence"
echo '{"dtx":1,"inputs":[{"name":"main","table":"orders"}],"steps":[{"op":"filter","where":"qty >= 2"},
	{"op":"group_by","keys":["customer"],"aggs":{"s":"sum(amount)"}}],"output":{"path":"r.csv"}}' > p.json
"$DTX" run p.json a.db 2> /dev/null
cat r.csv
"$DTX" why r.csv --row 2 --col s | grep '^cells'
"$DTX" why-not r.csv 'orders!row 17' 2> /dev/null | grep -E 'dropped|because'
"$DTX" replay r.csv | grep -o '^identical'
echo '{"dtx":1,"inputs":[{"name":"main","table":"orders","types":{"mix":"int"}}],"steps":[{"op":"sort","by":["mix"]}]}' > t.json
"$DTX" run t.json a.db --fallback off || echo "exit $?"
echo "--- queries"
while read -r q; do
	echo "$q"
	"$DTX" convert a.db --read query="$q" -o - 2>&1 || echo "exit $?"
done <<- END
	select qty, count(*) as n from orders group by qty
	with recursive c(x) as (select 1 union all select x + 1 from c where x < 3) select x from c
	select random()
	delete from orders
	insert into orders(id) values(5) returning id
	attach 'x.db' as y
	pragma writable_schema = 1
	select load_extension('x')
	select date('now')
	select 1; select 2
	select nosuch from orders
	select x'00ff' as b
	select 9e999 as big
	select cast(x'ff' as text) as t
	select 1 as a, 2 as a
END
"$DTX" convert a.db --sheet orders --read query="select 1" -o - || echo "exit $?"
"$DTX" convert a.db --limit archive.time=1 --read query="with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c" -o - || echo "exit $?"
echo "--- refused"
cp a.db part.db
echo log > part.db-wal
"$DTX" convert part.db --sheet orders -o - || echo "exit $?"
# a journal whose header is zeros has been undone, one with a header has not
sql part.db "pragma journal_mode = persist; create table t(x); insert into t values(1)"
rm -f part.db-wal
"$DTX" convert part.db --sheet t -o -
echo journal > part.db-journal
"$DTX" convert part.db --sheet t -o - || echo "exit $?"
rm part.db-journal
head -c 5000 a.db > cut.db
"$DTX" convert cut.db --sheet orders -o - || echo "exit $?"
printf 'SQLite format 3\000' > head.db
"$DTX" convert head.db -o - || echo "exit $?"
sql none.db "create table t(a); drop table t"
"$DTX" convert none.db -o - || echo "exit $?"
printf 'a,b\n1,2\n' > text.db
"$DTX" convert text.db -o -
sql wal.db "pragma journal_mode = wal; create table t(a, b); insert into t values(1, 'x')"
"$DTX" convert wal.db -o -
ls
# a text longer than the limit, which a view of a small file can make
sql long.db "create view v as select printf('%.*c', 3000000, 'x') as x"
"$DTX" convert -q long.db --sheet v -o long.csv || echo "exit $?"
# a value that is longer than SQLite may make it
"$DTX" convert -q long.db --read query="select length(zeroblob(300000000)) as n" -o - || echo "exit $?"
"$DTX" convert -q long.db --limit archive.text=400000000 --read query="select length(zeroblob(300000000)) as n" -o -
