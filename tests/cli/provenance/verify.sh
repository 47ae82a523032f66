. "$LIB"
head() { sed -E 's/dtx1:([0-9]+):[0-9a-f]{64}/dtx1:\1:HEAD/; s/run [0-9a-f]{8}/run ID/'"; s|$PWD|DIR|"; }
printf 'a\n1\n' > in.csv
dtx convert in.csv out.csv
dtx verify | head
dtx verify out.csv | head
dtx provenance head > head.txt
dtx convert in.csv more.csv
dtx verify --head "$(cat head.txt)" | head
# a copy is what the run wrote, whatever became of the file; quotes are not the table
cp out.csv copy.csv
printf '"a"\n"1"\n' > out.csv
dtx verify copy.csv | head
dtx verify "$(dtx provenance log --json | grep -o '"run_id": "[^"]*"' | tail -1 | cut -d'"' -f4)" > text || echo "exit $?"
head < text
cp copy.csv out.csv
echo 2 >> out.csv
dtx verify out.csv > text || echo "exit $?"
head < text
rm out.csv
dtx verify out.csv --json > text || echo "exit $?"
head < text
# a tail cut off, a head of another ledger, no head at all
dtx verify --head "dtx1:99:$(printf '%064d' 0)" || echo "exit $?"
dtx verify --head "$(sed 's/:[0-9a-f]*$//' head.txt):$(printf '%064d' 0)" || echo "exit $?"
dtx verify --head nonsense || echo "exit $?"
dtx --version > /dev/null
dtx verify nosuch.csv || echo "exit $?"
# a store is its file and its log: a copy without the log is whole, and lacks what stood in there
cp "$DTX_STORE" early.db
dtx verify --store early.db | head
dtx store check --store early.db | head
