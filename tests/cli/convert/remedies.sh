. "$LIB"
# What to do is said in options where the file came from the command line, else as members of the plan
printf 'n,t\n1,a\n2\n3,c,d\n' > ragged.csv
printf '5,6\n7,8\n' > numbers.csv
for command in convert inspect suggest; do
	dtx "$command" ragged.csv || echo "exit $?"
done
dtx convert numbers.csv || echo "exit $?"
dtx convert ragged.csv --errors=json 2>&1 | grep -o '"hint":"[^"]*--ragged pad'
echo '{"dtx":1,"inputs":[{"name":"main","path":"ragged.csv"}],"steps":[{"op":"limit","n":9}]}' > own.json
echo '{"dtx":1,"inputs":[{"name":"main","ragged":"error"}],"steps":[{"op":"limit","n":9}]}' > says.json
echo '[{"op":"limit","n":9}]' > steps.json
dtx run --fallback off own.json || echo "exit $?"
dtx run --fallback off says.json ragged.csv || echo "exit $?"
dtx run --fallback off steps.json ragged.csv || echo "exit $?"
# the options that remedies name
printf 'a;b\n"1;x\n2;y\n' > quotes.txt
dtx convert quotes.txt --quote none
dtx convert quotes.txt --read quotes=lenient
dtx convert quotes.txt --read quotes=lenient --read 'null_values=["x","2"]' --delimiter ';' --read skip_tail=1
printf 'a\tb,c\n1\t2,3\n' | dtx convert - --delimiter '\t'
dtx convert quotes.txt --read qoutes=lenient || echo "exit $?"
dtx convert quotes.txt --read quotes || echo "exit $?"
dtx convert quotes.txt --read skip_tail=many || echo "exit $?"
dtx convert quotes.txt --read quotes=none || echo "exit $?"
dtx convert quotes.txt --read path=x || echo "exit $?"
# a line feed inside a cell, where records end with CR LF
printf 'id,note,n\r\n1,one\ntwo,5\r\n2,ok,6\r\n3,fine,7\r\n' | dtx convert - --to csv || echo "exit $?"
