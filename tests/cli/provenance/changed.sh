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
# an edited copy of a workbook is known by the run's name inside, and is not taken for the workbook
dtx convert in.csv book.xlsx
mkdir away
/usr/bin/python3 - <<'END'
import zipfile
old = zipfile.ZipFile("book.xlsx")
with zipfile.ZipFile("away/edited.xlsx", "w") as new:
    for name in old.namelist():
        new.writestr(name, old.read(name).replace(b"<v>1</v>", b"<v>7</v>"))
END
dtx provenance away/edited.xlsx | plain | head -2 | sed 's/5,[0-9]* bytes/N bytes/' # its run id packs well or badly
dtx verify away/edited.xlsx | sed 's/run [0-9a-f]*/run ID/; s#/[^ ]*/away#away#' || echo "exit $?"
cp book.xlsx away
dtx verify away/book.xlsx | grep -c 'is as run'
