# Several outputs of one plan are sheets of one workbook, which is written once, whole.
printf 'id,name,amt\n1,Ann,1.5\n2,Bob,2.25\n' > a.csv
cat > p.json << 'END'
{"dtx":1,"inputs":[{"name":"main","path":"a.csv"}],
 "steps":[{"op":"filter","where":"id > 0","out":"detail"},{"op":"group_by","by":[],"agg":{"s":"sum(amt)"}}],
 "output":[{"path":"o.xlsx","sheet":"Detail","table":"detail"},{"path":"x.csv"},{"path":"o.xlsx","sheet":"Total"}]}
END
"$DTX" run p.json
"$DTX" convert o.xlsx --sheet Detail -o -
"$DTX" convert o.xlsx --sheet Total -o -
cat x.csv
"$DTX" why o.xlsx C3 | sed -n '1s/ run .*//p'
"$DTX" why 'o.xlsx!total' A2 | sed 's/ run .*//'
"$DTX" why 'o.xlsx!none' A2 || echo "exit $?"
"$DTX" why-not 'o.xlsx!Detail' 'a.csv!L3' 2>&1 | sed -n 's/ run .*//; 1,2p'
"$DTX" replay o.xlsx | cut -d' ' -f1
"$DTX" verify o.xlsx | grep -c 'o.xlsx is as run'
"$DTX" provenance o.xlsx --json | grep -o '"sheet": "[A-Z][a-z]*"'
echo "--- another name, and names that do not go"
"$DTX" run p.json -o other.xlsx
"$DTX" convert other.xlsx --sheet Total -o -
"$DTX" run p.json -o one.csv || echo "exit $?"
for s in detail 'a/b'; do
	sed "s|\"Total\"|\"$s\"|" p.json > q.json
	"$DTX" run q.json || echo "exit $?"
done
sed 's|"Total"|"Total","as_table":true|' p.json > q.json
"$DTX" run q.json || echo "exit $?"
sed 's|x.csv|o.csv|; s|o.xlsx","sheet":"Total"|o.csv"|' p.json > q.json
"$DTX" run q.json || echo "exit $?"
ls -A | grep -v '^\.store'
echo "--- all sheets as one table"
cat > year.py << 'END'
import openpyxl
book = openpyxl.Workbook()
for i, name in enumerate(["Jan", "Feb", "Mär 'x'"]):
    sheet = book.active if i == 0 else book.create_sheet()
    sheet.title = name
    for row in (["city", "n"], ["Rome", i + 1], ["Oslo", 10 * i]):
        sheet.append(row)
book.create_sheet("empty")
old = book.create_sheet("old")
old.append(["city", "n"])
old.sheet_state = "hidden"
book.save("year.xlsx")
END
/usr/bin/python3 year.py
"$DTX" convert year.xlsx --sheet '*' --source-file month -o all.csv
cat all.csv
"$DTX" why all.csv --row 4 --col n | sed -n '/none/d; s/.*cells/cells/; /=/p' | sed 's/ run .*//'
"$DTX" replay all.csv | grep -o '^identical'
mkdir two
cp year.xlsx o.xlsx two
"$DTX" convert 'two/*.xlsx' --sheet '*' --source-file from --columns union -o - 2> /dev/null
"$DTX" convert "$FIX/xls/ledger.xls" --sheet '*' --source-file s -o xls.csv
"$DTX" convert "$FIX/xls/ledger.xls" -o one.csv
[ "$(wc -l < xls.csv)" -ge "$(wc -l < one.csv)" ]
"$DTX" convert a.csv --sheet '*' -o - || echo "exit $?"
"$DTX" convert - --sheet '*' -o - < year.xlsx || echo "exit $?"
