# A loop that tells of each of its errors asks for no file thousands of times: it is not stopped.
. "$LIB"
printf 'a\n1\n' > t.csv
echo '{"dtx": 1, "inputs": [{"name": "main"}], "steps": [{"op": "dates_of"}]}' > plan.json
cat > s.py <<'PY'
import traceback
import pandas as pd


def count():
    told = 0
    for day in range(1500):
        try:
            pd.to_datetime("%d of never" % day)
        except ValueError:
            told += "of never" in traceback.format_exc()
    return told


def transform(tables, params):
    return tables["main"].assign(told=count())
PY
dtx run plan.json t.csv --snippet s.py || echo "exit $?"
{
	cat s.py
	echo 'print(count())'
} > p.py
dtx exec p.py || echo "exit $?"
# nor does one that asks of its output, each time, whether somebody looks
dtx exec -c 'import os, sys
print(sum(sys.stdout.isatty() + os.isatty(1) + sys.stderr.isatty() for _ in range(6000)))' || echo "exit $?"
