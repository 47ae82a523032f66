. "$LIB"
# a total with a number that is not exactly the sum: dropped if another number proves it, and named
echo '[{"op":"drop_rows","kinds":["totals"]}]' > plan.json
drop() { echo "# $1"; echo "# $1" >&2; dtx run plan.json "$1"; }
printf 'Kunde,Umsatz\nAral,10\nShell,20\nTotal,31\nEsso,7\nSum,9\n' > whole.csv
printf 'Region,Umsatz,Menge\nNord,1000,1\nOst,2000,2\nTotal,3100,3\nWest,10,4\nTotal,20,4\n' > one_of_two.csv
printf 'k,v,share\na,1.24,0.504\nb,1.22,0.496\nTotal,2.5,0.5\n' > rounded.csv
printf 'k,v\na,0.1\nb,0.2\nTotal,0.3\nc,0.7\nTotal,0.7\nGrand total,1.0\n' > exact.csv
for f in whole one_of_two rounded exact; do drop $f.csv; done
# labels of other languages, and numbers with a decimal comma
printf 'Kunde;Umsatz\nAral;1.010,5\nShell;20,25\nZwischensumme;1.030,75\nEsso;7,1\nGesamtsumme;1.037,85\n' > comma.csv
printf 'client;CA\nA;10,5\nB;1 020,25\nTotal général :;1 030,75\n' > space.csv
for f in comma space; do drop $f.csv; dtx suggest $f.csv > made.json; grep -A2 kinds made.json; done
# a sheet: rows by number; formulas that no program has computed
/usr/bin/python3 - << 'END'
import zipfile
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACK = "http://schemas.openxmlformats.org/package/2006/"
def cell(v):
    if isinstance(v, str) and v[0] == "=":
        return "<c><f>%s</f></c>" % v[1:]
    return "<c><v>%s</v></c>" % v if not isinstance(v, str) else '<c t="inlineStr"><is><t>%s</t></is></c>' % v
rows = [["team", "h"], ["A", 1], ["B", 2], ["Summe", 4], ["C", 5], ["Gesamt", "=SUM(B2:B5)"]]
sheet = "".join("<row>%s</row>" % "".join(map(cell, row)) for row in rows)
with zipfile.ZipFile("hours.xlsx", "w") as z:
    z.writestr("[Content_Types].xml", '<Types xmlns="%scontent-types"><Default Extension="xml" ContentType="application/vnd.openxml'
               'formats-officedocument.spreadsheetml.sheet.main+xml"/></Types>' % PACK)
    z.writestr("_rels/.rels", '<Relationships xmlns="%srelationships"><Relationship Id="r" Type="%s/officeDocument" '
               'Target="wb.xml"/></Relationships>' % (PACK, REL))
    z.writestr("_rels/wb.xml.rels", '<Relationships xmlns="%srelationships"><Relationship Id="r" Type="%s/worksheet" '
               'Target="s.xml"/></Relationships>' % (PACK, REL))
    z.writestr("wb.xml", '<workbook xmlns="%s" xmlns:r="%s"><sheets><sheet name="Mai" sheetId="1" r:id="r"/></sheets>'
               '</workbook>' % (MAIN, REL))
    z.writestr("s.xml", '<worksheet xmlns="%s"><sheetData>%s</sheetData></worksheet>' % (MAIN, sheet))
END
drop hours.xlsx
# why-not tells what it is sure of
dtx run -q plan.json one_of_two.csv -o out.csv
dtx why-not out.csv one_of_two.csv!L4 | sed 's/   run .*/   run ID/'
