. "$LIB"
# too few letters to tell encodings apart: what each reads, and how it is declared
city() { printf 'id,city\n1,%s\n2,Pecs\n' "$1" | iconv -f UTF-8 -t "$2" > "$3"; }
city Győr cp1250 hu.csv
dtx convert hu.csv || echo "exit $?"
dtx convert --repair hu.csv
dtx convert --encoding windows-1250 hu.csv
city Rēzekne cp1257 lv.csv
dtx convert --repair lv.csv
city Győr cp852 dos.csv
dtx convert --repair dos.csv
# the same text whichever it is: nothing to tell
city Müller cp1252 de.csv
dtx convert --repair de.csv
