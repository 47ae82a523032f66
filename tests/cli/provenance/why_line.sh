# The cell of a text result is named by the line on which its row begins.
. "$LIB"
printf 'k,t,n\na,"one\ntwo",1\nb,"x""y\r\nz",2\nc,plain,3\n' > in.csv
echo '{"dtx":1,"steps":[{"op":"derive","set":{"d":"n * 2"}}]}' > texts.json
echo '{"dtx":1,"steps":[{"op":"derive","set":{"d":"n * 2"}},{"op":"select","cols":["n","d"]}]}' > numbers.json
cat > bare.json <<'END'
{"dtx":1,"steps":[{"op":"derive","set":{"d":"n * 2"}}],"output":{"header":false,"eol":"\r\n"}}
END
head_of() { # RUN ARGUMENTS...
	dtx why "$@" --col d 2> /dev/null | sed -n '1s/ *run .*//p'
}
dtx run texts.json in.csv -q -o texts.csv
dtx run numbers.json in.csv -q -o numbers.tsv
dtx run bare.json in.csv -q -o bare.csv
dtx run texts.json in.csv -q --lineage rows -o kept.csv
grep -n 'plain' texts.csv bare.csv kept.csv
grep -n '^3' numbers.tsv
for row in 1 2 3; do
	for f in texts.csv numbers.tsv bare.csv kept.csv; do head_of $f --row $row; done
done
head_of texts.csv --key k=c
echo '# in JSON'
dtx why texts.csv --row 3 --col d --json | grep '"line"'
echo '# a changed file tells no lines, unless its cells have none'
run=$(dtx provenance bare.csv --json | sed -n 's/.*"short": "\(.*\)",/\1/p' | head -1)
head_of "$run" --row 3
echo more >> bare.csv
head_of "$run" --row 3
rm numbers.tsv
head_of numbers.tsv --row 3
