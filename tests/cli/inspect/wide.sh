. "$LIB"
# More columns than a plan may have without a higher limit: inspect shows them all the same.
seq -s, 1 17000 | sed 's/[0-9][0-9]*/c&/g' > in.csv
seq -s, 1 17000 >> in.csv
seq -s, 2 17001 >> in.csv
dtx inspect in.csv > out.txt
head -1 out.txt
grep -c '2 int of 2 values' out.txt
grep -A1 '^profile' out.txt
