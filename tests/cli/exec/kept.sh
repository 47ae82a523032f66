. "$LIB"
# what a program was given is not replaced by what it wrote
printf 'a\n1\n' > t.csv
echo note > note.txt
echo 'open("p.py", "w").write("x")' > p.py
try() { dtx exec "$@" && echo "exit 0" || echo "exit $?"; }
try -c 'open("t.csv", "w").write("x")' --table t=t.csv -o .
try -c 'open("note.txt", "w").write("x")' --file n=note.txt -o .
try p.py -o .
try -c 'open(".store.db", "w").write("x")' -o .
cat t.csv note.txt p.py
