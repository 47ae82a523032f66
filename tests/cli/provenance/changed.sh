. "$LIB"
printf 'a\n1\n' > in.csv
dtx convert in.csv out.csv
echo 2 >> out.csv
dtx provenance out.csv | plain
dtx provenance nosuch.csv || echo "exit $?"
dtx provenance log | plain | sed 's/^[0-9a-f]\{8\}/ID/'
# a quick identity of the input is shown as weak, and compared as such
printf 'a\n1\n' > weak.csv
dtx convert weak.csv copy.csv --input-hash xxh3
dtx provenance copy.csv | plain
echo 2 >> weak.csv
dtx provenance copy.csv | plain | grep weak.csv
