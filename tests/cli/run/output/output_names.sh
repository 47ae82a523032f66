. "$LIB"
# -o by another name: stdout keeps what others wrote to it, a link stays a link
printf 'a\n1\n' > in.csv
echo '[{"op":"derive","set":{"b":"a + 1"}}]' > plan.json
for name in /dev/stdout /dev/fd/1 /proc/self/fd/1; do
	{ echo before; dtx run plan.json in.csv -o $name; echo after; } > all.txt
	cat all.txt
done
ln -s later.csv link.csv
dtx run plan.json in.csv -o link.csv
readlink link.csv
cat later.csv
mkdir sub
ln -s ../deep.csv sub/first.csv
ln -s sub/first.csv second.csv
dtx run plan.json in.csv -o second.csv
readlink second.csv sub/first.csv
cat deep.csv
ln -s loop.csv loop.csv
"$DTX" run plan.json in.csv -o loop.csv 2> said || echo "exit $?"
sed 1q said
readlink loop.csv
