. "$LIB"
cat > plan.json << 'END'
{ "dtx": 1, "name": "shifts", "inputs": [{ "name": "main" }],
  "steps": [ { "op": "filter", "where": "hours > 2" },
             { "op": "derive", "set": [{ "as": "pay", "expr": "hours * 10" }] } ] }
END
printf '17,2024-01-05,3.5\n18,2024-01-06,1.5\n19,2024-01-07,4\n' > a.csv
printf '21,2024-02-05,9\n22,2024-02-06,8.25\n23,2024-02-07\n24,2024-02-08,7\n' > b.csv
cat > fix.py << 'END'
import pandas as pd


def transform(tables, params):
    assert not tables and params["steps"] == [] and params["families"] == {}
    cells = params["raw"]["main"]["cells"]
    return pd.DataFrame({"id": cells[0].astype(int), "day": pd.to_datetime(cells[1]),
                         "hours": cells[2].astype(float)})
END
echo '# nobody knows yet'
dtx run plan.json a.csv -o out.csv 2> err.txt || echo "exit $?"
plain < err.txt
dtx check plan.json a.csv 2>&1 | head -2
dtx explain plan.json a.csv --threads 2 2> /dev/null
echo '# the prompt: structure, no cell; it is not a run'
dtx prompt plan.json a.csv > prompt.txt
sed -n -e '/^INPUT/,/^END/p' -e '/^params/p' -e '/^{"need/p' -e '/^{"at/p' prompt.txt
grep -c -e 2024-01 -e 3.5 prompt.txt || echo "no cell value in it"
dtx provenance log | wc -l
echo '# given by hand, then from the cache, also for another file of this layout'
dtx run plan.json a.csv --snippet fix.py
dtx run plan.json a.csv -o again.csv
dtx provenance again.csv | plain | grep -E '^(how|why|from|rows|formula| )'
printf '31,2024-03-05,3\n' > c.csv
dtx run plan.json c.csv
echo '# another layout has another key'
dtx run plan.json b.csv 2>&1 | head -1
echo '# off: the error of the reader'
dtx run plan.json a.csv --fallback off 2>&1 || echo "exit $?"
echo '# a table that the steps cannot use'
sed 's/"hours"/"hrs"/' fix.py > bad.py
dtx run plan.json b.csv --snippet bad.py 2>&1 | head -2 || echo "exit $?"
echo '# a workbook: merged ranges, formats, kinds of cells'
cp "$FIX/xlsx/report.xlsx" .
cat > sheet.json << 'END'
{ "dtx": 1, "inputs": [{ "name": "report", "requires": ["kinds"] }], "steps": [{ "op": "limit", "n": 99 }] }
END
cat > sheet.py << 'END'
import pandas as pd


def transform(tables, params):
    raw = params["raw"]["report"]
    cells, formats = raw["cells"], raw["formats"]
    kinds = sorted({str(type(v)) for row in cells.to_numpy().tolist() for v in row})
    return pd.DataFrame({"kinds": kinds, "sheet": raw["sheet"], "merged": str(raw["merged"][:2]),
                         "shape": str(cells.shape), "same": str(formats.shape == cells.shape),
                         "empty": str(formats.isna().equals(cells.isna()))})
END
dtx run sheet.json report=report.xlsx --snippet sheet.py
echo '# an input and a step: each module does what it can do'
cat > two.json << 'END'
{ "dtx": 1, "inputs": [{ "name": "main" }], "steps": [{ "op": "frob", "note": "twice the hours" }] }
END
cat > twice.py << 'END'
def transform(tables, params):
    return tables["main"].assign(hours=lambda d: d["hours"] * 2)
END
dtx run two.json a.csv --snippet fix.py 2>&1 | head -1
dtx run two.json a.csv --snippet twice.py
printf 'def transform(tables, params):\n    raise KeyError("neither")\n' > neither.py
dtx run two.json a.csv --snippet neither.py 2>&1 || echo "exit $?"
echo '# it waits for approval: the next run says so, and how'
dtx run plan.json b.csv --snippet fix.py --approve require 2>&1 | head -1 | plain
dtx run plan.json b.csv 2>&1 | plain
