. "$LIB"
# A mail made of the table shows what the cells say, and runs nothing of it.
cat > in.csv <<'X'
name <i>,n,text
tag,1.50,<script>alert(1)</script>
quotes,2,"a ""b"" 'c' & &amp; <!-- --> ]]>"
lines,,"one
two"
X
dtx convert in.csv --to html
printf 'a\n' | dtx convert - -o empty.html
cat empty.html
# the parser of another program finds the same cells
dtx convert in.csv -o out.htm
/usr/bin/python3 - <<'X'
import csv
from html.parser import HTMLParser
class Cells(HTMLParser):
    rows = []
    def handle_starttag(self, tag, attrs):
        if tag == "tr": self.rows.append([])
        if tag in ("td", "th"): self.rows[-1].append("")
        if tag == "br": self.rows[-1][-1] += "\n"
    def handle_data(self, data):
        if self.rows and self.rows[-1] and data.strip("\n"): self.rows[-1][-1] += data
Cells().feed(open("out.htm").read())
print(Cells.rows == list(csv.reader(open("in.csv"))))
X
