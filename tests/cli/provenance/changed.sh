. "$LIB"
printf 'a\n1\n' > in.csv
dtx convert in.csv out.csv
echo 2 >> out.csv
dtx provenance out.csv | plain
dtx provenance nosuch.csv || echo "exit $?"
dtx provenance log | plain | sed 's/^[0-9a-f]\{8\}/ID/'
