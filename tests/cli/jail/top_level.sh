# Values and settings are computed at the top level of a snippet, what is read as text is literal,
# and code that does things belongs into a function.
. "$LIB"
printf 'n\n1\n22\n' > in.csv
echo '{"dtx": 1, "inputs": [{"name": "main", "path": "in.csv"}], "steps": [{"op": "nosuchop"}]}' > p.json
cat > good.py <<'P'
import re
from decimal import Decimal

import pandas as pd

DIGITS = re.compile(r"\d")
STEP: Decimal = Decimal("0.5") * 2
pd.set_option("mode.chained_assignment", None)


def transform(tables, params):
    df = tables["main"]
    return df.assign(digits=df["n"].astype(str).str.count(DIGITS.pattern), step=STEP)


if __name__ == "__main__":
    print(transform({}, {}))
P
dtx run p.json --snippet good.py || echo "exit $?"
for line in 'FORMULAS = dict(n="n")' 'for i in range(3): pass' 'print(1)'; do
	sed "s/^STEP.*/$line/" good.py > bad.py
	dtx run p.json --snippet bad.py 2>&1 || echo "exit $?"
done
